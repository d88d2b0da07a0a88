/* SPDX-License-Identifier: MIT */
/* Connection parameters as people write them. */
#include "tendon/host/connection_parameters.h"

#include "test_bytes.h"

#include <string.h>

#define TIMES(min, max, skip, supervision)                                                                             \
    { .min_interval = (min), .max_interval = (max), .latency = (skip), .timeout = (supervision) }

static const tendon_connection_parameters untouched = TIMES(1, 2, 3, 4);

static bool is_same(const tendon_connection_parameters *a, const tendon_connection_parameters *b) {
    return a->min_interval == b->min_interval && a->max_interval == b->max_interval && a->latency == b->latency &&
           a->timeout == b->timeout && a->phy == b->phy && a->tx_octets == b->tx_octets;
}

static void expect(const char *text, tendon_status status, size_t offset, tendon_connection_parameters expected) {
    tendon_connection_parameters out = untouched;
    size_t at = 999;
    tendon_status got = tendon_connection_parameters_parse(text, strlen(text), &out, &at);
    if (got != status || !is_same(&out, &expected) || (status < 0 && at != offset)) {
        fail_msg("\"%s\": status %d, offset %zu, %u %u %u %u", text, (int)got, at, out.min_interval, out.max_interval,
                 out.latency, out.timeout);
    }
}

static void profiles_have_names(void **state) {
    (void)state;
    static const char *const names[] = {"fast", "balanced", "low-power"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tendon_connection_parameters out = untouched;
        assert_int_equal(tendon_connection_parameters_parse(names[i], strlen(names[i]), &out, NULL), TENDON_OK);
        assert_true(tendon_connection_parameters_valid(&out));
    }
    expect("fast", TENDON_OK, 0, (tendon_connection_parameters)TIMES(6, 12, 0, 400));
    expect("balanced", TENDON_OK, 0, (tendon_connection_parameters)TIMES(24, 40, 0, 400));
    expect("low-power", TENDON_OK, 0, (tendon_connection_parameters)TIMES(80, 100, 2, 600));
    tendon_connection_parameters out = untouched;
    size_t offset = 0; /* what stands behind the text is not part of it */
    assert_int_equal(tendon_connection_parameters_parse("30-50,phy", 6, &out, &offset), TENDON_ERROR_MALFORMED);
    assert_int_equal(offset, 6);
    expect("fas", TENDON_ERROR_MALFORMED, 0, untouched);
    expect("faster", TENDON_ERROR_MALFORMED, 4, untouched);
    expect("Fast", TENDON_ERROR_MALFORMED, 0, untouched);
}

static void values_are_parsed(void **state) {
    (void)state;
    const struct {
        const char *text;
        tendon_connection_parameters parameters;
    } rows[] = {
        {"7.5-15", TIMES(6, 12, 0, 400)},
        {"7.50-7.5", TIMES(6, 6, 0, 400)},
        {"11.25-4000,0,32000", TIMES(9, 3200, 0, 3200)},
        {"30-50,4", TIMES(24, 40, 4, 400)},
        {"30-50,4,6000", TIMES(24, 40, 4, 600)},
        {"100-1000,4", TIMES(80, 800, 4, 3000)}, /* five intervals of a second, six times */
        {"100-1000,9", TIMES(80, 800, 9, 3200)},
        {"1.25-7.5", TIMES(0, 0, 0, 0)}, /* below */
        {"4001.25-4001.25", TIMES(0, 0, 0, 0)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool good = rows[i].parameters.min_interval != 0;
        expect(rows[i].text, good ? TENDON_OK : TENDON_ERROR_INVALID_ARGUMENT, strlen(rows[i].text),
               good ? rows[i].parameters : untouched);
    }
}

static void phy_and_length_follow(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint16_t timeout, tx_octets;
        uint8_t phy;
    } rows[] = {
        {"30-50,phy=1m", 400, 0, 1},
        {"30-50,length=27", 400, 27, 0},
        {"30-50,phy=coded,length=251", 400, 251, 3},
        {"30-50,0,phy=2m", 400, 0, 2},
        {"30-50,0,length=100", 400, 100, 0},
        {"30-50,0,5000,phy=2m,length=100", 500, 100, 2},
        {"balanced,phy=2m", 400, 0, 2},
        {"balanced,length=251", 400, 251, 0},
        {"balanced,phy=coded,length=27", 400, 27, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_connection_parameters expected = TIMES(24, 40, 0, rows[i].timeout);
        expected.phy = rows[i].phy;
        expected.tx_octets = rows[i].tx_octets;
        expect(rows[i].text, TENDON_OK, 0, expected);
    }
    for (unsigned phy = 0; phy < 256; phy++) {
        tendon_connection_parameters p = TIMES(24, 40, 0, 400);
        p.phy = (uint8_t)phy;
        assert_int_equal(tendon_connection_parameters_valid(&p), phy <= 3);
    }
    for (unsigned octets = 0; octets < 65536; octets++) {
        tendon_connection_parameters p = TIMES(24, 40, 0, 400);
        p.tx_octets = (uint16_t)octets;
        assert_int_equal(tendon_connection_parameters_valid(&p), octets == 0 || (octets >= 27 && octets <= 251));
    }
}

/* 2.5 ms for each connection, two units; with LE Coded 18.75 ms, fifteen. */
static void intervals_are_planned_for_the_number_of_links(void **state) {
    (void)state;
    static const struct {
        const char *text;
        tendon_connection_parameters parameters;
    } rows[] = {
        {"fast,links=1", TIMES(6, 12, 0, 400)},
        {"fast,links=3", TIMES(6, 12, 0, 400)},
        {"fast,links=4", TIMES(8, 12, 0, 400)},
        {"fast,links=6", TIMES(12, 12, 0, 400)},
        {"fast,links=8", TIMES(16, 16, 0, 400)},
        {"balanced,links=12", TIMES(24, 40, 0, 400)},
        {"balanced,links=20", TIMES(40, 40, 0, 400)},
        {"low-power,links=40", TIMES(80, 100, 2, 600)},
        {"low-power,links=60", TIMES(120, 120, 2, 600)},
        {"30-50,0,110,links=40", TIMES(80, 80, 0, 400)}, /* 200 ms without an event are two intervals: too short */
        {"7.5-7.5,4,links=8", TIMES(16, 16, 4, 400)},
        {"7.5-15,links=1600", TIMES(3200, 3200, 0, 2400)},
        {"7.5-15,2,links=1600", TIMES(3200, 3200, 2, 3200)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect(rows[i].text, TENDON_OK, 0, rows[i].parameters);
    }
    tendon_connection_parameters coded = TIMES(30, 30, 0, 400), second = TIMES(16, 16, 0, 400);
    coded.phy = TENDON_PHY_CODED;
    expect("fast,phy=coded,links=2", TENDON_OK, 0, coded);
    coded.min_interval = 6;
    coded.max_interval = 12;
    expect("fast,phy=coded", TENDON_OK, 0, coded); /* nothing is planned */
    coded.min_interval = coded.max_interval = 15;
    expect("fast,phy=coded,links=1", TENDON_OK, 0, coded);
    second.phy = TENDON_PHY_2M;
    second.tx_octets = 251;
    expect("fast,phy=2m,length=251,links=8", TENDON_OK, 0, second);
}

static void a_plan_that_cannot_be_changes_nothing(void **state) {
    (void)state;
    const struct {
        tendon_connection_parameters before;
        size_t links;
        tendon_status status;
    } rows[] = {
        {TIMES(6, 12, 0, 400), 0, TENDON_ERROR_INVALID_ARGUMENT},
        {TIMES(6, 12, 0, 400), 1600, TENDON_OK},
        {TIMES(6, 12, 0, 400), 1601, TENDON_ERROR_INVALID_ARGUMENT},
        {TIMES(6, 12, 0, 400), SIZE_MAX, TENDON_ERROR_INVALID_ARGUMENT},
        {TIMES(6, 12, 3, 400), 1600,
         TENDON_ERROR_INVALID_ARGUMENT}, /* four intervals of 4 s, two times: more than 32 s */
        {TIMES(5, 12, 0, 400), 8, TENDON_ERROR_INVALID_ARGUMENT},
        {TIMES(12, 6, 0, 400), 8, TENDON_ERROR_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_connection_parameters p = rows[i].before;
        assert_int_equal(tendon_connection_parameters_plan(&p, rows[i].links), rows[i].status);
        assert_int_equal(is_same(&p, &rows[i].before), rows[i].status != TENDON_OK);
    }
}

/* What is planned is valid, is planned again without a change, and has room for every connection. */
static void every_number_of_links(void **state) {
    (void)state;
    for (uint8_t phy = 0; phy <= TENDON_PHY_CODED; phy++) {
        const size_t event = phy == TENDON_PHY_CODED ? 15 : 2;
        for (size_t links = 1; links <= 3200 / event; links++) {
            tendon_connection_parameters p = TIMES(6, 400, 1, 400), again;
            p.phy = phy;
            assert_int_equal(tendon_connection_parameters_plan(&p, links), TENDON_OK);
            assert_true(tendon_connection_parameters_valid(&p));
            assert_int_equal(p.min_interval, links * event > 6 ? links * event : 6);
            assert_true(p.max_interval >= p.min_interval && p.max_interval >= 400);
            again = p;
            assert_int_equal(tendon_connection_parameters_plan(&again, links), TENDON_OK);
            assert_true(is_same(&p, &again));
        }
    }
}

static void what_is_wrong_has_its_place(void **state) {
    (void)state;
    const struct {
        const char *text;
        tendon_status status;
        size_t offset;
    } rows[] = {
        {"", TENDON_ERROR_MALFORMED, 0},
        {"-", TENDON_ERROR_MALFORMED, 0},
        {"30", TENDON_ERROR_MALFORMED, 2},
        {"30-", TENDON_ERROR_MALFORMED, 3},
        {"30-x", TENDON_ERROR_MALFORMED, 3},
        {"30.-50", TENDON_ERROR_MALFORMED, 3},
        {"30-50,", TENDON_ERROR_MALFORMED, 6},
        {"30-50,4,", TENDON_ERROR_MALFORMED, 8},
        {"30-50,4,6000,", TENDON_ERROR_MALFORMED, 12},
        {"30-50;4", TENDON_ERROR_MALFORMED, 5},
        {"30 -50", TENDON_ERROR_MALFORMED, 2},
        {"31-50", TENDON_ERROR_MALFORMED, 0},        /* no multiple of 1.25 ms */
        {"30-50.1", TENDON_ERROR_MALFORMED, 3},      /* likewise */
        {"7.500-15", TENDON_ERROR_MALFORMED, 5},     /* three decimals */
        {"30-50,0,4005", TENDON_ERROR_MALFORMED, 8}, /* no multiple of 10 ms */
        {"1000000-50", TENDON_ERROR_MALFORMED, 6},   /* seven digits */
        {"999990-999990", TENDON_ERROR_INVALID_ARGUMENT, 13},
        {"50-30", TENDON_ERROR_INVALID_ARGUMENT, 5},
        {"30-50,500", TENDON_ERROR_INVALID_ARGUMENT, 9},
        {"30-50,999999", TENDON_ERROR_INVALID_ARGUMENT, 12},
        {"30-50,0,90", TENDON_ERROR_INVALID_ARGUMENT, 10},
        {"30-50,0,999990", TENDON_ERROR_INVALID_ARGUMENT, 14},
        {"30-50,0,100", TENDON_ERROR_INVALID_ARGUMENT, 11}, /* not longer than two intervals */
        {"4000-4000,3", TENDON_ERROR_INVALID_ARGUMENT, 11}, /* no supervision timeout is long enough */
        {"fast,", TENDON_ERROR_MALFORMED, 4},
        {"fast,0", TENDON_ERROR_MALFORMED, 4}, /* a profile has its latency */
        {"fastphy=2m", TENDON_ERROR_MALFORMED, 4},
        {"fast,phy", TENDON_ERROR_MALFORMED, 4},
        {"fast,phy=", TENDON_ERROR_MALFORMED, 9},
        {"fast,phy=3m", TENDON_ERROR_MALFORMED, 9},
        {"fast,phy=2", TENDON_ERROR_MALFORMED, 9},
        {"fast,phy=2mm", TENDON_ERROR_MALFORMED, 11},
        {"fast,phy=2m,phy=1m", TENDON_ERROR_MALFORMED, 11},
        {"fast,length=27,phy=2m", TENDON_ERROR_MALFORMED, 14}, /* the order is fixed */
        {"fast,length=", TENDON_ERROR_MALFORMED, 12},
        {"fast,length=x", TENDON_ERROR_MALFORMED, 12},
        {"fast,length=0", TENDON_ERROR_MALFORMED, 13},
        {"fast,length=26", TENDON_ERROR_INVALID_ARGUMENT, 14},
        {"fast,length=252", TENDON_ERROR_INVALID_ARGUMENT, 15},
        {"fast,length=65563", TENDON_ERROR_INVALID_ARGUMENT, 17}, /* not 27 */
        {"fast,length=131072", TENDON_ERROR_INVALID_ARGUMENT, 18},
        {"fast,links=", TENDON_ERROR_MALFORMED, 11},
        {"fast,links=x", TENDON_ERROR_MALFORMED, 11},
        {"fast,links=0", TENDON_ERROR_MALFORMED, 12},
        {"fast,links=8x", TENDON_ERROR_MALFORMED, 12},
        {"fast,links=8,phy=2m", TENDON_ERROR_MALFORMED, 12}, /* the order is fixed */
        {"fast,links=1601", TENDON_ERROR_INVALID_ARGUMENT, 15},
        {"fast,links=65537", TENDON_ERROR_INVALID_ARGUMENT, 16}, /* not 1 */
        {"fast,phy=coded,links=214", TENDON_ERROR_INVALID_ARGUMENT, 24},
        {"30-50,phy=", TENDON_ERROR_MALFORMED, 10},
        {"30-50,q=1", TENDON_ERROR_MALFORMED, 6},
        {"30,phy=2m", TENDON_ERROR_MALFORMED, 2},
        {"30-50,l", TENDON_ERROR_MALFORMED, 5},
        {"30-50,x,phy=2m", TENDON_ERROR_MALFORMED, 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect(rows[i].text, rows[i].status, rows[i].offset, untouched);
    }
    tendon_connection_parameters out = untouched;
    assert_int_equal(tendon_connection_parameters_parse("30-50x", 5, &out, NULL), TENDON_OK); /* up to its length */
    assert_int_equal(tendon_connection_parameters_parse("x", 1, &out, NULL), TENDON_ERROR_MALFORMED);
}

/* All intervals that exist, written as a person would, with each number of decimals. */
static void every_interval_is_found(void **state) {
    (void)state;
    for (unsigned units = 6; units <= 3200; units++) {
        char text[32];
        unsigned hundredths = units * 125;
        tendon_connection_parameters out;
        snprintf(text, sizeof text, "%u.%02u-4000,0,32000", hundredths / 100, hundredths % 100);
        assert_int_equal(tendon_connection_parameters_parse(text, strlen(text), &out, NULL), TENDON_OK);
        assert_int_equal(out.min_interval, units);
        assert_int_equal(out.max_interval, 3200);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_have_names),
        cmocka_unit_test(values_are_parsed),
        cmocka_unit_test(phy_and_length_follow),
        cmocka_unit_test(what_is_wrong_has_its_place),
        cmocka_unit_test(every_interval_is_found),
        cmocka_unit_test(intervals_are_planned_for_the_number_of_links),
        cmocka_unit_test(a_plan_that_cannot_be_changes_nothing),
        cmocka_unit_test(every_number_of_links),
    };
    return cmocka_run_group_tests_name("host_connection_parameters", tests, NULL, NULL);
}
