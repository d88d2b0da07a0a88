/* SPDX-License-Identifier: MIT */
/* The file of bonds, the kernel's events New Long Term Key and New Identity Resolving Key, and a list of faults as it
 * is typed. */
#include "fuzz.h"
#include "tendon/linux/bonds.h"
#include "tendon/simulate/fault.h"

enum { PLACES = 4, HEADER_SIZE = 16, FILE_SIZE = 4096 };

/* What was decoded is encoded to the same bytes. */
static void check_file(const fuzz_block *block) {
    tendon_bond items[PLACES];
    size_t offset = 0;
    tendon_status count = tendon_bonds_decode(block->data, block->length, items, PLACES, &offset);
    if (count < 0) {
        FUZZ_CHECK(offset <= block->length);
        return;
    }
    FUZZ_CHECK(count <= PLACES);
    uint8_t again[FILE_SIZE];
    tendon_status length = tendon_bonds_encode(items, (size_t)count, again, sizeof again);
    /* A file of version 2 without an identity key becomes one of version 1. */
    FUZZ_CHECK(length > 0 && (size_t)length <= block->length);
    FUZZ_CHECK((size_t)length == block->length || again[8] == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    uint8_t which = fuzz_u8(&input);
    fuzz_block block = fuzz_take(&input, input.left);
    if (which % 4 == 0) {
        if ((which & 0x80) != 0 && block.length >= HEADER_SIZE) { /* a file whose checksum is right */
            uint32_t crc = tendon_crc32(0, block.data + HEADER_SIZE, block.length - HEADER_SIZE);
            tendon_writer writer = tendon_writer_make(block.data + HEADER_SIZE - 4, 4);
            tendon_write_u32le(&writer, crc);
        }
        check_file(&block);
    } else if (which % 4 == 1) {
        tendon_bond bond;
        bool stored = false;
        if (tendon_bond_decode_key(block.data, block.length, &bond, &stored) == TENDON_OK) {
            FUZZ_CHECK(bond.key_size >= 7 && bond.key_size <= 16);
        }
    } else if (which % 4 == 2) {
        tendon_bond_identity identity;
        if (tendon_bond_decode_identity(block.data, block.length, &identity) == TENDON_OK) {
            FUZZ_CHECK(block.length >= 30 && identity.address.type <= TENDON_ADDRESS_TYPE_RANDOM);
        }
    } else {
        tendon_fault_options options = {0};
        size_t offset = 0;
        if (tendon_fault_parse(&options, (const char *)block.data, block.length, &offset) < 0) {
            FUZZ_CHECK(offset <= block.length);
        }
    }
    free(block.data);
    return 0;
}
