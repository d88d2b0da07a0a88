/* SPDX-License-Identifier: MIT */
/* Obvious: payloads of every opcode from literal bytes, and the checks of each field. */
#include "test_bytes.h"

#include "tendon/devices/obvious.h"

enum { REQUEST = 0, RESPONSE = TENDON_OBVIOUS_RESPONSE, EVENT = TENDON_OBVIOUS_EVENT };

static tendon_obvious_payload payload;

static tendon_status decode(uint8_t flags, uint8_t opcode, uint8_t status, const uint8_t *data, size_t length) {
    const tendon_obvious_frame frame = {.flags = (uint8_t)(flags | (status != 0 ? TENDON_OBVIOUS_ERROR : 0)),
                                        .opcode = opcode,
                                        .status = status,
                                        .corr = (flags & EVENT) != 0 ? 0 : 7,
                                        .payload = data,
                                        .payload_length = length};
    return tendon_obvious_decode_payload(&frame, &payload);
}

#define SHA "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* One valid payload of each kind; the values of the fields are checked below. */
static const struct {
    uint8_t flags, opcode;
    const char *hex;
    bool open; /* longer and shorter payloads are valid, too */
} valid[] = {
    {REQUEST, TENDON_OBVIOUS_HELLO, "01 02 0010 08 00 0102030405060708", false},
    {RESPONSE, TENDON_OBVIOUS_HELLO, "01 0010 08 ff000000 d4c3b2a1", false},
    {REQUEST, TENDON_OBVIOUS_GET_DEVICE_INFO, "", false},
    {RESPONSE, TENDON_OBVIOUS_GET_DEVICE_INFO,
     "d2040000 8877665544332211 f84d0f00 42420f00 69915b00 50690f00 2900000000000000 01 57 02 01", false},
    {REQUEST, TENDON_OBVIOUS_PING, "010203", true},
    {RESPONSE, TENDON_OBVIOUS_PING, "010203", true},
    {REQUEST, TENDON_OBVIOUS_GET_NONCE, "", false},
    {RESPONSE, TENDON_OBVIOUS_GET_NONCE, "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf", false},
    {REQUEST, TENDON_OBVIOUS_GET_TIME, "", false},
    {RESPONSE, TENDON_OBVIOUS_GET_TIME, "01020304", false},
    {REQUEST, TENDON_OBVIOUS_SET_TIME, "01020304", false},
    {RESPONSE, TENDON_OBVIOUS_SET_TIME, "", false},
    {REQUEST, TENDON_OBVIOUS_FEATURE_STATUS, "02 1000 1100", false},
    {RESPONSE, TENDON_OBVIOUS_FEATURE_STATUS, "02 1000 01 01 1100 00 00", false},
    {REQUEST, TENDON_OBVIOUS_FEATURE_TOGGLE, "01 1000 02", false},
    {RESPONSE, TENDON_OBVIOUS_FEATURE_TOGGLE, "01 0004 ff ff", false},
    {REQUEST, TENDON_OBVIOUS_FEATURE_COUNTER, "", false},
    {RESPONSE, TENDON_OBVIOUS_FEATURE_COUNTER, "2900000000000080 0102030405060708", false},
    {REQUEST, TENDON_OBVIOUS_XFER_BEGIN, "01 00 0004 94000000 5259a7dd " SHA " 0000", false},
    {RESPONSE, TENDON_OBVIOUS_XFER_BEGIN, "04030201 00000000 0004 00000000", false},
    {REQUEST, TENDON_OBVIOUS_XFER_DATA, "04030201 10000000 aabbcc", true},
    {RESPONSE, TENDON_OBVIOUS_XFER_DATA, "13000000", false},
    {REQUEST, TENDON_OBVIOUS_XFER_STATUS, "00000000", false},
    {RESPONSE, TENDON_OBVIOUS_XFER_STATUS, "01 01 04030201 10000000 10000000 5259a7dd " SHA, false},
    {REQUEST, TENDON_OBVIOUS_XFER_END, "04030201", false},
    {RESPONSE, TENDON_OBVIOUS_XFER_END, "02 01 0000", false},
    {REQUEST, TENDON_OBVIOUS_XFER_ABORT, "04030201 03", false},
    {RESPONSE, TENDON_OBVIOUS_XFER_ABORT, "", false},
    {REQUEST, TENDON_OBVIOUS_FW_ACTIVATE, "e0510f00 01 0a", false},
    {RESPONSE, TENDON_OBVIOUS_FW_ACTIVATE, "", false},
    {REQUEST, TENDON_OBVIOUS_FW_CONFIRM, "e0510f00 01", false},
    {RESPONSE, TENDON_OBVIOUS_FW_CONFIRM, "", false},
    {REQUEST, TENDON_OBVIOUS_FW_STATE, "", false},
    {RESPONSE, TENDON_OBVIOUS_FW_STATE, "e0510f00 02 ffffffff 00 f84d0f00 03000000 1d01", false},
    {REQUEST, TENDON_OBVIOUS_REBOOT, "00 02", false},
    {RESPONSE, TENDON_OBVIOUS_REBOOT, "", false},
    {EVENT, TENDON_OBVIOUS_EVT_FEATURE_CHANGED, "01 1000 01 02", false},
    {EVENT, TENDON_OBVIOUS_EVT_REBOOTING, "02 e803", false},
    {EVENT, TENDON_OBVIOUS_EVT_XFER_PROGRESS, "04030201 10000000 20000000", false},
    {EVENT, TENDON_OBVIOUS_EVT_FW_TRIAL, "e0510f00 2c01", false},
};
enum { VALID = sizeof valid / sizeof valid[0] };

static void mal_I01_I02_I03_every_payload_has_exactly_its_length(void **state) {
    (void)state;
    for (size_t i = 0; i < VALID; i++) {
        block bytes = block_hex(valid[i].hex);
        assert_int_equal(decode(valid[i].flags, valid[i].opcode, 0, bytes.data, bytes.length), TENDON_OK);
        for (size_t length = 0; length <= bytes.length + 2 && !valid[i].open; length++) {
            block other = block_copy(bytes.data, length < bytes.length ? length : bytes.length);
            other.data = realloc(other.data, length + 1);
            assert_non_null(other.data);
            memset(other.data + other.length, 0, length + 1 - other.length);
            block exact = block_copy(other.data, length);
            assert_int_equal(decode(valid[i].flags, valid[i].opcode, 0, exact.data, length),
                             length == bytes.length ? TENDON_OK : TENDON_OBVIOUS_ERROR_BAD_LENGTH);
            free(exact.data);
            free(other.data);
        }
        free(bytes.data);
    }
}

/* Each is encoded again from what was decoded, and no capacity is exceeded. */
static void every_payload_is_encoded_as_it_was(void **state) {
    (void)state;
    for (size_t i = 0; i < VALID; i++) {
        block bytes = block_hex(valid[i].hex);
        const tendon_obvious_frame frame = {
            .flags = valid[i].flags, .opcode = valid[i].opcode, .corr = valid[i].flags == EVENT ? 0 : 0x0102};
        assert_int_equal(decode(valid[i].flags, valid[i].opcode, 0, bytes.data, bytes.length), TENDON_OK);
        for (size_t capacity = 0; capacity <= bytes.length + TENDON_OBVIOUS_FRAME_OVERHEAD; capacity++) {
            uint8_t *out = malloc(capacity + 1);
            assert_non_null(out);
            block exact = block_copy(out, 0);
            exact.data = realloc(exact.data, capacity == 0 ? 1 : capacity);
            tendon_status status = tendon_obvious_encode_frame(&frame, &payload, exact.data, capacity);
            if (capacity < bytes.length + TENDON_OBVIOUS_FRAME_OVERHEAD) {
                assert_int_equal(status, TENDON_ERROR_BUFFER_TOO_SMALL);
            } else {
                assert_int_equal(status, capacity);
                tendon_obvious_frame again;
                assert_int_equal(tendon_obvious_decode_frame(exact.data, capacity, 4096, &again), TENDON_OK);
                assert_int_equal(again.opcode, frame.opcode);
                assert_int_equal(again.flags, frame.flags);
                assert_hex(again.payload, again.payload_length, valid[i].hex);
            }
            free(exact.data);
            free(out);
        }
        free(bytes.data);
    }
}

static void fields_have_the_values_of_the_bytes(void **state) {
    (void)state;
    block b = block_hex(valid[3].hex);
    assert_int_equal(decode(RESPONSE, TENDON_OBVIOUS_GET_DEVICE_INFO, 0, b.data, b.length), TENDON_OK);
    assert_int_equal(payload.device_info.product, 1234);
    assert_true(payload.device_info.serial == 0x1122334455667788u && payload.device_info.counter == 41);
    assert_int_equal(payload.device_info.fw, 1003000);
    assert_int_equal(payload.device_info.bootloader, 1000002);
    assert_int_equal(payload.device_info.stack, 6001001);
    assert_int_equal(payload.device_info.sdk, 1010000);
    assert_int_equal(payload.device_info.flags, 1);
    assert_int_equal(payload.device_info.battery, 87);
    assert_int_equal(payload.device_info.hw_rev, 2);
    assert_int_equal(payload.device_info.key_id, 1);
    free(b.data);
    b = block_hex(valid[0].hex);
    assert_int_equal(decode(REQUEST, TENDON_OBVIOUS_HELLO, 0, b.data, b.length), TENDON_OK);
    assert_int_equal(payload.hello.proto_min * 100 + payload.hello.proto_max * 10 + payload.hello.window, 128);
    assert_int_equal(payload.hello.max_frame, 4096);
    assert_hex(payload.hello.nonce, 8, "0102030405060708");
    free(b.data);
    uint8_t begin[46 + 136];
    b = block_hex("02 01 0004 00000001 78563412 " SHA " 8800");
    memcpy(begin, b.data, 46);
    memset(begin + 46, 0x5A, 136);
    assert_int_equal(decode(REQUEST, TENDON_OBVIOUS_XFER_BEGIN, 0, begin, sizeof begin), TENDON_OK);
    assert_int_equal(payload.begin.obj, TENDON_OBVIOUS_OBJECT_FIRMWARE);
    assert_int_equal(payload.begin.size, 0x01000000);
    assert_int_equal(payload.begin.crc32, 0x12345678);
    assert_int_equal(payload.begin.chunk_max, 1024);
    assert_hex(payload.begin.sha256, 32, SHA);
    assert_ptr_equal(payload.begin.manifest, begin + 46);
    assert_int_equal(decode(REQUEST, TENDON_OBVIOUS_XFER_BEGIN, 0, begin, sizeof begin - 1),
                     TENDON_OBVIOUS_ERROR_BAD_LENGTH);
    begin[0] = 1; /* no manifest with a package */
    assert_int_equal(decode(REQUEST, TENDON_OBVIOUS_XFER_BEGIN, 0, begin, sizeof begin),
                     TENDON_OBVIOUS_ERROR_BAD_PARAM);
    free(b.data);
    b = block_hex("02 1000 01 01 1100 00 ff");
    assert_int_equal(decode(RESPONSE, TENDON_OBVIOUS_FEATURE_STATUS, 0, b.data, b.length), TENDON_OK);
    assert_int_equal(payload.features.count, 2);
    tendon_obvious_feature feature = tendon_obvious_feature_at(&payload, 1);
    assert_true(feature.id == 17 && feature.enable == 0 && feature.toggle == TENDON_OBVIOUS_TOGGLE_UNKNOWN);
    feature = tendon_obvious_feature_at(&payload, 2);
    assert_true(feature.id == 0 && feature.enable == 0 && feature.toggle == 0);
    free(b.data);
}

/* One field of a valid payload with another value. */
static const struct {
    uint8_t flags, opcode;
    const char *hex;
} wrong[] = {
    {REQUEST, TENDON_OBVIOUS_HELLO, "00 01 0010 08 00 0102030405060708"},
    {REQUEST, TENDON_OBVIOUS_HELLO, "02 01 0010 08 00 0102030405060708"},
    {REQUEST, TENDON_OBVIOUS_HELLO, "01 01 ff00 08 00 0102030405060708"},
    {REQUEST, TENDON_OBVIOUS_HELLO, "01 01 0110 08 00 0102030405060708"},
    {REQUEST, TENDON_OBVIOUS_HELLO, "01 01 0010 00 00 0102030405060708"},
    {REQUEST, TENDON_OBVIOUS_HELLO, "01 01 0010 21 00 0102030405060708"},
    {REQUEST, TENDON_OBVIOUS_HELLO, "01 01 0010 08 01 0102030405060708"},
    {RESPONSE, TENDON_OBVIOUS_HELLO, "00 0010 08 ff000000 d4c3b2a1"},
    {RESPONSE, TENDON_OBVIOUS_HELLO, "01 ff00 08 ff000000 d4c3b2a1"},
    {RESPONSE, TENDON_OBVIOUS_HELLO, "01 0010 21 ff000000 d4c3b2a1"},
    {RESPONSE, TENDON_OBVIOUS_GET_DEVICE_INFO,
     "d2040000 8877665544332211 00ca9a3b 42420f00 69915b00 50690f00 2900000000000000 01 57 02 01"},
    {RESPONSE, TENDON_OBVIOUS_GET_DEVICE_INFO,
     "d2040000 8877665544332211 feffffff 42420f00 69915b00 50690f00 2900000000000000 01 57 02 01"},
    {RESPONSE, TENDON_OBVIOUS_GET_DEVICE_INFO,
     "d2040000 8877665544332211 f84d0f00 42420f00 69915b00 50690f00 2900000000000000 11 57 02 01"},
    {RESPONSE, TENDON_OBVIOUS_GET_DEVICE_INFO,
     "d2040000 8877665544332211 f84d0f00 42420f00 69915b00 50690f00 2900000000000000 01 65 02 01"},
    {RESPONSE, TENDON_OBVIOUS_GET_DEVICE_INFO,
     "d2040000 8877665544332211 f84d0f00 42420f00 69915b00 50690f00 2900000000000000 01 fe 02 01"},
    {REQUEST, TENDON_OBVIOUS_FEATURE_STATUS, "00"},
    {REQUEST, TENDON_OBVIOUS_FEATURE_STATUS, "41"},
    {REQUEST, TENDON_OBVIOUS_FEATURE_STATUS, "01 0000"},
    {REQUEST, TENDON_OBVIOUS_FEATURE_STATUS, "01 0104"},
    {REQUEST, TENDON_OBVIOUS_FEATURE_TOGGLE, "01 1000 00"},
    {REQUEST, TENDON_OBVIOUS_FEATURE_TOGGLE, "01 1000 03"},
    {REQUEST, TENDON_OBVIOUS_FEATURE_TOGGLE, "01 1000 ff"},
    {RESPONSE, TENDON_OBVIOUS_FEATURE_STATUS, "01 1000 02 01"},
    {RESPONSE, TENDON_OBVIOUS_FEATURE_STATUS, "01 1000 01 03"},
    {RESPONSE, TENDON_OBVIOUS_FEATURE_STATUS, "01 1000 01 80"},
    {EVENT, TENDON_OBVIOUS_EVT_FEATURE_CHANGED, "01 0000 01 01"},
    {REQUEST, TENDON_OBVIOUS_XFER_BEGIN, "00 00 0004 94000000 5259a7dd " SHA " 0000"},
    {REQUEST, TENDON_OBVIOUS_XFER_BEGIN, "04 00 0004 94000000 5259a7dd " SHA " 0000"},
    {REQUEST, TENDON_OBVIOUS_XFER_BEGIN, "01 02 0004 94000000 5259a7dd " SHA " 0000"},
    {REQUEST, TENDON_OBVIOUS_XFER_BEGIN, "01 00 0000 94000000 5259a7dd " SHA " 0000"},
    {REQUEST, TENDON_OBVIOUS_XFER_BEGIN, "01 00 0004 00000000 5259a7dd " SHA " 0000"},
    {REQUEST, TENDON_OBVIOUS_XFER_BEGIN, "01 00 0004 01000001 5259a7dd " SHA " 0000"},
    {REQUEST, TENDON_OBVIOUS_XFER_BEGIN, "02 00 0004 94000000 5259a7dd " SHA " 0000"},
    {RESPONSE, TENDON_OBVIOUS_XFER_BEGIN, "00000000 00000000 0004 00000000"},
    {RESPONSE, TENDON_OBVIOUS_XFER_BEGIN, "04030201 00000000 0000 00000000"},
    {RESPONSE, TENDON_OBVIOUS_XFER_STATUS, "04 01 04030201 10000000 10000000 5259a7dd " SHA},
    {RESPONSE, TENDON_OBVIOUS_XFER_STATUS, "01 04 04030201 10000000 10000000 5259a7dd " SHA},
    {RESPONSE, TENDON_OBVIOUS_XFER_STATUS, "01 01 04030201 11000000 10000000 5259a7dd " SHA},
    {RESPONSE, TENDON_OBVIOUS_XFER_END, "03 01 0000"},
    {RESPONSE, TENDON_OBVIOUS_XFER_END, "00 02 0000"},
    {RESPONSE, TENDON_OBVIOUS_XFER_END, "00 00 0100"},
    {REQUEST, TENDON_OBVIOUS_XFER_ABORT, "04030201 04"},
    {REQUEST, TENDON_OBVIOUS_FW_ACTIVATE, "00ca9a3b 01 0a"},
    {REQUEST, TENDON_OBVIOUS_FW_ACTIVATE, "ffffffff 01 0a"},
    {REQUEST, TENDON_OBVIOUS_FW_ACTIVATE, "e0510f00 00 0a"},
    {REQUEST, TENDON_OBVIOUS_FW_ACTIVATE, "e0510f00 02 0a"},
    {REQUEST, TENDON_OBVIOUS_FW_CONFIRM, "e0510f00 02"},
    {REQUEST, TENDON_OBVIOUS_FW_CONFIRM, "ffffffff 01"},
    {RESPONSE, TENDON_OBVIOUS_FW_STATE, "e0510f00 00 ffffffff 00 f84d0f00 03000000 1d01"},
    {RESPONSE, TENDON_OBVIOUS_FW_STATE, "e0510f00 03 ffffffff 00 f84d0f00 03000000 1d01"},
    {RESPONSE, TENDON_OBVIOUS_FW_STATE, "e0510f00 02 ffffffff 03 f84d0f00 03000000 1d01"},
    {RESPONSE, TENDON_OBVIOUS_FW_STATE, "00ca9a3b 02 ffffffff 00 f84d0f00 03000000 1d01"},
    {REQUEST, TENDON_OBVIOUS_REBOOT, "02 01"},
    {REQUEST, TENDON_OBVIOUS_REBOOT, "00 00"},
    {REQUEST, TENDON_OBVIOUS_REBOOT, "00 04"},
    {EVENT, TENDON_OBVIOUS_EVT_REBOOTING, "00 e803"},
    {EVENT, TENDON_OBVIOUS_EVT_REBOOTING, "06 e803"},
    {EVENT, TENDON_OBVIOUS_EVT_XFER_PROGRESS, "04030201 21000000 20000000"},
    {EVENT, TENDON_OBVIOUS_EVT_FW_TRIAL, "ffffffff 2c01"},
};

static void fields_out_of_their_range(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        block bytes = block_hex(wrong[i].hex);
        assert_int_equal(decode(wrong[i].flags, wrong[i].opcode, 0, bytes.data, bytes.length),
                         TENDON_OBVIOUS_ERROR_BAD_PARAM);
        free(bytes.data);
    }
    uint8_t long_echo[65] = {0};
    assert_int_equal(decode(REQUEST, TENDON_OBVIOUS_PING, 0, long_echo, 64), TENDON_OK);
    assert_int_equal(decode(REQUEST, TENDON_OBVIOUS_PING, 0, long_echo, 65), TENDON_OBVIOUS_ERROR_BAD_LENGTH);
    assert_int_equal(decode(REQUEST, TENDON_OBVIOUS_XFER_DATA, 0, long_echo, 8), TENDON_OBVIOUS_ERROR_BAD_LENGTH);
    assert_int_equal(decode(REQUEST, TENDON_OBVIOUS_XFER_DATA, 0, long_echo, 9), TENDON_OK);
    /* An encoder rejects what a decoder would reject. */
    const tendon_obvious_frame frame = {.opcode = TENDON_OBVIOUS_REBOOT, .corr = 1};
    payload.reboot.mode = 2;
    payload.reboot.reason = 1;
    uint8_t out[64];
    assert_int_equal(tendon_obvious_encode_frame(&frame, &payload, out, sizeof out), TENDON_OBVIOUS_ERROR_BAD_PARAM);
}

/* The absent version and the unknown battery level are values of the device information alone. */
static void values_that_mean_unknown(void **state) {
    (void)state;
    block b = block_hex("d2040000 8877665544332211 ffffffff ffffffff ffffffff ffffffff 2900000000000000 0f ff ff ff");
    assert_int_equal(decode(RESPONSE, TENDON_OBVIOUS_GET_DEVICE_INFO, 0, b.data, b.length), TENDON_OK);
    assert_int_equal(payload.device_info.fw, TENDON_OBVIOUS_VERSION_ABSENT);
    free(b.data);
}

static void mal_I05_opcodes_fit_the_type_of_the_frame(void **state) {
    (void)state;
    static const uint8_t all[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x10, 0x11, 0x12, 0x20, 0x21,
                                  0x22, 0x23, 0x24, 0x30, 0x31, 0x32, 0x33, 0x80, 0x81, 0x82, 0x83};
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        bool known = memchr(all, (int)opcode, sizeof all) != NULL;
        tendon_status request = decode(REQUEST, (uint8_t)opcode, 0, NULL, 0);
        tendon_status response = decode(RESPONSE, (uint8_t)opcode, 0, NULL, 0);
        tendon_status event = decode(EVENT, (uint8_t)opcode, 0, NULL, 0);
        assert_int_equal(request == TENDON_OBVIOUS_ERROR_UNKNOWN_OPCODE, !known || opcode >= 0x80);
        assert_int_equal(response == TENDON_OBVIOUS_ERROR_UNKNOWN_OPCODE, !known || opcode >= 0x80);
        assert_int_equal(event == TENDON_OBVIOUS_ERROR_UNKNOWN_OPCODE, !known || opcode < 0x80);
    }
    uint8_t out[64];
    const tendon_obvious_frame frame = {.opcode = 0x07, .corr = 1};
    assert_int_equal(tendon_obvious_encode_frame(&frame, &payload, out, sizeof out),
                     TENDON_OBVIOUS_ERROR_UNKNOWN_OPCODE);
}

static void errors_have_no_payload_but_the_offset(void **state) {
    (void)state;
    static const uint8_t bytes[] = {0x90, 1, 0, 0, 0};
    for (unsigned status = 1; status < 256; status++) {
        for (size_t length = 0; length <= 5; length++) {
            assert_int_equal(decode(RESPONSE, TENDON_OBVIOUS_XFER_DATA, (uint8_t)status, bytes, length),
                             length == (status == 16 ? 4u : 0u) ? TENDON_OK : TENDON_OBVIOUS_ERROR_BAD_LENGTH);
        }
    }
    assert_int_equal(decode(RESPONSE, TENDON_OBVIOUS_XFER_DATA, 16, bytes, 4), TENDON_OK);
    assert_int_equal(payload.next.offset, 400);
    /* 8.36: the whole frame. */
    const tendon_obvious_frame frame = {.flags = 5, .opcode = TENDON_OBVIOUS_XFER_DATA, .corr = 13, .status = 16};
    uint8_t out[64];
    tendon_status length = tendon_obvious_encode_frame(&frame, &payload, out, sizeof out);
    assert_true(length > 0);
    assert_hex(out, (size_t)length, "4f4201050d0021100400900100003e425a71");
    const tendon_obvious_frame disabled = {.flags = 5, .opcode = TENDON_OBVIOUS_FEATURE_TOGGLE, .corr = 5, .status = 9};
    length = tendon_obvious_encode_frame(&disabled, &payload, out, sizeof out);
    assert_hex(out, (size_t)length, "4f42010505001109000025aa7455");
}

static void lists_are_written_and_read(void **state) {
    (void)state;
    for (uint8_t size = 2; size <= 4; size++) {
        uint8_t items[64 * 4], out[300];
        for (unsigned i = 0; i < 64; i++) {
            const tendon_obvious_feature feature = {(uint16_t)(i * 16 + 1), 1, (uint8_t)(1 + i % 2)};
            tendon_obvious_put_feature(feature, size, items + i * size);
        }
        const tendon_obvious_frame frame = {.flags = size == 4 ? RESPONSE : REQUEST,
                                            .opcode = size == 3 ? TENDON_OBVIOUS_FEATURE_TOGGLE
                                                                : TENDON_OBVIOUS_FEATURE_STATUS,
                                            .corr = 9};
        payload.features.items = items;
        payload.features.count = 64;
        tendon_status length = tendon_obvious_encode_frame(&frame, &payload, out, sizeof out);
        assert_int_equal(length, 15 + 64 * size);
        tendon_obvious_frame again;
        assert_int_equal(tendon_obvious_decode_frame(out, (size_t)length, 4096, &again), TENDON_OK);
        assert_int_equal(tendon_obvious_decode_payload(&again, &payload), TENDON_OK);
        tendon_obvious_feature last = tendon_obvious_feature_at(&payload, 63);
        assert_int_equal(last.id, 1009);
        assert_int_equal(last.enable, size == 4);
        assert_int_equal(last.toggle, size > 2 ? 2 : 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mal_I01_I02_I03_every_payload_has_exactly_its_length),
        cmocka_unit_test(every_payload_is_encoded_as_it_was),
        cmocka_unit_test(fields_have_the_values_of_the_bytes),
        cmocka_unit_test(fields_out_of_their_range),
        cmocka_unit_test(values_that_mean_unknown),
        cmocka_unit_test(mal_I05_opcodes_fit_the_type_of_the_frame),
        cmocka_unit_test(errors_have_no_payload_but_the_offset),
        cmocka_unit_test(lists_are_written_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
