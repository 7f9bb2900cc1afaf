/* As much of <string.h> as the generated bindings use. */
#ifndef C_GUARD_STRING_H
#define C_GUARD_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count);
size_t strlen(const char *text);

#endif
