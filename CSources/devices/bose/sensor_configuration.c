/* SPDX-License-Identifier: MIT */
#include "tendon/devices/bose_codec.h"

enum { ENTRY_SIZE = 3 };

tendon_status tendon_bose_decode_sensor_configuration(const uint8_t *data, size_t length,
                                                      tendon_bose_sensor_configuration *out, size_t *offset) {
    tendon_reader reader = tendon_reader_make(data, length);
    memset(out, 0, sizeof *out);
    tendon_status status = TENDON_OK;
    while (tendon_reader_remaining(&reader) >= ENTRY_SIZE) {
        if (out->count >= TENDON_BOSE_SENSORS_MAX) {
            status = TENDON_ERROR_TABLE_FULL;
            if (offset != NULL) {
                *offset = reader.position;
            }
            break;
        }
        tendon_bose_sensor_setting *setting = &out->settings[out->count++];
        setting->sensor_id = tendon_read_u8(&reader);
        setting->period_ms = tendon_read_u16be(&reader);
    }
    out->trailing_bytes = tendon_reader_remaining(&reader);
    return status;
}

tendon_status tendon_bose_encode_sensor_configuration(const tendon_bose_sensor_configuration *configuration,
                                                      uint8_t *out, size_t capacity) {
    if (configuration->count > TENDON_BOSE_SENSORS_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    for (size_t i = 0; i < configuration->count; i++) {
        tendon_write_u8(&writer, configuration->settings[i].sensor_id);
        tendon_write_u16be(&writer, configuration->settings[i].period_ms);
    }
    return tendon_writer_result(&writer);
}

static tendon_bose_sensor_setting *find(tendon_bose_sensor_configuration *configuration, uint8_t sensor_id) {
    for (size_t i = 0; i < configuration->count; i++) {
        if (configuration->settings[i].sensor_id == sensor_id) {
            return &configuration->settings[i];
        }
    }
    return NULL;
}

/* The entry of an unknown sensor is written back unchanged. */
static bool follows(const tendon_bose_sensor_setting *setting) {
    return setting->sensor_id < TENDON_BOSE_SENSOR_COUNT && setting->period_ms != 0;
}

static bool offers(const tendon_bose_sensor_information *information, uint8_t sensor_id, int bit) {
    const tendon_bose_sensor_record *record =
        information != NULL ? tendon_bose_find_sensor(information, sensor_id) : NULL;
    return record == NULL || ((unsigned)record->period_mask >> bit & 1u) != 0;
}

/* True when the period may be set on every enabled sensor, and on @p added. */
static bool period_is_valid(const tendon_bose_sensor_configuration *configuration, uint16_t period_ms,
                            const tendon_bose_sensor_setting *added,
                            const tendon_bose_sensor_information *information) {
    int bit = tendon_bose_bit_of_period(period_ms);
    if (bit < 0) {
        return false;
    }
    for (size_t i = 0; i < configuration->count; i++) {
        const tendon_bose_sensor_setting *setting = &configuration->settings[i];
        if ((setting == added || follows(setting)) && !offers(information, setting->sensor_id, bit)) {
            return false;
        }
    }
    return true;
}

static void set_enabled_to(tendon_bose_sensor_configuration *configuration, uint16_t period_ms) {
    for (size_t i = 0; i < configuration->count; i++) {
        if (follows(&configuration->settings[i])) {
            configuration->settings[i].period_ms = period_ms;
        }
    }
}

tendon_status tendon_bose_enable_sensor(tendon_bose_sensor_configuration *configuration, uint8_t sensor_id,
                                        uint16_t period_ms, const tendon_bose_sensor_information *information) {
    tendon_bose_sensor_setting *setting = find(configuration, sensor_id);
    if (setting == NULL) {
        return TENDON_BOSE_ERROR_UNKNOWN_SENSOR;
    }
    if (!period_is_valid(configuration, period_ms, setting, information)) {
        return TENDON_BOSE_ERROR_INVALID_PERIOD;
    }
    setting->period_ms = period_ms;
    set_enabled_to(configuration, period_ms);
    return TENDON_OK;
}

tendon_status tendon_bose_disable_sensor(tendon_bose_sensor_configuration *configuration, uint8_t sensor_id) {
    tendon_bose_sensor_setting *setting = find(configuration, sensor_id);
    if (setting == NULL) {
        return TENDON_BOSE_ERROR_UNKNOWN_SENSOR;
    }
    setting->period_ms = 0;
    return TENDON_OK;
}

void tendon_bose_disable_all_sensors(tendon_bose_sensor_configuration *configuration) {
    for (size_t i = 0; i < configuration->count; i++) {
        configuration->settings[i].period_ms = 0;
    }
}

tendon_status tendon_bose_set_sensor_period(tendon_bose_sensor_configuration *configuration, uint16_t period_ms,
                                            const tendon_bose_sensor_information *information) {
    if (period_ms == 0) {
        tendon_bose_disable_all_sensors(configuration);
        return TENDON_OK;
    }
    if (!period_is_valid(configuration, period_ms, NULL, information)) {
        return TENDON_BOSE_ERROR_INVALID_PERIOD;
    }
    set_enabled_to(configuration, period_ms);
    return TENDON_OK;
}

uint16_t tendon_bose_enabled_period(const tendon_bose_sensor_configuration *configuration) {
    for (size_t i = 0; i < configuration->count; i++) {
        if (configuration->settings[i].period_ms != 0) {
            return configuration->settings[i].period_ms;
        }
    }
    return 0;
}
