/* SPDX-License-Identifier: MIT */
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
    switch (reason) {
    case TENDON_BOSE_SUSPENSION_VOICE_ASSISTANT:
        return "voice_assistant";
    case TENDON_BOSE_SUSPENSION_MULTIPOINT:
        return "multipoint_connection";
    case TENDON_BOSE_SUSPENSION_MUSIC_SHARE:
        return "music_share";
    case TENDON_BOSE_SUSPENSION_OTA_FIRMWARE_UPDATE:
        return "ota_firmware_update";
    case TENDON_BOSE_SUSPENSION_UNKNOWN:
    default:
        return "unknown";
    }
}

enum { PRODUCT_QC35_II = 0x4020, PRODUCT_NC_700 = 0x4024, PRODUCT_FRAMES = 0x402C };

const char *tendon_bose_product_name(uint16_t product_id) {
    switch (product_id) {
    case PRODUCT_FRAMES:
        return "Bose Frames";
    case PRODUCT_QC35_II:
        return "Bose QC35 II";
    case PRODUCT_NC_700:
        return "Bose NC Headphones 700";
    default:
        return "unknown";
    }
}

const char *tendon_bose_variant_name(uint16_t product_id, uint8_t variant) {
    if (product_id == PRODUCT_FRAMES) {
        return variant == 1 ? "Alto" : variant == 2 ? "Rondo" : "unknown";
    }
    if (product_id == PRODUCT_QC35_II) {
        return variant == 1 ? "black" : variant == 2 ? "silver" : "unknown";
    }
    return "unknown";
}

const char *tendon_bose_sensor_name(uint8_t sensor_id) {
    static const char *const names[TENDON_BOSE_SENSOR_COUNT] = {
        "accelerometer",
        "gyroscope",
        "rotation",
        "game_rotation",
        "orientation",
        "magnetometer",
        "uncalibrated_magnetometer",
    };
    return sensor_id < TENDON_BOSE_SENSOR_COUNT ? names[sensor_id] : "unknown";
}

const char *tendon_bose_accuracy_name(uint8_t accuracy) {
    static const char *const names[] = {"unreliable", "low", "medium", "high"};
    return accuracy < sizeof names / sizeof names[0] ? names[accuracy] : "unknown";
}

/* Gestures 0x80.. are bits 0.., gestures 0xC0.. bits 16... */
static const char *const low_gestures[] = {"single_tap", "double_tap", "head_nod", "head_shake", "touch_and_hold"};
static const char *const high_gestures[] = {"input", "affirmative", "negative"};
enum {
    LOW_COUNT = sizeof low_gestures / sizeof low_gestures[0],
    HIGH_COUNT = sizeof high_gestures / sizeof high_gestures[0],
    HIGH_BIT = 16
};

const char *tendon_bose_gesture_name(uint8_t gesture_id) {
    int bit = tendon_bose_gesture_bit(gesture_id);
    if (bit < 0) {
        return "unknown";
    }
    return bit < HIGH_BIT ? low_gestures[bit] : high_gestures[bit - HIGH_BIT];
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
