/* SPDX-License-Identifier: MIT */
#include "tendon/devices/bose_codec.h"

enum { COMPANY_SIZE = 2 };

static bool starts_with_mark(const tendon_reader *value, size_t at) {
    at += value->position;
    return at + 2 <= value->length && value->data[at] == 0x01 && value->data[at + 1] == 0x09;
}

/* Whether the mark stands before or after the company id is not known: both are taken. */
static bool has_mark(const uint8_t *data, size_t length) {
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    uint8_t type;
    tendon_reader value;
    while (tendon_ad_next_part(&iterator, &type, &value)) {
        if (type == TENDON_AD_MANUFACTURER && (starts_with_mark(&value, 0) || starts_with_mark(&value, COMPANY_SIZE))) {
            return true;
        }
    }
    return false;
}

tendon_bose_advertised tendon_bose_recognize(const uint8_t *data, size_t length) {
    tendon_uuid sensors = tendon_uuid_from_u16(TENDON_BOSE_SERVICE),
                bmap = tendon_uuid_from_u16(TENDON_BOSE_BMAP_SERVICE);
    if (tendon_ad_has_uuid(data, length, &sensors)) {
        return TENDON_BOSE_ADVERTISED_SENSOR_SERVICE;
    }
    return tendon_ad_has_uuid(data, length, &bmap) && has_mark(data, length) ? TENDON_BOSE_ADVERTISED_OLD_FIRMWARE
                                                                             : TENDON_BOSE_ADVERTISED_NOTHING;
}

tendon_status tendon_bose_status_of_serial(const char *serial, size_t length) {
    bool updatable = length >= 2 && serial[length - 2] == 'A' && serial[length - 1] == 'Z';
    return updatable ? TENDON_BOSE_ERROR_FIRMWARE_UPDATE_REQUIRED : TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE;
}

tendon_bose_signal tendon_bose_signal_of(int8_t rssi) {
    if (rssi == TENDON_RSSI_UNKNOWN || rssi <= -55) {
        return TENDON_BOSE_SIGNAL_WEAK;
    }
    if (rssi > -35) {
        return TENDON_BOSE_SIGNAL_FULL;
    }
    return rssi > -45 ? TENDON_BOSE_SIGNAL_STRONG : TENDON_BOSE_SIGNAL_MODERATE;
}
