/* SPDX-License-Identifier: MIT */
/* One Activ5 device: handshake, order of what is told, calls against characteristics, evergreen mode. */
#include "activ5_fixture.h"

#define E(name) TENDON_ACTIV5_ERROR_##name

/* ---- connection and handshake ---- */

static void a_legacy_device_from_link_to_handshake(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    assert_int_equal(tendon_activ5_device_connect(d, 0), TENDON_OK);
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_CONNECTING);
    assert_false(tendon_activ5_device_connected(d));
    activ5_expect(f, "connect");
    tendon_activ5_device_link_up(d, 10);
    activ5_expect(f, "deviceConnected discover");
    tendon_activ5_device_discovered(d, false, activ5_all, ACTIV5_LEGACY, 20);
    activ5_expect(f, "subscribe:5A01");
    assert_false(d->uses_new_protocol);
    activ5_say(d, "TC5k;1.00;04;BATOK", 30);
    activ5_expect(f, "write:TVGTIME write:ID1! write:ID2! write:SN1! write:SN2! deviceInitialized "
                     "didReceiveMessage:initialMessage");
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_STOP);
    assert_true(d->initialized && d->version.known);
    assert_int_equal(d->version.length, 4);
    assert_memory_equal(d->version.bytes, "1.00", 4);
    activ5_say(d, "ASN1A5-000", 40);
    activ5_say(d, "ASN2123", 40);
    activ5_say(d, "Ai0011", 40);
    activ5_expect(f, "didReceiveMessage:sn1 didReceiveSerialNumber:A5-000 didReceiveMessage:sn2 "
                     "didReceiveSerialNumber:123 didReceiveMessage:uuid1");
    uint8_t uuid[2 * TENDON_ACTIV5_KEPT_SIZE];
    assert_int_equal(tendon_activ5_device_get_uuid(d, uuid, sizeof uuid), E(NOT_READY));
    activ5_say(d, "AI22", 40);
    assert_int_equal(tendon_activ5_device_get_uuid(d, uuid, sizeof uuid), 6);
    assert_memory_equal(uuid, "001122", 6);
    assert_int_equal(tendon_activ5_device_get_uuid(d, uuid, 5), TENDON_ERROR_BUFFER_TOO_SMALL);
    free(f);
}

/*
 * Whether a device greets in answer to TVGTIME nobody has written down: one that does so each time must not make both
 * sides talk for ever, nor end the stream's state.
 */
static void a_device_that_greets_again_is_answered_once_per_connection(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    for (int connection = 0; connection < 2; connection++) {
        activ5_reach(f, d, ACTIV5_LEGACY, 0);
        activ5_say(d, "TC5k;1.00", 1);
        activ5_expect(f, "write:TVGTIME write:ID1! write:ID2! write:SN1! write:SN2! deviceInitialized "
                         "didReceiveMessage:initialMessage");
        assert_int_equal(d->state, TENDON_ACTIV5_STATE_STOP);
        activ5_say(d, "IS1/IS", 2);
        activ5_forget(f);
        for (uint64_t now = 3; now < 10; now++) {
            activ5_say(d, "TC5k;1.01", now);
            activ5_expect(f, "didReceiveMessage:initialMessage");
            assert_int_equal(d->state, TENDON_ACTIV5_STATE_ISOMETRIC);
        }
        assert_memory_equal(d->version.bytes, "1.01", 4);
        tendon_activ5_device_link_down(d, TENDON_ERROR_DISCONNECTED, 20);
        activ5_forget(f);
    }
    /* A handshake that could not be sent is made up for by the next greeting. */
    activ5_reach(f, d, ACTIV5_LEGACY, 30);
    f->refuse = TENDON_GATT_ERROR_QUEUE_FULL;
    activ5_say(d, "TC5k;1.00", 31);
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_CONNECTED);
    f->refuse = TENDON_OK;
    activ5_forget(f);
    activ5_say(d, "TC5k;1.00", 32);
    activ5_expect(f, "write:TVGTIME write:ID1! write:ID2! write:SN1! write:SN2! didReceiveMessage:initialMessage");
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_STOP);
    free(f);
}

static void example_19_a_new_device_is_ready_with_the_third_answer(void **state) {
    (void)state;
    static const tendon_activ5_characteristic who[3] = {TENDON_ACTIV5_SERIAL_NUMBER, TENDON_ACTIV5_UUID1,
                                                        TENDON_ACTIV5_UUID2};
    static const char *const hex[3] = {"5831", "6162", "6364"};
    static const char *const told[3] = {"didReceiveMessage:serialNumber didReceiveSerialNumber:X1",
                                        "didReceiveMessage:uuid1", "didReceiveMessage:uuid2"};
    /* in each of the six orders */
    for (unsigned order = 0; order < 6; order++) {
        unsigned a = order % 3, b = (a + 1 + order / 3) % 3, c = 3 - a - b;
        const unsigned turns[3] = {a, b, c};
        activ5_fixture *f = activ5_new();
        assert_int_equal(tendon_activ5_device_connect(&f->device, 0), TENDON_OK);
        tendon_activ5_device_link_up(&f->device, 0);
        activ5_forget(f);
        tendon_activ5_device_discovered(&f->device, true, activ5_all, ACTIV5_NEW, 0);
        activ5_expect(f, "subscribe:5A01 read:F0F7 read:F0F8 read:2A25");
        for (int i = 0; i < 3; i++) {
            char words[128];
            activ5_value(&f->device, who[turns[i]], hex[turns[i]], 1);
            snprintf(words, sizeof words, "%s%s", i == 2 ? "deviceInitialized " : "", told[turns[i]]);
            activ5_expect(f, words);
        }
        activ5_value(&f->device, TENDON_ACTIV5_UUID1, "6162", 1); /* once per connection */
        activ5_expect(f, "didReceiveMessage:uuid1");
        activ5_say(&f->device, "TC5k;2", 2);
        activ5_expect(f, "write:TVGTIME didReceiveMessage:initialMessage"); /* it has characteristics for the rest */
        free(f);
    }
}

/* The serial number comes in any of three ways; it and both ids are needed. */
static void a_new_device_is_ready_with_any_serial_number(void **state) {
    (void)state;
    for (unsigned way = 0; way < 3; way++) {
        for (unsigned ids = 0; ids < 4; ids++) {
            activ5_fixture *f = activ5_new();
            tendon_activ5_device *d = &f->device;
            assert_int_equal(tendon_activ5_device_connect(d, 0), TENDON_OK);
            tendon_activ5_device_link_up(d, 0);
            tendon_activ5_device_discovered(d, true, activ5_all, ACTIV5_NEW, 0);
            if ((ids & 1) != 0) {
                activ5_value(d, TENDON_ACTIV5_UUID1, "6162", 1);
            }
            if ((ids & 2) != 0) {
                activ5_value(d, TENDON_ACTIV5_UUID2, "6364", 1);
            }
            assert_false(d->initialized);
            if (way == 0) {
                activ5_value(d, TENDON_ACTIV5_SERIAL_NUMBER, "5831", 2);
            } else {
                activ5_say(d, way == 1 ? "ASN1A5-000" : "ASN2123", 2);
            }
            assert_int_equal(d->initialized, ids == 3);
            free(f);
        }
    }
}

static void the_handshake_asks_for_what_has_no_characteristic(void **state) {
    (void)state;
    static const struct {
        tendon_activ5_characteristic more;
        const char *words;
    } cases[] = {
        {TENDON_ACTIV5_UUID1, "write:TVGTIME write:SN1! write:SN2!"}, /* one id is enough */
        {TENDON_ACTIV5_UUID2, "write:TVGTIME write:SN1! write:SN2!"},
        {TENDON_ACTIV5_SERIAL_NUMBER, "write:TVGTIME write:ID1! write:ID2!"},
        {TENDON_ACTIV5_BATTERY, "write:TVGTIME write:ID1! write:ID2! write:SN1! write:SN2!"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        activ5_fixture *f = activ5_new();
        const tendon_activ5_characteristic found[] = {TENDON_ACTIV5_TEXT_COMMAND, cases[i].more};
        activ5_reach(f, &f->device, 0, 0);
        tendon_activ5_device_discovered(&f->device, false, found, 2, 0);
        activ5_forget(f);
        assert_int_equal(tendon_activ5_device_send(&f->device, TENDON_ACTIV5_DO_HANDSHAKE, 1), TENDON_OK);
        activ5_expect(f, cases[i].words);
        assert_int_equal(f->device.state, TENDON_ACTIV5_STATE_CONNECTED); /* only the automatic one ends in stop */
        free(f);
    }
}

static void without_auto_handshake_nothing_is_written(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    f->options.auto_handshake = false;
    f->options.terminator = TENDON_ACTIV5_TERMINATOR_WEB;
    activ5_reach(f, &f->device, ACTIV5_LEGACY, 0);
    activ5_say(&f->device, "TC5k;", 1);
    activ5_expect(f, "deviceInitialized didReceiveMessage:initialMessage");
    assert_int_equal(f->device.state, TENDON_ACTIV5_STATE_CONNECTED);
    assert_int_equal(tendon_activ5_device_tare(&f->device, 2), TENDON_OK); /* the fixture looks at the terminator */
    activ5_expect(f, "write:TARE!");
    free(f);
}

static void characteristics_that_are_unknown_or_occur_again_change_nothing(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    static const tendon_activ5_characteristic found[] = {TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN,
                                                         TENDON_ACTIV5_TEXT_OUTPUT,
                                                         TENDON_ACTIV5_UUID1,
                                                         TENDON_ACTIV5_TEXT_OUTPUT,
                                                         TENDON_ACTIV5_UUID1,
                                                         TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN,
                                                         TENDON_ACTIV5_CHARACTERISTIC_COUNT,
                                                         (tendon_activ5_characteristic)77};
    activ5_reach(f, &f->device, 0, 0);
    tendon_activ5_device_discovered(&f->device, true, found, sizeof found / sizeof found[0], 0);
    activ5_expect(f, "subscribe:5A01 read:F0F7");
    assert_int_equal(f->device.characteristics, 1u << TENDON_ACTIV5_TEXT_OUTPUT | 1u << TENDON_ACTIV5_UUID1);
    assert_false(tendon_activ5_device_has(&f->device, TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN));
    free(f);
}

/* ---- values ---- */

static void what_is_told_of_each_type_in_order(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    activ5_reach(f, d, ACTIV5_NEW, 0);
    activ5_value(d, TENDON_ACTIV5_FORCE, "5a00", 1);
    activ5_expect(f, "didReceiveMessage:isometric didReceiveIsometric:24.441 squeezed");
    activ5_value(d, TENDON_ACTIV5_FORCE, "0000", 2);
    activ5_expect(f, "didReceiveMessage:isometric didReceiveIsometric:0.000 depressed");
    activ5_say(d, "IS33/IS", 3);
    activ5_expect(f, "didReceiveMessage:isometric didReceiveIsometric:35.846 squeezed");
    activ5_value(d, TENDON_ACTIV5_FORCE, "0000", 4);
    activ5_expect(f, "didReceiveMessage:isometric didReceiveIsometric:0.000 depressed didDetectDoubleSqueeze");
    assert_int_equal(d->counters.squeezes, 2);
    assert_int_equal(d->counters.double_squeezes, 1);
    activ5_value(d, TENDON_ACTIV5_IMU, "000000000000000000000000 00000000", 5);
    activ5_expect(f, "didReceiveMessage:imu didReceiveIMUData");
    activ5_value(d, TENDON_ACTIV5_BATTERY, "51", 5);
    activ5_expect(f, "didReceiveMessage:battery didReceiveBattery:81");
    activ5_value(d, TENDON_ACTIV5_TIMESTAMP, "01000000", 5);
    activ5_expect(f, "didReceiveMessage:timestamp");
    activ5_value(d, TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN, "01", 5);
    activ5_expect(f, "didReceiveMessage:unknown");
    activ5_value(d, TENDON_ACTIV5_OLD_FORCE, "5a00", 5); /* unknown unless asked for */
    activ5_expect(f, "didReceiveMessage:unknown");
    assert_int_equal(d->counters.messages, 9);
    free(f);
}

/* Answers to commands that nobody has given: told as what they are, and no state of the device follows from them. */
static void mal_I08_answers_to_no_command(void **state) {
    (void)state;
    static const char *const answers[] = {"ASN1A5-000", "ASN2123", "Ai0011", "AI22"};
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    activ5_reach(f, d, ACTIV5_LEGACY, 0);
    activ5_say(d, "TC5k;1.00;04;BATOK", 0);
    assert_true(d->initialized);
    activ5_forget(f);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        const tendon_activ5_data_state before = d->state;
        const tendon_activ5_counters counters = d->counters;
        activ5_say(d, answers[i], 1);
        assert_int_equal(d->state, before);
        assert_int_equal(d->link, TENDON_ACTIV5_LINK_UP);
        assert_int_equal(d->counters.values, counters.values + 1);
        assert_int_equal(d->counters.messages + d->counters.errors, counters.messages + counters.errors + 1);
    }
    assert_null(strstr(f->words, "write:")); /* and nothing is sent because of them */
    assert_null(strstr(f->words, "deviceInitialized"));
    free(f);
}

static void mal_I01_errors_change_nothing(void **state) {
    (void)state;
    static const struct {
        tendon_activ5_characteristic which;
        const char *hex, *words;
    } cases[] = {
        {TENDON_ACTIV5_FORCE, "01", "error:SHORT"},
        {TENDON_ACTIV5_IMU, "0102", "error:SHORT"},
        {TENDON_ACTIV5_TIMESTAMP, "010203", "error:SHORT"},
        {TENDON_ACTIV5_BATTERY, "", "error:SHORT"},
        {TENDON_ACTIV5_BATTERY, "0101", "error:LENGTH"},
        {TENDON_ACTIV5_BATTERY, "7f", "error:RANGE"},
        {TENDON_ACTIV5_SERIAL_NUMBER, "ff", "error:BAD_ENCODING"},
        {TENDON_ACTIV5_UUID1, "ff", "error:BAD_ENCODING"},
        {TENDON_ACTIV5_TEXT_OUTPUT, "", "error:EMPTY"},
        {TENDON_ACTIV5_TEXT_OUTPUT, "12495313", "error:MALFORMED"},
        {TENDON_ACTIV5_TEXT_OUTPUT, "12ff13", "error:BAD_ENCODING"},
        {TENDON_ACTIV5_TEXT_OUTPUT, "12491249532f13", "error:TRUNCATED error:MALFORMED"},
    };
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    activ5_reach(f, d, ACTIV5_NEW, 0);
    activ5_value(d, TENDON_ACTIV5_FORCE, "5a00", 1); /* squeezed */
    activ5_forget(f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_activ5_device before = *d;
        activ5_value(d, cases[i].which, cases[i].hex, 2);
        activ5_expect(f, cases[i].words);
        before.counters = d->counters;
        before.deframer = d->deframer;
        before.now = d->now;
        before.clock = d->clock;
        assert_memory_equal(&before, d, sizeof before);
    }
    assert_int_equal(d->counters.errors, 13);
    free(f);
}

static void texts_longer_than_what_is_kept_are_cut_between_characters(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    uint8_t value[90];
    memset(value, 'x', sizeof value);
    memcpy(value + 62, "\xE2\x82\xAC", 3); /* over the limit of 64 */
    activ5_reach(f, &f->device, ACTIV5_NEW, 0);
    block b = block_copy(value, sizeof value);
    tendon_activ5_device_value(&f->device, TENDON_ACTIV5_SERIAL_NUMBER, b.data, b.length, 1);
    assert_int_equal(f->device.serial_number.length, 62);
    b.data[62] = 'y'; /* and without: exactly 64; 2 stray bytes are no UTF-8 */
    memset(b.data + 62, 'y', 3);
    tendon_activ5_device_value(&f->device, TENDON_ACTIV5_SERIAL_NUMBER, b.data, b.length, 1);
    assert_int_equal(f->device.serial_number.length, TENDON_ACTIV5_KEPT_SIZE);
    assert_int_equal(tendon_activ5_device_get_serial_number(&f->device), TENDON_ACTIV5_KEPT_SIZE);
    free(b.data);
    free(f);
}

static void f0f1_is_the_force_only_on_request_and_without_f0fe(void **state) {
    (void)state;
    static const tendon_activ5_characteristic old[] = {TENDON_ACTIV5_TEXT_COMMAND, TENDON_ACTIV5_OLD_FORCE};
    static const tendon_activ5_characteristic both[] = {TENDON_ACTIV5_FORCE, TENDON_ACTIV5_OLD_FORCE};
    activ5_fixture *f = activ5_new();
    activ5_reach(f, &f->device, 0, 0);
    tendon_activ5_device_discovered(&f->device, true, old, 2, 0);
    assert_int_equal(tendon_activ5_device_start_isometric(&f->device, 1), TENDON_OK);
    activ5_expect(f, "write:ISOM!");
    f->options.accept_f0f1 = true;
    assert_int_equal(tendon_activ5_device_start_isometric(&f->device, 1), TENDON_OK);
    activ5_value(&f->device, TENDON_ACTIV5_OLD_FORCE, "0100", 2);
    assert_int_equal(tendon_activ5_device_stop(&f->device, 1), TENDON_OK);
    activ5_expect(f, "subscribe:F0F1 didReceiveMessage:isometric didReceiveIsometric:0.272 unsubscribe:F0F1");
    free(f);
    f = activ5_new();
    f->options.accept_f0f1 = true;
    activ5_reach(f, &f->device, 0, 0);
    tendon_activ5_device_discovered(&f->device, true, both, 2, 0);
    assert_int_equal(tendon_activ5_device_start_isometric(&f->device, 1), TENDON_OK);
    activ5_value(&f->device, TENDON_ACTIV5_OLD_FORCE, "0100", 2);
    activ5_expect(f, "subscribe:F0FE didReceiveMessage:unknown");
    free(f);
}

/* ---- calls ---- */

static void every_call_with_every_set_of_characteristics(void **state) {
    (void)state;
    enum { NONE, COMMANDS, STREAMS, ALL };
    static const struct {
        const char *name;
        const char *words[4];
        tendon_status status[4];
    } calls[] = {
        {"startIsometric", {"", "write:ISOM!", "subscribe:F0FE", "subscribe:F0FE"}, {E(NOT_READY), 0, 0, 0}},
        {"stop", {"", "write:STOP!", "unsubscribe:F0FE", "unsubscribe:F0FE"}, {E(NOT_READY), 0, 0, 0}},
        {"tare", {"", "write:TARE!", "", "write:TARE!"}, {E(NOT_READY), 0, E(NOT_READY), 0}},
        {"startIMU", {"", "", "subscribe:F0F5", "subscribe:F0F5"}, {E(IMU_UNSUPPORTED), E(IMU_UNSUPPORTED), 0, 0}},
        {"stopIMU", {"", "", "unsubscribe:F0F5", "unsubscribe:F0F5"}, {E(IMU_UNSUPPORTED), E(IMU_UNSUPPORTED), 0, 0}},
        {"setSampleRate", {"", "", "write:F0FA:1900", "write:F0FA:1900"}, {E(UNSUPPORTED), E(UNSUPPORTED), 0, 0}},
        {"wrongRate", {"", "", "", ""}, {E(UNSUPPORTED), E(UNSUPPORTED), E(RANGE), E(RANGE)}},
        {"battery",
         {"", "", "read:2A19", "read:2A19"},
         {E(BATTERY_LEVEL_NOT_READABLE), E(BATTERY_LEVEL_NOT_READABLE), E(BATTERY_LEVEL_NOT_READABLE),
          E(BATTERY_LEVEL_NOT_READABLE)}},
        {"serial", {"", "", "", ""}, {0, 0, E(NOT_READY), E(NOT_READY)}},
        {"send stop", {"", "write:STOP!", "", "write:STOP!"}, {E(NOT_READY), 0, E(NOT_READY), 0}},
        {"send battery", {"", "", "read:2A19", "read:2A19"}, {E(NOT_READY), E(NOT_READY), 0, 0}},
        {"send text", {"", "write:hello", "", "write:hello"}, {E(NOT_READY), 0, E(NOT_READY), 0}},
    };
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
        for (int set = NONE; set <= ALL; set++) {
            activ5_fixture *f = activ5_new();
            tendon_activ5_device *d = &f->device;
            size_t first = set == STREAMS ? 2 : 0, count = set == NONE ? 0 : set == COMMANDS ? 2 : 10 - first;
            activ5_reach(f, d, 0, 0);
            tendon_activ5_device_discovered(d, set >= STREAMS, activ5_all + first, count, 0);
            activ5_forget(f);
            tendon_status status = c == 0    ? tendon_activ5_device_start_isometric(d, 1)
                                   : c == 1  ? tendon_activ5_device_stop(d, 1)
                                   : c == 2  ? tendon_activ5_device_tare(d, 1)
                                   : c == 3  ? tendon_activ5_device_start_imu(d, 1)
                                   : c == 4  ? tendon_activ5_device_stop_imu(d, 1)
                                   : c == 5  ? tendon_activ5_device_set_sample_rate(d, 25, 1)
                                   : c == 6  ? tendon_activ5_device_set_sample_rate(d, 32768, 1)
                                   : c == 7  ? tendon_activ5_device_get_battery(d, 1)
                                   : c == 8  ? tendon_activ5_device_get_serial_number(d)
                                   : c == 9  ? tendon_activ5_device_send(d, TENDON_ACTIV5_STOP, 1)
                                   : c == 10 ? tendon_activ5_device_send(d, TENDON_ACTIV5_ASK_BATTERY, 1)
                                             : tendon_activ5_device_send_text(d, "hello", 5, 1);
            if (status != calls[c].status[set]) {
                fail_msg("%s, set %d: %d", calls[c].name, set, status);
            }
            activ5_expect(f, calls[c].words[set]);
            bool stopped = status == TENDON_OK && (c == 1 || c == 9);
            assert_int_equal(d->state, stopped ? TENDON_ACTIV5_STATE_STOP : TENDON_ACTIV5_STATE_CONNECTED);
            free(f);
        }
    }
}

static void refused_requests_are_the_calls_error_and_no_new_state(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    f->refuse = TENDON_GATT_ERROR_QUEUE_FULL;
    assert_int_equal(tendon_activ5_device_connect(d, 0), TENDON_GATT_ERROR_QUEUE_FULL);
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_DISCONNECTED);
    f->refuse = TENDON_OK;
    activ5_reach(f, d, ACTIV5_LEGACY, 0);
    f->refuse = TENDON_GATT_ERROR_QUEUE_FULL;
    assert_int_equal(tendon_activ5_device_stop(d, 1), TENDON_GATT_ERROR_QUEUE_FULL);
    assert_int_equal(tendon_activ5_device_send(d, TENDON_ACTIV5_COMMAND_COUNT, 1), TENDON_ERROR_INVALID_ARGUMENT);
    char longest[TENDON_ACTIV5_SEND_MAX + 1] = {'x'};
    assert_int_equal(tendon_activ5_device_send_text(d, longest, sizeof longest, 1), TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_CONNECTED);
    tendon_activ5_device_init(d, &f->options, d->on_event, f, NULL, NULL); /* nobody holds a link */
    assert_int_equal(tendon_activ5_device_connect(d, 0), TENDON_ERROR_DISCONNECTED);
    free(f);
}

static void the_battery_level_is_kept(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    activ5_reach(f, &f->device, ACTIV5_NEW, 0);
    activ5_value(&f->device, TENDON_ACTIV5_BATTERY, "4b", 1);
    activ5_forget(f);
    assert_int_equal(tendon_activ5_device_get_battery(&f->device, 2), 75);
    activ5_expect(f, "");
    free(f);
}

/* ---- evergreen ---- */

static void example_20_evergreen_writes_stop_each_minute(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    f->timed = true;
    tendon_activ5_device *d = &f->device;
    activ5_reach(f, d, ACTIV5_LEGACY, 0);
    assert_int_equal(tendon_activ5_device_stop(d, 1), TENDON_OK);
    activ5_forget(f);
    tendon_activ5_device_set_evergreen(d, true, 10000);
    tendon_activ5_device_tick(d, 69999);
    activ5_expect(f, "");
    assert_int_equal(tendon_activ5_device_deadline(d), 70000);
    tendon_activ5_device_tick(d, 70000);
    activ5_expect(f, "write:STOP!@70000");
    tendon_activ5_device_tick(d, 195000); /* late: one write for both minutes, at the time at which it is sent */
    activ5_expect(f, "write:STOP!@195000");
    assert_int_equal(tendon_activ5_device_deadline(d), 250000);
    tendon_activ5_device_set_evergreen(d, true, 200000); /* again: the period starts anew */
    tendon_activ5_device_tick(d, 259999);
    activ5_expect(f, "");
    tendon_activ5_device_set_evergreen(d, false, 259999);
    tendon_activ5_device_tick(d, 999999);
    activ5_expect(f, "");
    assert_true(tendon_activ5_device_deadline(d) == UINT64_MAX);
    /* never further apart than the device's 7 minutes */
    assert_true(TENDON_ACTIV5_EVERGREEN_MS < TENDON_ACTIV5_SWITCH_OFF_MS);
    free(f);
}

/* A process that stood still: one write is enough, however many minutes were missed. */
static void evergreen_does_not_make_up_for_days(void **state) {
    (void)state;
    for (uint64_t more = 0; more < 2; more++) {
        activ5_fixture *f = activ5_new();
        tendon_activ5_device *d = &f->device;
        activ5_reach(f, d, ACTIV5_LEGACY, 0);
        assert_int_equal(tendon_activ5_device_stop(d, 1), TENDON_OK);
        tendon_activ5_device_set_evergreen(d, true, 0);
        activ5_forget(f);
        tendon_activ5_device_tick(d, 60000 + 60000000 + more);
        activ5_expect(f, "write:STOP!");
        assert_int_equal(tendon_activ5_device_deadline(d), 60060000 + 60000);
        free(f);
    }
}

/* Reports have the time of their timer, requests the time at which they are sent, also those of a handler. */
static void hook_that_asks(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    (void)f;
    if (event->kind == TENDON_ACTIV5_EVENT_SQUEEZE && !event->on) {
        (void)tendon_activ5_device_tare(event->device, now);
    }
}

static void requests_of_late_timers_are_sent_now(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    f->options.squeeze.release_on_reset = true;
    activ5_reach(f, d, ACTIV5_LEGACY, 0);
    f->timed = true;
    activ5_say(d, "IS30/IS", 1000);
    activ5_forget(f);
    f->hook = hook_that_asks;
    tendon_activ5_device_tick(d, 90000);
    activ5_expect(f, "depressed@6000 write:TARE!@90000");
    free(f);
}

static void evergreen_keeps_its_period_through_an_exercise(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    activ5_reach(f, d, ACTIV5_LEGACY, 0);
    tendon_activ5_device_set_evergreen(d, true, 0);
    activ5_say(d, "IS1/IS", 59999);
    activ5_forget(f);
    f->timed = true;
    tendon_activ5_device_tick(d, 60000);
    activ5_expect(f, "");
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_ISOMETRIC);
    assert_int_equal(tendon_activ5_device_stop(d, 70000), TENDON_OK);
    tendon_activ5_device_tick(d, 120000);
    activ5_expect(f, "write:STOP!@70000 write:STOP!@120000");
    free(f);
}

static void evergreen_survives_the_connection_and_needs_5a02(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    activ5_reach(f, d, ACTIV5_LEGACY, 0);
    tendon_activ5_device_set_evergreen(d, true, 0);
    tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 1);
    activ5_expect(f, "deviceDisconnected");
    assert_true(tendon_activ5_device_deadline(d) == UINT64_MAX); /* nothing is written without a connection */
    tendon_activ5_device_tick(d, 100000);
    activ5_reach(f, d, 1, 100001); /* 5A01 alone */
    assert_true(d->evergreen);
    tendon_activ5_device_tick(d, 300000);
    activ5_expect(f, "");
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_CONNECTED);
    tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 300001);
    activ5_reach(f, d, ACTIV5_LEGACY, 400000);
    f->timed = true;
    tendon_activ5_device_tick(d, 460000);
    activ5_expect(f, "write:STOP!@460000"); /* one period after the new connection */
    tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 460001);
    activ5_forget(f);
    activ5_reach(f, d, ACTIV5_LEGACY, 500000);
    /* a clock that jumps by ages does not make a write for each minute of it */
    tendon_activ5_device_tick(d, UINT64_MAX - 1);
    assert_true(tendon_activ5_device_deadline(d) > UINT64_MAX - 60001);
    free(f);
}

/* ---- the clock ---- */

static tendon_activ5_event motion; /* the last one */

static void keep_motion(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    (void)now;
    if (event->kind == TENDON_ACTIV5_EVENT_IMU) {
        motion = *event;
    }
    activ5_forget(f);
}

/* Measured at @p now, by the device's ticks of 15.25 us that were @p first at time 0; it arrives @p late ms later. */
static void move(tendon_activ5_device *d, uint64_t now, uint32_t first, uint64_t late) {
    uint32_t ticks = first + (uint32_t)(now * 1000000 / 15250);
    char text[40];
    (void)snprintf(text, sizeof text, "000000000000000000000000%02x%02x%02x%02x", ticks & 0xFF, ticks >> 8 & 0xFF,
                   ticks >> 16 & 0xFF, ticks >> 24);
    d->received_at = (now + late) * UINT64_C(1000000);
    activ5_value(d, TENDON_ACTIV5_IMU, text, now + late);
    d->received_at = 0;
}

/* Ten minutes at 100 Hz, in which the 32 bits wrap; late ones; a reconnection; a restart. */
static void motion_has_the_time_of_its_measurement(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    activ5_reach(f, d, ACTIV5_NEW, 0);
    f->hook = keep_motion;
    uint64_t now = 1000;
    for (; now < 601000; now += 10) {
        move(d, now, 0xFF800000, 1);
    }
    assert_int_equal(motion.received_at, (now - 9) * 1000000);
    assert_in_range(motion.error_us, 2000, 3000);
    assert_in_range(motion.received_at - motion.sampled_at, 0, 2000000);
    move(d, now, 0xFF800000, 250);
    assert_in_range(motion.received_at - motion.sampled_at, 249000000, 251000000);

    tendon_activ5_device_link_down(d, TENDON_ERROR_DISCONNECTED, now + 250);
    now += 60000;
    activ5_reach(f, d, ACTIV5_NEW, now);
    move(d, now, 0xFF800000, 30);
    assert_in_range(motion.received_at - motion.sampled_at, 28000000, 32000000);
    assert_in_range(motion.error_us, 2000, 10000);

    tendon_activ5_device_link_down(d, TENDON_ERROR_DISCONNECTED, now + 30);
    now += 60000;
    activ5_reach(f, d, ACTIV5_NEW, now);
    move(d, now, 0x1234, 30); /* another count: it was switched off */
    assert_in_range(motion.received_at - motion.sampled_at, 0, 2000000);
    assert_true(motion.error_us > 100000);
    free(f);
}

/* Without a time of arrival there is none of the measurement. */
static void what_has_no_time(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    activ5_reach(f, &f->device, ACTIV5_NEW, 0);
    f->hook = keep_motion;
    activ5_value(&f->device, TENDON_ACTIV5_IMU, "00000000000000000000000001000000", 5);
    assert_true(motion.received_at == 0 && motion.sampled_at == 0 && motion.error_us == 0);
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_legacy_device_from_link_to_handshake),
        cmocka_unit_test(a_device_that_greets_again_is_answered_once_per_connection),
        cmocka_unit_test(example_19_a_new_device_is_ready_with_the_third_answer),
        cmocka_unit_test(a_new_device_is_ready_with_any_serial_number),
        cmocka_unit_test(the_handshake_asks_for_what_has_no_characteristic),
        cmocka_unit_test(without_auto_handshake_nothing_is_written),
        cmocka_unit_test(characteristics_that_are_unknown_or_occur_again_change_nothing),
        cmocka_unit_test(what_is_told_of_each_type_in_order),
        cmocka_unit_test(mal_I01_errors_change_nothing),
        cmocka_unit_test(mal_I08_answers_to_no_command),
        cmocka_unit_test(texts_longer_than_what_is_kept_are_cut_between_characters),
        cmocka_unit_test(f0f1_is_the_force_only_on_request_and_without_f0fe),
        cmocka_unit_test(every_call_with_every_set_of_characteristics),
        cmocka_unit_test(refused_requests_are_the_calls_error_and_no_new_state),
        cmocka_unit_test(the_battery_level_is_kept),
        cmocka_unit_test(motion_has_the_time_of_its_measurement),
        cmocka_unit_test(what_has_no_time),
        cmocka_unit_test(example_20_evergreen_writes_stop_each_minute),
        cmocka_unit_test(evergreen_does_not_make_up_for_days),
        cmocka_unit_test(requests_of_late_timers_are_sent_now),
        cmocka_unit_test(evergreen_keeps_its_period_through_an_exercise),
        cmocka_unit_test(evergreen_survives_the_connection_and_needs_5a02),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
