/* SPDX-License-Identifier: MIT */
#include "number_text.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Length of the sign. */
static size_t sign_of(const tendon_act_word *word, size_t at, bool *is_negative) {
    bool has_sign = at < word->length && (word->text[at] == '-' || word->text[at] == '+');
    *is_negative = has_sign && word->text[at] == '-';
    return has_sign ? 1 : 0;
}

bool tendon_word_integer(const tendon_act_word *word, int64_t *out) {
    bool is_negative = false;
    size_t at = sign_of(word, 0, &is_negative);
    uint64_t value = 0, most = (uint64_t)INT64_MAX + (is_negative ? 1 : 0);
    bool is_right = at < word->length;
    for (; at < word->length && is_right; at++) {
        is_right = is_digit(word->text[at]) && value <= (most - (uint64_t)(word->text[at] - '0')) / 10;
        value = is_right ? value * 10 + (uint64_t)(word->text[at] - '0') : 0;
    }
    *out = (int64_t)(is_negative ? 0 - value : value);
    return is_right;
}

bool tendon_word_any_integer(const tendon_act_word *word, int64_t *out) {
    if (word->length <= 2 || word->text[0] != '0' || (word->text[1] | 0x20) != 'x') {
        return tendon_word_integer(word, out);
    }
    *out = 0;
    for (size_t i = 2; i < word->length; i++) {
        char c = (char)(word->text[i] | 0x20);
        int digit = is_digit(word->text[i]) ? word->text[i] - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0 || *out > INT64_MAX >> 4) {
            return false;
        }
        *out = *out << 4 | digit;
    }
    return true;
}

/** Digits that were read: value * 10^power. */
typedef struct decimal {
    uint64_t value;
    int power;
    bool has_digits;
} decimal;

/* Digits beyond the 18th count for the power only. */
static void take_digit(decimal *number, char digit, bool is_behind_point) {
    number->has_digits = true;
    if (number->value < 100000000000000000u) {
        number->value = number->value * 10 + (uint64_t)(digit - '0');
        number->power -= is_behind_point ? 1 : 0;
    } else {
        number->power += is_behind_point ? 0 : 1;
    }
}

/* Beyond it every number is 0 or no number. */
enum { POWER_MAX = 400 };

static bool take_exponent(decimal *number, const tendon_act_word *word, size_t at) {
    bool is_negative = false;
    int power = 0;
    at += sign_of(word, at, &is_negative);
    bool is_right = at < word->length;
    for (; at < word->length && is_right; at++) {
        is_right = is_digit(word->text[at]);
        power = power < POWER_MAX ? power * 10 + (word->text[at] - '0') : power;
    }
    number->power += is_negative ? -power : power;
    return is_right;
}

static double scaled(const decimal *number) {
    double value = (double)number->value, scale = 1;
    int power = number->power < 0 ? -number->power : number->power;
    for (int i = 0; i < power && i < POWER_MAX && value != 0; i++) {
        scale *= 10;
        if (i % 300 == 299) { /* in parts: 1e300 is a number */
            value = number->power < 0 ? value / scale : value * scale;
            scale = 1;
        }
    }
    return number->power < 0 ? value / scale : value * scale;
}

bool tendon_word_number(const tendon_act_word *word, double *out) {
    decimal number = {0};
    bool is_negative = false, is_behind_point = false;
    size_t at = sign_of(word, 0, &is_negative);
    for (; at < word->length; at++) {
        char c = word->text[at];
        if (is_digit(c)) {
            take_digit(&number, c, is_behind_point);
        } else if (c == '.' && !is_behind_point) {
            is_behind_point = true;
        } else {
            break;
        }
    }
    bool is_right = number.has_digits;
    if (is_right && at < word->length) {
        is_right = (word->text[at] | 0x20) == 'e' && take_exponent(&number, word, at + 1);
    }
    *out = is_negative ? -scaled(&number) : scaled(&number);
    return is_right;
}
