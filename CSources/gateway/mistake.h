/* SPDX-License-Identifier: MIT */
/* Sentences about words that are no action. */
#ifndef TENDON_GATEWAY_MISTAKE_H
#define TENDON_GATEWAY_MISTAKE_H

#include "tendon/gateway/actions.h"

/** A list of words: its n-th, or NULL beyond the last. */
typedef const char *(*words_at)(const void *context, size_t index);

/** A sentence that grows; what does not fit is left out. */
typedef struct sentence {
    tendon_act_mistake *mistake;
    size_t length;
} sentence;

/** Begins the sentence about a word. */
sentence tendon_mistake(tendon_act_mistake *mistake, size_t word);
void tendon_mistake_add(sentence *s, const char *text);
void tendon_mistake_add_number(sentence *s, double number);
void tendon_mistake_add_integer(sentence *s, int64_t number);
/** What was typed, in quotes, safe for a terminal. */
void tendon_mistake_add_word(sentence *s, const tendon_act_word *word);
/** "a, b, c" */
void tendon_mistake_add_words(sentence *s, words_at words, const void *context, const char *between);
/** "unknown WHAT 'x'; known: a, b", or the nearest one if it is near. */
void tendon_mistake_unknown(sentence *s, const char *what, const tendon_act_word *word, words_at words,
                            const void *context);

#endif
