/* SPDX-License-Identifier: MIT */
/* A device of our own with several centrals at once: each gets the values that it has asked for, and no others. */
#include "radio_check.h"

enum { CENTRALS = 3, TABLE = 8, PERIOD_MS = 50 };

static struct crowd {
    tendon_gatt_attribute attributes[TABLE];
    tendon_gatt_server server;
    tendon_gatt_central places[CENTRALS];
    uint16_t cccds[CENTRALS];
    tendon_gatt_device device;
    tendon_peripheral peripheral;
    tendon_source timer;
    uint16_t value_handle;
    struct {
        uint8_t number, sent; /**< what the central has written; values since then */
    } wishes[CENTRALS];
} crowd;

static tendon_status on_write(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                              const uint8_t *value, size_t length, bool command, uint64_t now) {
    (void)context;
    (void)handle;
    (void)command;
    (void)now;
    tendon_status slot = tendon_gatt_centrals_index(crowd.places, CENTRALS, connection);
    if (slot < 0 || offset != 0 || length != 1) {
        return TENDON_ATT_ERROR(TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH);
    }
    crowd.wishes[slot].number = value[0];
    crowd.wishes[slot].sent = 0;
    return TENDON_OK;
}

/* The number of the central, then the number of the value. */
static void on_timer(void *context, uint64_t now) {
    (void)context;
    for (size_t i = 0; i < CENTRALS; i++) {
        const uint8_t value[2] = {crowd.wishes[i].number, crowd.wishes[i].sent};
        if (crowd.places[i].used &&
            tendon_gatt_notify(&crowd.places[i].connection, crowd.value_handle, value, sizeof value) >= 0) {
            crowd.wishes[i].sent++;
        }
    }
    crowd.timer.deadline = now + PERIOD_MS;
}

static void tell(const char *what) {
    printf("%s: %zu together\n", what, tendon_peripheral_count(&crowd.peripheral));
    fflush(stdout);
}

static void on_connected(void *context, tendon_peripheral_link *link, uint64_t now) {
    (void)context;
    (void)link;
    (void)now;
    tell("connected");
}

static void on_disconnected(void *context, tendon_peripheral_link *link, tendon_status reason, uint64_t now) {
    (void)context;
    (void)link;
    (void)now;
    tell(tendon_status_name(reason));
}

static tendon_status build(void) {
    static const tendon_gatt_handlers handlers = {.write = on_write};
    static const uint8_t advertisement[] = {2, 1, 6, 3, 3, 0xF0, 0xFF};
    const tendon_uuid service = tendon_uuid_from_u16(0xFFF0), value = tendon_uuid_from_u16(0xFFF1);
    tendon_gatt_server_init(&crowd.server, crowd.attributes, TABLE, &handlers);
    tendon_gatt_add_service(&crowd.server, &service, true);
    crowd.value_handle = (uint16_t)tendon_gatt_add_characteristic(
        &crowd.server, &value, TENDON_GATT_NOTIFY | TENDON_GATT_WRITE, TENDON_GATT_PERMIT_WRITE);
    const tendon_gatt_device_config config = {
        .advertisement = advertisement,
        .advertisement_length = sizeof advertisement,
        .centrals = {.places = crowd.places, .capacity = CENTRALS, .cccds = crowd.cccds, .cccd_capacity = 1}};
    return crowd.server.status < 0 ? crowd.server.status
                                   : tendon_gatt_device_init(&crowd.device, &crowd.server, &config);
}

/** crowd ADAPTER MS: three centrals at most. */
int run_crowd(check *c) {
    tendon_status status = build();
    const tendon_peripheral_device served = tendon_gatt_device_peripheral(&crowd.device);
    tendon_peripheral_init(&crowd.peripheral, &c->radio.radio, &served,
                           &(tendon_peripheral_callbacks){.connected = on_connected, .disconnected = on_disconnected});
    tendon_source_init(&crowd.timer, -1, NULL, NULL, on_timer);
    crowd.timer.deadline = 0;
    status = status < 0 ? status : tendon_peripheral_open(&crowd.peripheral, 30);
    printf("serving: %s\n", tendon_status_name(status));
    fflush(stdout);
    if (status == TENDON_OK && tendon_loop_add(&c->loop, &crowd.timer) == TENDON_OK) {
        tendon_loop_run(&c->loop, c->until);
    }
    return status != TENDON_OK || c->failure != TENDON_OK;
}
