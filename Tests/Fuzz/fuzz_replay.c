/* SPDX-License-Identifier: MIT */
/* Values of any bytes, one after the other, of a captured connection to a device of each kind. */
#include "fuzz.h"
#include "json_line.h"
#include "tendon/replay.h"

static const char file[] =
    "{\"name\":\"toy\",\"title\":\"T\",\"find\":{\"services\":[\"fff0\"]},\"characteristics\":[{\"name\":\"v\","
    "\"service\":\"fff0\",\"uuid\":\"fff1\",\"notify\":[{\"name\":\"n\",\"type\":\"u16\"},{\"name\":\"t\",\"type\":"
    "\"u16\"},"
    "{\"name\":\"r\",\"rate\":\"n\",\"per\":\"t\"},{\"name\":\"s\",\"type\":\"utf8\"}]}],"
    "\"events\":[{\"name\":\"e\",\"layout\":\"v\",\"sample\":true},{\"name\":\"f\",\"layout\":\"v\",\"members\":[\"s\"]"
    "}]}";

static const tendon_definition *toy(void) {
    static tendon_definition definition;
    static tendon_definition_scratch scratch;
    static bool is_parsed;
    tendon_definition_mistake mistake;
    if (!is_parsed) {
        FUZZ_CHECK(tendon_definition_parse(file, sizeof file - 1, &definition, &scratch, &mistake) == TENDON_OK);
        is_parsed = true;
    }
    return &definition;
}

/* One of the family's, or of those that all devices have. */
static tendon_uuid characteristic(uint8_t family, uint8_t number) {
    tendon_fjorden_profile profile;
    tendon_fjorden_profile_init(&profile);
    const tendon_uuid fjorden[] = {profile.event, profile.state, profile.control};
    const tendon_uuid obvious[] = {tendon_obvious_gatt_ogp.data, tendon_obvious_gatt_ogp.status};
    switch (number > 15 ? 255 : family) {
    case 0:
        return tendon_uuid_from_u16(
            tendon_activ5_uuid((tendon_activ5_characteristic)(number % TENDON_ACTIV5_CHARACTERISTIC_COUNT)));
    case 1:
        return tendon_bose_uuid((tendon_bose_characteristic)(number % TENDON_BOSE_CHARACTERISTIC_COUNT));
    case 2:
        return tendon_uuid_from_u16((uint16_t)(0xFE01 + number));
    case 3:
        return fjorden[number % 3];
    case 4:
        return obvious[number % 2];
    case 5:
        return tendon_uuid_from_u16(0xFFF1);
    default:
        return tendon_uuid_from_u16(0x2A19);
    }
}

static void on_line(void *context, const tendon_replay_line *one) {
    static char bytes[65536];
    tendon_line line;
    tendon_line_init(&line, bytes, sizeof bytes, *(const bool *)context);
    fuzz_json_line(bytes, tendon_replay_write(one, &line, NULL, 0));
    tendon_replay_numbers numbers;
    FUZZ_CHECK(!tendon_replay_view(one, &numbers) || numbers.view.count <= TENDON_VIEW_CHANNELS);
    FUZZ_CHECK(one->event[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const families[] = {"activ5", "bose", "feelspace", "fjorden", "obvious", "toy"};
    static tendon_replay replay;
    fuzz_input input = {data, size};
    uint8_t choice = fuzz_u8(&input), family = choice % 6;
    bool is_exact = (choice & 0x80) != 0;
    uint64_t now = 0;
    tendon_replay_init(&replay, families[family], family == 5 ? toy() : NULL);
    while (input.left > 0) {
        uint8_t how = fuzz_u8(&input);
        tendon_uuid uuid = characteristic(family, how & 0x1F);
        now += (how & 0x40) != 0 ? fuzz_u16(&input) : 1;
        fuzz_block bytes = fuzz_block_of(&input);
        FUZZ_CHECK(tendon_replay_name(families[family], &uuid, bytes.data, bytes.length) <= bytes.length);
        tendon_replay_take(&replay,
                           &(tendon_replay_value){.characteristic = &uuid,
                                                  .bytes = bytes.data,
                                                  .length = bytes.length,
                                                  .is_written = (how & 0x80) != 0,
                                                  .now = now},
                           on_line, &is_exact);
        free(bytes.data);
    }
    return 0;
}
