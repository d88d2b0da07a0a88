/* SPDX-License-Identifier: MIT */
/* Simulated naviBelt: attribute table, its one connection, the seam for hosts. */
#include "feelspace_parts.h"

static const char default_name[] = "naviGuertel SIM";

/** 65333333-A115-11E2-9E9A-0800200CA100, least significant byte first. */
static const uint8_t advertised_128[16] = {0x00, 0xA1, 0x0C, 0x20, 0x00, 0x08, 0x9A, 0x9E,
                                           0xE2, 0x11, 0x15, 0xA1, 0x33, 0x33, 0x33, 0x65};

enum { WRITE = TENDON_GATT_WRITE | TENDON_GATT_WRITE_WITHOUT_RESPONSE };

static const struct {
    uint16_t uuid;
    uint16_t service; /**< that begins with this one; 0: none */
    uint8_t properties;
} characteristics[BELT_CHARACTERISTICS] = {
    {0xFE01, 0xFE51, TENDON_GATT_READ},
    {0xFE02, 0, WRITE | TENDON_GATT_NOTIFY},
    {0xFE03, 0, WRITE},
    {0xFE04, 0, TENDON_GATT_NOTIFY},
    {0xFE05, 0, WRITE},
    {0xFE06, 0, TENDON_GATT_NOTIFY},
    {0xFE07, 0, WRITE},
    {0xFE09, 0, TENDON_GATT_READ | TENDON_GATT_NOTIFY},
    {0xFE0A, 0xFE52, WRITE},
    {0xFE0B, 0, TENDON_GATT_NOTIFY},
    {0xFE0C, 0, TENDON_GATT_NOTIFY},
    {0xFE13, 0xFE53, WRITE},
    {0xFE14, 0, TENDON_GATT_NOTIFY},
};

/* ---- attribute callbacks ---- */

static int characteristic_of(const tendon_simulated_feelspace *belt, uint16_t handle) {
    for (int i = 0; i < BELT_CHARACTERISTICS; i++) {
        if (belt->handles[i] == handle) {
            return i;
        }
    }
    return -1;
}

static tendon_status on_read(void *context, tendon_gatt_connection *connection, uint16_t handle, const uint8_t **value,
                             size_t *length) {
    tendon_simulated_feelspace *belt = context;
    (void)connection;
    int characteristic = characteristic_of(belt, handle);
    if (characteristic < 0) { /* the name, which can change */
        *value = (const uint8_t *)belt->name;
        *length = tendon_simulated_text_length(belt->name, sizeof belt->name);
        return TENDON_OK;
    }
    *value = belt->value;
    *length = tendon_simulated_feelspace_value(belt, (unsigned)characteristic, belt->value, sizeof belt->value);
    return TENDON_OK;
}

static tendon_status on_write(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                              const uint8_t *value, size_t length, bool command, uint64_t now) {
    tendon_simulated_feelspace *belt = context;
    (void)connection;
    (void)command;
    int characteristic = characteristic_of(belt, handle);
    if (offset != 0 || characteristic < 0) {
        return TENDON_ATT_ERROR(TENDON_ATT_INVALID_OFFSET);
    }
    return tendon_simulated_feelspace_write(belt, (unsigned)characteristic, value, length, now);
}

static void on_subscribed(void *context, tendon_gatt_connection *connection, uint16_t value_handle, uint16_t value,
                          uint64_t now) {
    tendon_simulated_feelspace *belt = context;
    (void)connection;
    int characteristic = characteristic_of(belt, value_handle);
    if (characteristic >= 0) {
        tendon_simulated_feelspace_subscribed(belt, (unsigned)characteristic, (value & 1u) != 0, now);
    }
}

/* ---- the table ---- */

static void add_service(tendon_simulated_feelspace *belt, uint16_t service) {
    tendon_uuid uuid = tendon_uuid_from_u16(service);
    tendon_gatt_add_service(&belt->server, &uuid, true);
}

static tendon_status add_characteristic(tendon_simulated_feelspace *belt, uint16_t type, uint8_t properties) {
    tendon_uuid uuid = tendon_uuid_from_u16(type);
    uint32_t permissions = (properties & TENDON_GATT_READ) != 0 ? TENDON_GATT_PERMIT_READ : 0u;
    if ((properties & WRITE) != 0) {
        permissions |= TENDON_GATT_PERMIT_WRITE;
    }
    if (belt->options.pairing_required && type >= 0xFE01) {
        permissions |= TENDON_GATT_READ_ENCRYPTED | TENDON_GATT_WRITE_ENCRYPTED;
    }
    return tendon_gatt_add_characteristic(&belt->server, &uuid, properties, (uint8_t)permissions);
}

static void add_table(tendon_simulated_feelspace *belt) {
    add_service(belt, 0x1800);
    (void)add_characteristic(belt, 0x2A00, TENDON_GATT_READ);
    for (size_t i = 0; i < BELT_CHARACTERISTICS; i++) {
        bool absent = (i >= BELT_DEBUG_INPUT && belt->options.without_debug) ||
                      (i == BELT_BUZZER && !belt_has(belt, SINCE_PULSE));
        if (absent) {
            continue;
        }
        if (characteristics[i].service != 0) {
            add_service(belt, characteristics[i].service);
        }
        tendon_status handle = add_characteristic(belt, characteristics[i].uuid, characteristics[i].properties);
        belt->handles[i] = tendon_simulated_handle(handle);
    }
}

static void fill_defaults(tendon_simulated_feelspace_options *options) {
    bool newer = options->generation == TENDON_FEELSPACE_GENERATION_NEWER;
    options->generation = newer ? TENDON_FEELSPACE_GENERATION_NEWER : TENDON_FEELSPACE_GENERATION_COMMERCIAL;
    options->firmware = options->firmware != 0 ? options->firmware : newer ? 4 : 52;
    options->variant = options->variant != 0 ? options->variant : 4;
    options->keep_alive_ms = options->keep_alive_ms != 0 ? options->keep_alive_ms : 1000;
    options->patience_ms = options->patience_ms != 0 ? options->patience_ms : 5000;
    options->battery_level = options->battery_level != 0 ? options->battery_level : 80 * 256;
    options->name = options->name != NULL ? options->name : default_name;
}

tendon_status tendon_simulated_feelspace_init(tendon_simulated_feelspace *belt,
                                              const tendon_simulated_feelspace_options *options) {
    memset(belt, 0, sizeof *belt);
    if (options != NULL) {
        belt->options = *options;
    }
    fill_defaults(&belt->options);
    memcpy(belt->name, belt->options.name,
           tendon_simulated_text_length(belt->options.name, sizeof belt->name - 1)); /* the rest is 0 */
    belt->options.name = NULL;
    belt->mode = MODE_WAIT;
    belt->mode_before_pause = MODE_WAIT;
    belt->settings = belt->stored = tendon_simulated_feelspace_factory(belt);
    belt->power_status = 1;
    belt->battery_level = belt->options.battery_level;
    belt->battery_time = 5120; /* 8 h */
    belt->last_signal = 0xFF;
    belt->pairing_until = belt->options.pairing_mode ? UINT64_MAX : 0;
    tendon_simulated_feelspace_quiet(belt);
    const tendon_gatt_handlers handlers = {
        .context = belt, .read = on_read, .write = on_write, .subscribed = on_subscribed};
    tendon_gatt_server_init(&belt->server, belt->attributes, TENDON_SIMULATED_FEELSPACE_ATTRIBUTES, &handlers);
    add_table(belt);
    return belt->server.status;
}

/* ---- the seam ---- */

static tendon_status advertisement(const void *device, uint8_t *out, size_t capacity) {
    const tendon_simulated_feelspace *belt = device;
    if (belt->options.generation == TENDON_FEELSPACE_GENERATION_NEWER) {
        return tendon_simulated_advertisement(0xFE51, out, capacity);
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    const uint8_t head[5] = {2, 0x01, 0x06, 17, 0x07}; /* flags; complete list of 128-bit service UUIDs */
    tendon_write_bytes(&writer, head, sizeof head);
    tendon_write_bytes(&writer, advertised_128, sizeof advertised_128);
    return tendon_writer_result(&writer);
}

static tendon_status scan_response(const void *device, uint8_t *out, size_t capacity) {
    const tendon_simulated_feelspace *belt = device;
    return tendon_simulated_scan_response(belt->name, out, capacity);
}

static tendon_status connected(void *device, tendon_att_bearer *bearer, uint64_t now) {
    tendon_simulated_feelspace *belt = device;
    (void)now;
    if (belt->centrals.count > 0 || belt->mode == MODE_STANDBY) {
        return TENDON_ERROR_TABLE_FULL;
    }
    tendon_status index = tendon_simulated_centrals_connect(&belt->centrals, &belt->server, bearer);
    return index < 0 ? index : TENDON_OK;
}

static void disconnected(void *device, tendon_att_bearer *bearer, tendon_status reason, uint64_t now) {
    tendon_simulated_feelspace *belt = device;
    if (tendon_simulated_centrals_disconnect(&belt->centrals, bearer, reason, now) < 0) {
        return;
    }
    tendon_simulated_feelspace_quiet(belt);
    if (belt->mode == MODE_APP) { /* no central is connected that could stop the vibration */
        tendon_simulated_feelspace_enter(belt, MODE_WAIT, now);
    }
    if (belt->mode_before_pause == MODE_APP) {
        belt->mode_before_pause = MODE_WAIT;
    }
}

static void paired(void *device, tendon_att_bearer *bearer, uint64_t now) {
    tendon_simulated_feelspace *belt = device;
    (void)now;
    (void)tendon_simulated_centrals_paired(&belt->centrals, bearer);
}

/** A belt that requires pairing accepts new bonds only in pairing mode. */
static uint32_t pairing(void *device) {
    const tendon_simulated_feelspace *belt = device;
    return !belt->options.pairing_required || belt->pairing_until != 0 ? TENDON_PERIPHERAL_PAIRABLE : 0;
}

static void tick(void *device, uint64_t now) {
    tendon_simulated_feelspace_tick(device, now);
}

static uint64_t deadline(const void *device) {
    return tendon_simulated_feelspace_deadline(device);
}

tendon_peripheral_device tendon_simulated_feelspace_device(tendon_simulated_feelspace *belt) {
    static const tendon_peripheral_ops ops = {.name = "feelspace",
                                              .advertisement = advertisement,
                                              .scan_response = scan_response,
                                              .connected = connected,
                                              .disconnected = disconnected,
                                              .paired = paired,
                                              .writable = tick,
                                              .tick = tick,
                                              .deadline = deadline,
                                              .pairing = pairing};
    return (tendon_peripheral_device){&ops, belt};
}
