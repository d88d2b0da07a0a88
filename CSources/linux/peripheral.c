/* SPDX-License-Identifier: MIT */
#include "tendon/linux/peripheral.h"
#include "pairing/pairing.h"
#include "socket_link.h"
#include "store/subscriptions.h"
#include "tendon/host/gatt_server.h"

#include <string.h>

static const tendon_bearer_filter *filter_of(const tendon_peripheral_link *place) {
    const tendon_peripheral *owner = place->owner;
    return owner->filtered ? &owner->filters[place - owner->links] : NULL;
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/** Passes the pairing requests of the device to the radio. */
static void settle_pairing(tendon_peripheral *peripheral) {
    const tendon_peripheral_ops *ops = peripheral->device.ops;
    if (!peripheral->open || tendon_radio_pairing(peripheral->radio) == NULL) {
        return;
    }
    uint32_t wants = ops->pairing != NULL ? ops->pairing(peripheral->device.context) : TENDON_PERIPHERAL_PAIRABLE;
    if ((wants & TENDON_PERIPHERAL_CLEAR_BONDS) != 0) {
        (void)tendon_radio_forget_all(peripheral->radio);
    }
    (void)tendon_radio_set_pairable(peripheral->radio, (wants & TENDON_PERIPHERAL_PAIRABLE) != 0);
}

void tendon_peripheral_refresh(tendon_peripheral *peripheral) {
    uint64_t deadline = UINT64_MAX;
    size_t used = 0;
    settle_pairing(peripheral);
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        const tendon_peripheral_link *place = &peripheral->links[i];
        const tendon_bearer_filter *filter = filter_of(place);
        used += place->used ? 1 : 0;
        if (place->served && place->bearer.closed) {
            tendon_link_close(
                &peripheral->links[i].link); /* the device closed the bearer, also after a transaction timeout */
        }
        if (place->served) {
            deadline = earlier(deadline, tendon_att_bearer_deadline(&place->bearer));
            if (filter != NULL) {
                deadline = earlier(deadline, filter->deadline(filter->context));
            }
        }
    }
    deadline = earlier(deadline, peripheral->device.ops->deadline(peripheral->device.context));
    peripheral->timer.deadline = deadline;
    if (!peripheral->open && used == 0) {
        tendon_loop_remove(peripheral->radio->loop, &peripheral->timer);
    } else if (!peripheral->timer.added) {
        (void)tendon_loop_add(peripheral->radio->loop, &peripheral->timer); /* without a descriptor it cannot fail */
    }
}

/** Deadlines may have changed: look at them at the end of this step, once for a whole batch. */
static void touch(tendon_peripheral *peripheral) {
    peripheral->timer.deadline = 0;
}

static void pass_writable(tendon_peripheral_link *place, uint64_t now) {
    tendon_peripheral *owner = place->owner;
    tendon_att_bearer_writable(&place->bearer, now);
    tendon_subscriptions_keep(place, now);
    owner->device.ops->writable(owner->device.context, now);
}

/** Executes the requests of a filter after its tick() and that of the device. */
static void settle_filter(tendon_peripheral_link *place, uint64_t now) {
    const tendon_bearer_filter *filter = filter_of(place);
    if (filter->take_writable(filter->context)) {
        pass_writable(place, now);
    }
    if (filter->take_disconnect(filter->context)) {
        tendon_link_close(&place->link);
    }
}

static void timer_expired(void *context, uint64_t now) {
    tendon_peripheral *peripheral = context;
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        tendon_peripheral_link *place = &peripheral->links[i];
        const tendon_bearer_filter *filter = filter_of(place);
        if (!place->served) {
            continue;
        }
        if (filter != NULL) {
            filter->tick(filter->context, now);
        }
        tendon_att_bearer_tick(&place->bearer, now);
        tendon_subscriptions_keep(place, now);
    }
    if (peripheral->device.ops->deadline(peripheral->device.context) <= now) {
        peripheral->device.ops->tick(peripheral->device.context, now);
    }
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        if (peripheral->links[i].served && peripheral->filtered) {
            settle_filter(&peripheral->links[i], now); /* the tick may have sent PDUs to which the fault applies */
        }
    }
    tendon_peripheral_refresh(peripheral);
}

/** A central that was disconnected in this step can be the one that connects: a device with one place must have it. */
static void settle_ended(tendon_peripheral *peripheral, uint64_t now) {
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        tendon_socket_link_settle(&peripheral->links[i].link, now);
    }
}

static void link_connected(void *context, uint64_t now) {
    tendon_peripheral_link *place = context;
    tendon_peripheral *owner = place->owner;
    const tendon_bearer_filter *filter = filter_of(place);
    tendon_bearer_io io = tendon_link_io(&place->link);
    settle_ended(owner, now);
    if (place->link.state != TENDON_LINK_OPEN) {
        return; /* the owner has closed all */
    }
    memset(&place->kept, 0, sizeof place->kept);
    tendon_att_bearer_init(&place->bearer, filter != NULL ? filter->wrap(filter->context, io) : io, TENDON_ATT_MTU_MAX);
    if (owner->device.ops->connected(owner->device.context, &place->bearer, now) < 0) {
        owner->refused++;
        tendon_link_close(&place->link);
        return;
    }
    if (place->bearer.server != NULL) {
        place->bearer.server->bonded = tendon_pairing_bond_of(&place->link) != NULL;
    }
    owner->accepted++;
    place->served = true;
    touch(owner);
    if (owner->callbacks.connected != NULL) {
        owner->callbacks.connected(owner->callbacks.context, place, now);
    }
}

/**
 * Tells the device's server what the key of the connection is worth, and restores what is kept with it. On the kernel's
 * radio the key is stored after the connection is encrypted, and a second pairing can replace it by a better one.
 */
static void settle_security(tendon_peripheral_link *place, uint64_t now) {
    tendon_gatt_connection *server = place->bearer.server;
    const tendon_bond *bond = tendon_pairing_bond_in_use(&place->link);
    if (server != NULL && bond != NULL) {
        server->security =
            tendon_bond_is_authenticated(bond) ? TENDON_GATT_SECURITY_AUTHENTICATED : TENDON_GATT_SECURITY_ENCRYPTED;
        server->key_size = bond->key_size;
        server->bonded = true;
        tendon_subscriptions_restore(place, now);
    }
}

static void link_received(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    tendon_peripheral_link *place = context;
    const tendon_bearer_filter *filter = filter_of(place);
    if (!place->served) {
        return;
    }
    touch(place->owner);
    if (filter != NULL) {
        filter->tick(filter->context, now);
    }
    settle_security(place, now);
    (void)tendon_att_bearer_receive(&place->bearer, pdu, length, now);
    tendon_subscriptions_keep(place, now);
}

static void link_writable(void *context, uint64_t now) {
    tendon_peripheral_link *place = context;
    const tendon_bearer_filter *filter = filter_of(place);
    if (!place->served) {
        return;
    }
    touch(place->owner);
    if (filter != NULL) {
        filter->writable(filter->context, now); /* take_writable(), after this step's tick(), reports the others */
    } else {
        pass_writable(place, now);
    }
}

static void link_encrypted(void *context, uint64_t now) {
    tendon_peripheral_link *place = context;
    if (place->served) {
        touch(place->owner);
        settle_security(place, now);
        place->owner->device.ops->paired(place->owner->device.context, &place->bearer, now);
        tendon_subscriptions_keep(place, now);
    }
}

static void link_bonded(void *context, uint64_t now) {
    tendon_peripheral_link *place = context;
    if (place->served) {
        touch(place->owner);
        settle_security(place, now);
        tendon_subscriptions_keep(place, now);
    }
}

static void link_closed(void *context, tendon_status reason, uint64_t now) {
    tendon_peripheral_link *place = context;
    tendon_peripheral *owner = place->owner;
    bool served = place->served;
    place->used = place->served = false;
    if (served) {
        tendon_subscriptions_ended(place);
        owner->device.ops->disconnected(owner->device.context, &place->bearer, reason, now);
    }
    tendon_peripheral_refresh(owner);
    if (served && owner->callbacks.disconnected != NULL) {
        owner->callbacks.disconnected(owner->callbacks.context, place, reason, now);
    }
    if (!owner->open && owner->callbacks.idle != NULL && tendon_peripheral_count(owner) == 0) {
        owner->callbacks.idle(owner->callbacks.context, now);
    }
}

static tendon_link *accept_central(void *context, const tendon_address *peer, uint64_t now) {
    tendon_peripheral *peripheral = context;
    (void)peer;
    (void)now;
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        tendon_peripheral_link *place = &peripheral->links[i];
        if (!place->used) {
            place->used = true;
            tendon_link_init(&place->link, &(tendon_link_callbacks){.context = place,
                                                                    .connected = link_connected,
                                                                    .received = link_received,
                                                                    .writable = link_writable,
                                                                    .encrypted = link_encrypted,
                                                                    .bonded = link_bonded,
                                                                    .closed = link_closed});
            return &place->link;
        }
    }
    peripheral->refused++;
    return NULL;
}

void tendon_peripheral_init(tendon_peripheral *peripheral, tendon_radio *radio, const tendon_peripheral_device *device,
                            const tendon_peripheral_callbacks *callbacks) {
    memset(peripheral, 0, sizeof *peripheral);
    peripheral->radio = radio;
    peripheral->device = *device;
    if (callbacks != NULL) {
        peripheral->callbacks = *callbacks;
    }
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        peripheral->links[i].owner = peripheral;
    }
    tendon_source_init(&peripheral->timer, -1, peripheral, NULL, timer_expired);
}

void tendon_peripheral_set_filters(tendon_peripheral *peripheral, const tendon_bearer_filter *filters) {
    memcpy(peripheral->filters, filters, sizeof peripheral->filters);
    peripheral->filtered = true;
}

void tendon_peripheral_keep_subscriptions(tendon_peripheral *peripheral, tendon_subscription_store *store) {
    peripheral->subscriptions = store;
}

static tendon_status advertise(tendon_peripheral *peripheral) {
    uint8_t data[TENDON_AD_LEGACY_MAX], response[TENDON_AD_LEGACY_MAX];
    const tendon_peripheral_device *device = &peripheral->device;
    tendon_status length = device->ops->advertisement(device->context, data, sizeof data);
    if (length < 0) {
        return length;
    }
    tendon_status response_length = device->ops->scan_response(device->context, response, sizeof response);
    if (response_length < 0) {
        return response_length;
    }
    return tendon_radio_advertise_start(peripheral->radio,
                                        &(tendon_advertise_parameters){.data = data,
                                                                       .length = (size_t)length,
                                                                       .scan_response = response,
                                                                       .scan_response_length = (size_t)response_length,
                                                                       .interval_ms = peripheral->interval_ms});
}

/** Listens and advertises; after an error neither. */
static tendon_status start(tendon_peripheral *peripheral) {
    peripheral->listener = (tendon_listener){.context = peripheral, .accept = accept_central};
    tendon_status status = tendon_radio_listen(peripheral->radio, &peripheral->listener);
    if (status < 0) {
        return status;
    }
    status = advertise(peripheral);
    if (status < 0) {
        tendon_radio_unlisten(peripheral->radio, &peripheral->listener);
    }
    return status;
}

tendon_status tendon_peripheral_open(tendon_peripheral *peripheral, uint16_t interval_ms) {
    if (peripheral->open) {
        return TENDON_RADIO_ERROR_ALREADY_STARTED;
    }
    peripheral->interval_ms = interval_ms;
    tendon_status status = start(peripheral);
    if (status < 0) {
        return status;
    }
    peripheral->open = true;
    peripheral->paused = false;
    tendon_peripheral_refresh(peripheral);
    return TENDON_OK;
}

tendon_status tendon_peripheral_readvertise(tendon_peripheral *peripheral) {
    if (!peripheral->open) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (peripheral->paused) {
        tendon_status status = start(peripheral);
        peripheral->paused = status < 0;
        return status;
    }
    tendon_status status = tendon_radio_advertise_stop(peripheral->radio);
    return status < 0 ? status : advertise(peripheral);
}

tendon_status tendon_peripheral_pause(tendon_peripheral *peripheral) {
    if (!peripheral->open || peripheral->paused) {
        return peripheral->open ? TENDON_OK : TENDON_ERROR_WRONG_STATE;
    }
    tendon_status status = tendon_radio_advertise_stop(peripheral->radio);
    if (status >= 0) {
        tendon_radio_unlisten(peripheral->radio, &peripheral->listener);
        peripheral->paused = true;
    }
    return status;
}

tendon_peripheral_link *tendon_peripheral_find(tendon_peripheral *peripheral, const tendon_att_bearer *bearer) {
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        if (&peripheral->links[i].bearer == bearer) {
            return &peripheral->links[i];
        }
    }
    return NULL;
}

void tendon_peripheral_close(tendon_peripheral *peripheral) {
    if (peripheral->open) {
        peripheral->open = false;
        if (!peripheral->paused) {
            (void)tendon_radio_advertise_stop(peripheral->radio);
            tendon_radio_unlisten(peripheral->radio, &peripheral->listener);
        }
    }
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        if (peripheral->links[i].used) {
            tendon_link_close(&peripheral->links[i].link);
        }
    }
    tendon_peripheral_refresh(peripheral);
}

size_t tendon_peripheral_count(const tendon_peripheral *peripheral) {
    size_t count = 0;
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        count += peripheral->links[i].used ? 1 : 0;
    }
    return count;
}
