/* As much of <stdlib.h> as the generated bindings use. */
#ifndef C_GUARD_STDLIB_H
#define C_GUARD_STDLIB_H

#include <stddef.h>

void *malloc(size_t size);
void *realloc(void *old, size_t size);
void free(void *old);
_Noreturn void abort(void);

#endif
