/* SPDX-License-Identifier: MIT */
/* Simulated naviBelt: services, modes, buttons, parameters. */
#include "feelspace_fixture.h"

#include "tendon/devices/family.h"
#include "tendon/devices/feelspace_codec.h"

static void advertised(const char *advertisement, const char *response) {
    uint8_t bytes[31], both[62];
    tendon_status length = f->device.ops->advertisement(&belt, bytes, sizeof bytes);
    assert_true(length > 0);
    assert_hex(bytes, (size_t)length, advertisement);
    length = f->device.ops->scan_response(&belt, bytes, sizeof bytes);
    assert_true(length > 0);
    assert_hex(bytes, (size_t)length, response);
    assert_null(tendon_family_from_advertisement(bytes, (size_t)length)); /* neither the name alone is a belt */
    tendon_status first = f->device.ops->advertisement(&belt, both, sizeof both);
    assert_null(tendon_family_from_advertisement(both, (size_t)first)); /* nor the service */
    memcpy(both + first, bytes, (size_t)length);
    assert_ptr_equal(tendon_family_from_advertisement(both, (size_t)(first + length)), tendon_family_find("feelspace"));
    assert_int_equal(f->device.ops->advertisement(&belt, bytes, 5), TENDON_ERROR_BUFFER_TOO_SMALL);
}

static void generations_advertise_their_own_service_and_the_name_apart(void **state) {
    (void)state;
    advertised("02 01 06 11 07 00 a1 0c 20 00 08 9a 9e e2 11 15 a1 33 33 33 65",
               "10 09 6e 61 76 69 47 75 65 72 74 65 6c 20 53 49 4d");
    const tendon_simulated_feelspace_options newer = {.generation = TENDON_FEELSPACE_GENERATION_NEWER,
                                                      .name = "Naviguertel 0123456789012345678"};
    begin(&newer);
    advertised("02 01 06 03 03 51 fe", "1e 08 4e 61 76 69 67 75 65 72 74 65 6c 20 30 31 32 33 34 35 36 37 38 39 30 31"
                                       "32 33 34 35 36");
    assert_true(tendon_feelspace_is_belt_name(belt.name, strlen(belt.name)));
}

static void services_and_characteristics(void **state) {
    (void)state;
    device_exchange(f, 0, "10 01 00 ff ff 00 28", "11 06 01 00 03 00 00 18 04 00 18 00 51 fe 19 00 21 00 52 fe");
    device_exchange(f, 0, "10 22 00 ff ff 00 28", "11 06 22 00 27 00 53 fe");
    device_exchange(f, 0, "0a 06 00", "0b 34 00"); /* version 52, no variant */
    device_exchange(f, 0, "0a 17 00", "0b 01 00 50 00 14 88 ff 3c 0f");
    device_exchange(f, 0, "0a 03 00", "0b 6e 61 76 69 47 75 65 72 74 65 6c 20 53 49 4d");
    device_exchange(f, 0, "0a 08 00", "01 0a 08 00 02"); /* keep-alive is not for reading */
    device_exchange(f, 0, "12 0d 00 00", "01 12 0d 00 03");
    assert_int_equal(belt.server.count, 0x27);
    const tendon_simulated_feelspace_options newer = {.generation = TENDON_FEELSPACE_GENERATION_NEWER,
                                                      .without_debug = true};
    connected_belt(&newer);
    assert_int_equal(belt.server.count, 0x21);
    device_exchange(f, 0, "0a 06 00", "0b 04 00 04");
    device_exchange(f, 0, "0a 17 00", "0b 01 00 50 00 14 88 ff 3c 0f 80 19 00 50");
}

static void one_central_at_a_time(void **state) {
    (void)state;
    assert_int_equal(device_connect(f, 1, 23), TENDON_ERROR_TABLE_FULL);
    device_disconnect(f, 0);
    assert_int_equal(device_connect(f, 1, 23), TENDON_OK);
}

static void a_belt_that_wants_bonds_refuses_others(void **state) {
    (void)state;
    const tendon_simulated_feelspace_options options = {.pairing_required = true};
    begin(&options);
    assert_int_equal(device_connect(f, 0, 23), TENDON_OK);
    device_exchange(f, 0, "0a 06 00", "01 0a 06 00 05"); /* insufficient authentication */
    device_exchange(f, 0, "12 0b 00 20 00", "01 12 0b 00 05");
    device_exchange(f, 0, "12 13 00 01 00", "01 12 13 00 05");
    f->device.ops->paired(&belt, &f->centrals[0].bearer, f->now);
    device_exchange(f, 0, "0a 06 00", "0b 34 00");
    device_exchange(f, 0, "12 0b 00 20 00", "13");
    assert_int_equal(belt.counters.signals, 1);
}

static void bonds_are_made_in_pairing_mode(void **state) {
    (void)state;
    assert_int_equal(f->device.ops->pairing(&belt), TENDON_PERIPHERAL_PAIRABLE);
    const tendon_simulated_feelspace_options options = {.pairing_required = true};
    begin(&options);
    assert_int_equal(f->device.ops->pairing(&belt), 0);
    tendon_simulated_feelspace_press_button(&belt, 4, TENDON_FEELSPACE_PRESS_SHORT, f->now);
    assert_int_equal(f->device.ops->pairing(&belt), 0);
    tendon_simulated_feelspace_press_button(&belt, 4, TENDON_FEELSPACE_PRESS_LONG, f->now);
    device_run(f, f->now + 59999);
    assert_int_equal(f->device.ops->pairing(&belt), TENDON_PERIPHERAL_PAIRABLE);
    device_run(f, f->now + 1);
    assert_int_equal(f->device.ops->pairing(&belt), 0);
    const tendon_simulated_feelspace_options ready = {.pairing_required = true, .pairing_mode = true};
    begin(&ready);
    device_run(f, f->now + 100000);
    assert_int_equal(f->device.ops->pairing(&belt), TENDON_PERIPHERAL_PAIRABLE);
}

/* ---- modes ---- */

static void modes_are_changed_and_told(void **state) {
    (void)state;
    request("01 01", "01 01 01");
    for (unsigned mode = 1; mode <= 6; mode++) {
        char change[32], answer[32];
        snprintf(change, sizeof change, "01 81 %02x 00", mode);
        snprintf(answer, sizeof answer, "01 01 %02x", mode);
        request(change, answer);
        assert_int_equal(belt.mode, mode);
        request(change, answer); /* the same again: reported again */
    }
    request("01 81 03", "01 01 03"); /* three bytes are enough */
    request("01 81 07 00", NULL);
    request("01 81 09 00", NULL);
    request("01 81 ff 00", NULL);
    assert_int_equal(belt.mode, 3);
    const tendon_simulated_feelspace_options old = {.firmware = 43};
    connected_belt(&old);
    request("01 81 06 00", NULL); /* crossing came with firmware 45 */
    assert_int_equal(belt.mode, 1);
}

static void standby_is_told_before_the_link_ends(void **state) {
    (void)state;
    request("11 03 00 00", "10 03 00"); /* until power-off */
    request("01 81 00 00", "01 01 00");
    assert_false(f->centrals[0].bearer.closed);
    device_run(f, f->now + 100);
    assert_true(f->centrals[0].bearer.closed);
    assert_int_equal(belt.counters.disconnects, 1);
    device_disconnect(f, 0);
    assert_int_equal(device_connect(f, 0, 23), TENDON_ERROR_TABLE_FULL); /* it is off */
    tendon_simulated_feelspace_press_button(&belt, 1, TENDON_FEELSPACE_PRESS_SHORT, f->now);
    assert_int_equal(belt.mode, 0);
    tendon_simulated_feelspace_press_button(&belt, 3, TENDON_FEELSPACE_PRESS_LONG, f->now);
    assert_int_equal(belt.mode, 0);
    tendon_simulated_feelspace_press_button(&belt, 1, TENDON_FEELSPACE_PRESS_LONG, f->now);
    assert_int_equal(belt.mode, 1);
    assert_int_equal(belt.settings.accuracy, 3);
    assert_int_equal(device_connect(f, 0, 23), TENDON_OK);
}

static void a_lost_link_ends_app_mode(void **state) {
    (void)state;
    request("01 81 03 00", "01 01 03");
    device_exchange(f, 0, "12 0b 00 02 01 aa aa 00 00 03 5a 00 00 00 00 f4 01 00 00 00 00", "13");
    assert_true(belt.channels[2].active);
    device_disconnect(f, 0);
    assert_int_equal(belt.mode, 1);
    assert_false(belt.channels[2].active);
    device_disconnect(f, 0); /* twice does no harm */
}

/** Buttons: every button and press in every mode, as the table of the document has it. */
static void every_button_in_every_mode(void **state) {
    (void)state;
    /* [mode][button - 2][press] -> new mode; pause was entered from wait */
    static const uint8_t next[7][3][3] = {
        {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, /* standby: nothing but power */
        {{4, 4, 4}, {2, 5, 6}, {1, 1, 1}}, /* wait */
        {{4, 4, 4}, {2, 2, 2}, {2, 2, 2}}, /* compass */
        {{3, 3, 3}, {2, 5, 6}, {3, 3, 3}}, /* app: pause is the application's to decide */
        {{1, 1, 1}, {4, 4, 4}, {4, 4, 4}}, /* pause */
        {{5, 5, 5}, {5, 5, 5}, {1, 1, 1}}, /* calibration */
        {{4, 4, 4}, {6, 6, 6}, {6, 6, 6}}, /* crossing */
    };
    static const uint8_t codes[3] = {1, 3, 2};
    for (unsigned mode = 1; mode < 7; mode++) {
        for (unsigned button = 2; button <= 4; button++) {
            for (unsigned press = 0; press < 3; press++) {
                connected_belt(NULL);
                tendon_simulated_feelspace_change_mode(&belt, (uint8_t)mode, f->now);
                device_forget(f, 0);
                tendon_simulated_feelspace_press_button(&belt, (uint8_t)button, (tendon_simulated_feelspace_press)press,
                                                        f->now);
                uint8_t expected = next[mode][button - 2][press];
                char pdu[64];
                assert_int_equal(belt.mode, expected);
                snprintf(pdu, sizeof pdu, "1b 0d 00 %02x %02x 00 %02x %02x", button, codes[press], mode, expected);
                device_expect(f, 0, 0, pdu);
                bool changed = expected != mode, louder = mode == 4 && button != 2;
                assert_int_equal(f->centrals[0].count, changed || louder ? 2 : 1);
                if (changed) {
                    snprintf(pdu, sizeof pdu, "1b 12 00 01 01 %02x", expected);
                    device_expect(f, 0, 1, pdu);
                } else if (louder) {
                    device_expect(f, 0, 1, button == 4 ? "1b 12 00 01 02 3c" : "1b 12 00 01 02 28");
                }
            }
        }
    }
}

static void pause_from_app_mode_is_left_by_the_application(void **state) {
    (void)state;
    request("01 81 03 00", "01 01 03");
    request("01 81 04 00", "01 01 04");
    device_forget(f, 0);
    tendon_simulated_feelspace_press_button(&belt, 2, TENDON_FEELSPACE_PRESS_SHORT, f->now);
    assert_int_equal(f->centrals[0].count, 1);
    device_expect(f, 0, 0, "1b 0d 00 02 01 00 04 04");
    assert_int_equal(belt.mode, 4);
}

static void the_power_button(void **state) {
    (void)state;
    assert_int_equal(belt.last_signal, 0xFF); /* none yet */
    tendon_simulated_feelspace_press_button(&belt, 1, TENDON_FEELSPACE_PRESS_SHORT, f->now);
    assert_int_equal(f->centrals[0].count, 0); /* no central is notified */
    assert_int_equal(belt.last_signal, 2);
    tendon_simulated_feelspace_press_button(&belt, 1, TENDON_FEELSPACE_PRESS_LONG, f->now);
    device_expect(f, 0, 0, "1b 0d 00 01 03 00 01 00");
    device_expect(f, 0, 1, "1b 12 00 01 01 00");
    device_run(f, f->now + 60);
    assert_true(f->centrals[0].bearer.closed);
}

static void intensity_stays_in_its_range(void **state) {
    (void)state;
    request("01 82 28 00 01", "01 02 28");
    request("01 82 00 00 00", "01 02 05");
    request("01 82 ff 00 00", "01 02 64");
    request("01 02", "01 02 64");
    tendon_simulated_feelspace_change_mode(&belt, 4, f->now);
    device_forget(f, 0);
    tendon_simulated_feelspace_press_button(&belt, 4, TENDON_FEELSPACE_PRESS_SHORT, f->now);
    device_expect(f, 0, 1, "1b 12 00 01 02 64");
}

/* In the advanced family too: 5 to 100. */
static void advanced_intensity_stays_in_its_range(void **state) {
    (void)state;
    request("11 00 00 63", "10 00 63");
    request("11 00 00 64", "10 00 64");
    request("11 00 00 65", "10 00 64");
    request("11 00 00 ff", "10 00 64");
    request("11 00 00 05", "10 00 05");
    request("11 00 00 04", "10 00 05");
    const tendon_simulated_feelspace_options old = {.firmware = 40}; /* the family came with firmware 41 */
    connected_belt(&old);
    request("11 00 00 63", NULL);
    assert_int_equal(belt.settings.intensity, 50);
    const tendon_simulated_feelspace_options first = {.firmware = 41};
    connected_belt(&first);
    request("11 00 00 63", "10 00 63");
}

/* The order of the two notifications of a press is swapped: each still comes once. */
static void a_swapped_press_is_told_once(void **state) {
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        tendon_simulated_feelspace_change_mode(&belt, 1, f->now);
        device_forget(f, 0);
        belt.swapped = swapped == 1;
        tendon_simulated_feelspace_press_button(&belt, 3, TENDON_FEELSPACE_PRESS_SHORT, f->now);
        assert_int_equal(f->centrals[0].count, 2);
        device_expect(f, 0, swapped == 1 ? 1 : 0, "1b 0d 00 03 01 00 01 02");
        device_expect(f, 0, swapped == 1 ? 0 : 1, "1b 12 00 01 01 02");
    }
}

/* ---- parameters ---- */

static void parameters_are_read_and_changed(void **state) {
    (void)state;
    request("01 03", "01 03 2d 00");
    request("01 83 67 01", "01 03 67 01");
    request("01 83 68 01", NULL); /* 360 */
    request("01 04", "01 04 20 53 49 4d");
    request("10 01 00", "10 00 32");
    request("10 01 01", "10 01 67 01");
    request("11 01 01 5a 00", "10 01 5a 00");
    request("10 01 02", "10 02 01");
    request("11 02 00 00", "10 02 00");
    request("10 01 03", "10 03 03");
    request("11 03 00 00", "10 03 00");
    request("11 03 00 04", NULL);
    request("10 01 0f", "10 0f f4 01");
    request("11 0f 00 14 00", "10 0f 14 00");
    request("11 0f 00 13 00", NULL); /* 20 ms at least */
    request("10 01 25", "10 25 00");
    request("11 25 01 01", "10 25 01");
    request("11 00 00 03", "10 00 05");
    assert_int_equal(belt.settings.heading_offset, 90);
    assert_int_equal(belt.stored.heading_offset, 90);
    assert_int_equal(belt.stored.accuracy, 3); /* what is not persistent is not stored */
    request("12 01 00 00", NULL);
    request("10 01 03", "10 03 03");
    request("01 03", "01 03 2d 00");
    device_forget(f, 0);
    device_exchange(f, 0, "12 10 00 10 02 00 03", "13"); /* two in one packet */
    device_run(f, f->now);
    device_expect(f, 0, 1, "1b 12 00 10 00 32");
    device_expect(f, 0, 2, "1b 12 00 10 03 03");
}

/* Every value of a byte, and of two bytes those at the bounds; with each kind of persistence, and one that is none. */
static void advanced_parameters_at_their_bounds(void **state) {
    (void)state;
    static const struct {
        uint8_t id;
        unsigned least, most, size;
    } rows[] = {{0x01, 0, 359, 2}, {0x02, 0, 1, 1}, {0x03, 0, 3, 1}, {0x0F, 20, 65535, 2}, {0x25, 0, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (unsigned value = 0; value < (rows[i].size == 1 ? 256 : 400); value++) {
            char change[32], answer[32];
            unsigned persistent = value % 4;
            bool taken = value >= rows[i].least && value <= rows[i].most && persistent < 3;
            size_t digits = rows[i].size == 1 ? 2 : 5; /* low byte first */
            char bytes[16];
            (void)snprintf(bytes, sizeof bytes, "%02x %02x", value & 0xFF, value >> 8);
            (void)snprintf(change, sizeof change, "11 %02x %02x %.*s", rows[i].id, persistent, (int)digits, bytes);
            (void)snprintf(answer, sizeof answer, "10 %02x %.*s", rows[i].id, (int)digits, bytes);
            request(change, taken ? answer : NULL);
        }
    }
}

static void unknown_parameters_get_no_answer(void **state) {
    (void)state;
    uint64_t before = belt.counters.ignored, asked = 0;
    for (unsigned id = 0; id < 256; id++) {
        char hex[32];
        bool known = id <= 3 || id == 0x0F || id == 0x25;
        if (!known) {
            snprintf(hex, sizeof hex, "10 01 %02x", id);
            request(hex, NULL);
            snprintf(hex, sizeof hex, "11 %02x 00 00 00 00", id);
            request(hex, NULL);
            asked += 2;
        }
        if ((id & 0x7F) == 0 || (id & 0x7F) > 4) {
            snprintf(hex, sizeof hex, "01 %02x 00 00", id);
            request(hex, NULL);
            asked++;
        }
        if (id != 0x01 && (id < 0x10 || id > 0x12)) {
            snprintf(hex, sizeof hex, "%02x 01 01", id);
            request(hex, NULL);
            asked++;
        }
    }
    assert_int_equal(belt.counters.ignored - before, asked);
    uint64_t taken = belt.counters.taken;
    request("10 02 01 77", "10 01 2d 00"); /* one of them is known */
    assert_int_equal(belt.counters.taken - taken, 1);
    const tendon_simulated_feelspace_options old = {.firmware = 43};
    connected_belt(&old);
    request("10 01 0f", NULL);
    request("10 01 02", NULL);
    assert_int_equal(belt.handles[6], 0); /* no buzzer */
}

static void mal_requests_of_a_wrong_length_are_refused(void **state) {
    (void)state;
    static const char *const cut[] = {
        "",      "01",    "10",       "11",    "12",       "01 81",       "01 82",    "01 83",          "01 83 2d",
        "10 01", "10 00", "10 02 03", "11 03", "11 03 00", "11 01 00 5a", "12 01 00", "12 01 00 00 00", "10 01 03 03"};
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        refused(cut[i]);
    }
    assert_int_equal(belt.counters.refused_writes, sizeof cut / sizeof cut[0]);
    device_disconnect(f, 0);
    assert_int_equal(device_connect(f, 0, 64), TENDON_OK);
    refused("01 84 31 32 33 34 35 36 37 38 39 30 31 32 33 34 35 36 37 38 39"); /* a name of 19 */
    device_exchange(f, 0, "12 10 00 01 84 31 32 33 34 35 36 37 38 39 30 31 32 33 34 35 36 37 38", "13");
}

static void a_new_name_ends_the_link(void **state) {
    (void)state;
    request("01 84 2d 41 42", "01 04 2d 41 42");
    assert_string_equal(belt.name, "naviGuertel-AB");
    device_run(f, f->now + 60);
    assert_true(f->centrals[0].bearer.closed);
    uint8_t bytes[31];
    assert_int_equal(f->device.ops->scan_response(&belt, bytes, sizeof bytes), 16);
}

static void the_front_range_of_newer_belts(void **state) {
    (void)state;
    request("10 01 0a", NULL);
    const tendon_simulated_feelspace_options newer = {.generation = TENDON_FEELSPACE_GENERATION_NEWER,
                                                      .unpatched = true};
    connected_belt(&newer);
    request("10 01 0a", "10 0a e1 00 a0 00 e1 01 01");
    request("11 0a 02 e1 00 a0 00 e1 00 01", "10 0a e1 00 a0 00 e1 00 01");
    request("10 01 0a", "10 0a e1 00 a0 00 e1 00 01");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        belt_test(generations_advertise_their_own_service_and_the_name_apart),
        belt_test(services_and_characteristics),
        belt_test(one_central_at_a_time),
        belt_test(a_belt_that_wants_bonds_refuses_others),
        belt_test(bonds_are_made_in_pairing_mode),
        belt_test(modes_are_changed_and_told),
        belt_test(standby_is_told_before_the_link_ends),
        belt_test(a_lost_link_ends_app_mode),
        belt_test(every_button_in_every_mode),
        belt_test(pause_from_app_mode_is_left_by_the_application),
        belt_test(the_power_button),
        belt_test(intensity_stays_in_its_range),
        belt_test(advanced_intensity_stays_in_its_range),
        belt_test(a_swapped_press_is_told_once),
        belt_test(parameters_are_read_and_changed),
        belt_test(advanced_parameters_at_their_bounds),
        belt_test(unknown_parameters_get_no_answer),
        belt_test(mal_requests_of_a_wrong_length_are_refused),
        belt_test(a_new_name_ends_the_link),
        belt_test(the_front_range_of_newer_belts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
