/* SPDX-License-Identifier: MIT */
/* Obvious, device side: a repeated request gets the response that it got before. */
#include "test_bytes.h"

#include "tendon/simulate/obvious.h"

static tendon_simulated_obvious_responses responses;

/* A PING whose payload is one byte. */
static size_t ping(uint8_t *out, uint16_t corr, uint8_t value, uint8_t flags) {
    const tendon_obvious_frame frame = {.flags = flags, .opcode = TENDON_OBVIOUS_PING, .corr = corr};
    out[TENDON_OBVIOUS_FRAME_HEADER] = value;
    return (size_t)tendon_obvious_seal_frame(&frame, 1, out, 32);
}

static void the_last_four_are_kept(void **state) {
    (void)state;
    uint8_t request[32], response[32];
    size_t length = 0;
    memset(&responses, 0, sizeof responses);
    for (uint16_t corr = 1; corr <= 5; corr++) {
        size_t size = ping(request, corr, 7, 0);
        assert_null(tendon_simulated_obvious_kept(&responses, request, size, &length));
        size_t answer = ping(response, corr, 7, TENDON_OBVIOUS_RESPONSE);
        tendon_simulated_obvious_keep(&responses, request, size, response, answer);
        const uint8_t *kept = tendon_simulated_obvious_kept(&responses, request, size, &length);
        assert_non_null(kept);
        assert_int_equal(length, answer);
        assert_memory_equal(kept, response, answer);
    }
    size_t size = ping(request, 1, 7, 0);
    assert_null(tendon_simulated_obvious_kept(&responses, request, size, &length)); /* replaced */
    size = ping(request, 2, 7, 0);
    assert_non_null(tendon_simulated_obvious_kept(&responses, request, size, &length));
    size = ping(request, 2, 8, 0); /* the same id, other content */
    assert_null(tendon_simulated_obvious_kept(&responses, request, size, &length));
}

static void what_does_not_fit_is_not_kept(void **state) {
    (void)state;
    uint8_t request[32], response[TENDON_SIMULATED_OBVIOUS_RESPONSE_MAX + 1] = {0};
    size_t length = 0, size = ping(request, 1, 7, 0);
    memset(&responses, 0, sizeof responses);
    tendon_simulated_obvious_keep(&responses, request, size, response, sizeof response);
    assert_null(tendon_simulated_obvious_kept(&responses, request, size, &length));
    tendon_simulated_obvious_keep(&responses, request, size, response, sizeof response - 1);
    assert_non_null(tendon_simulated_obvious_kept(&responses, request, size, &length));
    assert_int_equal(length, 271);
    tendon_simulated_obvious_keep(&responses, request, 13, response, 14);
    assert_null(tendon_simulated_obvious_kept(&responses, request, 13, &length));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_four_are_kept),
        cmocka_unit_test(what_does_not_fit_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
