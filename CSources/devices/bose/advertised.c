/* SPDX-License-Identifier: MIT */
#include "tendon/devices/bose_codec.h"

/* Supplement to the Core Specification, Part A 1.1 and 1.4. */
enum {
    AD_UUID16_SOME = 0x02,
    AD_UUID16_ALL = 0x03,
    AD_UUID32_SOME = 0x04,
    AD_UUID32_ALL = 0x05,
    AD_UUID128_SOME = 0x06,
    AD_UUID128_ALL = 0x07,
    AD_MANUFACTURER = 0xFF,
    COMPANY_SIZE = 2
};

static size_t uuid_size_of(uint8_t type) {
    switch (type) {
    case AD_UUID16_SOME:
    case AD_UUID16_ALL:
        return 2;
    case AD_UUID32_SOME:
    case AD_UUID32_ALL:
        return 4;
    case AD_UUID128_SOME:
    case AD_UUID128_ALL:
        return 16;
    default:
        return 0;
    }
}

/* A left-over part of a UUID at the end of a list is ignored. */
static void look_for_services(const tendon_ad_structure *structure, size_t size, bool *sensors, bool *bmap) {
    tendon_reader reader = tendon_reader_make(structure->data, structure->length);
    while (tendon_reader_remaining(&reader) >= size) {
        tendon_uuid uuid;
        uint16_t number;
        if (tendon_uuid_from_wire(tendon_read_bytes(&reader, size), size, &uuid) != TENDON_OK ||
            !tendon_uuid_as_u16(&uuid, &number)) {
            continue;
        }
        *sensors = *sensors || number == TENDON_BOSE_SERVICE;
        *bmap = *bmap || number == TENDON_BOSE_BMAP_SERVICE;
    }
}

static bool starts_with_mark(const uint8_t *data, size_t length, size_t at) {
    return length >= at + 2 && data[at] == 0x01 && data[at + 1] == 0x09;
}

tendon_bose_advertised tendon_bose_recognize(const uint8_t *data, size_t length) {
    bool sensors = false, bmap = false, mark = false;
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    tendon_ad_structure structure;
    while (tendon_ad_next(&iterator, &structure)) {
        size_t size = uuid_size_of(structure.type);
        if (size != 0) {
            look_for_services(&structure, size, &sensors, &bmap);
        } else if (structure.type == AD_MANUFACTURER) {
            /* Whether the mark stands before or after the company id is not known: both are taken. */
            mark = mark || starts_with_mark(structure.data, structure.length, 0) ||
                   starts_with_mark(structure.data, structure.length, COMPANY_SIZE);
        }
    }
    if (sensors) {
        return TENDON_BOSE_ADVERTISED_SENSOR_SERVICE;
    }
    return bmap && mark ? TENDON_BOSE_ADVERTISED_OLD_FIRMWARE : TENDON_BOSE_ADVERTISED_NOTHING;
}

tendon_status tendon_bose_judge_serial(const char *serial, size_t length) {
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
