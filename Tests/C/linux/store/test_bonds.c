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
    assert_int_equal(tendon_bonds_encode(NULL, UINT16_MAX + 1u, bytes, sizeof bytes), TENDON_ERROR_OVERFLOW);
}

/* Types of the management interface: New Long Term Key of mgmt-api.txt. */
static void what_a_key_is_worth(void **state) {
    (void)state;
    for (unsigned type = 0; type < 256; type++) {
        tendon_bond bond = bonds_item(1);
        bond.type = (uint8_t)type;
        assert_int_equal(tendon_bond_is_authenticated(&bond), type == 1 || type == 3);
        assert_int_equal(tendon_bond_is_secure(&bond), type == 2 || type == 3);
    }
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

static void write_crc(uint8_t *bytes, size_t length) {
    tendon_writer crc = tendon_writer_make(bytes + 12, 4);
    tendon_write_u32le(&crc, tendon_crc32(0, bytes + 16, length - 16));
}

/* Sizes of Core Specification 6.0, Vol 3, Part H, 2.3.4. The size is byte 3 of a record. */
static void mal_H10_a_key_size_that_no_key_has(void **state) {
    (void)state;
    for (unsigned size = 0; size < 256; size++) {
        for (unsigned identity = 0; identity < 2; identity++) {
            tendon_bond bonds[2] = {bonds_item(1), bonds_item(2)}, read[2];
            uint8_t bytes[16 + 2 * 62];
            const size_t record = identity ? 62 : 46, length = 16 + 2 * record, at = 16 + record + 3;
            const bool valid = size >= 7 && size <= 16;
            size_t offset = 999;
            bonds[0].has_identity_key = identity != 0;
            assert_int_equal(tendon_bonds_encode(bonds, 2, bytes, sizeof bytes), (tendon_status)length);
            bytes[at] = (uint8_t)size;
            write_crc(bytes, length);
            memset(read, 0x5A, sizeof read);
            assert_int_equal(tendon_bonds_decode(bytes, length, read, 2, &offset), valid ? 2 : TENDON_ERROR_MALFORMED);
            assert_int_equal(offset, valid ? 999 : at);
            assert_int_equal(read[0].key_size, valid ? 16 : 0x5A); /* an error changes nothing */
            bonds[1].key_size = (uint8_t)size;
            assert_int_equal(tendon_bonds_encode(bonds, 2, bytes, sizeof bytes),
                             valid ? (tendon_status)length : TENDON_ERROR_INVALID_ARGUMENT);
        }
    }
}

/* Version 2, if one of the bonds has an identity key; the records of both are as long then. */
static void a_file_with_identity_keys(void **state) {
    enum { RECORD = 46 + 16, SIZE = 16 + 2 * RECORD };
    (void)state;
    tendon_bond bonds[2] = {bonds_item(7), bonds_item(8)}, read[2];
    uint8_t bytes[SIZE], one[16 + 46];
    bonds[1].has_identity_key = true;
    for (uint8_t i = 0; i < 16; i++) {
        bonds[1].identity_key[i] = (uint8_t)(0xE0 + i);
    }
    assert_int_equal(tendon_bonds_encode(bonds, 2, bytes, sizeof bytes), SIZE);
    static const uint8_t head[12] = {'T', 'E', 'N', 'D', 'B', 'O', 'N', 'D', 2, 0, 2, 0};
    static const uint8_t tail[2 + 16] = {1,    0,    0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6,
                                         0xE7, 0xE8, 0xE9, 0xEA, 0xEB, 0xEC, 0xED, 0xEE, 0xEF};
    static const uint8_t none[2 + 16] = {0};
    assert_memory_equal(bytes, head, sizeof head);
    assert_memory_equal(bytes + 16 + 44, none, sizeof none);
    assert_memory_equal(bytes + 16 + RECORD + 44, tail, sizeof tail);
    assert_int_equal(tendon_bonds_encode(bonds, 1, one, sizeof one),
                     sizeof one); /* version 1 without the second bond */
    assert_memory_equal(bytes + 16, one + 16, 46);
    assert_int_equal(tendon_bonds_decode(bytes, sizeof bytes, read, 2, NULL), 2);
    assert_false(read[0].has_identity_key);
    assert_true(read[1].has_identity_key);
    assert_memory_equal(read[1].identity_key, bonds[1].identity_key, 16);
    assert_int_equal(tendon_bonds_encode(bonds, 2, bytes, sizeof bytes - 1), TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(tendon_bonds_encode(bonds, 2, bytes, sizeof bytes), SIZE);
    for (size_t length = 0; length < sizeof bytes; length++) {
        uint8_t *truncated = malloc(length + (length == 0));
        memcpy(truncated, bytes, length);
        assert_int_equal(tendon_bonds_decode(truncated, length, read, 2, NULL), TENDON_ERROR_TRUNCATED);
        free(truncated);
    }
    for (size_t at = 16; at < sizeof bytes; at++) {
        bytes[at] ^= 0x10;
        assert_int_equal(tendon_bonds_decode(bytes, sizeof bytes, read, 2, NULL), TENDON_ERROR_MALFORMED);
        bytes[at] ^= 0x10;
    }
    for (unsigned version = 0; version < 256; version++) {
        bytes[8] = (uint8_t)version;
        tendon_status expected = version == 1   ? TENDON_ERROR_MALFORMED /* records of 46 bytes: too many bytes */
                                 : version == 2 ? 2
                                                : TENDON_ERROR_UNSUPPORTED;
        assert_int_equal(tendon_bonds_decode(bytes, sizeof bytes, read, 2, NULL), expected);
    }
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

/* A peer has a key for each role after legacy pairing, and one for both after Secure Connections. */
static void the_newest_key_counts(void **state) {
    static const struct {
        uint8_t type, initiator;
        size_t count;
    } stored[] = {{0, 1, 1}, {0, 0, 2}, {1, 1, 2}, {1, 0, 2}, {2, 0, 1}, {0, 1, 2}, {3, 0, 1},
                  {1, 0, 1}, {0, 1, 2}, {4, 0, 1}, {0, 1, 2}, {5, 0, 2}, {2, 1, 2}};
    char path[128];
    tendon_bonds bonds, read;
    tendon_bond other = bonds_item(2);
    other.type = 0;
    bonds_path_in(*state, path);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &other), TENDON_OK); /* that of another peer stays */
    for (uint8_t i = 0; i < sizeof stored / sizeof stored[0]; i++) {
        tendon_bond bond = bonds_item(1);
        bond.type = stored[i].type;
        bond.initiator = stored[i].initiator != 0;
        bond.key[0] = i;
        assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
        assert_int_equal(bonds.count, 1 + stored[i].count);
        assert_int_equal(tendon_bonds_open(&read, path), TENDON_OK);
        assert_int_equal(read.count, bonds.count);
        const tendon_bond *found = tendon_bonds_find(&read, TENDON_BOND_KERNEL, &bonds_own, &bond.peer);
        assert_non_null(found);
        assert_int_equal(found->key[0], i);
        assert_int_equal(found->type, stored[i].type);
        assert_non_null(tendon_bonds_find(&read, TENDON_BOND_KERNEL, &bonds_own, &other.peer));
    }
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

/* Simulated devices have other addresses at each start: their keys make room for any other. */
static void a_full_store_replaces_the_oldest_simulated(void **state) {
    tendon_bonds bonds;
    (void)state;
    for (int of_a_simulated_one = 0; of_a_simulated_one < 2; of_a_simulated_one++) {
        tendon_bonds_init(&bonds);
        for (uint8_t i = 0; i < TENDON_BONDS_MAX; i++) {
            tendon_bond bond = bonds_item(i);
            bond.radio = i == 3 || i == 5 ? TENDON_BOND_VIRTUAL : TENDON_BOND_KERNEL;
            assert_true(tendon_bonds_have_room(&bonds));
            assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
        }
        assert_true(tendon_bonds_have_room(&bonds));
        tendon_bond bond = bonds_item(100);
        bond.radio = of_a_simulated_one ? TENDON_BOND_VIRTUAL : TENDON_BOND_KERNEL;
        assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
        assert_int_equal(bonds.count, TENDON_BONDS_MAX);
        assert_int_equal(bonds.items[3].peer.bytes[5], bonds_item(4).peer.bytes[5]); /* the older of the two went */
        assert_int_equal(bonds.items[4].radio, TENDON_BOND_VIRTUAL);
        assert_true(tendon_bonds_have_room(&bonds));
        bond = bonds_item(101);
        assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
        assert_int_equal(tendon_bonds_have_room(&bonds), of_a_simulated_one);
        bond = bonds_item(102);
        assert_int_equal(tendon_bonds_store(&bonds, &bond),
                         of_a_simulated_one ? TENDON_OK : TENDON_RADIO_ERROR_BONDS_FULL);
    }
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

/* Linux management interface: New Identity Resolving Key, Load Identity Resolving Keys. */
static void the_kernels_identity_keys(void **state) {
    static const uint8_t event[30] = {1,    0x66, 0x55, 0x44, 0x33, 0x22, 0x51, 7,    4,    3,
                                      2,    1,    0xC0, 2,    0x10, 0x11, 0x12, 0x13, 0x14, 0x15,
                                      0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F};
    tendon_bond_identity identity;
    (void)state;
    assert_int_equal(tendon_bond_decode_identity(event, sizeof event, &identity), TENDON_OK);
    const tendon_address private_address = {{0x51, 0x22, 0x33, 0x44, 0x55, 0x66}, TENDON_ADDRESS_TYPE_RANDOM};
    tendon_bond bond = bonds_item(7);
    assert_true(identity.stored);
    assert_true(tendon_address_equal(&identity.private_address, &private_address));
    assert_true(tendon_address_equal(&identity.address, &bond.peer));
    assert_memory_equal(identity.key, event + 14, 16);
    for (size_t length = 0; length < sizeof event; length++) {
        uint8_t *truncated = malloc(length + (length == 0));
        memcpy(truncated, event, length);
        assert_int_equal(tendon_bond_decode_identity(truncated, length, &identity), TENDON_ERROR_TRUNCATED);
        free(truncated);
    }
    for (unsigned type = 0; type < 256; type++) {
        uint8_t changed[30];
        memcpy(changed, event, sizeof changed);
        changed[13] = (uint8_t)type;
        assert_int_equal(tendon_bond_decode_identity(changed, sizeof changed, &identity),
                         type == 1 || type == 2 ? TENDON_OK : TENDON_ERROR_MALFORMED);
    }
    tendon_bonds bonds;
    uint8_t list[2 + 2 * 23];
    tendon_bonds_init(&bonds);
    tendon_bond other = bonds_item(1), virtual_one = bonds_item(2), without = bonds_item(3);
    other.own.bytes[0] = 0x77;
    virtual_one.radio = TENDON_BOND_VIRTUAL;
    other.has_identity_key = virtual_one.has_identity_key = bond.has_identity_key = true;
    assert_int_equal(tendon_bonds_store(&bonds, &other), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &virtual_one), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &without), TENDON_OK);
    assert_int_equal(tendon_bonds_encode_identities(&bonds, &bonds_own, list, sizeof list), 2);
    assert_int_equal(list[0] | list[1], 0);
    /* Two keys of one peer, as LE Legacy Pairing gives them: the later one has the identity key that is loaded. */
    memset(bond.identity_key, 0x99, 16);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    bond.initiator = false;
    memcpy(bond.identity_key, event + 14, 16);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    assert_int_equal(tendon_bonds_encode_identities(&bonds, &bonds_own, list, sizeof list), 2 + 23);
    assert_int_equal(list[0], 1);
    assert_memory_equal(list + 2, event + 7, 23);
    assert_int_equal(tendon_bonds_encode_identities(&bonds, &bonds_own, list, 24), TENDON_ERROR_BUFFER_TOO_SMALL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_with_identity_keys),
        cmocka_unit_test(the_kernels_identity_keys),
        cmocka_unit_test(the_file_byte_by_byte),
        cmocka_unit_test(what_a_key_is_worth),
        cmocka_unit_test(mal_H10_every_cut_and_every_changed_byte_is_refused),
        cmocka_unit_test(mal_H10_a_key_size_that_no_key_has),
        cmocka_unit_test_setup_teardown(stored_found_replaced_removed, bonds_setup, bonds_teardown),
        cmocka_unit_test_setup_teardown(the_newest_key_counts, bonds_setup, bonds_teardown),
        cmocka_unit_test(a_full_store_replaces_the_oldest_simulated),
        cmocka_unit_test_setup_teardown(a_full_store_is_an_error_and_evicts_only_when_told, bonds_setup,
                                        bonds_teardown),
        cmocka_unit_test(address_and_type_identify_a_device),
        cmocka_unit_test(the_kernels_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
