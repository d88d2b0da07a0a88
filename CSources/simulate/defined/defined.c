/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/defined.h"

#include <string.h>

_Static_assert(TENDON_DEFINITION_ROWS < TENDON_SIMULATED_CCCDS, "each characteristic can notify");

enum { NOTIFY_BIT = 1, INDICATE_BIT = 2, ADVERTISEMENT = 31 };

static const tendon_definition_row *row_at(const tendon_simulated_defined *device, size_t row) {
    return &device->definition->rows[row];
}

/* ---- advertising ---- */

static bool is_short(const tendon_uuid *uuid) {
    uint16_t number;
    return tendon_uuid_as_u16(uuid, &number);
}

/* The services that have the same size as the first: one list (Supplement Part A 1.1) has one size. */
static void write_services(const tendon_simulated_defined *device, tendon_writer *writer) {
    const tendon_definition_find *find = &device->definition->find;
    if (find->service_count == 0) {
        return;
    }
    size_t size = is_short(&find->services[0]) ? 2 : 16, count = 0;
    for (size_t i = 0; i < find->service_count; i++) {
        bool has_room = (count + 1) * size + 2 <= ADVERTISEMENT - 3;
        count += is_short(&find->services[i]) == (size == 2) && has_room ? 1 : 0;
    }
    tendon_write_u8(writer, (uint8_t)(1 + count * size));
    tendon_write_u8(writer, size == 2 ? 0x03 : 0x07); /* complete list of 16-bit, of 128-bit service UUIDs */
    for (size_t i = 0; i < find->service_count && count > 0; i++) {
        uint8_t wire[16];
        if (is_short(&find->services[i]) == (size == 2)) {
            tendon_write_bytes(writer, wire, tendon_uuid_to_wire(&find->services[i], wire));
            count--;
        }
    }
}

static tendon_status advertisement(const void *context, uint8_t *out, size_t capacity) {
    const tendon_simulated_defined *device = context;
    const tendon_definition_find *find = &device->definition->find;
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, 2);
    tendon_write_u8(&writer, 0x01); /* Flags (Supplement Part A 1.3) */
    tendon_write_u8(&writer, 0x06); /* LE General Discoverable, BR/EDR Not Supported */
    write_services(device, &writer);
    if (find->has_company) { /* beside at most eight short UUIDs, or one long one */
        tendon_write_u8(&writer, 3);
        tendon_write_u8(&writer, 0xFF); /* Manufacturer Specific Data */
        tendon_write_u16le(&writer, find->company);
    }
    return tendon_writer_result(&writer);
}

static const char *name_of(const tendon_simulated_defined *device) {
    return device->options.name != NULL ? device->options.name : device->own_name;
}

static tendon_status scan_response(const void *context, uint8_t *out, size_t capacity) {
    return tendon_simulated_scan_response(name_of(context), out, capacity);
}

/* The name that the definition looks for, without its '*'; or the title. */
static void choose_name(tendon_simulated_defined *device) {
    const tendon_definition *d = device->definition;
    const char *wanted = d->text + (d->find.name != 0 ? d->find.name : d->title);
    size_t length = 0;
    while (length + 1 < sizeof device->own_name && wanted[length] != 0 &&
           !(d->find.name != 0 && wanted[length] == '*' && wanted[length + 1] == 0)) {
        device->own_name[length] = wanted[length];
        length++;
    }
}

/* ---- values ---- */

static uint16_t bit_of(const tendon_simulated_defined *device, size_t row) {
    return row_at(device, row)->notified != TENDON_DEFINITION_NONE ? NOTIFY_BIT : 0;
}

static bool is_wanted(const tendon_simulated_defined *device, size_t row) {
    return bit_of(device, row) != 0 && row_at(device, row)->example_count > 0 &&
           tendon_simulated_centrals_subscribed(&device->centrals, device->rows[row].handle, bit_of(device, row)) &&
           (device->options.notification_limit == 0 || device->notifications < device->options.notification_limit);
}

static bool has_central(const tendon_simulated_defined *device) {
    bool has = false;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        has = has || device->centrals.places[i].used;
    }
    return has;
}

/* A value that is read again and never notified: it changes as one that is notified would. */
static bool changes_unnoticed(const tendon_simulated_defined *device, size_t row) {
    return row_at(device, row)->read_every_ms != 0 && bit_of(device, row) == 0 &&
           row_at(device, row)->example_count > 1 && has_central(device);
}

static uint32_t period_of(const tendon_simulated_defined *device, size_t row) {
    return device->options.period_ms != 0 ? device->options.period_ms : row_at(device, row)->every_ms;
}

static void notify(tendon_simulated_defined *device, size_t row, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        tendon_simulated_central *central = &device->centrals.places[i];
        if (central->used &&
            tendon_gatt_notify(&central->connection, device->rows[row].handle, bytes, length) == TENDON_OK) {
            device->notifications++;
        }
    }
}

static const tendon_definition_example *example_of(const tendon_simulated_defined *device, size_t row) {
    return &device->definition->examples[row_at(device, row)->first_example + device->rows[row].next_example];
}

static void choose_next_example(tendon_simulated_defined *device, size_t row) {
    device->rows[row].next_example =
        (uint16_t)((device->rows[row].next_example + 1) % row_at(device, row)->example_count);
}

static void tick(void *context, uint64_t now) {
    tendon_simulated_defined *device = context;
    for (size_t row = 0; row < device->definition->row_count; row++) {
        bool is_notified = is_wanted(device, row);
        if ((is_notified || changes_unnoticed(device, row)) && now >= device->rows[row].due) {
            const tendon_definition_example *example = example_of(device, row);
            device->rows[row].due = now + period_of(device, row);
            choose_next_example(device, row);
            if (is_notified) {
                notify(device, row, (const uint8_t *)device->definition->text + example->place, example->length);
            }
        }
    }
}

static uint64_t deadline(const void *context) {
    const tendon_simulated_defined *device = context;
    uint64_t next = UINT64_MAX;
    for (size_t row = 0; row < device->definition->row_count; row++) {
        if ((is_wanted(device, row) || changes_unnoticed(device, row)) && device->rows[row].due < next) {
            next = device->rows[row].due;
        }
    }
    return next;
}

/* ---- the server ---- */

static size_t row_of(const tendon_simulated_defined *device, uint16_t handle) {
    size_t row = 0;
    while (row < device->definition->row_count && device->rows[row].handle != handle) {
        row++;
    }
    return row;
}

static tendon_status on_read(void *context, struct tendon_gatt_connection *connection, uint16_t handle,
                             const uint8_t **value, size_t *length) {
    tendon_simulated_defined *device = context;
    size_t row = row_of(device, handle);
    (void)connection;
    *value = NULL;
    *length = 0;
    if (row < device->definition->row_count && row_at(device, row)->example_count > 0) {
        const tendon_definition_example *example = example_of(device, row);
        *value = (const uint8_t *)device->definition->text + example->place;
        *length = example->length;
    }
    return TENDON_OK;
}

static tendon_status on_write(void *context, struct tendon_gatt_connection *connection, uint16_t handle,
                              uint16_t offset, const uint8_t *value, size_t length, bool command, uint64_t now) {
    tendon_simulated_defined *device = context;
    (void)connection;
    (void)command;
    (void)now;
    if (offset != 0 || length > TENDON_DEFINITION_VALUE) {
        device->refused_writes++;
        return TENDON_ATT_ERROR(offset != 0 ? TENDON_ATT_INVALID_OFFSET : TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH);
    }
    device->writes++;
    device->written.row = (uint8_t)row_of(device, handle);
    device->written.length = (uint16_t)length;
    memcpy(device->written.bytes, value, length);
    return TENDON_OK;
}

static bool is_written(const tendon_definition *d, size_t row) {
    bool is_target = d->rows[row].written != TENDON_DEFINITION_NONE;
    for (size_t i = 0; i < d->action_count; i++) {
        is_target = is_target || d->actions[i].row == row;
    }
    return is_target;
}

static void add_row(tendon_simulated_defined *device, size_t row) {
    const tendon_definition_row *one = row_at(device, row);
    uint8_t properties = 0, permissions = 0;
    if (one->notified != TENDON_DEFINITION_NONE) {
        properties |= TENDON_GATT_NOTIFY;
    }
    if (one->read != TENDON_DEFINITION_NONE) { /* without an example its value is empty */
        properties |= TENDON_GATT_READ;
        permissions |= TENDON_GATT_PERMIT_READ;
    }
    if (is_written(device->definition, row)) {
        properties |= TENDON_GATT_WRITE;
        permissions |= TENDON_GATT_PERMIT_WRITE;
    }
    tendon_status handle = tendon_gatt_add_characteristic(&device->server, &one->uuid, properties, permissions);
    device->rows[row].handle = tendon_simulated_handle(handle);
}

/* Rows of one service stand together, whatever their order in the file. */
static void add_services(tendon_simulated_defined *device) {
    const tendon_definition *d = device->definition;
    for (size_t first = 0; first < d->row_count; first++) {
        bool is_known = false;
        for (size_t i = 0; i < first; i++) {
            is_known = is_known || tendon_uuid_equal(&d->rows[i].service, &d->rows[first].service);
        }
        if (is_known) {
            continue;
        }
        tendon_gatt_add_service(&device->server, &d->rows[first].service, true);
        for (size_t row = first; row < d->row_count; row++) {
            if (tendon_uuid_equal(&d->rows[row].service, &d->rows[first].service)) {
                add_row(device, row);
            }
        }
    }
}

/* ---- the device ---- */

static tendon_status connected(void *context, tendon_att_bearer *bearer, uint64_t now) {
    tendon_simulated_defined *device = context;
    tendon_status index = tendon_simulated_centrals_connect(&device->centrals, &device->server, bearer);
    for (size_t row = 0; row < device->definition->row_count; row++) {
        device->rows[row].due = bit_of(device, row) != 0 ? now : now + period_of(device, row);
    }
    return index < 0 ? index : TENDON_OK;
}

static void disconnected(void *context, tendon_att_bearer *bearer, tendon_status reason, uint64_t now) {
    tendon_simulated_defined *device = context;
    (void)tendon_simulated_centrals_disconnect(&device->centrals, bearer, reason, now);
}

static void paired(void *context, tendon_att_bearer *bearer, uint64_t now) {
    tendon_simulated_defined *device = context;
    (void)now;
    (void)tendon_simulated_centrals_paired(&device->centrals, bearer);
}

static const tendon_peripheral_ops ops = {.name = "defined",
                                          .advertisement = advertisement,
                                          .scan_response = scan_response,
                                          .connected = connected,
                                          .disconnected = disconnected,
                                          .paired = paired,
                                          .writable = tick,
                                          .tick = tick,
                                          .deadline = deadline};

tendon_peripheral_device tendon_simulated_defined_device(tendon_simulated_defined *device) {
    return (tendon_peripheral_device){&ops, device};
}

/* ---- scenarios ---- */

static int nibble(char c) {
    char small = (char)(c | 0x20);
    return c >= '0' && c <= '9' ? c - '0' : small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

static bool word_bytes(const tendon_scenario_word *word, uint8_t *out, size_t *length) {
    *length = word->length / 2U;
    if (word->length % 2 != 0 || *length > TENDON_DEFINITION_VALUE) {
        return false;
    }
    for (size_t i = 0; i < *length; i++) {
        int high = nibble(word->text[2 * i]), low = nibble(word->text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static size_t row_named(const tendon_definition *d, const tendon_scenario_word *word) {
    for (size_t row = 0; row < d->row_count; row++) {
        const char *name = d->text + d->rows[row].name;
        size_t i = 0;
        while (i < word->length && name[i] != 0 && name[i] == word->text[i]) {
            i++;
        }
        if (i == word->length && name[i] == 0) {
            return row;
        }
    }
    return d->row_count;
}

static tendon_status perform(void *context, const tendon_scenario_event *event, bool dry_run, size_t *wrong,
                             uint64_t now) {
    static const char *const commands[] = {"notify"};
    tendon_simulated_defined *device = context;
    uint8_t bytes[TENDON_DEFINITION_VALUE];
    uint32_t command = 0;
    size_t length = 0;
    (void)now;
    *wrong = 0;
    if (!tendon_scenario_word_among(event, 0, commands, 1, &command)) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    *wrong = 1;
    size_t row = event->count > 1 ? row_named(device->definition, &event->words[1]) : device->definition->row_count;
    if (row == device->definition->row_count) {
        return TENDON_ERROR_MALFORMED;
    }
    *wrong = 2;
    if (event->count < 3 || !word_bytes(&event->words[2], bytes, &length)) {
        return TENDON_ERROR_MALFORMED;
    }
    if (event->count > 3) {
        *wrong = 3;
        return TENDON_ERROR_MALFORMED;
    }
    if (!dry_run) {
        notify(device, row, bytes, length);
    }
    return TENDON_OK;
}

tendon_scenario_actor tendon_simulated_defined_actor(tendon_simulated_defined *device) {
    return (tendon_scenario_actor){.context = device, .perform = perform};
}

tendon_status tendon_simulated_defined_init(tendon_simulated_defined *device, const tendon_definition *definition,
                                            const tendon_simulated_defined_options *options) {
    memset(device, 0, sizeof *device);
    device->definition = definition;
    device->options = *options;
    choose_name(device);
    const tendon_gatt_handlers handlers = {.context = device, .read = on_read, .write = on_write};
    tendon_gatt_server_init(&device->server, device->attributes,
                            sizeof device->attributes / sizeof device->attributes[0], &handlers);
    static const uint8_t appearance[2] = {0, 0}; /* Unknown (Assigned Numbers 2.6) */
    tendon_gatt_add_generic_access(&device->server, name_of(device),
                                   tendon_simulated_text_length(name_of(device), TENDON_SIMULATED_TEXT_MAX),
                                   appearance);
    add_services(device);
    if (device->server.cccd_count > TENDON_SIMULATED_CCCDS - 1) { /* one is for the Database Hash's service */
        return TENDON_ERROR_TABLE_FULL;
    }
    return device->server.status;
}
