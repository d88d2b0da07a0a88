/* SPDX-License-Identifier: MIT */
/* Simulated Obvious device: transfers of packages and images, kept over disconnections and power cuts. */
#include "obvious_fixture.h"

static uint8_t package[8 + TENDON_OBVIOUS_PACKAGE_MAX], image[OBVIOUS_IMAGE_MAX], manifest[136];

/* {16: off, toggle kept; 18: on, kept} */
static const uint8_t entries[] = {16, 0, 0, 3, 0, 0, 0, 0, 18, 0, 1, 3, 7, 0, 0, 0};

static void given(const tendon_simulated_obvious_options *options) {
    obvious_new(options);
    obvious_connect(0, 247);
    obvious_hello(0);
}

static void expect_counter(uint64_t counter) {
    size_t length;
    assert_int_equal(obvious_ask(0, 0x12, "", 0), 0);
    assert_int_equal(obvious_u32(obvious_payload(0, &length)), counter);
}

static void a_package_is_applied(void **state) {
    (void)state;
    given(NULL);
    size_t length = obvious_package(package, 2, 0, 42, entries, 2);
    assert_int_equal(obvious_transfer(0, 1, package, length, 50, NULL), 0);
    obvious_expect(0, "00 00 00 00");
    assert_int_equal(obvious_ask_hex(0, 0x10, "04 10 00 11 00 12 00 14 00"), 0);
    obvious_expect(0, "04 10 00 00 01 11 00 01 02 12 00 01 01 14 00 00 00");
    expect_counter(42);
    tendon_simulated_obvious_feature feature;
    assert_true(tendon_simulated_obvious_get(&o.device, 18, &feature));
    assert_int_equal(feature.value, 7);
    /* Again: already applied. It is a whole transfer, because the first one is over. */
    uint64_t bytes = o.device.counters.data_bytes;
    assert_int_equal(obvious_transfer(0, 1, package, length, 50, NULL), 0);
    obvious_expect(0, "01 00 00 00");
    assert_int_equal(o.device.counters.data_bytes, bytes + length);
    assert_int_equal(obvious_end(0), 0);
    obvious_expect(0, "01 00 00 00");
    assert_int_equal(o.device.counters.packages, 1);
    /* A full set: what is not listed is disabled, and what the firmware does not implement is unknown. */
    length = obvious_package(package, 1, 0, 43, entries, 1);
    assert_int_equal(obvious_transfer(0, 1, package, length, 50, NULL), 0);
    assert_int_equal(obvious_ask_hex(0, 0x10, "03 10 00 11 00 14 00"), 0);
    obvious_expect(0, "03 10 00 00 01 11 00 00 00 14 00 00 00");
    assert_int_equal(obvious_ask_hex(0, 0x10, "01 12 00"), 0);
    obvious_expect(0, "01 12 00 ff ff");
    assert_int_equal(obvious_ask_hex(0, 0x11, "01 11 00 01"), 9);
    length = obvious_package(package, 1, 0, 42, entries, 1);
    assert_int_equal(obvious_transfer(0, 1, package, length, 50, NULL), 12); /* REPLAY */
    obvious_again();
    obvious_connect(0, 247);
    obvious_hello(0);
    expect_counter(43);
}

static void refused_packages(void **state) {
    (void)state;
    given(NULL);
    size_t length = obvious_package(package, 2, 0, 42, entries, 2);
    package[length - 1] ^= 1;
    assert_int_equal(obvious_transfer(0, 1, package, length, 100, NULL), 11); /* SIG_INVALID */
    length = obvious_package(package, 4, 0, 42, NULL, 0);
    assert_int_equal(obvious_transfer(0, 1, package, length, 100, NULL), 15); /* BAD_FORMAT: provisioning as obj 1 */
    length = obvious_package(package, 2, 0, 42, entries, 2);
    assert_int_equal(obvious_transfer(0, 3, package, length, 100, NULL), 15);
    package[6] = 9;
    assert_int_equal(obvious_transfer(0, 1, package, length, 100, NULL), 24); /* UNKNOWN_KEY */
    expect_counter(41);
    assert_int_equal(o.device.counters.packages, 0);
}

/* 2.7.1: the nonce is used up by any attempt that gets as far as its check. */
static void a_nonce_is_valid_once_and_for_300_s(void **state) {
    (void)state;
    static const struct {
        uint64_t wait;
        bool again, other;
        int status;
    } cases[] = {{0, false, false, 0},
                 {299999, false, false, 0},
                 {300000, false, false, 25},
                 {0, true, false, 25},
                 {0, false, true, 25}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t got, length = obvious_package(package, 2, 1, 42, entries, 2);
        given(NULL);
        uint64_t start = o.now;
        assert_int_equal(obvious_ask(0, 0x04, "", 0), 0);
        memcpy(package + 36, obvious_payload(0, &got), 16);
        package[36] ^= cases[i].other;
        obvious_sign(package, length, "OBVIOUS-OFP1");
        if (cases[i].again) { /* an attempt with a wrong one */
            package[40] ^= 1;
            obvious_sign(package, length, "OBVIOUS-OFP1");
            assert_int_equal(obvious_transfer(0, 1, package, length, 100, NULL), 25);
            package[40] ^= 1;
            obvious_sign(package, length, "OBVIOUS-OFP1");
        }
        assert_int_equal(obvious_begin(0, 1, 0, package, length, NULL), 0);
        assert_int_equal(obvious_data(0, 0, package, length), 0);
        obvious_run(start + cases[i].wait);
        assert_int_equal(obvious_end(0), cases[i].status);
    }
}

static void a_nonce_ends_with_its_connection(void **state) {
    (void)state;
    given(NULL);
    size_t got, length = obvious_package(package, 2, 1, 42, entries, 2);
    assert_int_equal(obvious_ask(0, 0x04, "", 0), 0);
    memcpy(package + 36, obvious_payload(0, &got), 16);
    obvious_sign(package, length, "OBVIOUS-OFP1");
    obvious_disconnect(0);
    obvious_connect(0, 247);
    obvious_hello(0);
    assert_int_equal(obvious_transfer(0, 1, package, length, 100, NULL), 25);
}

static void provisioning_comes_first(void **state) {
    (void)state;
    const tendon_simulated_obvious_options options = {.unprovisioned = true};
    size_t got;
    given(&options);
    size_t length = obvious_package(package, 2, 0, 1, entries, 2);
    assert_int_equal(obvious_transfer(0, 1, package, length, 100, NULL), 7); /* NOT_PROVISIONED */
    assert_int_equal(obvious_ask(0, 0x02, "", 0), 0);
    assert_int_equal(obvious_payload(0, &got)[36], 8); /* bonded */
    length = obvious_package(package, 4, 0, 1, NULL, 0);
    assert_int_equal(obvious_transfer(0, 3, package, length, 100, NULL), 0);
    assert_int_equal(obvious_ask(0, 0x02, "", 0), 0);
    assert_int_equal(obvious_payload(0, &got)[36], 9);
    assert_int_equal(obvious_ask_hex(0, 0x10, "01 10 00"), 0);
    obvious_expect(0, "01 10 00 01 01"); /* the features stay */
    length = obvious_package(package, 2, 0, 2, entries, 2);
    assert_int_equal(obvious_transfer(0, 1, package, length, 100, NULL), 0);
}

/* Flag bit 1: it announces its own restart (8.26), unless it waits for the request. */
static void a_package_can_require_a_restart(void **state) {
    (void)state;
    for (unsigned waits = 0; waits < 2; waits++) {
        const tendon_simulated_obvious_options options = {.counter = 41, .waits_for_reboot = waits != 0};
        given(&options);
        size_t length = obvious_package(package, 2, 2, 42, entries, 2);
        uint32_t boot_id = o.device.boot_id;
        assert_int_equal(obvious_transfer(0, 1, package, length, 100, NULL), 0);
        uint32_t session = o.gateways[0].session;
        obvious_expect(0, "00 01 00 00");
        if (waits != 0) {
            obvious_run(o.now + 5000);
            assert_int_equal(o.device.boot_id, boot_id);
            assert_int_equal(obvious_ask_hex(0, 0x33, "00 02"), 0);
            obvious_run(o.now + 50);
            obvious_expect_event(0, 0x81, "02 64 00");
        } else {
            obvious_run(o.now + 900);
            obvious_expect_event(0, 0x81, "02 e8 03");
            assert_true(o.gateways[0].connected);
        }
        obvious_run(o.now + 1000);
        assert_false(o.gateways[0].connected);
        assert_int_not_equal(o.device.boot_id, boot_id);
        obvious_connect(0, 247);
        obvious_hello(0);
        expect_counter(42);
        assert_int_equal(obvious_ask_hex(0, 0x10, "01 12 00"), 0);
        obvious_expect(0, "01 12 00 01 01");
        o.gateways[0].session = session; /* the end again: no restart is required any more */
        assert_int_equal(obvious_end(0), 0);
        obvious_expect(0, "01 00 00 00");
    }
}

static void fill_image(size_t length) {
    for (size_t i = 0; i < length; i++) {
        image[i] = (uint8_t)(7 * i);
    }
    obvious_manifest(manifest, 1004000, 3, image, length);
}

static uint32_t answered_offset(void) {
    size_t got;
    return obvious_u32(obvious_payload(0, &got) + 4);
}

static void an_image_is_staged(void **state) {
    (void)state;
    given(NULL);
    fill_image(1000);
    assert_int_equal(obvious_transfer(0, 2, image, 1000, 300, manifest), 0);
    obvious_expect(0, "02 00 00 00");
    assert_int_equal(obvious_ask(0, 0x32, "", 0), 0);
    obvious_expect(0, "f8 4d 0f 00 01 e0 51 0f 00 02 ff ff ff ff 00 00 00 00 00 00");
    /* Again, with nothing to transfer. */
    uint64_t bytes = o.device.counters.data_bytes;
    assert_int_equal(obvious_transfer(0, 2, image, 1000, 300, manifest), 0);
    obvious_expect(0, "02 00 00 00");
    assert_int_equal(o.device.counters.data_bytes, bytes);
    assert_int_equal(obvious_ask_hex(0, 0x22, "00 00 00 00"), 0);
    size_t got;
    const uint8_t *answer = obvious_payload(0, &got);
    assert_int_equal(got, 50);
    assert_hex(answer, 2, "02 02");
    assert_int_equal(obvious_u32(answer + 2), o.gateways[0].session);
    assert_int_equal(obvious_u32(answer + 6), 1000);
    assert_int_equal(obvious_u32(answer + 10), 1000);
    assert_int_equal(obvious_u32(answer + 14), 0x114AD5FF); /* 8.21 */
}

static void refused_images(void **state) {
    (void)state;
    given(NULL);
    fill_image(1000);
    manifest[12]++;
    assert_int_equal(obvious_transfer(0, 2, image, 1000, 300, manifest), 11);
    obvious_manifest(manifest, 1003000, 3, image, 1000);
    assert_int_equal(obvious_transfer(0, 2, image, 1000, 300, manifest), 19); /* DOWNGRADE: not newer */
    obvious_manifest(manifest, 1004000, 3, image, 999);
    assert_int_equal(obvious_transfer(0, 2, image, 1000, 300, manifest), 2); /* BAD_LENGTH */
    obvious_manifest(manifest, 1004000, 3, image + 1, 1000);
    assert_int_equal(obvious_transfer(0, 2, image, 1000, 300, manifest), 18); /* HASH_MISMATCH */
    assert_int_equal(obvious_begin(0, 2, 0, image, OBVIOUS_IMAGE_MAX, manifest), 0);
    assert_int_equal(obvious_end(0), 2); /* not complete */
    uint8_t begin[182] = {2, 0, 100, 0, 1, 0x10, 0, 0};
    begin[44] = 136;
    assert_int_equal(obvious_ask(0, 0x20, begin, 182), 17); /* TOO_LARGE: 4097 */
    begin[0] = 1;
    begin[44] = 0;
    begin[4] = 0x7D;
    begin[5] = 0x20;
    assert_int_equal(obvious_ask(0, 0x20, begin, 46), 17); /* 8317 */
    tendon_simulated_obvious_set_battery(&o.device, 19, o.now);
    assert_int_equal(obvious_begin(0, 2, 0, image, 1000, manifest), 22); /* LOW_POWER */
    tendon_simulated_obvious_set_battery(&o.device, 255, o.now);
    assert_int_equal(obvious_begin(0, 2, 0, image, 1000, manifest), 0);
    assert_int_equal(obvious_ask(0, 0x32, "", 0), 0);
    obvious_expect(0, "f8 4d 0f 00 01 e0 51 0f 00 01 ff ff ff ff 00 00 00 00 00 00"); /* partial */
}

static void fields_of_begin_are_checked(void **state) {
    (void)state;
    static const struct {
        uint8_t at, value;
        int status;
    } cases[] = {{0, 0, 3}, {0, 4, 3}, {1, 2, 3}, {2, 0, 3}, {4, 0, 3}, {7, 2, 3}, {44, 1, 2}, {45, 1, 2}, {0, 2, 3}};
    given(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t begin[46] = {1, 0, 100, 0, 200, 0, 0, 0};
        begin[cases[i].at] = cases[i].value;
        int status = obvious_ask(0, 0x20, begin, 46);
        if (status != cases[i].status) {
            fail_msg("byte %u = %u: %d", cases[i].at, cases[i].value, status);
        }
    }
    static const uint8_t whole[47] = {1, 0, 100, 0, 200};
    for (size_t length = 0; length <= 47; length++) {
        assert_int_equal(obvious_ask(0, 0x20, whole, length), length == 46 ? 0 : 2);
    }
}

static void mal_I09_data_has_the_expected_offset(void **state) {
    (void)state;
    given(NULL);
    fill_image(1000);
    assert_int_equal(obvious_begin(0, 2, 0, image, 1000, manifest), 0);
    assert_int_equal(obvious_data(0, 0, image, 400), 0);
    obvious_expect(0, "90 01 00 00");
    assert_int_equal(obvious_data(0, 300, image, 100), 16); /* BAD_OFFSET, 8.36 */
    assert_int_equal(obvious_data(0, 0, image, 400), 16);   /* once more */
    assert_int_equal(obvious_data(0, 800, image, 100), 16); /* out of order */
    obvious_expect(0, "90 01 00 00");
    assert_int_equal(obvious_data(0, 400, image, 601), 17);
    assert_int_equal(obvious_data(0, 1000, image, 1), 16);
    o.gateways[0].session++;
    assert_int_equal(obvious_data(0, 400, image + 400, 100), 20);
    o.gateways[0].session--;
    assert_int_equal(obvious_data(0, 400, image + 400, 600), 0);
    assert_int_equal(obvious_end(0), 0);
}

/* The offset is kept at the last complete page, with its CRC. */
static void a_transfer_continues_after_a_disconnection(void **state) {
    (void)state;
    for (unsigned power = 0; power < 3; power++) {
        given(NULL);
        fill_image(1000);
        assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
        uint32_t session = o.gateways[0].session;
        assert_int_equal(obvious_data(0, 0, image, 600), 0);
        if (power == 1) {
            tendon_simulated_obvious_power_cut(&o.device, o.now);
            obvious_run(o.now + 1000);
        } else if (power == 2) {
            obvious_again();
        }
        obvious_disconnect(0);
        obvious_connect(0, 64);
        obvious_hello(0);
        assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
        assert_int_equal(o.gateways[0].session, session);
        assert_int_equal(answered_offset(), 512);
        size_t got;
        assert_int_equal(obvious_u32(obvious_payload(0, &got) + 10), tendon_crc32(0, image, 512));
        assert_int_equal(obvious_data(0, 512, image + 512, 488), 0);
        assert_int_equal(obvious_end(0), 0);
        /* Without the flag: from the start. */
        assert_int_equal(obvious_begin(0, 2, 0, image, 1000, manifest), 0);
        assert_int_equal(answered_offset(), 0);
        assert_int_not_equal(o.gateways[0].session, session);
    }
}

/* A page whose power was cut while it was written is not counted, whatever it contains. */
static void a_page_that_is_torn_is_discarded(void **state) {
    (void)state;
    for (uint64_t at = 0; at < 700; at += 3) {
        given(NULL);
        fill_image(1000);
        assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
        assert_int_equal(obvious_data(0, 0, image, 256), 0);
        o.flash.cut_after = at;
        bool cut = obvious_data(0, 256, image + 256, 256) != 0;
        assert_int_equal(cut, !o.gateways[0].connected);
        obvious_run(o.now + 1000);
        if (cut) {
            obvious_connect(0, 247);
            obvious_hello(0);
        }
        o.flash.cut_after = UINT64_MAX;
        assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
        uint32_t offset = answered_offset();
        assert_true(offset == 256 || offset == 512);
        assert_true(cut || offset == 512);
        assert_int_equal(obvious_data(0, offset, image + offset, 1000 - offset), 0);
        assert_int_equal(obvious_end(0), 0);
    }
}

static uint8_t copy[OBVIOUS_FLASH];

static void on_changed(void *context, uint32_t at, const uint8_t *bytes, uint32_t length) {
    memcpy((uint8_t *)context + at, bytes, length);
}

/* What is written through is enough for the next process: nothing else of the device is left. */
static void a_copy_of_the_flash_memory_is_enough(void **state) {
    (void)state;
    given(NULL);
    memcpy(copy, o.memory, sizeof copy);
    o.flash.changed = on_changed;
    o.flash.context = copy;
    size_t length = obvious_package(package, 2, 0, 42, entries, 2);
    assert_int_equal(obvious_transfer(0, 1, package, length, 50, NULL), 0);
    fill_image(1000);
    assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
    assert_int_equal(obvious_data(0, 0, image, 600), 0);
    assert_memory_equal(o.memory, copy, sizeof copy);
    memset(o.memory, 0xA5, sizeof o.memory);
    memcpy(o.memory, copy, sizeof copy);
    obvious_again();
    obvious_connect(0, 247);
    obvious_hello(0);
    expect_counter(42);
    assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
    assert_int_equal(answered_offset(), 512);
}

/* The pages are compared with the recorded CRC when it starts. */
static void a_page_that_changed_is_not_trusted(void **state) {
    (void)state;
    given(NULL);
    fill_image(1000);
    assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
    assert_int_equal(obvious_data(0, 0, image, 600), 0);
    o.memory[o.device.slot_page[1] * OBVIOUS_PAGE + 300] ^= 1;
    tendon_simulated_obvious_power_cut(&o.device, o.now);
    obvious_run(o.now + 1000);
    obvious_connect(0, 247);
    obvious_hello(0);
    assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
    assert_int_equal(answered_offset(), 0);
    assert_int_equal(obvious_data(0, 0, image, 1000), 0);
    assert_int_equal(obvious_end(0), 0);
}

static void a_transfer_ends_after_seven_days(void **state) {
    (void)state;
    const uint64_t week = 7 * 24 * 3600 * 1000ull;
    given(NULL);
    fill_image(1000);
    assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
    uint64_t began = o.now;
    assert_int_equal(obvious_data(0, 0, image, 600), 0);
    obvious_run(began + week - 1);
    assert_int_equal(obvious_ask_hex(0, 0x22, "00 00 00 00"), 0);
    assert_int_equal(o.gateways[0].frame[11], 1);
    obvious_run(began + week);
    assert_int_equal(obvious_ask_hex(0, 0x22, "00 00 00 00"), 0);
    size_t got;
    const uint8_t *answer = obvious_payload(0, &got), zeros[50] = {0};
    assert_memory_equal(answer, zeros, 50);
    assert_int_equal(obvious_data(0, 600, image + 600, 400), 20);
    assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
    assert_int_equal(answered_offset(), 0);
}

/* The host's clock begins again with the process: what was received before is not thrown away for its age. */
static void a_transfer_survives_a_clock_that_starts_again(void **state) {
    (void)state;
    given(NULL);
    obvious_run(1000000);
    fill_image(1000);
    assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
    assert_int_equal(obvious_data(0, 0, image, 600), 0);
    o.now = 10;
    obvious_again();
    obvious_connect(0, 247);
    obvious_hello(0);
    assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
    assert_int_equal(answered_offset(), 512); /* whole pages */
    uint64_t began = o.now;
    assert_int_equal(obvious_data(0, 512, image + 512, 488), 0);
    assert_int_equal(obvious_end(0), 0);
    assert_true(began < 1000000);
}

static void another_gateway_waits(void **state) {
    (void)state;
    given(NULL);
    obvious_connect(1, 247);
    obvious_hello(1);
    fill_image(1000);
    size_t length = obvious_package(package, 2, 0, 42, entries, 2);
    assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
    assert_int_equal(obvious_data(0, 0, image, 300), 0);
    uint64_t last = o.now;
    assert_int_equal(obvious_begin(1, 1, 0, package, length, NULL), 4); /* BUSY */
    o.gateways[1].session = o.gateways[0].session;
    assert_int_equal(obvious_data(1, 300, image, 100), 4);
    assert_int_equal(obvious_end(1), 4);
    assert_int_equal(obvious_ask_hex(1, 0x24, "00 00 00 00 00"), 4);
    obvious_run(last + 59999);
    assert_int_equal(obvious_begin(1, 1, 0, package, length, NULL), 4);
    obvious_run(last + 60000);
    assert_int_equal(obvious_begin(1, 1, 0, package, length, NULL), 0);
    assert_int_equal(obvious_data(0, 300, image + 300, 100), 20); /* replaced */
    /* Its own gateway may replace it, and so may one that continues the same object. */
    assert_int_equal(obvious_begin(1, 2, 0, image, 1000, manifest), 0);
    assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
    /* A gateway that has disconnected keeps it for the same time. */
    assert_int_equal(obvious_data(0, 0, image, 300), 0);
    obvious_disconnect(0);
    assert_int_equal(obvious_begin(1, 1, 0, package, length, NULL), 4);
    assert_int_equal(obvious_ask_hex(1, 0x24, "00 00 00 00 03"), 0); /* but it can be aborted */
    assert_int_equal(obvious_begin(1, 1, 0, package, length, NULL), 0);
}

/* The session is its gateway's from XFER_BEGIN on, and for 60 s after each request of the transfer. */
static void each_request_keeps_the_session(void **state) {
    (void)state;
    given(NULL);
    obvious_connect(1, 247);
    obvious_hello(1);
    fill_image(1000);
    size_t length = obvious_package(package, 2, 0, 42, entries, 2);
    assert_int_equal(obvious_begin(0, 2, 1, image, 1000, manifest), 0);
    o.gateways[1].session = o.gateways[0].session;
    assert_int_equal(obvious_data(1, 0, image, 100), 4); /* BUSY */
    obvious_run(o.now + 59000);
    assert_int_equal(obvious_data(0, 0, image, 300), 0);
    uint64_t last = o.now;
    obvious_run(last + 59000);
    assert_int_equal(obvious_begin(1, 1, 0, package, length, NULL), 4);
    assert_int_equal(obvious_data(1, 300, image + 300, 100), 4);
    obvious_run(last + 61000);
    assert_int_equal(obvious_data(1, 300, image + 300, 100), 0); /* it continues */
    assert_int_equal(obvious_data(0, 400, image + 400, 100), 4); /* and has it now */
}

static void an_object_that_differs_starts_again(void **state) {
    (void)state;
    given(NULL);
    size_t length = obvious_package(package, 2, 0, 42, entries, 2);
    assert_int_equal(obvious_begin(0, 1, 1, package, length, NULL), 0);
    package[60] ^= 1;
    assert_int_equal(obvious_data(0, 0, package, length), 0);
    package[60] ^= 1;
    assert_int_equal(obvious_end(0), 18); /* HASH_MISMATCH */
    assert_int_equal(obvious_transfer(0, 1, package, length, 100, NULL), 0);
}

static void a_flash_failure_is_reported(void **state) {
    (void)state;
    given(NULL);
    size_t length = obvious_package(package, 2, 0, 42, entries, 2);
    o.flash.fail_next = 1;
    assert_int_equal(obvious_begin(0, 1, 1, package, length, NULL), 21);
    assert_int_equal(obvious_begin(0, 1, 1, package, length, NULL), 0);
    o.flash.fail_next = 1; /* the erasure */
    assert_int_equal(obvious_data(0, 0, package, length), 21);
    assert_int_equal(obvious_data(0, 0, package, 100), 0);
    o.flash.fail_next = 1; /* the programming: back to the last complete page */
    assert_int_equal(obvious_data(0, 100, package + 100, 20), 21);
    assert_int_equal(obvious_data(0, 100, package + 100, 20), 16);
    obvious_expect(0, "00 00 00 00");
    o.flash.fail_next = 1; /* the record of the progress */
    o.flash.fail_after = 2;
    assert_int_equal(obvious_data(0, 0, package, length), 21);
    assert_int_equal(obvious_data(0, 0, package, length), 0);
    o.flash.fail_next = 1;
    assert_int_equal(obvious_end(0), 21);
    expect_counter(41);
    assert_int_equal(obvious_end(0), 0);
    obvious_expect(0, "00 00 00 00");
    expect_counter(42);
}

/* Segments lost in both directions: requests are repeated and executed once. */
static void a_lossy_connection(void **state) {
    (void)state;
    given(NULL);
    fill_image(4000);
    o.gateways[0].lost = 5;
    assert_int_equal(obvious_transfer(0, 2, image, 4000, 500, manifest), 0);
    assert_int_equal(o.device.counters.data_bytes, 4000);
    assert_true(o.device.counters.segment_errors > 0);
}

static void a_repeated_request_is_not_executed_again(void **state) {
    (void)state;
    uint8_t frame[32];
    given(NULL);
    size_t length = obvious_seal(frame, 0, 77, 0x11, (const uint8_t *)"\x01\x10\x00\x80", 4); /* flip */
    for (unsigned i = 0; i < 3; i++) {
        obvious_send_frame(0, frame, length);
        obvious_run(o.now);
        size_t got;
        assert_hex(obvious_payload(0, &got), 5, "01 10 00 01 02");
    }
    assert_int_equal(o.device.counters.repeats, 2);
    obvious_disconnect(0); /* the responses are forgotten */
    obvious_connect(0, 64);
    obvious_hello(0);
    obvious_send_frame(0, frame, length);
    obvious_run(o.now);
    size_t got;
    assert_hex(obvious_payload(0, &got), 5, "01 10 00 01 01");
}

static void what_is_no_request_is_ignored(void **state) {
    (void)state;
    uint8_t frame[32];
    given(NULL);
    size_t length = obvious_seal(frame, 1, 77, 0x03, (const uint8_t *)"x", 1); /* a response */
    obvious_send_frame(0, frame, length);
    obvious_run(o.now);
    length = obvious_seal(frame, 2, 0, 0x80, (const uint8_t *)"x", 1); /* an event */
    obvious_send_frame(0, frame, length);
    obvious_run(o.now);
    assert_int_equal(o.device.counters.ignored, 2);
    assert_int_equal(o.gateways[0].length, 0);
    length = obvious_seal(frame, 3, 0, 0x80, (const uint8_t *)"x", 1); /* both at once: neither */
    obvious_send_frame(0, frame, length);
    obvious_run(o.now);
    assert_int_equal(o.device.counters.ignored, 2);
    assert_int_equal(o.device.counters.bad_frames, 4);
    /* Frames with an error: NAK 7, and the sender gives up after three repeats. */
    static const struct {
        uint8_t at, value;
    } cases[] = {{0, 'P'}, {1, 'C'}, {2, 2}, {3, 8}, {3, 3}, {4, 0}, {7, 1}, {8, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        length = obvious_seal(frame, 0, 78, 0x03, (const uint8_t *)"x", 1);
        frame[cases[i].at] = cases[i].value;
        uint32_t crc = tendon_crc32(0, frame, length - 4);
        for (unsigned b = 0; b < 4; b++) {
            frame[length - 4 + b] = (uint8_t)(crc >> 8 * b);
        }
        uint64_t bad = o.device.counters.bad_frames;
        obvious_send_frame(0, frame, length);
        obvious_run(o.now);
        assert_true(o.gateways[0].sent);
        assert_int_equal(o.gateways[0].outcome, TENDON_OBVIOUS_ERROR_LINK_ERROR);
        assert_int_equal(o.device.counters.bad_frames, bad + 4);
    }
}

static void writes_with_response_and_indications(void **state) {
    (void)state;
    const tendon_simulated_obvious_options options = {.counter = 41, .with_response = true, .indicates = true};
    obvious_new(&options);
    obvious_connect(0, 23);
    obvious_hello(0);
    size_t length = obvious_package(package, 2, 0, 42, entries, 2);
    assert_int_equal(obvious_transfer(0, 1, package, length, 60, NULL), 0);
    assert_int_equal(obvious_ask(0, 0x02, "", 0), 0);
    uint8_t list[1 + 2 * 64] = {64};
    for (size_t i = 0; i < 64; i++) {
        list[1 + 2 * i] = 16;
    }
    assert_int_equal(obvious_ask(0, 0x10, list, sizeof list), 0); /* many segments, acknowledged by writes */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_package_is_applied),
        cmocka_unit_test(refused_packages),
        cmocka_unit_test(a_nonce_is_valid_once_and_for_300_s),
        cmocka_unit_test(a_nonce_ends_with_its_connection),
        cmocka_unit_test(provisioning_comes_first),
        cmocka_unit_test(a_package_can_require_a_restart),
        cmocka_unit_test(an_image_is_staged),
        cmocka_unit_test(refused_images),
        cmocka_unit_test(fields_of_begin_are_checked),
        cmocka_unit_test(mal_I09_data_has_the_expected_offset),
        cmocka_unit_test(a_transfer_continues_after_a_disconnection),
        cmocka_unit_test(a_page_that_is_torn_is_discarded),
        cmocka_unit_test(a_copy_of_the_flash_memory_is_enough),
        cmocka_unit_test(a_page_that_changed_is_not_trusted),
        cmocka_unit_test(a_transfer_ends_after_seven_days),
        cmocka_unit_test(a_transfer_survives_a_clock_that_starts_again),
        cmocka_unit_test(another_gateway_waits),
        cmocka_unit_test(each_request_keeps_the_session),
        cmocka_unit_test(an_object_that_differs_starts_again),
        cmocka_unit_test(a_flash_failure_is_reported),
        cmocka_unit_test(a_lossy_connection),
        cmocka_unit_test(a_repeated_request_is_not_executed_again),
        cmocka_unit_test(what_is_no_request_is_ignored),
        cmocka_unit_test(writes_with_response_and_indications),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
