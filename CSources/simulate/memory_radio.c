/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/memory_radio.h"

enum { ROUNDS = 64, INTERVAL_MS = 100, CONNECT_MS = 20, PAIRING_MS = 20 };

static tendon_memory_radio_device *device_at(const tendon_memory_radio *radio, const tendon_address *address) {
    for (size_t i = 0; i < radio->count; i++) {
        if (tendon_address_equal(&radio->devices[i].address, address)) {
            return &radio->devices[i];
        }
    }
    return NULL;
}

/* ---- queues ---- */

static tendon_status push(void *context, const uint8_t *pdu, size_t length) {
    tendon_memory_radio_queue *queue = context;
    if (length > TENDON_ATT_MTU_MAX) {
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

/* Delivers one PDU. Its slot is freed afterwards, because its bytes are lent. */
static bool deliver(tendon_memory_radio_queue *queue, tendon_att_bearer *bearer, uint64_t now) {
    if (queue->count == 0) {
        return false;
    }
    uint16_t place = queue->first;
    (void)tendon_att_bearer_receive(bearer, queue->pdus[place].bytes, queue->pdus[place].length, now);
    queue->first = (uint16_t)((place + 1) % TENDON_MEMORY_RADIO_QUEUE);
    queue->count--;
    return true;
}

/** Each call can end the connection. */
static void settle_writable(tendon_memory_radio *radio, uint64_t now) {
    if (radio->peer != NULL && radio->to_device.refused && radio->to_device.count < TENDON_MEMORY_RADIO_QUEUE) {
        radio->to_device.refused = false;
        tendon_att_bearer_writable(&radio->ours, now);
    }
    if (radio->peer != NULL && radio->to_us.refused && radio->to_us.count < TENDON_MEMORY_RADIO_QUEUE) {
        radio->to_us.refused = false;
        tendon_att_bearer_writable(&radio->theirs, now);
    } else {
        return;
    }
    if (radio->peer != NULL) {
        radio->peer->device.ops->writable(radio->peer->device.context, now);
    }
}

/* ---- the link ---- */

static void link_down(tendon_memory_radio *radio, tendon_status reason, uint64_t now) {
    tendon_memory_radio_device *peer = radio->peer;
    radio->peer = NULL;
    radio->connecting = radio->connect_asked = radio->disconnect_asked = radio->pair_asked = radio->pairing = false;
    if (peer != NULL) {
        peer->device.ops->disconnected(peer->device.context, &radio->theirs, reason, now);
        tendon_gatt_client_disconnected(&radio->client, reason, now);
    }
    radio->inputs->disconnected(radio->session, reason, now);
}

static void link_up(tendon_memory_radio *radio, tendon_memory_radio_device *device, uint64_t now) {
    radio->connecting = false;
    radio->to_device.count = radio->to_us.count = 0;
    radio->to_device.refused = radio->to_us.refused = false;
    tendon_att_bearer_init(&radio->ours, (tendon_bearer_io){&radio->to_device, push}, radio->mtu);
    tendon_att_bearer_init(&radio->theirs, (tendon_bearer_io){&radio->to_us, push}, radio->mtu);
    const tendon_gatt_client_config config = {.bearer = &radio->ours,
                                              .requests = radio->requests,
                                              .request_capacity = TENDON_MEMORY_RADIO_REQUESTS,
                                              .subscriptions = radio->subscriptions,
                                              .subscription_capacity = TENDON_MEMORY_RADIO_SUBSCRIPTIONS,
                                              .cache = radio->cache};
    (void)tendon_gatt_client_init(&radio->client, &config);
    if (device->device.ops->connected(device->device.context, &radio->theirs, now) < 0) {
        link_down(radio, TENDON_RADIO_ERROR_PEER_CLOSED, now);
        return;
    }
    radio->peer = device;
    if (device->bonded) { /* encrypted with the stored key, before the first PDU */
        device->device.ops->paired(device->device.context, &radio->theirs, now);
    }
    radio->inputs->connected(radio->session, &radio->client, now);
}

static uint32_t pairing_of(tendon_memory_radio_device *device) {
    const tendon_peripheral_ops *ops = device->device.ops;
    uint32_t wants = ops->pairing != NULL ? ops->pairing(device->device.context) : TENDON_PERIPHERAL_PAIRABLE;
    if ((wants & TENDON_PERIPHERAL_CLEAR_BONDS) != 0) {
        device->bonded = false;
    }
    return wants;
}

static void pair_now(tendon_memory_radio *radio, uint64_t now) {
    tendon_memory_radio_device *peer = radio->peer;
    bool pairable = peer->bonded || ((pairing_of(peer) & TENDON_PERIPHERAL_PAIRABLE) != 0 && !peer->rejects_pairing);
    radio->pairing = false;
    if (pairable) {
        peer->bonded = true;
        peer->device.ops->paired(peer->device.context, &radio->theirs, now);
    }
    if (radio->inputs->paired != NULL) {
        radio->inputs->paired(radio->session, pairable ? TENDON_OK : TENDON_RADIO_ERROR_PAIRING_FAILED, now);
    }
}

static void settle_link(tendon_memory_radio *radio, uint64_t now) {
    if (radio->disconnect_asked) {
        link_down(radio, TENDON_ERROR_CANCELLED, now);
        return;
    }
    if (radio->connect_asked) {
        radio->connect_asked = false;
        radio->connecting = true;
        radio->link_at = now + radio->connect_ms;
    }
    tendon_memory_radio_device *target = radio->connecting ? device_at(radio, &radio->target) : NULL;
    if (target != NULL && target->present && now >= radio->link_at) {
        link_up(radio, target, now);
    }
    if (radio->pair_asked && radio->peer != NULL) {
        radio->pair_asked = false;
        radio->pairing = true;
        radio->paired_at = now + (radio->peer->bonded ? 0 : radio->pairing_ms); /* encrypted already */
    }
    if (radio->pairing && radio->peer != NULL && now >= radio->paired_at) {
        pair_now(radio, now);
    }
    if (radio->peer != NULL && (radio->theirs.closed || radio->ours.closed)) {
        link_down(radio, TENDON_RADIO_ERROR_PEER_CLOSED, now);
    }
}

static tendon_status ask_connect(void *context) {
    tendon_memory_radio *radio = context;
    if (radio->peer != NULL || radio->connecting || radio->connect_asked) {
        return TENDON_ERROR_WRONG_STATE;
    }
    radio->connect_asked = true;
    return TENDON_OK;
}

static void ask_disconnect(void *context) {
    tendon_memory_radio *radio = context;
    radio->disconnect_asked = radio->peer != NULL || radio->connecting || radio->connect_asked;
}

static tendon_status ask_pair(void *context) {
    tendon_memory_radio *radio = context;
    if (radio->peer == NULL) {
        return TENDON_ERROR_WRONG_STATE;
    }
    radio->pair_asked = true;
    return TENDON_OK;
}

static bool is_bonded(void *context) {
    const tendon_memory_radio *radio = context;
    const tendon_memory_radio_device *device = device_at(radio, &radio->target);
    return device != NULL && device->bonded;
}

static tendon_status forget_target(void *context) {
    tendon_memory_radio *radio = context;
    return tendon_memory_radio_forget(radio, &radio->target);
}

tendon_session_link tendon_memory_radio_link(tendon_memory_radio *radio) {
    return (tendon_session_link){.context = radio,
                                 .connect = ask_connect,
                                 .disconnect = ask_disconnect,
                                 .pair = ask_pair,
                                 .bonded = is_bonded,
                                 .forget = forget_target};
}

/* ---- calls from outside ---- */

void tendon_memory_radio_init(tendon_memory_radio *radio, tendon_memory_radio_device *devices, size_t count) {
    memset(radio, 0, sizeof *radio);
    radio->devices = devices;
    radio->count = count;
    radio->interval_ms = INTERVAL_MS;
    radio->connect_ms = CONNECT_MS;
    radio->pairing_ms = PAIRING_MS;
    radio->mtu = TENDON_MEMORY_RADIO_MTU;
}

void tendon_memory_radio_attach(tendon_memory_radio *radio, const tendon_session_inputs *inputs, void *session) {
    radio->inputs = inputs;
    radio->session = session;
}

void tendon_memory_radio_set_target(tendon_memory_radio *radio, const tendon_address *address) {
    radio->target = *address;
}

void tendon_memory_radio_scan(tendon_memory_radio *radio, bool on) {
    radio->scanning = on;
    radio->next_report = 0;
}

void tendon_memory_radio_set_present(tendon_memory_radio *radio, tendon_memory_radio_device *device, bool present,
                                     uint64_t now) {
    device->present = present;
    if (!present && radio->peer == device) {
        link_down(radio, TENDON_RADIO_ERROR_OUT_OF_RANGE, now);
    }
}

tendon_status tendon_memory_radio_forget(tendon_memory_radio *radio, const tendon_address *address) {
    tendon_memory_radio_device *device = device_at(radio, address);
    if (device == NULL || !device->bonded) {
        return TENDON_ERROR_NOT_FOUND;
    }
    device->bonded = false;
    radio->disconnect_asked = radio->disconnect_asked || radio->peer == device;
    return TENDON_OK;
}

/* ---- time ---- */

static void report(tendon_memory_radio *radio, const tendon_memory_radio_device *device, bool response, uint64_t now) {
    uint8_t data[TENDON_AD_LEGACY_MAX];
    const tendon_peripheral_ops *ops = device->device.ops;
    tendon_status length =
        (response ? ops->scan_response : ops->advertisement)(device->device.context, data, sizeof data);
    if (length < 0 || !radio->scanning || radio->on_report == NULL) {
        return;
    }
    radio->on_report(
        radio->report_context,
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

static void advertise(tendon_memory_radio *radio, uint64_t now) {
    if (!radio->scanning || now < radio->next_report) {
        return;
    }
    radio->next_report = now + radio->interval_ms;
    for (size_t i = 0; i < radio->count; i++) {
        const tendon_memory_radio_device *device = &radio->devices[i];
        if (device->present && device != radio->peer) {
            report(radio, device, false, now);
            report(radio, device, true, now);
        }
    }
}

void tendon_memory_radio_tick(tendon_memory_radio *radio, uint64_t now) {
    radio->now = now;
    advertise(radio, now);
    for (size_t i = 0; i < radio->count; i++) {
        const tendon_peripheral_device *device = &radio->devices[i].device;
        if (device->ops->deadline(device->context) <= now) {
            device->ops->tick(device->context, now);
        }
        (void)pairing_of(&radio->devices[i]);
    }
    settle_link(radio, now);
    if (radio->peer != NULL) {
        tendon_att_bearer_tick(&radio->ours, now);
        tendon_att_bearer_tick(&radio->theirs, now);
    }
    bool busy = true;
    for (int i = 0; i < ROUNDS && busy && radio->peer != NULL && !radio->disconnect_asked; i++) {
        busy = deliver(&radio->to_device, &radio->theirs, now);
        if (radio->peer != NULL && radio->peer->silent) {
            radio->to_us.count = 0;
        }
        busy = deliver(&radio->to_us, &radio->ours, now) || busy;
        settle_writable(radio, now);
    }
    if (radio->inputs->deadline(radio->session) <= now) {
        radio->inputs->tick(radio->session, now);
    }
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t tendon_memory_radio_deadline(const tendon_memory_radio *radio) {
    uint64_t due = radio->inputs->deadline(radio->session);
    const tendon_memory_radio_device *target = radio->connecting ? device_at(radio, &radio->target) : NULL;
    if (radio->connect_asked || radio->disconnect_asked || radio->pair_asked) {
        return radio->now;
    }
    if (target != NULL && target->present) {
        due = earlier(due, radio->link_at);
    }
    due = radio->scanning ? earlier(due, radio->next_report) : due;
    due = radio->pairing ? earlier(due, radio->paired_at) : due;
    for (size_t i = 0; i < radio->count; i++) {
        due = earlier(due, radio->devices[i].device.ops->deadline(radio->devices[i].device.context));
    }
    if (radio->peer != NULL) {
        bool moving =
            radio->to_device.count > 0 || radio->to_us.count > 0 || radio->ours.closed || radio->theirs.closed;
        due = moving ? radio->now : due;
        due = earlier(due, tendon_att_bearer_deadline(&radio->ours));
        due = earlier(due, tendon_att_bearer_deadline(&radio->theirs));
    }
    return due;
}
