/* SPDX-License-Identifier: MIT */
#include "tendon/devices/bose_codec.h"

tendon_status tendon_bose_decode_device_information(const uint8_t *data, size_t length,
                                                    tendon_bose_device_information *out, size_t *offset) {
    tendon_reader reader = tendon_reader_make(data, length);
    tendon_bose_device_information information = {
        .major = tendon_read_u8(&reader),
    };
    information.minor = tendon_read_u8(&reader);
    information.product_id = tendon_read_u16be(&reader);
    information.variant = tendon_read_u8(&reader);
    information.sensor_mask = tendon_read_u32be(&reader);
    information.gesture_mask = tendon_read_u32be(&reader);
    information.transmission_period_ms = tendon_read_u8(&reader);
    information.max_payload = tendon_read_u16be(&reader);
    information.max_active_sensors = tendon_read_u8(&reader);
    information.status = tendon_read_u16be(&reader);
    if (!tendon_reader_ok(&reader)) {
        if (offset != NULL) {
            *offset = reader.error_offset;
        }
        return reader.status;
    }
    information.trailing_bytes = tendon_reader_remaining(&reader);
    *out = information;
    return TENDON_OK;
}

bool tendon_bose_suspended(uint16_t status) {
    return (status & TENDON_BOSE_STATUS_SUSPENDED) != 0;
}

tendon_bose_suspension_reason tendon_bose_suspension_reason_of(uint16_t status) {
    unsigned reason = (unsigned)status >> 12;
    return reason <= TENDON_BOSE_SUSPENSION_OTA_FIRMWARE_UPDATE ? (tendon_bose_suspension_reason)reason
                                                                : TENDON_BOSE_SUSPENSION_UNKNOWN;
}
