/* SPDX-License-Identifier: MIT */
/* Simulated Bose wearable: attribute table, connections, calls from outside. */
#include "bose_parts.h"

static const char default_name[] = "LE-Bose Frames";
static const char default_firmware[] = "1.0.0";
static const char default_serial[] = "TENDON0000000001AE";

/** System id, and PnP id: vendor by Bluetooth SIG, company 0x009E, product 0x402C, version 1.0.0. */
static const uint8_t system_id[8] = {0x01, 0x00, 0x00, 0xFE, 0xFF, 0x6D, 0x04, 0x08};
static const uint8_t pnp_id[7] = {0x01, 0x9E, 0x00, 0x2C, 0x40, 0x00, 0x01};
static const uint8_t regulatory[4] = {0xFE, 0x00, 0x00, 0x00};
static const uint8_t appearance[2] = {0xC0, 0x01}; /* 0x01C0, generic eye-glasses */

/** The characteristics of section 1, most significant byte first. */
static const struct {
    tendon_uuid uuid;
    uint8_t properties;
} characteristics[BOSE_CHARACTERISTICS] = {
    {{{0x7b, 0x61, 0xad, 0x83, 0x04, 0x1c, 0x43, 0x33, 0xa0, 0xab, 0xef, 0xb2, 0xab, 0x7b, 0xdd, 0x43}},
     TENDON_GATT_READ | TENDON_GATT_NOTIFY},
    {{{0x85, 0x5c, 0xb3, 0xe7, 0x98, 0xff, 0x42, 0xa6, 0x80, 0xfc, 0x40, 0xb3, 0x2a, 0x22, 0x21, 0xc1}},
     TENDON_GATT_READ},
    {{{0x5a, 0xf3, 0x8a, 0xf6, 0x00, 0x0e, 0x40, 0x4b, 0x9b, 0x46, 0x07, 0xf7, 0x75, 0x80, 0x89, 0x0b}},
     TENDON_GATT_READ | TENDON_GATT_WRITE | TENDON_GATT_NOTIFY},
    {{{0x56, 0xa7, 0x2a, 0xb8, 0x49, 0x88, 0x4c, 0xc8, 0xa7, 0x52, 0xfb, 0xd1, 0xd5, 0x4a, 0x95, 0x3d}},
     TENDON_GATT_NOTIFY},
    {{{0xa0, 0x38, 0x4f, 0x52, 0xf9, 0x5a, 0x4b, 0xcd, 0xb8, 0x98, 0x7b, 0x9c, 0xee, 0xc9, 0x2d, 0xad}},
     TENDON_GATT_READ},
    {{{0x21, 0xe5, 0x50, 0xaf, 0xf7, 0x80, 0x47, 0x7b, 0x93, 0x34, 0x1f, 0x98, 0x32, 0x96, 0xf1, 0xd7}},
     TENDON_GATT_READ | TENDON_GATT_WRITE | TENDON_GATT_NOTIFY},
    {{{0x90, 0x14, 0xdd, 0x4e, 0x79, 0xba, 0x48, 0x02, 0xa2, 0x75, 0x89, 0x4d, 0x3b, 0x85, 0xac, 0x74}},
     TENDON_GATT_NOTIFY},
};

/* ---- attribute callbacks ---- */

static int characteristic_of(const tendon_simulated_bose *device, uint16_t handle) {
    for (int i = 0; i < BOSE_CHARACTERISTICS; i++) {
        if (device->handles[i] == handle) {
            return i;
        }
    }
    return -1;
}

static tendon_status on_read(void *context, tendon_gatt_connection *connection, uint16_t handle, const uint8_t **value,
                             size_t *length) {
    tendon_simulated_bose *device = context;
    int characteristic = characteristic_of(device, handle);
    if (characteristic < 0) {
        return TENDON_ATT_ERROR(TENDON_ATT_UNLIKELY_ERROR);
    }
    *value = device->value;
    *length = tendon_simulated_bose_value(device, (unsigned)characteristic, connection->bonded, device->value,
                                          sizeof device->value);
    return TENDON_OK;
}

static tendon_status on_write(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                              const uint8_t *value, size_t length, bool command, uint64_t now) {
    tendon_simulated_bose *device = context;
    (void)command;
    int characteristic = characteristic_of(device, handle);
    uint16_t before = tendon_simulated_bose_period(device);
    tendon_status status;
    if (offset != 0) {
        status = TENDON_ATT_ERROR(TENDON_ATT_INVALID_OFFSET);
    } else if (characteristic == BOSE_SENSOR_CONFIGURATION) {
        status = tendon_simulated_bose_write_sensors(device, value, length);
    } else {
        status = tendon_simulated_bose_write_gestures(device, value, length);
    }
    if (status != TENDON_OK) {
        device->counters.refused_writes++;
        return status;
    }
    device->counters.configuration_writes++;
    tendon_simulated_bose_announce(device, (unsigned)characteristic,
                                   tendon_simulated_centrals_index(&device->centrals, connection));
    tendon_simulated_bose_update_stream(device, tendon_simulated_bose_period(device) != before, now);
    return TENDON_OK;
}

static void on_subscribed(void *context, tendon_gatt_connection *connection, uint16_t value_handle, uint16_t value,
                          uint64_t now) {
    tendon_simulated_bose *device = context;
    (void)connection;
    (void)value;
    if (value_handle == device->handles[BOSE_SENSOR_DATA]) {
        tendon_simulated_bose_update_stream(device, false, now);
    }
}

/* ---- the table ---- */

static void add_static(tendon_simulated_bose *device, uint16_t type, const void *value, size_t length) {
    tendon_uuid uuid = tendon_uuid_from_u16(type);
    tendon_status handle =
        tendon_gatt_add_characteristic(&device->server, &uuid, TENDON_GATT_READ, TENDON_GATT_PERMIT_READ);
    tendon_gatt_set_static(&device->server, tendon_simulated_handle(handle), value, length);
}

static void add_text(tendon_simulated_bose *device, uint16_t type, const char *text) {
    add_static(device, type, text, tendon_simulated_text_length(text, TENDON_SIMULATED_TEXT_MAX));
}

static void add_service(tendon_simulated_bose *device, uint16_t service) {
    tendon_uuid uuid = tendon_uuid_from_u16(service);
    tendon_gatt_add_service(&device->server, &uuid, true);
}

static void add_standard_services(tendon_simulated_bose *device) {
    add_service(device, 0x1800);
    add_text(device, 0x2A00, device->options.name);
    add_static(device, 0x2A01, appearance, sizeof appearance);
    add_service(device, 0x180A);
    add_static(device, 0x2A23, system_id, sizeof system_id);
    add_text(device, 0x2A24, "Frames (simulated)");
    add_text(device, 0x2A25, device->options.serial);
    add_text(device, 0x2A26, device->options.firmware);
    add_text(device, 0x2A27, "1.0");
    add_text(device, 0x2A28, "1.0");
    add_text(device, 0x2A29, "Tendon");
    add_static(device, 0x2A2A, regulatory, sizeof regulatory);
    add_static(device, 0x2A50, pnp_id, sizeof pnp_id);
}

/** Characteristics 2 to 7 require encryption if the device requires pairing; the first never does. */
static uint8_t permissions_of(const tendon_simulated_bose *device, size_t characteristic) {
    uint32_t properties = characteristics[characteristic].properties;
    uint32_t permissions = 0;
    if ((properties & TENDON_GATT_READ) != 0) {
        permissions |= TENDON_GATT_PERMIT_READ;
    }
    if ((properties & TENDON_GATT_WRITE) != 0) {
        permissions |= TENDON_GATT_PERMIT_WRITE;
    }
    if (device->options.pairing_required && characteristic != BOSE_DEVICE_INFORMATION) {
        permissions |= TENDON_GATT_READ_ENCRYPTED | TENDON_GATT_WRITE_ENCRYPTED;
    }
    return (uint8_t)permissions;
}

tendon_simulated_bose_options tendon_simulated_bose_frames(void) {
    return (tendon_simulated_bose_options){.product_id = 0x402C,
                                           .variant = 1,
                                           .sensor_mask = 0x0F,
                                           .gesture_mask = 0x0007000E,
                                           .transmission_period_ms = 8,
                                           .max_payload = 47,
                                           .max_active_sensors = 4};
}

static void fill_defaults(tendon_simulated_bose_options *options) {
    options->product_id = options->product_id != 0 ? options->product_id : 0x402C;
    options->sensor_mask = options->sensor_mask != 0 ? options->sensor_mask : 0x0F;
    options->gesture_mask = options->gesture_mask != 0 ? options->gesture_mask : 0x0007000E;
    options->period_mask = options->period_mask != 0 ? options->period_mask : 0x001F;
    options->name = options->name != NULL ? options->name : default_name;
    options->firmware = options->firmware != NULL ? options->firmware : default_firmware;
    options->serial = options->serial != NULL ? options->serial : default_serial;
}

tendon_status tendon_simulated_bose_init(tendon_simulated_bose *device, const tendon_simulated_bose_options *options) {
    memset(device, 0, sizeof *device);
    device->options = options != NULL ? *options : tendon_simulated_bose_frames();
    fill_defaults(&device->options);
    device->status = (uint16_t)((device->options.pairing_enabled ? STATUS_PAIRING_ENABLED : 0u) |
                                (device->options.pairing_required ? STATUS_PAIRING_REQUIRED : 0u));
    device->noise = 0x54454E44;
    const tendon_gatt_handlers handlers = {
        .context = device, .read = on_read, .write = on_write, .subscribed = on_subscribed};
    tendon_gatt_server_init(&device->server, device->attributes, TENDON_SIMULATED_BOSE_ATTRIBUTES, &handlers);
    add_standard_services(device);
    add_service(device, 0xFDD2);
    for (size_t i = 0; i < BOSE_CHARACTERISTICS; i++) {
        tendon_status handle = tendon_gatt_add_characteristic(&device->server, &characteristics[i].uuid,
                                                              characteristics[i].properties, permissions_of(device, i));
        device->handles[i] = tendon_simulated_handle(handle);
    }
    tendon_simulated_bose_reset(device);
    return device->server.status;
}

/* ---- connections ---- */

tendon_status tendon_simulated_bose_connected(tendon_simulated_bose *device, tendon_att_bearer *bearer, uint64_t now) {
    tendon_status index = tendon_simulated_centrals_connect(&device->centrals, &device->server, bearer);
    if (index < 0) {
        return index;
    }
    memset(&device->outboxes[index], 0, sizeof device->outboxes[index]);
    if (device->centrals.count == 1) {
        device->clock_base = now;
        device->device_ms = 0;
    }
    return TENDON_OK;
}

void tendon_simulated_bose_disconnected(tendon_simulated_bose *device, tendon_att_bearer *bearer, tendon_status reason,
                                        uint64_t now) {
    tendon_status index = tendon_simulated_centrals_disconnect(&device->centrals, bearer, reason, now);
    if (index < 0) {
        return;
    }
    memset(&device->outboxes[index], 0, sizeof device->outboxes[index]);
    if (device->centrals.count == 0) {
        tendon_simulated_bose_reset(device);
        return;
    }
    tendon_simulated_bose_update_stream(device, false, now);
    tendon_simulated_bose_flush(device); /* the others may have waited for this one */
}

void tendon_simulated_bose_paired(tendon_simulated_bose *device, tendon_att_bearer *bearer, uint64_t now) {
    (void)now;
    tendon_status index = tendon_simulated_centrals_paired(&device->centrals, bearer);
    if (index >= 0) { /* bit 2 of the status has changed only for this central */
        device->outboxes[index].dirty |= 1u << BOSE_DEVICE_INFORMATION;
        tendon_simulated_bose_flush(device);
    }
}

/* ---- calls from outside ---- */

/** Changes status bits and notifies all centrals if they changed. */
static void set_status(tendon_simulated_bose *device, uint16_t status) {
    if (device->status != status) {
        device->status = status;
        tendon_simulated_bose_announce(device, BOSE_DEVICE_INFORMATION, -1);
    }
}

void tendon_simulated_bose_suspend(tendon_simulated_bose *device, bool suspended, uint8_t reason, uint64_t now) {
    uint32_t status = device->status & (STATUS_PAIRING_ENABLED | STATUS_PAIRING_REQUIRED);
    if (suspended) {
        status |= STATUS_SUSPENDED | (uint32_t)(reason & 0x0Fu) << 12;
    }
    set_status(device, (uint16_t)status);
    tendon_simulated_bose_update_stream(device, false, now);
    tendon_simulated_bose_flush(device);
}

void tendon_simulated_bose_set_pairing_mode(tendon_simulated_bose *device, bool enabled, uint64_t now) {
    (void)now;
    uint32_t others = device->status & ~(uint32_t)STATUS_PAIRING_ENABLED;
    set_status(device, (uint16_t)(others | (enabled ? STATUS_PAIRING_ENABLED : 0u)));
}

tendon_status tendon_simulated_bose_gesture(tendon_simulated_bose *device, uint8_t gesture_id, uint64_t now) {
    size_t row = 0;
    while (row < GESTURE_BITS && tendon_simulated_bose_gestures[row].id != gesture_id) {
        row++;
    }
    if (row == GESTURE_BITS || !tendon_simulated_bose_has_gesture(device, row)) {
        return TENDON_ERROR_NOT_FOUND;
    }
    bool enabled = (device->gestures_enabled >> tendon_simulated_bose_gestures[row].bit & 1u) != 0;
    if (!enabled || (device->status & STATUS_SUSPENDED) != 0) {
        return TENDON_ERROR_WRONG_STATE;
    }
    uint64_t clock = tendon_simulated_bose_clock(device, now);
    bool heard = false;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        tendon_simulated_bose_outbox *outbox = &device->outboxes[i];
        const tendon_simulated_central *place = &device->centrals.places[i];
        if (!place->used ||
            (tendon_gatt_connection_cccd(&place->connection, device->handles[BOSE_GESTURE_DATA]) & 1u) == 0) {
            continue;
        }
        heard = true;
        if (outbox->gesture_count == TENDON_SIMULATED_BOSE_GESTURE_QUEUE) {
            device->counters.gestures_lost++;
            continue;
        }
        tendon_writer out = tendon_writer_make(outbox->gestures[outbox->gesture_count], 3);
        tendon_write_u8(&out, gesture_id);
        tendon_write_u16be(&out, (uint16_t)(clock & 0xFFFFu));
        outbox->gesture_count++;
    }
    tendon_simulated_bose_flush(device);
    return heard ? TENDON_OK : TENDON_GATT_ERROR_NOT_SUBSCRIBED;
}

void tendon_simulated_bose_inject(tendon_simulated_bose *device, tendon_simulated_bose_malformation kind,
                                  uint32_t count) {
    device->malformed_kind = kind;
    device->malformed_next = count;
}
