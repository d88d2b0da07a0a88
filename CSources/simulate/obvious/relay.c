/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/obvious_relay.h"

#include <string.h>

/* ASKING: the read begins with the next tick, because the handler is never called from within a call. */
enum { DOWN = 0, ASKING, READING, UP };

/* ---- the attributes ---- */

static tendon_status on_read(void *context, tendon_gatt_connection *connection, uint16_t handle, const uint8_t **value,
                             size_t *length) {
    tendon_obvious_relay *relay = context;
    (void)connection;
    (void)handle; /* only OGP_STATUS can be read */
    *value = relay->value;
    *length = relay->value_length;
    return relay->failure;
}

static void end(tendon_obvious_relay *relay, tendon_status status) {
    relay->status = status;
    tendon_att_bearer_close(relay->connection.bearer);
}

static tendon_status on_write(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                              const uint8_t *value, size_t length, bool command, uint64_t now) {
    tendon_obvious_relay *relay = context;
    (void)connection, (void)handle, (void)offset, (void)command, (void)now;
    if (relay->handler->write(relay->context, value, length)) {
        relay->written = true;
        relay->refusals = 0;
        return TENDON_OK;
    }
    relay->refusals++;
    if (!relay->written) {
        end(relay, TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE);
    } else if (relay->refusals == TENDON_OBVIOUS_RELAY_REFUSALS) {
        end(relay, TENDON_OBVIOUS_ERROR_LINK_ERROR);
    }
    return TENDON_OK;
}

static void lay_out(tendon_obvious_relay *relay, bool has_status) {
    const tendon_gatt_handlers handlers = {.context = relay, .read = on_read, .write = on_write};
    tendon_gatt_server_init(&relay->server, relay->attributes, TENDON_OBVIOUS_RELAY_ATTRIBUTES, &handlers);
    tendon_gatt_add_service(&relay->server, &relay->gatt.service, true);
    relay->data_handle = (uint16_t)tendon_gatt_add_characteristic(
        &relay->server, &relay->gatt.data, TENDON_GATT_WRITE_WITHOUT_RESPONSE | TENDON_GATT_NOTIFY,
        TENDON_GATT_PERMIT_WRITE);
    if (has_status) {
        relay->status_handle = (uint16_t)tendon_gatt_add_characteristic(&relay->server, &relay->gatt.status,
                                                                        TENDON_GATT_READ, TENDON_GATT_PERMIT_READ);
    }
}

/* The result of the read is known: the session can connect. */
static void come_up(tendon_obvious_relay *relay, bool has_status, uint64_t now) {
    relay->state = UP;
    relay->deadline = UINT64_MAX;
    lay_out(relay, has_status);
    tendon_memory_radio_set_present(relay->radio, &relay->device, true, now);
}

/* An application may report its connection before it has discovered the characteristics: it cannot read them yet. */
static void ask_again(tendon_obvious_relay *relay, uint64_t now) {
    relay->asked++;
    if (relay->asked >= TENDON_OBVIOUS_RELAY_READ_MS / TENDON_OBVIOUS_RELAY_ASK_MS) {
        come_up(relay, false, now);
    } else {
        relay->state = ASKING;
        relay->deadline = now + TENDON_OBVIOUS_RELAY_ASK_MS;
    }
}

/* ---- a device of the radio in memory ---- */

static tendon_status no_advertisement(const void *device, uint8_t *out, size_t capacity) {
    (void)device, (void)out, (void)capacity;
    return 0;
}

static tendon_status connected(void *context, tendon_att_bearer *bearer, uint64_t now) {
    tendon_obvious_relay *relay = context;
    (void)now;
    const tendon_gatt_connection_config config = {.bearer = bearer, .cccds = relay->cccds, .cccd_capacity = 1};
    if (relay->status < 0) { /* nothing more is written to this device */
        return TENDON_ERROR_WRONG_STATE;
    }
    bearer->own_mtu = relay->mtu;
    relay->connected = true;
    relay->written = false;
    relay->refusals = 0;
    return tendon_gatt_connection_init(&relay->connection, &relay->server, &config);
}

static void disconnected(void *context, tendon_att_bearer *bearer, tendon_status reason, uint64_t now) {
    tendon_obvious_relay *relay = context;
    (void)bearer;
    relay->connected = false;
    relay->device.present = false;
    relay->state = DOWN;
    tendon_gatt_connection_closed(&relay->connection, reason, now);
}

static void paired(void *context, tendon_att_bearer *bearer, uint64_t now) {
    (void)context, (void)bearer, (void)now;
}

static void writable(void *context, uint64_t now) {
    (void)context, (void)now;
}

static void tick(void *context, uint64_t now) {
    tendon_obvious_relay *relay = context;
    if (relay->state == ASKING && now >= relay->deadline) {
        relay->state = READING;
        relay->deadline = now + TENDON_OBVIOUS_RELAY_READ_MS;
        if (!relay->handler->read(relay->context) && relay->state == READING) {
            ask_again(relay, now);
        }
    } else if (relay->state == READING && now >= relay->deadline) {
        come_up(relay, false, now);
    }
}

static uint64_t deadline(const void *context) {
    return ((const tendon_obvious_relay *)context)->deadline;
}

static const tendon_peripheral_ops ops = {.name = "relay",
                                          .advertisement = no_advertisement,
                                          .scan_response = no_advertisement,
                                          .connected = connected,
                                          .disconnected = disconnected,
                                          .paired = paired,
                                          .writable = writable,
                                          .tick = tick,
                                          .deadline = deadline};

/* ---- calls of the application ---- */

void tendon_obvious_relay_init(tendon_obvious_relay *relay, tendon_memory_radio *radio,
                               const tendon_obvious_relay_handler *handler, void *context,
                               const tendon_obvious_gatt *gatt) {
    memset(relay, 0, sizeof *relay);
    relay->handler = handler;
    relay->context = context;
    relay->gatt = gatt != NULL ? *gatt : tendon_obvious_gatt_defaults();
    relay->radio = radio;
    relay->deadline = UINT64_MAX;
    /* The application has paired: a rejected read stays rejected. */
    relay->device = (tendon_memory_radio_device){.device = {.ops = &ops, .context = relay}, .bonded = true};
    tendon_memory_radio_init(radio, &relay->device, 1);
    radio->connect_ms = radio->pairing_ms = 0;
    radio->mtu = TENDON_ATT_MTU_MAX;
}

void tendon_obvious_relay_connected(tendon_obvious_relay *relay, uint16_t mtu, uint64_t now) {
    if (relay->state != DOWN) {
        return;
    }
    relay->mtu = mtu < TENDON_ATT_MTU_MIN ? TENDON_ATT_MTU_MIN : mtu > TENDON_ATT_MTU_MAX ? TENDON_ATT_MTU_MAX : mtu;
    relay->status = relay->failure = TENDON_OK;
    relay->state = ASKING;
    relay->asked = 0;
    relay->deadline = now;
}

void tendon_obvious_relay_disconnected(tendon_obvious_relay *relay, uint64_t now) {
    relay->state = DOWN;
    relay->deadline = UINT64_MAX;
    tendon_memory_radio_set_present(relay->radio, &relay->device, false, now);
}

void tendon_obvious_relay_status(tendon_obvious_relay *relay, const uint8_t *value, size_t length, uint64_t now) {
    if (relay->state != READING) {
        return;
    }
    /* What follows the first bytes is of no interest to the session. */
    relay->value_length = (uint8_t)(length < sizeof relay->value ? length : sizeof relay->value);
    if (relay->value_length > 0) {
        memcpy(relay->value, value, relay->value_length);
    }
    come_up(relay, true, now);
}

void tendon_obvious_relay_failed(tendon_obvious_relay *relay, uint8_t code, uint64_t now) {
    if (relay->state == READING) {
        relay->failure = code != 0 ? TENDON_ATT_ERROR(code) : TENDON_ATT_ERROR(TENDON_ATT_UNLIKELY_ERROR);
        come_up(relay, true, now);
    }
}

bool tendon_obvious_relay_data(tendon_obvious_relay *relay, const uint8_t *value, size_t length) {
    return relay->connected && length <= (size_t)relay->mtu - 3 &&
           tendon_gatt_notify(&relay->connection, relay->data_handle, value, length) == TENDON_OK;
}
