/* SPDX-License-Identifier: MIT */
/* Simulated Obvious device: segments to and from one gateway, with faults on demand. */
#include "obvious_parts.h"

enum { FLAGS_AT = 0, FLAG_LAST = 0x10, FLAG_CONTROL = 0x04, TYPE_AT = 2, CREDIT_AT = 10, TYPE_ACK = 1 };

/* ---- to the connection ---- */

/* One value of OGP_DATA. */
static tendon_status put(tendon_simulated_obvious_link *link, const uint8_t *bytes, size_t length) {
    uint16_t handle = link->device->data_handle;
    bool indicates =
        (tendon_gatt_connection_cccd(link->connection, handle) & 1u) == 0 && link->device->options.indicates;
    tendon_status status = indicates ? tendon_gatt_indicate(link->connection, handle, bytes, length, link->now)
                                     : tendon_gatt_notify(link->connection, handle, bytes, length);
    if (status == TENDON_ERROR_BUSY || status == TENDON_ERROR_WOULD_BLOCK) {
        link->blocked = true;
        return TENDON_ERROR_WOULD_BLOCK;
    }
    return status;
}

static void queue_control(tendon_simulated_obvious_link *link, const uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE]) {
    uint8_t last = (uint8_t)((link->control_first + link->control_count) % TENDON_SIMULATED_OBVIOUS_CONTROLS);
    memcpy(link->controls[last], control, TENDON_OBVIOUS_CONTROL_SIZE);
    if (link->control_count < TENDON_SIMULATED_OBVIOUS_CONTROLS) {
        link->control_count++;
    } else { /* the oldest one is outdated by those after it */
        link->control_first = (uint8_t)((link->control_first + 1) % TENDON_SIMULATED_OBVIOUS_CONTROLS);
    }
}

/* True once for each fault that is left. */
static bool takes(tendon_simulated_obvious *device, uint32_t *left) {
    if (*left == 0) {
        return false;
    }
    (*left)--;
    device->counters.faults++;
    return true;
}

static tendon_status put_corrupted(tendon_simulated_obvious_link *link, const uint8_t *segment, size_t length) {
    uint8_t wrong[TENDON_OBVIOUS_SEGMENT_MAX];
    memcpy(wrong, segment, length);
    wrong[length - 1] ^= 0x80; /* of the CRC */
    return put(link, wrong, length);
}

/* Writes a segment of the sender. */
static tendon_status on_write(void *context, const uint8_t *segment, size_t length) {
    tendon_simulated_obvious_link *link = context;
    tendon_simulated_obvious *device = link->device;
    if ((segment[FLAGS_AT] & FLAG_CONTROL) != 0) {
        queue_control(link, segment);
        return TENDON_OK;
    }
    if (link->inside || link->blocked || link->control_count > 0) {
        link->asks = true;
        return TENDON_ERROR_WOULD_BLOCK;
    }
    if (takes(device, &device->lose_next)) {
        return TENDON_OK;
    }
    if (!link->held && takes(device, &device->swap_next)) {
        link->held = true;
        link->held_length = (uint16_t)length;
        memcpy(link->held_segment, segment, length);
        return TENDON_OK;
    }
    bool corrupt = (segment[FLAGS_AT] & FLAG_LAST) != 0 && takes(device, &device->corrupt_next);
    tendon_status status = corrupt ? put_corrupted(link, segment, length) : put(link, segment, length);
    link->asks = status == TENDON_ERROR_WOULD_BLOCK;
    if (status == TENDON_OK && takes(device, &device->double_next)) {
        (void)put(link, segment, length);
    }
    if (status == TENDON_OK && link->held && put(link, link->held_segment, link->held_length) == TENDON_OK) {
        link->held = false;
    }
    return status;
}

static void on_done(void *context, tendon_status status, uint64_t now) {
    tendon_simulated_obvious_link *link = context;
    (void)now;
    link->frame_first = (uint8_t)((link->frame_first + 1) % TENDON_SIMULATED_OBVIOUS_FRAMES);
    link->frame_count--;
    if (status != TENDON_OK) {
        link->frame_count = 0;
        link->device->counters.link_errors++;
    }
}

static const tendon_obvious_sender_handler sending = {on_write, on_done};

/* ---- from the connection ---- */

static bool on_message(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    tendon_simulated_obvious_link *link = context;
    return link->device->on_frame(link, frame, length, now);
}

static void on_error(void *context, tendon_status status) {
    tendon_simulated_obvious_link *link = context;
    (void)status;
    link->device->counters.segment_errors++;
}

static void on_control(void *context, const tendon_obvious_control *control, uint64_t now) {
    tendon_simulated_obvious_link *link = context;
    tendon_obvious_sender_control(&link->sender, control, now);
}

static uint16_t credit_of(const tendon_simulated_obvious *device, uint16_t credit) {
    if (device->pause_until != 0) {
        return 0;
    }
    return device->credit != 0 && device->credit < credit ? device->credit : credit;
}

static void on_send(void *context, const uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE]) {
    tendon_simulated_obvious_link *link = context;
    uint8_t out[TENDON_OBVIOUS_CONTROL_SIZE];
    memcpy(out, control, sizeof out);
    uint16_t credit = credit_of(link->device, (uint16_t)(out[CREDIT_AT] | (uint32_t)out[CREDIT_AT + 1] << 8));
    out[CREDIT_AT] = (uint8_t)(credit & 0xFFu);
    out[CREDIT_AT + 1] = (uint8_t)(credit >> 8);
    queue_control(link, out);
}

static const tendon_obvious_receiver_handler receiving = {on_message, on_error, on_control, on_send};

void tendon_simulated_obvious_link_open(tendon_simulated_obvious_link *link, tendon_simulated_obvious *device,
                                        tendon_gatt_connection *connection) {
    memset(link, 0, sizeof *link);
    link->device = device;
    link->connection = connection;
    link->frame_max = TENDON_OBVIOUS_FRAME_MAX;
    tendon_obvious_receiver_init(&link->receiver, link->memory, sizeof link->memory, &receiving, link);
    tendon_obvious_sender_init(&link->sender, &sending, link);
}

/* What HELLO announced applies after the call of the receiver in which it came. */
static void apply_limits(tendon_simulated_obvious_link *link) {
    if (link->limits) {
        link->limits = false;
        tendon_obvious_receiver_set_limits(&link->receiver, link->device->options.window, link->frame_max);
        tendon_obvious_sender_set_window(&link->sender, link->gateway_window);
    }
}

void tendon_simulated_obvious_link_receive(tendon_simulated_obvious_link *link, const uint8_t *value, size_t length,
                                           uint64_t now) {
    if (takes(link->device, &link->device->deaf_next)) {
        return;
    }
    link->now = now;
    link->inside = true; /* the response to the write comes before what it causes */
    tendon_obvious_receiver_set_mtu(&link->receiver, link->connection->bearer->mtu);
    tendon_obvious_receiver_segment(&link->receiver, value, length, now);
    apply_limits(link);
    link->inside = false;
}

void tendon_simulated_obvious_link_resume(tendon_simulated_obvious_link *link) {
    tendon_obvious_control ack;
    if (tendon_obvious_receiver_pending_ack(&link->receiver, &ack)) {
        uint8_t out[TENDON_OBVIOUS_CONTROL_SIZE];
        tendon_obvious_encode_control(&ack, out);
        on_send(link, out);
    }
}

/* ---- out ---- */

void tendon_simulated_obvious_link_queue(tendon_simulated_obvious_link *link, const uint8_t *frame, size_t length) {
    if (link->frame_count == TENDON_SIMULATED_OBVIOUS_FRAMES || length > TENDON_SIMULATED_OBVIOUS_RESPONSE_MAX) {
        link->device->counters.dropped++;
        return;
    }
    uint8_t last = (uint8_t)((link->frame_first + link->frame_count) % TENDON_SIMULATED_OBVIOUS_FRAMES);
    memcpy(link->frames[last].bytes, frame, length);
    link->frames[last].length = (uint16_t)length;
    link->frame_count++;
}

static void send_controls(tendon_simulated_obvious_link *link) {
    while (link->control_count > 0 && !link->blocked) {
        if (put(link, link->controls[link->control_first], TENDON_OBVIOUS_CONTROL_SIZE) == TENDON_ERROR_WOULD_BLOCK) {
            return;
        }
        link->control_first = (uint8_t)((link->control_first + 1) % TENDON_SIMULATED_OBVIOUS_CONTROLS);
        link->control_count--;
    }
}

void tendon_simulated_obvious_link_flush(tendon_simulated_obvious_link *link, uint64_t now) {
    link->now = now;
    send_controls(link);
    if (link->blocked) {
        return;
    }
    if (link->asks) {
        link->asks = false;
        tendon_obvious_sender_writable(&link->sender, now);
    }
    while (link->frame_count > 0 && tendon_obvious_sender_deadline(&link->sender) == UINT64_MAX) {
        (void)tendon_obvious_sender_start(&link->sender, link->frames[link->frame_first].bytes,
                                          link->frames[link->frame_first].length, link->connection->bearer->mtu, now);
    }
}

bool tendon_simulated_obvious_link_idle(const tendon_simulated_obvious_link *link) {
    return link->frame_count == 0 && link->control_count == 0;
}

void tendon_simulated_obvious_link_tick(tendon_simulated_obvious_link *link, uint64_t now) {
    link->now = now;
    tendon_obvious_receiver_tick(&link->receiver, now);
    tendon_obvious_sender_tick(&link->sender, now);
    tendon_simulated_obvious_link_flush(link, now);
}

uint64_t tendon_simulated_obvious_link_deadline(const tendon_simulated_obvious_link *link) {
    uint64_t sending_at = tendon_obvious_sender_deadline(&link->sender);
    uint64_t receiving_at = tendon_obvious_receiver_deadline(&link->receiver);
    bool due = link->control_count > 0 || link->asks || (link->frame_count > 0 && sending_at == UINT64_MAX);
    if (due && !link->blocked) {
        return 0;
    }
    return sending_at < receiving_at ? sending_at : receiving_at;
}
