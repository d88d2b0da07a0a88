/* SPDX-License-Identifier: MIT */
#include "tendon/base.h"
#include "test_bytes.h"

typedef struct row {
    int64_t seconds;
    tendon_calendar calendar;
} row;

/* RFC 3339 5.8, Unix time of GNU date, and the ends. */
static const row rows[] = {
    {0, {1970, 1, 1, 0, 0, 0}},
    {-1, {1969, 12, 31, 23, 59, 59}},
    {482196050, {1985, 4, 12, 23, 20, 50}},
    {946684800, {2000, 1, 1, 0, 0, 0}},
    {951782400, {2000, 2, 29, 0, 0, 0}},
    {951868800, {2000, 3, 1, 0, 0, 0}},
    {4107542400, {2100, 3, 1, 0, 0, 0}},
    {1795957650, {2026, 11, 29, 13, 7, 30}},
    {-62135596800, {1, 1, 1, 0, 0, 0}},
    {253402300799, {9999, 12, 31, 23, 59, 59}},
};

static void both_directions(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tendon_calendar *expected = &rows[i].calendar;
        tendon_calendar found;
        int64_t seconds = 7;
        assert_true(tendon_calendar_from_seconds(rows[i].seconds, &found));
        assert_int_equal(found.year, expected->year);
        assert_int_equal(found.month, expected->month);
        assert_int_equal(found.day, expected->day);
        assert_int_equal(found.hour, expected->hour);
        assert_int_equal(found.minute, expected->minute);
        assert_int_equal(found.second, expected->second);
        assert_true(tendon_calendar_to_seconds(expected, &seconds));
        assert_int_equal(seconds, rows[i].seconds);
    }
}

static void no_such_date(void **state) {
    (void)state;
    static const tendon_calendar none[] = {
        {0, 1, 1, 0, 0, 0},     {10000, 1, 1, 0, 0, 0}, {2026, 0, 1, 0, 0, 0},  {2026, 13, 1, 0, 0, 0},
        {2026, 1, 0, 0, 0, 0},  {2026, 1, 32, 0, 0, 0}, {2026, 4, 31, 0, 0, 0}, {2026, 2, 29, 0, 0, 0},
        {2100, 2, 29, 0, 0, 0}, {2026, 1, 1, 24, 0, 0}, {2026, 1, 1, 0, 60, 0}, {2026, 1, 1, 0, 0, 60},
    };
    int64_t seconds;
    tendon_calendar found;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_false(tendon_calendar_to_seconds(&none[i], &seconds));
    }
    assert_false(tendon_calendar_from_seconds(-62135596801, &found));
    assert_false(tendon_calendar_from_seconds(253402300800, &found));
    assert_false(tendon_calendar_from_seconds(INT64_MIN, &found));
    assert_false(tendon_calendar_from_seconds(INT64_MAX, &found));
}

/* Each day of 800 years follows the one before, and is found again. */
static void each_day(void **state) {
    (void)state;
    tendon_calendar before = {1599, 12, 31, 0, 0, 0}, found;
    int64_t first = 0, again = 0;
    assert_true(tendon_calendar_to_seconds(&before, &first));
    for (int64_t day = 1; day <= 2 * 146097; day++) {
        assert_true(tendon_calendar_from_seconds(first + day * 86400, &found));
        bool is_next = (found.day == before.day + 1 && found.month == before.month && found.year == before.year) ||
                       (found.day == 1 && before.day >= 28 && found.month == before.month % 12 + 1 &&
                        found.year == before.year + (before.month == 12 ? 1 : 0));
        assert_true(is_next);
        assert_true(tendon_calendar_to_seconds(&found, &again));
        assert_int_equal(again, first + day * 86400);
        before = found;
    }
    assert_int_equal(before.year, 2399); /* 400 years are a whole number of days */
    assert_int_equal(before.month * 100 + before.day, 1231);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_directions), cmocka_unit_test(no_such_date),
                                       cmocka_unit_test(each_day)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
