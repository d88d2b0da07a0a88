/* SPDX-License-Identifier: MIT */
/* The distance of two words, by hand and, for all short ones, by its definition. */
#include "test_bytes.h"

#include "tendon/definition/spelling.h"

static unsigned apart(const char *a, const char *b) {
    unsigned there = tendon_spelling_distance(a, strlen(a), b, strlen(b));
    assert_int_equal(tendon_spelling_distance(b, strlen(b), a, strlen(a)), there);
    return there;
}

static void by_hand(void **state) {
    static const struct {
        const char *a, *b;
        unsigned distance;
    } rows[] = {
        {"", "", 0},          {"stop", "stop", 0},       {"", "abc", 3},      {"stop", "stp", 1},
        {"stop", "sstop", 1}, {"stop", "stob", 1},       {"stop", "sotp", 1}, {"signal", "isgnla", 2},
        {"ca", "abc", 3},     {"warning", "Warning", 1}, {"ab", "ba", 1},     {"abc", "cab", 2},
        {"abcd", "badc", 2},  {"kitten", "sitting", 3},  {"a", "b", 1},       {"vibrate", "tare", 5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(apart(rows[i].a, rows[i].b), rows[i].distance);
    }
}

/* The definition, without the table: the last letters are equal, replaced, exchanged, left out or inserted. */
static unsigned defined(const char *a, size_t m, const char *b, size_t n) {
    if (m == 0 || n == 0) {
        return (unsigned)(m + n);
    }
    unsigned best = defined(a, m - 1, b, n - 1) + (a[m - 1] != b[n - 1] ? 1U : 0U);
    unsigned left_out = 1 + defined(a, m - 1, b, n), inserted = 1 + defined(a, m, b, n - 1);
    best = left_out < best ? left_out : best;
    best = inserted < best ? inserted : best;
    if (m > 1 && n > 1 && a[m - 1] == b[n - 2] && a[m - 2] == b[n - 1]) {
        unsigned exchanged = 1 + defined(a, m - 2, b, n - 2);
        best = exchanged < best ? exchanged : best;
    }
    return best;
}

static size_t word(unsigned number, char out[4]) {
    size_t length = number & 3u;
    for (size_t i = 0; i < length; i++) {
        out[i] = (char)('a' + (number >> (2 + 2 * i) & 3u));
    }
    return length;
}

static void all_short_words(void **state) {
    (void)state;
    for (unsigned first = 0; first < 256; first++) {
        for (unsigned second = 0; second < 256; second++) {
            char a[4], b[4];
            size_t m = word(first, a), n = word(second, b);
            assert_int_equal(tendon_spelling_distance(a, m, b, n), defined(a, m, b, n));
        }
    }
}

static void long_words(void **state) {
    char a[49], b[49];
    (void)state;
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    assert_int_equal(tendon_spelling_distance(a, 48, b, 48), 48);
    assert_int_equal(tendon_spelling_distance(a, 48, a, 47), 1);
    assert_int_equal(tendon_spelling_distance(a, 49, b, 1), TENDON_SPELLING_FAR);
    assert_int_equal(tendon_spelling_distance(a, 0, b, 49), TENDON_SPELLING_FAR);
    assert_int_equal(tendon_spelling_distance(a, SIZE_MAX, b, 1), TENDON_SPELLING_FAR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(all_short_words),
        cmocka_unit_test(long_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
