/* SPDX-License-Identifier: MIT */
/* Obvious: data segments at every ATT MTU, and control segments. */
#include "test_bytes.h"

#include "tendon/devices/obvious.h"

static const char frame_hex[] =
    "4f420101020002002800d20400008877665544332211f84d0f0042420f0069915b0050690f00290000000000"
    "00000157"
    "02017ec6def6";

static void segments_of_the_specification(void **state) {
    (void)state;
    static const char *const at_23[] = {"6001000036004f420101020002002800d2040000",
                                        "400101008877665544332211f84d0f0042420f00",
                                        "4001020069915b0050690f002900000000000000", "58010300015702017ec6def6"};
    block frame = block_hex(frame_hex);
    assert_int_equal(frame.length, 54);
    uint8_t out[512];
    assert_int_equal(tendon_obvious_segment_count(54, 20), 4);
    for (size_t i = 0; i < 4; i++) {
        tendon_status length =
            tendon_obvious_encode_segment(frame.data, 54, 20, 1, i, tendon_obvious_segment_requests_ack(i, 4, 8), out);
        assert_true(length > 0);
        assert_hex(out, (size_t)length, at_23[i]);
    }
    assert_int_equal(tendon_obvious_segment_count(54, 61), 1);
    tendon_status length = tendon_obvious_encode_segment(frame.data, 54, 61, 1, 0, true, out);
    assert_int_equal(length, 60);
    assert_hex(out, 60,
               "7801000036004f420101020002002800d20400008877665544332211f84d0f0042420f0069915b0050690f00290000000000"
               "0000015702017ec6def6");
    free(frame.data);
}

static void sizes_at_every_mtu(void **state) {
    (void)state;
    for (size_t mtu = 0; mtu < 600; mtu++) {
        size_t expected = mtu < 23 ? 20 : mtu > 515 ? 512 : mtu - 3;
        assert_int_equal(tendon_obvious_segment_size(mtu), expected);
    }
    assert_int_equal(tendon_obvious_segment_size(SIZE_MAX), 512);
}

/* The parts are put together again, at every segment size and every length around the borders. */
static void parts_make_the_frame(void **state) {
    (void)state;
    dice d = {3};
    block frame = block_random(&d, 4096);
    static uint8_t joined[4096];
    for (size_t size = 20; size <= 512; size++) {
        const size_t lengths[] = {14,       15,           size - 6,         size - 5,          size - 6 + size - 4,
                                  size * 2, size * 2 - 9, 4096 - size % 17, 4096 - size % 500, 4096};
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
            size_t length = lengths[l] < 14 ? 14 : lengths[l];
            size_t count = tendon_obvious_segment_count(length, size), filled = 0;
            for (size_t i = 0; i < count; i++) {
                uint8_t out[512];
                tendon_status made = tendon_obvious_encode_segment(frame.data, length, size, 0xA5, i, false, out);
                size_t header = i == 0 ? 6 : 4;
                assert_true(made > (tendon_status)header);
                assert_true(i + 1 == count || made == (tendon_status)size);
                assert_int_equal(out[0], 0x40 | (i == 0 ? 0x20 : 0) | (i + 1 == count ? 0x10 : 0));
                assert_int_equal(out[1], 0xA5);
                assert_int_equal(out[2] | out[3] << 8, i);
                if (i == 0) {
                    assert_int_equal(out[4] | out[5] << 8, length);
                }
                assert_true(filled + (size_t)made - header <= length);
                memcpy(joined + filled, out + header, (size_t)made - header);
                filled += (size_t)made - header;
            }
            assert_int_equal(filled, length);
            assert_memory_equal(joined, frame.data, length);
        }
    }
    free(frame.data);
}

static void arguments_out_of_range(void **state) {
    (void)state;
    static uint8_t frame[4097], out[600];
    assert_int_equal(tendon_obvious_encode_segment(frame, 13, 20, 0, 0, false, out), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_obvious_encode_segment(frame, 4097, 20, 0, 0, false, out), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_obvious_encode_segment(frame, 14, 19, 0, 0, false, out), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_obvious_encode_segment(frame, 14, 513, 0, 0, false, out), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_obvious_encode_segment(frame, 14, 20, 0, 1, false, out), TENDON_ERROR_INVALID_ARGUMENT);
}

static void acks_are_requested_twice_per_window(void **state) {
    (void)state;
    for (size_t window = 1; window <= 32; window++) {
        size_t half = window / 2 == 0 ? 1 : window / 2;
        for (size_t i = 0; i < 40; i++) {
            assert_int_equal(tendon_obvious_segment_requests_ack(i, 40, window), i == 39 || (i + 1) % half == 0);
        }
    }
}

static void controls(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        tendon_obvious_control control;
    } rows[] = {
        {"440101000400000000000800", {1, TENDON_OBVIOUS_ACK, 0, 4, 8, 0}},
        {"440101000200030000000800", {1, TENDON_OBVIOUS_ACK, 0, 2, 8, 3}},
        {"440903050000000000000800", {9, TENDON_OBVIOUS_RESET, 5, 0, 8, 0}},
        {"44ff0409ffff785634122000", {255, TENDON_OBVIOUS_WAIT, 9, 0xFFFF, 32, 0x12345678}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        block bytes = block_hex(rows[i].hex);
        tendon_obvious_control control;
        memset(&control, 0xEE, sizeof control);
        assert_int_equal(tendon_obvious_decode_control(bytes.data, bytes.length, &control), TENDON_OK);
        const tendon_obvious_control *expected = &rows[i].control;
        assert_true(control.msgseq == expected->msgseq && control.type == expected->type &&
                    control.reason == expected->reason && control.next == expected->next &&
                    control.credit == expected->credit && control.bitmap == expected->bitmap);
        uint8_t out[12];
        tendon_obvious_encode_control(&control, out);
        assert_hex(out, 12, rows[i].hex);
        for (size_t length = 0; length < 12; length++) {
            block cut = block_copy(bytes.data, length);
            assert_int_equal(tendon_obvious_decode_control(cut.data, length, &control),
                             TENDON_OBVIOUS_ERROR_CTL_BAD_LENGTH);
            free(cut.data);
        }
        free(bytes.data);
    }
}

static void controls_out_of_range(void **state) {
    (void)state;
    uint8_t bytes[13] = {0x44, 1, 1, 10, 0, 0, 0, 0, 0, 0, 33, 0, 0};
    tendon_obvious_control control;
    assert_int_equal(tendon_obvious_decode_control(bytes, 12, &control), TENDON_OK);
    assert_int_equal(control.reason, 0);
    assert_int_equal(control.credit, 32);
    assert_int_equal(tendon_obvious_decode_control(bytes, 13, &control), TENDON_OBVIOUS_ERROR_CTL_BAD_LENGTH);
    bytes[2] = 0;
    assert_int_equal(tendon_obvious_decode_control(bytes, 12, &control), TENDON_OBVIOUS_ERROR_CTL_BAD_TYPE);
    bytes[2] = 5;
    assert_int_equal(tendon_obvious_decode_control(bytes, 12, &control), TENDON_OBVIOUS_ERROR_CTL_BAD_TYPE);
    for (unsigned flags = 0; flags < 256; flags++) {
        bytes[0] = (uint8_t)flags;
        assert_int_equal(tendon_obvious_decode_control(bytes, 12, &control),
                         flags == 0x44 ? TENDON_OBVIOUS_ERROR_CTL_BAD_TYPE : TENDON_OBVIOUS_ERROR_CTL_BAD_FLAGS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_of_the_specification),
        cmocka_unit_test(sizes_at_every_mtu),
        cmocka_unit_test(parts_make_the_frame),
        cmocka_unit_test(arguments_out_of_range),
        cmocka_unit_test(acks_are_requested_twice_per_window),
        cmocka_unit_test(controls),
        cmocka_unit_test(controls_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
