/* SPDX-License-Identifier: MIT */
/* Opening a Bose session: order, failures of every step, pairing, intents, firmware, time-outs. */
#include "bose_fixture.h"

#include <string.h>

static void assert_open_failed(fixture *f, tendon_status status) {
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_OPEN_FAILED), 1);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_OPEN_FAILED)->status, status);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_OPENED), 0);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_CLOSED), 0);
}

/* Opcode and first handle of every request of an opening at MTU 247, in order. */
static const uint32_t opening[] = {
    0x0200F7,                     /* Exchange MTU 247 */
    0x060001, 0x060024,           /* service FDD2: found, then to the end */
    0x060001,                     /* service 180A: its group ends the table */
    0x080010, 0x080022,           /* characteristics of FDD2 */
    0x080030, 0x08003A,           /* characteristics of 180A */
    0x040013, 0x040018, 0x04001B, /* CCCDs */
    0x040020, 0x040023,           /*  */
    0x0A0012,                     /* device information decides */
    0x0A0032, 0x0A0034, 0x0A0036, /* texts */
    0x0A0038, 0x0A003A,           /*  */
    0x120013, 0x0A0012,           /* #1: subscribed, read */
    0x0A0015, 0x0A001D,           /* #2, #5 */
    0x120018, 0x0A0017,           /* #3 */
    0x120020, 0x0A001F,           /* #6 */
    0x12001B, 0x120023,           /* #4, #7 */
};

static void opens_in_serial_reading_order(void **state) {
    fixture *f = *state;
    fixture_open(f);
    /* Reads and subscriptions are the specified part of the order; how many pages a discovery takes is the client's. */
    size_t first = 0;
    while (first < f->log_count && f->log[first] >> 16 != 0x0A) {
        first++;
    }
    size_t expected = 0;
    while (opening[expected] >> 16 != 0x0A) {
        expected++;
    }
    assert_int_equal(f->log[0], opening[0]);
    size_t count = sizeof opening / sizeof opening[0] - expected;
    assert_int_equal(f->log_count - first, count);
    for (size_t i = 0; i < count; i++) {
        if (f->log[first + i] != opening[expected + i]) {
            fail_msg("request %zu is %06x, not %06x", i, f->log[first + i], opening[expected + i]);
        }
    }
    static const tendon_bose_event_kind kinds[] = {
        TENDON_BOSE_EVENT_DEVICE_INFORMATION,    TENDON_BOSE_EVENT_DEVICE_STRINGS,
        TENDON_BOSE_EVENT_DEVICE_INFORMATION,    TENDON_BOSE_EVENT_SENSOR_INFORMATION,
        TENDON_BOSE_EVENT_GESTURE_INFORMATION,   TENDON_BOSE_EVENT_SENSOR_CONFIGURATION,
        TENDON_BOSE_EVENT_GESTURE_CONFIGURATION, TENDON_BOSE_EVENT_OPENED,
    };
    assert_int_equal(f->event_count, sizeof kinds / sizeof kinds[0]);
    for (size_t i = 0; i < f->event_count; i++) {
        assert_int_equal(f->events[i].kind, kinds[i]);
    }
    assert_int_equal(tendon_bose_session_inputs.deadline(&f->session), UINT64_MAX); /* no idle wake-up */
    assert_int_equal(f->session.counters.illegal_inputs, 0);
}

static void keeps_what_it_read(void **state) {
    fixture *f = *state;
    fixture_open(f);
    const tendon_bose_device_strings *strings = &f->session.strings;
    assert_int_equal(strings->strings[TENDON_BOSE_STRING_MODEL].length, 6);
    assert_memory_equal(strings->strings[TENDON_BOSE_STRING_MODEL].bytes, "Frames", 6);
    assert_memory_equal(strings->strings[TENDON_BOSE_STRING_FIRMWARE].bytes, "1.0.0", 5);
    assert_false(strings->strings[TENDON_BOSE_STRING_HARDWARE].present);
    assert_true(strings->has_system_id);
    assert_true(strings->has_pnp_id);
    assert_false(strings->has_regulatory);
    assert_int_equal(f->session.device.product_id, 0x402C);
    assert_int_equal(f->session.sensors.count, 4);
    assert_int_equal(f->session.sensor_configuration.count, 4);
    assert_int_equal(f->session.gestures.count, 6);
    assert_int_equal(f->session.gesture_configuration.count, 6);
    static const uint16_t cccds[] = {0x13, 0x18, 0x1B, 0x20, 0x23};
    for (size_t i = 0; i < sizeof cccds / sizeof cccds[0]; i++) {
        assert_memory_equal(fixture_attribute(f, cccds[i])->value, "\x01\x00", 2);
    }
}

/* Each characteristic of Device Information alone: it is kept in its own place, and the others stay absent. */
static void each_string_has_its_place(void **state) {
    (void)state;
    static const char *const types[] = {"242a", "252a", "262a", "272a", "282a", "292a", "232a", "502a", "2a2a"};
    static const char *const values[] = {"41",  "42", "43", "44", "45", "46", "0102030405060708", "01020304050607",
                                         "4748"};
    for (size_t i = 0; i < 9; i++) {
        void *fresh;
        fixture_setup(&fresh);
        fixture *f = fresh;
        fixture_remove(f, 0x33, 0x3A); /* one declaration and its value are left */
        attribute *declaration = fixture_attribute(f, 0x31), *value = fixture_attribute(f, H_MODEL);
        (void)unhex(types[i], declaration->value + 3, 2);
        value->type_length = unhex(types[i], value->type, sizeof value->type);
        value->length = unhex(values[i], value->value, sizeof value->value);
        fixture_open(f);
        const tendon_bose_device_strings *strings = &f->session.strings;
        for (size_t k = 0; k < TENDON_BOSE_STRING_COUNT; k++) {
            assert_int_equal(strings->strings[k].present, k == i);
            assert_int_equal(strings->strings[k].length, k == i);
            assert_int_equal(strings->strings[k].bytes[0], k == i ? 'A' + (int)i : 0);
        }
        assert_int_equal(strings->has_system_id, i == 6);
        assert_int_equal(strings->has_pnp_id, i == 7);
        assert_int_equal(strings->has_regulatory, i == 8);
        assert_int_equal(strings->regulatory_length, i == 8 ? 2 : 0);
        fixture_teardown(&fresh);
    }
}

static void opens_at_mtu_23_with_read_blobs(void **state) {
    fixture *f = *state;
    f->mtu = 23;
    fixture_open(f);
    assert_true(fixture_asked(f, 0x0C, H_SENSORS) > 0);
    assert_int_equal(f->session.sensors.count, 4);
}

static void opens_when_the_mtu_exchange_is_refused(void **state) {
    fixture *f = *state;
    f->mtu = 0;
    fixture_open(f);
    assert_int_equal(f->bearer.mtu, 23);
}

static void text_of_any_length_is_cut_i10(void **state) {
    fixture *f = *state;
    memset(fixture_attribute(f, H_MODEL)->value, 'x', 200);
    fixture_attribute(f, H_MODEL)->length = 200;
    fixture_attribute(f, H_SERIAL)->length = 0;
    memset(fixture_attribute(f, H_FIRMWARE)->value, 'y', 512);
    fixture_attribute(f, H_FIRMWARE)->length = 512; /* longer than we read: absent */
    fixture_attribute(f, 0x38)->length = 7;         /* system id of a wrong length: absent */
    fixture_open(f);
    assert_int_equal(f->session.strings.strings[TENDON_BOSE_STRING_MODEL].length, TENDON_BOSE_STRING_SIZE);
    assert_true(f->session.strings.strings[TENDON_BOSE_STRING_SERIAL].present);
    assert_int_equal(f->session.strings.strings[TENDON_BOSE_STRING_SERIAL].length, 0);
    assert_false(f->session.strings.strings[TENDON_BOSE_STRING_FIRMWARE].present);
    assert_false(f->session.strings.has_system_id);
}

/* ---- every step fails in every way ---- */

static size_t requests_of_an_opening(void) {
    void *state;
    fixture_setup(&state);
    fixture *f = state;
    fixture_open(f);
    size_t count = f->log_count;
    fixture_teardown(&state);
    return count;
}

static bool is_text_read(uint32_t request) {
    return request >> 16 == 0x0A && (request & 0xFFFF) >= 0x30;
}

static void each_step_answered_with_an_error(void **unused) {
    (void)unused;
    size_t count = requests_of_an_opening();
    for (size_t k = 0; k < count; k++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        f->fail_at = (int)k;
        f->fail_at_code = 0x0E;
        fixture_connect(f);
        fixture_run(f);
        bool tolerated = k == 0 || is_text_read(f->log[k]);
        if (tolerated) {
            assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
        } else {
            assert_true(f->disconnect_asked);
            assert_int_equal(f->session.state, TENDON_BOSE_CLOSING);
            fixture_disconnect_if_asked(f);
            assert_open_failed(f, TENDON_ATT_ERROR(0x0E));
        }
        fixture_teardown(&state);
    }
}

static void each_step_without_an_answer_ends_after_5_s(void **unused) {
    (void)unused;
    size_t count = requests_of_an_opening();
    for (size_t k = 0; k < count; k++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        f->answer_limit = (int)k;
        fixture_connect(f);
        fixture_run(f);
        fixture_advance(f, 4999);
        assert_false(f->disconnect_asked);
        fixture_advance(f, 1);
        assert_true(f->disconnect_asked);
        fixture_disconnect_if_asked(f);
        assert_open_failed(f, TENDON_ERROR_TIMEOUT);
        fixture_teardown(&state);
    }
}

static void each_step_with_the_link_lost(void **unused) {
    (void)unused;
    size_t count = requests_of_an_opening();
    for (size_t k = 0; k < count; k++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        f->answer_limit = (int)k;
        fixture_connect(f);
        fixture_run(f);
        fixture_lose(f, k % 2 == 0 ? TENDON_RADIO_ERROR_OUT_OF_RANGE : TENDON_RADIO_ERROR_PEER_CLOSED);
        assert_open_failed(f, k % 2 == 0 ? TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE
                                         : TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE);
        assert_false(f->disconnect_asked);
        f->answer_limit = -1;
        f->event_count = 0;
        fixture_open(f); /* and it opens again */
        assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
        fixture_teardown(&state);
    }
}

static void each_step_cancelled_by_close(void **unused) {
    (void)unused;
    size_t count = requests_of_an_opening();
    for (size_t k = 0; k < count; k++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        f->answer_limit = (int)k;
        fixture_connect(f);
        fixture_run(f);
        assert_int_equal(tendon_bose_session_close(&f->session, f->now), TENDON_OK);
        assert_true(f->disconnect_asked);
        fixture_disconnect_if_asked(f);
        assert_open_failed(f, TENDON_ERROR_CANCELLED);
        fixture_teardown(&state);
    }
}

/* ---- what a device may lack ---- */

static void missing_services(void **state) {
    fixture *f = *state;
    fixture_remove(f, 0x10, 0x23);
    fixture_connect(f);
    fixture_run(f);
    fixture_disconnect_if_asked(f);
    assert_open_failed(f, TENDON_BOSE_ERROR_NO_MATCHING_DEVICE_TYPE);
    tendon_uuid fdd2 = tendon_uuid_from_u16(0xFDD2);
    assert_memory_equal(&fixture_last(f, TENDON_BOSE_EVENT_OPEN_FAILED)->service_uuid, &fdd2, sizeof fdd2);
}

static void missing_device_information_service(void **state) {
    fixture *f = *state;
    fixture_remove(f, 0x30, 0x3A);
    fixture_connect(f);
    fixture_run(f);
    fixture_disconnect_if_asked(f);
    assert_open_failed(f, TENDON_BOSE_ERROR_NO_MATCHING_DEVICE_TYPE);
    tendon_uuid uuid = tendon_uuid_from_u16(0x180A);
    assert_memory_equal(&fixture_last(f, TENDON_BOSE_EVENT_OPEN_FAILED)->service_uuid, &uuid, sizeof uuid);
}

static void each_characteristic_missing(void **unused) {
    (void)unused;
    static const uint16_t first[] = {0x11, 0x14, 0x16, 0x19, 0x1C, 0x1E, 0x21, 0x24};
    for (unsigned which = 0; which < TENDON_BOSE_CHARACTERISTIC_COUNT; which++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        fixture_remove(f, first[which], (uint16_t)(first[which + 1] - 1));
        fixture_connect(f);
        fixture_run(f);
        fixture_disconnect_if_asked(f);
        assert_open_failed(f, TENDON_BOSE_ERROR_MISSING_CHARACTERISTIC);
        tendon_uuid uuid = tendon_bose_uuid((tendon_bose_characteristic)which);
        tendon_uuid service = tendon_uuid_from_u16(0xFDD2);
        const seen *event = fixture_last(f, TENDON_BOSE_EVENT_OPEN_FAILED);
        assert_memory_equal(&event->characteristic_uuid, &uuid, sizeof uuid);
        assert_memory_equal(&event->service_uuid, &service, sizeof service);
        fixture_teardown(&state);
    }
}

static void each_cccd_missing(void **unused) {
    (void)unused;
    static const uint16_t cccds[] = {0x13, 0x18, 0x1B, 0x20, 0x23};
    for (size_t i = 0; i < sizeof cccds / sizeof cccds[0]; i++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        fixture_remove(f, cccds[i], cccds[i]);
        fixture_connect(f);
        fixture_run(f);
        fixture_disconnect_if_asked(f);
        assert_open_failed(f, TENDON_BOSE_ERROR_MISSING_CHARACTERISTIC);
        fixture_teardown(&state);
    }
}

/* More characteristics in the service than one page of our table holds. */
static void more_characteristics_than_the_table(void **state) {
    fixture *f = *state;
    fixture_remove(f, 0x30, 0x3A);
    size_t extra = 0;
    attribute moved[ATTRIBUTES_MAX];
    size_t kept = f->attribute_count;
    memcpy(moved, f->attributes, kept * sizeof moved[0]);
    /* six unknown characteristics before the sensor service's own: 13 in all */
    f->attribute_count = 0;
    for (size_t i = 0; i < kept; i++) {
        if (moved[i].handle == 0x10) {
            moved[i].handle = 0x04;
            f->attributes[f->attribute_count++] = moved[i];
            for (; extra < 6; extra++) {
                uint16_t at = (uint16_t)(0x05 + 2 * extra);
                attribute declaration = {.handle = at, .type = {0x03, 0x28}, .type_length = 2, .length = 19};
                declaration.value[0] = 0x02;
                declaration.value[1] = (uint8_t)(at + 1);
                declaration.value[18] = (uint8_t)extra;
                attribute value = {.handle = (uint16_t)(at + 1), .type_length = 16};
                value.type[15] = (uint8_t)extra;
                f->attributes[f->attribute_count++] = declaration;
                f->attributes[f->attribute_count++] = value;
            }
        } else {
            f->attributes[f->attribute_count++] = moved[i];
        }
    }
    attribute service = {.handle = 0x30, .type = {0x00, 0x28}, .type_length = 2, .value = {0x0A, 0x18}, .length = 2};
    f->attributes[f->attribute_count++] = service;
    fixture_open(f);
    assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
}

static void values_that_cannot_be_parsed(void **unused) {
    (void)unused;
    static const struct {
        uint16_t handle;
        const char *hex;
        tendon_status detail;
        size_t offset;
    } cases[] = {
        {H_DEVICE, "0400402c010000000f0007000e08002f0400", TENDON_ERROR_TRUNCATED, 17},
        {H_DEVICE, "", TENDON_ERROR_TRUNCATED, 0},
        {H_GESTURES, "010100", TENDON_BOSE_ERROR_BAD_RECORD, 0},
        {H_GESTURE_CONFIG, "810082", TENDON_ERROR_TRUNCATED, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        fixture_set(f, cases[i].handle, cases[i].hex);
        fixture_connect(f);
        fixture_run(f);
        const seen *malformed = fixture_last(f, TENDON_BOSE_EVENT_MALFORMED);
        assert_int_equal(malformed->status, cases[i].detail);
        assert_int_equal(malformed->offset, cases[i].offset);
        assert_int_equal(f->session.counters.malformed, 1);
        fixture_disconnect_if_asked(f);
        assert_open_failed(f, TENDON_BOSE_ERROR_INVALID_RESPONSE);
        fixture_teardown(&state);
    }
}

static void empty_values_are_valid(void **state) {
    fixture *f = *state;
    fixture_set(f, H_SENSORS, "");
    fixture_set(f, H_SENSOR_CONFIG, "");
    fixture_set(f, H_GESTURES, "");
    fixture_set(f, H_GESTURE_CONFIG, "");
    fixture_open(f);
    assert_int_equal(f->session.sensors.count, 0);
    assert_int_equal(f->session.counters.malformed, 0);
}

static void stale_attribute_table(void **state) {
    fixture *f = *state;
    f->failure.opcode = 0x0A;
    f->failure.handle = H_SENSORS;
    f->failure.code = 0x12;
    fixture_connect(f);
    fixture_run(f);
    fixture_disconnect_if_asked(f);
    assert_open_failed(f, TENDON_BOSE_ERROR_REFRESH_REQUIRED);
}

/* ---- connecting ---- */

static void connect_times_out_after_10_s(void **state) {
    fixture *f = *state;
    fixture_reach(f, TENDON_BOSE_CONNECTING);
    fixture_advance(f, 9999);
    assert_false(f->disconnect_asked);
    fixture_advance(f, 1);
    assert_true(f->disconnect_asked);
    fixture_disconnect_if_asked(f);
    assert_open_failed(f, TENDON_BOSE_ERROR_DEVICE_NOT_FOUND);
}

static void why_connecting_failed(void **unused) {
    (void)unused;
    static const struct {
        tendon_status reason, status;
    } cases[] = {
        {TENDON_RADIO_ERROR_OUT_OF_RANGE, TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE},
        {TENDON_HCI_ERROR(0x3E), TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE},
        {TENDON_ERROR_TIMEOUT, TENDON_BOSE_ERROR_DEVICE_NOT_FOUND},
        {TENDON_ERROR_NOT_FOUND, TENDON_BOSE_ERROR_DEVICE_NOT_FOUND},
        {TENDON_ERROR_DISCONNECTED, TENDON_BOSE_ERROR_DEVICE_NOT_FOUND},
        {TENDON_RADIO_ERROR_PEER_CLOSED, TENDON_BOSE_ERROR_DEVICE_NOT_FOUND},
        {TENDON_RADIO_ERROR_RFKILL, TENDON_RADIO_ERROR_RFKILL},
        {TENDON_RADIO_ERROR_NO_CAP_NET_RAW, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
        {TENDON_ERROR_CANCELLED, TENDON_ERROR_CANCELLED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        fixture_reach(f, TENDON_BOSE_CONNECTING);
        fixture_lose(f, cases[i].reason);
        assert_open_failed(f, cases[i].status);
        fixture_teardown(&state);
    }
}

static void the_link_refuses_to_connect(void **state) {
    fixture *f = *state;
    f->connect_result = TENDON_RADIO_ERROR_NO_ADAPTER;
    assert_int_equal(tendon_bose_session_open(&f->session, f->now), TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
    assert_int_equal(f->event_count, 0);
    f->connect_result = TENDON_OK;
    fixture_open(f);
}

static void whole_opening_times_out_after_30_s(void **state) {
    fixture *f = *state;
    f->slow_ms = 1100; /* each answer in time, all of them too slow */
    uint64_t begin = f->now;
    fixture_connect(f);
    fixture_run(f);
    assert_true(f->disconnect_asked);
    assert_int_equal(f->disconnect_asked_at - begin, 30000);
    fixture_disconnect_if_asked(f);
    assert_open_failed(f, TENDON_ERROR_TIMEOUT);
}

static void a_link_that_never_says_it_ended(void **state) {
    fixture *f = *state;
    fixture_reach(f, TENDON_BOSE_CONNECTING);
    tendon_bose_session_close(&f->session, f->now);
    fixture_advance(f, 4999);
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSING);
    fixture_advance(f, 1);
    assert_open_failed(f, TENDON_ERROR_CANCELLED);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(opens_in_serial_reading_order),
        T(keeps_what_it_read),
        T(each_string_has_its_place),
        T(opens_at_mtu_23_with_read_blobs),
        T(opens_when_the_mtu_exchange_is_refused),
        T(text_of_any_length_is_cut_i10),
        cmocka_unit_test(each_step_answered_with_an_error),
        cmocka_unit_test(each_step_without_an_answer_ends_after_5_s),
        cmocka_unit_test(each_step_with_the_link_lost),
        cmocka_unit_test(each_step_cancelled_by_close),
        T(missing_services),
        T(missing_device_information_service),
        cmocka_unit_test(each_characteristic_missing),
        cmocka_unit_test(each_cccd_missing),
        T(more_characteristics_than_the_table),
        cmocka_unit_test(values_that_cannot_be_parsed),
        T(empty_values_are_valid),
        T(stale_attribute_table),
        T(connect_times_out_after_10_s),
        cmocka_unit_test(why_connecting_failed),
        T(the_link_refuses_to_connect),
        T(whole_opening_times_out_after_30_s),
        T(a_link_that_never_says_it_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
