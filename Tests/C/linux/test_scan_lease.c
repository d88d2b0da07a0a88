/* SPDX-License-Identifier: MIT */
/* Scan leases on a radio whose calls are noted and can fail. */
#include "link_fixture.h"
#include "tendon/linux/radio.h"

#include <stdio.h>
#include <string.h>

typedef struct scripted {
    tendon_radio radio;
    char log[256];      /**< "a60/60 " an active start, "p..." a passive one, with "d" if duplicates are filtered, "c"
                           on LE Coded too; "- " a stop */
    tendon_status fail; /**< of the next start */
    int fails;          /**< so many starts */
} scripted;

static tendon_status scan_start(tendon_radio *radio, const tendon_scan_parameters *parameters) {
    scripted *s = (scripted *)radio;
    if (s->fails > 0) {
        s->fails--;
        return s->fail;
    }
    size_t used = strlen(s->log);
    snprintf(s->log + used, sizeof s->log - used, "%c%s%s%u/%u ", parameters->active ? 'a' : 'p',
             parameters->filter_duplicates ? "d" : "", parameters->coded ? "c" : "", parameters->window_ms,
             parameters->interval_ms);
    return TENDON_OK;
}

static tendon_status scan_stop(tendon_radio *radio) {
    strcat(((scripted *)radio)->log, "- ");
    return TENDON_OK;
}

static const tendon_radio_ops ops = {.name = "scripted", .scan_start = scan_start, .scan_stop = scan_stop};

static scripted the_radio;

static scripted *opened(void) {
    the_radio = (scripted){.radio = {.ops = &ops}};
    return &the_radio;
}

static void expect_log(scripted *s, const char *expected) {
    assert_string_equal(s->log, expected);
    s->log[0] = '\0';
}

static const tendon_scan_parameters passive = {.filter_duplicates = true}, active = {.active = true};

static tendon_status acquire(scripted *s, tendon_scan_lease *lease, const tendon_scan_parameters *parameters) {
    return tendon_radio_scan_acquire(&s->radio, lease, parameters);
}

static void release(scripted *s, tendon_scan_lease *lease) {
    assert_int_equal(tendon_radio_scan_release(&s->radio, lease), TENDON_OK);
}

/* The strongest request of those that are held; the last one ends the scan. */
static void one_scan_serves_all(void **state) {
    (void)state;
    scripted *s = opened();
    tendon_scan_lease a = {0}, b = {0}, c = {0}, d = {0};
    assert_int_equal(acquire(s, &a, &passive), TENDON_OK);
    expect_log(s, "pd60/60 ");
    assert_true(s->radio.scanning);
    assert_int_equal(acquire(s, &b, &passive), TENDON_OK);
    expect_log(s, "- pd60/60 "); /* the controller reports to the new one what it has reported before */
    assert_int_equal(acquire(s, &c, &(tendon_scan_parameters){0}), TENDON_OK);
    expect_log(s, "- p60/60 ");
    assert_int_equal(acquire(s, &d, &(tendon_scan_parameters){0}), TENDON_OK);
    expect_log(s, "- p60/60 "); /* also without a filter: some report a device once per scan all the same */
    release(s, &d);
    expect_log(s, "");
    release(s, &c);
    expect_log(s, "- pd60/60 ");
    assert_int_equal(acquire(s, &b, &passive), TENDON_OK);
    expect_log(s, ""); /* nothing changes: the scan is not disturbed */
    assert_int_equal(acquire(s, &c, &active), TENDON_OK);
    expect_log(s, "- a60/60 ");
    assert_int_equal(acquire(s, &a, &(tendon_scan_parameters){0}), TENDON_OK);
    expect_log(s, ""); /* nor by a weaker one */
    release(s, &a);
    expect_log(s, "");
    release(s, &c);
    expect_log(s, "- pd60/60 ");
    assert_int_equal(acquire(s, &b, &(tendon_scan_parameters){.active = true, .filter_duplicates = true}), TENDON_OK);
    expect_log(s, "- ad60/60 "); /* the same lease with another request */
    const tendon_scan_parameters coded = {.active = true, .filter_duplicates = true, .coded = true};
    assert_int_equal(acquire(s, &b, &coded), TENDON_OK);
    expect_log(s, "- adc60/60 ");
    assert_int_equal(acquire(s, &b, &coded), TENDON_OK);
    expect_log(s, "");
    /* Each parameter alone is another scan. */
    static const struct {
        tendon_scan_parameters parameters;
        const char *log;
    } steps[] = {{{.interval_ms = 100, .window_ms = 40}, "- p40/100 "},
                 {{.interval_ms = 100, .window_ms = 50}, "- p50/100 "},
                 {{.interval_ms = 90, .window_ms = 50}, "- p50/90 "},
                 {{.interval_ms = 90, .window_ms = 50, .active = true}, "- a50/90 "},
                 {{.interval_ms = 90, .window_ms = 50, .active = true, .coded = true}, "- ac50/90 "}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(acquire(s, &b, &steps[i].parameters), TENDON_OK);
        expect_log(s, steps[i].log);
    }
    release(s, &b);
    expect_log(s, "- ");
    assert_false(s->radio.scanning);
    release(s, &b);
    release(s, &a);
    expect_log(s, "");
}

/* Duplicates are filtered only if everybody says so, whatever the order. */
static void requests_by_table(void **state) {
    (void)state;
    static const struct {
        tendon_scan_parameters first, second;
        const char *merged;
    } cases[] = {
        {{.active = true, .filter_duplicates = true}, {.filter_duplicates = true}, "ad60/60 "},
        {{.active = true, .filter_duplicates = true}, {.filter_duplicates = false}, "a60/60 "},
        {{.interval_ms = 100, .window_ms = 10}, {.interval_ms = 1000, .window_ms = 200}, "p200/1000 "},
        {{.interval_ms = 100, .window_ms = 20}, {.interval_ms = 1000, .window_ms = 200}, "p20/100 "},
        {{.interval_ms = 100}, {.interval_ms = 1000, .window_ms = 999}, "p100/100 "},
        {{.coded = true}, {.active = true}, "ac60/60 "},
        {{.coded = true, .filter_duplicates = true}, {.filter_duplicates = true}, "pdc60/60 "},
        {{.interval_ms = 10240, .window_ms = 10240}, {.interval_ms = 10240, .window_ms = 10239}, "p10240/10240 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int order = 0; order < 2; order++) {
            scripted *s = opened();
            tendon_scan_lease a = {0}, b = {0};
            assert_int_equal(acquire(s, &a, order ? &cases[i].second : &cases[i].first), TENDON_OK);
            assert_int_equal(acquire(s, &b, order ? &cases[i].first : &cases[i].second), TENDON_OK);
            size_t length = strlen(s->log), tail = strlen(cases[i].merged);
            assert_true(length >= tail);
            assert_string_equal(s->log + length - tail, cases[i].merged);
        }
    }
}

static void parameters_that_cannot_be_are_rejected(void **state) {
    (void)state;
    static const tendon_scan_parameters cases[] = {{.interval_ms = 2},
                                                   {.interval_ms = 10241},
                                                   {.interval_ms = 100, .window_ms = 2},
                                                   {.interval_ms = 100, .window_ms = 101}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scripted *s = opened();
        tendon_scan_lease a = {0};
        assert_int_equal(acquire(s, &a, &cases[i]), TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(tendon_radio_scan_start(&s->radio, &cases[i]), TENDON_ERROR_INVALID_ARGUMENT);
        assert_null(s->radio.leases);
        expect_log(s, "");
    }
}

/* A start that fails leaves the others their scan, and a lease that was held its earlier request. */
static void a_start_that_fails_changes_nothing(void **state) {
    (void)state;
    scripted *s = opened();
    tendon_scan_lease a = {0}, b = {0};
    s->fail = TENDON_RADIO_ERROR_NO_CAP_NET_RAW;
    s->fails = 1;
    assert_int_equal(acquire(s, &a, &passive), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    assert_null(s->radio.leases);
    assert_false(s->radio.scanning);
    expect_log(s, "");
    assert_int_equal(acquire(s, &a, &passive), TENDON_OK);
    expect_log(s, "pd60/60 ");
    s->fails = 1;
    assert_int_equal(acquire(s, &b, &active), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    expect_log(s, "- pd60/60 ");
    assert_true(s->radio.scanning);
    s->fails = 1;
    assert_int_equal(acquire(s, &a, &active), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    expect_log(s, "- pd60/60 ");
    release(s, &b);
    expect_log(s, "");
    /* The one that stays has its scan again, if it starts at the second time. */
    assert_int_equal(acquire(s, &b, &active), TENDON_OK);
    expect_log(s, "- a60/60 ");
    s->fails = 1;
    release(s, &b);
    expect_log(s, "- pd60/60 ");
    assert_int_equal(acquire(s, &b, &active), TENDON_OK);
    s->fails = 2;
    assert_int_equal(tendon_radio_scan_release(&s->radio, &b), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    assert_false(s->radio.scanning);
    assert_int_equal(acquire(s, &a, &passive), TENDON_OK);
    release(s, &a);
}

/* The radio has ended its scan: nobody holds anything any more, and the next one starts it again. */
static void the_end_of_the_scan_ends_all_leases(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        scripted *s = opened();
        tendon_scan_lease a = {0}, b = {0};
        assert_int_equal(acquire(s, &a, &active), TENDON_OK);
        assert_int_equal(acquire(s, &b, &active), TENDON_OK);
        s->radio.scanning = false; /* as before on_failure() */
        expect_log(s, "a60/60 - a60/60 ");
        if (how == 0) {
            assert_int_equal(acquire(s, &a, &passive), TENDON_OK);
            expect_log(s, "pd60/60 "); /* the request of b does not count */
            release(s, &b);
            expect_log(s, "");
        } else if (how == 1) {
            release(s, &a);
            assert_null(s->radio.leases);
            expect_log(s, "");
        } else {
            assert_int_equal(tendon_radio_scan_start(&s->radio, &passive), TENDON_OK);
            expect_log(s, "pd60/60 ");
        }
    }
}

/* scan_start() is one more user: it is started once, and its end is not that of the others. */
static void the_radios_own_lease(void **state) {
    (void)state;
    scripted *s = opened();
    tendon_scan_lease a = {0};
    assert_int_equal(tendon_radio_scan_stop(&s->radio), TENDON_OK);
    assert_int_equal(tendon_radio_scan_start(&s->radio, &active), TENDON_OK);
    assert_int_equal(tendon_radio_scan_start(&s->radio, &passive), TENDON_RADIO_ERROR_ALREADY_STARTED);
    assert_int_equal(acquire(s, &a, &passive), TENDON_OK);
    expect_log(s, "a60/60 - a60/60 ");
    assert_int_equal(tendon_radio_scan_stop(&s->radio), TENDON_OK);
    assert_true(s->radio.scanning);
    expect_log(s, "- pd60/60 ");
    assert_int_equal(tendon_radio_scan_start(&s->radio, &active), TENDON_OK);
    release(s, &a);
    expect_log(s, "- a60/60 ");
    assert_int_equal(tendon_radio_scan_stop(&s->radio), TENDON_OK);
    expect_log(s, "- ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_scan_serves_all),
        cmocka_unit_test(requests_by_table),
        cmocka_unit_test(parameters_that_cannot_be_are_rejected),
        cmocka_unit_test(a_start_that_fails_changes_nothing),
        cmocka_unit_test(the_end_of_the_scan_ends_all_leases),
        cmocka_unit_test(the_radios_own_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
