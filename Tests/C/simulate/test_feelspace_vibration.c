/* SPDX-License-Identifier: MIT */
/* Simulated naviBelt: what it obeys, what it ignores and refuses, and what its motors then do. FE03 is handle 0B. */
#include "feelspace_fixture.h"

static const tendon_simulated_feelspace_record *last(void) {
    const tendon_simulated_feelspace_record *record = tendon_simulated_feelspace_recorded(&belt, belt.recorded - 1);
    assert_non_null(record);
    return record;
}

/** Writes to FE03; a wrong length is refused, all else answered. */
static void vibrate(const char *hex, tendon_simulated_feelspace_outcome outcome) {
    char pdu[128];
    snprintf(pdu, sizeof pdu, "12 0b 00 %s", hex);
    device_forget(f, 0);
    device_exchange(f, 0, pdu, outcome == TENDON_FEELSPACE_REFUSED_LENGTH ? "01 12 0b 00 0d" : "13");
    assert_int_equal(last()->outcome, outcome);
    assert_int_equal(last()->characteristic, 0xFE03);
    assert_hex(last()->bytes, last()->length, hex);
}

static void mode(uint8_t mode) {
    tendon_simulated_feelspace_change_mode(&belt, mode, f->now);
}

/** The motors that turn, as bits. */
static unsigned turning(uint64_t now) {
    uint8_t motors[16];
    unsigned bits = 0, count = 0;
    unsigned told = tendon_simulated_feelspace_motors(&belt, now, motors);
    for (unsigned i = 0; i < 16; i++) {
        bits |= motors[i] > 0 ? 1u << i : 0;
        count += motors[i] > 0 ? 1 : 0;
    }
    assert_int_equal(count, told);
    return bits;
}

/* ---- the vendor's examples ---- */

static void examples_of_the_document(void **state) {
    (void)state;
    vibrate("00 03 aa aa 00 00 02 0e 01 00 00 05 e8 03 00 00 00 01", TENDON_FEELSPACE_IGNORED_MODE);
    mode(3);
    vibrate("00 03 aa aa 00 00 02 0e 01 00 00 05 e8 03 00 00 00 01", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(turning(f->now), 1u << 12); /* left */
    assert_int_equal(turning(f->now + 5000), 0);
    vibrate("00 01 aa aa 00 00 03 5a 00 00 00 01 b8 0b 00 00 00 01", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(turning(f->now + 2999), 1u << 4); /* East, facing North */
    assert_int_equal(turning(f->now + 3000), 0);
    vibrate("00 02 aa aa 00 00 00 01 01 00 00 ff ee 02 00 00 00 01", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(turning(f->now), 0x0101);
    assert_int_equal(turning(f->now + 100), 0); /* a short pulse */
    assert_int_equal(turning(f->now + 75000), 0x0101);
    vibrate("03 05 3c 00 00 00 01 04 00 00 00 ff 90 01 00 00 00 00", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(belt.channels[3].iterations, -1); /* 255 is for ever */
    assert_int_equal(turning(f->now), 0x0111);
    vibrate("20 00", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(belt.last_signal, 0);
    vibrate("30 03", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(turning(f->now), 0x0101);
    vibrate("30 ff", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(turning(f->now), 0);
}

static void pulses(void **state) {
    (void)state;
    vibrate("40 00 02 5a 00 aa 96 00 03 01 f4 01 dc 05 00 00 00", TENDON_FEELSPACE_TAKEN); /* out of app mode too */
    assert_int_equal(turning(f->now + 149), 1u << 4);
    assert_int_equal(turning(f->now + 150), 0);
    assert_int_equal(turning(f->now + 1149), 1u << 4);
    assert_int_equal(turning(f->now + 1500), 0);
    vibrate("40 01 03 0e 01 aa 2c 01 01 00 e8 03 e8 03 00 00 00", TENDON_FEELSPACE_IGNORED_MODE);
    mode(3);
    vibrate("40 01 03 0e 01 aa 2c 01 01 00 e8 03 e8 03 00 00 00", TENDON_FEELSPACE_TAKEN);
    vibrate("40 02 00 11 10 3c c8 00 02 04 90 01 b0 04 01 01 00", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(turning(f->now), 0x1011); /* exclusive: the other channel waits */
    uint8_t motors[16];
    tendon_simulated_feelspace_motors(&belt, f->now, motors);
    assert_int_equal(motors[0], 60);
    assert_int_equal(turning(f->now + 4800), 0); /* and goes on, at a pause of its pulses */
    assert_int_equal(turning(f->now + 5000), 1u << 12);
    uint64_t started = belt.channels[2].started;
    f->now += 100;
    vibrate("40 02 00 11 10 3c c8 00 02 04 90 01 b0 04 01 01 00", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(belt.channels[2].started, started); /* same period: the timer goes on */
    vibrate("40 02 00 11 10 3c c8 00 02 04 90 01 b1 04 01 01 00", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(belt.channels[2].started, started + 100);
}

/* ---- who may do what ---- */

static void app_mode_rule(void **state) {
    (void)state;
    for (uint8_t m = 1; m <= 6; m++) {
        mode(m);
        for (unsigned channel = 0; channel < 6; channel++) {
            for (unsigned iterations = 0; iterations < 256; iterations++) {
                for (unsigned clear = 0; clear < 2; clear++) {
                    bool ends = iterations >= 1 && iterations <= 127;
                    bool taken = m == 3 || (channel == 0 && ends && clear == 0);
                    char hex[80];
                    snprintf(hex, sizeof hex, "%02x 01 aa aa 00 00 02 00 00 00 00 %02x f4 01 00 00 00 %02x", channel,
                             iterations, clear);
                    vibrate(hex, taken ? TENDON_FEELSPACE_TAKEN : TENDON_FEELSPACE_IGNORED_MODE);
                    snprintf(hex, sizeof hex, "40 %02x 02 00 00 aa 64 00 01 %02x f4 01 f4 01 00 00 %02x", channel,
                             iterations, clear);
                    vibrate(hex, taken ? TENDON_FEELSPACE_TAKEN : TENDON_FEELSPACE_IGNORED_MODE);
                }
            }
        }
        vibrate("20 01", TENDON_FEELSPACE_TAKEN);
        vibrate("30 ff", m == 3 ? TENDON_FEELSPACE_TAKEN : TENDON_FEELSPACE_IGNORED_MODE);
    }
}

static void mal_values_out_of_range_are_ignored(void **state) {
    (void)state;
    mode(3);
    static const char *const wrong[] = {
        "06 01 aa aa 00 00 02 00 00 00 00 01 f4 01 00 00 00 00", /* channel 6 */
        "00 1b aa aa 00 00 02 00 00 00 00 01 f4 01 00 00 00 00", /* pattern 27 */
        "00 01 65 00 00 00 02 00 00 00 00 01 f4 01 00 00 00 00", /* 101 % */
        "00 01 aa 00 00 00 02 00 00 00 00 01 f4 01 00 00 00 00", /* half a default */
        "00 01 aa aa 00 00 04 00 00 00 00 01 f4 01 00 00 00 00", /* orientation type */
        "00 01 aa aa 00 00 00 7f 00 00 00 01 f4 01 00 00 00 00", /* 7 motors */
        "00 06 aa aa 00 00 00 01 00 00 00 01 f4 01 00 00 00 00", /* a wave has its own motors */
        "00 01 aa aa 00 00 02 00 00 00 00 01 00 00 00 00 00 00", /* no period */
        "00 01 aa aa 00 00 02 00 00 00 00 01 f4 01 f4 01 00 00", /* starts after its end */
        "40 06 02 00 00 aa 64 00 01 01 f4 01 f4 01 00 00 00",
        "40 00 04 00 00 aa 64 00 01 01 f4 01 f4 01 00 00 00",
        "40 00 02 00 00 65 64 00 01 01 f4 01 f4 01 00 00 00",
        "40 00 02 00 00 aa 00 00 01 01 f4 01 f4 01 00 00 00",
        "40 00 02 00 00 aa 64 00 00 01 f4 01 f4 01 00 00 00",
        "40 00 02 00 00 aa 64 00 01 01 00 00 f4 01 00 00 00",
        "40 00 02 00 00 aa 64 00 01 01 f4 01 00 00 00 00 00",
        "40 00 02 00 00 aa 64 00 01 01 f4 01 f4 01 03 00 00",
        "20 03",
        "30 06",
        "30 fe",
        "21 00",
        "ff",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        vibrate(wrong[i], TENDON_FEELSPACE_IGNORED_VALUE);
    }
    assert_int_equal(belt.counters.ignored, sizeof wrong / sizeof wrong[0]);
    assert_int_equal(belt.counters.vibrations, 0);
    assert_int_equal(turning(f->now), 0);
}

static void mal_commands_of_a_wrong_length_are_refused(void **state) {
    (void)state;
    mode(3);
    static const char *const good[] = {"00 01 aa aa 00 00 02 00 00 00 00 01 f4 01 00 00 00 00",
                                       "40 00 02 00 00 aa 64 00 01 01 f4 01 f4 01 00 00 00", "20 00", "30 ff"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        size_t length = (strlen(good[i]) + 1) / 3;
        for (size_t cut = 0; cut < length; cut++) {
            char hex[80] = "";
            memcpy(hex, good[i], cut * 3);
            vibrate(hex, TENDON_FEELSPACE_REFUSED_LENGTH);
        }
        char longer[80];
        snprintf(longer, sizeof longer, "%s 00", good[i]);
        vibrate(longer, TENDON_FEELSPACE_REFUSED_LENGTH);
        vibrate(good[i], TENDON_FEELSPACE_TAKEN);
    }
    device_exchange(f, 0, "12 15 00 01 03 19 00 20 05 0a 05", "13"); /* tones, FE07 */
    assert_int_equal(last()->outcome, TENDON_FEELSPACE_TAKEN);
    device_exchange(f, 0, "12 15 00 01 09 1900 1900 1900 1900 1900 1900 1900 1900 1900", "13"); /* the most */
    assert_int_equal(last()->outcome, TENDON_FEELSPACE_TAKEN);
    device_exchange(f, 0, "12 15 00 02 00", "13"); /* no such command */
    assert_int_equal(last()->outcome, TENDON_FEELSPACE_IGNORED_VALUE);
    device_exchange(f, 0, "12 15 00 01 03 19 00 20 05 0a", "01 12 15 00 0d");
    device_exchange(f, 0, "12 15 00 01", "01 12 15 00 0d");
    device_exchange(f, 0, "12 08 00", "01 12 08 00 0d"); /* an empty answer to a keep-alive */
    device_exchange(f, 0, "12 24 00", "01 12 24 00 0d");
    device_exchange(f, 0, "12 1b 00 01", "01 12 1b 00 0d");
    device_exchange(f, 0, "12 24 00 77", "13");
    assert_int_equal(last()->outcome, TENDON_FEELSPACE_IGNORED_VALUE);
}

static void old_firmware_knows_no_pulses_and_four_motors(void **state) {
    (void)state;
    const tendon_simulated_feelspace_options old = {.firmware = 43};
    assert_int_equal(tendon_simulated_feelspace_init(&belt, &old), TENDON_OK);
    assert_int_equal(device_connect(f, 0, 23), TENDON_OK);
    mode(3);
    vibrate("40 00 02 5a 00 aa 96 00 03 01 f4 01 dc 05 00 00 00", TENDON_FEELSPACE_IGNORED_UNKNOWN);
    vibrate("00 01 aa aa 00 00 00 1f 00 00 00 01 f4 01 00 00 00 00", TENDON_FEELSPACE_IGNORED_VALUE);
    vibrate("00 01 aa aa 00 00 00 0f 00 00 00 01 f4 01 00 00 00 00", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(turning(f->now), 0x0F);
}

/* ---- motors ---- */

static void each_motor_serves_its_angles(void **state) {
    (void)state;
    mode(3);
    for (unsigned angle = 0; angle < 360; angle++) {
        char hex[80];
        snprintf(hex, sizeof hex, "01 01 50 00 00 00 02 %02x %02x 00 00 00 f4 01 00 00 00 00", angle & 0xFF,
                 angle >> 8);
        vibrate(hex, TENDON_FEELSPACE_TAKEN);
        unsigned motor = (unsigned)((angle + 11.25) / 22.5) % 16;
        assert_int_equal(turning(f->now), 1u << motor);
        tendon_simulated_feelspace_set_heading(&belt, (uint16_t)angle, 0, f->now);
        vibrate("02 01 50 00 00 00 03 00 00 00 00 00 f4 01 00 00 00 00", TENDON_FEELSPACE_TAKEN); /* North */
        unsigned north = (unsigned)((360 - angle) % 360 + 11.25 >= 360 ? 0 : ((360 - angle) % 360 + 11.25) / 22.5) % 16;
        assert_int_equal(turning(f->now), (1u << motor) | (1u << north));
        vibrate("30 ff", TENDON_FEELSPACE_TAKEN);
    }
}

static void six_motors_at_once_and_no_more(void **state) {
    (void)state;
    mode(3);
    vibrate("00 01 aa aa 00 00 00 3f 00 00 00 00 f4 01 00 00 00 00", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(turning(f->now), 0x3F);
    vibrate("01 01 64 00 00 00 01 08 00 00 00 00 f4 01 00 00 00 00", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(turning(f->now), 0x3F);
    vibrate("30 00", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(turning(f->now), 0x100);
}

/* Each by its number alone, the last one as well. */
/* A tune of more tones than the belt plays; a longer write needs a larger MTU. */
static void ten_tones_are_too_many(void **state) {
    (void)state;
    device_disconnect(f, 0);
    assert_int_equal(device_connect(f, 0, 64), TENDON_OK);
    device_exchange(f, 0, "12 15 00 01 0a 1900 1900 1900 1900 1900 1900 1900 1900 1900 1900", "13");
    assert_int_equal(last()->outcome, TENDON_FEELSPACE_IGNORED_VALUE);
}

/* An exclusive channel that was stopped, or whose mode has ended, holds no other one back. */
static void a_stopped_channel_excludes_nobody(void **state) {
    (void)state;
    mode(3);
    vibrate("40 02 00 11 10 3c c8 00 02 ff 90 01 b0 04 01 01 00", TENDON_FEELSPACE_TAKEN); /* for ever, exclusive */
    vibrate("01 01 aa aa 00 00 00 02 00 00 00 00 f4 01 00 00 00 00", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(turning(f->now), 0x1011);
    vibrate("30 02", TENDON_FEELSPACE_TAKEN);
    assert_int_equal(turning(f->now), 1u << 1);
}

static void each_channel_is_stopped(void **state) {
    (void)state;
    mode(3);
    for (unsigned channel = 0; channel < TENDON_SIMULATED_FEELSPACE_CHANNELS; channel++) {
        char hex[64];
        snprintf(hex, sizeof hex, "%02x 01 aa aa 00 00 00 01 00 00 00 00 f4 01 00 00 00 00", channel);
        vibrate(hex, TENDON_FEELSPACE_TAKEN);
        assert_int_equal(turning(f->now), 1);
        snprintf(hex, sizeof hex, "30 %02x", (channel + 1) % TENDON_SIMULATED_FEELSPACE_CHANNELS);
        vibrate(hex, TENDON_FEELSPACE_TAKEN);
        assert_int_equal(turning(f->now), 1);
        snprintf(hex, sizeof hex, "30 %02x", channel);
        vibrate(hex, TENDON_FEELSPACE_TAKEN);
        assert_int_equal(turning(f->now), 0);
    }
}

static void compass_and_crossing_point_somewhere(void **state) {
    (void)state;
    tendon_simulated_feelspace_set_heading(&belt, 90, 0, f->now);
    mode(2);
    assert_int_equal(turning(f->now), 1u << 12); /* North is on the left */
    mode(1);
    tendon_simulated_feelspace_set_heading(&belt, 45, 0, f->now);
    mode(6);
    assert_int_equal(turning(f->now), 1u << 0); /* where it points now */
    tendon_simulated_feelspace_set_heading(&belt, 135, 0, f->now);
    assert_int_equal(turning(f->now), 1u << 12);
    mode(4);
    assert_int_equal(turning(f->now), 0);
}

static void every_pattern_rests_or_turns_within_the_limit(void **state) {
    (void)state;
    mode(3);
    for (unsigned pattern = 0; pattern <= 26; pattern++) {
        char hex[80];
        snprintf(hex, sizeof hex, "01 %02x 50 00 00 00 01 03 00 00 00 00 e8 03 00 00 00 00", pattern);
        vibrate(hex, TENDON_FEELSPACE_TAKEN);
        unsigned seen = 0;
        for (uint64_t ms = 0; ms < 1000; ms++) {
            seen |= turning(f->now + ms);
        }
        bool own = pattern > 5 && pattern != 8;
        assert_int_equal(seen, pattern == 0 ? 0 : own ? 0xFFFF : 1u << 3);
    }
}

static void what_arrived_is_kept(void **state) {
    (void)state;
    assert_null(tendon_simulated_feelspace_recorded(&belt, 0));
    for (unsigned i = 0; i < 100; i++) {
        f->now++;
        vibrate(i % 2 == 0 ? "20 00" : "20 01", TENDON_FEELSPACE_TAKEN);
    }
    assert_int_equal(belt.recorded, 100);
    assert_null(tendon_simulated_feelspace_recorded(&belt, 35));
    assert_int_equal(tendon_simulated_feelspace_recorded(&belt, 36)->at, 5037);
    assert_null(tendon_simulated_feelspace_recorded(&belt, 100));
    assert_string_equal(tendon_simulated_feelspace_outcome_name(TENDON_FEELSPACE_IGNORED_MODE), "wrong_mode");
    static const char *const names[] = {"taken",      "wrong_mode", "bad_value", "unknown",
                                        "bad_length", "silent",     "unknown"};
    for (uint8_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_string_equal(tendon_simulated_feelspace_outcome_name(i), names[i]);
    }
    assert_string_equal(tendon_simulated_feelspace_outcome_name(0xFF), "unknown");
    device_exchange(f, 0, "12 0b 00 20 00", "13");
    f->centrals[0].bearer.own_mtu = 247;
    device_send(f, 0, "52 0b 00 20 02"); /* without response */
    assert_int_equal(belt.last_signal, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        belt_test(examples_of_the_document),
        belt_test(pulses),
        belt_test(app_mode_rule),
        belt_test(mal_values_out_of_range_are_ignored),
        belt_test(mal_commands_of_a_wrong_length_are_refused),
        belt_test(old_firmware_knows_no_pulses_and_four_motors),
        belt_test(each_motor_serves_its_angles),
        belt_test(six_motors_at_once_and_no_more),
        belt_test(ten_tones_are_too_many),
        belt_test(a_stopped_channel_excludes_nobody),
        belt_test(each_channel_is_stopped),
        belt_test(compass_and_crossing_point_somewhere),
        belt_test(every_pattern_rests_or_turns_within_the_limit),
        belt_test(what_arrived_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
