/* SPDX-License-Identifier: MIT */
/* The record of a GATT table, as a file or with a checksum that is right. */
#include "fuzz.h"
#include "tendon/linux/gatt_table.h"

enum { CRC_SIZE = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    bool repaired = (fuzz_u8(&input) & 1) != 0;
    fuzz_block block = fuzz_take(&input, input.left);
    if (repaired && block.length >= CRC_SIZE) {
        tendon_writer writer = tendon_writer_make(block.data + block.length - CRC_SIZE, CRC_SIZE);
        tendon_write_u32le(&writer, tendon_crc32(0, block.data, block.length - CRC_SIZE));
    }
    static tendon_gatt_table_content content;
    const uint8_t *cache = NULL;
    size_t cache_length = 0;
    tendon_status status = tendon_gatt_table_decode(block.data, block.length, &content, &cache, &cache_length);
    if (status == TENDON_OK && cache_length <= UINT8_MAX) {
        static tendon_gatt_table_content again;
        /* What was decoded is encoded again; the bytes may differ, because a short UUID can be written in its long
         * form. */
        uint8_t bytes[UINT8_MAX + TENDON_GATT_TABLE_RECORD_MAX];
        FUZZ_CHECK(cache + cache_length <= block.data + block.length);
        tendon_status length = tendon_gatt_table_encode(&content, cache, cache_length, bytes, sizeof bytes);
        FUZZ_CHECK(length > 0 && (size_t)length <= block.length + (cache == block.data ? 8 : 0));
        FUZZ_CHECK(tendon_gatt_table_decode(bytes, (size_t)length, &again, &cache, &cache_length) == TENDON_OK);
        FUZZ_CHECK(memcmp(&again, &content, sizeof again) == 0);
    }
    free(block.data);
    return 0;
}
