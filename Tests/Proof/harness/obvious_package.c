/* SPDX-License-Identifier: MIT */
#include "tendon/devices/obvious_package.h"
#include "proof.h"

static bool verify(void *context, const uint8_t *key, const uint8_t *domain, size_t domain_length, const uint8_t *data,
                   size_t length, const uint8_t *signature) {
    (void)context;
    return proof_unknown != (key[31] ^ domain[domain_length - 1] ^ data[length - 1] ^ signature[0] ^ signature[63]);
}

static void sha256(void *context, const uint8_t *data, size_t length, uint8_t *out) {
    (void)context;
    out[0] = data[length - 1];
    out[31] = data[0];
}

/* Any package or manifest whose signature may be valid, for any device. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    static uint8_t last[32], nonce[16];
    static tendon_obvious_key key;
    tendon_obvious_package_state device;
    tendon_obvious_manifest_state running;
    Frama_C_make_unknown((char *)key.bytes, sizeof key.bytes);
    key.id = (uint8_t)Frama_C_interval(0, 255);
    key.revoked = proof_unknown != 0;
    Frama_C_make_unknown((char *)last, sizeof last);
    Frama_C_make_unknown((char *)nonce, sizeof nonce);
    Frama_C_make_unknown((char *)&device, sizeof device);
    Frama_C_make_unknown((char *)&running, sizeof running);
    device.last_sha256 = proof_unknown != 0 ? last : NULL;
    device.nonce = proof_unknown != 0 ? nonce : NULL;
    const tendon_obvious_key_ring ring = {&key, 1, {verify, sha256, NULL}};
    tendon_obvious_package package;
    tendon_obvious_manifest manifest;
    tendon_obvious_verify_package(input, length, &ring, &device, &package);
    if (tendon_obvious_verify_manifest(input, length, &ring, &running, &manifest) == TENDON_OK) {
        tendon_obvious_check_image(&manifest, length, 0, last);
    }
    return 0;
}
