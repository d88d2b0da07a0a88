/* SPDX-License-Identifier: MIT */
/*
 * Attacks on the Obvious manager: packages and manifests that a cloud, or who is between, has changed, and a hostile
 * device. Each has its status; of a refused object the device gets nothing.
 */
#include "obvious_fixture.h"
#include "obvious_signer.h"

#include "tendon/base/crc.h"
#include "tendon/devices/obvious_manager.h"

enum { IMAGE = 4000, OLD = 1003000, NEW = 1004000, ENTRIES = 2, PACKAGE = 124 + 8 * ENTRIES, MANIFEST = 136 };

static obvious_fixture *f;
static struct {
    tendon_obvious_manager manager;
    tendon_obvious_key key;
    tendon_obvious_key_ring ring;
    unsigned verified;
    uint8_t image[IMAGE], sha256[32], object[PACKAGE + 1];
    size_t length;  /* of the object */
    uint64_t delay; /* of the cloud */
    bool needs, done;
    tendon_status status;
} w;

/* With a key whose bytes are all @p key. */
static void sign_with(uint8_t key) {
    uint8_t bytes[32];
    memset(bytes, key, sizeof bytes);
    bool package = w.object[2] == 'P';
    size_t length = (package ? PACKAGE : MANIFEST) - 64u;
    mark_of(bytes, (const uint8_t *)(package ? "OBVIOUS-OFP1" : "OBVIOUS-OFM1"), 13, w.object, length,
            w.object + length);
}

static void good_package(void) {
    memset(w.object, 0, sizeof w.object);
    memcpy(w.object, "OFP1\1\1\1\1", 8); /* full, key 1, bound to the nonce */
    put_number(w.object, 8, 1234, 4);
    put_number(w.object, 12, 0x1122334455667788, 8);
    put_number(w.object, 20, 42, 8);
    memset(w.object + 36, 0xA5, 16);
    put_number(w.object, 56, ENTRIES, 2);
    put_number(w.object, 58, 8, 2);
    for (size_t i = 0; i < ENTRIES; i++) {
        put_number(w.object, 60 + 8 * i, i + 1, 2);
    }
    w.length = PACKAGE;
    sign_with(0x42);
}

static void good_manifest(void) {
    memset(w.object, 0, sizeof w.object);
    memcpy(w.object, "OFM1\1\1", 6);
    put_number(w.object, 8, 1234, 4);
    put_number(w.object, 12, NEW, 4);
    put_number(w.object, 20, 999999999, 4);
    put_number(w.object, 24, IMAGE, 4);
    put_number(w.object, 28, tendon_crc32(0, w.image, IMAGE), 4);
    memcpy(w.object + 32, w.sha256, 32);
    put_number(w.object, 64, 3, 4);
    w.length = MANIFEST;
    sign_with(0x42);
}

static void on_event(void *context, const tendon_obvious_event *event, uint64_t now) {
    (void)context, (void)now;
    if (event->kind == TENDON_OBVIOUS_EVENT_NEED) {
        w.needs = event->code != TENDON_OBVIOUS_NEED_REPORT;
    } else if (event->kind == TENDON_OBVIOUS_EVENT_DONE) {
        w.done = true;
        w.status = event->status;
    }
}

static tendon_status read_image(void *context, uint32_t offset, uint8_t *buffer, size_t length) {
    (void)context;
    assert_true(offset <= IMAGE && length <= IMAGE - offset);
    memcpy(buffer, w.image + offset, length);
    return TENDON_OK;
}

static void begin(void) {
    memset(&w, 0, sizeof w);
    f = fixture_new();
    f->quiet = true;
    f->device.chunk_max = 1000;
    w.ring = signer_ring(&w.key, &w.verified);
    for (size_t i = 0; i < IMAGE; i++) {
        w.image[i] = (uint8_t)(7 * i);
    }
    signer_sha256(NULL, w.image, IMAGE, w.sha256);
    const tendon_obvious_manager_config config = {.session = &f->session,
                                                  .ring = &w.ring,
                                                  .product = 1234,
                                                  .chunk_max = 4000,
                                                  .min_battery = 20,
                                                  .on_event = on_event,
                                                  .read = read_image};
    assert_int_equal(tendon_obvious_manager_init(&w.manager, &config), TENDON_OK);
    tendon_memory_radio_attach(&f->air, &tendon_obvious_manager_inputs, &w.manager);
    fixture_open(f);
}

static void end(void) {
    assert_int_equal(w.manager.illegal_inputs, 0);
    fixture_free(f);
}

static tendon_status perform(tendon_obvious_operation operation) {
    block exact = block_copy(w.object, w.length);
    w.needs = w.done = false;
    assert_int_equal(tendon_obvious_manager_start(&w.manager, operation, NULL, 0, f->now), TENDON_OK);
    for (int i = 0; i < 3000 && !w.done; i++) {
        fixture_run(f, 1000);
        if (w.needs) {
            fixture_run(f, w.delay);
            const tendon_obvious_answer given = {.data = exact.data,
                                                 .length = w.length,
                                                 .image_length = IMAGE,
                                                 .image_crc32 = tendon_crc32(0, w.image, IMAGE),
                                                 .image_sha256 = w.sha256};
            w.needs = false;
            assert_int_equal(tendon_obvious_manager_give(&w.manager, &given, f->now), TENDON_OK);
        }
    }
    free(exact.data);
    assert_true(w.done);
    return w.status;
}

static void refused(tendon_obvious_operation operation, tendon_status expected, const char *what, size_t where) {
    tendon_status status = perform(operation);
    if (status != expected) {
        fail_msg("%s %zu: %s", what, where, tendon_obvious_status_name(status));
    }
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 0);
}

/* ---- packages ---- */

static tendon_status tampered_package(size_t at) {
    return at < 5                ? TENDON_OBVIOUS_ERROR_BAD_FORMAT
           : at == 6             ? TENDON_OBVIOUS_ERROR_UNKNOWN_KEY
           : at == 56            ? TENDON_OBVIOUS_ERROR_BAD_LENGTH
           : at > 56 && at <= 59 ? TENDON_OBVIOUS_ERROR_BAD_FORMAT
                                 : TENDON_OBVIOUS_ERROR_SIG_INVALID;
}

static void packages(void **state) {
    (void)state;
    const tendon_obvious_operation update = TENDON_OBVIOUS_UPDATE_FEATURES;
    begin();
    for (size_t at = 0; at < PACKAGE; at++) {
        good_package();
        w.object[at] ^= at == 57 ? 0x80 : 1; /* more than 1,024 entries */
        refused(update, tampered_package(at), "tampered at", at);
    }
    for (size_t length = 0; length <= PACKAGE + 1; length += length == PACKAGE - 1 ? 2 : 1) {
        good_package();
        w.length = length;
        refused(update, TENDON_OBVIOUS_ERROR_BAD_LENGTH, "length", length);
    }
    static const struct {
        size_t at, width;
        uint64_t value;
        tendon_status status;
    } rows[] = {
        {20, 8, 41, TENDON_OBVIOUS_ERROR_REPLAY},
        {20, 8, 0, TENDON_OBVIOUS_ERROR_REPLAY},
        {12, 8, 0x1122334455667789, TENDON_OBVIOUS_ERROR_WRONG_DEVICE},
        {8, 4, 1235, TENDON_OBVIOUS_ERROR_WRONG_PRODUCT},
        {6, 1, 2, TENDON_OBVIOUS_ERROR_UNKNOWN_KEY},
        {36, 1, 0xA4, TENDON_OBVIOUS_ERROR_NONCE_MISMATCH},
        {7, 1, 0, TENDON_OBVIOUS_ERROR_BAD_FORMAT}, /* a nonce, and not bound to it */
        {52, 4, OLD + 1, TENDON_OBVIOUS_ERROR_FW_TOO_OLD},
        {5, 1, 4, TENDON_OBVIOUS_ERROR_BAD_FORMAT},  /* provisioning that nobody asked for */
        {60, 2, 2, TENDON_OBVIOUS_ERROR_BAD_FORMAT}, /* the same feature twice */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        good_package();
        put_number(w.object, rows[i].at, rows[i].value, rows[i].width);
        sign_with(0x42);
        refused(update, rows[i].status, "row", i);
    }
    good_package();
    sign_with(0x43);
    refused(update, TENDON_OBVIOUS_ERROR_SIG_INVALID, "another key", 0);
    good_package();
    w.key.revoked = true;
    refused(update, TENDON_OBVIOUS_ERROR_UNKNOWN_KEY, "a revoked key", 0);
    w.key.revoked = false;
    w.delay = 300000; /* the nonce of the device ends with its 300 s */
    refused(update, TENDON_OBVIOUS_ERROR_NONCE_MISMATCH, "expired", 0);
    good_manifest();
    w.delay = 0;
    refused(update, TENDON_OBVIOUS_ERROR_BAD_FORMAT, "a manifest", 0);
    good_package();
    w.delay = 298000; /* in time: all of the above was refused for its own fault */
    assert_int_equal(perform(update), TENDON_OK);
    end();
}

/* ---- manifests ---- */

static void manifests(void **state) {
    (void)state;
    const tendon_obvious_operation operations[] = {TENDON_OBVIOUS_CHECK_FIRMWARE, TENDON_OBVIOUS_UPGRADE_FIRMWARE};
    static const struct {
        size_t at;
        uint32_t value;
        tendon_status status;
    } rows[] = {
        {12, OLD, TENDON_OBVIOUS_ERROR_DOWNGRADE}, /* the version that runs */
        {12, OLD - 1, TENDON_OBVIOUS_ERROR_DOWNGRADE},     {64, 2, TENDON_OBVIOUS_ERROR_DOWNGRADE}, /* the epoch */
        {16, OLD + 1, TENDON_OBVIOUS_ERROR_NOT_SUPPORTED}, {20, OLD - 1, TENDON_OBVIOUS_ERROR_NOT_SUPPORTED},
        {8, 1235, TENDON_OBVIOUS_ERROR_WRONG_PRODUCT},     {24, 0, TENDON_OBVIOUS_ERROR_TOO_LARGE},
        {24, 16777217, TENDON_OBVIOUS_ERROR_TOO_LARGE},    {12, 1000000000, TENDON_OBVIOUS_ERROR_BAD_FORMAT},
        {68, 1, TENDON_OBVIOUS_ERROR_BAD_FORMAT},
    };
    begin();
    for (size_t o = 0; o < 2; o++) {
        for (size_t at = 0; at < MANIFEST; at++) {
            good_manifest();
            w.object[at] ^= 1;
            refused(operations[o],
                    at < 5    ? TENDON_OBVIOUS_ERROR_BAD_FORMAT
                    : at == 5 ? TENDON_OBVIOUS_ERROR_UNKNOWN_KEY
                              : TENDON_OBVIOUS_ERROR_SIG_INVALID,
                    "tampered at", at);
        }
        for (size_t length = 0; length <= MANIFEST + 1; length += length == MANIFEST - 1 ? 2 : 1) {
            good_manifest();
            w.length = length;
            refused(operations[o], TENDON_OBVIOUS_ERROR_BAD_LENGTH, "length", length);
        }
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            good_manifest();
            put_number(w.object, rows[i].at, rows[i].value, 4);
            sign_with(0x42);
            refused(operations[o], rows[i].status, "row", i);
        }
        good_manifest();
        sign_with(0x43);
        refused(operations[o], TENDON_OBVIOUS_ERROR_SIG_INVALID, "another key", 0);
        good_manifest();
        w.key.revoked = true;
        refused(operations[o], TENDON_OBVIOUS_ERROR_UNKNOWN_KEY, "a revoked key", 0);
        w.key.revoked = false;
        good_manifest();
        put_number(w.object, 28, 1, 4); /* a valid manifest of another image */
        sign_with(0x42);
        refused(operations[o], o == 0 ? TENDON_OK : TENDON_OBVIOUS_ERROR_HASH_MISMATCH, "another image", 0);
    }
    good_manifest();
    assert_int_equal(perform(TENDON_OBVIOUS_CHECK_FIRMWARE), TENDON_OK);
    end();
}

/* ---- a hostile device ---- */

static void lies_in_an_upgrade(void **state) {
    (void)state;
    static const struct {
        uint8_t opcode, length;
        uint8_t bytes[20];
        tendon_status status;
        unsigned chunks; /* that it gets */
    } rows[] = {
        {0x20, 14, {0, 0, 0, 0, 0, 0, 0, 0, 0, 4}, TENDON_OBVIOUS_ERROR_BAD_PARAM, 0}, /* session 0 */
        {0x20, 14, {1}, TENDON_OBVIOUS_ERROR_BAD_PARAM, 0},                            /* chunk_max 0 */
        {0x20, 14, {1, 0, 0, 0, 255, 255, 255, 255, 0, 4}, TENDON_OBVIOUS_ERROR_BAD_PARAM, 0},
        {0x20, 14, {1, 0, 0, 0, 0xA1, 0x0F, 0, 0, 0, 4}, TENDON_OBVIOUS_ERROR_BAD_PARAM, 0}, /* size + 1 */
        {0x20, 14, {1, 0, 0, 0, 10, 0, 0, 0, 0, 4, 1, 2, 3, 4}, TENDON_OBVIOUS_ERROR_HASH_MISMATCH, 0},
        {0x20, 13, {1, 0, 0, 0, 0, 0, 0, 0, 0, 4}, TENDON_OBVIOUS_ERROR_BAD_LENGTH, 0},
        {0x21, 4, {0}, TENDON_OBVIOUS_ERROR_BAD_PARAM, 1},              /* it has nothing */
        {0x21, 4, {0xE9, 3, 0, 0}, TENDON_OBVIOUS_ERROR_BAD_PARAM, 1},  /* one byte more */
        {0x21, 4, {0xA0, 15, 0, 0}, TENDON_OBVIOUS_ERROR_BAD_PARAM, 1}, /* it has all */
        {0x21, 4, {255, 255, 255, 255}, TENDON_OBVIOUS_ERROR_BAD_PARAM, 1},
        {0x21, 5, {0xE8, 3, 0, 0}, TENDON_OBVIOUS_ERROR_BAD_LENGTH, 1},
        {0x23, 4, {3}, TENDON_OBVIOUS_ERROR_BAD_PARAM, 4},
        {0x32, 20, {0xF8, 0x4D, 0x0F, 0, 3}, TENDON_OBVIOUS_ERROR_BAD_PARAM, 0}, /* active_state 3 */
        {0x32, 20, {0, 0, 0, 0xF0, 1}, TENDON_OBVIOUS_ERROR_BAD_PARAM, 0},       /* a version above 999.999.999 */
        {0x32, 19, {0xF8, 0x4D, 0x0F, 0, 1}, TENDON_OBVIOUS_ERROR_BAD_LENGTH, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        good_manifest();
        f->device.payload[rows[i].opcode] = rows[i].bytes;
        f->device.payload_length[rows[i].opcode] = rows[i].length;
        tendon_status status = perform(TENDON_OBVIOUS_UPGRADE_FIRMWARE);
        if (status != rows[i].status || fixture_times(f, TENDON_OBVIOUS_XFER_DATA) != rows[i].chunks) {
            fail_msg("row %zu: %s after %u chunks", i, tendon_obvious_status_name(status),
                     fixture_times(f, TENDON_OBVIOUS_XFER_DATA));
        }
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_ACTIVATE), 0);
        end();
    }
    static const uint32_t offsets[] = {1001, IMAGE, UINT32_MAX}; /* beyond what was sent */
    for (size_t i = 0; i < 3; i++) {
        begin();
        good_manifest();
        f->device.loops = true;
        f->device.bad_offset = offsets[i];
        assert_int_equal(perform(TENDON_OBVIOUS_UPGRADE_FIRMWARE), TENDON_OBVIOUS_ERROR_BAD_OFFSET);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 1);
        end();
    }
}

/* Segments without end that count as no error: of an old message, beyond the window. The operation ends all the same.
 */
static void segments_without_end(void **state) {
    (void)state;
    static const uint8_t stale[] = {0x40, 0x90, 1, 0, 1, 2, 3, 4}, beyond[] = {0x40, 0x20, 40, 0, 1, 2, 3, 4};
    begin();
    f->device.mute[TENDON_OBVIOUS_GET_DEVICE_INFO] = true;
    w.done = false;
    assert_int_equal(tendon_obvious_manager_start(&w.manager, TENDON_OBVIOUS_GET_INFO, NULL, 0, f->now), TENDON_OK);
    unsigned sent = 0;
    for (; !w.done && sent < 10000; sent++) {
        fixture_segment(f, sent % 2 == 0 ? stale : beyond, sizeof stale);
        fixture_run(f, 10);
    }
    assert_int_equal(w.status, TENDON_ERROR_TIMEOUT);
    assert_in_range(sent, 1900, 3010); /* 20 s of repeats, 30 s of the operation at most */
    assert_int_equal(f->session.counters.errors, 0);
    assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_OPEN);
    end();
}

/* Messages that are begun and never finished: each drops the one before it; after 100 the device is disconnected. */
static void messages_that_never_end(void **state) {
    (void)state;
    begin();
    f->device.mute[TENDON_OBVIOUS_GET_DEVICE_INFO] = true;
    w.done = false;
    assert_int_equal(tendon_obvious_manager_start(&w.manager, TENDON_OBVIOUS_GET_INFO, NULL, 0, f->now), TENDON_OK);
    uint8_t first[20] = {0x60, 0x10, 0, 0, 0xFF, 0x0F};
    unsigned sent = 0;
    uint64_t last = 0;
    for (; !w.done && sent < 1000; sent++) {
        first[1]++;
        last = f->now;
        fixture_segment(f, first, sizeof first);
        fixture_run(f, 10);
    }
    assert_int_equal(w.status, TENDON_OBVIOUS_ERROR_PROTOCOL);
    assert_in_range(sent, 100, 102);
    fixture_run(f, 100);
    assert_int_equal(tendon_obvious_session_connect(&f->session, f->now), TENDON_OBVIOUS_ERROR_PROTOCOL); /* banned */
    assert_int_equal(tendon_obvious_session_connect(&f->session, last + 59999), TENDON_OBVIOUS_ERROR_PROTOCOL);
    assert_int_equal(tendon_obvious_session_connect(&f->session, last + 60000), TENDON_OK);
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packages),
        cmocka_unit_test(manifests),
        cmocka_unit_test(lies_in_an_upgrade),
        cmocka_unit_test(segments_without_end),
        cmocka_unit_test(messages_that_never_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
