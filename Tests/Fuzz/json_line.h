/* SPDX-License-Identifier: MIT */
/* Whether a line is JSON. */
#ifndef TENDON_FUZZ_JSON_LINE_H
#define TENDON_FUZZ_JSON_LINE_H

#include "fuzz.h"

#include <ctype.h>

/* A reader of JSON that knows no more than its grammar (RFC 8259). */
typedef struct scan {
    const char *at, *end;
    unsigned depth;
} scan;

static inline void value_of(scan *s);

static inline char next(scan *s) {
    FUZZ_CHECK(s->at < s->end);
    return *s->at++;
}

static inline void word_of(scan *s, const char *word) {
    for (; *word != '\0'; word++) {
        FUZZ_CHECK(next(s) == *word);
    }
}

static inline void string_of(scan *s) {
    for (;;) {
        uint8_t c = (uint8_t)next(s);
        FUZZ_CHECK(c >= 0x20 && c != 0x7F);
        if (c == '"') {
            return;
        }
        if (c == '\\') {
            c = (uint8_t)next(s);
            FUZZ_CHECK(c == '"' || c == '\\' || c == 'u');
            for (int i = 0; c == 'u' && i < 4; i++) {
                FUZZ_CHECK(isxdigit((unsigned char)next(s)));
            }
        }
        unsigned more = c < 0x80 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
        FUZZ_CHECK(c < 0x80 || c >= 0xC2);
        for (; more > 0; more--) {
            FUZZ_CHECK(((uint8_t)next(s) & 0xC0) == 0x80);
        }
    }
}

static inline void number_of(scan *s, char first) {
    unsigned digits = first != '-' ? 1 : 0;
    for (; s->at < s->end && strchr("0123456789.e+-", *s->at) != NULL; s->at++) {
        digits += *s->at >= '0' && *s->at <= '9';
    }
    FUZZ_CHECK(digits > 0);
}

static inline void list_of(scan *s, char end) {
    FUZZ_CHECK(++s->depth < 200);
    if (*s->at == end) {
        s->at++;
        s->depth--;
        return;
    }
    for (;;) {
        if (end == '}') {
            FUZZ_CHECK(next(s) == '"');
            string_of(s);
            FUZZ_CHECK(next(s) == ':');
        }
        value_of(s);
        char c = next(s);
        if (c == end) {
            s->depth--;
            return;
        }
        FUZZ_CHECK(c == ',');
    }
}

static inline void value_of(scan *s) {
    char c = next(s);
    switch (c) {
    case '"':
        string_of(s);
        break;
    case '{':
        list_of(s, '}');
        break;
    case '[':
        list_of(s, ']');
        break;
    case 'n':
        word_of(s, "ull");
        break;
    case 't':
        word_of(s, "rue");
        break;
    case 'f':
        word_of(s, "alse");
        break;
    default:
        FUZZ_CHECK(c == '-' || (c >= '0' && c <= '9'));
        number_of(s, c);
    }
}

/* One value, and a line feed; of no length: nothing. */
static inline void fuzz_json_line(const char *text, tendon_status length) {
    scan s = {.at = text, .end = text + (length > 0 ? length : 0)};
    if (length > 0) {
        value_of(&s);
        FUZZ_CHECK(s.at + 1 == s.end && *s.at == '\n');
    }
}

#endif
