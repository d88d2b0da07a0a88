/* SPDX-License-Identifier: MIT */
#include "first_sample.h"

#include <string.h>

enum { STEPS = 20000, IDLE_MS = 50, LIMIT_MS = 40000 };

first_sample first;
const tendon_address first_sample_address = {{0xC0, 0, 0, 0, 0, 1}, TENDON_ADDRESS_TYPE_RANDOM};

/* The families' sessions on a radio in memory: these are called by soak_families.c. */
tendon_session_link soak_link(soak *s) {
    (void)s;
    return tendon_memory_radio_link(&first.radio);
}

void soak_attach(soak *s, void *session) {
    s->attached = session;
    tendon_memory_radio_attach(&first.radio, s->family->inputs, session);
}

tendon_gatt_server *first_sample_server(void) {
    soak *s = &first.s;
    return s->family == &soak_bose        ? &s->device.bose.server
           : s->family == &soak_feelspace ? &s->device.feelspace.server
           : s->family == &soak_fjorden   ? &s->device.fjorden.server
           : s->family == &soak_obvious   ? &s->device.obvious.server
                                          : &s->device.activ5.server;
}

/* ---- the air ---- */

static tendon_status fly(first_sample_air *air, const uint8_t *pdu, size_t length) {
    if (first.interval_ms == 0) {
        return air->io.send(air->io.context, pdu, length);
    }
    if (air->count == TENDON_MEMORY_RADIO_QUEUE) {
        air->refused = true;
        return TENDON_ERROR_WOULD_BLOCK;
    }
    uint16_t slot = (uint16_t)((air->first + air->count++) % TENDON_MEMORY_RADIO_QUEUE);
    /* Events are counted from the connection; what becomes ready at an event is sent at the next. */
    uint64_t event = (first.now - first.connected) / first.interval_ms + 1;
    air->pdus[slot].due = first.connected + event * first.interval_ms;
    air->pdus[slot].length = (uint16_t)length;
    memcpy(air->pdus[slot].bytes, pdu, length);
    return TENDON_OK;
}

static bool is_cccd(uint16_t handle) {
    const tendon_gatt_attribute *attribute = tendon_gatt_find_attribute(first_sample_server(), handle);
    return attribute != NULL && attribute->cccd_index >= 0;
}

static tendon_status send_to_device(void *context, const uint8_t *pdu, size_t length) {
    uint8_t copy[TENDON_ATT_MTU_MAX], answer[5];
    if (first.to_device.count == TENDON_MEMORY_RADIO_QUEUE) { /* before anything changes for this PDU */
        return fly(&first.to_device, pdu, length);
    }
    (void)context;
    if (tendon_att_opcode_class(pdu[0]) == TENDON_ATT_CLASS_REQUEST) {
        first.requests++;
        if (first.on_request != NULL) {
            first.on_request(first.requests);
        }
    }
    memcpy(copy, pdu, length);
    size_t received = moved_table_receive(&first.table, copy, length, answer);
    first.subscriptions +=
        received == 1 && pdu[0] == TENDON_ATT_WRITE_REQUEST && is_cccd((uint16_t)(copy[1] | copy[2] << 8));
    if (received > 1) {
        return fly(&first.to_us, answer, received);
    }
    return received == 0 ? TENDON_OK : fly(&first.to_device, copy, length);
}

static tendon_status send_to_us(void *context, const uint8_t *pdu, size_t length) {
    uint8_t copy[TENDON_ATT_MTU_MAX];
    (void)context;
    memcpy(copy, pdu, length);
    return moved_table_send(&first.table, copy, length) ? fly(&first.to_us, copy, length) : TENDON_OK;
}

static tendon_status connected(void *device, tendon_att_bearer *bearer, uint64_t now) {
    first.connected = now;
    first.requests = first.subscriptions = 0;
    first.to_device = (first_sample_air){.io = first.radio.ours.io};
    first.to_us = (first_sample_air){.io = bearer->io};
    first.radio.ours.io = (tendon_bearer_io){&first, send_to_device};
    bearer->io = (tendon_bearer_io){&first, send_to_us};
    return first.device_ops->connected(device, bearer, now);
}

static uint64_t due(const first_sample_air *air) {
    return air->count == 0 || first.radio.peer == NULL ? UINT64_MAX : air->pdus[air->first].due;
}

/* Returns true if the other end can send again. */
static bool land(first_sample_air *air) {
    while (due(air) <= first.now &&
           air->io.send(air->io.context, air->pdus[air->first].bytes, air->pdus[air->first].length) == TENDON_OK) {
        air->first = (uint16_t)((air->first + 1) % TENDON_MEMORY_RADIO_QUEUE);
        air->count--;
    }
    bool again = air->refused && air->count < TENDON_MEMORY_RADIO_QUEUE;
    air->refused = air->refused && !again;
    return again;
}

/* ---- a connection ---- */

void first_sample_make(const soak_family *family, bool has_hash) {
    memset(&first, 0, sizeof first);
    first.now = 1000;
    first.s.family = family;
    first.s.paced = true;
    first.s.connection.peer = first_sample_address;
    tendon_peripheral_device device = family->make_device(&first.s);
    if (has_hash) {
        assert_true(tendon_gatt_add_generic_attribute(first_sample_server()) > 0);
    }
    first.device_ops = device.ops;
    first.ops = *device.ops;
    first.ops.connected = connected;
    device.ops = &first.ops;
    first.device = (tendon_memory_radio_device){.device = device, .address = first_sample_address, .present = true};
    tendon_memory_radio_init(&first.radio, &first.device, 1);
    tendon_memory_radio_set_target(&first.radio, &first_sample_address);
    family->make(&first.s);
}

void first_sample_use_cache(void) {
    tendon_gatt_cache_init(&first.cache, &first_sample_address, NULL);
    first.radio.cache = &first.cache;
}

void first_sample_step(void) {
    uint64_t next = tendon_memory_radio_deadline(&first.radio);
    next = next < due(&first.to_device) ? next : due(&first.to_device);
    next = next < due(&first.to_us) ? next : due(&first.to_us);
    uint64_t idle = first.now + IDLE_MS;
    first.now = next > idle ? idle : next > first.now ? next : first.now + 1;
    if (land(&first.to_device)) {
        tendon_att_bearer_writable(&first.radio.ours, first.now);
    }
    if (land(&first.to_us)) {
        tendon_att_bearer_writable(&first.radio.theirs, first.now);
        first.device_ops->writable(first.device.device.context, first.now);
    }
    tendon_memory_radio_tick(&first.radio, first.now);
}

bool first_sample_open(first_sample_result *result) {
    bool streams = false, was_connected = false;
    uint64_t limit = first.now + LIMIT_MS;
    first.s.ready = false;
    first.s.values = 0;
    assert_true(first.s.family->open(&first.s, first.now) >= 0);
    while (first.now < limit && first.s.values == 0 && !(was_connected && first.radio.peer == NULL)) {
        first_sample_step();
        was_connected = was_connected || first.radio.peer != NULL;
        if (first.s.ready && !streams) {
            streams = true;
            assert_true(first.s.family->stream(&first.s, first.now) >= 0);
        }
    }
    *result = (first_sample_result){first.requests, first.subscriptions, first.now - first.connected};
    return first.s.values > 0;
}

void first_sample_close(void) {
    first.s.family->close(&first.s, first.now);
    for (int i = 0; i < STEPS && first.radio.peer != NULL; i++) {
        first_sample_step();
    }
    assert_true(first.s.family->is_closed(&first.s));
}

first_sample_result first_sample_run(void) {
    first_sample_result result;
    assert_true(first_sample_open(&result));
    for (int i = 0; i < 20; i++) { /* what waited until nothing else was to be sent */
        first_sample_step();
    }
    first_sample_close();
    return result;
}
