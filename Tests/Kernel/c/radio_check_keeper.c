/* SPDX-License-Identifier: MIT */
/* A device of our own that keeps what bonded centrals subscribe to. */
#include "radio_check.h"

enum { CENTRALS = 2, CCCDS = 2, TABLE = 16, PERIOD_MS = 200 };

static struct keeper {
    tendon_bonds bonds;
    tendon_subscription_store store;
    tendon_gatt_attribute attributes[TABLE];
    tendon_gatt_server server;
    tendon_gatt_central places[CENTRALS];
    uint16_t cccds[CENTRALS * CCCDS];
    tendon_gatt_device device;
    tendon_peripheral peripheral;
    tendon_source timer;
    uint16_t value_handle;
    uint8_t sent;
} keeper;

static void on_subscribed(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t value,
                          uint64_t now) {
    (void)context;
    (void)connection;
    (void)now;
    printf("subscribed 0x%04x: %u\n", handle, value);
    fflush(stdout);
}

static void on_timer(void *context, uint64_t now) {
    (void)context;
    tendon_status count = tendon_gatt_device_notify(&keeper.device, keeper.value_handle, &keeper.sent, 1, NULL);
    keeper.sent = (uint8_t)(keeper.sent + (count > 0));
    keeper.timer.deadline = now + PERIOD_MS;
}

static tendon_status build(bool moved) {
    static const tendon_gatt_handlers handlers = {.subscribed = on_subscribed};
    static const uint8_t advertisement[] = {2, 1, 6, 3, 3, 0x0F, 0x18};
    const tendon_uuid battery = tendon_uuid_from_u16(0x180F), level = tendon_uuid_from_u16(0x2A19),
                      other = tendon_uuid_from_u16(0x1805);
    tendon_gatt_server_init(&keeper.server, keeper.attributes, TABLE, &handlers);
    if (moved) {
        tendon_gatt_add_service(&keeper.server, &other, true);
    }
    tendon_gatt_add_service(&keeper.server, &battery, true);
    keeper.value_handle = (uint16_t)tendon_gatt_add_characteristic(&keeper.server, &level, TENDON_GATT_NOTIFY,
                                                                   TENDON_GATT_READ_ENCRYPTED);
    tendon_gatt_add_generic_attribute(&keeper.server);
    const tendon_gatt_device_config config = {
        .advertisement = advertisement,
        .advertisement_length = sizeof advertisement,
        .pairable = true,
        .centrals = {.places = keeper.places, .capacity = CENTRALS, .cccds = keeper.cccds, .cccd_capacity = CCCDS}};
    return keeper.server.status < 0 ? keeper.server.status
                                    : tendon_gatt_device_init(&keeper.device, &keeper.server, &config);
}

/** keeper ADAPTER MS BONDS SUBSCRIPTIONS [moved]: a battery level that counts; moved: with other handles. */
int run_keeper(check *c, int argc, char **argv) {
    if (argc < 2 || !use_bonds(c, &keeper.bonds, argv[0]) ||
        tendon_subscription_store_open(&keeper.store, argv[1]) < 0 || build(argc > 2) < 0) {
        return 2;
    }
    const tendon_peripheral_device served = tendon_gatt_device_peripheral(&keeper.device);
    tendon_peripheral_init(&keeper.peripheral, &c->radio.radio, &served,
                           &(tendon_peripheral_callbacks){.connected = check_on_central});
    tendon_peripheral_keep_subscriptions(&keeper.peripheral, &keeper.store);
    tendon_source_init(&keeper.timer, -1, NULL, NULL, on_timer);
    keeper.timer.deadline = 0;
    tendon_status status = tendon_peripheral_open(&keeper.peripheral, 30);
    printf("serving: %s\n", tendon_status_name(status));
    fflush(stdout);
    if (status == TENDON_OK && tendon_loop_add(&c->loop, &keeper.timer) == TENDON_OK) {
        tendon_loop_run(&c->loop, c->until);
    }
    printf("store: %s\n", tendon_status_name(keeper.store.status));
    return status != TENDON_OK || c->failure != TENDON_OK;
}
