/* SPDX-License-Identifier: MIT */
/* Simulated Obvious device: frames, and the requests that concern neither features nor transfers nor firmware. */
#include "obvious_parts.h"

#include "tendon/base/crc.h"

enum { OP_HELLO = 0x01, OPCODE_MAX = 0x33, NOT_ON_WIRE = 0xFFFF };
enum { PROTO = 1, FRAME_MAX_LEAST = 256, PING_LENGTH_MAX = 64, HELLO_WINDOW_MAX = 32 };

/* ---- requests ---- */

static uint8_t hello(obvious_request *r) {
    tendon_simulated_obvious *device = r->device;
    uint8_t least = tendon_read_u8(&r->in), most = tendon_read_u8(&r->in);
    uint16_t frame_max = tendon_read_u16le(&r->in);
    uint8_t window = tendon_read_u8(&r->in), reserved = tendon_read_u8(&r->in);
    if (least == 0 || least > most || reserved != 0 || frame_max < FRAME_MAX_LEAST ||
        frame_max > TENDON_OBVIOUS_FRAME_MAX || window == 0 || window > HELLO_WINDOW_MAX) {
        return BAD_PARAM;
    }
    if (least > PROTO) {
        return NOT_SUPPORTED;
    }
    r->link->ready = true;
    r->link->limits = true;
    r->link->gateway_window = window;
    r->link->frame_max = frame_max < device->options.frame_max ? frame_max : device->options.frame_max;
    tendon_write_u8(&r->out, PROTO);
    tendon_write_u16le(&r->out, device->options.frame_max);
    tendon_write_u8(&r->out, device->options.window);
    tendon_write_u32le(&r->out, tendon_simulated_obvious_caps(device));
    tendon_write_u32le(&r->out, device->boot_id);
    return OK;
}

static uint8_t newest_key(const tendon_obvious_key_ring *ring) {
    uint8_t newest = 0;
    for (size_t i = 0; i < ring->count; i++) {
        newest = ring->keys[i].id > newest && !ring->keys[i].revoked ? ring->keys[i].id : newest;
    }
    return newest;
}

/* A request that is answered wrongly on demand. */
static bool lies(tendon_simulated_obvious *device, tendon_simulated_obvious_lie lie) {
    if (device->lie_next == 0 || device->lie != lie) {
        return false;
    }
    device->lie_next--;
    device->counters.faults++;
    return true;
}

static uint8_t get_device_info(obvious_request *r) {
    tendon_simulated_obvious *device = r->device;
    const tendon_simulated_obvious_session *session = tendon_simulated_obvious_current(device, r->now);
    uint32_t flags = (device->provisioned ? 1u : 0) | (tendon_simulated_obvious_in_trial(device) ? 2u : 0) |
                     (session->state == STATE_RECEIVING ? 4u : 0) | (r->link->connection->bonded ? 8u : 0);
    tendon_write_u32le(&r->out, device->options.product + lies(device, TENDON_SIMULATED_OBVIOUS_LIE_PRODUCT));
    tendon_write_u64le(&r->out, device->options.serial + lies(device, TENDON_SIMULATED_OBVIOUS_LIE_SERIAL));
    tendon_write_u32le(&r->out, tendon_simulated_obvious_version(device));
    tendon_write_u32le(&r->out, device->options.bootloader);
    tendon_write_u32le(&r->out, device->options.stack);
    tendon_write_u32le(&r->out, 1010000);
    tendon_write_u64le(&r->out, device->counter);
    tendon_write_u8(&r->out, (uint8_t)flags);
    tendon_write_u8(&r->out, device->battery);
    tendon_write_u8(&r->out, 2);
    tendon_write_u8(&r->out, newest_key(device->options.keys));
    return OK;
}

static uint8_t ping(obvious_request *r) {
    tendon_write_bytes(&r->out, tendon_read_bytes(&r->in, r->length), r->length);
    return OK;
}

static uint8_t get_nonce(obvious_request *r) {
    uint8_t bytes[TENDON_OBVIOUS_NONCE_SIZE];
    tendon_writer writer = tendon_writer_make(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes / 4; i++) {
        tendon_write_u32le(&writer, tendon_simulated_obvious_random(r->device));
    }
    tendon_obvious_nonce_set(&r->link->nonce, bytes, r->now);
    tendon_write_bytes(&r->out, bytes, sizeof bytes);
    return OK;
}

static uint8_t get_time(obvious_request *r) {
    uint32_t passed = (uint32_t)(r->now / 1000) - r->device->time_base;
    tendon_write_u32le(&r->out, r->device->time != 0 ? r->device->time + passed : 0);
    return OK;
}

static uint8_t set_time(obvious_request *r) {
    r->device->time = tendon_read_u32le(&r->in);
    r->device->time_base = (uint32_t)(r->now / 1000);
    return OK;
}

/* By opcode. A length of NOT_ON_WIRE is checked by the request itself. */
static const struct {
    uint8_t opcode, caps;
    uint16_t least, most;
    uint8_t (*perform)(obvious_request *r);
} requests[] = {
    {OP_HELLO, 0, 14, 14, hello},
    {0x02, 0, 0, 0, get_device_info},
    {0x03, 0, 0, PING_LENGTH_MAX, ping},
    {0x04, CAP_NONCE, 0, 0, get_nonce},
    {0x05, 0, 0, 0, get_time},
    {0x06, 0, 4, 4, set_time},
    {0x10, CAP_FEATURES, 1, NOT_ON_WIRE, tendon_simulated_obvious_feature_status},
    {0x11, CAP_TOGGLE, 1, NOT_ON_WIRE, tendon_simulated_obvious_feature_toggle},
    {0x12, CAP_FEATURES, 0, 0, tendon_simulated_obvious_feature_counter},
    {0x20, 0, 46, NOT_ON_WIRE, tendon_simulated_obvious_xfer_begin},
    {0x21, 0, 9, NOT_ON_WIRE, tendon_simulated_obvious_xfer_data},
    {0x22, 0, 4, 4, tendon_simulated_obvious_xfer_status},
    {0x23, 0, 4, 4, tendon_simulated_obvious_xfer_end},
    {0x24, 0, 5, 5, tendon_simulated_obvious_xfer_abort},
    {0x30, CAP_OTA | CAP_TRIAL, 6, 6, tendon_simulated_obvious_fw_activate},
    {0x31, CAP_OTA | CAP_TRIAL, 5, 5, tendon_simulated_obvious_fw_confirm},
    {0x32, CAP_OTA | CAP_TRIAL, 0, 0, tendon_simulated_obvious_fw_state},
    {OPCODE_MAX, 0, 2, 2, tendon_simulated_obvious_reboot_request},
};
enum { REQUESTS = sizeof requests / sizeof requests[0] };

static uint8_t perform(obvious_request *r, uint8_t opcode) {
    tendon_simulated_obvious *device = r->device;
    size_t row = 0;
    while (row < REQUESTS && requests[row].opcode != opcode) {
        row++;
    }
    if (!r->link->ready && opcode != OP_HELLO) {
        return NOT_READY;
    }
    if (row == REQUESTS) {
        return UNKNOWN_OPCODE;
    }
    if ((requests[row].caps & ~tendon_simulated_obvious_caps(device)) != 0) {
        return NOT_SUPPORTED;
    }
    if (r->length < requests[row].least || r->length > requests[row].most) {
        return BAD_LENGTH;
    }
    if (device->reject_next > 0) {
        device->reject_next--;
        return device->reject_status;
    }
    return requests[row].perform(r);
}

/* ---- frames ---- */

static void report_trial(tendon_simulated_obvious_link *link, uint64_t now) {
    uint8_t frame[FRAME_SIZE_MIN + 6];
    tendon_writer writer = tendon_writer_make(frame + HEADER_SIZE, 6);
    tendon_write_u32le(&writer, tendon_simulated_obvious_version(link->device));
    tendon_write_u16le(&writer, tendon_simulated_obvious_trial_left(link->device, now));
    tendon_simulated_obvious_link_queue(
        link, frame, tendon_simulated_obvious_seal(frame, FLAG_EVENT, 0, EVT_FW_TRIAL, 0, writer.length));
}

/* What follows a response: the announcement of a restart, the notice of a trial. */
static void follow(tendon_simulated_obvious_link *link, uint8_t opcode, uint8_t status, uint64_t now) {
    tendon_simulated_obvious *device = link->device;
    if (device->announce != 0) {
        uint8_t reason = device->announce;
        device->announce = 0;
        tendon_simulated_obvious_restart(device, reason, device->announce_ms, now);
    } else if (opcode == OP_HELLO && status == OK && tendon_simulated_obvious_in_trial(device)) {
        report_trial(link, now);
    }
}

static void answer(tendon_simulated_obvious_link *link, const uint8_t *frame, size_t length, uint64_t now) {
    tendon_simulated_obvious *device = link->device;
    uint8_t out[TENDON_SIMULATED_OBVIOUS_RESPONSE_MAX], opcode = frame[6];
    obvious_request r = {.device = device, .link = link, .length = length - FRAME_SIZE_MIN, .now = now};
    r.in = tendon_reader_make(frame + HEADER_SIZE, r.length);
    r.out = tendon_writer_make(out + HEADER_SIZE, sizeof out - FRAME_SIZE_MIN);
    uint16_t corr = (uint16_t)(frame[4] | (uint32_t)frame[5] << 8);
    uint8_t status = perform(&r, opcode);
    if (status == OK && r.out.length + FRAME_SIZE_MIN > link->frame_max) {
        status = TOO_LARGE;
    }
    size_t payload = status == OK || status == BAD_OFFSET ? r.out.length : 0;
    size_t size = tendon_simulated_obvious_seal(out, status == OK ? FLAG_RESPONSE : FLAG_RESPONSE | FLAG_ERROR, corr,
                                                opcode, status, payload);
    device->counters.requests += status == OK;
    device->counters.refusals += status != OK;
    if (status != NOT_READY) { /* the same request is executed after HELLO */
        tendon_simulated_obvious_keep(&link->kept, frame, length, out, size);
    }
    if (!device->options.mute) {
        tendon_simulated_obvious_link_queue(link, out, size);
    }
    follow(link, opcode, status, now);
}

/* The checks of a frame; their order does not show, because all have the same answer. */
static bool is_valid(const uint8_t *frame, size_t length) {
    tendon_reader reader = tendon_reader_make(frame, HEADER_SIZE);
    bool good = tendon_read_u8(&reader) == 'O' && tendon_read_u8(&reader) == 'B';
    good = tendon_read_u8(&reader) == FRAME_VERSION && good;
    uint8_t flags = tendon_read_u8(&reader);
    uint16_t corr = tendon_read_u16le(&reader);
    (void)tendon_read_u8(&reader);
    uint8_t status = tendon_read_u8(&reader);
    good = tendon_read_u16le(&reader) + (size_t)FRAME_SIZE_MIN == length && good;
    tendon_reader end = tendon_reader_make(frame + length - CRC_SIZE, CRC_SIZE);
    good = tendon_read_u32le(&end) == tendon_crc32(0, frame, length - CRC_SIZE) && good;
    bool response = (flags & FLAG_RESPONSE) != 0, event = (flags & FLAG_EVENT) != 0;
    bool error = (flags & FLAG_ERROR) != 0;
    return good && (flags & ~FLAGS_KNOWN) == 0 && !(response && event) && (corr == 0) == event &&
           error == (status != 0) && (response || !error);
}

bool tendon_simulated_obvious_frame(tendon_simulated_obvious_link *link, const uint8_t *frame, size_t length,
                                    uint64_t now) {
    tendon_simulated_obvious *device = link->device;
    if (length < FRAME_SIZE_MIN || length > link->frame_max || !is_valid(frame, length)) {
        device->counters.bad_frames++;
        return false;
    }
    if (frame[3] != 0) { /* a gateway sends requests only */
        device->counters.ignored++;
        return true;
    }
    size_t kept_length = 0;
    const uint8_t *kept = tendon_simulated_obvious_kept(&link->kept, frame, length, &kept_length);
    if (kept != NULL) {
        device->counters.repeats++;
        if (!device->options.mute) {
            tendon_simulated_obvious_link_queue(link, kept, kept_length);
        }
        return true;
    }
    answer(link, frame, length, now);
    return true;
}
