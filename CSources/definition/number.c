/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <math.h>
#include <string.h>

enum { DECIMALS_MAX = 9 };
#define NUMBER_MAX 1e150 /* a float of IEEE 11073 has at most 8388607e127 */

tendon_number tendon_number_of(int64_t integer) {
    return (tendon_number){.number = (double)integer, .integer = integer, .is_integer = true};
}

#define HAIR 1e-6 /* 0.001 * 1000 need not be 1 */

uint8_t tendon_number_decimals(double step) {
    enum { MORE = 2 };
    uint8_t decimals = 0;
    double size = fabs(step);
    for (; size != 0 && size < 1 - HAIR && decimals < DECIMALS_MAX; size *= 10) {
        decimals++;
    }
    for (uint8_t more = 0; more <= MORE; more++, size *= 10) {
        if (fabs(size - floor(size + 0.5)) < HAIR) {
            return (uint8_t)(decimals + more);
        }
    }
    return decimals;
}

static uint64_t bytes_of(const tendon_field *field, const uint8_t *bytes) {
    uint64_t raw = 0;
    for (unsigned i = 0; i < field->size; i++) {
        unsigned at = (field->flags & TENDON_FIELD_BIG_ENDIAN) != 0 ? i : field->size - 1U - i;
        raw = raw << 8 | bytes[at];
    }
    return raw;
}

static int64_t extended(uint64_t raw, unsigned bits) {
    uint64_t sign = (uint64_t)1 << (bits - 1);
    return (int64_t)((raw ^ sign) - sign);
}

tendon_number tendon_number_integer(const tendon_field *field, uint64_t raw) {
    bool is_signed = (field->flags & TENDON_FIELD_SIGNED) != 0;
    tendon_number number = tendon_number_of(is_signed ? extended(raw, field->bits) : (int64_t)raw);
    if (!is_signed && number.integer < 0) { /* more than 63 bits: the bits stay, the number is not exact */
        number.number = (double)raw;
        number.is_integer = false;
    }
    number.is_nothing = (field->flags & TENDON_FIELD_UNKNOWN) != 0 && number.integer == field->unknown;
    return number;
}

/* By arithmetic: what is not finite never becomes a float. */
static tendon_number float32_of(uint32_t bits) {
    int exponent = (int)(bits >> 23 & 0xFF);
    uint32_t fraction = bits & 0x7FFFFF;
    if (exponent == 0xFF) {
        return (tendon_number){.is_nothing = true};
    }
    /* IEEE 754: 1.fraction * 2^(exponent - 127); exponent 0 is 0.fraction * 2^-126. */
    double value =
        ldexp((double)(exponent == 0 ? fraction : fraction | 0x800000), (exponent == 0 ? 1 : exponent) - 150);
    return (tendon_number){.number = bits >> 31 != 0 ? -value : value};
}

/* So many that 7 digits are there, which 24 bits have, but no more than numbers can show. */
static uint8_t decimals_of_float(double number) {
    uint8_t decimals = DECIMALS_MAX;
    for (double limit = 0.01; decimals > 0 && fabs(number) >= limit; limit *= 10) {
        decimals--;
    }
    return decimals;
}

/* IEEE 11073-20601 Annex F.8: mantissas from the largest but one on stand for infinity, not a number, not at this
 * resolution, and one that is reserved. */
static tendon_number medical_of(int mantissa, int most, int exponent) {
    tendon_number number = {.number = mantissa};
    if (exponent == 0 && (mantissa >= most - 1 || mantissa <= -most + 1)) {
        return (tendon_number){.is_nothing = true};
    }
    double scale = 1;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--) {
        scale *= 10;
    }
    number.decimals = (uint8_t)(exponent >= 0 ? 0 : exponent < -DECIMALS_MAX ? DECIMALS_MAX : -exponent);
    number.number = exponent < 0 ? number.number / scale : number.number * scale;
    return number;
}

/* The lowest bits as a number with a sign. */
static int small(uint32_t raw, unsigned bits) {
    int number = (int)(raw & ((1U << bits) - 1));
    return number >= 1 << (bits - 1) ? number - (1 << bits) : number;
}

tendon_number tendon_number_decode(const tendon_field *field, const uint8_t *bytes) {
    uint64_t raw = bytes_of(field, bytes);
    switch (field->type) {
    case TENDON_FIELD_FLOAT32:
        return float32_of((uint32_t)raw);
    case TENDON_FIELD_SFLOAT:
        return medical_of(small((uint32_t)raw, 12), 0x7FF, small((uint32_t)raw >> 12, 4));
    case TENDON_FIELD_FLOAT:
        return medical_of(small((uint32_t)raw, 24), 0x7FFFFF, small((uint32_t)raw >> 24, 8));
    default:
        return tendon_number_integer(field, raw);
    }
}

bool tendon_number_is_scaled(const tendon_field *field) {
    return field->factor != 1 || field->divisor != 1 || field->offset != 0;
}

tendon_number tendon_number_scaled(tendon_number raw, const tendon_field *field) {
    /* Beyond what a field can have, so that the product is a number. */
    if (raw.number < -NUMBER_MAX || raw.number > NUMBER_MAX) {
        return (tendon_number){.is_nothing = true};
    }
    if (tendon_number_is_scaled(field)) {
        raw.number = raw.number * field->factor / field->divisor + field->offset;
        raw.is_integer = false;
    }
    if (field->type == TENDON_FIELD_FLOAT32) {
        raw.decimals = decimals_of_float(raw.number);
    }
    if ((field->type == TENDON_FIELD_SFLOAT || field->type == TENDON_FIELD_FLOAT) && !field->is_rounded) {
        raw.decimals = (uint8_t)(raw.decimals + field->decimals);
    } else if (raw.decimals < field->decimals || field->is_rounded) {
        raw.decimals = field->decimals;
    }
    return raw;
}

static void put(const tendon_field *field, uint64_t raw, uint8_t *out) {
    for (unsigned i = 0; i < field->size; i++) {
        unsigned at = (field->flags & TENDON_FIELD_BIG_ENDIAN) != 0 ? field->size - 1U - i : i;
        out[at] = (uint8_t)(raw >> (8 * i));
    }
}

void tendon_number_span(const tendon_field *field, int64_t *low, int64_t *high) {
    bool is_signed = (field->flags & TENDON_FIELD_SIGNED) != 0;
    unsigned bits = field->bits - (is_signed ? 1U : 0U);
    *high = INT64_MAX >> (bits < 63 ? 63 - bits : 0);
    *low = is_signed ? -*high - 1 : 0;
}

bool tendon_number_encode_raw(const tendon_field *field, int64_t raw, uint8_t *out) {
    /* Of a field without limits they are those of its size. */
    if (raw < field->low || raw > field->high) {
        return false;
    }
    put(field, (uint64_t)raw, out);
    return true;
}

bool tendon_number_encode(const tendon_field *field, double value, uint8_t *out) {
    double raw = (value - field->offset) * field->divisor / field->factor;
    if (field->type == TENDON_FIELD_FLOAT32) {
        float single = (float)raw;
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        put(field, bits, out);
        return (bits >> 23 & 0xFF) != 0xFF;
    }
    double whole = floor(raw + 0.5);
    /* 2^52: beyond it, half of one more is not exact. Not a number fails both comparisons. */
    if (!(whole >= -4503599627370496.0 && whole <= 4503599627370496.0) ||
        (whole != raw && !tendon_number_is_scaled(field))) { /* the nearest step of a scale, but no other integer */
        return false;
    }
    return tendon_number_encode_raw(field, (int64_t)whole, out);
}
