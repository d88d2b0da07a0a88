/* SPDX-License-Identifier: MIT */
/* Simulated Obvious device: attributes, security, HELLO, the requests without transfers. */
#include "obvious_fixture.h"

static void att(size_t which, const char *request, const char *response) {
    gateway *g = &o.gateways[which];
    block pdu = block_hex(request);
    g->count = 0;
    (void)tendon_att_bearer_receive(&g->bearer, pdu.data, pdu.length, o.now);
    free(pdu.data);
    assert_int_equal(g->count, response[0] != 0);
    assert_hex(g->queue[0].bytes, g->count > 0 ? g->queue[0].length : 0, response);
    g->count = 0;
}

/* A central that is not encrypted. */
static void connect_plain(size_t which) {
    gateway *g = &o.gateways[which];
    memset(g, 0, sizeof *g);
    tendon_att_bearer_init(&g->bearer, (tendon_bearer_io){0}, 23);
    obvious_connect(which, 23);
    tendon_gatt_connection *connection = &o.device.centrals.places[which].connection;
    connection->security = TENDON_GATT_SECURITY_NONE;
    connection->bonded = false;
}

/* Pages of 256 bytes: twice 33 for features, 2 for records, 1 for the boot, 4 for an image; 33 for a package. */
static void flash_memory_is_counted_in_whole_pages(void **state) {
    (void)state;
    static const struct {
        uint32_t page_size, image_max, size;
    } cases[] = {{256, 1000, 28928}, {256, 1024, 28928}, {256, 1025, 29440}, {4096, 65536, 192512}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(tendon_simulated_obvious_flash_size(cases[i].page_size, cases[i].image_max), cases[i].size);
    }
    assert_int_equal(TENDON_SIMULATED_OBVIOUS_FLASH_SIZE(256, 1000), 28928);
}

static void it_advertises_the_service(void **state) {
    (void)state;
    uint8_t out[31];
    obvious_new(NULL);
    tendon_status length = o.seam.ops->advertisement(o.seam.context, out, sizeof out);
    assert_int_equal(length, 21);
    assert_hex(out, 21, "02 01 06 11 07 35 9f fc d4 02 26 f4 95 20 4e 13 c1 01 00 19 9c");
    length = o.seam.ops->scan_response(o.seam.context, out, sizeof out);
    assert_hex(out, (size_t)length, "12 09 4f 62 76 69 6f 75 73 20 53 69 6d 75 6c 61 74 6f 72");
    assert_int_equal(o.seam.ops->advertisement(o.seam.context, out, 20), TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_string_equal(o.seam.ops->name, "obvious");
}

static void ogp_requires_encryption(void **state) {
    (void)state;
    obvious_new(NULL);
    connect_plain(0);
    char text[64];
    snprintf(text, sizeof text, "0a %02x 00", o.device.status_handle);
    char error[64];
    snprintf(error, sizeof error, "01 0a %02x 00 05", o.device.status_handle);
    att(0, text, error); /* Insufficient Authentication: no key */
    o.device.centrals.places[0].connection.bonded = true;
    snprintf(error, sizeof error, "01 0a %02x 00 0f", o.device.status_handle);
    att(0, text, error); /* Insufficient Encryption: there is a key */
    snprintf(text, sizeof text, "52 %02x 00 70 00 00 00 0e 00", o.device.data_handle);
    att(0, text, "");
    assert_int_equal(o.device.centrals.places[0].connection.counters.refused_commands, 1);
    assert_int_equal(o.device.counters.segment_errors, 0);
    snprintf(text, sizeof text, "12 %02x 00 01 00", o.device.data_handle + 1);
    att(0, text, "13"); /* its CCCD is open */
    o.seam.ops->paired(o.seam.context, &o.gateways[0].bearer, o.now);
    snprintf(text, sizeof text, "0a %02x 00", o.device.status_handle);
    att(0, text, "0b 4f 47 50 01 00 00"); /* 8.37 */
    assert_int_equal(o.seam.ops->pairing(o.seam.context), TENDON_PERIPHERAL_PAIRABLE);
    o.device.options.rejects_pairing = true;
    assert_int_equal(o.seam.ops->pairing(o.seam.context), 0);
}

static void information_and_battery_are_open(void **state) {
    (void)state;
    obvious_new(NULL);
    connect_plain(0);
    char text[64];
    snprintf(text, sizeof text, "0a %02x 00", o.device.firmware_handle);
    att(0, text, "0b 31 2e 33 2e 30"); /* 1.3.0 */
    snprintf(text, sizeof text, "0a %02x 00", o.device.firmware_handle - 2);
    att(0, text, "0b 31 31 32 32 33 33 34 34 35 35 36 36 37 37 38 38");
    snprintf(text, sizeof text, "0a %02x 00", o.device.battery_handle);
    att(0, text, "0b 57");
    snprintf(text, sizeof text, "12 %02x 00 01 00", o.device.battery_handle + 1);
    att(0, text, "13");
    tendon_simulated_obvious_set_battery(&o.device, 19, o.now);
    obvious_run(o.now);
    assert_int_equal(o.gateways[0].battery, 19);
}

static void parts_can_be_absent(void **state) {
    (void)state;
    uint8_t out[31];
    tendon_simulated_obvious_options options = {.lacks = TENDON_SIMULATED_OBVIOUS_NO_SERVICE};
    obvious_new(&options);
    assert_int_equal(o.device.data_handle, 0);
    assert_int_equal(o.device.status_handle, 0);
    assert_int_equal(o.seam.ops->advertisement(o.seam.context, out, sizeof out), 3);
    options.lacks = TENDON_SIMULATED_OBVIOUS_NO_DATA | TENDON_SIMULATED_OBVIOUS_NO_BATTERY;
    obvious_new(&options);
    assert_int_equal(o.device.data_handle, 0);
    assert_int_equal(o.device.battery_handle, 0);
    assert_int_not_equal(o.device.status_handle, 0);
    options.lacks = TENDON_SIMULATED_OBVIOUS_NO_STATUS | TENDON_SIMULATED_OBVIOUS_NO_INFORMATION;
    obvious_new(&options);
    assert_int_equal(o.device.status_handle, 0);
    assert_int_equal(o.device.firmware_handle, 0);
    assert_int_not_equal(o.device.data_handle, 0);
}

static void options_are_checked(void **state) {
    (void)state;
    static tendon_simulated_obvious device;
    obvious_new(NULL);
    tendon_simulated_obvious_options good = o.device.options, bad = good;
    assert_int_equal(tendon_simulated_obvious_init(&device, &good), TENDON_OK);
    assert_int_equal(tendon_simulated_obvious_init(&device, NULL), TENDON_ERROR_INVALID_ARGUMENT);
    bad.flash = NULL;
    assert_int_equal(tendon_simulated_obvious_init(&device, &bad), TENDON_ERROR_INVALID_ARGUMENT);
    bad = good;
    bad.keys = NULL;
    assert_int_equal(tendon_simulated_obvious_init(&device, &bad), TENDON_ERROR_INVALID_ARGUMENT);
    bad = good;
    bad.frame_max = 255;
    assert_int_equal(tendon_simulated_obvious_init(&device, &bad), TENDON_ERROR_INVALID_ARGUMENT);
    bad = good;
    bad.battery = 101;
    assert_int_equal(tendon_simulated_obvious_init(&device, &bad), TENDON_ERROR_INVALID_ARGUMENT);
    bad = good;
    bad.image_max = OBVIOUS_IMAGE_MAX + 1;
    assert_int_equal(tendon_simulated_obvious_init(&device, &bad), TENDON_ERROR_BUFFER_TOO_SMALL);
    bad = good;
    bad.image = NULL; /* one of its own, of 128 bytes */
    bad.image_max = 127;
    assert_int_equal(tendon_simulated_obvious_init(&device, &bad), TENDON_ERROR_INVALID_ARGUMENT);
    bad.image_max = 128;
    assert_int_equal(tendon_simulated_obvious_init(&device, &bad), TENDON_OK);
    bad = good;
    bad.image = o.memory;
    assert_int_equal(tendon_simulated_obvious_init(&device, &bad), TENDON_ERROR_INVALID_ARGUMENT);
}

/* 8.2 to 8.7, byte by byte; the boot id is the example's. */
static void the_examples_of_hello_and_device_information(void **state) {
    (void)state;
    gateway *g = &o.gateways[0];
    obvious_new(NULL);
    obvious_connect(0, 23);
    o.device.boot_id = 0xA1B2C3D4;
    o.device.centrals.places[0].connection.bonded = false;
    block request = block_hex("4f420100010001000e00010100100800010203040506070829059b94");
    obvious_send_frame(0, request.data, request.length);
    free(request.data);
    obvious_run(o.now);
    assert_hex(g->frame, g->length, "4f420101010001000c0001001008ff000000d4c3b2a142fbf71b");
    request = block_hex("4f420100020002000000c4763457");
    obvious_send_frame(0, request.data, request.length);
    free(request.data);
    obvious_run(o.now);
    assert_hex(g->frame, g->length,
               "4f420101020002002800d20400008877665544332211f84d0f0042420f0069915b0050690f00290000000000000001570201"
               "7ec6def6");
}

static void hello_comes_first(void **state) {
    (void)state;
    obvious_new(NULL);
    obvious_connect(0, 64);
    assert_int_equal(obvious_ask(0, 0x03, "x", 1), 5); /* NOT_READY */
    assert_int_equal(obvious_ask(0, 0x7F, "", 0), 5);
    assert_int_equal(obvious_ask_hex(0, 0x01, "02 03 00 10 08 00 0000000000000000"), 6); /* NOT_SUPPORTED */
    assert_int_equal(obvious_ask(0, 0x03, "x", 1), 5);
    obvious_hello(0);
    assert_int_equal(obvious_ask(0, 0x03, "x", 1), 0);
    obvious_expect(0, "78");
    /* The request that was NOT_READY is executed when it is repeated. */
    obvious_disconnect(0);
    obvious_connect(0, 64);
    uint8_t frame[32];
    obvious_send_frame(0, frame, obvious_seal(frame, 0, 9, 0x03, (const uint8_t *)"y", 1));
    obvious_run(o.now);
    assert_int_equal(o.gateways[0].frame[7], 5);
    obvious_hello(0);
    obvious_send_frame(0, frame, obvious_seal(frame, 0, 9, 0x03, (const uint8_t *)"y", 1));
    obvious_run(o.now);
    assert_int_equal(o.gateways[0].frame[7], 0);
}

static void hello_checks_its_fields(void **state) {
    (void)state;
    static const struct {
        const char *payload;
        int status;
    } cases[] = {
        {"01 01 00 10 08 00 01 02 03 04 05 06 07", 2},    {"01 01 00 10 08 00 01 02 03 04 05 06 07 08 09", 2},
        {"00 01 00 10 08 00 01 02 03 04 05 06 07 08", 3}, {"02 01 00 10 08 00 01 02 03 04 05 06 07 08", 3},
        {"01 01 ff 00 08 00 01 02 03 04 05 06 07 08", 3}, {"01 01 01 10 08 00 01 02 03 04 05 06 07 08", 3},
        {"01 01 00 10 00 00 01 02 03 04 05 06 07 08", 3}, {"01 01 00 10 21 00 01 02 03 04 05 06 07 08", 3},
        {"01 01 00 10 08 01 01 02 03 04 05 06 07 08", 3}, {"01 ff 00 01 20 00 01 02 03 04 05 06 07 08", 0},
    };
    obvious_new(NULL);
    obvious_connect(0, 64);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(obvious_ask_hex(0, 0x01, cases[i].payload), cases[i].status);
    }
}

/* The lower frame_max applies: 60 features fit 256 bytes, 64 do not. */
static void the_lower_limit_of_a_frame_applies(void **state) {
    (void)state;
    uint8_t list[1 + 2 * 64] = {60};
    obvious_new(NULL);
    obvious_connect(0, 247);
    assert_int_equal(obvious_ask_hex(0, 0x01, "01 01 00 01 08 00 01 02 03 04 05 06 07 08"), 0);
    for (size_t i = 0; i < 64; i++) {
        list[1 + 2 * i] = 16;
    }
    assert_int_equal(obvious_ask(0, 0x10, list, 121), 0);
    list[0] = 64;
    assert_int_equal(obvious_ask(0, 0x10, list, 129), 17); /* TOO_LARGE */
    assert_int_equal(o.gateways[0].length, 14);
    assert_int_equal(obvious_begin(0, 1, 0, list, 129, NULL), 0);
    size_t length;
    const uint8_t *answer = obvious_payload(0, &length);
    assert_int_equal(answer[8] | answer[9] << 8, 256 - 14 - 8);
}

/* The request fits, its response does not: nothing has changed then. */
static void toggles_whose_response_is_too_large_change_nothing(void **state) {
    (void)state;
    uint8_t list[1 + 3 * 64];
    obvious_new(NULL);
    obvious_connect(0, 247);
    assert_int_equal(obvious_ask_hex(0, 0x01, "01 01 00 01 08 00 01 02 03 04 05 06 07 08"), 0);
    static const uint8_t toggles[] = {0x01, 0x10, 0x00};
    size_t length;
    assert_int_equal(obvious_ask(0, 0x10, toggles, sizeof toggles), 0);
    const uint8_t before = obvious_payload(0, &length)[4];
    for (uint8_t count = 60; count <= 61; count++) {
        list[0] = count;
        for (size_t i = 0; i < count; i++) {
            memcpy(&list[1 + 3 * i], "\x10\x00\x80", 3); /* flip */
        }
        assert_int_equal(obvious_ask(0, 0x11, list, 1 + 3u * count), count == 60 ? 0 : 17); /* TOO_LARGE */
        assert_int_equal(obvious_ask(0, 0x10, toggles, sizeof toggles), 0);
        assert_int_equal(obvious_payload(0, &length)[4], before); /* after an even number of flips, and after none */
    }
}

static void lengths_and_fields_are_checked(void **state) {
    (void)state;
    static const struct {
        uint8_t opcode;
        const char *payload;
        int status;
    } cases[] = {
        {0x02, "00", 2},
        {0x04, "00", 2},
        {0x05, "00", 2},
        {0x06, "00 00 00", 2},
        {0x10, "", 2},
        {0x10, "00", 3},
        {0x10, "41", 3},
        {0x10, "01 10", 2},
        {0x10, "01 00 00", 3},
        {0x10, "01 01 04", 3},
        {0x10, "01 10 00 00", 2},
        {0x10, "01 63 00", 0},
        {0x11, "", 2},
        {0x11, "00", 3},
        {0x11, "41", 3},
        {0x11, "01 10 00", 2},
        {0x11, "01 10 00 00", 3},
        {0x11, "01 10 00 03", 3},
        {0x11, "01 63 00 01", 8},
        {0x11, "01 14 00 01", 9},
        {0x12, "00", 2},
        {0x22, "00 00 00", 2},
        {0x22, "01 00 00 00", 20},
        {0x23, "01 00 00 00", 20},
        {0x24, "00 00 00 00", 2},
        {0x24, "00 00 00 00 04", 3},
        {0x24, "01 00 00 00 00", 20},
        {0x24, "00 00 00 00 00", 0},
        {0x21, "01 00 00 00 00 00 00 00", 2},
        {0x21, "01 00 00 00 00 00 00 00 55", 20},
        {0x20, "01", 2},
        {0x30, "00 00 00 00 01", 2},
        {0x30, "00 ca 9a 3b 01 00", 3},
        {0x30, "01 00 00 00 00 00", 3},
        {0x30, "01 00 00 00 01 00", 20},
        {0x31, "f8 4d 0f 00", 2},
        {0x31, "f8 4d 0f 00 02", 3},
        {0x31, "f8 4d 0f 00 00", 20},
        {0x31, "f9 4d 0f 00 01", 3},
        {0x31, "f8 4d 0f 00 01", 0},
        {0x32, "00", 2},
        {0x33, "00", 2},
        {0x33, "02 01", 3},
        {0x33, "00 00", 3},
        {0x33, "00 04", 3},
        {0x00, "", 1},
        {0x07, "", 1},
        {0x34, "", 1},
        {0x80, "", 1},
        {0xFF, "", 1},
    };
    obvious_new(NULL);
    obvious_connect(0, 64);
    obvious_hello(0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int status = obvious_ask_hex(0, cases[i].opcode, cases[i].payload);
        if (status != cases[i].status) {
            fail_msg("opcode %02x, payload %s: status %d", cases[i].opcode, cases[i].payload, status);
        }
        size_t length;
        (void)obvious_payload(0, &length);
        assert_int_equal(length > 0, status == 0 && cases[i].opcode != 0x24 && cases[i].opcode != 0x31);
    }
}

static void ping_and_time(void **state) {
    (void)state;
    uint8_t bytes[65];
    obvious_new(NULL);
    obvious_connect(0, 64);
    obvious_hello(0);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(3 * i);
    }
    for (size_t length = 0; length <= 64; length++) {
        assert_int_equal(obvious_ask(0, 0x03, bytes, length), 0);
        size_t got;
        const uint8_t *echo = obvious_payload(0, &got);
        assert_int_equal(got, length);
        assert_memory_equal(echo, bytes, length);
    }
    assert_int_equal(obvious_ask(0, 0x03, bytes, 65), 2);
    assert_int_equal(obvious_ask(0, 0x05, "", 0), 0);
    obvious_expect(0, "00 00 00 00"); /* not set */
    assert_int_equal(obvious_ask_hex(0, 0x06, "00 f1 53 65"), 0);
    obvious_run(o.now + 7000);
    assert_int_equal(obvious_ask(0, 0x05, "", 0), 0);
    obvious_expect(0, "07 f1 53 65");
}

static void a_nonce_is_not_used_twice(void **state) {
    (void)state;
    uint8_t first[16];
    size_t length;
    obvious_new(NULL);
    obvious_connect(0, 64);
    obvious_hello(0);
    assert_int_equal(obvious_ask(0, 0x04, "", 0), 0);
    memcpy(first, obvious_payload(0, &length), 16);
    assert_int_equal(length, 16);
    assert_int_equal(obvious_ask(0, 0x04, "", 0), 0);
    assert_memory_not_equal(first, obvious_payload(0, &length), 16);
}

static void features_are_listed_in_the_order_of_the_request(void **state) {
    (void)state;
    obvious_new(NULL);
    obvious_connect(0, 64);
    obvious_hello(0);
    assert_int_equal(obvious_ask_hex(0, 0x10, "03 14 00 10 00 11 00"), 0);
    obvious_expect(0, "03 14 00 00 00 10 00 01 01 11 00 01 02");
    assert_int_equal(obvious_ask_hex(0, 0x10, "02 63 00 10 00"), 0); /* one that it does not know among others */
    obvious_expect(0, "02 63 00 ff ff 10 00 01 01");
    assert_int_equal(obvious_ask(0, 0x12, "", 0), 0);
    obvious_expect(0, "29 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
}

static void toggles_are_all_or_nothing(void **state) {
    (void)state;
    obvious_new(NULL);
    obvious_connect(0, 64);
    obvious_connect(1, 64);
    obvious_hello(0);
    obvious_hello(1);
    uint64_t erased = o.flash.programmed;
    assert_int_equal(obvious_ask_hex(0, 0x11, "02 10 00 02 14 00 01"), 9); /* FEATURE_DISABLED */
    assert_int_equal(o.flash.programmed, erased);
    assert_int_equal(obvious_ask_hex(0, 0x10, "02 10 00 11 00"), 0);
    obvious_expect(0, "02 10 00 01 01 11 00 01 02");
    assert_int_equal(obvious_ask_hex(0, 0x11, "02 10 00 02 11 00 80"), 0);
    obvious_expect(0, "02 10 00 01 02 11 00 01 01");
    obvious_run(o.now);
    obvious_expect_event(1, 0x80, "02 10 00 01 02 11 00 01 01"); /* the other gateway */
    assert_int_equal(o.gateways[0].events, 0);
    /* In list order: twice is as before. What changes nothing is not written. */
    uint64_t written = o.flash.programmed;
    assert_int_equal(obvious_ask_hex(0, 0x11, "02 10 00 80 10 00 80"), 0);
    obvious_expect(0, "02 10 00 01 02 10 00 01 02");
    assert_int_equal(o.flash.programmed, written);
    assert_int_equal(tendon_simulated_obvious_set(&o.device, 20, 1, 0, o.now), TENDON_OK);
    assert_int_equal(obvious_ask_hex(0, 0x11, "01 14 00 01"), 10); /* TOGGLE_UNSUPPORTED */
    obvious_again();
    obvious_connect(0, 64);
    obvious_hello(0);
    assert_int_equal(obvious_ask_hex(0, 0x10, "03 10 00 11 00 14 00"), 0); /* kept in the flash memory */
    obvious_expect(0, "03 10 00 01 02 11 00 01 01 14 00 01 00");
}

static void a_toggle_that_cannot_be_written_changes_nothing(void **state) {
    (void)state;
    obvious_new(NULL);
    obvious_connect(0, 64);
    obvious_hello(0);
    o.flash.fail_next = 1;
    assert_int_equal(obvious_ask_hex(0, 0x11, "01 10 00 02"), 21); /* FLASH_FAILED */
    assert_int_equal(obvious_ask_hex(0, 0x10, "01 10 00"), 0);
    obvious_expect(0, "01 10 00 01 01");
    assert_int_equal(obvious_ask_hex(0, 0x11, "01 10 00 02"), 0);
    o.flash.fail_next = 1;
    assert_int_equal(tendon_simulated_obvious_set(&o.device, 16, 1, 1, o.now), TENDON_OBVIOUS_ERROR_FLASH_FAILED);
    assert_int_equal(tendon_simulated_obvious_set(&o.device, 99, 1, 1, o.now), TENDON_ERROR_NOT_FOUND);
}

static void a_change_by_hand_is_reported(void **state) {
    (void)state;
    obvious_new(NULL);
    obvious_connect(0, 64);
    obvious_connect(1, 64);
    obvious_hello(0);
    assert_int_equal(tendon_simulated_obvious_set(&o.device, 16, 1, 2, o.now), TENDON_OK);
    obvious_run(o.now);
    obvious_expect_event(0, 0x80, "01 10 00 01 02");
    assert_int_equal(o.gateways[1].events, 0); /* it has not said HELLO */
}

static void capabilities_limit_the_requests(void **state) {
    (void)state;
    static const struct {
        uint8_t cap, opcode;
        const char *payload;
    } cases[] = {{1, 0x10, "01 10 00"}, {1, 0x12, ""}, {2, 0x11, "01 10 00 01"}, {8, 0x32, ""},
                 {32, 0x32, ""},        {8, 0x30, ""}, {32, 0x31, ""},           {128, 0x04, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tendon_simulated_obvious_options options = {.lacks_caps = cases[i].cap};
        obvious_new(&options);
        obvious_connect(0, 64);
        obvious_hello(0);
        assert_int_equal(o.gateways[0].frame[10 + 4], 255 - cases[i].cap);
        assert_int_equal(obvious_ask_hex(0, cases[i].opcode, cases[i].payload), 6);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flash_memory_is_counted_in_whole_pages),
        cmocka_unit_test(it_advertises_the_service),
        cmocka_unit_test(ogp_requires_encryption),
        cmocka_unit_test(information_and_battery_are_open),
        cmocka_unit_test(parts_can_be_absent),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(the_examples_of_hello_and_device_information),
        cmocka_unit_test(hello_comes_first),
        cmocka_unit_test(hello_checks_its_fields),
        cmocka_unit_test(the_lower_limit_of_a_frame_applies),
        cmocka_unit_test(toggles_whose_response_is_too_large_change_nothing),
        cmocka_unit_test(lengths_and_fields_are_checked),
        cmocka_unit_test(ping_and_time),
        cmocka_unit_test(a_nonce_is_not_used_twice),
        cmocka_unit_test(features_are_listed_in_the_order_of_the_request),
        cmocka_unit_test(toggles_are_all_or_nothing),
        cmocka_unit_test(a_toggle_that_cannot_be_written_changes_nothing),
        cmocka_unit_test(a_change_by_hand_is_reported),
        cmocka_unit_test(capabilities_limit_the_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
