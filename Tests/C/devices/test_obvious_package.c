/* SPDX-License-Identifier: MIT */
/* Obvious: what a package and a manifest are refused for, each with its status, in the order of the specification. */
#include "obvious_signer.h"

#include "tendon/simulate/obvious.h"

static unsigned verified; /* calls of the signature check */
static tendon_obvious_key keys[] = {{1, false, {0xA1}}, {2, true, {0xA2}}, {7, false, {0xA7}}};
static tendon_obvious_key_ring ring = {keys, 3, {signer_verify, signer_sha256, &verified}};

enum { LENGTH = 148 }; /* three entries */

static uint8_t bytes[8400], last[32], nonce[16];
static tendon_obvious_package package;
static tendon_obvious_package_state device;

static void sign(uint8_t *data, size_t length, const char *domain) {
    uint8_t key = domain[10] == 'P' ? data[6] : data[5];
    for (size_t i = 0; i < 3; i++) {
        if (keys[i].id == key) {
            mark_of(keys[i].bytes, (const uint8_t *)domain, 13, data, length - 64, data + length - 64);
        }
    }
}

/* 8.16, without its signature: kind 1, key 1, product 1234, counter 42, three entries. */
static void given(void) {
    block b =
        block_hex("4f46503101010100d204000088776655443322112a0000000000000000f15365000000000000000000000000000000000000"
                  "00000000000003000800100001010000000011000102000000001400000000000000");
    assert_int_equal(b.length, LENGTH - 64);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, b.data, b.length);
    free(b.data);
    memset(nonce, 0xA0, sizeof nonce);
    device = (tendon_obvious_package_state){.product = 1234,
                                            .fw = 1003000,
                                            .serial = 0x1122334455667788,
                                            .counter = 41,
                                            .last_sha256 = last,
                                            .nonce = nonce};
}

static tendon_status check(size_t length) {
    block exact = block_copy(bytes, length);
    tendon_status status = tendon_obvious_verify_package(exact.data, length, &ring, &device, &package);
    free(exact.data);
    return status;
}

static tendon_status check_signed(size_t length) {
    sign(bytes, length, "OBVIOUS-OFP1");
    return check(length);
}

static void a_valid_package(void **state) {
    (void)state;
    given();
    sign(bytes, LENGTH, "OBVIOUS-OFP1");
    assert_int_equal(tendon_obvious_verify_package(bytes, LENGTH, &ring, &device, &package), TENDON_OK);
    assert_true(package.kind == TENDON_OBVIOUS_PACKAGE_FULL && package.key_id == 1 && package.flags == 0);
    assert_true(package.product == 1234 && package.serial == 0x1122334455667788 && package.counter == 42);
    assert_true(package.issued_at == 1700000000 && package.min_fw == 0 && package.count == 3 && package.nonce_used);
    tendon_obvious_entry entry = tendon_obvious_package_entry(&package, 1);
    assert_true(entry.id == 17 && entry.enable == 1 && entry.toggle == 2 && entry.value == 0);
    entry = tendon_obvious_package_entry(&package, 3);
    assert_true(entry.id == 0 && entry.toggle == 0);
    uint8_t hash[32];
    signer_sha256(NULL, bytes, LENGTH, hash);
    assert_memory_equal(package.sha256, hash, 32);
}

static void lengths_and_formats(void **state) {
    (void)state;
    given();
    sign(bytes, LENGTH, "OBVIOUS-OFP1");
    verified = 0;
    for (size_t length = 0; length < LENGTH + 3; length++) {
        assert_int_equal(check(length), length == LENGTH ? TENDON_OK : TENDON_OBVIOUS_ERROR_BAD_LENGTH);
    }
    assert_int_equal(check(8317), TENDON_OBVIOUS_ERROR_BAD_LENGTH);
    uint8_t count[2] = {bytes[56], bytes[57]};
    bytes[56] = 0x01; /* 1025 entries, and the length that they have */
    bytes[57] = 0x04;
    assert_int_equal(check(8324), TENDON_OBVIOUS_ERROR_BAD_LENGTH);
    memcpy(bytes + 56, count, sizeof count);
    assert_int_equal(verified, 1); /* nothing else was looked at */
    static const struct {
        size_t at;
        uint8_t value;
    } rows[] = {{0, 'o'}, {3, '2'}, {4, 2}, {4, 0}, {58, 9}, {59, 1}, {57, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        given();
        bytes[rows[i].at] = rows[i].value;
        assert_int_equal(check_signed(LENGTH), TENDON_OBVIOUS_ERROR_BAD_FORMAT);
    }
}

static void keys_and_signatures(void **state) {
    (void)state;
    given();
    bytes[6] = 2; /* revoked */
    assert_int_equal(check_signed(LENGTH), TENDON_OBVIOUS_ERROR_UNKNOWN_KEY);
    bytes[6] = 3;
    assert_int_equal(check_signed(LENGTH), TENDON_OBVIOUS_ERROR_UNKNOWN_KEY);
    bytes[6] = 7;
    assert_int_equal(check_signed(LENGTH), TENDON_OK);
    bytes[6] = 1; /* signed with the other key */
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ERROR_SIG_INVALID);
    /* A manifest's domain does not sign a package. */
    sign(bytes, LENGTH, "OBVIOUS-OFM1");
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ERROR_SIG_INVALID);
    /* Each byte changed: never accepted, and nothing but length, format and key looked at before. */
    given();
    sign(bytes, LENGTH, "OBVIOUS-OFP1");
    for (size_t i = 0; i < LENGTH; i++) {
        bytes[i] ^= 0x10;
        tendon_status expected = i < 5 || (i >= 57 && i <= 59) ? TENDON_OBVIOUS_ERROR_BAD_FORMAT
                                 : i == 6                      ? TENDON_OBVIOUS_ERROR_UNKNOWN_KEY
                                 : i == 56                     ? TENDON_OBVIOUS_ERROR_BAD_LENGTH
                                                               : TENDON_OBVIOUS_ERROR_SIG_INVALID;
        assert_int_equal(check(LENGTH), expected);
        assert_false(package.nonce_used);
        bytes[i] ^= 0x10;
    }
    ring.count = 0;
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ERROR_UNKNOWN_KEY);
    ring.count = 3;
    keys[1].id = 1; /* a second entry revokes the first one, too */
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ERROR_UNKNOWN_KEY);
    keys[1].id = 2;
    assert_int_equal(check(LENGTH), TENDON_OK);
}

static void each_refusal_has_its_status(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
        tendon_status status;
        bool nonce_used;
    } rows[] = {
        {5, 0, TENDON_OBVIOUS_ERROR_BAD_FORMAT, false},
        {5, 5, TENDON_OBVIOUS_ERROR_BAD_FORMAT, false},
        {7, 4, TENDON_OBVIOUS_ERROR_BAD_FORMAT, false},
        {7, 2, TENDON_OK, true},
        {8, 0, TENDON_OBVIOUS_ERROR_WRONG_PRODUCT, false},
        {19, 0, TENDON_OBVIOUS_ERROR_WRONG_DEVICE, false},
        {20, 41, TENDON_OBVIOUS_ERROR_REPLAY, false},
        {20, 0, TENDON_OBVIOUS_ERROR_REPLAY, false},
        {27, 0x80, TENDON_OK, true}, /* the counter has 64 bits */
        {51, 1, TENDON_OBVIOUS_ERROR_BAD_FORMAT, true},
        {7, 1, TENDON_OBVIOUS_ERROR_NONCE_MISMATCH, true},
        {54, 0x10, TENDON_OBVIOUS_ERROR_FW_TOO_OLD, true},
        {5, 3, TENDON_OBVIOUS_ERROR_BAD_FORMAT, true},
        {5, 4, TENDON_OBVIOUS_ERROR_BAD_FORMAT, true},
        {60, 0, TENDON_OBVIOUS_ERROR_BAD_FORMAT, true},
        {60, 17, TENDON_OBVIOUS_ERROR_BAD_FORMAT, true},
        {77, 5, TENDON_OBVIOUS_ERROR_BAD_FORMAT, true},
        {62, 2, TENDON_OBVIOUS_ERROR_BAD_FORMAT, true},
        {63, 4, TENDON_OBVIOUS_ERROR_BAD_FORMAT, true},
        {63, 3, TENDON_OK, true},
        {77, 4, TENDON_OBVIOUS_ERROR_BAD_FORMAT, true},
        {5, 2, TENDON_OK, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        given();
        bytes[rows[i].at] = rows[i].value;
        assert_int_equal(check_signed(LENGTH), rows[i].status);
        assert_int_equal(package.nonce_used, rows[i].nonce_used);
    }
    /* Only an update of features resets the device. */
    given();
    bytes[5] = 4;
    bytes[7] = 2;
    assert_int_equal(check_signed(LENGTH), TENDON_OBVIOUS_ERROR_BAD_FORMAT);
    assert_false(package.nonce_used);
    /* The order: each fault outranks all that follow it. */
    given();
    device = (tendon_obvious_package_state){.product = 1, .fw = 0, .serial = 1, .counter = 99};
    bytes[7] = 1;
    bytes[54] = 0x10;
    bytes[63] = 9;
    assert_int_equal(check_signed(LENGTH), TENDON_OBVIOUS_ERROR_WRONG_PRODUCT);
    device.product = 1234;
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ERROR_WRONG_DEVICE);
    device.serial = 0x1122334455667788;
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ERROR_REPLAY);
    device.counter = 41;
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ERROR_NONCE_MISMATCH);
    bytes[7] = 0;
    assert_int_equal(check_signed(LENGTH), TENDON_OBVIOUS_ERROR_FW_TOO_OLD);
    device.fw = 0x100000;
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ERROR_BAD_FORMAT);
    device.fw = 0x0FFFFF;
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ERROR_FW_TOO_OLD);
}

static void applied_twice(void **state) {
    (void)state;
    given();
    sign(bytes, LENGTH, "OBVIOUS-OFP1");
    signer_sha256(NULL, bytes, LENGTH, last);
    device.counter = 42;
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ALREADY_APPLIED);
    assert_false(package.nonce_used);
    device.counter = 43; /* a higher one came in between */
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ERROR_REPLAY);
    device.counter = 42;
    device.last_sha256 = NULL;
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ERROR_REPLAY);
}

static void nonces(void **state) {
    (void)state;
    given();
    bytes[7] = 1;
    memcpy(bytes + 36, nonce, 16);
    assert_int_equal(check_signed(LENGTH), TENDON_OK);
    device.nonce = NULL;
    assert_int_equal(check(LENGTH), TENDON_OBVIOUS_ERROR_NONCE_MISMATCH);
    static const uint8_t zeros[16];
    device.nonce = zeros; /* equal, but zero */
    memcpy(bytes + 36, zeros, 16);
    assert_int_equal(check_signed(LENGTH), TENDON_OBVIOUS_ERROR_NONCE_MISMATCH);
    /* 300 s. */
    tendon_obvious_nonce kept = {0};
    assert_null(tendon_obvious_nonce_get(&kept, 0));
    tendon_obvious_nonce_set(&kept, nonce, 1000);
    assert_memory_equal(tendon_obvious_nonce_get(&kept, 300999), nonce, 16);
    assert_null(tendon_obvious_nonce_get(&kept, 301000));
}

static void the_largest_package(void **state) {
    (void)state;
    given();
    bytes[56] = 0;
    bytes[57] = 4; /* 1024 */
    for (unsigned i = 0; i < 1024; i++) {
        uint8_t *entry = bytes + 60 + 8 * i;
        memset(entry, 0, 8);
        entry[0] = (uint8_t)((i + 1) & 0xFF);
        entry[1] = (uint8_t)((i + 1) >> 8);
    }
    assert_int_equal(check_signed(8316), TENDON_OK);
    assert_int_equal(package.count, 1024);
    bytes[56] = 1;
    assert_int_equal(check_signed(8316), TENDON_OBVIOUS_ERROR_BAD_FORMAT);
}

/* ---- applying ---- */

typedef tendon_simulated_obvious_feature feature;

static void expect_features(uint8_t kind, const feature *old, size_t count, const feature *expected, size_t after) {
    feature out[16];
    given();
    bytes[5] = kind;
    bytes[63] = TENDON_OBVIOUS_ENTRY_KEEP;
    bytes[71] = TENDON_OBVIOUS_ENTRY_KEEP;
    bytes[79] = TENDON_OBVIOUS_ENTRY_KEEP;
    bytes[64] = 9;
    size_t length = LENGTH;
    if (kind >= TENDON_OBVIOUS_PACKAGE_CLEAR) {
        bytes[56] = 0;
        length = 124;
    }
    sign(bytes, length, "OBVIOUS-OFP1");
    assert_int_equal(tendon_obvious_verify_package(bytes, length, &ring, &device, &package), TENDON_OK);
    assert_int_equal(tendon_simulated_obvious_apply(&package, old, count, out, 16), after);
    for (size_t i = 0; i < after; i++) {
        assert_true(out[i].id == expected[i].id && out[i].enable == expected[i].enable &&
                    out[i].toggle == expected[i].toggle && out[i].value == expected[i].value);
    }
    for (size_t capacity = 0; capacity < after; capacity++) {
        assert_int_equal(tendon_simulated_obvious_apply(&package, old, count, out, capacity), TENDON_ERROR_TABLE_FULL);
    }
}

static void packages_change_the_table(void **state) {
    (void)state;
    static const feature old[] = {{5, 1, 1, 50}, {16, 0, 2, 60}, {18, 1, 0, 70}, {30, 1, 2, 80}};
    /* Entries 16 and 17 enabled, 20 disabled, all keep their toggle. */
    static const feature full[] = {{16, 1, 2, 9}, {17, 1, 1, 0}, {20, 0, 2, 0}};
    static const feature delta[] = {{5, 1, 1, 50},  {16, 1, 2, 9}, {17, 1, 1, 0},
                                    {18, 1, 0, 70}, {20, 0, 2, 0}, {30, 1, 2, 80}};
    expect_features(TENDON_OBVIOUS_PACKAGE_FULL, old, 4, full, 3);
    expect_features(TENDON_OBVIOUS_PACKAGE_DELTA, old, 4, delta, 6);
    expect_features(TENDON_OBVIOUS_PACKAGE_CLEAR, old, 4, NULL, 0);
    expect_features(TENDON_OBVIOUS_PACKAGE_PROVISION, old, 4, old, 4);
    static const feature fresh[] = {{16, 1, 1, 9}, {17, 1, 1, 0}, {20, 0, 2, 0}};
    expect_features(TENDON_OBVIOUS_PACKAGE_DELTA, NULL, 0, fresh, 3);
}

/* ---- manifests ---- */

static tendon_obvious_manifest manifest;
static tendon_obvious_manifest_state running;

/* 8.21 without its signature: version 1.4.0, from 0.0.0 to 999.999.999, 1000 bytes, epoch 3. */
static void given_manifest(void) {
    block b =
        block_hex("4f464d3101010000d2040000e0510f0000000000ffc99a3be8030000ffd54a1189f4ff56a25dd1db06a4ce6033603775d705"
                  "fb96f30f8693733fef602a1ca5320300000000000000");
    assert_int_equal(b.length, 72);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, b.data, b.length);
    free(b.data);
    running = (tendon_obvious_manifest_state){.product = 1234, .current = 1003000, .epoch = 3};
}

static tendon_status check_manifest(size_t length) {
    block exact = block_copy(bytes, length);
    tendon_status status = tendon_obvious_verify_manifest(exact.data, length, &ring, &running, &manifest);
    free(exact.data);
    return status;
}

static tendon_status check_signed_manifest(void) {
    sign(bytes, 136, "OBVIOUS-OFM1");
    return check_manifest(136);
}

static void a_valid_manifest(void **state) {
    (void)state;
    given_manifest();
    assert_int_equal(check_signed_manifest(), TENDON_OK);
    assert_true(manifest.version == 1004000 && manifest.size == 1000 && manifest.crc32 == 0x114AD5FF);
    assert_true(manifest.min_from == 0 && manifest.max_from == 999999999 && manifest.epoch == 3 &&
                manifest.key_id == 1);
    uint8_t hash[32];
    memcpy(hash, bytes + 32, 32);
    assert_int_equal(tendon_obvious_check_image(&manifest, 1000, 0x114AD5FF, hash), TENDON_OK);
    assert_int_equal(tendon_obvious_check_image(&manifest, 999, 0x114AD5FF, hash), TENDON_OBVIOUS_ERROR_BAD_LENGTH);
    assert_int_equal(tendon_obvious_check_image(&manifest, 0x1000003E8u, 0x114AD5FF, hash),
                     TENDON_OBVIOUS_ERROR_BAD_LENGTH);
    assert_int_equal(tendon_obvious_check_image(&manifest, 1000, 0x114AD5FE, hash), TENDON_OBVIOUS_ERROR_HASH_MISMATCH);
    hash[31] ^= 1;
    assert_int_equal(tendon_obvious_check_image(&manifest, 1000, 0x114AD5FF, hash), TENDON_OBVIOUS_ERROR_HASH_MISMATCH);
    for (size_t length = 0; length < 140; length++) {
        assert_int_equal(check_manifest(length), length == 136 ? TENDON_OK : TENDON_OBVIOUS_ERROR_BAD_LENGTH);
    }
    for (size_t i = 0; i < 136; i++) {
        bytes[i] ^= 0x10;
        assert_int_equal(check_manifest(136), i < 5    ? TENDON_OBVIOUS_ERROR_BAD_FORMAT
                                              : i == 5 ? TENDON_OBVIOUS_ERROR_UNKNOWN_KEY
                                                       : TENDON_OBVIOUS_ERROR_SIG_INVALID);
        bytes[i] ^= 0x10;
    }
}

static void manifests_are_refused(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
        tendon_status status;
    } rows[] = {
        {68, 1, TENDON_OBVIOUS_ERROR_BAD_FORMAT},       {6, 2, TENDON_OBVIOUS_ERROR_BAD_FORMAT},
        {7, 0x80, TENDON_OBVIOUS_ERROR_BAD_FORMAT},     {15, 0x3C, TENDON_OBVIOUS_ERROR_BAD_FORMAT},
        {19, 0x40, TENDON_OBVIOUS_ERROR_BAD_FORMAT},    {26, 0xFF, TENDON_OK},
        {27, 0x01, TENDON_OBVIOUS_ERROR_TOO_LARGE},     {8, 0, TENDON_OBVIOUS_ERROR_WRONG_PRODUCT},
        {64, 2, TENDON_OBVIOUS_ERROR_DOWNGRADE},        {64, 4, TENDON_OK},
        {18, 0x10, TENDON_OBVIOUS_ERROR_NOT_SUPPORTED}, {23, 0, TENDON_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        given_manifest();
        bytes[rows[i].at] = rows[i].value;
        assert_int_equal(check_signed_manifest(), rows[i].status);
    }
    given_manifest();
    memset(bytes + 24, 0, 4);
    assert_int_equal(check_signed_manifest(), TENDON_OBVIOUS_ERROR_TOO_LARGE);
    bytes[27] = 1; /* 16 MiB */
    assert_int_equal(check_signed_manifest(), TENDON_OK);
    given_manifest();
    running.current = 1004000; /* the same version */
    assert_int_equal(check_signed_manifest(), TENDON_OBVIOUS_ERROR_DOWNGRADE);
    running.current = 2000000;
    assert_int_equal(check_manifest(136), TENDON_OBVIOUS_ERROR_DOWNGRADE);
    bytes[6] = TENDON_OBVIOUS_MANIFEST_OLDER;
    assert_int_equal(check_signed_manifest(), TENDON_OK);
    running.epoch = 4; /* never below the epoch */
    assert_int_equal(check_manifest(136), TENDON_OBVIOUS_ERROR_DOWNGRADE);
    running.epoch = 3;
    running.current = TENDON_OBVIOUS_VERSION_ABSENT; /* not readable: outside of every range */
    assert_int_equal(check_manifest(136), TENDON_OBVIOUS_ERROR_NOT_SUPPORTED);
    bytes[5] = 2;
    assert_int_equal(check_signed_manifest(), TENDON_OBVIOUS_ERROR_UNKNOWN_KEY);
}

/* From min_from to max_from, both included. */
static void the_versions_that_a_manifest_updates(void **state) {
    (void)state;
    static const uint8_t from_to[8] = {0x10, 0, 0, 0, 0x20, 0, 0, 0};
    for (uint32_t current = 0x0E; current <= 0x22; current++) {
        given_manifest();
        memcpy(bytes + 16, from_to, sizeof from_to);
        running.current = current;
        bool listed = current >= 0x10 && current <= 0x20;
        assert_int_equal(check_signed_manifest(), listed ? TENDON_OK : TENDON_OBVIOUS_ERROR_NOT_SUPPORTED);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_valid_package),
        cmocka_unit_test(lengths_and_formats),
        cmocka_unit_test(keys_and_signatures),
        cmocka_unit_test(each_refusal_has_its_status),
        cmocka_unit_test(applied_twice),
        cmocka_unit_test(nonces),
        cmocka_unit_test(the_largest_package),
        cmocka_unit_test(packages_change_the_table),
        cmocka_unit_test(a_valid_manifest),
        cmocka_unit_test(manifests_are_refused),
        cmocka_unit_test(the_versions_that_a_manifest_updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
