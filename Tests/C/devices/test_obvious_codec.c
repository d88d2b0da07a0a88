/* SPDX-License-Identifier: MIT */
/* Obvious: statuses, profile, versions, card numbers, frames; bytes of the specification's worked examples. */
#include "test_bytes.h"

#include "tendon/base/crc.h"
#include "tendon/devices/obvious.h"

/* ---- CRC ---- */

/* Bit by bit, as the specification defines it. */
static uint32_t plain_crc(uint32_t crc, const uint8_t *data, size_t length) {
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc & 1u) != 0 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
        }
    }
    return ~crc;
}

static void crc_is_the_plain_one_at_every_split(void **state) {
    (void)state;
    assert_int_equal(tendon_crc32(0, (const uint8_t *)"123456789", 9), 0xCBF43926);
    dice d = {7};
    for (size_t length = 0; length < 70; length++) {
        block bytes = block_random(&d, length);
        uint32_t whole = plain_crc(0, bytes.data, length);
        assert_int_equal(tendon_crc32(0, bytes.data, length), whole);
        for (size_t split = 0; split <= length; split++) {
            uint32_t prefix = tendon_crc32(0, bytes.data, split);
            assert_int_equal(prefix, plain_crc(0, bytes.data, split));
            assert_int_equal(tendon_crc32(prefix, bytes.data + split, length - split), whole);
        }
        free(bytes.data);
    }
}

/* ---- statuses ---- */

static void statuses_have_names_and_texts(void **state) {
    (void)state;
    assert_string_equal(tendon_obvious_status_name(TENDON_OBVIOUS_ERROR_SEG_CONFLICT), "SEG_CONFLICT");
    assert_string_equal(tendon_obvious_status_name(TENDON_OBVIOUS_ERROR_REPLAY), "REPLAY");
    assert_string_equal(tendon_obvious_status_name(TENDON_ERROR_TIMEOUT), "ERROR_TIMEOUT");
    assert_string_equal(tendon_obvious_status_text(TENDON_OBVIOUS_ERROR_WRONG_DEVICE), "made for another device");
    assert_string_equal(tendon_obvious_status_text(TENDON_OBVIOUS_ERROR_FRAME_BAD_STATUS), "malformed frame");
    assert_string_equal(tendon_obvious_status_text(TENDON_OBVIOUS_ERROR_CTL_BAD_TYPE), "malformed segment");
    /* the first and the last one of each range, and the numbers beside them */
    static const struct {
        unsigned code;
        const char *name;
    } codes[] = {{0, NULL},   {1, "UNKNOWN_OPCODE"},    {26, "FW_TOO_OLD"},       {27, NULL},
                 {31, NULL},  {32, "FRAME_BAD_LENGTH"}, {38, "FRAME_BAD_STATUS"}, {39, NULL},
                 {47, NULL},  {48, "SEG_SHORT"},        {60, "SEG_TIMEOUT"},      {61, NULL},
                 {63, NULL},  {64, "CTL_BAD_LENGTH"},   {66, "CTL_BAD_TYPE"},     {67, NULL},
                 {79, NULL},  {80, "LINK_ERROR"},       {85, "VER_RANGE"},        {86, NULL},
                 {254, NULL}, {255, "INTERNAL"}};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        tendon_status status = TENDON_STATUS(TENDON_LAYER_OBVIOUS, (int)codes[i].code);
        const char *name = codes[i].name, *text = tendon_obvious_status_text(status);
        assert_string_equal(tendon_obvious_status_name(status), name != NULL ? name : tendon_status_name(status));
        assert_int_equal(strcmp(text, tendon_status_text(status)) == 0, name == NULL);
    }
    assert_string_equal(tendon_obvious_status_text(TENDON_ERROR_TIMEOUT), tendon_status_text(TENDON_ERROR_TIMEOUT));
    assert_int_equal(tendon_obvious_status_from_wire(0), TENDON_OK);
    for (unsigned wire = 1; wire < 256; wire++) {
        tendon_status status = tendon_obvious_status_from_wire((uint8_t)wire);
        assert_int_equal(status, wire <= 26 ? -(11 * 256 + (int)wire) : TENDON_OBVIOUS_ERROR_INTERNAL);
        assert_true(strlen(tendon_obvious_status_text(status)) > 10);
    }
}

/* ---- profile ---- */

static void profile_values(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        tendon_status status;
        uint16_t flags;
    } rows[] = {
        {"4f4750010000", TENDON_OK, 0},
        {"4f4750010300", TENDON_OK, TENDON_OBVIOUS_FLAG_RECOVERY | TENDON_OBVIOUS_FLAG_TRIAL},
        {"4f475001feff 112233", TENDON_OK, 0xFFFE},
        {"4f4750020000", TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE, 0},
        {"4f4750000000", TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE, 0},
        {"4f4751010000", TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE, 0},
        {"4f47500100", TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE, 0},
        {"", TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        block value = block_hex(rows[i].hex);
        uint16_t flags = 0;
        assert_int_equal(tendon_obvious_decode_profile(value.data, value.length, &flags), rows[i].status);
        assert_int_equal(flags, rows[i].flags);
        free(value.data);
    }
}

static void uuid_texts(void **state) {
    (void)state;
    static const char *const good[] = {"180F", "180f", "0000180F", "0000180f-0000-1000-8000-00805F9B34FB"};
    static const char *const bad[] = {"",
                                      "180",
                                      "0x180F",
                                      "0000180",
                                      "0000180F0",
                                      "0x0000180F",
                                      "180G",
                                      "0000180f-0000-1000-8000-00805F9B34F",
                                      "0000180f00000000100080000805F9B34FB00",
                                      "0x18",
                                      "0x180000"};
    tendon_uuid expected = tendon_uuid_from_u16(0x180F), uuid;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(tendon_obvious_parse_uuid(good[i], strlen(good[i]), &uuid), TENDON_OK);
        assert_true(tendon_uuid_equal(&uuid, &expected));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(tendon_obvious_parse_uuid(bad[i], strlen(bad[i]), &uuid), TENDON_OBVIOUS_ERROR_UUID_FORMAT);
    }
}

static void the_profile(void **state) {
    (void)state;
    tendon_obvious_gatt gatt = tendon_obvious_gatt_defaults();
    char text[TENDON_UUID_STRING_SIZE];
    assert_string_equal(tendon_uuid_format(&gatt.service, text), "9c190001-c113-4e20-95f4-2602d4fc9f35");
    assert_string_equal(tendon_uuid_format(&gatt.data, text), "9c190002-c113-4e20-95f4-2602d4fc9f35");
    assert_string_equal(tendon_uuid_format(&gatt.status, text), "9c190003-c113-4e20-95f4-2602d4fc9f35");
    static const uint8_t value[] = {'O', 'G', 'P', 1, 2, 0};
    uint16_t flags = 0;
    assert_int_equal(tendon_obvious_decode_profile(value, 6, &flags), TENDON_OK);
    assert_int_equal(flags, 2);
    assert_int_equal(tendon_obvious_decode_profile(value, 5, &flags), TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE);
    assert_int_equal(tendon_obvious_decode_profile(NULL, 0, &flags), TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE);
}

/* ---- versions ---- */

static void versions(void **state) {
    (void)state;
    static const struct {
        const char *text, *shortest;
        uint32_t code;
    } good[] = {{"1.3.0", "1.3.0", 1003000}, {"001.03.0", "1.3.0", 1003000}, {"999.999.999", "999.999.999", 999999999},
                {"0.12.7", "0.12.7", 12007}, {"0.0.0", "0.0.0", 0},          {"10.100.10", "10.100.10", 10100010}};
    static const char *const bad[] = {"",       "1",       "1.2",      "1.2.",     ".1.2",     "1..2",
                                      "1.2.3.", "1.2.3.4", "1000.0.0", "1.0000.0", "1.0.0000", "+1.2.3",
                                      " 1.2.3", "1.2.3 ",  "1,2,3",    "a.b.c",    "-1.2.3",   "1.2.x"};
    char text[TENDON_OBVIOUS_VERSION_SIZE];
    uint32_t code = 5;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(tendon_obvious_parse_version(good[i].text, strlen(good[i].text), &code), TENDON_OK);
        assert_int_equal(code, good[i].code);
        assert_int_equal(tendon_obvious_format_version(code, text), strlen(good[i].shortest));
        assert_string_equal(text, good[i].shortest);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        block exact = block_copy(bad[i], strlen(bad[i]));
        code = 5;
        assert_int_equal(tendon_obvious_parse_version((const char *)exact.data, exact.length, &code),
                         TENDON_OBVIOUS_ERROR_VER_FORMAT);
        assert_int_equal(code, 5);
        free(exact.data);
    }
    assert_int_equal(tendon_obvious_parse_version("1.2.3", 1, &code), TENDON_OBVIOUS_ERROR_VER_FORMAT);
    assert_int_equal(tendon_obvious_parse_version("1.2.3", 3, &code), TENDON_OBVIOUS_ERROR_VER_FORMAT);
    assert_int_equal(tendon_obvious_parse_version("1.2.3\0", 6, &code), TENDON_OBVIOUS_ERROR_VER_FORMAT);
    assert_int_equal(tendon_obvious_format_version(1000000000, text), TENDON_OBVIOUS_ERROR_VER_RANGE);
    assert_int_equal(tendon_obvious_format_version(TENDON_OBVIOUS_VERSION_ABSENT, text),
                     TENDON_OBVIOUS_ERROR_VER_RANGE);
}

/* ---- frames ---- */

static void frames_of_the_specification(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        uint8_t flags, opcode, status;
        uint16_t corr;
        const char *payload;
    } rows[] = {
        {"4f420100010001000e00010100100800010203040506070829059b94", 0, TENDON_OBVIOUS_HELLO, 0, 1,
         "0101001008000102030405060708"},
        {"4f420101010001000c0001001008ff000000d4c3b2a142fbf71b", 1, TENDON_OBVIOUS_HELLO, 0, 1,
         "01001008ff000000d4c3b2a1"},
        {"4f420100020002000000c4763457", 0, TENDON_OBVIOUS_GET_DEVICE_INFO, 0, 2, ""},
        {"4f42010505001109000025aa7455", 5, TENDON_OBVIOUS_FEATURE_TOGGLE, 9, 5, ""},
        {"4f42010200008100030002e803284341e9", 2, TENDON_OBVIOUS_EVT_REBOOTING, 0, 0, "02e803"},
        {"4f4201000201030000001138e8d2", 0, TENDON_OBVIOUS_PING, 0, 0x0102, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        block bytes = block_hex(rows[i].hex);
        tendon_obvious_frame frame;
        assert_int_equal(tendon_obvious_decode_frame(bytes.data, bytes.length, 4096, &frame), TENDON_OK);
        assert_int_equal(frame.flags, rows[i].flags);
        assert_int_equal(frame.opcode, rows[i].opcode);
        assert_int_equal(frame.status, rows[i].status);
        assert_int_equal(frame.corr, rows[i].corr);
        assert_hex(frame.payload, frame.payload_length, rows[i].payload);
        /* And back. */
        uint8_t out[64];
        memcpy(out + TENDON_OBVIOUS_FRAME_HEADER, frame.payload, frame.payload_length);
        assert_int_equal(tendon_obvious_seal_frame(&frame, frame.payload_length, out, bytes.length), bytes.length);
        assert_hex(out, bytes.length, rows[i].hex);
        for (size_t capacity = 0; capacity < bytes.length; capacity++) {
            assert_int_equal(tendon_obvious_seal_frame(&frame, frame.payload_length, out, capacity),
                             TENDON_ERROR_BUFFER_TOO_SMALL);
        }
        /* Truncated at each position, and each byte changed. */
        for (size_t length = 0; length < bytes.length; length++) {
            block cut = block_copy(bytes.data, length);
            assert_int_equal(tendon_obvious_decode_frame(cut.data, length, 4096, &frame),
                             TENDON_OBVIOUS_ERROR_FRAME_BAD_LENGTH);
            free(cut.data);
            bytes.data[length] ^= 1;
            tendon_status expected = length < 2                   ? TENDON_OBVIOUS_ERROR_FRAME_BAD_MAGIC
                                     : length == 8 || length == 9 ? TENDON_OBVIOUS_ERROR_FRAME_BAD_LENGTH
                                                                  : TENDON_OBVIOUS_ERROR_FRAME_BAD_CRC;
            assert_int_equal(tendon_obvious_decode_frame(bytes.data, bytes.length, 4096, &frame), expected);
            bytes.data[length] ^= 1;
        }
        free(bytes.data);
    }
}

static tendon_status decode_with(uint8_t version, uint8_t flags, uint16_t corr, uint8_t status) {
    uint8_t bytes[14] = {'O', 'B', version, flags, (uint8_t)corr, (uint8_t)(corr >> 8), 3, status};
    uint32_t crc = tendon_crc32(0, bytes, 10);
    for (int i = 0; i < 4; i++) {
        bytes[10 + i] = (uint8_t)(crc >> 8 * i);
    }
    tendon_obvious_frame frame;
    return tendon_obvious_decode_frame(bytes, sizeof bytes, 4096, &frame);
}

static void frame_headers_are_checked_in_order(void **state) {
    (void)state;
    assert_int_equal(decode_with(1, 0, 1, 0), TENDON_OK);
    assert_int_equal(decode_with(2, 0xFF, 0, 9), TENDON_OBVIOUS_ERROR_FRAME_BAD_VERSION);
    assert_int_equal(decode_with(0, 0, 1, 0), TENDON_OBVIOUS_ERROR_FRAME_BAD_VERSION);
    for (unsigned flags = 0; flags < 256; flags++) {
        for (unsigned corr = 0; corr < 2; corr++) {
            for (unsigned status = 0; status < 2; status++) {
                bool event = (flags & 2) != 0, response = (flags & 1) != 0, error = (flags & 4) != 0;
                tendon_status expected = TENDON_OK;
                if (flags > 7 || (event && response)) {
                    expected = TENDON_OBVIOUS_ERROR_FRAME_RESERVED;
                } else if ((corr == 0) != event) {
                    expected = TENDON_OBVIOUS_ERROR_FRAME_BAD_CORR;
                } else if (response ? error != (status != 0) : error || status != 0) {
                    expected = TENDON_OBVIOUS_ERROR_FRAME_BAD_STATUS;
                }
                assert_int_equal(decode_with(1, (uint8_t)flags, (uint16_t)(corr * 0x100), (uint8_t)status), expected);
            }
        }
    }
}

/* The length of the payload in a frame whose CRC is right: every one but the frame's own is refused. */
static void mal_I04_a_payload_of_another_length(void **state) {
    (void)state;
    for (size_t payload = 0; payload <= 24; payload++) {
        for (unsigned stated = 0; stated <= 0xFFFF; stated += stated < 64 ? 1 : 251) {
            uint8_t bytes[14 + 24] = {'O', 'B', 1, 0, 1, 0, 3, 0, (uint8_t)stated, (uint8_t)(stated >> 8)};
            uint32_t crc = tendon_crc32(0, bytes, 10 + payload);
            for (int i = 0; i < 4; i++) {
                bytes[10 + payload + (size_t)i] = (uint8_t)(crc >> 8 * i);
            }
            block b = block_copy(bytes, 14 + payload);
            tendon_obvious_frame frame;
            assert_int_equal(tendon_obvious_decode_frame(b.data, b.length, 4096, &frame),
                             stated == payload ? TENDON_OK : TENDON_OBVIOUS_ERROR_FRAME_BAD_LENGTH);
            free(b.data);
        }
    }
}

static void frames_have_a_longest_length(void **state) {
    (void)state;
    static uint8_t bytes[TENDON_OBVIOUS_FRAME_MAX + 1];
    tendon_obvious_frame frame = {.opcode = TENDON_OBVIOUS_XFER_DATA, .corr = 1};
    assert_int_equal(tendon_obvious_seal_frame(&frame, 4082, bytes, sizeof bytes), 4096);
    assert_int_equal(tendon_obvious_seal_frame(&frame, 4083, bytes, sizeof bytes), TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(tendon_obvious_decode_frame(bytes, 4096, 4096, &frame), TENDON_OK);
    assert_int_equal(frame.payload_length, 4082);
    assert_int_equal(tendon_obvious_decode_frame(bytes, 4096, 4095, &frame), TENDON_OBVIOUS_ERROR_FRAME_BAD_LENGTH);
    assert_int_equal(tendon_obvious_seal_frame(&frame, 243, bytes, sizeof bytes), 257);
    assert_int_equal(tendon_obvious_decode_frame(bytes, 257, 256, &frame), TENDON_OBVIOUS_ERROR_FRAME_BAD_LENGTH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_is_the_plain_one_at_every_split),
        cmocka_unit_test(statuses_have_names_and_texts),
        cmocka_unit_test(profile_values),
        cmocka_unit_test(uuid_texts),
        cmocka_unit_test(the_profile),
        cmocka_unit_test(versions),
        cmocka_unit_test(frames_of_the_specification),
        cmocka_unit_test(frame_headers_are_checked_in_order),
        cmocka_unit_test(mal_I04_a_payload_of_another_length),
        cmocka_unit_test(frames_have_a_longest_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
