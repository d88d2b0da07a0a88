/* SPDX-License-Identifier: MIT */
/* Words of the lines of small text files. Internal to linux. */
#ifndef TENDON_WORDS_INTERNAL_H
#define TENDON_WORDS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct text_span {
    const char *at;
    size_t length;
} text_span;

static inline bool text_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/** The next word of a line; empty at its end, and at a comment. */
static inline text_span text_next_word(const char **at, const char *end) {
    while (*at < end && text_is_blank(**at)) {
        (*at)++;
    }
    text_span word = {*at, 0};
    while (*at < end && !text_is_blank(**at) && *word.at != '#') {
        (*at)++;
        word.length++;
    }
    return word;
}

/** The next line without its end, of the text from *at to @p end. Returns false after the last one. */
static inline bool text_next_line(const char **at, const char *end, text_span *line) {
    if (*at >= end) {
        return false;
    }
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    const char *stop = newline != NULL ? newline : end;
    *line = (text_span){*at, (size_t)(stop - *at)};
    *at = stop + (newline != NULL);
    return true;
}

#endif
