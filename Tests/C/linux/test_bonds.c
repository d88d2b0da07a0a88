/* SPDX-License-Identifier: MIT */
/* Bonds: the file byte by byte, which one is found, stored and evicted, the kernel's lists of keys. */
#include "bonds_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void the_file_byte_by_byte(void **state) {
    static const uint8_t wanted[16 + 46] = {
        'T',  'E',  'N',  'D',  'B',  'O',  'N',  'D',  1,    0,    1,    0,    0,    0,    0,    0, /* CRC below */
        0,    1,    2,    16,   0x00, 0x00, 0x00, 0x01, 0xAA, 0x00, 0,    0x07, 4,    3,    2,    1,
        0xC0, 1,    0x34, 0x12, 7,    7,    7,    7,    7,    7,    7,    7,    0xA7, 0xA7, 0xA7, 0xA7,
        0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0,    0};
    uint8_t bytes[16 + 46];
    tendon_bond bond = bonds_item(7), read;
    (void)state;
    assert_int_equal(tendon_bonds_encode(&bond, 1, bytes, sizeof bytes), (tendon_status)sizeof bytes);
    uint32_t crc = tendon_crc32(0, wanted + 16, 46);
    tendon_reader reader = tendon_reader_make(bytes + 12, 4);
    assert_int_equal(tendon_read_u32le(&reader), crc);
    memset(bytes + 12, 0, 4);
    assert_memory_equal(bytes, wanted, sizeof wanted);
    assert_int_equal(tendon_bonds_encode(&bond, 1, bytes, sizeof bytes), (tendon_status)sizeof bytes);
    assert_int_equal(tendon_bonds_decode(bytes, sizeof bytes, &read, 1, NULL), 1);
    assert_memory_equal(&read.key, &bond.key, sizeof read.key);
    assert_true(tendon_address_equal(&read.peer, &bond.peer) && tendon_address_equal(&read.own, &bonds_own));
    assert_int_equal(read.diversifier, 0x1234);
    assert_int_equal(tendon_bonds_encode(&bond, 1, bytes, sizeof bytes - 1), TENDON_ERROR_BUFFER_TOO_SMALL);
}

static void mal_H10_every_cut_and_every_changed_byte_is_refused(void **state) {
    tendon_bond bonds[2] = {bonds_item(1), bonds_item(2)}, read[2];
    uint8_t bytes[16 + 2 * 46];
    (void)state;
    assert_int_equal(tendon_bonds_encode(bonds, 2, bytes, sizeof bytes), (tendon_status)sizeof bytes);
    for (size_t length = 0; length < sizeof bytes; length++) {
        uint8_t *cut = malloc(length + (length == 0));
        size_t offset = 999;
        memcpy(cut, bytes, length);
        assert_int_equal(tendon_bonds_decode(cut, length, read, 2, &offset), TENDON_ERROR_TRUNCATED);
        assert_true(offset <= length);
        free(cut);
    }
    for (size_t at = 0; at < sizeof bytes; at++) {
        bytes[at] ^= 0x10;
        if (at != 9) { /* reserved */
            assert_true(tendon_bonds_decode(bytes, sizeof bytes, read, 2, NULL) < 0);
        }
        bytes[at] ^= 0x10;
    }
    assert_int_equal(tendon_bonds_decode(bytes, sizeof bytes, read, 1, NULL), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(tendon_bonds_decode(bytes, sizeof bytes, read, 2, NULL), 2);
}

static void stored_found_replaced_removed(void **state) {
    char path[128];
    tendon_bonds a, b;
    struct stat info;
    bonds_path_in(*state, path);
    assert_int_equal(tendon_bonds_open(&a, path), TENDON_OK);
    assert_int_equal(access(path, F_OK), -1); /* made with the first bond */
    tendon_bond first = bonds_item(1), second = bonds_item(2), responder = bonds_item(1);
    responder.initiator = false;
    assert_int_equal(tendon_bonds_store(&a, &first), TENDON_OK);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(tendon_bonds_store(&a, &responder), TENDON_OK);
    assert_int_equal(tendon_bonds_open(&b, path), TENDON_OK);
    assert_int_equal(b.count, 2);
    assert_int_equal(tendon_bonds_store(&b, &second), TENDON_OK); /* by another process */
    first.key[0] = 0x55;
    assert_int_equal(tendon_bonds_store(&a, &first), TENDON_OK); /* which does not undo that */
    assert_int_equal(a.count, 3);
    assert_non_null(tendon_bonds_find(&a, TENDON_BOND_KERNEL, &bonds_own, &second.peer));
    assert_null(tendon_bonds_find(&a, TENDON_BOND_VIRTUAL, &bonds_own, &second.peer));
    assert_null(tendon_bonds_find(&a, TENDON_BOND_KERNEL, &second.peer, &second.peer));
    assert_int_equal(tendon_bonds_remove(&a, TENDON_BOND_KERNEL, &bonds_own, &first.peer), 2);
    assert_int_equal(tendon_bonds_remove(&a, TENDON_BOND_KERNEL, &bonds_own, &first.peer), 0);
    assert_int_equal(tendon_bonds_open(&b, path), TENDON_OK);
    assert_int_equal(b.count, 1);
    assert_memory_equal(b.items[0].key, second.key, 16);
    assert_int_equal(tendon_bonds_remove(&b, TENDON_BOND_KERNEL, &bonds_own, NULL), 1);
    assert_int_equal(b.count, 0);
}

static bool is_number_0(void *context, const tendon_bond *bond) {
    (void)context;
    return bond->peer.bytes[5] == 0;
}

static bool is_any(void *context, const tendon_bond *bond) {
    (void)bond;
    *(int *)context += 1;
    return true;
}

static void a_full_store_is_an_error_and_evicts_only_when_told(void **state) {
    char path[128];
    tendon_bonds bonds;
    bonds_path_in(*state, path);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    for (uint8_t i = 0; i < TENDON_BONDS_MAX; i++) {
        tendon_bond bond = bonds_item(i);
        bond.initiator = i != 1;
        assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    }
    tendon_bond first = bonds_item(0), second = bonds_item(1), third = bonds_item(2),
                last = bonds_item(TENDON_BONDS_MAX);
    assert_int_equal(tendon_bonds_store(&bonds, &last), TENDON_RADIO_ERROR_BONDS_FULL);
    assert_int_equal(bonds.count, TENDON_BONDS_MAX);
    first.key[0] = 1;
    assert_int_equal(tendon_bonds_store(&bonds, &first), TENDON_OK); /* one that is there is replaced */
    int asked = 0;
    assert_int_equal(tendon_bonds_store_replacing(&bonds, &last, is_any, &asked), TENDON_RADIO_ERROR_BONDS_FULL);
    assert_int_equal(asked, TENDON_BONDS_MAX - 1); /* not the one of the other role */
    assert_int_equal(tendon_bonds_store_replacing(&bonds, &last, is_number_0, NULL), TENDON_OK);
    assert_int_equal(bonds.count, TENDON_BONDS_MAX);
    assert_non_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &bonds_own, &first.peer));
    assert_non_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &bonds_own, &second.peer));
    assert_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &bonds_own, &third.peer));
    assert_non_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &bonds_own, &last.peer));
}

static void address_and_type_identify_a_device(void **state) {
    tendon_bonds bonds;
    tendon_bond random = bonds_item(1), public = bonds_item(1);
    (void)state;
    public.peer.type = TENDON_ADDRESS_TYPE_PUBLIC;
    tendon_bonds_init(&bonds);
    assert_int_equal(tendon_bonds_store(&bonds, &random), TENDON_OK);
    assert_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &bonds_own, &public.peer));
    assert_int_equal(tendon_bonds_store(&bonds, &public), TENDON_OK);
    assert_int_equal(bonds.count, 2);
    assert_int_equal(tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &bonds_own, &random.peer), 1);
    assert_non_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &bonds_own, &public.peer));
}

/* Linux management interface: New Long Term Key, Load Long Term Keys. */
static const uint8_t new_key[37] = {1,
                                    0x07,
                                    4,
                                    3,
                                    2,
                                    1,
                                    0xC0,
                                    2 /* LE random */,
                                    2 /* P-256 */,
                                    1,
                                    16,
                                    0x34,
                                    0x12,
                                    7,
                                    7,
                                    7,
                                    7,
                                    7,
                                    7,
                                    7,
                                    7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7};

static void the_kernels_keys(void **state) {
    tendon_bond bond, wanted = bonds_item(7);
    bool stored = false;
    (void)state;
    assert_int_equal(tendon_bond_decode_key(new_key, sizeof new_key, &bond, &stored), TENDON_OK);
    assert_true(stored && bond.initiator);
    assert_true(tendon_address_equal(&bond.peer, &wanted.peer));
    assert_memory_equal(bond.key, wanted.key, 16);
    for (size_t length = 0; length < sizeof new_key; length++) {
        uint8_t *cut = malloc(length + (length == 0));
        memcpy(cut, new_key, length);
        assert_int_equal(tendon_bond_decode_key(cut, length, &bond, &stored), TENDON_ERROR_TRUNCATED);
        free(cut);
    }
    for (unsigned value = 0; value < 256; value++) {
        uint8_t changed[37];
        memcpy(changed, new_key, sizeof changed);
        changed[7] = (uint8_t)value;
        bool good = value == 1 || value == 2;
        assert_int_equal(tendon_bond_decode_key(changed, sizeof changed, &bond, &stored),
                         good ? TENDON_OK : TENDON_ERROR_MALFORMED);
        changed[7] = 1;
        changed[10] = (uint8_t)value;
        good = value >= 7 && value <= 16;
        assert_int_equal(tendon_bond_decode_key(changed, sizeof changed, &bond, &stored),
                         good ? TENDON_OK : TENDON_ERROR_MALFORMED);
    }
    tendon_bonds bonds;
    uint8_t list[2 + 2 * 36];
    tendon_bonds_init(&bonds);
    tendon_bond other = bonds_item(1), virtual_one = bonds_item(2);
    other.own.bytes[0] = 0x77;
    virtual_one.radio = TENDON_BOND_VIRTUAL;
    assert_int_equal(tendon_bonds_store(&bonds, &other), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &virtual_one), TENDON_OK);
    assert_int_equal(tendon_bonds_encode_keys(&bonds, &bonds_own, list, sizeof list), 2);
    assert_int_equal(list[0] | list[1], 0);
    assert_int_equal(tendon_bonds_store(&bonds, &wanted), TENDON_OK);
    assert_int_equal(tendon_bonds_encode_keys(&bonds, &bonds_own, list, sizeof list), 2 + 36);
    assert_int_equal(list[0], 1);
    assert_memory_equal(list + 2, new_key + 1, 36); /* as it came, so it goes back */
    assert_int_equal(tendon_bonds_encode_keys(&bonds, &bonds_own, list, 37), TENDON_ERROR_BUFFER_TOO_SMALL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_byte_by_byte),
        cmocka_unit_test(mal_H10_every_cut_and_every_changed_byte_is_refused),
        cmocka_unit_test_setup_teardown(stored_found_replaced_removed, bonds_setup, bonds_teardown),
        cmocka_unit_test_setup_teardown(a_full_store_is_an_error_and_evicts_only_when_told, bonds_setup,
                                        bonds_teardown),
        cmocka_unit_test(address_and_type_identify_a_device),
        cmocka_unit_test(the_kernels_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
