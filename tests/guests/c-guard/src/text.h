/* A text that grows. */
#ifndef C_GUARD_TEXT_H
#define C_GUARD_TEXT_H

#include "guard_plugin.h"

typedef guard_plugin_string_t string;

typedef struct {
    string is;
    size_t room;
} text;

/* Adds one byte. */
void put(text *to, unsigned char byte);

/* Adds a text as it stands. */
void say(text *to, const char *words);

/* Adds a number in hexadecimal, in so many digits. */
void hex(text *to, uint64_t number, int digits);

/* Adds a string in double quotes. Quotes, backslashes and control characters
   are escaped, so that a line stays a line. */
void quote(text *to, const string *from);

#endif
