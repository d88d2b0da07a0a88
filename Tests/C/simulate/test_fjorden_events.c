/* SPDX-License-Identifier: MIT */
/* Simulated Fjorden grip: the records of its events, and how they reach each central. docs/protocols/fjorden.md. */
#include "fjorden_fixture.h"

enum { SHUTTER = TENDON_FJORDEN_CONTROL_SHUTTER, FN, DIAL_BUTTON, DIAL, LEVER };

static void move(int control, int32_t value, uint64_t at) {
    device_run(f, at);
    assert_int_equal(tendon_simulated_fjorden_move(&grip, (tendon_fjorden_control)control, value, at), TENDON_OK);
}

static void expect_last(const char *hex) {
    device_expect_last(f, 0, hex);
}

static void every_control_has_its_records(void **state) {
    (void)state;
    fjorden_subscribe_events(0);
    move(SHUTTER, 1, 5010);
    expect_last("1b 17 00 01 01 0a 00 00");
    move(SHUTTER, 2, 5020);
    expect_last("1b 17 00 02 02 14 00 00");
    move(SHUTTER, 0, 5030);
    expect_last("1b 17 00 03 03 1e 00 00");
    move(DIAL, 3, 5040);
    expect_last("1b 17 00 04 11 28 00 03");
    move(DIAL, -1, 5040);
    expect_last("1b 17 00 05 12 28 00 01");
    move(DIAL_BUTTON, 1, 5050);
    move(DIAL_BUTTON, 0, 5060);
    expect_last("1b 17 00 06 13 3c 00 00");
    move(DIAL_BUTTON, 1, 5070);
    assert_int_equal(f->device.ops->deadline(f->device.context), 5570);
    move(DIAL_BUTTON, 0, 5600);
    expect_last("1b 17 00 07 14 3a 02 00"); /* at its own time */
    move(FN, 1, 5600);
    move(FN, 0, 5700);
    expect_last("1b 17 00 08 21 bc 02 00");
    move(FN, 1, 5700);
    move(FN, 0, 6300);
    expect_last("1b 17 00 09 22 b0 04 00");
    move(LEVER, -1, 6300);
    move(LEVER, 0, 6310);
    expect_last("1b 17 00 0a 31 1e 05 00 0b 35 1e 05 00");
    move(LEVER, 1, 6400);
    move(LEVER, 0, 6410);
    expect_last("1b 17 00 0c 32 82 05 00 0d 35 82 05 00");
    move(LEVER, -1, 6500);
    move(LEVER, 0, 7000);
    device_expect(f, 0, f->centrals[0].count - 2, "1b 17 00 0e 33 6c 07 00");
    expect_last("1b 17 00 0f 35 d0 07 00");
    move(LEVER, 1, 7000);
    move(LEVER, 0, 7400); /* the hold first */
    device_expect(f, 0, f->centrals[0].count - 2, "1b 17 00 10 34 60 09 00");
    expect_last("1b 17 00 11 35 60 09 00");
    assert_int_equal(grip.counters.records, 17);
    assert_int_equal(grip.counters.sent, 17);
    assert_int_equal(grip.counters.notifications, 15);
    assert_int_equal(tendon_simulated_fjorden_move(&grip, TENDON_FJORDEN_CONTROL_SHUTTER, 3, f->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(grip.counters.records, 17);
}

static void the_state_is_that_of_the_controls(void **state) {
    (void)state;
    static const struct {
        int control, value;
        const char *response;
    } cases[] = {
        {SHUTTER, 1, "0b 01 01 00 00 00 00"},     {SHUTTER, 2, "0b 01 03 00 00 00 00"},
        {SHUTTER, 0, "0b 01 00 00 00 00 00"},     {DIAL_BUTTON, 1, "0b 01 04 00 00 00 00"},
        {DIAL_BUTTON, 0, "0b 01 00 00 00 00 00"}, {FN, 1, "0b 01 08 00 00 00 00"},
        {LEVER, -1, "0b 01 08 ff 00 00 00"},      {LEVER, 1, "0b 01 08 01 00 00 00"},
        {FN, 0, "0b 01 00 01 00 00 00"},          {DIAL, 300, "0b 01 00 01 00 2c 01"},
        {DIAL, -301, "0b 01 00 01 00 ff ff"},     {DIAL, 32767, "0b 01 00 01 00 fe 7f"},
        {DIAL, 2, "0b 01 00 01 00 00 80"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        move(cases[i].control, cases[i].value, f->now);
        device_exchange(f, 0, "0a 1a 00", cases[i].response);
    }
    assert_int_equal(tendon_simulated_fjorden_move(&grip, TENDON_FJORDEN_CONTROL_DIAL, 32768, f->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    device_exchange(f, 0, "0a 1a 00", "0b 01 00 01 00 00 80");
}

/* A record contains at most 127 detents. */
static void a_long_turn_takes_several_records(void **state) {
    (void)state;
    fjorden_subscribe_events(0);
    move(DIAL, 300, 5000);
    expect_last("1b 17 00 01 11 00 00 7f 02 11 00 00 7f 03 11 00 00 2e");
    move(DIAL, 127, 5000);
    expect_last("1b 17 00 04 11 00 00 7f");
    move(DIAL, -128, 5000);
    expect_last("1b 17 00 05 12 00 00 7f 06 12 00 00 01");
}

static void the_battery_is_notified_and_reported_when_it_gets_low(void **state) {
    (void)state;
    fjorden_subscribe_events(0);
    tendon_simulated_fjorden_set_battery(&grip, 70, 5000);
    assert_int_equal(f->centrals[0].count, 0); /* no central has subscribed to it */
    device_exchange(f, 0, "0a 13 00", "0b 46");
    device_exchange(f, 0, "12 14 00 01 00", "13");
    device_forget(f, 0);
    tendon_simulated_fjorden_set_battery(&grip, 30, 5000);
    assert_int_equal(f->centrals[0].count, 1);
    expect_last("1b 13 00 1e");
    tendon_simulated_fjorden_set_battery(&grip, 29, 5001);
    device_expect(f, 0, 1, "1b 17 00 01 80 01 00 1d");
    device_expect(f, 0, 2, "1b 13 00 1d");
    tendon_simulated_fjorden_set_battery(&grip, 28, 5002); /* low already */
    assert_int_equal(f->centrals[0].count, 4);
    expect_last("1b 13 00 1c");
    device_run(f, 6000);
    assert_int_equal(f->centrals[0].count, 4); /* once each */
    tendon_simulated_fjorden_set_battery(&grip, 30, 6000);
    tendon_simulated_fjorden_set_battery(&grip, 0, 6000);
    device_expect(f, 0, 5, "1b 17 00 02 80 e8 03 00");
    expect_last("1b 13 00 00");
}

/* Volume Up of the HID consumer page, while the shutter is down. */
static void the_shutter_is_a_key_too(void **state) {
    (void)state;
    device_exchange(f, 0, "0a 25 00", "0b 00 00");
    device_exchange(f, 0, "12 26 00 01 00", "13");
    device_forget(f, 0);
    move(SHUTTER, 1, 5000);
    assert_int_equal(f->centrals[0].count, 0);
    move(SHUTTER, 2, 5000);
    assert_int_equal(f->centrals[0].count, 1);
    expect_last("1b 25 00 e9 00");
    device_exchange(f, 0, "0a 25 00", "0b e9 00");
    move(SHUTTER, 0, 5000);
    expect_last("1b 25 00 00 00");
    move(DIAL, 1, 5000);
    assert_int_equal(f->centrals[0].count, 3);
}

static void a_blocked_link_gets_all_of_it_later(void **state) {
    (void)state;
    fjorden_subscribe_events(0);
    device_exchange(f, 0, "12 14 00 01 00", "13");
    device_exchange(f, 0, "12 26 00 01 00", "13");
    device_forget(f, 0);
    f->centrals[0].room = 0;
    for (int i = 0; i < 5; i++) {
        move(DIAL, 1, 5000);
    }
    move(SHUTTER, 2, 5000);
    tendon_simulated_fjorden_set_battery(&grip, 60, 5000);
    assert_int_equal(grip.counters.blocked, 1); /* the link was full once, not eight times */
    assert_int_equal(grip.counters.sent, 0);
    device_writable(f, 0, 1);
    expect_last("1b 17 00 01 11 00 00 01 02 11 00 00 01 03 11 00 00 01 04 11 00 00 01"); /* 20 bytes */
    device_writable(f, 0, 1);
    expect_last("1b 17 00 05 11 00 00 01 06 01 00 00 00 07 02 00 00 00");
    device_writable(f, 0, 1);
    expect_last("1b 13 00 3c");
    device_writable(f, 0, 1);
    expect_last("1b 25 00 e9 00");
    device_writable(f, 0, 1);
    assert_int_equal(f->centrals[0].count, 4);
    assert_int_equal(grip.counters.sent, 7);
    assert_int_equal(grip.counters.notifications, 2); /* of events */
    assert_int_equal(grip.counters.blocked, 1);
    f->centrals[0].room = 0;
    move(DIAL, 1, 5000);
    assert_int_equal(grip.counters.blocked, 2);
}

static void a_ring_of_64_keeps_the_latest(void **state) {
    (void)state;
    fjorden_subscribe_events(0);
    f->centrals[0].room = 0;
    for (int i = 0; i < TENDON_SIMULATED_FJORDEN_QUEUE; i++) {
        move(DIAL, 1, 5000);
    }
    assert_int_equal(grip.counters.overwritten, 0);
    for (int i = 0; i < 3; i++) {
        move(DIAL, 1, 5000);
    }
    device_writable(f, 0, -1);
    assert_int_equal(grip.counters.overwritten, 3);
    assert_int_equal(grip.counters.sent, TENDON_SIMULATED_FJORDEN_QUEUE);
    assert_int_equal(f->centrals[0].count, TENDON_SIMULATED_FJORDEN_QUEUE / 4);
    device_expect(f, 0, 0, "1b 17 00 04 11 00 00 01 05 11 00 00 01 06 11 00 00 01 07 11 00 00 01");
    expect_last("1b 17 00 40 11 00 00 01 41 11 00 00 01 42 11 00 00 01 43 11 00 00 01");
}

/* One that is slow holds no other up, one that came later has missed what was before, one that is gone gets nothing. */
static void every_central_has_its_own_place(void **state) {
    (void)state;
    assert_int_equal(device_connect(f, 1, 53), TENDON_OK);
    assert_int_equal(device_connect(f, 2, 23), TENDON_OK);
    fjorden_subscribe_events(0);
    fjorden_subscribe_events(1);
    f->centrals[1].room = 0;
    for (int i = 0; i < 11; i++) {
        move(DIAL, 1, 5000);
    }
    assert_int_equal(f->centrals[0].count, 11);
    fjorden_subscribe_events(2);
    move(LEVER, 1, 5100);
    move(LEVER, 0, 5100);
    assert_int_equal(f->centrals[2].count, 1);
    device_expect_last(f, 2, "1b 17 00 0c 32 64 00 00 0d 35 64 00 00");
    device_writable(f, 1, -1); /* 10 records in 50 bytes */
    assert_int_equal(f->centrals[1].count, 2);
    assert_int_equal(f->centrals[1].pdus[0].length, 53);
    device_expect_last(f, 1, "1b 17 00 0b 11 00 00 01 0c 32 64 00 00 0d 35 64 00 00");
    device_disconnect(f, 1);
    tendon_att_bearer_close(&f->centrals[2].bearer);
    device_forget(f, 1);
    device_forget(f, 2);
    move(DIAL, 1, 5100);
    assert_int_equal(f->centrals[1].count + f->centrals[2].count, 0);
    /* Unsubscribed, then subscribed again. */
    device_exchange(f, 0, "12 18 00 00 00", "13");
    device_forget(f, 0);
    move(DIAL, 1, 5100);
    assert_int_equal(f->centrals[0].count, 0);
    fjorden_subscribe_events(0);
    move(DIAL, 2, 5100);
    assert_int_equal(f->centrals[0].count, 1);
    expect_last("1b 17 00 10 11 64 00 02");
}

/* Time counts from the first connection; sequence numbers are those of the grip. */
static void the_clock_starts_with_the_first_central(void **state) {
    (void)state;
    f->now = 5100;
    assert_int_equal(device_connect(f, 1, 23), TENDON_OK);
    fjorden_subscribe_events(0);
    move(DIAL, 1, 5200);
    expect_last("1b 17 00 01 11 c8 00 01");
    device_disconnect(f, 0);
    device_disconnect(f, 1);
    f->now = 80000;
    assert_int_equal(device_connect(f, 0, 23), TENDON_OK);
    fjorden_subscribe_events(0);
    move(DIAL, 1, 80010);
    expect_last("1b 17 00 02 11 0a 00 01");
    move(DIAL, 1, 80000 + 65541); /* 16 bits */
    expect_last("1b 17 00 03 11 05 00 01");
    tendon_simulated_fjorden_event(&grip, 0x41, -3, 79000); /* not before its start */
    expect_last("1b 17 00 04 41 00 00 fd");
}

static void records_are_lost_and_doubled_on_demand(void **state) {
    (void)state;
    fjorden_subscribe_events(0);
    tendon_simulated_fjorden_lose(&grip, 2);
    for (int i = 0; i < 3; i++) {
        move(DIAL, 1, 5000);
    }
    assert_int_equal(f->centrals[0].count, 1);
    expect_last("1b 17 00 03 11 00 00 01");
    assert_int_equal(grip.counters.lost, 2);
    assert_int_equal(grip.counters.records, 1);
    tendon_simulated_fjorden_duplicate(&grip, 1);
    move(DIAL, 1, 5000);
    expect_last("1b 17 00 04 11 00 00 01 04 11 00 00 01");
    move(DIAL, 1, 5000);
    expect_last("1b 17 00 05 11 00 00 01");
    assert_int_equal(grip.counters.records, 3);
    assert_int_equal(grip.counters.sent, 4);
}

static void malformed_notifications_on_demand(void **state) {
    (void)state;
    fjorden_subscribe_events(0);
    tendon_simulated_fjorden_inject(&grip, TENDON_FJORDEN_MALFORM_EMPTY, 1, 5000);
    assert_int_equal(f->centrals[0].count, 1);
    expect_last("1b 17 00");
    tendon_simulated_fjorden_inject(&grip, TENDON_FJORDEN_MALFORM_LENGTH, 2, 5000);
    assert_int_equal(f->centrals[0].count, 3);
    expect_last("1b 17 00 01 02 03");
    assert_int_equal(grip.counters.malformed, 3);
    assert_int_equal(grip.counters.records, 0);
    tendon_simulated_fjorden_inject(&grip, TENDON_FJORDEN_MALFORM_VALUE, 2, 5000);
    expect_last("1b 17 00 01 11 00 00 00 02 11 00 00 00");
    tendon_simulated_fjorden_inject(&grip, TENDON_FJORDEN_MALFORM_UNKNOWN, 1, 5000);
    expect_last("1b 17 00 03 f0 00 00 00");
    assert_int_equal(grip.counters.malformed, 6);
    device_forget(f, 0);
    tendon_simulated_fjorden_inject(&grip, TENDON_FJORDEN_MALFORM_UNKNOWN, 1000, 5000);
    assert_int_equal(f->centrals[0].count, 16); /* 64, and all of them leave */
    assert_int_equal(grip.counters.overwritten, 0);
    /* A state of another version, once. */
    tendon_simulated_fjorden_inject(&grip, TENDON_FJORDEN_MALFORM_STATE, 1, 5000);
    assert_int_equal(f->centrals[0].count, 16);
    device_exchange(f, 0, "0a 1a 00", "0b 09 00 00 00 00 00");
    device_exchange(f, 0, "0a 1a 00", "0b 01 00 00 00 00 00");
    assert_int_equal(grip.counters.malformed, 71);
    /* A full link delays them, and what follows them. */
    f->centrals[0].room = 0;
    tendon_simulated_fjorden_inject(&grip, TENDON_FJORDEN_MALFORM_EMPTY, 1, 5000);
    move(DIAL, 1, 5000);
    device_forget(f, 0);
    device_writable(f, 0, -1);
    assert_int_equal(f->centrals[0].count, 2);
    device_expect(f, 0, 0, "1b 17 00");
    expect_last("1b 17 00 44 11 00 00 01");
    assert_int_equal(grip.counters.malformed, 72);
}

/* ---- the hand ---- */

static const struct {
    uint8_t code;
    uint16_t at_ms;
    uint8_t value;
} hand[] = {{0x01, 500, 0},      {0x02, 800, 0},  {0x03, 1200, 0}, {0x11, 2000, 2}, {0x12, 2500, 1},
            {0x13, 3100, 0},     {0x21, 4100, 0}, {0x22, 5500, 0}, {0x31, 6600, 0}, {0x35, 6600, 0},
            {0x32 + 2, 7900, 0}, {0x35, 8200, 0}, {0x11, 9000, 3}};
enum { HAND = sizeof hand / sizeof hand[0] };

static void a_hand_uses_every_control_in_ten_seconds(void **state) {
    (void)state;
    for (int late = 0; late < 2; late++) {
        const tendon_simulated_fjorden_options options = {.open = true, .hand = true, .event_limit = 2 * HAND};
        fjorden_connected(&options);
        assert_int_equal(f->device.ops->deadline(f->device.context), 5500);
        fjorden_subscribe_events(0);
        for (int step = 0; step < 400; step++) {
            if (late) { /* ticks of a busy host */
                f->now += 100;
                f->device.ops->tick(f->device.context, f->now);
            } else {
                device_run(f, f->now + 100);
            }
        }
        size_t seen = 0;
        for (size_t i = 0; i < f->centrals[0].count; i++) {
            const device_taken *t = &f->centrals[0].pdus[i];
            for (size_t at = 3; at < t->length; at += 5, seen++) {
                assert_int_equal(t->bytes[at], seen + 1);
                assert_int_equal(t->bytes[at + 1], hand[seen % HAND].code);
                assert_int_equal(t->bytes[at + 2] | t->bytes[at + 3] << 8,
                                 hand[seen % HAND].at_ms + 10000 * (seen / HAND));
                assert_int_equal(t->bytes[at + 4], hand[seen % HAND].value);
            }
        }
        assert_int_equal(seen, 2 * HAND); /* the limit */
        assert_int_equal(grip.counters.records, 2 * HAND);
        assert_int_equal(f->device.ops->deadline(f->device.context), UINT64_MAX);
    }
}

static void a_hand_rests_while_nobody_is_connected(void **state) {
    (void)state;
    const tendon_simulated_fjorden_options options = {.open = true, .hand = true};
    fjorden_connected(&options);
    fjorden_subscribe_events(0);
    device_run(f, 6000);
    expect_last("1b 17 00 02 02 20 03 00");
    device_disconnect(f, 0);
    assert_int_equal(f->device.ops->deadline(f->device.context), UINT64_MAX);
    device_run(f, 60000);
    assert_int_equal(grip.counters.records, 2);
    assert_int_equal(device_connect(f, 0, 23), TENDON_OK); /* it begins again */
    fjorden_subscribe_events(0);
    assert_int_equal(f->device.ops->deadline(f->device.context), 60500);
}

/* Half of its script presses fn, and the next connection the shutter: together, and for long, they would reset the
 * bond. */
static void a_hand_lets_go_between_two_connections(void **state) {
    (void)state;
    const tendon_simulated_fjorden_options options = {.open = true, .hand = true, .bonded = true};
    fjorden_connected(&options);
    fjorden_subscribe_events(0);
    device_run(f, 5000 + 4050); /* fn is down */
    device_disconnect(f, 0);
    device_run(f, 20000);
    assert_int_equal(device_connect(f, 0, 23), TENDON_OK);
    fjorden_subscribe_events(0);
    device_run(f, 20000 + 650);
    device_disconnect(f, 0); /* the shutter is half down */
    device_run(f, 40000);
    assert_int_equal(device_connect(f, 0, 23), TENDON_OK);
    fjorden_subscribe_events(0);
    device_run(f, 40000 + 600);
    expect_last("1b 17 00 09 01 f4 01 00");
    assert_int_equal(f->device.ops->pairing(f->device.context), 0);
}

static void a_gesture_of_five_seconds_resets_the_bond(void **state) {
    (void)state;
    const tendon_simulated_fjorden_options options = {.open = true, .bonded = true};
    fjorden_connected(&options);
    fjorden_subscribe_events(0);
    move(SHUTTER, 1, 5000);
    move(FN, 1, 5000);
    device_run(f, 9999);
    assert_int_equal(f->centrals[0].count, 1);
    assert_int_equal(f->device.ops->pairing(f->device.context), 0);
    device_run(f, 10000);
    expect_last("1b 17 00 02 82 88 13 00");
    device_run(f, 10099);
    assert_false(f->centrals[0].bearer.closed);
    device_run(f, 10100);
    assert_true(f->centrals[0].bearer.closed);
    assert_int_equal(f->device.ops->pairing(f->device.context),
                     TENDON_PERIPHERAL_PAIRABLE | TENDON_PERIPHERAL_CLEAR_BONDS);
}

/* ---- as fast as the link takes them ---- */

static void flat_out_one_record_a_notification(void **state) {
    (void)state;
    const tendon_simulated_fjorden_options options = {.open = true, .flat_out = true, .event_limit = 100};
    fjorden_connected(&options);
    assert_int_equal(f->device.ops->deadline(f->device.context), UINT64_MAX); /* no central has subscribed */
    fjorden_subscribe_events(0);
    assert_int_equal(f->device.ops->deadline(f->device.context), 0);
    f->device.ops->tick(f->device.context, f->now);
    assert_int_equal(f->centrals[0].count, 64); /* then the host has its turn */
    device_expect(f, 0, 0, "1b 17 00 01 11 00 00 01");
    device_expect(f, 0, 63, "1b 17 00 40 11 3f 00 01");
    device_run(f, f->now);
    assert_int_equal(f->centrals[0].count, 100);
    assert_int_equal(grip.counters.records, 100);
    assert_int_equal(grip.counters.notifications, 100);
    assert_int_equal(f->device.ops->deadline(f->device.context), UINT64_MAX);
}

static void flat_out_waits_for_the_slowest(void **state) {
    (void)state;
    const tendon_simulated_fjorden_options options = {.open = true, .flat_out = true};
    fjorden_connected(&options);
    assert_int_equal(device_connect(f, 1, 23), TENDON_OK);
    fjorden_subscribe_events(0);
    fjorden_subscribe_events(1);
    f->centrals[1].room = 2;
    f->device.ops->tick(f->device.context, f->now);
    assert_int_equal(f->centrals[0].count, 3); /* the third waits in the second's outbox */
    assert_int_equal(f->centrals[1].count, 2);
    assert_int_equal(f->device.ops->deadline(f->device.context), UINT64_MAX);
    f->device.ops->tick(f->device.context, f->now);
    assert_int_equal(f->centrals[0].count, 3);
    device_writable(f, 1, 3);
    assert_int_equal(f->centrals[1].count, 5);
    assert_int_equal(f->centrals[0].count, 6);
    device_disconnect(f, 1);
    assert_int_equal(f->device.ops->deadline(f->device.context), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_control_has_its_records, fjorden_setup),
        cmocka_unit_test_setup(the_state_is_that_of_the_controls, fjorden_setup),
        cmocka_unit_test_setup(a_long_turn_takes_several_records, fjorden_setup),
        cmocka_unit_test_setup(the_battery_is_notified_and_reported_when_it_gets_low, fjorden_setup),
        cmocka_unit_test_setup(the_shutter_is_a_key_too, fjorden_setup),
        cmocka_unit_test_setup(a_blocked_link_gets_all_of_it_later, fjorden_setup),
        cmocka_unit_test_setup(a_ring_of_64_keeps_the_latest, fjorden_setup),
        cmocka_unit_test_setup(every_central_has_its_own_place, fjorden_setup),
        cmocka_unit_test_setup(the_clock_starts_with_the_first_central, fjorden_setup),
        cmocka_unit_test_setup(records_are_lost_and_doubled_on_demand, fjorden_setup),
        cmocka_unit_test_setup(malformed_notifications_on_demand, fjorden_setup),
        cmocka_unit_test(a_hand_uses_every_control_in_ten_seconds),
        cmocka_unit_test(a_hand_rests_while_nobody_is_connected),
        cmocka_unit_test(a_hand_lets_go_between_two_connections),
        cmocka_unit_test(a_gesture_of_five_seconds_resets_the_bond),
        cmocka_unit_test(flat_out_one_record_a_notification),
        cmocka_unit_test(flat_out_waits_for_the_slowest),
    };
    return cmocka_run_group_tests_name("simulate_fjorden_events", tests, NULL, NULL);
}
