/* SPDX-License-Identifier: MIT */
/* Packets of anybody: each is refused at the byte that is wrong, and reports nothing. */
#include "test_bytes.h"

#include "tendon/osc.h"

static void never(void *context, const tendon_osc_message *message) {
    (void)context;
    (void)message;
    fail_msg("a packet with a mistake was reported");
}

static void assert_refused(const char *hex, tendon_status expected, size_t where) {
    block packet = block_hex(hex);
    size_t offset = 999;
    tendon_status status = tendon_osc_decode(packet.data, packet.length, never, NULL, &offset);
    if (status != expected || offset != where) {
        fail_msg("%s: status %d at %zu instead of %d at %zu", hex, status, offset, expected, where);
    }
    assert_int_equal(tendon_osc_decode(packet.data, packet.length, NULL, NULL, NULL), expected);
    free(packet.data);
}

static void no_packet(void **state) {
    (void)state;
    assert_refused("", TENDON_ERROR_TRUNCATED, 0);
    assert_refused("2f", TENDON_ERROR_MALFORMED, 1);
    assert_refused("2f6100", TENDON_ERROR_MALFORMED, 3);
    assert_refused("2f61000000", TENDON_ERROR_MALFORMED, 5);
    assert_refused("00000000", TENDON_ERROR_MALFORMED, 0); /* an empty address */
    assert_refused("61610000", TENDON_ERROR_MALFORMED, 0); /* no slash */
    assert_refused("2f616161", TENDON_ERROR_MALFORMED, 0); /* no terminator */
    assert_int_equal(tendon_osc_decode(NULL, 0, never, NULL, NULL), TENDON_ERROR_TRUNCATED);
}

static void tags_and_arguments(void **state) {
    (void)state;
    assert_refused("2f610001 2c000000", TENDON_ERROR_MALFORMED, 3);           /* padding of the address */
    assert_refused("2f610000 2c540001", TENDON_ERROR_MALFORMED, 7);           /* of the tags */
    assert_refused("2f610000 2c730000 41000042", TENDON_ERROR_MALFORMED, 11); /* of a string */
    assert_refused("2f610000 2c620000 00000001 41000001", TENDON_ERROR_MALFORMED, 15);
    assert_refused("2f610000 54000000", TENDON_ERROR_MALFORMED, 4);          /* no comma */
    assert_refused("2f610000 00000000", TENDON_ERROR_MALFORMED, 4);          /* nothing where tags are to be */
    assert_refused("2f610000 2c545454", TENDON_ERROR_MALFORMED, 4);          /* no terminator */
    assert_refused("2f610000 2c710000 00000000", TENDON_ERROR_MALFORMED, 5); /* a type that nobody knows */
    assert_refused("2f610000 2c697100 00000000 00000000", TENDON_ERROR_MALFORMED, 6);
    assert_refused("2f610000 2c690000", TENDON_ERROR_TRUNCATED, 8);
    assert_refused("2f610000 2c640000 00000000", TENDON_ERROR_TRUNCATED, 12);
    assert_refused("2f610000 2c690000 00000000 00000000", TENDON_ERROR_MALFORMED, 12); /* one number too many */
    assert_refused("2f610000 2c730000", TENDON_ERROR_TRUNCATED, 8);
    assert_refused("2f610000 2c730000 41414141", TENDON_ERROR_MALFORMED, 8);
    assert_refused("2f610000 2c620000 00000005 41414141", TENDON_ERROR_TRUNCATED, 12);
    assert_refused("2f610000 2c620000 ffffffff 41414141", TENDON_ERROR_TRUNCATED, 12);
    assert_refused("2f610000 2c620000 7fffffff 41414141", TENDON_ERROR_TRUNCATED, 12);
    assert_refused("2f610000 2c5d0000", TENDON_ERROR_MALFORMED, 5); /* an end without a beginning */
    assert_refused("2f610000 2c5b0000", TENDON_ERROR_MALFORMED, 5); /* a beginning without an end */
    assert_refused("2f610000 2c5d5b00", TENDON_ERROR_MALFORMED, 5);
}

static void bundles(void **state) {
    (void)state;
    assert_refused("2362756e646c6500", TENDON_ERROR_TRUNCATED, 8);
    assert_refused("2362756e646c6500 00000000", TENDON_ERROR_TRUNCATED, 12);
    assert_refused("2362756e646c6501 0000000000000001", TENDON_ERROR_MALFORMED, 0);
    assert_refused("2362756e646c6500 0000000000000001 00000000", TENDON_ERROR_MALFORMED, 16); /* no end */
    assert_refused("2362756e646c6500 0000000000000001 00000003 2f610000", TENDON_ERROR_MALFORMED, 16);
    assert_refused("2362756e646c6500 0000000000000001 00000008 2f610000", TENDON_ERROR_TRUNCATED, 16);
    assert_refused("2362756e646c6500 0000000000000001 fffffffc 2f610000", TENDON_ERROR_TRUNCATED, 16);
    assert_refused("2362756e646c6500 0000000000000001 00000004 61610000", TENDON_ERROR_MALFORMED, 20);
    /* the second element is wrong: the first is not reported either */
    assert_refused("2362756e646c6500 0000000000000001 00000004 2f610000 00000004 61610000", TENDON_ERROR_MALFORMED, 28);
    /* an element that ends inside of a field */
    assert_refused("2362756e646c6500 0000000000000001 00000008 2f610000 2c690000 00000001", TENDON_ERROR_TRUNCATED, 28);
    /* an inner bundle longer than the outer one */
    assert_refused("2362756e646c6500 0000000000000001 00000014 2362756e646c6500 0000000000000002 00000008 2f610000"
                   "2c000000",
                   TENDON_ERROR_TRUNCATED, 36);
}

static void bundles_too_deep(void **state) {
    (void)state;
    uint8_t packet[20 * 64];
    for (unsigned depth = 1; depth <= 64; depth++) {
        size_t length = 20u * depth - 4;
        for (unsigned i = 0; i < depth; i++) {
            uint8_t *at = packet + 20u * i;
            memcpy(at, "#bundle\0\0\0\0\0\0\0\0\1", 16);
            if (i + 1 < depth) {
                uint32_t size = (uint32_t)(length - 20u * (i + 1));
                for (unsigned byte = 0; byte < 4; byte++) {
                    at[16 + byte] = (uint8_t)(size >> (24 - 8 * byte));
                }
            }
        }
        size_t offset = 0;
        tendon_status status = tendon_osc_decode(packet, length, never, NULL, &offset);
        assert_int_equal(status, depth <= TENDON_OSC_DEPTH ? 0 : TENDON_ERROR_OVERFLOW);
        assert_int_equal(offset, depth <= TENDON_OSC_DEPTH ? 0 : 20 * TENDON_OSC_DEPTH);
    }
}

/* A packet with everything, cut at each position, and each of its bytes changed to each value. */
static void count(void *context, const tendon_osc_message *message) {
    unsigned *messages = context;
    tendon_osc_arguments arguments = tendon_osc_arguments_of(message);
    tendon_osc_argument a;
    unsigned taken = 0;
    while (tendon_osc_next(&arguments, &a)) {
        taken++;
    }
    assert_int_equal(taken, message->tag_count);
    assert_int_equal(tendon_reader_remaining(&arguments.values), 0);
    ++*messages;
}

static void cut_at_every_position(void **state) {
    (void)state;
    /* The message has 60 bytes, the inner bundle 28. */
    block whole = block_hex("2362756e646c6500 0000000000000001 0000003c 2f666f6f 00000000 2c696868 6673625b 545d0000"
                            "000003e8 0000000000000001 0000000000000002 3f9df3b6 68656c6c 6f000000 00000003 01020300"
                            "0000001c 2362756e646c6500 0000000000000003 00000008 2f610000 2c540000");
    unsigned messages = 0;
    assert_int_equal(tendon_osc_decode(whole.data, whole.length, count, &messages, NULL), 2);
    assert_int_equal(messages, 2);
    for (size_t length = 0; length < whole.length; length++) {
        block cut = block_copy(whole.data, length);
        size_t offset = 0;
        messages = 0;
        tendon_status status = tendon_osc_decode(cut.data, cut.length, count, &messages, &offset);
        /* What ends between two elements is whole. */
        bool is_whole = length == 16 || length == 80;
        assert_true(is_whole ? status >= 0 : status < 0 && messages == 0 && offset <= length);
        free(cut.data);
    }
    for (size_t at = 0; at < whole.length; at++) {
        uint8_t kept = whole.data[at];
        for (unsigned value = 0; value < 256; value++) {
            whole.data[at] = (uint8_t)value;
            size_t offset = 0;
            messages = 0;
            tendon_status status = tendon_osc_decode(whole.data, whole.length, count, &messages, &offset);
            assert_true(status >= 0 ? messages == (unsigned)status : messages == 0 && offset <= whole.length);
        }
        whole.data[at] = kept;
    }
    free(whole.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_packet),        cmocka_unit_test(tags_and_arguments),    cmocka_unit_test(bundles),
        cmocka_unit_test(bundles_too_deep), cmocka_unit_test(cut_at_every_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
