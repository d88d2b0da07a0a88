/* SPDX-License-Identifier: MIT */
#include "tendon/base/packed.h"
#include "tendon/devices/bose_codec.h"

tendon_uuid tendon_bose_uuid(tendon_bose_characteristic which) {
    static const tendon_uuid uuids[TENDON_BOSE_CHARACTERISTIC_COUNT] = {
        {{0x7B, 0x61, 0xAD, 0x83, 0x04, 0x1C, 0x43, 0x33, 0xA0, 0xAB, 0xEF, 0xB2, 0xAB, 0x7B, 0xDD, 0x43}},
        {{0x85, 0x5C, 0xB3, 0xE7, 0x98, 0xFF, 0x42, 0xA6, 0x80, 0xFC, 0x40, 0xB3, 0x2A, 0x22, 0x21, 0xC1}},
        {{0x5A, 0xF3, 0x8A, 0xF6, 0x00, 0x0E, 0x40, 0x4B, 0x9B, 0x46, 0x07, 0xF7, 0x75, 0x80, 0x89, 0x0B}},
        {{0x56, 0xA7, 0x2A, 0xB8, 0x49, 0x88, 0x4C, 0xC8, 0xA7, 0x52, 0xFB, 0xD1, 0xD5, 0x4A, 0x95, 0x3D}},
        {{0xA0, 0x38, 0x4F, 0x52, 0xF9, 0x5A, 0x4B, 0xCD, 0xB8, 0x98, 0x7B, 0x9C, 0xEE, 0xC9, 0x2D, 0xAD}},
        {{0x21, 0xE5, 0x50, 0xAF, 0xF7, 0x80, 0x47, 0x7B, 0x93, 0x34, 0x1F, 0x98, 0x32, 0x96, 0xF1, 0xD7}},
        {{0x90, 0x14, 0xDD, 0x4E, 0x79, 0xBA, 0x48, 0x02, 0xA2, 0x75, 0x89, 0x4D, 0x3B, 0x85, 0xAC, 0x74}},
    };
    static const tendon_uuid none = {{0}};
    return (unsigned)which < TENDON_BOSE_CHARACTERISTIC_COUNT ? uuids[which] : none;
}

const char *tendon_bose_suspension_reason_name(tendon_bose_suspension_reason reason) {
    return tendon_packed_name("unknown\0voice_assistant\0multipoint_connection\0music_share\0ota_firmware_update",
                              TENDON_BOSE_SUSPENSION_OTA_FIRMWARE_UPDATE + 1, reason);
}

enum { PRODUCT_QC35_II = 0x4020, PRODUCT_NC_700 = 0x4024, PRODUCT_FRAMES = 0x402C };

const char *tendon_bose_product_name(uint16_t product_id) {
    static const uint16_t products[] = {PRODUCT_FRAMES, PRODUCT_QC35_II, PRODUCT_NC_700};
    const char *name = tendon_packed_string("Bose Frames\0Bose QC35 II\0Bose NC Headphones 700", products,
                                            sizeof products / sizeof products[0], product_id);
    return name != NULL ? name : "unknown";
}

const char *tendon_bose_variant_name(uint16_t product_id, uint8_t variant) {
    if (product_id == PRODUCT_FRAMES) {
        return tendon_packed_name("unknown\0Alto\0Rondo", 3, variant);
    }
    return tendon_packed_name("unknown\0black\0silver", product_id == PRODUCT_QC35_II ? 3 : 0, variant);
}

const char *tendon_bose_sensor_name(uint8_t sensor_id) {
    return tendon_packed_name("accelerometer\0gyroscope\0rotation\0game_rotation\0orientation\0magnetometer\0"
                              "uncalibrated_magnetometer",
                              TENDON_BOSE_SENSOR_COUNT, sensor_id);
}

const char *tendon_bose_accuracy_name(uint8_t accuracy) {
    return tendon_packed_name("unreliable\0low\0medium\0high", 4, accuracy);
}

/* Gestures 0x80.. are bits 0.., gestures 0xC0.. bits 16... */
enum { LOW_COUNT = 5, HIGH_COUNT = 3, HIGH_BIT = 16 };

const char *tendon_bose_gesture_name(uint8_t gesture_id) {
    int bit = tendon_bose_gesture_bit(gesture_id);
    unsigned index = (unsigned)bit < HIGH_BIT ? (unsigned)bit : (unsigned)bit - HIGH_BIT + LOW_COUNT;
    return tendon_packed_name(
        "single_tap\0double_tap\0head_nod\0head_shake\0touch_and_hold\0input\0affirmative\0negative",
        LOW_COUNT + HIGH_COUNT, index);
}

bool tendon_bose_gesture_known(uint8_t gesture_id) {
    return tendon_bose_gesture_bit(gesture_id) >= 0;
}

int tendon_bose_gesture_bit(uint8_t gesture_id) {
    if (gesture_id >= TENDON_BOSE_SINGLE_TAP && gesture_id < TENDON_BOSE_SINGLE_TAP + LOW_COUNT) {
        return gesture_id - TENDON_BOSE_SINGLE_TAP;
    }
    if (gesture_id >= TENDON_BOSE_INPUT && gesture_id < TENDON_BOSE_INPUT + HIGH_COUNT) {
        return HIGH_BIT + gesture_id - TENDON_BOSE_INPUT;
    }
    return -1;
}

int tendon_bose_gesture_of_bit(unsigned bit) {
    if (bit < LOW_COUNT) {
        return TENDON_BOSE_SINGLE_TAP + (int)bit;
    }
    if (bit >= HIGH_BIT && bit < HIGH_BIT + HIGH_COUNT) {
        return TENDON_BOSE_INPUT + (int)bit - HIGH_BIT;
    }
    return -1;
}
