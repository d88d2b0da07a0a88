/* SPDX-License-Identifier: MIT */
/* Simulated Obvious device: the packages, the manifest and the image of the specification, with libsodium. */
#include "../devices/obvious_sodium.h"
#include "obvious_fixture.h"

/* 8.15, 8.16, 8.32, 8.33, 8.21 */
static const char key_hex[] = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
static const char full_hex[] =
    "4f46503101010100d204000088776655443322112a0000000000000000f15365000000000000000000000000000000000000"
    "0000000000000300080010000101000000001100010200000000140000000000000023f2ac565da6bf4ffb2807919e531f31"
    "45bb7d07247d9ba3c60a462dd6c649df2ef55f15f277c62a081c391e48d008c06c5b06d4a053e945691035872f16db0a";
static const char clear_hex[] =
    "4f46503101030100d204000088776655443322112b0000000000000064f15365000000000000000000000000000000000000"
    "00000000000000000800dfe6932fa801af1ffe1f12659e6077ac92bb369528ce4433ce8da47c3ea86c7e9e1d3badf475df21"
    "2f6a0b906f469730e4521e7454f67b6981f93ad74a15f407";
static const char bound_hex[] =
    "4f46503101020101d204000088776655443322112c00000000000000c8f1536500000000a0a1a2a3a4a5a6a7a8a9aaabacad"
    "aeaf0000000001000800120001030700000076ca85fcad0e556db6ae789e6b9cc01a33da4607f3f2afae6f66084b62eb9b3f"
    "e25c0947c1555f2c919b0b509fa9c860876a635824aa8e10711247e9bd9c2f0a";
static const char manifest_hex[] =
    "4f464d3101010000d2040000e0510f0000000000ffc99a3be8030000ffd54a1189f4ff56a25dd1db06a4ce6033603775d705"
    "fb96f30f8693733fef602a1ca5320300000000000000e4e9e6a48730c159f0e3d8c16da7ff070de84d6ca0bf3f0bde15dba5"
    "2831995dba40d9ad38b3f57292f5763fcaff2d2df45ca88870398f29799f79af08e3ba0a";

static void given(void) {
    block key = block_hex(key_hex);
    memcpy(obvious_key.bytes, key.data, 32);
    free(key.data);
    obvious_ring.crypto = (tendon_obvious_crypto){verify, sha256, NULL};
    obvious_new(NULL);
    obvious_connect(0, 247);
    obvious_hello(0);
}

static int transfer(const char *hex) {
    block package = block_hex(hex);
    int status = obvious_transfer(0, 1, package.data, package.length, 50, NULL);
    free(package.data);
    return status;
}

static void packages_of_the_specification(void **state) {
    (void)state;
    given();
    block tampered = block_hex(full_hex);
    tampered.data[62] ^= 1; /* 8.27 */
    assert_int_equal(obvious_transfer(0, 1, tampered.data, tampered.length, 50, NULL), 11);
    free(tampered.data);
    assert_int_equal(transfer(full_hex), 0);
    obvious_expect(0, "00 00 00 00");
    assert_int_equal(obvious_ask(0, 0x12, "", 0), 0);
    obvious_expect(0, "2a 00 00 00 00 00 00 00 2c bd 78 32 85 f2 99 84");
    assert_int_equal(obvious_ask_hex(0, 0x10, "03 10 00 11 00 14 00"), 0);
    obvious_expect(0, "03 10 00 01 01 11 00 01 02 14 00 00 00");
    assert_int_equal(transfer(full_hex), 0); /* 8.28 */
    obvious_expect(0, "01 00 00 00");
    assert_int_equal(transfer(clear_hex), 0);
    assert_int_equal(obvious_ask_hex(0, 0x10, "01 10 00"), 0);
    obvious_expect(0, "01 10 00 00 00");
    assert_int_equal(transfer(full_hex), 12);
    assert_int_equal(transfer(bound_hex), 25); /* no nonce is outstanding */
    assert_int_equal(obvious_ask(0, 0x04, "", 0), 0);
    for (uint8_t i = 0; i < 16; i++) { /* the example's nonce */
        o.device.links[0].nonce.bytes[i] = (uint8_t)(0xA0 + i);
    }
    assert_int_equal(transfer(bound_hex), 0);
    assert_int_equal(obvious_ask_hex(0, 0x10, "01 12 00"), 0);
    obvious_expect(0, "01 12 00 01 01");
}

static void the_firmware_of_the_specification(void **state) {
    (void)state;
    uint8_t image[1000];
    given();
    block manifest = block_hex(manifest_hex);
    for (size_t i = 0; i < sizeof image; i++) {
        image[i] = (uint8_t)(7 * i);
    }
    /* 8.22: the CRC of a part. */
    assert_int_equal(obvious_begin(0, 2, 0, image, sizeof image, manifest.data), 0);
    assert_int_equal(obvious_data(0, 0, image, 400), 0);
    assert_int_equal(o.device.session.crc, 0xDC162E88);
    assert_int_equal(obvious_transfer(0, 2, image, sizeof image, 300, manifest.data), 0);
    obvious_expect(0, "02 00 00 00");
    assert_int_equal(obvious_ask_hex(0, 0x30, "e0 51 0f 00 01 00"), 0);
    obvious_run(o.now + 2000);
    obvious_connect(0, 247);
    obvious_hello(0);
    assert_int_equal(obvious_ask_hex(0, 0x31, "e0 51 0f 00 01"), 0);
    assert_int_equal(o.device.boot.epoch, 3);
    free(manifest.data);
}

int main(void) {
    assert_true(sodium_init() >= 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packages_of_the_specification),
        cmocka_unit_test(the_firmware_of_the_specification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
