/* SPDX-License-Identifier: MIT */
/* Datagrams that are sent, refused and dropped: what is counted, when a socket is opened again, what is reported. */
#include "test_bytes.h"

#include "tendon/osc.h"

/** What an hour of datagrams leads to, one each 20 ms. */
typedef struct story {
    tendon_osc_delivery delivery;
    uint64_t now;
    unsigned opened, refusals, failures; /* sockets; sentences */
} story;

static void count(story *s, tendon_osc_notice notice) {
    s->refusals += notice == TENDON_OSC_NOTICE_REFUSED ? 1 : 0;
    s->failures += notice == TENDON_OSC_NOTICE_FAILED ? 1 : 0;
}

/** As a program sends: it opens a socket if one is wanted, and sends if there is one. */
static void datagram(story *s, bool opens, tendon_osc_outcome outcome) {
    s->now += 20;
    if (tendon_osc_delivery_wants_socket(&s->delivery, s->now)) {
        s->opened++;
        count(s, tendon_osc_delivery_opened(&s->delivery, opens, s->now));
    }
    count(s, tendon_osc_delivery_took(&s->delivery, s->delivery.is_open ? outcome : TENDON_OSC_DROPPED, s->now));
}

static void what_works_is_counted(void **state) {
    (void)state;
    story s = {.now = 1000};
    for (unsigned i = 0; i < 500; i++) {
        datagram(&s, true, i % 5 == 0 ? TENDON_OSC_DROPPED : TENDON_OSC_SENT);
    }
    assert_int_equal(s.opened, 1);
    assert_int_equal(s.delivery.sent, 400);
    assert_int_equal(s.delivery.dropped, 100);
    assert_int_equal(s.delivery.refused, 0);
    assert_int_equal(s.refusals + s.failures, 0);
}

static void no_program_listens(void **state) {
    (void)state;
    story s = {.now = 1000};
    /* The kernel reports each second datagram: docs/osc.md. For longer than a notice that has passed is kept quiet. */
    for (unsigned i = 0; i < 200000; i++) {
        datagram(&s, true, i % 2 == 1 ? TENDON_OSC_REFUSED : TENDON_OSC_SENT);
    }
    assert_int_equal(s.opened, 1);
    assert_int_equal(s.delivery.sent, 100000);
    assert_int_equal(s.delivery.refused, 100000);
    assert_int_equal(s.refusals, 1);
    assert_int_equal(s.failures, 0);
}

static void a_network_that_is_not_up(void **state) {
    (void)state;
    story s = {.now = 1000};
    for (unsigned i = 0; i < 1500; i++) { /* 30 s: the first attempt, and one each ten seconds */
        datagram(&s, false, TENDON_OSC_SENT);
    }
    assert_int_equal(s.opened, 3);
    assert_int_equal(s.delivery.dropped, 1500);
    assert_int_equal(s.failures, 1);
    for (unsigned i = 0; i < 1500; i++) {
        datagram(&s, true, TENDON_OSC_SENT);
    }
    assert_int_equal(s.opened, 4);
    assert_int_equal(s.delivery.sent, 1500);
    assert_int_equal(s.failures, 1);
}

static void a_network_that_has_changed(void **state) {
    (void)state;
    story s = {.now = 1000};
    for (unsigned i = 0; i < 3000; i++) { /* one failure after half a minute: the next datagram leaves */
        datagram(&s, true, i == 1500 ? TENDON_OSC_FAILED : TENDON_OSC_SENT);
    }
    assert_int_equal(s.opened, 2);
    assert_int_equal(s.delivery.sent, 2999);
    assert_int_equal(s.delivery.dropped, 1);
    assert_int_equal(s.failures, 0);
}

/* A firewall that refuses each datagram (EPERM): a socket opens, and fails. */
static void an_error_that_persists(void **state) {
    (void)state;
    story s = {.now = 1000};
    for (unsigned i = 0; i < 180000; i++) {
        datagram(&s, true, TENDON_OSC_FAILED);
    }
    assert_int_equal(s.delivery.dropped, 180000);
    assert_int_equal(s.opened, 360); /* in an hour one each ten seconds, not one each datagram */
    assert_int_equal(s.failures, 1);
    for (unsigned i = 0; i < 180000; i++) {
        datagram(&s, true, TENDON_OSC_FAILED);
    }
    assert_int_equal(s.failures, 2); /* still so after an hour */
}

static void errors_that_take_turns(void **state) {
    (void)state;
    story s = {.now = 1000};
    /* A socket opens, no program listens, after five seconds the socket fails; again with the next one, which each
     * third time cannot be opened. */
    for (unsigned i = 0; i < 170000; i++) {
        bool fails = s.delivery.is_open && s.now + 5000 >= s.delivery.retry_at;
        datagram(&s, s.opened % 3 != 0, fails ? TENDON_OSC_FAILED : TENDON_OSC_REFUSED);
    }
    assert_int_equal(s.opened, 340);
    assert_true(s.delivery.refused > 50000);
    assert_int_equal(s.refusals, 1);
    assert_int_equal(s.failures, 1);
}

static void of_the_start_of_the_clock(void **state) {
    (void)state;
    tendon_osc_delivery delivery = {0};
    assert_true(tendon_osc_delivery_wants_socket(&delivery, 0));
    assert_int_equal(tendon_osc_delivery_opened(&delivery, false, 0), TENDON_OSC_NOTICE_FAILED);
    assert_false(tendon_osc_delivery_wants_socket(&delivery, 9999));
    assert_int_equal(delivery.retry_at, 10000);
    assert_true(tendon_osc_delivery_wants_socket(&delivery, 10000));
    assert_int_equal(tendon_osc_delivery_opened(&delivery, true, 10000), TENDON_OSC_NOTICE_NONE);
    assert_int_equal(tendon_osc_delivery_took(&delivery, TENDON_OSC_FAILED, 20000), TENDON_OSC_NOTICE_NONE);
    assert_true(tendon_osc_delivery_wants_socket(&delivery, 20000));
}

static void sentences(void **state) {
    (void)state;
    char text[TENDON_OSC_SENTENCE_SIZE], reason[2 * TENDON_OSC_SENTENCE_SIZE];
    assert_string_equal(tendon_osc_notice_format(TENDON_OSC_NOTICE_REFUSED, "[::1]:9", "not used", text),
                        "no program listens at [::1]:9; it is sent there all the same");
    assert_string_equal(tendon_osc_notice_format(TENDON_OSC_NOTICE_FAILED, "[::1]:9", "no route", text),
                        "[::1]:9: no route; it is tried again");
    assert_string_equal(tendon_osc_notice_format(TENDON_OSC_NOTICE_UNUSED, "[::1]:9", "", text),
                        "[::1]:9 takes orientations, and none will be sent: they are those of Bose wearables, of the "
                        "sensors rotation and game_rotation");
    memset(reason, 'x', sizeof reason - 1);
    reason[sizeof reason - 1] = '\0';
    tendon_osc_notice_format(TENDON_OSC_NOTICE_FAILED, "a", reason, text);
    assert_int_equal(strlen(text), TENDON_OSC_SENTENCE_SIZE - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_works_is_counted),     cmocka_unit_test(no_program_listens),
        cmocka_unit_test(a_network_that_is_not_up),  cmocka_unit_test(a_network_that_has_changed),
        cmocka_unit_test(an_error_that_persists),    cmocka_unit_test(errors_that_take_turns),
        cmocka_unit_test(of_the_start_of_the_clock), cmocka_unit_test(sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
