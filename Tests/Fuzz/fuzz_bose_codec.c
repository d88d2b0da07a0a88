/* SPDX-License-Identifier: MIT */
/* Every Bose decoder; the first byte chooses. What decodes encodes again where there is an encoder. */
#include "fuzz.h"
#include "tendon/devices.h"

static void sensor_information_and_data(const fuzz_block *first, const fuzz_block *second, bool fixed) {
    tendon_bose_sensor_information information;
    size_t offset = 0;
    tendon_status status = tendon_bose_decode_sensor_information(first->data, first->length, &information, &offset);
    FUZZ_CHECK(offset <= first->length);
    bool known = status == TENDON_OK;
    if (!known && !fixed) {
        return;
    }
    tendon_bose_sensor_data walk =
        tendon_bose_sensor_data_begin(second->data, second->length, known ? &information : NULL,
                                      fixed ? TENDON_BOSE_PROFILE_FIXED : TENDON_BOSE_PROFILE_REPORTED);
    tendon_bose_sample sample;
    tendon_bose_skipped skipped;
    tendon_bose_clock clock = {0};
    size_t steps = 0;
    while (tendon_bose_sensor_data_next(&walk, &sample, &skipped) != TENDON_BOSE_STEP_END) {
        FUZZ_CHECK(++steps <= second->length);
        (void)tendon_bose_unwrap(&clock, sample.timestamp, steps * 100000);
    }
    FUZZ_CHECK(walk.error_offset <= second->length);
}

static void sensor_configuration(const fuzz_block *block, fuzz_input *input) {
    tendon_bose_sensor_configuration configuration;
    size_t offset = 0;
    if (tendon_bose_decode_sensor_configuration(block->data, block->length, &configuration, &offset) != TENDON_OK) {
        FUZZ_CHECK(offset <= block->length);
        return;
    }
    uint8_t out[TENDON_BOSE_SENSORS_MAX * 3];
    tendon_status length = tendon_bose_encode_sensor_configuration(&configuration, out, sizeof(out));
    FUZZ_CHECK(length == (tendon_status)(configuration.count * 3) && (size_t)length <= block->length);
    FUZZ_CHECK(memcmp(out, block->data, (size_t)length) == 0);
    (void)tendon_bose_enable_sensor(&configuration, fuzz_u8(input), fuzz_u16(input), NULL);
    (void)tendon_bose_set_sensor_period(&configuration, fuzz_u16(input), NULL);
    (void)tendon_bose_disable_sensor(&configuration, fuzz_u8(input));
    tendon_bose_disable_all_sensors(&configuration);
    FUZZ_CHECK(tendon_bose_enabled_period(&configuration) == 0);
}

static void gestures(const fuzz_block *first, const fuzz_block *second, fuzz_input *input) {
    tendon_bose_gesture_information information;
    tendon_bose_gesture_configuration configuration;
    size_t offset = 0;
    tendon_status status = tendon_bose_decode_gesture_information(first->data, first->length, &information, &offset);
    FUZZ_CHECK(offset <= first->length);
    status = tendon_bose_decode_gesture_configuration(
        second->data, second->length, status == TENDON_OK ? &information : NULL, &configuration, &offset);
    if (status == TENDON_OK) {
        uint8_t out[TENDON_BOSE_GESTURE_CONFIGURATION_MAX];
        FUZZ_CHECK(tendon_bose_encode_gesture_configuration(&configuration, out, sizeof(out)) ==
                   (tendon_status)second->length);
        for (size_t i = 0; i < configuration.count; i++) {
            /* what is not known goes back as it came */
            const struct tendon_bose_gesture_entry *entry = &configuration.entries[i];
            FUZZ_CHECK(
                tendon_bose_gesture_known(entry->gesture_id) ||
                memcmp(out + entry->payload_offset, second->data + entry->payload_offset, entry->payload_length) == 0);
        }
        (void)tendon_bose_set_gesture(&configuration, fuzz_u8(input), true);
        tendon_bose_set_all_gestures(&configuration, true);
        FUZZ_CHECK(tendon_bose_encode_gesture_configuration(&configuration, out, sizeof(out)) ==
                   (tendon_status)second->length);
    }
}

static void device_information(const fuzz_block *block) {
    tendon_bose_device_information information;
    size_t offset = 0;
    if (tendon_bose_decode_device_information(block->data, block->length, &information, &offset) == TENDON_OK) {
        FUZZ_CHECK(block->length == 19 + information.trailing_bytes);
        (void)tendon_bose_suspension_reason_of(information.status);
        (void)tendon_bose_product_name(information.product_id);
        (void)tendon_bose_variant_name(information.product_id, information.variant);
    } else {
        FUZZ_CHECK(offset <= block->length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    unsigned choice = fuzz_u8(&input);
    fuzz_block first = fuzz_block_of(&input), second = fuzz_block_of(&input);
    tendon_bose_gesture_data gesture;
    size_t offset = 0;
    switch (choice % 7) {
    case 0:
        device_information(&first);
        break;
    case 1:
    case 2:
        sensor_information_and_data(&first, &second, choice % 7 == 2);
        break;
    case 3:
        sensor_configuration(&first, &input);
        break;
    case 4:
        gestures(&first, &second, &input);
        break;
    case 5:
        (void)tendon_bose_decode_gesture_data(first.data, first.length, &gesture, &offset);
        FUZZ_CHECK(offset <= first.length);
        break;
    default:
        (void)tendon_bose_recognize(first.data, first.length);
        (void)tendon_bose_status_of_serial((const char *)second.data, second.length);
        break;
    }
    free(first.data);
    free(second.data);
    return 0;
}
