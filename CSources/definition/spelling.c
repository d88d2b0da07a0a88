/* SPDX-License-Identifier: MIT */
#include "tendon/definition/spelling.h"

enum { WORD_MAX = 48 };

unsigned tendon_spelling_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    /* rows[i][j]: of the first i letters of a, and the first j of b; all of them, since that is the shortest code. */
    uint8_t rows[WORD_MAX + 1][WORD_MAX + 1];
    if (a_length > WORD_MAX || b_length > WORD_MAX) {
        return TENDON_SPELLING_FAR;
    }
    for (size_t i = 0; i <= a_length; i++) {
        for (size_t j = 0; j <= b_length; j++) {
            unsigned best = (unsigned)(i + j);
            if (i > 0 && j > 0) {
                unsigned other = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1U : 0U);
                best = 1 + (rows[i - 1][j] < rows[i][j - 1] ? rows[i - 1][j] : rows[i][j - 1]);
                best = best < other ? best : other;
                if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && b[j - 1] == a[i - 2] && rows[i - 2][j - 2] < best) {
                    best = 1U + rows[i - 2][j - 2];
                }
            }
            rows[i][j] = (uint8_t)best;
        }
    }
    return rows[a_length][b_length];
}
