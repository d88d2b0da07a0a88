/* SPDX-License-Identifier: MIT */
/* Numbers of fields: coded, scaled, and back. */
#ifndef TENDON_DEFINITION_NUMBER_H
#define TENDON_DEFINITION_NUMBER_H

#include "tendon/definition/definition.h"

typedef struct tendon_number {
    double number;
    int64_t integer; /* the number without decimals; of a number that is none, 0 */
    uint8_t decimals;
    bool is_integer; /* exact in integer */
    bool is_nothing; /* not a number, or no value */
} tendon_number;

tendon_number tendon_number_of(int64_t integer);
/* Of these bits; nothing if the device does not know it. */
tendon_number tendon_number_integer(const tendon_field *field, uint64_t raw);
/* Decodes field->size bytes. */
tendon_number tendon_number_decode(const tendon_field *field, const uint8_t *bytes);
/* Raw to value: * factor / divisor + offset. */
tendon_number tendon_number_scaled(tendon_number raw, const tendon_field *field);
bool tendon_number_is_scaled(const tendon_field *field);
/* The numbers that so many bits can have; of 64 without a sign, half of them. */
void tendon_number_span(const tendon_field *field, int64_t *low, int64_t *high);
/* A number that is always the same, which a field states with equals. */
static inline bool tendon_number_is_fixed(const tendon_field *field) {
    return (field->flags & TENDON_FIELD_LIMITED) != 0 && field->low == field->high;
}
/* Value to raw bytes. False: it does not fit, or is not permitted. */
bool tendon_number_encode(const tendon_field *field, double value, uint8_t *out);
bool tendon_number_encode_raw(const tendon_field *field, int64_t raw, uint8_t *out);
/* Returns how many decimals a step of this size resolves, or up to two more if it has no others: 0.01 has 2, 0.25 has
 * 2, 1/1024 has 4. At most 11. */
uint8_t tendon_number_decimals(double step);

#endif
