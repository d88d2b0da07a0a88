/* SPDX-License-Identifier: MIT */
/* Simulated Fjorden grip: attribute table, connections, and the seam that hosts of any device use. */
#include "fjorden_parts.h"

static const uint8_t appearance[2] = {0xC0, 0x03}; /* 0x03C0, generic HID */

/* Most significant byte first; bytes 2 and 3 distinguish them. */
static tendon_uuid own_uuid(uint8_t number) {
    return (tendon_uuid){
        {0xb3, 0xd8, 0x00, number, 0x92, 0xde, 0x4c, 0x91, 0xb5, 0x91, 0xab, 0xff, 0xcb, 0xa8, 0xda, 0xf2}};
}

/* HID 1.11: version, country, flags (normally connectable); the vendor's report map: one consumer usage of 16 bits. */
static const uint8_t hid_information[] = {0x11, 0x01, 0x00, 0x02};
static const uint8_t report_map[] = {0x05, 0x0C, 0x09, 0x01, 0xA1, 0x01, 0x19, 0x00, 0x2A, 0x9C, 0x02, 0x15,
                                     0x00, 0x26, 0x9C, 0x02, 0x95, 0x01, 0x75, 0x10, 0x81, 0x00, 0xC0};
static const uint8_t report_reference[] = {0x00, 0x01}; /* no id, input */

/* ---- attribute callbacks ---- */

static tendon_status on_read(void *context, tendon_gatt_connection *connection, uint16_t handle, const uint8_t **value,
                             size_t *length) {
    tendon_simulated_fjorden *device = context;
    (void)connection;
    *value = device->value;
    if (handle == device->state_handle) {
        tendon_simulated_fjorden_write_state(device, device->value);
        *length = STATE_LENGTH;
    } else if (handle == device->battery_handle) {
        device->value[0] = device->battery;
        *length = 1;
    } else {
        tendon_writer out = tendon_writer_make(device->value, sizeof device->value);
        tendon_write_u16le(&out, device->key);
        *length = out.length;
    }
    return TENDON_OK;
}

static tendon_status on_write(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                              const uint8_t *value, size_t length, bool command, uint64_t now) {
    tendon_simulated_fjorden *device = context;
    (void)command;
    if (handle != device->control_handle) {
        return TENDON_OK; /* HID's: suspend, protocol mode */
    }
    tendon_status status = offset != 0 ? TENDON_ATT_ERROR(TENDON_ATT_INVALID_OFFSET)
                                       : tendon_simulated_fjorden_control(device, connection, value, length, now);
    device->counters.refused_writes += status < 0;
    return status;
}

static void on_subscribed(void *context, tendon_gatt_connection *connection, uint16_t value_handle, uint16_t value,
                          uint64_t now) {
    tendon_simulated_fjorden *device = context;
    tendon_status index = tendon_simulated_centrals_index(&device->centrals, connection);
    (void)now;
    if (index >= 0 && value_handle == device->event_handle && value != 0) {
        device->outboxes[index].next = device->made; /* the previous value is irrelevant */
    }
}

static void on_confirmed(void *context, tendon_gatt_connection *connection, uint16_t value_handle, tendon_status status,
                         uint64_t now) {
    (void)connection;
    (void)status;
    tendon_simulated_fjorden *device = context;
    if (value_handle == device->control_handle) {
        tendon_simulated_fjorden_responded(device, now);
    }
}

/* ---- the table ---- */

enum { READ = TENDON_GATT_READ, NOTIFY = TENDON_GATT_NOTIFY, WRITE = TENDON_GATT_WRITE };

static uint16_t add(tendon_simulated_fjorden *device, tendon_uuid uuid, unsigned properties, bool secure) {
    unsigned permissions = (properties & TENDON_GATT_READ) != 0 ? TENDON_GATT_PERMIT_READ : 0;
    if ((properties & (TENDON_GATT_WRITE | TENDON_GATT_WRITE_WITHOUT_RESPONSE)) != 0) {
        permissions |= TENDON_GATT_PERMIT_WRITE;
    }
    if (secure && !device->options.open) {
        permissions |= TENDON_GATT_READ_ENCRYPTED | TENDON_GATT_WRITE_ENCRYPTED;
    }
    tendon_status handle =
        tendon_gatt_add_characteristic(&device->server, &uuid, (uint8_t)properties, (uint8_t)permissions);
    return tendon_simulated_handle(handle);
}

static void add_static(tendon_simulated_fjorden *device, uint16_t type, const void *value, size_t length, bool secure) {
    uint16_t handle = add(device, tendon_uuid_from_u16(type), READ, secure);
    tendon_gatt_set_static(&device->server, handle, value, length);
}

static void add_text(tendon_simulated_fjorden *device, uint16_t type, const char *text) {
    add_static(device, type, text, tendon_simulated_text_length(text, TENDON_SIMULATED_TEXT_MAX), false);
}

static void add_service(tendon_simulated_fjorden *device, tendon_uuid uuid) {
    tendon_gatt_add_service(&device->server, &uuid, true);
}

static bool lacks(const tendon_simulated_fjorden *device, uint32_t what) {
    return (device->options.lacks & what) != 0;
}

static void add_grip(tendon_simulated_fjorden *device) {
    if (lacks(device, TENDON_SIMULATED_FJORDEN_NO_SERVICE)) {
        return;
    }
    add_service(device, own_uuid(1));
    if (lacks(device, TENDON_SIMULATED_FJORDEN_NO_NOTIFY)) {
        tendon_uuid uuid = own_uuid(2);
        tendon_status handle =
            tendon_gatt_add_characteristic(&device->server, &uuid, NOTIFY, TENDON_GATT_READ_AUTHENTICATED);
        device->event_handle = tendon_simulated_handle(handle);
    } else if (!lacks(device, TENDON_SIMULATED_FJORDEN_NO_EVENT)) {
        device->event_handle = add(device, own_uuid(2), NOTIFY, true);
    }
    if (!lacks(device, TENDON_SIMULATED_FJORDEN_NO_STATE)) {
        device->state_handle = add(device, own_uuid(3), READ | NOTIFY, true);
    }
    if (!lacks(device, TENDON_SIMULATED_FJORDEN_NO_CONTROL)) {
        device->control_handle = add(device, own_uuid(4), WRITE | TENDON_GATT_INDICATE, true);
    }
}

static void add_standard(tendon_simulated_fjorden *device) {
    add_service(device, tendon_uuid_from_u16(0x1800));
    add_text(device, 0x2A00, device->options.name);
    add_static(device, 0x2A01, appearance, sizeof appearance, false);
    if (!lacks(device, TENDON_SIMULATED_FJORDEN_NO_INFORMATION)) {
        add_service(device, tendon_uuid_from_u16(0x180A));
        add_text(device, 0x2A29, "Tendon");
        add_text(device, 0x2A24, "Grip (simulated)");
        if (!lacks(device, TENDON_SIMULATED_FJORDEN_NO_FIRMWARE)) {
            add_text(device, 0x2A26, device->options.firmware);
        }
        add_text(device, 0x2A27, "1.0");
        add_text(device, 0x2A25, device->options.serial);
    }
    if (!lacks(device, TENDON_SIMULATED_FJORDEN_NO_BATTERY)) {
        add_service(device, tendon_uuid_from_u16(0x180F));
        device->battery_handle = add(device, tendon_uuid_from_u16(0x2A19), READ | NOTIFY, false);
    }
}

static void add_hid(tendon_simulated_fjorden *device) {
    add_service(device, tendon_uuid_from_u16(0x1812));
    add_static(device, 0x2A4A, hid_information, sizeof hid_information, true);
    add_static(device, 0x2A4B, report_map, sizeof report_map, true);
    device->key_handle = add(device, tendon_uuid_from_u16(0x2A4D), READ | NOTIFY, true);
    tendon_uuid reference = tendon_uuid_from_u16(0x2908);
    tendon_status handle = tendon_gatt_add_descriptor(&device->server, &reference, TENDON_GATT_PERMIT_READ);
    tendon_gatt_set_static(&device->server, tendon_simulated_handle(handle), report_reference, sizeof report_reference);
    (void)add(device, tendon_uuid_from_u16(0x2A4C), TENDON_GATT_WRITE_WITHOUT_RESPONSE, true);
}

static void fill_defaults(tendon_simulated_fjorden_options *options) {
    options->name = options->name != NULL ? options->name : "Fjorden Grip Simulator";
    options->firmware = options->firmware != NULL ? options->firmware : "1.2.0";
    options->serial = options->serial != NULL ? options->serial : "TENDON-FJORDEN-1";
    options->battery = options->battery != 0 ? options->battery : 80;
}

tendon_status tendon_simulated_fjorden_init(tendon_simulated_fjorden *device,
                                            const tendon_simulated_fjorden_options *options) {
    memset(device, 0, sizeof *device);
    if (options != NULL) {
        device->options = *options;
    }
    fill_defaults(&device->options);
    device->battery = device->options.battery;
    device->bonded = device->options.bonded;
    device->sequence = 1;
    device->gone_at = UINT64_MAX;
    tendon_fjorden_config config = tendon_fjorden_config_default();
    (void)tendon_fjorden_gesture_init(&device->gestures, &config);
    const tendon_gatt_handlers handlers = {
        .context = device, .read = on_read, .write = on_write, .subscribed = on_subscribed, .confirmed = on_confirmed};
    tendon_gatt_server_init(&device->server, device->attributes, TENDON_SIMULATED_FJORDEN_ATTRIBUTES, &handlers);
    add_standard(device);
    add_grip(device);
    add_hid(device);
    return device->server.status;
}

/* ---- the seam ---- */

static tendon_status advertisement(const void *context, uint8_t *out, size_t capacity) {
    const tendon_simulated_fjorden *device = context;
    tendon_uuid service = own_uuid(1);
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_bytes(&writer, "\x02\x01\x06", 3);
    if (!lacks(device, TENDON_SIMULATED_FJORDEN_NO_SERVICE)) {
        tendon_write_bytes(&writer, "\x11\x07", 2);
        for (size_t i = sizeof service.bytes; i > 0; i--) {
            tendon_write_u8(&writer, service.bytes[i - 1]);
        }
    }
    tendon_write_bytes(&writer, "\x03\x03\x12\x18\x03\x19", 6);
    tendon_write_bytes(&writer, appearance, sizeof appearance);
    return tendon_writer_result(&writer);
}

static tendon_status scan_response(const void *context, uint8_t *out, size_t capacity) {
    const tendon_simulated_fjorden *device = context;
    return tendon_simulated_scan_response(device->options.name, out, capacity);
}

static tendon_status connected(void *context, tendon_att_bearer *bearer, uint64_t now) {
    tendon_simulated_fjorden *device = context;
    tendon_status index = tendon_simulated_centrals_connect(&device->centrals, &device->server, bearer);
    if (index < 0) {
        return index;
    }
    device->outboxes[index] = (tendon_simulated_fjorden_outbox){.next = device->made};
    if (device->centrals.count == 1) {
        device->clock_base = now;
        device->next_move = device->move = 0;
        if (device->options.hand) { /* the hand released what it held when the last connection ended */
            const tendon_fjorden_config config = device->gestures.config;
            (void)tendon_fjorden_gesture_init(&device->gestures, &config);
        }
    }
    return TENDON_OK;
}

static void disconnected(void *context, tendon_att_bearer *bearer, tendon_status reason, uint64_t now) {
    tendon_simulated_fjorden *device = context;
    tendon_status index = tendon_simulated_centrals_disconnect(&device->centrals, bearer, reason, now);
    if (index >= 0) {
        tendon_simulated_fjorden_drop_responses(device, (uint8_t)index, now);
        tendon_simulated_fjorden_flush(device, now); /* the others may have waited for this one */
    }
}

static void paired(void *context, tendon_att_bearer *bearer, uint64_t now) {
    tendon_simulated_fjorden *device = context;
    (void)now;
    if (tendon_simulated_centrals_paired(&device->centrals, bearer) >= 0) {
        device->bonded = true;
    }
}

static void tick(void *context, uint64_t now) {
    tendon_simulated_fjorden_tick(context, now);
}

static uint64_t deadline(const void *context) {
    return tendon_simulated_fjorden_deadline(context);
}

static uint32_t pairing(void *context) {
    tendon_simulated_fjorden *device = context;
    uint32_t wants = device->bonded || device->options.rejects_pairing ? 0 : TENDON_PERIPHERAL_PAIRABLE;
    if (device->clears_bonds) {
        device->clears_bonds = false;
        wants |= TENDON_PERIPHERAL_CLEAR_BONDS;
    }
    return wants;
}

static const tendon_peripheral_ops ops = {.name = "fjorden",
                                          .advertisement = advertisement,
                                          .scan_response = scan_response,
                                          .connected = connected,
                                          .disconnected = disconnected,
                                          .paired = paired,
                                          .writable = tick,
                                          .tick = tick,
                                          .deadline = deadline,
                                          .pairing = pairing};

tendon_peripheral_device tendon_simulated_fjorden_device(tendon_simulated_fjorden *device) {
    return (tendon_peripheral_device){&ops, device};
}
