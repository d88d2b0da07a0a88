/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/toy.h"

enum { SERVICE = 0xFFF0, LEVEL = 0xFFF1, PERIOD_MS = 20, NOTIFY_BIT = 1 };

static tendon_status advertisement(const void *context, uint8_t *out, size_t capacity) {
    (void)context;
    return tendon_simulated_advertisement(SERVICE, out, capacity);
}

static tendon_status scan_response(const void *context, uint8_t *out, size_t capacity) {
    return tendon_simulated_scan_response(((const tendon_simulated_toy *)context)->name, out, capacity);
}

static tendon_status connected(void *context, tendon_att_bearer *bearer, uint64_t now) {
    tendon_simulated_toy *device = context;
    tendon_status index = tendon_simulated_centrals_connect(&device->centrals, &device->server, bearer);
    device->next = now + PERIOD_MS;
    return index < 0 ? index : TENDON_OK;
}

static void disconnected(void *context, tendon_att_bearer *bearer, tendon_status reason, uint64_t now) {
    tendon_simulated_toy *device = context;
    (void)tendon_simulated_centrals_disconnect(&device->centrals, bearer, reason, now);
}

static void paired(void *context, tendon_att_bearer *bearer, uint64_t now) {
    tendon_simulated_toy *device = context;
    (void)now;
    (void)tendon_simulated_centrals_paired(&device->centrals, bearer);
}

static bool is_sending(const tendon_simulated_toy *device) {
    return tendon_simulated_centrals_subscribed(&device->centrals, device->level_handle, NOTIFY_BIT) &&
           (device->limit == 0 || device->notifications < device->limit);
}

static void tick(void *context, uint64_t now) {
    tendon_simulated_toy *device = context;
    if (!is_sending(device) || now < device->next) {
        return;
    }
    device->next = now + PERIOD_MS;
    uint8_t value[2] = {++device->sequence, (uint8_t)(device->sequence % 101)};
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        tendon_simulated_central *central = &device->centrals.places[i];
        if (central->used &&
            tendon_gatt_notify(&central->connection, device->level_handle, value, sizeof value) == TENDON_OK) {
            device->notifications++;
        }
    }
}

static uint64_t deadline(const void *context) {
    const tendon_simulated_toy *device = context;
    return is_sending(device) ? device->next : UINT64_MAX;
}

static const tendon_peripheral_ops ops = {.name = "toy",
                                          .advertisement = advertisement,
                                          .scan_response = scan_response,
                                          .connected = connected,
                                          .disconnected = disconnected,
                                          .paired = paired,
                                          .writable = tick,
                                          .tick = tick,
                                          .deadline = deadline};

tendon_peripheral_device tendon_simulated_toy_device(tendon_simulated_toy *device) {
    return (tendon_peripheral_device){&ops, device};
}

static tendon_status perform(void *context, const tendon_scenario_event *event, bool dry_run, size_t *wrong,
                             uint64_t now) {
    (void)context;
    (void)event;
    (void)dry_run;
    (void)now;
    *wrong = 0;
    return TENDON_ERROR_UNSUPPORTED;
}

tendon_scenario_actor tendon_simulated_toy_actor(tendon_simulated_toy *device) {
    return (tendon_scenario_actor){.context = device, .perform = perform};
}

tendon_status tendon_simulated_toy_init(tendon_simulated_toy *device, const char *name, uint64_t limit) {
    memset(device, 0, sizeof *device);
    device->name = name;
    device->limit = limit;
    const tendon_gatt_handlers handlers = {.context = device};
    tendon_gatt_server_init(&device->server, device->attributes,
                            sizeof device->attributes / sizeof device->attributes[0], &handlers);
    const tendon_uuid service = tendon_uuid_from_u16(SERVICE), level = tendon_uuid_from_u16(LEVEL);
    tendon_gatt_add_service(&device->server, &service, true);
    tendon_status handle = tendon_gatt_add_characteristic(&device->server, &level, TENDON_GATT_NOTIFY, 0);
    device->level_handle = handle > 0 ? (uint16_t)handle : 0;
    return device->server.status;
}
