/* SPDX-License-Identifier: MIT */
/* Simulated Obvious device: attribute table, connections, the seam that hosts of any device use, calls from outside. */
#include "obvious_parts.h"

enum { READ = TENDON_GATT_READ, FLAG_RECOVERY = 1, FLAG_TRIAL = 2, SERIAL_DIGITS = 16 };

/* Most significant byte first; bytes 2 and 3 distinguish them. */
static tendon_uuid own_uuid(uint8_t number) {
    return (tendon_uuid){
        {0x9c, 0x19, 0x00, number, 0xc1, 0x13, 0x4e, 0x20, 0x95, 0xf4, 0x26, 0x02, 0xd4, 0xfc, 0x9f, 0x35}};
}

static bool lacks(const tendon_simulated_obvious *device, uint32_t what) {
    return (device->options.lacks & what) != 0;
}

/* ---- attribute callbacks ---- */

static size_t write_number(uint8_t *out, uint32_t value) {
    uint8_t digits[10];
    size_t count = 0;
    do {
        digits[count++] = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    for (size_t i = 0; i < count; i++) {
        out[i] = digits[count - 1 - i];
    }
    return count;
}

/* "1.3.0" */
static size_t write_version(uint8_t *out, uint32_t version) {
    size_t length = write_number(out, version / 1000000 % 1000);
    out[length++] = '.';
    length += write_number(out + length, version / 1000 % 1000);
    out[length++] = '.';
    return length + write_number(out + length, version % 1000);
}

static size_t write_status(const tendon_simulated_obvious *device, uint8_t *out) {
    uint32_t flags = (device->recovery ? (uint32_t)FLAG_RECOVERY : 0) |
                     (tendon_simulated_obvious_in_trial(device) ? (uint32_t)FLAG_TRIAL : 0);
    tendon_writer writer = tendon_writer_make(out, 6);
    tendon_write_bytes(&writer, "OGP", 3);
    tendon_write_u8(&writer, device->options.profile);
    tendon_write_u16le(&writer, (uint16_t)flags);
    return writer.length;
}

static tendon_status on_read(void *context, tendon_gatt_connection *connection, uint16_t handle, const uint8_t **value,
                             size_t *length) {
    tendon_simulated_obvious *device = context;
    (void)connection;
    *value = device->value;
    if (!device->running) {
        return TENDON_ATT_ERROR(TENDON_ATT_UNLIKELY_ERROR);
    }
    if (handle == device->status_handle) {
        *length = write_status(device, device->value);
    } else if (handle == device->firmware_handle) {
        *length = write_version(device->value, tendon_simulated_obvious_version(device));
    } else {
        device->value[0] = device->battery;
        *length = 1;
    }
    return TENDON_OK;
}

static tendon_status on_write(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                              const uint8_t *value, size_t length, bool command, uint64_t now) {
    tendon_simulated_obvious *device = context;
    tendon_status index = tendon_simulated_centrals_index(&device->centrals, connection);
    (void)handle; /* only OGP_DATA can be written */
    (void)command;
    tendon_simulated_obvious_wake(device, now);
    if (index < 0 || !device->running) {
        return TENDON_ATT_ERROR(TENDON_ATT_UNLIKELY_ERROR);
    }
    if (offset != 0) {
        return TENDON_ATT_ERROR(TENDON_ATT_INVALID_OFFSET);
    }
    tendon_simulated_obvious_link_receive(&device->links[index], value, length, now);
    return TENDON_OK;
}

static void on_confirmed(void *context, tendon_gatt_connection *connection, uint16_t value_handle, tendon_status status,
                         uint64_t now) {
    tendon_simulated_obvious *device = context;
    tendon_status index = tendon_simulated_centrals_index(&device->centrals, connection);
    (void)value_handle;
    (void)status;
    (void)now;
    if (index >= 0) {
        device->links[index].blocked = false;
    }
}

/* ---- the table ---- */

static uint16_t add(tendon_simulated_obvious *device, tendon_uuid uuid, unsigned properties, bool secure) {
    unsigned permissions = (properties & TENDON_GATT_READ) != 0 ? TENDON_GATT_PERMIT_READ : 0;
    bool secure_read = secure && permissions != 0;
    if ((properties & (TENDON_GATT_WRITE | TENDON_GATT_WRITE_WITHOUT_RESPONSE)) != 0) {
        permissions |= TENDON_GATT_PERMIT_WRITE | (secure ? TENDON_GATT_WRITE_ENCRYPTED : 0u);
    }
    permissions |= secure_read ? TENDON_GATT_READ_ENCRYPTED : 0u;
    tendon_status handle =
        tendon_gatt_add_characteristic(&device->server, &uuid, (uint8_t)properties, (uint8_t)permissions);
    return tendon_simulated_handle(handle);
}

static void add_text(tendon_simulated_obvious *device, uint16_t type, const void *text, size_t length) {
    uint16_t handle = add(device, tendon_uuid_from_u16(type), READ, false);
    tendon_gatt_set_static(&device->server, handle, text, length);
}

static void add_service(tendon_simulated_obvious *device, tendon_uuid uuid) {
    tendon_gatt_add_service(&device->server, &uuid, true);
}

static void add_ogp(tendon_simulated_obvious *device) {
    bool secure = !device->options.open;
    unsigned write = device->options.with_response ? TENDON_GATT_WRITE : TENDON_GATT_WRITE_WITHOUT_RESPONSE;
    unsigned notify = device->options.indicates ? TENDON_GATT_INDICATE : TENDON_GATT_NOTIFY;
    if (lacks(device, TENDON_SIMULATED_OBVIOUS_NO_SERVICE)) {
        return;
    }
    add_service(device, own_uuid(1));
    if (!lacks(device, TENDON_SIMULATED_OBVIOUS_NO_DATA)) {
        device->data_handle = add(device, own_uuid(2), write | notify, secure); /* its CCCD is open */
    }
    if (!lacks(device, TENDON_SIMULATED_OBVIOUS_NO_STATUS)) {
        device->status_handle = add(device, own_uuid(3), READ, secure);
    }
}

static void write_serial(tendon_simulated_obvious *device) {
    for (unsigned i = 0; i < SERIAL_DIGITS; i++) {
        unsigned digit = (unsigned)(device->options.serial >> (60 - 4 * i) & 0xFu);
        device->serial_text[i] = (uint8_t)(digit < 10 ? '0' + digit : 'A' + digit - 10);
    }
}

static void add_standard(tendon_simulated_obvious *device) {
    add_service(device, tendon_uuid_from_u16(0x1800));
    add_text(device, 0x2A00, device->options.name,
             tendon_simulated_text_length(device->options.name, TENDON_SIMULATED_TEXT_MAX));
    if (!lacks(device, TENDON_SIMULATED_OBVIOUS_NO_INFORMATION)) {
        write_serial(device);
        add_service(device, tendon_uuid_from_u16(0x180A));
        add_text(device, 0x2A29, "Tendon", 6);
        add_text(device, 0x2A24, "Obvious (simulated)", 19);
        add_text(device, 0x2A25, device->serial_text, sizeof device->serial_text);
        device->firmware_handle = add(device, tendon_uuid_from_u16(0x2A26), READ, false);
        add_text(device, 0x2A27, "2", 1);
        add_text(device, 0x2A28, "1.10.0", 6);
    }
    if (!lacks(device, TENDON_SIMULATED_OBVIOUS_NO_BATTERY)) {
        add_service(device, tendon_uuid_from_u16(0x180F));
        device->battery_handle = add(device, tendon_uuid_from_u16(0x2A19), READ | TENDON_GATT_NOTIFY, false);
    }
}

static void fill_defaults(tendon_simulated_obvious_options *o) {
    o->name = o->name != NULL ? o->name : "Obvious Simulator";
    o->firmware = o->firmware != 0 ? o->firmware : 1003000;
    o->serial = o->serial != 0 ? o->serial : 0x1122334455667788u;
    o->product = o->product != 0 ? o->product : 1234;
    o->bootloader = o->bootloader != 0 ? o->bootloader : 1000002;
    o->stack = o->stack != 0 ? o->stack : 6001001;
    o->seed = o->seed != 0 ? o->seed : 1;
    o->boot_ms = o->boot_ms != 0 ? o->boot_ms : 300;
    o->frame_max = o->frame_max != 0 ? o->frame_max : TENDON_OBVIOUS_FRAME_MAX;
    o->chunk_max = o->chunk_max != 0 ? o->chunk_max : 4000;
    o->window = o->window != 0 ? o->window : 8;
    o->battery = o->battery != 0 ? o->battery : 87;
    o->profile = o->profile != 0 ? o->profile : 1;
}

static tendon_status check(const tendon_simulated_obvious_options *o) {
    bool good = o != NULL && o->flash != NULL && o->keys != NULL && o->image_max <= TENDON_OBVIOUS_OBJECT_MAX &&
                o->feature_count <= TENDON_OBVIOUS_FEATURE_MAX &&
                (o->frame_max == 0 || o->frame_max >= TENDON_OBVIOUS_FRAME_MAX_LOWEST) &&
                o->frame_max <= TENDON_OBVIOUS_FRAME_MAX && o->window <= TENDON_OBVIOUS_WINDOW_MAX &&
                (o->battery <= 100 || o->battery == BATTERY_UNKNOWN) && o->firmware <= VERSION_MAX;
    if (!good || (o->image != NULL && (o->image_length == 0 || o->image_length > o->image_max)) ||
        (o->image == NULL && o->image_max < 128)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    return TENDON_OK;
}

tendon_status tendon_simulated_obvious_init(tendon_simulated_obvious *device,
                                            const tendon_simulated_obvious_options *options) {
    tendon_status status = check(options);
    if (status != TENDON_OK) {
        return status;
    }
    memset(device, 0, sizeof *device);
    device->options = *options;
    fill_defaults(&device->options);
    device->battery = device->options.battery;
    device->random = device->options.seed;
    device->reboot_at = UINT64_MAX;
    device->on_frame = tendon_simulated_obvious_frame;
    const tendon_gatt_handlers handlers = {
        .context = device, .read = on_read, .write = on_write, .confirmed = on_confirmed};
    tendon_gatt_server_init(&device->server, device->attributes, TENDON_SIMULATED_OBVIOUS_ATTRIBUTES, &handlers);
    add_standard(device);
    add_ogp(device);
    status = tendon_simulated_obvious_lay_out(device);
    return status != TENDON_OK ? status : device->server.status;
}

/* ---- the seam ---- */

static void flush_battery(tendon_simulated_obvious *device, size_t index) {
    tendon_simulated_central *place = &device->centrals.places[index];
    if (device->battery_changed[index]) {
        tendon_status status = tendon_gatt_notify(&place->connection, device->battery_handle, &device->battery, 1);
        device->battery_changed[index] = status == TENDON_ERROR_WOULD_BLOCK;
    }
}

static void tick(void *context, uint64_t now) {
    tendon_simulated_obvious *device = context;
    tendon_simulated_obvious_wake(device, now);
    if (!device->running) {
        return;
    }
    if (device->pause_until != 0 && now >= device->pause_until) {
        device->pause_until = 0;
        for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
            if (device->centrals.places[i].used) {
                tendon_simulated_obvious_link_resume(&device->links[i]);
            }
        }
    }
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (device->centrals.places[i].used) {
            tendon_simulated_obvious_link_tick(&device->links[i], now);
            flush_battery(device, i);
        }
    }
    tendon_simulated_obvious_boot_tick(device, now);
}

static tendon_status advertisement(const void *context, uint8_t *out, size_t capacity) {
    const tendon_simulated_obvious *device = context;
    tendon_uuid service = own_uuid(1);
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_bytes(&writer, "\x02\x01\x06", 3);
    if (!lacks(device, TENDON_SIMULATED_OBVIOUS_NO_SERVICE)) {
        tendon_write_bytes(&writer, "\x11\x07", 2); /* Complete List of 128-bit Service UUIDs */
        for (size_t i = sizeof service.bytes; i > 0; i--) {
            tendon_write_u8(&writer, service.bytes[i - 1]);
        }
    }
    return tendon_writer_result(&writer);
}

static tendon_status scan_response(const void *context, uint8_t *out, size_t capacity) {
    const tendon_simulated_obvious *device = context;
    return tendon_simulated_scan_response(device->options.name, out, capacity);
}

static tendon_status connected(void *context, tendon_att_bearer *bearer, uint64_t now) {
    tendon_simulated_obvious *device = context;
    tendon_simulated_obvious_wake(device, now);
    if (!device->running) {
        return TENDON_ERROR_TABLE_FULL;
    }
    tendon_status index = tendon_simulated_centrals_connect(&device->centrals, &device->server, bearer);
    if (index < 0) {
        return index;
    }
    device->battery_changed[index] = false;
    tendon_simulated_obvious_link_open(&device->links[index], device, &device->centrals.places[index].connection);
    return TENDON_OK;
}

static void disconnected(void *context, tendon_att_bearer *bearer, tendon_status reason, uint64_t now) {
    tendon_simulated_obvious *device = context;
    tendon_status index = tendon_simulated_centrals_disconnect(&device->centrals, bearer, reason, now);
    if (index >= 0) {
        tendon_simulated_obvious_disown(device, &device->links[index]);
    }
}

static void paired(void *context, tendon_att_bearer *bearer, uint64_t now) {
    tendon_simulated_obvious *device = context;
    (void)now;
    (void)tendon_simulated_centrals_paired(&device->centrals, bearer);
}

static void writable(void *context, uint64_t now) {
    tendon_simulated_obvious *device = context;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        device->links[i].blocked = false; /* the one that is still full says so again */
    }
    tick(context, now);
}

static uint64_t deadline(const void *context) {
    const tendon_simulated_obvious *device = context;
    uint64_t due = tendon_simulated_obvious_boot_deadline(device);
    if (!device->running) {
        return due;
    }
    if (device->pause_until != 0 && device->pause_until < due) {
        due = device->pause_until;
    }
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (device->centrals.places[i].used) {
            uint64_t at = tendon_simulated_obvious_link_deadline(&device->links[i]);
            due = at < due ? at : due;
        }
    }
    return due;
}

static uint32_t pairing(void *context) {
    const tendon_simulated_obvious *device = context;
    return device->options.rejects_pairing ? 0 : TENDON_PERIPHERAL_PAIRABLE;
}

static const tendon_peripheral_ops ops = {.name = "obvious",
                                          .advertisement = advertisement,
                                          .scan_response = scan_response,
                                          .connected = connected,
                                          .disconnected = disconnected,
                                          .paired = paired,
                                          .writable = writable,
                                          .tick = tick,
                                          .deadline = deadline,
                                          .pairing = pairing};

tendon_peripheral_device tendon_simulated_obvious_device(tendon_simulated_obvious *device) {
    return (tendon_peripheral_device){&ops, device};
}

/* ---- calls from outside ---- */

tendon_status tendon_simulated_obvious_set(tendon_simulated_obvious *device, uint16_t id, uint8_t enable,
                                           uint8_t toggle, uint64_t now) {
    tendon_simulated_obvious_wake(device, now);
    return tendon_simulated_obvious_change(device, id, enable, toggle);
}

uint32_t tendon_simulated_obvious_flash_size(uint32_t page_size, uint32_t image_max) {
    return TENDON_SIMULATED_OBVIOUS_FLASH_SIZE(page_size, image_max);
}

void tendon_simulated_obvious_power_cut(tendon_simulated_obvious *device, uint64_t now) {
    device->counters.power_cuts++;
    device->next_recovery = false;
    tendon_simulated_obvious_go_down(device, TENDON_SIMULATED_OBVIOUS_POWER, now);
}

void tendon_simulated_obvious_watchdog(tendon_simulated_obvious *device, uint64_t now) {
    device->next_recovery = false;
    tendon_simulated_obvious_go_down(device, TENDON_SIMULATED_OBVIOUS_WATCHDOG, now);
}

void tendon_simulated_obvious_reboot(tendon_simulated_obvious *device, bool recovery, uint64_t now) {
    tendon_simulated_obvious_wake(device, now);
    device->next_recovery = recovery;
    tendon_simulated_obvious_restart(device, TENDON_SIMULATED_OBVIOUS_USER, 0, now);
}

void tendon_simulated_obvious_set_battery(tendon_simulated_obvious *device, uint8_t percent, uint64_t now) {
    (void)now;
    device->battery = percent;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        device->battery_changed[i] = device->centrals.places[i].used;
        if (device->battery_changed[i]) {
            flush_battery(device, i);
        }
    }
}

void tendon_simulated_obvious_reject(tendon_simulated_obvious *device, uint8_t status, uint32_t count) {
    device->reject_status = status;
    device->reject_next = count;
}

void tendon_simulated_obvious_answer_wrongly(tendon_simulated_obvious *device, tendon_simulated_obvious_lie lie,
                                             uint32_t count) {
    device->lie = (uint8_t)lie;
    device->lie_next = count;
}

void tendon_simulated_obvious_pause(tendon_simulated_obvious *device, uint32_t ms, uint64_t now) {
    device->pause_until = now + ms;
}
