/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/memory_radio.h"

enum { ROUNDS = 64, INTERVAL_MS = 100, CONNECT_MS = 20, PAIRING_MS = 20 };

static tendon_memory_radio_device *device_at(const tendon_memory_radio *air, const tendon_address *address) {
    for (size_t i = 0; i < air->count; i++) {
        if (tendon_address_equal(&air->devices[i].address, address)) {
            return &air->devices[i];
        }
    }
    return NULL;
}

/* ---- queues ---- */

static tendon_status push(void *context, const uint8_t *pdu, size_t length) {
    tendon_memory_radio_queue *queue = context;
    if (length > TENDON_MEMORY_RADIO_MTU) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (queue->count == TENDON_MEMORY_RADIO_QUEUE) {
        queue->refused = true;
        return TENDON_ERROR_WOULD_BLOCK;
    }
    uint16_t place = (uint16_t)((queue->first + queue->count) % TENDON_MEMORY_RADIO_QUEUE);
    queue->count++;
    queue->pdus[place].length = (uint16_t)length;
    memcpy(queue->pdus[place].bytes, pdu, length);
    return TENDON_OK;
}

/* One PDU to who receives it. Its place is free afterwards only: its bytes are lent. */
static bool deliver(tendon_memory_radio_queue *queue, tendon_att_bearer *bearer, uint64_t now) {
    if (queue->count == 0 || bearer->closed) {
        return false;
    }
    uint16_t place = queue->first;
    (void)tendon_att_bearer_receive(bearer, queue->pdus[place].bytes, queue->pdus[place].length, now);
    queue->first = (uint16_t)((place + 1) % TENDON_MEMORY_RADIO_QUEUE);
    queue->count--;
    return true;
}

static void settle_writable(tendon_memory_radio *air, uint64_t now) {
    if (air->to_device.refused && air->to_device.count < TENDON_MEMORY_RADIO_QUEUE) {
        air->to_device.refused = false;
        tendon_att_bearer_writable(&air->ours, now);
    }
    if (air->to_us.refused && air->to_us.count < TENDON_MEMORY_RADIO_QUEUE) {
        air->to_us.refused = false;
        tendon_att_bearer_writable(&air->theirs, now);
        air->peer->device.ops->writable(air->peer->device.context, now);
    }
}

/* ---- the link ---- */

static void link_down(tendon_memory_radio *air, tendon_status reason, uint64_t now) {
    tendon_memory_radio_device *peer = air->peer;
    air->peer = NULL;
    air->connecting = air->connect_asked = air->disconnect_asked = air->pair_asked = air->pairing = false;
    if (peer != NULL) {
        peer->device.ops->disconnected(peer->device.context, &air->theirs, reason, now);
        tendon_gatt_client_disconnected(&air->client, reason, now);
    }
    air->inputs->disconnected(air->session, reason, now);
}

static void link_up(tendon_memory_radio *air, tendon_memory_radio_device *device, uint64_t now) {
    air->connecting = false;
    air->to_device.count = air->to_us.count = 0;
    air->to_device.refused = air->to_us.refused = false;
    tendon_att_bearer_init(&air->ours, (tendon_bearer_io){&air->to_device, push}, TENDON_MEMORY_RADIO_MTU);
    tendon_att_bearer_init(&air->theirs, (tendon_bearer_io){&air->to_us, push}, TENDON_MEMORY_RADIO_MTU);
    const tendon_gatt_client_config config = {.bearer = &air->ours,
                                              .requests = air->requests,
                                              .request_capacity = TENDON_MEMORY_RADIO_REQUESTS,
                                              .subscriptions = air->subscriptions,
                                              .subscription_capacity = TENDON_MEMORY_RADIO_SUBSCRIPTIONS};
    (void)tendon_gatt_client_init(&air->client, &config);
    if (device->device.ops->connected(device->device.context, &air->theirs, now) < 0) {
        link_down(air, TENDON_RADIO_ERROR_PEER_CLOSED, now);
        return;
    }
    air->peer = device;
    if (device->bonded) { /* encrypted with the stored key, before anybody speaks */
        device->device.ops->paired(device->device.context, &air->theirs, now);
    }
    air->inputs->connected(air->session, &air->client, now);
}

static uint32_t pairing_of(tendon_memory_radio_device *device) {
    const tendon_peripheral_ops *ops = device->device.ops;
    uint32_t wants = ops->pairing != NULL ? ops->pairing(device->device.context) : TENDON_PERIPHERAL_PAIRABLE;
    if ((wants & TENDON_PERIPHERAL_CLEAR_BONDS) != 0) {
        device->bonded = false;
    }
    return wants;
}

static void pair_now(tendon_memory_radio *air, uint64_t now) {
    tendon_memory_radio_device *peer = air->peer;
    bool pairable = peer->bonded || ((pairing_of(peer) & TENDON_PERIPHERAL_PAIRABLE) != 0 && !peer->rejects_pairing);
    air->pairing = false;
    if (pairable) {
        peer->bonded = true;
        peer->device.ops->paired(peer->device.context, &air->theirs, now);
    }
    if (air->inputs->paired != NULL) {
        air->inputs->paired(air->session, pairable ? TENDON_OK : TENDON_RADIO_ERROR_PAIRING_FAILED, now);
    }
}

static void settle_link(tendon_memory_radio *air, uint64_t now) {
    if (air->disconnect_asked) {
        link_down(air, TENDON_ERROR_CANCELLED, now);
        return;
    }
    if (air->connect_asked) {
        air->connect_asked = false;
        air->connecting = true;
        air->link_at = now + air->connect_ms;
    }
    tendon_memory_radio_device *target = air->connecting ? device_at(air, &air->target) : NULL;
    if (target != NULL && target->present && now >= air->link_at) {
        link_up(air, target, now);
    }
    if (air->pair_asked && air->peer != NULL) {
        air->pair_asked = false;
        air->pairing = true;
        air->paired_at = now + air->pairing_ms;
    }
    if (air->pairing && air->peer != NULL && now >= air->paired_at) {
        pair_now(air, now);
    }
    if (air->peer != NULL && (air->theirs.closed || air->ours.closed)) {
        link_down(air, TENDON_RADIO_ERROR_PEER_CLOSED, now);
    }
}

static tendon_status ask_connect(void *context) {
    tendon_memory_radio *air = context;
    if (air->peer != NULL || air->connecting || air->connect_asked) {
        return TENDON_ERROR_WRONG_STATE;
    }
    air->connect_asked = true;
    return TENDON_OK;
}

static void ask_disconnect(void *context) {
    tendon_memory_radio *air = context;
    air->disconnect_asked = air->peer != NULL || air->connecting || air->connect_asked;
}

static tendon_status ask_pair(void *context) {
    tendon_memory_radio *air = context;
    if (air->peer == NULL) {
        return TENDON_ERROR_WRONG_STATE;
    }
    air->pair_asked = true;
    return TENDON_OK;
}

static bool is_bonded(void *context) {
    const tendon_memory_radio *air = context;
    const tendon_memory_radio_device *device = device_at(air, &air->target);
    return device != NULL && device->bonded;
}

static tendon_status forget_target(void *context) {
    tendon_memory_radio *air = context;
    return tendon_memory_radio_forget(air, &air->target);
}

tendon_session_link tendon_memory_radio_link(tendon_memory_radio *air) {
    return (tendon_session_link){.context = air,
                                 .connect = ask_connect,
                                 .disconnect = ask_disconnect,
                                 .pair = ask_pair,
                                 .bonded = is_bonded,
                                 .forget = forget_target};
}

/* ---- what the outside asks ---- */

void tendon_memory_radio_init(tendon_memory_radio *air, tendon_memory_radio_device *devices, size_t count) {
    memset(air, 0, sizeof *air);
    air->devices = devices;
    air->count = count;
    air->interval_ms = INTERVAL_MS;
    air->connect_ms = CONNECT_MS;
    air->pairing_ms = PAIRING_MS;
}

void tendon_memory_radio_attach(tendon_memory_radio *air, const tendon_session_inputs *inputs, void *session) {
    air->inputs = inputs;
    air->session = session;
}

void tendon_memory_radio_set_target(tendon_memory_radio *air, const tendon_address *address) {
    air->target = *address;
}

void tendon_memory_radio_scan(tendon_memory_radio *air, bool on) {
    air->scanning = on;
    air->next_report = 0;
}

void tendon_memory_radio_set_present(tendon_memory_radio *air, tendon_memory_radio_device *device, bool present,
                                     uint64_t now) {
    device->present = present;
    if (!present && air->peer == device) {
        link_down(air, TENDON_RADIO_ERROR_OUT_OF_RANGE, now);
    }
}

tendon_status tendon_memory_radio_forget(tendon_memory_radio *air, const tendon_address *address) {
    tendon_memory_radio_device *device = device_at(air, address);
    if (device == NULL || !device->bonded) {
        return TENDON_ERROR_NOT_FOUND;
    }
    device->bonded = false;
    air->disconnect_asked = air->disconnect_asked || air->peer == device;
    return TENDON_OK;
}

/* ---- time ---- */

static void report(tendon_memory_radio *air, const tendon_memory_radio_device *device, bool response, uint64_t now) {
    uint8_t data[TENDON_AD_LEGACY_MAX];
    const tendon_peripheral_ops *ops = device->device.ops;
    tendon_status length =
        (response ? ops->scan_response : ops->advertisement)(device->device.context, data, sizeof data);
    if (length < 0 || !air->scanning || air->on_report == NULL) {
        return;
    }
    air->on_report(
        air->report_context,
        &(tendon_ad_report){.address = device->address,
                            .properties = (uint16_t)(TENDON_AD_LEGACY | TENDON_AD_CONNECTABLE | TENDON_AD_SCANNABLE |
                                                     (response ? TENDON_AD_SCAN_RESPONSE : 0)),
                            .rssi = device->rssi,
                            .tx_power = TENDON_RSSI_UNKNOWN,
                            .primary_phy = 1,
                            .set_id = 0xFF,
                            .data = data,
                            .length = (size_t)length},
        now);
}

static void advertise(tendon_memory_radio *air, uint64_t now) {
    if (!air->scanning || now < air->next_report) {
        return;
    }
    air->next_report = now + air->interval_ms;
    for (size_t i = 0; i < air->count; i++) {
        const tendon_memory_radio_device *device = &air->devices[i];
        if (device->present && device != air->peer) {
            report(air, device, false, now);
            report(air, device, true, now);
        }
    }
}

void tendon_memory_radio_tick(tendon_memory_radio *air, uint64_t now) {
    air->now = now;
    advertise(air, now);
    for (size_t i = 0; i < air->count; i++) {
        const tendon_peripheral_device *device = &air->devices[i].device;
        if (device->ops->deadline(device->context) <= now) {
            device->ops->tick(device->context, now);
        }
        (void)pairing_of(&air->devices[i]);
    }
    settle_link(air, now);
    if (air->peer != NULL) {
        tendon_att_bearer_tick(&air->ours, now);
        tendon_att_bearer_tick(&air->theirs, now);
    }
    bool busy = true;
    for (int i = 0; i < ROUNDS && busy && air->peer != NULL && !air->disconnect_asked; i++) {
        busy = deliver(&air->to_device, &air->theirs, now);
        if (air->peer != NULL && air->peer->silent) {
            air->to_us.count = 0;
        }
        busy = deliver(&air->to_us, &air->ours, now) || busy;
        settle_writable(air, now);
    }
    if (air->inputs->deadline(air->session) <= now) {
        air->inputs->tick(air->session, now);
    }
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t tendon_memory_radio_deadline(const tendon_memory_radio *air) {
    uint64_t due = air->inputs->deadline(air->session);
    const tendon_memory_radio_device *target = air->connecting ? device_at(air, &air->target) : NULL;
    if (air->connect_asked || air->disconnect_asked || air->pair_asked) {
        return air->now;
    }
    if (target != NULL && target->present) {
        due = earlier(due, air->link_at);
    }
    due = air->scanning ? earlier(due, air->next_report) : due;
    due = air->pairing ? earlier(due, air->paired_at) : due;
    for (size_t i = 0; i < air->count; i++) {
        due = earlier(due, air->devices[i].device.ops->deadline(air->devices[i].device.context));
    }
    if (air->peer != NULL) {
        bool moving = air->to_device.count > 0 || air->to_us.count > 0 || air->ours.closed || air->theirs.closed;
        due = moving ? air->now : due;
        due = earlier(due, tendon_att_bearer_deadline(&air->ours));
        due = earlier(due, tendon_att_bearer_deadline(&air->theirs));
    }
    return due;
}
