/* SPDX-License-Identifier: MIT */
/* Numbers that people type. No locale. */
#ifndef TENDON_GATEWAY_NUMBER_TEXT_H
#define TENDON_GATEWAY_NUMBER_TEXT_H

#include "tendon/gateway/actions.h"

/** A sign, then decimal digits; false: it is none, or does not fit. */
bool tendon_word_integer(const tendon_act_word *word, int64_t *out);
/** The same, or 0x and hexadecimal digits. */
bool tendon_word_any_integer(const tendon_act_word *word, int64_t *out);
/** A sign, digits with a point among them, an exponent. Within one unit of the 16th digit. */
bool tendon_word_number(const tendon_act_word *word, double *out);

#endif
