/* SPDX-License-Identifier: MIT */
/* Obvious: the specification's packages and manifest with real Ed25519 and SHA-256 (libsodium). */
#include "obvious_sodium.h"

#include "tendon/base/crc.h"

static tendon_obvious_key key = {.id = 1};
static const tendon_obvious_key_ring ring = {&key, 1, {verify, sha256, NULL}};
static uint8_t last[32], nonce[16];
static tendon_obvious_package_state device;

/* 8.15: the public key of the seed 00, 01 .. 1f. */
static void given(void) {
    uint8_t seed[32], secret[64];
    for (uint8_t i = 0; i < 32; i++) {
        seed[i] = i;
    }
    crypto_sign_seed_keypair(key.bytes, secret, seed);
    assert_hex(key.bytes, 32, "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8");
    device = (tendon_obvious_package_state){
        .product = 1234, .fw = 1003000, .serial = 0x1122334455667788, .counter = 41, .nonce = nonce};
    for (uint8_t i = 0; i < 16; i++) {
        nonce[i] = (uint8_t)(0xA0 + i);
    }
}

static tendon_status check(const uint8_t *data, size_t length) {
    tendon_obvious_package package;
    tendon_status status = tendon_obvious_verify_package(data, length, &ring, &device, &package);
    if (status == TENDON_OK) { /* as a device that applies it */
        device.counter = package.counter;
        memcpy(last, package.sha256, sizeof last);
        device.last_sha256 = last;
    }
    return status;
}

static void packages_of_the_specification(void **state) {
    (void)state;
    given();
    block full =
        block_hex("4f46503101010100d204000088776655443322112a0000000000000000f15365000000000000000000000000000000000000"
                  "0000000000000300080010000101000000001100010200000000140000000000000023f2ac565da6bf4ffb2807919e531f31"
                  "45bb7d07247d9ba3c60a462dd6c649df2ef55f15f277c62a081c391e48d008c06c5b06d4a053e945691035872f16db0a");
    block clear =
        block_hex("4f46503101030100d204000088776655443322112b0000000000000064f15365000000000000000000000000000000000000"
                  "00000000000000000800dfe6932fa801af1ffe1f12659e6077ac92bb369528ce4433ce8da47c3ea86c7e9e1d3badf475df21"
                  "2f6a0b906f469730e4521e7454f67b6981f93ad74a15f407");
    block bound =
        block_hex("4f46503101020101d204000088776655443322112c00000000000000c8f1536500000000a0a1a2a3a4a5a6a7a8a9aaabacad"
                  "aeaf0000000001000800120001030700000076ca85fcad0e556db6ae789e6b9cc01a33da4607f3f2afae6f66084b62eb9b3f"
                  "e25c0947c1555f2c919b0b509fa9c860876a635824aa8e10711247e9bd9c2f0a");
    assert_int_equal(full.length, 148);
    full.data[62] ^= 1; /* 8.27 */
    assert_int_equal(check(full.data, full.length), TENDON_OBVIOUS_ERROR_SIG_INVALID);
    full.data[62] ^= 1;
    /* 8.28 */
    assert_int_equal(check(full.data, full.length), TENDON_OK);
    assert_hex(last, 32, "2cbd783285f299840f1052a9bf36cfcbe7f65c11fc79f7e6189a23a23779001d");
    assert_int_equal(tendon_crc32(0, full.data, full.length), 0xDDA75952);
    assert_int_equal(check(full.data, full.length), TENDON_OBVIOUS_ALREADY_APPLIED);
    assert_int_equal(check(clear.data, clear.length), TENDON_OK);
    assert_int_equal(check(full.data, full.length), TENDON_OBVIOUS_ERROR_REPLAY);
    nonce[15] ^= 1;
    assert_int_equal(check(bound.data, bound.length), TENDON_OBVIOUS_ERROR_NONCE_MISMATCH);
    nonce[15] ^= 1;
    assert_int_equal(check(bound.data, bound.length), TENDON_OK);
    free(full.data);
    free(clear.data);
    free(bound.data);
}

static void manifest_and_image_of_the_specification(void **state) {
    (void)state;
    given();
    block bytes =
        block_hex("4f464d3101010000d2040000e0510f0000000000ffc99a3be8030000ffd54a1189f4ff56a25dd1db06a4ce6033603775d705"
                  "fb96f30f8693733fef602a1ca5320300000000000000e4e9e6a48730c159f0e3d8c16da7ff070de84d6ca0bf3f0bde15dba5"
                  "2831995dba40d9ad38b3f57292f5763fcaff2d2df45ca88870398f29799f79af08e3ba0a");
    uint8_t image[1000], hash[32];
    for (size_t i = 0; i < sizeof image; i++) {
        image[i] = (uint8_t)(7 * i);
    }
    const tendon_obvious_manifest_state running = {.product = 1234, .current = 1003000, .epoch = 3};
    tendon_obvious_manifest manifest;
    assert_int_equal(tendon_obvious_verify_manifest(bytes.data, bytes.length, &ring, &running, &manifest), TENDON_OK);
    crypto_hash_sha256(hash, image, sizeof image);
    uint32_t crc = tendon_crc32(0, image, 400);
    assert_int_equal(crc, 0xDC162E88); /* 8.22: going on from a prefix */
    crc = tendon_crc32(crc, image + 400, 600);
    assert_int_equal(tendon_obvious_check_image(&manifest, sizeof image, crc, hash), TENDON_OK);
    bytes.data[12] ^= 1;
    assert_int_equal(tendon_obvious_verify_manifest(bytes.data, bytes.length, &ring, &running, &manifest),
                     TENDON_OBVIOUS_ERROR_SIG_INVALID);
    free(bytes.data);
}

int main(void) {
    assert_true(sodium_init() >= 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packages_of_the_specification),
        cmocka_unit_test(manifest_and_image_of_the_specification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
