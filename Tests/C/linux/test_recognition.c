/* SPDX-License-Identifier: MIT */
/* A device that its advertisement and its scan response name together, among as many as are kept. */
#include "test_bytes.h"

#include "tendon/linux/recognition.h"

static bool recognizes(const uint8_t *data, size_t length) {
    return length == 2 && data[0] != data[1];
}

static tendon_recognition r;

static bool take(size_t number, bool is_response) {
    const uint8_t data = is_response;
    return tendon_recognition_take(&r, &(tendon_ad_report){.address = {.bytes = {(uint8_t)number}},
                                                           .properties = is_response ? TENDON_AD_SCAN_RESPONSE : 0,
                                                           .data = &data,
                                                           .length = 1});
}

/* A new one takes the place of the one that came first, and of no other. */
static void as_many_as_are_kept(void **state) {
    (void)state;
    r = (tendon_recognition){.recognizes = recognizes};
    for (size_t i = 0; i < TENDON_RECOGNITION_ADVERTISERS; i++) {
        assert_false(take(i, false));
    }
    for (size_t i = 0; i < TENDON_RECOGNITION_ADVERTISERS; i++) {
        assert_true(take(i, true));
    }
    assert_false(take(TENDON_RECOGNITION_ADVERTISERS, false));
    for (size_t i = 1; i <= TENDON_RECOGNITION_ADVERTISERS; i++) {
        assert_true(take(i, i == TENDON_RECOGNITION_ADVERTISERS));
    }
    assert_false(take(0, false));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_many_as_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
