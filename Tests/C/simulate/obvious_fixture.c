/* SPDX-License-Identifier: MIT */
#include "obvious_fixture.h"

obvious_fixture o;
unsigned obvious_verified;
tendon_obvious_key obvious_key = {.id = 1, .bytes = {7, 7, 7}};
tendon_obvious_key_ring obvious_ring = {&obvious_key, 1, {signer_verify, signer_sha256, &obvious_verified}};

static const tendon_simulated_obvious_feature features[] = {{16, 1, 1, 0}, {17, 1, 2, 5}, {20, 0, 0, 0}};
static tendon_simulated_obvious_options chosen;

static void start(void) {
    assert_int_equal(tendon_simulated_obvious_init(&o.device, &chosen), TENDON_OK);
    o.seam = tendon_simulated_obvious_device(&o.device);
    o.seam.ops->tick(o.seam.context, o.now);
    memset(o.gateways, 0, sizeof o.gateways);
}

void obvious_new(const tendon_simulated_obvious_options *options) {
    memset(&o, 0, sizeof o);
    o.now = 5000;
    o.dice.state = 88172645463325252u;
    assert_int_equal(tendon_simulated_flash_init(&o.flash, o.memory, sizeof o.memory, OBVIOUS_PAGE), TENDON_OK);
    o.flash.wear = o.wear;
    tendon_simulated_flash_blank(&o.flash);
    chosen = options != NULL ? *options : (tendon_simulated_obvious_options){.counter = 41};
    chosen.flash = &o.flash;
    chosen.image_max = OBVIOUS_IMAGE_MAX;
    chosen.keys = chosen.keys != NULL ? chosen.keys : &obvious_ring;
    if (chosen.features == NULL) {
        chosen.features = features;
        chosen.feature_count = 3;
    }
    start();
}

void obvious_again(void) {
    chosen.seed += 0x9E3779B97F4A7C15u;
    start();
}

/* ---- the connection ---- */

static tendon_status take(void *context, const uint8_t *pdu, size_t length) {
    gateway *g = context;
    if (g->count == OBVIOUS_QUEUE) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    g->queue[g->count].length = (uint16_t)length;
    memcpy(g->queue[g->count].bytes, pdu, length);
    g->count++;
    return TENDON_OK;
}

static bool is_lost(gateway *g) {
    if (g->lost == 0) {
        return false;
    }
    o.dice.state ^= o.dice.state << 13;
    o.dice.state ^= o.dice.state >> 7;
    o.dice.state ^= o.dice.state << 17;
    return o.dice.state % g->lost == 0;
}

static tendon_status write_segment(void *context, const uint8_t *segment, size_t length) {
    gateway *g = context;
    uint8_t pdu[TENDON_ATT_MTU_MAX] = {o.device.options.with_response ? 0x12 : 0x52,
                                       (uint8_t)(o.device.data_handle & 0xFF), (uint8_t)(o.device.data_handle >> 8)};
    memcpy(pdu + 3, segment, length);
    if (g->connected && !is_lost(g)) {
        size_t before = g->count;
        (void)tendon_att_bearer_receive(&g->bearer, pdu, length + 3, o.now);
        if (pdu[0] == 0x12 && g->count > before) { /* the response is the first that a write causes */
            assert_int_equal(g->queue[before].bytes[0], 0x13);
        }
    }
    return TENDON_OK;
}

static void on_done(void *context, tendon_status status, uint64_t now) {
    gateway *g = context;
    (void)now;
    g->sent = true;
    g->outcome = status;
}

static bool on_message(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    gateway *g = context;
    (void)now;
    uint32_t crc = obvious_u32(frame + length - 4);
    if (crc != tendon_crc32(0, frame, length - 4)) {
        g->naks++;
        return false;
    }
    bool event = (frame[3] & 2) != 0;
    memcpy(event ? g->event : g->frame, frame, length);
    *(event ? &g->event_length : &g->length) = length;
    g->events += event;
    g->responses += !event;
    return true;
}

static void on_error(void *context, tendon_status status) {
    gateway *g = context;
    (void)status;
    g->errors++;
}

static void on_control(void *context, const tendon_obvious_control *control, uint64_t now) {
    gateway *g = context;
    tendon_obvious_sender_control(&g->sender, control, now);
}

static void send_control(void *context, const uint8_t *control) {
    (void)write_segment(context, control, TENDON_OBVIOUS_CONTROL_SIZE);
}

static const tendon_obvious_sender_handler sending = {write_segment, on_done};
static const tendon_obvious_receiver_handler receiving = {on_message, on_error, on_control, send_control};

static void hand_over(gateway *g, const uint8_t *pdu, size_t length) {
    unsigned handle = length >= 3 ? pdu[1] | (unsigned)pdu[2] << 8 : 0;
    if (pdu[0] == 0x1D) { /* an indication is confirmed */
        const uint8_t confirmation = 0x1E;
        (void)tendon_att_bearer_receive(&g->bearer, &confirmation, 1, o.now);
    }
    if (pdu[0] != 0x1B && pdu[0] != 0x1D) {
        return;
    }
    if (handle == o.device.data_handle && !g->deaf && !is_lost(g)) {
        tendon_obvious_receiver_segment(&g->receiver, pdu + 3, length - 3, o.now);
    } else if (handle == o.device.battery_handle) {
        g->battery = pdu[3];
    }
}

static void deliver(gateway *g) {
    while (g->count > 0) {
        uint8_t pdu[TENDON_ATT_MTU_MAX];
        size_t length = g->queue[0].length;
        memcpy(pdu, g->queue[0].bytes, length);
        g->count--;
        memmove(&g->queue[0], &g->queue[1], g->count * sizeof g->queue[0]);
        if (g->count == OBVIOUS_QUEUE - 1) {
            tendon_att_bearer_writable(&g->bearer, o.now);
            o.seam.ops->writable(o.seam.context, o.now);
        }
        hand_over(g, pdu, length);
    }
}

/* What is due now. False if there was nothing. */
static bool step(void) {
    bool any = false;
    if (o.seam.ops->deadline(o.seam.context) <= o.now) {
        o.seam.ops->tick(o.seam.context, o.now);
        any = true;
    }
    for (size_t i = 0; i < 3; i++) {
        gateway *g = &o.gateways[i];
        if (!g->connected) {
            continue;
        }
        any = any || g->count > 0;
        deliver(g);
        if (g->bearer.closed) {
            obvious_disconnect(i);
            any = true;
            continue;
        }
        tendon_obvious_receiver_tick(&g->receiver, o.now);
        tendon_obvious_sender_tick(&g->sender, o.now);
    }
    return any;
}

static uint64_t next_deadline(void) {
    uint64_t due = o.seam.ops->deadline(o.seam.context);
    for (size_t i = 0; i < 3; i++) {
        const gateway *g = &o.gateways[i];
        if (g->connected) {
            uint64_t a = tendon_obvious_receiver_deadline(&g->receiver);
            uint64_t b = tendon_obvious_sender_deadline(&g->sender);
            due = a < due ? a : due;
            due = b < due ? b : due;
        }
    }
    return due;
}

/* True if something was done, now or at a later time. */
static bool advance(uint64_t until) {
    if (step()) {
        return true;
    }
    uint64_t due = next_deadline();
    if (due > until) {
        return false;
    }
    o.now = due > o.now ? due : o.now;
    return true;
}

void obvious_run(uint64_t until) {
    for (unsigned steps = 0; advance(until); steps++) {
        assert_true(steps < 1000000);
    }
    o.now = until > o.now ? until : o.now;
}

void obvious_connect(size_t which, uint16_t mtu) {
    gateway *g = &o.gateways[which];
    unsigned lost = g->lost;
    memset(g, 0, sizeof *g);
    g->lost = lost;
    tendon_att_bearer_init(&g->bearer, (tendon_bearer_io){g, take}, 517);
    assert_int_equal(o.seam.ops->connected(o.seam.context, &g->bearer, o.now), TENDON_OK);
    g->connected = true;
    o.seam.ops->paired(o.seam.context, &g->bearer, o.now);
    tendon_obvious_receiver_init(&g->receiver, g->memory, sizeof g->memory, &receiving, g);
    tendon_obvious_sender_init(&g->sender, &sending, g);
    tendon_obvious_receiver_set_mtu(&g->receiver, mtu);
    if (mtu > 23) {
        const uint8_t pdu[3] = {0x02, (uint8_t)(mtu & 0xFF), (uint8_t)(mtu >> 8)};
        tendon_att_bearer_receive(&g->bearer, pdu, 3, o.now);
    }
    const uint8_t cccd[5] = {0x12, (uint8_t)(o.device.data_handle + 1), 0, o.device.options.indicates ? 2 : 1, 0};
    tendon_att_bearer_receive(&g->bearer, cccd, 5, o.now);
    obvious_run(o.now);
}

void obvious_disconnect(size_t which) {
    gateway *g = &o.gateways[which];
    if (g->connected) {
        g->connected = false;
        o.seam.ops->disconnected(o.seam.context, &g->bearer, TENDON_RADIO_ERROR_PEER_CLOSED, o.now);
        g->count = 0;
    }
}

/* ---- frames ---- */

uint32_t obvious_u32(const uint8_t *b) {
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void put_u32(uint8_t *out, uint32_t value) {
    for (size_t i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> 8 * i);
    }
}

size_t obvious_seal(uint8_t *out, uint8_t flags, uint16_t corr, uint8_t opcode, const uint8_t *payload, size_t length) {
    const uint8_t header[10] = {'O',
                                'B',
                                1,
                                flags,
                                (uint8_t)(corr & 0xFF),
                                (uint8_t)(corr >> 8),
                                opcode,
                                0,
                                (uint8_t)(length & 0xFF),
                                (uint8_t)(length >> 8)};
    memcpy(out, header, sizeof header);
    memcpy(out + 10, payload, length);
    put_u32(out + 10 + length, tendon_crc32(0, out, 10 + length));
    return 14 + length;
}

void obvious_send_frame(size_t which, const uint8_t *frame, size_t length) {
    gateway *g = &o.gateways[which];
    tendon_obvious_sender_cancel(&g->sender);
    memmove(g->out, frame, length);
    g->sent = false;
    g->length = 0;
    assert_int_equal(tendon_obvious_sender_start(&g->sender, g->out, length, g->bearer.mtu, o.now), TENDON_OK);
}

int obvious_ask(size_t which, uint8_t opcode, const void *payload, size_t length) {
    gateway *g = &o.gateways[which];
    uint8_t frame[TENDON_OBVIOUS_FRAME_MAX];
    uint64_t limit = o.now + 10000;
    if (!g->connected) {
        return -1;
    }
    g->corr++;
    obvious_send_frame(which, frame, obvious_seal(frame, 0, g->corr, opcode, payload, length));
    while (g->connected && (g->length == 0 || (g->frame[4] | g->frame[5] << 8) != g->corr)) {
        if (!advance(limit)) {
            return -1;
        }
    }
    if (g->length == 0) {
        return -1;
    }
    assert_int_equal(g->frame[6], opcode);
    assert_int_equal(g->frame[3], g->frame[7] == 0 ? 1 : 5);
    return g->frame[7];
}

int obvious_ask_hex(size_t which, uint8_t opcode, const char *payload) {
    block bytes = block_hex(payload);
    int status = obvious_ask(which, opcode, bytes.data, bytes.length);
    free(bytes.data);
    return status;
}

const uint8_t *obvious_payload(size_t which, size_t *length) {
    *length = o.gateways[which].length - 14;
    return o.gateways[which].frame + 10;
}

void obvious_expect(size_t which, const char *payload) {
    size_t length;
    const uint8_t *bytes = obvious_payload(which, &length);
    assert_hex(bytes, length, payload);
}

void obvious_expect_event(size_t which, uint8_t opcode, const char *payload) {
    const gateway *g = &o.gateways[which];
    assert_true(g->event_length >= 14);
    assert_int_equal(g->event[3], 2);
    assert_int_equal(g->event[6], opcode);
    assert_hex(g->event + 10, g->event_length - 14, payload);
}

void obvious_hello(size_t which) {
    gateway *g = &o.gateways[which];
    assert_int_equal(obvious_ask_hex(which, 0x01, "01 01 00 10 08 00 01 02 03 04 05 06 07 08"), 0);
    size_t length;
    const uint8_t *payload = obvious_payload(which, &length);
    tendon_obvious_sender_set_window(&g->sender, payload[3]);
    tendon_obvious_receiver_set_limits(&g->receiver, 8, (size_t)(payload[1] | payload[2] << 8));
}

/* ---- objects ---- */

void obvious_sign(uint8_t *object, size_t length, const char *domain) {
    mark_of(obvious_key.bytes, (const uint8_t *)domain, 13, object, length - 64, object + length - 64);
}

size_t obvious_package(uint8_t *out, uint8_t kind, uint8_t flags, uint64_t counter, const uint8_t *entries,
                       size_t count) {
    memset(out, 0, 60);
    memcpy(out, "OFP1\x01", 5);
    out[5] = kind;
    out[6] = 1;
    out[7] = flags;
    put_u32(out + 8, 1234);
    put_u32(out + 12, 0x55667788);
    put_u32(out + 16, 0x11223344);
    put_u32(out + 20, (uint32_t)counter);
    put_u32(out + 24, (uint32_t)(counter >> 32));
    out[56] = (uint8_t)(count & 0xFF);
    out[57] = (uint8_t)(count >> 8);
    out[58] = 8;
    if (count > 0) {
        memcpy(out + 60, entries, 8 * count);
    }
    obvious_sign(out, 124 + 8 * count, "OBVIOUS-OFP1");
    return 124 + 8 * count;
}

void obvious_manifest(uint8_t out[136], uint32_t version, uint32_t epoch, const uint8_t *image, size_t length) {
    memset(out, 0, 136);
    memcpy(out, "OFM1\x01\x01", 6);
    put_u32(out + 8, 1234);
    put_u32(out + 12, version);
    put_u32(out + 20, 999999999);
    put_u32(out + 24, (uint32_t)length);
    put_u32(out + 28, tendon_crc32(0, image, length));
    signer_sha256(NULL, image, length, out + 32);
    put_u32(out + 64, epoch);
    obvious_sign(out, 136, "OBVIOUS-OFM1");
}

int obvious_begin(size_t which, uint8_t obj, uint8_t flags, const uint8_t *data, size_t length,
                  const uint8_t *manifest) {
    uint8_t payload[46 + 136] = {obj, flags, 0xE8, 0x03}; /* chunk_max 1000 */
    put_u32(payload + 4, (uint32_t)length);
    put_u32(payload + 8, tendon_crc32(0, data, length));
    obvious_ring.crypto.sha256(obvious_ring.crypto.context, data, length, payload + 12);
    payload[44] = manifest != NULL ? 136 : 0;
    if (manifest != NULL) {
        memcpy(payload + 46, manifest, 136);
    }
    int status = obvious_ask(which, 0x20, payload, manifest != NULL ? 46 + 136 : 46);
    size_t got;
    const uint8_t *answer = obvious_payload(which, &got);
    if (status == 0) {
        assert_int_equal(got, 14);
        o.gateways[which].session = obvious_u32(answer);
    }
    return status;
}

int obvious_data(size_t which, uint32_t offset, const uint8_t *data, size_t length) {
    uint8_t payload[8 + 1000];
    assert_true(length <= 1000);
    put_u32(payload, o.gateways[which].session);
    put_u32(payload + 4, offset);
    memcpy(payload + 8, data, length);
    return obvious_ask(which, 0x21, payload, 8 + length);
}

int obvious_end(size_t which) {
    uint8_t payload[4];
    put_u32(payload, o.gateways[which].session);
    return obvious_ask(which, 0x23, payload, 4);
}

int obvious_transfer(size_t which, uint8_t obj, const uint8_t *data, size_t length, size_t chunk,
                     const uint8_t *manifest) {
    int status = obvious_begin(which, obj, 1, data, length, manifest);
    size_t got;
    if (status != 0) {
        return status;
    }
    uint32_t offset = obvious_u32(obvious_payload(which, &got) + 4);
    assert_true(offset <= length);
    assert_int_equal(obvious_u32(obvious_payload(which, &got) + 10), tendon_crc32(0, data, offset));
    while (offset < length) {
        size_t part = length - offset < chunk ? length - offset : chunk;
        status = obvious_data(which, offset, data + offset, part);
        if (status != 0) {
            return status;
        }
        offset += (uint32_t)part;
        assert_int_equal(obvious_u32(obvious_payload(which, &got)), offset);
    }
    return obvious_end(which);
}
