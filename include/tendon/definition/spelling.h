/* SPDX-License-Identifier: MIT */
/* Words that are nearly right, for "did you mean". */
#ifndef TENDON_DEFINITION_SPELLING_H
#define TENDON_DEFINITION_SPELLING_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A distance that no two words of 48 letters have. */
enum { TENDON_SPELLING_FAR = 255 };

/**
 * How many times a letter was inserted, left out, replaced, or exchanged with the next one between two words: Damerau's
 * distance ("A technique for computer detection and correction of spelling errors", 1964). Letters are compared as they
 * are.
 * @return TENDON_SPELLING_FAR if a word has more than 48 bytes.
 */
unsigned tendon_spelling_distance(const char *a, size_t a_length, const char *b, size_t b_length);

#ifdef __cplusplus
}
#endif

#endif
