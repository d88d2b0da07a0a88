/* SPDX-License-Identifier: MIT */
/*
 * The fewest digits of a double that read back as it, and of these the nearest ones: "How to print floating-point
 * numbers accurately", Steele and White 1990, with the integers of any length that it needs. Slower than newer ways,
 * whose tables are larger than all of this component: it is for --exact, and for numbers from 1e9 on.
 */
#include "tendon/gateway/line.h"

#include <math.h>

/* ---- integers ---- */

/* 2^1077 * 10 is the largest: a denominator of a number near 2^-1074, or a numerator near 2^1024, times 10. */
enum { WORDS = 36 };

typedef struct integer {
    uint32_t words[WORDS]; /* least significant first */
    unsigned count;        /* without zeros at the end */
} integer;

static integer integer_of(uint64_t value) {
    integer made = {.words = {(uint32_t)value, (uint32_t)(value >> 32)}, .count = 2};
    while (made.count > 0 && made.words[made.count - 1] == 0) {
        made.count--;
    }
    return made;
}

static void multiply(integer *number, uint32_t factor) {
    uint64_t carry = 0;
    for (unsigned i = 0; i < number->count; i++) {
        carry += (uint64_t)number->words[i] * factor;
        number->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0 && number->count < WORDS) {
        number->words[number->count++] = (uint32_t)carry;
    }
}

static void multiply_by_power(integer *number, uint32_t base, unsigned power) {
    for (; power > 0; power--) {
        multiply(number, base);
    }
}

static void shift(integer *number, unsigned bits) {
    for (; bits >= 31; bits -= 31) {
        multiply(number, (uint32_t)1 << 31);
    }
    multiply(number, (uint32_t)1 << bits);
}

/* Sets only the words that are counted: copies of all would be most of the time. */
static void sum_of(const integer *a, const integer *b, integer *out) {
    const integer *longer = a->count > b->count ? a : b, *shorter = a->count > b->count ? b : a;
    uint64_t carry = 0;
    for (unsigned i = 0; i < longer->count; i++) {
        carry += (uint64_t)longer->words[i] + (i < shorter->count ? shorter->words[i] : 0);
        out->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    out->count = longer->count;
    if (carry != 0 && out->count < WORDS) {
        out->words[out->count++] = (uint32_t)carry;
    }
}

/* The other one is not greater. */
static void subtract(integer *number, const integer *other) {
    int64_t borrow = 0;
    for (unsigned i = 0; i < number->count; i++) {
        borrow += (int64_t)number->words[i] - (i < other->count ? (int64_t)other->words[i] : 0);
        number->words[i] = (uint32_t)borrow;
        borrow = borrow < 0 ? -1 : 0;
    }
    while (number->count > 0 && number->words[number->count - 1] == 0) {
        number->count--;
    }
}

/* -1, 0 or 1 */
static int compare(const integer *a, const integer *b) {
    if (a->count != b->count) {
        return a->count < b->count ? -1 : 1;
    }
    for (unsigned i = a->count; i-- > 0;) {
        if (a->words[i] != b->words[i]) {
            return a->words[i] < b->words[i] ? -1 : 1;
        }
    }
    return 0;
}

/* ---- digits ---- */

/* value = numerator / denominator; numbers up to below / denominator beneath it, and above / denominator over it, read
 * back as it. */
typedef struct fraction {
    integer numerator, denominator, below, above;
    bool is_even; /* the ends of this range read back as it, too */
} fraction;

static fraction fraction_of(uint64_t significand, int exponent, bool is_closer_below) {
    fraction made = {.numerator = integer_of(significand),
                     .denominator = integer_of(1),
                     .below = integer_of(1),
                     .above = integer_of(1),
                     .is_even = significand % 2 == 0};
    unsigned more = is_closer_below ? 2 : 1; /* the neighbor below is half as far away */
    shift(&made.numerator, more + (exponent > 0 ? (unsigned)exponent : 0));
    shift(&made.denominator, more + (exponent < 0 ? (unsigned)-exponent : 0));
    shift(&made.below, exponent > 0 ? (unsigned)exponent : 0);
    shift(&made.above, more - 1 + (exponent > 0 ? (unsigned)exponent : 0));
    return made;
}

/* What is left reaches the next integer, within the range above. */
static bool reaches(const fraction *value) {
    integer top;
    sum_of(&value->numerator, &value->above, &top);
    int order = compare(&top, &value->denominator);
    return value->is_even ? order >= 0 : order > 0;
}

static void times_ten(fraction *value) {
    multiply(&value->numerator, 10);
    multiply(&value->below, 10);
    multiply(&value->above, 10);
}

/* Scales the value below 1, or what rounds to 1; returns the power of ten that it was divided by. */
static int scale(fraction *value, int binary_exponent) {
    /* log10(2) = 0.30102999566...; rounded down on both sides of 0, so that the loop below only goes up. */
    int64_t product = (int64_t)binary_exponent * (binary_exponent < 0 ? 315653 : 315652), one = 1 << 20;
    int power = (int)(product >= 0 ? product / one : -((-product + one - 1) / one));
    if (power > 0) {
        multiply_by_power(&value->denominator, 10, (unsigned)power);
    } else {
        multiply_by_power(&value->numerator, 10, (unsigned)-power);
        multiply_by_power(&value->below, 10, (unsigned)-power);
        multiply_by_power(&value->above, 10, (unsigned)-power);
    }
    for (; reaches(value); power++) {
        multiply(&value->denominator, 10);
    }
    return power;
}

/* Returns the number of digits, at most 17. */
static unsigned digits_of(fraction *value, char out[17]) {
    for (unsigned count = 0;;) {
        times_ten(value);
        int digit = 0;
        for (; compare(&value->numerator, &value->denominator) >= 0; digit++) {
            subtract(&value->numerator, &value->denominator);
        }
        int order = compare(&value->numerator, &value->below);
        bool is_low = value->is_even ? order <= 0 : order < 0, is_high = reaches(value);
        if (is_low || is_high || count == 16) {
            integer twice;
            sum_of(&value->numerator, &value->numerator, &twice);
            int half = compare(&twice, &value->denominator);
            bool is_up = is_high && (!is_low || half > 0 || (half == 0 && digit % 2 != 0));
            out[count++] = (char)('0' + digit + (is_up ? 1 : 0));
            return count;
        }
        out[count++] = (char)('0' + digit);
    }
}

/* ---- text ---- */

static size_t with_exponent(const char *digits, unsigned count, int exponent, char *out) {
    size_t length = 0;
    unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
    out[length++] = digits[0];
    if (count > 1) {
        out[length++] = '.';
        memcpy(out + length, digits + 1, count - 1);
        length += count - 1;
    }
    out[length++] = 'e';
    out[length++] = exponent < 0 ? '-' : '+';
    if (size >= 100) {
        out[length++] = (char)('0' + size / 100);
    }
    out[length++] = (char)('0' + size / 10 % 10);
    out[length++] = (char)('0' + size % 10);
    return length;
}

/* 0.DIGITS * 10^power; at least one digit on both sides of the point. */
static size_t with_point(const char *digits, unsigned count, int power, char *out) {
    size_t length = 0;
    unsigned before = power > 0 ? (unsigned)power : 0;
    for (unsigned place = 0; place < before; place++) {
        out[length++] = place < count ? digits[place] : '0';
    }
    if (before == 0) {
        out[length++] = '0';
    }
    out[length++] = '.';
    for (int place = power; place < 0; place++) {
        out[length++] = '0';
    }
    if (before >= count) {
        out[length++] = '0';
        return length;
    }
    memcpy(out + length, digits + before, count - before);
    return length + count - before;
}

size_t tendon_line_shortest(double value, char out[TENDON_LINE_NUMBER_SIZE]) {
    size_t sign = signbit(value) ? 1 : 0;
    out[0] = '-';
    if (value == 0) {
        memcpy(out + sign, "0.0", 3);
        return sign + 3;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    /* IEEE 754 binary64: 1.fraction * 2^(exponent - 1023); exponent 0 is 0.fraction * 2^-1022. */
    int biased = (int)(bits >> 52 & 0x7FF);
    uint64_t significand = bits & 0xFFFFFFFFFFFFF;
    bool is_closer_below = significand == 0 && biased > 1;
    significand = biased == 0 ? significand : significand | (uint64_t)1 << 52;
    int exponent = (biased == 0 ? 1 : biased) - 1075;
    fraction made = fraction_of(significand, exponent, is_closer_below);
    int top = exponent;
    for (uint64_t rest = significand; rest > 1; rest >>= 1) {
        top++;
    }
    char digits[17];
    int power = scale(&made, top);
    unsigned count = digits_of(&made, digits);
    /* The form of Swift, which the lines have had: an exponent for what is beneath 0.0001, and where not each integer
     * is a double any more. */
    bool has_exponent = power < -3 || fabs(value) > 0x1p54;
    return sign + (has_exponent ? with_exponent(digits, count, power - 1, out + sign)
                                : with_point(digits, count, power, out + sign));
}
