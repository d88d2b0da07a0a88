/* SPDX-License-Identifier: MIT */
/* AES-CMAC: the examples of RFC 4493, in parts of every length. */
#include "test_bytes.h"

#include "tendon/base/cmac.h"

static const char message[] = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                              "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

static void the_examples_of_the_rfc(void **state) {
    (void)state;
    static const struct {
        size_t length;
        const char *code;
    } cases[] = {{0, "bb1d6929e95937287fa37d129b756746"},
                 {16, "070a16b46b4d4144f79bdd9dd04a287c"},
                 {40, "dfa66747de9ae63030ca32611497c827"},
                 {64, "51f0bebf7e3b9d92fc49741779363cfe"}};
    block key = block_hex("2b7e151628aed2a6abf7158809cf4f3c"), bytes = block_hex(message);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t part = 1; part <= 64; part++) {
            tendon_cmac cmac;
            uint8_t code[16];
            tendon_cmac_init(&cmac, key.data);
            for (size_t at = 0; at < cases[i].length; at += part) {
                tendon_cmac_update(&cmac, bytes.data + at, cases[i].length - at < part ? cases[i].length - at : part);
            }
            tendon_cmac_finish(&cmac, code);
            assert_hex(code, sizeof code, cases[i].code);
        }
    }
    free(key.data);
    free(bytes.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_rfc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
