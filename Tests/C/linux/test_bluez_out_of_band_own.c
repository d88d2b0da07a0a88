/* SPDX-License-Identifier: MIT */
/* The data of this adapter, from a scripted kernel, and each system call that fails. */
#include "bluez_kernel.h"
#include "open_files.h"

#include <errno.h>
#include <string.h>

/* Address types, length, then what Linux 6.1 sent: address, role, confirmation and random value, flags. */
#define TAIL "081b00000001aa0000021c01112263b7391d9efb1197a7229047e0717d1b112351303c30717f6ac704522d2a95db9a04020100"
#define REPLY "06 3300 " TAIL

static tendon_bonds bonds;
static tendon_out_of_band found;

static bluez_bench *opened(void) {
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    kernel = (bluez_kernel){.out_of_band = REPLY};
    tendon_bonds_init(&bonds);
    assert_int_equal(tendon_radio_use_bonds(&b->radio.radio, &bonds), TENDON_OK);
    kernel.log[0] = '\0';
    memset(&found, 0xEE, sizeof found);
    return b;
}

static void closed(bluez_bench *b) {
    calls.fd = calls.peer = -1; /* closed by the next line */
    bluez_kernel_close();
    bluez_close(b);
}

static void the_kernel_makes_the_data(void **state) {
    static const uint8_t confirm[16] = {0x63, 0xB7, 0x39, 0x1D, 0x9E, 0xFB, 0x11, 0x97,
                                        0xA7, 0x22, 0x90, 0x47, 0xE0, 0x71, 0x7D, 0x1B};
    static const uint8_t random[16] = {0x51, 0x30, 0x3C, 0x30, 0x71, 0x7F, 0x6A, 0xC7,
                                       0x04, 0x52, 0x2D, 0x2A, 0x95, 0xDB, 0x9A, 0x04};
    static const tendon_address address = {{0, 0xAA, 1, 0, 0, 0}, TENDON_ADDRESS_TYPE_PUBLIC};
    tendon_listener listener;
    (void)state;
    bluez_bench *b = opened();
    assert_int_equal(tendon_radio_read_out_of_band(&b->radio.radio, &found), TENDON_OK);
    assert_string_equal(kernel.log, " m2d m3b"); /* Secure Connections first: without it the kernel has no values */
    assert_true(tendon_address_equal(&found.address, &address));
    assert_int_equal(found.role, TENDON_LE_ROLE_CENTRAL);
    assert_memory_equal(found.confirm, confirm, 16);
    assert_memory_equal(found.random, random, 16);
    b->radio.radio.listener = &listener;
    assert_int_equal(tendon_radio_read_out_of_band(&b->radio.radio, &found), TENDON_OK);
    assert_int_equal(found.role, TENDON_LE_ROLE_PERIPHERAL);
    b->radio.radio.listener = NULL;
    closed(b);
}

static void what_the_kernel_rejects(void **state) {
    static const struct {
        uint16_t opcode;
        uint8_t error;
        tendon_status status;
    } rows[] = {{0x2D, 0x0C, TENDON_ERROR_UNSUPPORTED}, /* no Secure Connections */
                {0x2D, 0x14, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN},
                {0x3B, 0x0C, TENDON_ERROR_UNSUPPORTED},      /* a controller without BR/EDR */
                {0x3B, 0x0B, TENDON_MANAGEMENT_ERROR(0x0B)}, /* private addresses */
                {0x3B, 0x0F, TENDON_MANAGEMENT_ERROR(0x0F)}, /* not powered */
                {0x3B, 0x11, TENDON_RADIO_ERROR_NO_ADAPTER}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bluez_bench *b = opened();
        kernel.fails = rows[i].opcode;
        kernel.error = rows[i].error;
        assert_int_equal(tendon_radio_read_out_of_band(&b->radio.radio, &found), rows[i].status);
        assert_int_equal(found.role, 0xEE);
        closed(b);
    }
    bluez_bench *b = opened();
    kernel.silent = true;
    assert_int_equal(tendon_radio_read_out_of_band(&b->radio.radio, &found), TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    b->radio.radio.bonds = NULL;
    assert_int_equal(tendon_radio_read_out_of_band(&b->radio.radio, &found), TENDON_RADIO_ERROR_NO_PAIRING_SERVICE);
    closed(b);
}

static void replies_that_are_none(void **state) {
    static const struct {
        const char *reply;
        tendon_status status;
    } rows[] = {{"", TENDON_ERROR_TRUNCATED},
                {"06", TENDON_ERROR_TRUNCATED},
                {"06 33", TENDON_ERROR_TRUNCATED},
                {"06 3400 " TAIL, TENDON_ERROR_TRUNCATED},
                {"06 0000", TENDON_ERROR_MALFORMED},
                {"06 0f00 081b00000001aa0000021c01020100", TENDON_ERROR_MALFORMED}, /* without Secure Connections */
                {"06 0200 08 1b", TENDON_ERROR_TRUNCATED}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bluez_bench *b = opened();
        kernel.out_of_band = rows[i].reply;
        assert_int_equal(tendon_radio_read_out_of_band(&b->radio.radio, &found), rows[i].status);
        assert_int_equal(found.role, 0xEE);
        closed(b);
    }
}

static void any_call_fails(void **state) {
    static const int numbers[] = {EINTR, EAGAIN, EIO, ENOMEM, EPERM, EMFILE, ENODEV};
    (void)state;
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
        unsigned last = 1;
        for (unsigned at = 0; at <= last; at++) {
            bluez_bench *b = opened();
            int before = open_descriptors();
            unsigned made = calls.made;
            calls.refuse_number = numbers[n];
            calls.refuse_at = at == 0 ? 0 : made + at;
            tendon_status status = tendon_radio_read_out_of_band(&b->radio.radio, &found);
            last = at == 0 ? calls.made - made : last;
            if (status < 0) {
                assert_int_equal(found.role, 0xEE);
            }
            assert_true(at > 0 || status == TENDON_OK);
            calls.refuse_at = 0;
            assert_int_equal(tendon_radio_read_out_of_band(&b->radio.radio, &found), TENDON_OK);
            assert_true(open_descriptors() <= before + 1); /* the scripted kernel's end */
            closed(b);
        }
        assert_true(last >= 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_makes_the_data),
        cmocka_unit_test(what_the_kernel_rejects),
        cmocka_unit_test(replies_that_are_none),
        cmocka_unit_test(any_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
