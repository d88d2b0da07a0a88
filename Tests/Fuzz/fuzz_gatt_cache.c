/* SPDX-License-Identifier: MIT */
/* Records of files, as they are or with a checksum that is right: a GATT cache, the subscriptions of a central. */
#include "../../CSources/linux/store/subscriptions.h"
#include "fuzz.h"
#include "tendon/host/gatt_cache.h"

enum { CRC_SIZE = 4, REPAIRED = 1, SUBSCRIPTIONS = 2 };

/* What was decoded is encoded to the same bytes. */
static void check_cache(const fuzz_block *block) {
    tendon_gatt_cache_record record;
    uint8_t again[TENDON_GATT_CACHE_RECORD_MAX];
    size_t offset = 0;
    if (tendon_gatt_cache_decode(block->data, block->length, &record, &offset) < 0) {
        FUZZ_CHECK(offset <= block->length);
        return;
    }
    tendon_status length = tendon_gatt_cache_encode(&record, again, sizeof again);
    FUZZ_CHECK(length > 0 && (size_t)length == block->length);
    FUZZ_CHECK(memcmp(again, block->data, block->length) == 0);
}

static void check_subscriptions(const fuzz_block *block) {
    tendon_subscription_record record;
    uint8_t again[TENDON_SUBSCRIPTION_RECORD_MAX];
    size_t offset = 0;
    if (tendon_subscription_record_decode(block->data, block->length, &record, &offset) < 0) {
        FUZZ_CHECK(offset <= block->length);
        return;
    }
    tendon_status length = tendon_subscription_record_encode(&record, again, sizeof again);
    FUZZ_CHECK(length > 0 && (size_t)length == block->length);
    FUZZ_CHECK(memcmp(again, block->data, block->length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    uint8_t choice = fuzz_u8(&input);
    fuzz_block block = fuzz_take(&input, input.left);
    if ((choice & REPAIRED) != 0 && block.length >= CRC_SIZE) {
        tendon_writer writer = tendon_writer_make(block.data + block.length - CRC_SIZE, CRC_SIZE);
        tendon_write_u32le(&writer, tendon_crc32(0, block.data, block.length - CRC_SIZE));
    }
    if ((choice & SUBSCRIPTIONS) != 0) {
        check_subscriptions(&block);
    } else {
        check_cache(&block);
    }
    free(block.data);
    return 0;
}
