/* SPDX-License-Identifier: MIT */
/* Simulated Activ5 trainer: attribute table, connections, commands, calls from outside. */
#include "activ5_parts.h"

/** Write Request Rejected (Core Spec Supplement Part B 1.2): right, but not now. */
#define WRITE_REQUEST_REJECTED 0xFC

enum { BATTERY_DEFAULT = 75, FORCE_PERIOD = 100, IMU_PERIOD = 40, RATE_MAX = 200, SQUEEZE_RAW = 160 };

/** Legacy devices have only the first service. */
static const struct {
    uint16_t service, uuid;
    uint8_t properties;
} table[TENDON_SIMULATED_ACTIV5_CHARACTERISTICS] = {
    {0x5000, 0x5A01, TENDON_GATT_NOTIFY},
    {0x5000, 0x5A02, TENDON_GATT_WRITE},
    {0xF0F0, 0xF0FE, TENDON_GATT_NOTIFY},
    {0xF0F0, 0xF0F5, TENDON_GATT_NOTIFY},
    {0xF0F0, 0xF0F3, TENDON_GATT_READ | TENDON_GATT_NOTIFY},
    {0xF0F0, 0xF0F7, TENDON_GATT_READ},
    {0xF0F0, 0xF0F8, TENDON_GATT_READ},
    {0xF0F0, 0xF0FA, TENDON_GATT_WRITE},
    {0x180F, 0x2A19, TENDON_GATT_READ | TENDON_GATT_NOTIFY},
    {0x180A, 0x2A25, TENDON_GATT_READ},
};

static uint16_t handle_of(const tendon_simulated_activ5 *device, unsigned characteristic) {
    return device->handles[characteristic];
}

/* ---- text responses ---- */

static void answer(tendon_simulated_activ5 *device, size_t central, const char *head, const char *text, size_t limit) {
    tendon_simulated_activ5_reply(device, central, head, text, tendon_simulated_text_length(text, limit));
}

/** Sends the first message: once per connection, when the central enables notifications. */
static void greet(tendon_simulated_activ5 *device, size_t central) {
    tendon_simulated_activ5_central *outbox = &device->outboxes[central];
    const tendon_simulated_central *place = &device->centrals.places[central];
    bool listens =
        (tendon_gatt_connection_cccd(&place->connection, handle_of(device, TENDON_SIMULATED_ACTIV5_TEXT)) & 1u) != 0;
    if (outbox->greeted || !listens || (device->options.silent && !outbox->shaken)) {
        return;
    }
    outbox->greeted = true;
    uint8_t content[18];
    tendon_writer out = tendon_writer_make(content, sizeof content);
    tendon_write_bytes(&out, ";", 1);
    tendon_write_bytes(&out, device->options.version, tendon_simulated_text_length(device->options.version, 4));
    tendon_write_bytes(&out, ";04;BATOK", 9);
    tendon_simulated_activ5_reply(device, central, "TC5k", content, out.length);
}

/* ---- commands ---- */

enum { HANDSHAKE, ISOMETRIC, TARE, STOP, SERIAL1, SERIAL2, ID1, ID2, COMMANDS };

/** The command of a written value, or COMMANDS. */
static unsigned command_of(const uint8_t *value, size_t length) {
    static const char *const texts[COMMANDS] = {"TVGTIME", "ISOM!", "TARE!", "STOP!", "SN1!", "SN2!", "ID1!", "ID2!"};
    if (length < 3 || value[0] != 'A' || (value[length - 1] != 0x13 && value[length - 1] != 0x19)) {
        return COMMANDS;
    }
    for (unsigned i = 0; i < COMMANDS; i++) {
        size_t count = tendon_simulated_text_length(texts[i], TENDON_SIMULATED_TEXT_MAX);
        if (count == length - 2 && memcmp(texts[i], value + 1, count) == 0) {
            return i;
        }
    }
    return COMMANDS;
}

static void obey(tendon_simulated_activ5 *device, size_t central, unsigned command) {
    tendon_simulated_activ5_central *outbox = &device->outboxes[central];
    const tendon_simulated_activ5_options *options = &device->options;
    switch (command) {
    case HANDSHAKE:
        outbox->shaken = true;
        greet(device, central);
        break;
    case ISOMETRIC:
        outbox->isometric = true;
        break;
    case TARE:
        device->zero += tendon_simulated_activ5_raw(device, tendon_simulated_activ5_clock(device));
        break;
    case STOP:
        outbox->isometric = false;
        device->counters.stops++;
        device->idle_since = device->now;
        break;
    case SERIAL1:
        answer(device, central, "ASN1", options->serial1, 14);
        break;
    case SERIAL2:
        answer(device, central, "ASN2", options->serial2, 14);
        break;
    case ID1:
        answer(device, central, "Ai", options->id1, 16);
        break;
    case ID2:
    default:
        tendon_simulated_activ5_reply(device, central, "AI", device->id2, sizeof device->id2);
        break;
    }
}

static tendon_status write_command(tendon_simulated_activ5 *device, size_t central, const uint8_t *value,
                                   size_t length) {
    if (length == 0 || length > 20) {
        return TENDON_ATT_ERROR(TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH);
    }
    unsigned command = command_of(value, length);
    if (command == COMMANDS) {
        return TENDON_ATT_ERROR(TENDON_ATT_VALUE_NOT_ALLOWED);
    }
    if (command != HANDSHAKE && !tendon_simulated_activ5_is_open(device, central)) {
        return TENDON_ATT_ERROR(WRITE_REQUEST_REJECTED);
    }
    obey(device, central, command);
    return TENDON_OK;
}

/** F0FA: both streams have this rate from now on. */
static tendon_status write_rate(tendon_simulated_activ5 *device, size_t central, const uint8_t *value, size_t length) {
    if (length != 2) {
        return TENDON_ATT_ERROR(TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH);
    }
    uint32_t rate = (uint32_t)value[0] | (uint32_t)value[1] << 8; /* negative ones are above the limit, too */
    if (rate == 0 || rate > RATE_MAX) {
        return TENDON_ATT_ERROR(TENDON_ATT_VALUE_NOT_ALLOWED);
    }
    if (!tendon_simulated_activ5_is_open(device, central)) {
        return TENDON_ATT_ERROR(WRITE_REQUEST_REJECTED);
    }
    device->force_period = device->imu_period = (uint16_t)(1000 / rate);
    device->next_force = device->next_imu = UINT64_MAX; /* restarted from the present time */
    return TENDON_OK;
}

/* ---- attribute callbacks ---- */

static tendon_status on_read(void *context, tendon_gatt_connection *connection, uint16_t handle, const uint8_t **value,
                             size_t *length) {
    tendon_simulated_activ5 *device = context;
    (void)connection;
    if (handle == handle_of(device, TENDON_SIMULATED_ACTIV5_BATTERY)) {
        *value = &device->battery;
        *length = 1;
        return TENDON_OK;
    }
    if (handle != handle_of(device, TENDON_SIMULATED_ACTIV5_TIMESTAMP)) {
        return TENDON_ATT_ERROR(TENDON_ATT_UNLIKELY_ERROR);
    }
    *value = device->time;
    *length = sizeof device->time;
    return TENDON_OK;
}

static tendon_status on_write(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                              const uint8_t *value, size_t length, bool command, uint64_t now) {
    tendon_simulated_activ5 *device = context;
    (void)command;
    device->now = now;
    tendon_status central = tendon_simulated_centrals_index(&device->centrals, connection);
    tendon_status status = TENDON_ATT_ERROR(TENDON_ATT_INVALID_OFFSET);
    if (offset == 0 && central >= 0) {
        status = handle == handle_of(device, TENDON_SIMULATED_ACTIV5_RATE)
                     ? write_rate(device, (size_t)central, value, length)
                     : write_command(device, (size_t)central, value, length);
    }
    if (status != TENDON_OK) {
        device->counters.refused_writes++;
        return status;
    }
    device->counters.commands++;
    tendon_simulated_activ5_update(device);
    return TENDON_OK;
}

static void on_subscribed(void *context, tendon_gatt_connection *connection, uint16_t value_handle, uint16_t value,
                          uint64_t now) {
    tendon_simulated_activ5 *device = context;
    (void)value;
    device->now = now;
    tendon_status central = tendon_simulated_centrals_index(&device->centrals, connection);
    if (central >= 0 && value_handle == handle_of(device, TENDON_SIMULATED_ACTIV5_TEXT)) {
        greet(device, (size_t)central);
    }
    tendon_simulated_activ5_update(device);
}

/* ---- the table ---- */

static void add_service(tendon_simulated_activ5 *device, uint16_t service) {
    tendon_uuid uuid = tendon_uuid_from_u16(service);
    tendon_gatt_add_service(&device->server, &uuid, true);
}

static uint16_t add_characteristic(tendon_simulated_activ5 *device, uint16_t type, uint32_t properties) {
    tendon_uuid uuid = tendon_uuid_from_u16(type);
    uint32_t permissions = ((properties & TENDON_GATT_READ) != 0 ? TENDON_GATT_PERMIT_READ : 0u) |
                           ((properties & TENDON_GATT_WRITE) != 0 ? TENDON_GATT_PERMIT_WRITE : 0u);
    tendon_status handle =
        tendon_gatt_add_characteristic(&device->server, &uuid, (uint8_t)properties, (uint8_t)permissions);
    return tendon_simulated_handle(handle);
}

static void add_table(tendon_simulated_activ5 *device) {
    uint16_t service = 0;
    for (size_t i = 0; i < TENDON_SIMULATED_ACTIV5_CHARACTERISTICS; i++) {
        if (device->options.legacy && table[i].service != 0x5000) {
            break;
        }
        if (table[i].service != service) {
            service = table[i].service;
            add_service(device, service);
        }
        bool alias = i == TENDON_SIMULATED_ACTIV5_FORCE && device->options.force_is_f0f1;
        if ((device->options.lacks >> i & 1u) == 0) {
            device->handles[i] = add_characteristic(device, alias ? 0xF0F1 : table[i].uuid, table[i].properties);
        }
    }
}

static void set_text(tendon_simulated_activ5 *device, unsigned characteristic, const void *text, size_t length) {
    if (tendon_simulated_activ5_has(device, characteristic)) {
        tendon_gatt_set_static(&device->server, handle_of(device, characteristic), text, length);
    }
}

static void set_texts(tendon_simulated_activ5 *device) {
    const tendon_simulated_activ5_options *options = &device->options;
    size_t first = tendon_simulated_text_length(options->serial1, 14);
    size_t second = tendon_simulated_text_length(options->serial2, 14);
    memcpy(device->serial, options->serial1, first);
    memcpy(device->serial + first, options->serial2, second);
    memcpy(device->id2, options->id2, tendon_simulated_text_length(options->id2, sizeof device->id2));
    set_text(device, TENDON_SIMULATED_ACTIV5_SERIAL, device->serial, first + second);
    set_text(device, TENDON_SIMULATED_ACTIV5_ID1, options->id1, tendon_simulated_text_length(options->id1, 16));
    set_text(device, TENDON_SIMULATED_ACTIV5_ID2, device->id2, sizeof device->id2);
}

static void fill_defaults(tendon_simulated_activ5_options *options) {
    options->name = options->name != NULL ? options->name : "ACTIV5-AC-0001";
    options->version = options->version != NULL ? options->version : "1.00";
    options->serial1 = options->serial1 != NULL ? options->serial1 : "A5-000";
    options->serial2 = options->serial2 != NULL ? options->serial2 : "123";
    options->id1 = options->id1 != NULL ? options->id1 : "00112233";
    options->id2 = options->id2 != NULL ? options->id2 : "445566";
}

tendon_status tendon_simulated_activ5_init(tendon_simulated_activ5 *device,
                                           const tendon_simulated_activ5_options *options) {
    memset(device, 0, sizeof *device);
    if (options != NULL) {
        device->options = *options;
    }
    fill_defaults(&device->options);
    device->battery = device->options.battery != 0 ? device->options.battery : BATTERY_DEFAULT;
    device->force_period = device->options.force_period_ms != 0 ? device->options.force_period_ms : FORCE_PERIOD;
    device->imu_period = device->options.imu_period_ms != 0 ? device->options.imu_period_ms : IMU_PERIOD;
    device->next_force = device->next_imu = UINT64_MAX;
    device->noise = 0x54454E44;
    const tendon_gatt_handlers handlers = {
        .context = device, .read = on_read, .write = on_write, .subscribed = on_subscribed};
    tendon_gatt_server_init(&device->server, device->attributes, TENDON_SIMULATED_ACTIV5_ATTRIBUTES, &handlers);
    add_service(device, 0x1800);
    uint16_t name = add_characteristic(device, 0x2A00, TENDON_GATT_READ);
    tendon_gatt_set_static(&device->server, name, (const uint8_t *)device->options.name,
                           tendon_simulated_text_length(device->options.name, TENDON_SIMULATED_TEXT_MAX));
    add_table(device);
    set_texts(device);
    return device->server.status;
}

/* ---- connections ---- */

tendon_status tendon_simulated_activ5_connected(tendon_simulated_activ5 *device, tendon_att_bearer *bearer,
                                                uint64_t now) {
    if (device->off) {
        return TENDON_ERROR_WRONG_STATE;
    }
    tendon_status index = tendon_simulated_centrals_connect(&device->centrals, &device->server, bearer);
    if (index < 0) {
        return index;
    }
    device->now = device->idle_since = now;
    memset(&device->outboxes[index], 0, sizeof device->outboxes[index]);
    if (device->centrals.count == 1) {
        device->clock_base = now;
        device->device_ms = 0;
        memset(device->presses, 0, sizeof device->presses);
        tendon_writer time = tendon_writer_make(device->time, sizeof device->time);
        tendon_write_u32le(&time, tendon_simulated_activ5_ticks(device, 0));
    }
    return TENDON_OK;
}

void tendon_simulated_activ5_disconnected(tendon_simulated_activ5 *device, tendon_att_bearer *bearer,
                                          tendon_status reason, uint64_t now) {
    tendon_status index = tendon_simulated_centrals_disconnect(&device->centrals, bearer, reason, now);
    if (index < 0) {
        return;
    }
    device->now = now;
    memset(&device->outboxes[index], 0, sizeof device->outboxes[index]);
    tendon_simulated_activ5_update(device);
}

/* ---- calls from outside ---- */

tendon_status tendon_simulated_activ5_squeeze(tendon_simulated_activ5 *device, uint32_t length_ms, int32_t peak,
                                              uint64_t now) {
    device->now = now;
    uint64_t clock = tendon_simulated_activ5_clock(device);
    for (size_t i = 0; i < TENDON_SIMULATED_ACTIV5_PRESSES; i++) {
        if (device->presses[i].end <= clock) {
            device->presses[i] = (tendon_simulated_activ5_press){clock, clock + length_ms, peak};
            return TENDON_OK;
        }
    }
    return TENDON_ERROR_TABLE_FULL;
}

tendon_status tendon_simulated_activ5_double_squeeze(tendon_simulated_activ5 *device, uint64_t now) {
    const uint32_t length = 400, apart = 600;
    tendon_status status = tendon_simulated_activ5_squeeze(device, length, SQUEEZE_RAW, now);
    uint64_t clock = tendon_simulated_activ5_clock(device);
    for (size_t i = 0; status == TENDON_OK && i < TENDON_SIMULATED_ACTIV5_PRESSES; i++) {
        if (device->presses[i].end <= clock) {
            device->presses[i] = (tendon_simulated_activ5_press){clock + apart, clock + apart + length, SQUEEZE_RAW};
            return TENDON_OK;
        }
    }
    return TENDON_ERROR_TABLE_FULL;
}

void tendon_simulated_activ5_load(tendon_simulated_activ5 *device, int32_t raw) {
    device->load = raw;
}

void tendon_simulated_activ5_set_battery(tendon_simulated_activ5 *device, uint8_t percent) {
    if (device->battery == percent) {
        return;
    }
    device->battery = percent;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (tendon_simulated_activ5_gets(device, i, TENDON_SIMULATED_ACTIV5_BATTERY)) {
            device->outboxes[i].waiting =
                (uint16_t)(device->outboxes[i].waiting | tendon_simulated_activ5_bit(TENDON_SIMULATED_ACTIV5_BATTERY));
        }
    }
    tendon_simulated_activ5_flush(device);
}

void tendon_simulated_activ5_inject(tendon_simulated_activ5 *device, tendon_simulated_activ5_malformation kind,
                                    uint32_t count) {
    device->malformed_kind = kind;
    device->malformed_next = count;
}
