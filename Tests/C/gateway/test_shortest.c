/* SPDX-License-Identifier: MIT */
/* The fewest digits that read back: against the C library of this machine, and by hand. */
#include "test_bytes.h"

#include "tendon/gateway/line.h"

#include <float.h>
#include <math.h>

static const char *shortest(double value) {
    static char text[TENDON_LINE_NUMBER_SIZE + 1];
    char out[TENDON_LINE_NUMBER_SIZE];
    size_t length = tendon_line_shortest(value, out);
    assert_in_range(length, 3, TENDON_LINE_NUMBER_SIZE);
    memcpy(text, out, length);
    text[length] = '\0';
    return text;
}

/* What Swift's description of the same numbers is. */
static void by_hand(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {-1, "-1.0"},
        {0.1, "0.1"},
        {0.3, "0.3"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {2.0 / 3, "0.6666666666666666"},
        {100, "100.0"},
        {123456789.125, "123456789.125"},
        {0.0001, "0.0001"},
        {0.00012345678901234567, "0.00012345678901234567"},
        {0.00001, "1e-05"},
        {-0.000012345, "-1.2345e-05"},
        {1e9, "1000000000.0"},
        {1e16, "10000000000000000.0"},
        {9007199254740993.0, "9007199254740992.0"},
        {18014398509481984.0, "18014398509481984.0"}, /* 2^54 */
        {18014398509481988.0, "1.8014398509481988e+16"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {2.225073858507201e-308, "2.225073858507201e-308"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {-DBL_MAX, "-1.7976931348623157e+308"},
        {9.5367431640625e-07, "9.5367431640625e-07"}, /* 2^-20 */
        {2251799813685249.5, "2251799813685249.5"},
        {2e-323, "2e-323"},
        {9.007199254740991e15, "9007199254740991.0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_string_equal(shortest(rows[i].value), rows[i].text);
    }
}

static unsigned digits_in(const char *text) {
    unsigned count = 0, zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0')) {
            count++;
            zeros = *text == '0' ? zeros + 1 : 0;
        }
    }
    return count - zeros;
}

/* It reads back; no text with fewer digits does, and the C library's of the same length is not nearer. */
static void check(double value) {
    const char *text = shortest(value);
    assert_true(strtod(text, NULL) == value);
    unsigned digits = digits_in(text);
    char other[40];
    if (digits > 1) {
        snprintf(other, sizeof other, "%.*e", (int)digits - 2, value);
        assert_true(strtod(other, NULL) != value);
    }
    /* rounded to as many digits, it is the same text unless that one does not read back */
    snprintf(other, sizeof other, "%.*e", (int)(digits > 0 ? digits : 1) - 1, value);
    if (strtod(other, NULL) == value) {
        char ours[40];
        snprintf(ours, sizeof ours, "%.*e", (int)digits - 1, strtod(text, NULL));
        assert_string_equal(ours, other);
    }
}

static double of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void random_numbers(void **state) {
    (void)state;
    dice d = {41};
    for (unsigned i = 0; i < whole_or_part(50000, 5000); i++) {
        double value = of_bits(roll(&d));
        if (isfinite(value) && value != 0) {
            check(value);
        }
        /* such as sensors have */
        value = ((double)(roll(&d) >> 32) - 2147483648.0) / 4096 / 1000;
        if (value != 0) {
            check(value);
        }
    }
}

/* Powers of two: the neighbor below is half as far away as the one above. */
static void powers(void **state) {
    (void)state;
    for (int power = -1074; power <= 1023; power++) {
        check(ldexp(1, power));
        check(nextafter(ldexp(1, power), 0) != 0 ? nextafter(ldexp(1, power), 0) : 1);
        check(nextafter(ldexp(1, power), DBL_MAX));
    }
    for (int power = -323; power <= 308; power++) {
        check(pow(10, power));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(random_numbers),
        cmocka_unit_test(powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
