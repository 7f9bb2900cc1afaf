#include "text.h"

#include <stdlib.h>

void put(text *to, unsigned char byte) {
    if (to->is.len == to->room) {
        to->room = to->room == 0 ? 256 : to->room * 2;
        to->is.ptr = realloc(to->is.ptr, to->room);
    }
    to->is.ptr[to->is.len++] = byte;
}

void say(text *to, const char *words) {
    while (*words != '\0') {
        put(to, (unsigned char)*words++);
    }
}

void hex(text *to, uint64_t number, int digits) {
    while (digits-- > 0) {
        put(to, "0123456789abcdef"[number >> (4 * digits) & 15]);
    }
}

void quote(text *to, const string *from) {
    put(to, '"');
    for (size_t at = 0; at < from->len; at++) {
        unsigned char byte = from->ptr[at];
        if (byte < 0x20 || byte == 0x7f) {
            say(to, "\\x");
            hex(to, byte, 2);
        } else {
            if (byte == '"' || byte == '\\') {
                put(to, '\\');
            }
            put(to, byte);
        }
    }
    put(to, '"');
}
