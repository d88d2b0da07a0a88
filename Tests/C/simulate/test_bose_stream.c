/* SPDX-License-Identifier: MIT */
/* Simulated Bose wearable: the stream, its clock, full links, several centrals, malformed frames. */
#include "bose_fixture.h"

#define ALL_AT_20 "12 20 00 00 00 14 01 00 14 02 00 14 03 00 14"
#define ACCELEROMETER_AT_20 "12 20 00 00 00 14 01 00 00 02 00 00 03 00 00"
#define NOTHING "12 20 00 00 00 00 01 00 00 02 00 00 03 00 00"

static void start(bose_fixture *f, uint16_t mtu, const char *configuration) {
    bose_connect(f, 0, mtu);
    bose_listen(f, 0);
    bose_exchange(f, 0, configuration, "13");
    device_forget(&f->in, 0);
}

static uint16_t timestamp_of(const bose_fixture *f, size_t which, size_t index) {
    const uint8_t *bytes = f->in.centrals[which].pdus[index % DEVICE_KEPT].bytes;
    assert_int_equal(bytes[0], 0x1B);
    assert_int_equal(bytes[1], 0x23);
    return (uint16_t)(bytes[4] << 8 | bytes[5]);
}

static void e09_level_head_facing_north(void **state) {
    bose_fixture *f = *state;
    start(f, 185, "12 20 00 00 00 14 01 00 00 02 00 14 03 00 14");
    device_run(&f->in, 5000 + 10000); /* the script passes through level at half its period */
    assert_int_equal(f->in.centrals[0].count, 500);
    device_expect_last(&f->in, 0,
                       "1b 23 00 00 27 10 00 00 00 00 f0 00 03 02 27 10 3f ff 00 00 00 00 00 00 00 a4"
                       "03 27 10 3f ff 00 00 00 00 00 00");
    assert_int_equal(f->device.counters.notifications, 500);
    assert_int_equal(f->device.counters.samples, 1500);
}

static void one_sample_each_period(void **state) {
    bose_fixture *f = *state;
    start(f, 185, ACCELEROMETER_AT_20);
    device_run(&f->in, 5019);
    assert_int_equal(f->in.centrals[0].count, 0);
    device_run(&f->in, 5100);
    assert_int_equal(f->in.centrals[0].count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(timestamp_of(f, 0, i), 20 * (i + 1));
    }
    bose_exchange(f, 0, "12 20 00 00 00 50 01 00 00 02 00 00 03 00 00", "13"); /* 80 ms from now on */
    device_forget(&f->in, 0);
    device_run(&f->in, 5500);
    assert_int_equal(f->in.centrals[0].count, 5);
    assert_int_equal(timestamp_of(f, 0, 0), 180);
    assert_int_equal(timestamp_of(f, 0, 4), 500);
    bose_exchange(f, 0, "12 20 00 00 00 50 01 00 50 02 00 00 03 00 00", "13"); /* same period: no new start */
    assert_int_equal(tendon_simulated_bose_deadline(&f->device), 5580);
    bose_exchange(f, 0, NOTHING, "13");
    assert_int_equal(tendon_simulated_bose_deadline(&f->device), UINT64_MAX);
}

static void a_late_tick_catches_up_with_scheduled_times(void **state) {
    bose_fixture *f = *state;
    start(f, 185, ACCELEROMETER_AT_20);
    f->in.now = 5000 + 20 * 200;
    tendon_simulated_bose_tick(&f->device, f->in.now);
    assert_int_equal(f->in.centrals[0].count, 64); /* a tick is bounded */
    assert_true(tendon_simulated_bose_deadline(&f->device) <= f->in.now);
    device_run(&f->in, f->in.now);
    assert_int_equal(f->in.centrals[0].count, 200);
    for (size_t i = 0; i < 200; i++) {
        assert_int_equal(timestamp_of(f, 0, i), 20 * (i + 1));
    }
}

static void e19_timestamps_wrap(void **state) {
    bose_fixture *f = *state;
    const tendon_simulated_bose_options options = {.period_mask = 0x7F};
    bose_init(f, &options);
    start(f, 185, "12 20 00 00 00 0a 01 00 00 02 00 00 03 00 00");
    device_run(&f->in, 5000 + 65540);
    assert_int_equal(f->in.centrals[0].count, 6554);
    assert_int_equal(timestamp_of(f, 0, 6552), 65530);
    assert_int_equal(timestamp_of(f, 0, 6553), 4);
}

static void without_subscriber_there_is_no_stream(void **state) {
    bose_fixture *f = *state;
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, ACCELEROMETER_AT_20, "13");
    assert_int_equal(tendon_simulated_bose_deadline(&f->device), UINT64_MAX);
    bose_exchange(f, 0, "12 24 00 01 00", "13");
    assert_int_equal(tendon_simulated_bose_deadline(&f->device), 5020);
    bose_exchange(f, 0, "12 24 00 00 00", "13");
    assert_int_equal(tendon_simulated_bose_deadline(&f->device), UINT64_MAX);
}

static void suspension_stops_the_stream_and_keeps_the_configuration(void **state) {
    bose_fixture *f = *state;
    start(f, 185, ACCELEROMETER_AT_20);
    device_run(&f->in, 5050);
    tendon_simulated_bose_suspend(&f->device, true, 1, f->in.now);
    device_run(&f->in, 6000);
    assert_int_equal(f->in.centrals[0].count, 2);
    tendon_simulated_bose_suspend(&f->device, false, 0, f->in.now);
    device_run(&f->in, 6040);
    assert_int_equal(f->in.centrals[0].count, 4);
    assert_int_equal(timestamp_of(f, 0, 2), 1020); /* the clock continued */
}

static void the_last_central_takes_everything_with_it(void **state) {
    bose_fixture *f = *state;
    start(f, 185, ACCELEROMETER_AT_20);
    bose_exchange(f, 0, "12 28 00 81 01 82 00 83 00 c0 00 c1 00 c2 00", "13");
    bose_connect(f, 1, 185);
    f->in.now = 5500;
    device_disconnect(&f->in, 0);
    bose_exchange(f, 1, "0a 20 00", "0b 00 00 14 01 00 00 02 00 00 03 00 00"); /* one is still there */
    assert_int_equal(tendon_simulated_bose_deadline(&f->device), UINT64_MAX);  /* but does not listen */
    device_disconnect(&f->in, 1);
    device_disconnect(&f->in, 1); /* twice does no harm */
    f->in.now = 9000;
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "0a 20 00", "0b 00 00 00 01 00 00 02 00 00 03 00 00");
    bose_exchange(f, 0, "0a 28 00", "0b 81 00 82 00 83 00 c0 00 c1 00 c2 00");
    bose_exchange(f, 0, "0a 24 00", "0b 00 00");
    bose_listen(f, 0);
    bose_exchange(f, 0, ACCELEROMETER_AT_20, "13");
    device_forget(&f->in, 0);
    device_run(&f->in, 9020);
    assert_int_equal(timestamp_of(f, 0, 0), 20); /* the clock restarts with the first device_central */
}

static void e13_records_share_notifications_as_the_mtu_allows(void **state) {
    bose_fixture *f = *state;
    start(f, 23, ALL_AT_20);
    device_run(&f->in, 5020);
    assert_int_equal(f->in.centrals[0].count, 3); /* 10+10, 13, 11 bytes */
    assert_int_equal(f->in.centrals[0].pdus[0].length, 23);
    assert_int_equal(f->in.centrals[0].pdus[0].bytes[3], 0);
    assert_int_equal(f->in.centrals[0].pdus[0].bytes[13], 1);
    assert_int_equal(f->in.centrals[0].pdus[1].length, 16);
    assert_int_equal(f->in.centrals[0].pdus[1].bytes[3], 2);
    assert_int_equal(f->in.centrals[0].pdus[2].length, 14);
    assert_int_equal(f->in.centrals[0].pdus[2].bytes[3], 3);
    assert_int_equal(f->device.counters.samples, 4);
    bose_connect(f, 1, 185); /* the other central's larger MTU: 44 bytes in one notification */
    bose_listen(f, 1);
    device_run(&f->in, 5040);
    assert_int_equal(f->in.centrals[1].count, 1);
    assert_int_equal(f->in.centrals[1].pdus[0].length, 47);
    assert_int_equal(f->in.centrals[0].count, 6);
}

static void samples_of_a_transmission_period_share_a_notification(void **state) {
    bose_fixture *f = *state;
    const tendon_simulated_bose_options options = {.transmission_period_ms = 50};
    bose_init(f, &options);
    start(f, 185, ACCELEROMETER_AT_20);
    device_run(&f->in, 5059);
    assert_int_equal(f->in.centrals[0].count, 0);
    device_run(&f->in, 5060);
    assert_int_equal(f->in.centrals[0].count, 1); /* three samples in 50 ms, rounded up */
    assert_int_equal(f->in.centrals[0].pdus[0].length, 33);
    assert_int_equal(timestamp_of(f, 0, 0), 20);
    assert_int_equal(f->in.centrals[0].pdus[0].bytes[25], 60);
    device_run(&f->in, 5080);
    bose_exchange(f, 0, NOTHING, "13");
    tendon_simulated_bose_tick(&f->device, f->in.now); /* what waited for company goes out alone */
    assert_int_equal(f->in.centrals[0].count, 3);
    assert_int_equal(f->in.centrals[0].pdus[2].length, 13);
    assert_int_equal(tendon_simulated_bose_deadline(&f->device), UINT64_MAX);
}

/* The host calls tick() at the deadline, and nothing else. */
static void a_sample_that_waits_for_company_survives_a_new_subscription(void **state) {
    bose_fixture *f = *state;
    const tendon_simulated_bose_options options = {.transmission_period_ms = 40};
    bose_init(f, &options);
    start(f, 185, ACCELEROMETER_AT_20);
    device_run(&f->in, 5060); /* two samples are sent, the third waits */
    assert_int_equal(f->in.centrals[0].count, 1);
    bose_exchange(f, 0, "12 24 00 00 00", "13");
    assert_int_equal(tendon_simulated_bose_deadline(&f->device), 0);
    bose_exchange(f, 0, "12 24 00 01 00", "13");
    device_forget(&f->in, 0);
    device_run(&f->in, 5060 + 2000);
    assert_int_equal(f->in.centrals[0].count, 50);
    device_forget(&f->in, 0);
    device_run(&f->in, 5060 + 2020);
    bose_exchange(f, 0, NOTHING, "13"); /* the sensor is disabled instead: it goes out alone */
    device_run(&f->in, 5060 + 2030);
    assert_int_equal(f->in.centrals[0].count, 2);
    assert_int_equal(tendon_simulated_bose_deadline(&f->device), UINT64_MAX);
}

static void flat_out_loses_and_reorders_nothing(void **state) {
    bose_fixture *f = *state;
    const tendon_simulated_bose_options options = {.flat_out = true};
    bose_init(f, &options);
    start(f, 185, ACCELEROMETER_AT_20);
    size_t expected = 0;
    dice d = {0x9E3779B97F4A7C15u};
    f->in.centrals[0].room = 0;
    for (int i = 0; i < 3000; i++) {
        size_t before = f->in.centrals[0].count;
        f->in.centrals[0].room = (int)(roll(&d) % 6);
        size_t room = (size_t)f->in.centrals[0].room;
        tendon_simulated_bose_writable(&f->device, f->in.now);
        assert_int_equal(f->in.centrals[0].count, before + room);
        assert_int_equal(tendon_simulated_bose_deadline(&f->device), UINT64_MAX); /* full: wait for writable() */
        for (; expected < f->in.centrals[0].count; expected++) {
            assert_int_equal(timestamp_of(f, 0, expected), (20 * (expected + 1)) & 0xFFFF);
        }
    }
    assert_true(expected > 5000);
    assert_int_equal(f->device.counters.notifications, expected);
    assert_int_equal(f->device.counters.samples, expected);
    f->in.centrals[0].room =
        -1; /* a link that accepts everything: ticks are bounded, the next one follows immediately */
    tendon_simulated_bose_writable(&f->device, f->in.now);
    assert_true(f->in.centrals[0].count - expected <= 65);
    assert_int_equal(tendon_simulated_bose_deadline(&f->device), 0);
}

static void a_response_comes_between_notifications_of_a_full_link(void **state) {
    bose_fixture *f = *state;
    const tendon_simulated_bose_options options = {.flat_out = true};
    bose_init(f, &options);
    start(f, 185, ACCELEROMETER_AT_20);
    f->in.centrals[0].room = 3;
    tendon_simulated_bose_tick(&f->device, f->in.now);
    assert_int_equal(f->in.centrals[0].count, 3);
    device_send(&f->in, 0, "0a 0e 00");
    f->in.centrals[0].room = 2;
    tendon_att_bearer_writable(&f->in.centrals[0].bearer, f->in.now);
    tendon_simulated_bose_writable(&f->device, f->in.now);
    assert_int_equal(f->in.centrals[0].count, 5);
    device_expect(&f->in, 0, 3, "0b 31 2e 30 2e 30");
    assert_int_equal(timestamp_of(f, 0, 4), 80);
}

static void a_slow_central_delays_and_loses_nothing(void **state) {
    bose_fixture *f = *state;
    start(f, 185, ALL_AT_20);
    bose_connect(f, 1, 23);
    bose_listen(f, 1);
    f->in.centrals[1].room = 1; /* one of the three notifications */
    device_run(&f->in, 5200);
    assert_int_equal(f->in.centrals[0].count, 1);
    assert_int_equal(f->in.centrals[1].count, 1);
    assert_int_equal(f->device.counters.blocked, 1);
    f->in.centrals[1].room = -1;
    tendon_simulated_bose_writable(&f->device, f->in.now);
    assert_int_equal(f->in.centrals[0].count, 10); /* caught up: 20 ... 200 ms */
    assert_int_equal(f->in.centrals[1].count, 30);
    for (size_t i = 0; i < 10; i++) {
        const device_taken *whole = &f->in.centrals[0].pdus[i];
        uint8_t joined[44];
        size_t length = 0;
        for (size_t part = 3 * i; part < 3 * i + 3; part++) {
            const device_taken *t = &f->in.centrals[1].pdus[part];
            memcpy(joined + length, t->bytes + 3, t->length - 3u);
            length += t->length - 3u;
        }
        assert_int_equal(length, 44);
        assert_memory_equal(joined, whole->bytes + 3, 44);
    }
}

/* The stream ends while a slow central lacks a part of the last samples: the others do not get them again. */
static void what_was_sent_is_not_sent_again(void **state) {
    bose_fixture *f = *state;
    start(f, 185, ALL_AT_20);
    bose_connect(f, 1, 23);
    bose_listen(f, 1);
    f->in.centrals[1].room = 1; /* one of the three notifications */
    device_run(&f->in, 5030);
    assert_int_equal(f->in.centrals[0].count, 1);
    bose_exchange(f, 0, NOTHING, "13");
    device_forget(&f->in, 0);
    f->in.centrals[1].room = -1;
    tendon_simulated_bose_writable(&f->device, f->in.now);
    device_run(&f->in, 5100);
    assert_int_equal(f->in.centrals[0].count, 0);
}

static void a_central_that_goes_does_not_hold_the_others(void **state) {
    bose_fixture *f = *state;
    start(f, 185, ACCELEROMETER_AT_20);
    bose_connect(f, 1, 185);
    bose_listen(f, 1);
    f->in.centrals[1].room = 0;
    device_run(&f->in, 5100);
    assert_int_equal(f->in.centrals[0].count, 1);
    device_disconnect(&f->in, 1);
    device_run(&f->in, 5100);
    assert_int_equal(f->in.centrals[0].count, 5);
    f->in.centrals[0].link = TENDON_ERROR_DISCONNECTED; /* a lost link does not hold anybody either */
    device_run(&f->in, 5200);
    assert_int_equal(f->device.next_sample, 5220);
}

static void configuration_is_told_to_the_other_centrals(void **state) {
    bose_fixture *f = *state;
    for (size_t i = 0; i < 3; i++) {
        bose_connect(f, i, 185);
        if (i < 2) {
            bose_exchange(f, i, "12 21 00 01 00", "13");
            bose_exchange(f, i, "12 29 00 01 00", "13");
        }
        device_forget(&f->in, i);
    }
    bose_exchange(f, 0, ACCELEROMETER_AT_20, "13"); /* no notification to the writer */
    assert_int_equal(f->in.centrals[1].count, 1);
    device_expect(&f->in, 1, 0, "1b 20 00 00 00 14 01 00 00 02 00 00 03 00 00");
    f->in.centrals[1].room = 0;
    bose_exchange(f, 0, NOTHING, "13");
    bose_exchange(f, 0, ALL_AT_20, "13");
    bose_exchange(f, 0, "12 28 00 81 00 82 00 83 00 c0 00 c1 01 c2 00", "13");
    f->in.centrals[1].room = -1;
    tendon_simulated_bose_writable(&f->device, f->in.now); /* the present values, once each */
    assert_int_equal(f->in.centrals[1].count, 3);
    device_expect(&f->in, 1, 1, "1b 20 00 00 00 14 01 00 14 02 00 14 03 00 14");
    device_expect(&f->in, 1, 2, "1b 28 00 81 00 82 00 83 00 c0 00 c1 01 c2 00");
    assert_int_equal(f->in.centrals[2].count, 0);         /* not subscribed */
    bose_exchange(f, 0, "12 20 00 00", "01 12 20 00 80"); /* rejected: no notification */
    assert_int_equal(f->in.centrals[1].count, 3);
}

static void four_places_and_no_more(void **state) {
    bose_fixture *f = *state;
    for (size_t i = 0; i < 4; i++) {
        bose_connect(f, i, 185);
    }
    tendon_att_bearer_init(&f->in.centrals[4].bearer, (tendon_bearer_io){0}, 185);
    assert_int_equal(tendon_simulated_bose_connected(&f->device, &f->in.centrals[4].bearer, f->in.now),
                     TENDON_ERROR_TABLE_FULL);
    device_disconnect(&f->in, 4); /* it was never in */
    assert_int_equal(f->device.centrals.count, 4);
    device_disconnect(&f->in, 2);
    bose_connect(f, 4, 185);
    bose_exchange(f, 4, "0a 20 00", "0b 00 00 00 01 00 00 02 00 00 03 00 00");
}

static void malformed_notifications_on_demand(void **state) {
    bose_fixture *f = *state;
    start(f, 185, "12 20 00 00 00 14 01 00 00 02 00 00 03 00 14");
    device_run(&f->in, 5000 + 9980); /* the next sample, at 10,000 ms, is level */
    static const struct {
        tendon_simulated_bose_malformation kind;
        const char *value;
    } cases[] = {
        {TENDON_BOSE_MALFORM_EMPTY, ""},
        {TENDON_BOSE_MALFORM_CUT_HEADER, "00 27 10 00 00 00 00 f0 00 03 03 27 10 3f ff 00 00 00 00 00 00 00 27"},
        {TENDON_BOSE_MALFORM_CUT_PAYLOAD, "00 27 10 00 00 00 00 f0 00 03 03 27 10 3f ff 00 00 00 00 00"},
        {TENDON_BOSE_MALFORM_UNKNOWN_SENSOR, "7e 27 10 00 00 00 00 f0 00 03 03 27 10 3f ff 00 00 00 00 00 00"},
        {TENDON_BOSE_MALFORM_BAD_ACCURACY, "00 27 10 00 00 00 00 f0 00 07"},
        {TENDON_BOSE_MALFORM_GARBAGE, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        /* each kind from the same moment: the counters and the clock are put back */
        tendon_simulated_bose_counters counters = f->device.counters;
        uint64_t next = f->device.next_sample;
        size_t count = f->in.centrals[0].count;
        tendon_simulated_bose_inject(&f->device, cases[i].kind, 1);
        f->device.next_sample = 15000;
        tendon_simulated_bose_tick(&f->device, 15000);
        assert_int_equal(f->in.centrals[0].count, count + 1);
        if (cases[i].value != NULL) {
            char pdu[200];
            snprintf(pdu, sizeof pdu, "1b 23 00 %s", cases[i].value);
            device_expect_last(&f->in, 0, pdu);
        } else {
            assert_int_equal(f->in.centrals[0].pdus[count].length, 23);
        }
        assert_int_equal(f->device.counters.malformed, counters.malformed + 1);
        assert_int_equal(f->device.counters.notifications, counters.notifications + 1);
        assert_int_equal(f->device.counters.samples, counters.samples);
        f->device.next_sample = next;
        tendon_simulated_bose_tick(&f->device, next); /* and a good one after it */
        assert_int_equal(f->in.centrals[0].pdus[count + 1].length, 24);
        assert_int_equal(f->device.counters.samples, counters.samples + 2);
    }
}

static void a_limited_stream_stands_still(void **state) {
    bose_fixture *f = *state;
    for (int flat_out = 0; flat_out < 2; flat_out++) {
        const tendon_simulated_bose_options options = {.notification_limit = 100, .flat_out = flat_out == 1};
        bose_init(f, &options);
        start(f, 23, ALL_AT_20); /* three notifications a sample: the limit is in the middle of one */
        device_run(&f->in, f->in.now + 10000);
        assert_int_equal(f->in.centrals[0].count, 100);
        assert_int_equal(f->device.counters.notifications, 100);
        assert_int_equal(tendon_simulated_bose_deadline(&f->device), UINT64_MAX);
        bose_exchange(f, 0, "12 20 00 00 00 28 01 00 00 02 00 00 03 00 00", "13"); /* and stays so */
        device_run(&f->in, f->in.now + 10000);
        assert_int_equal(f->device.counters.notifications, 100);
        device_disconnect(&f->in, 0);
    }
}

static void several_malformed_in_a_row(void **state) {
    bose_fixture *f = *state;
    start(f, 185, ACCELEROMETER_AT_20);
    tendon_simulated_bose_inject(&f->device, TENDON_BOSE_MALFORM_CUT_PAYLOAD, 3);
    device_run(&f->in, 5100);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(f->in.centrals[0].pdus[i].length, i < 3 ? 12 : 13);
        assert_int_equal(timestamp_of(f, 0, i), 20 * (i + 1));
    }
}

/* The samples that wait already are sent as they are; the next notification is the malformed one. */
static void malformed_while_samples_wait(void **state) {
    bose_fixture *f = *state;
    const tendon_simulated_bose_options options = {.transmission_period_ms = 40};
    bose_init(f, &options);
    start(f, 185, ACCELEROMETER_AT_20);
    device_run(&f->in, 5020);
    tendon_simulated_bose_inject(&f->device, TENDON_BOSE_MALFORM_CUT_PAYLOAD, 1);
    device_run(&f->in, 5100);
    assert_int_equal(f->in.centrals[0].pdus[0].length, 23);
    assert_int_equal(f->in.centrals[0].pdus[1].length, 12);
    assert_int_equal(f->in.centrals[0].pdus[2].length, 23);
}

/** Whatever centrals write and however their links behave: bounded, within the MTU, and well again afterwards. */
static void hostile_centrals(void **state) {
    static const char *const pdus[] = {"02 f7 00",
                                       "12 24 00 01 00",
                                       "12 24 00 00 00",
                                       "12 2c 00 01 00",
                                       "12 1c 00 01 00",
                                       ALL_AT_20,
                                       NOTHING,
                                       ACCELEROMETER_AT_20,
                                       "0a 1e 00",
                                       "12 28 00 81 01 82 01 83 01 c0 01 c1 01 c2 01",
                                       "16 20 00 00 00 00 00 14",
                                       "18 01",
                                       "12 21 00 01 00",
                                       "1e",
                                       "52 20 00 00 00 14"};
    bose_fixture *f = *state;
    const tendon_simulated_bose_options options = {.transmission_period_ms = 30};
    bose_init(f, &options);
    dice d = {42};
    unsigned samples = 0; /* steps that streamed */
    for (size_t i = 0; i < 3; i++) {
        bose_connect(f, i, 23);
    }
    for (int step = 0; step < 20000; step++) {
        size_t which = (size_t)(roll(&d) % 3);
        uint64_t before = f->device.counters.samples;
        block pdu = block_hex(pdus[roll(&d) % (sizeof pdus / sizeof pdus[0])]);
        if (roll(&d) % 4 == 0) {
            pdu.data[roll(&d) % pdu.length] = (uint8_t)roll(&d);
        }
        f->in.centrals[which].room = (int)(roll(&d) % 5) - 1;
        tendon_att_bearer_receive(&f->in.centrals[which].bearer, pdu.data, pdu.length, f->in.now);
        free(pdu.data);
        tendon_att_bearer_writable(&f->in.centrals[which].bearer, f->in.now);
        if (roll(&d) % 16 == 0) {
            tendon_simulated_bose_inject(&f->device, (tendon_simulated_bose_malformation)(roll(&d) % 6), 1);
            tendon_simulated_bose_gesture(&f->device, (uint8_t)(0x80 + roll(&d) % 5), f->in.now);
            tendon_simulated_bose_suspend(&f->device, roll(&d) % 2 == 0, (uint8_t)roll(&d), f->in.now);
        }
        device_run(&f->in, f->in.now + roll(&d) % 50);
        samples += f->device.counters.samples > before ? 1 : 0;
        if (roll(&d) % 64 == 0) {
            device_disconnect(&f->in, which);
            bose_connect(f, which, 23);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        device_disconnect(&f->in, i);
    }
    tendon_simulated_bose_suspend(&f->device, false, 0, f->in.now);
    tendon_simulated_bose_inject(&f->device, TENDON_BOSE_MALFORM_EMPTY, 0);
    assert_true(samples > 500);
    start(f, 185, "12 20 00 00 00 28 01 00 00 02 00 00 03 00 00");
    device_run(&f->in, f->in.now + 400);
    assert_int_equal(f->in.centrals[0].count, 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        bose_test(e09_level_head_facing_north),
        bose_test(one_sample_each_period),
        bose_test(a_late_tick_catches_up_with_scheduled_times),
        bose_test(e19_timestamps_wrap),
        bose_test(without_subscriber_there_is_no_stream),
        bose_test(suspension_stops_the_stream_and_keeps_the_configuration),
        bose_test(the_last_central_takes_everything_with_it),
        bose_test(e13_records_share_notifications_as_the_mtu_allows),
        bose_test(samples_of_a_transmission_period_share_a_notification),
        bose_test(a_sample_that_waits_for_company_survives_a_new_subscription),
        bose_test(flat_out_loses_and_reorders_nothing),
        bose_test(a_response_comes_between_notifications_of_a_full_link),
        bose_test(a_slow_central_delays_and_loses_nothing),
        bose_test(what_was_sent_is_not_sent_again),
        bose_test(a_central_that_goes_does_not_hold_the_others),
        bose_test(configuration_is_told_to_the_other_centrals),
        bose_test(four_places_and_no_more),
        bose_test(malformed_notifications_on_demand),
        bose_test(a_limited_stream_stands_still),
        bose_test(several_malformed_in_a_row),
        bose_test(malformed_while_samples_wait),
        bose_test(hostile_centrals),
    };
    return cmocka_run_group_tests_name("simulate_bose_stream", tests, NULL, NULL);
}
