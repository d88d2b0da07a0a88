/* SPDX-License-Identifier: MIT */
/* Advertisements and scan responses of a few devices, in any order. */
#include "fuzz.h"
#include "tendon/gateway/search.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tendon_search_advertiser advertisers[4];
    tendon_search search;
    fuzz_input input = {data, size};
    tendon_search_init(&search, advertisers, 4, NULL);
    for (uint64_t now = 0; input.left > 0; now += 100) {
        tendon_ad_report report = {.address = {.bytes = {fuzz_u8(&input)}}, .properties = fuzz_u8(&input)};
        fuzz_block block = fuzz_block_of(&input);
        report.data = block.data;
        report.length = block.length < TENDON_AD_EXTENDED_MAX ? block.length : TENDON_AD_EXTENDED_MAX;
        tendon_search_found found = tendon_search_take(&search, &report, now);
        FUZZ_CHECK(found.family == TENDON_SEARCH_NO_FAMILY || found.family < TENDON_SEARCH_DEFINED);
        FUZZ_CHECK(found.name_length <= TENDON_AD_LEGACY_MAX && (found.name != NULL) == (found.name_length > 0));
        (void)fuzz_touch(found.name, found.name_length);
        free(block.data);
        FUZZ_CHECK(tendon_search_deadline(&search, now) > now);
        size_t length;
        FUZZ_CHECK(tendon_search_name(&search, &report.address, &length) == found.name && length == found.name_length);
    }
    return 0;
}
