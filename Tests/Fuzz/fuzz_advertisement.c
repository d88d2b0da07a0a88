/* SPDX-License-Identifier: MIT */
/* Advertising data: walk, values, look-ups, text, recognition. */
#include "fuzz.h"
#include "tendon/devices.h"

static void look_up(const uint8_t *data, size_t size) {
    static const uint16_t services[] = {0xFDD2, 0xFEBE, 0x180A};
    const uint8_t *value;
    size_t length;
    int32_t number;
    char name[64];
    for (size_t i = 0; i < 3; i++) {
        tendon_uuid uuid = tendon_uuid_from_u16(services[i]);
        (void)tendon_ad_has_uuid(data, size, &uuid);
        for (size_t n = 0; tendon_ad_service_uuid_at(data, size, n, &uuid); n++) {
        }
        if (tendon_ad_service_data(data, size, &uuid, &value, &length)) {
            (void)fuzz_touch(value, length);
        }
    }
    if (tendon_ad_manufacturer_data(data, size, 0x009E, &value, &length)) {
        (void)fuzz_touch(value, length);
    }
    (void)tendon_ad_number(data, size, TENDON_AD_FLAGS, &number);
    tendon_status status = tendon_ad_name(data, size, name, sizeof(name));
    FUZZ_CHECK(status < 0 || strlen(name) == (size_t)status);
    const tendon_family *family = tendon_family_from_advertisement(data, size);
    FUZZ_CHECK(family == NULL || family->recognizes(data, size));
    (void)tendon_family_awaiting_name(data, size);
    FUZZ_CHECK(tendon_feelspace_is_belt(tendon_feelspace_recognize(data, size)) ==
               tendon_feelspace_family.recognizes(data, size));
}

/* Two reports of one device: names that become complete, or do not. */
static void search(const uint8_t *data, size_t size) {
    tendon_bose_found found[2];
    const tendon_bose_found *device = NULL;
    tendon_bose_search search;
    tendon_bose_search_init(&search, found, 2);
    for (size_t part = 0; part < 2; part++) {
        fuzz_input input = {part == 0 ? data : data + size / 2, part == 0 ? size / 2 : size - size / 2};
        fuzz_block block = fuzz_take(&input, input.left);
        const tendon_ad_report report = {.data = block.data, .length = block.length, .rssi = -50};
        if (tendon_bose_search_on_advertisement(&search, &report, part, &device) != TENDON_BOSE_SEARCH_NONE) {
            FUZZ_CHECK(device != NULL && device->name_length <= TENDON_BOSE_NAME_SIZE);
        }
        free(block.data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tendon_ad_iterator iterator = tendon_ad_begin(data, size);
    tendon_ad_structure structure;
    size_t used = 0;
    while (tendon_ad_next(&iterator, &structure)) {
        tendon_ad_value value;
        tendon_uuid uuid;
        used += structure.length + 2;
        FUZZ_CHECK(used <= size);
        (void)fuzz_touch(structure.data, structure.length);
        if (tendon_ad_decode(&structure, &value) == TENDON_OK) {
            (void)fuzz_touch(value.data, value.length);
            for (size_t i = 0; tendon_ad_uuid_at(&value, i, &uuid); i++) {
                FUZZ_CHECK(i < 127);
            }
        }
        char text[32];
        size_t length = tendon_ad_text(structure.data, structure.length, text, sizeof(text));
        for (size_t i = 0; i < length; i++) {
            FUZZ_CHECK((uint8_t)text[i] >= 0x20 && text[i] != 0x7F);
        }
    }
    look_up(data, size);
    search(data, size);
    size_t offset = size + 1;
    tendon_status status = tendon_ad_check(data, size, &offset);
    FUZZ_CHECK(status == TENDON_OK ? offset == size : offset < size && offset >= used);
    return 0;
}
