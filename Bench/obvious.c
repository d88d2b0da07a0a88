/* SPDX-License-Identifier: MIT */
/*
 * How fast does a frame of 4096 bytes go through Obvious's receiver, in segments of an ATT MTU of 247 and of 517, and
 * through the CRC-32 that protects it? Limits: memcpy of the same segments; memcpy of the frame, and zlib's CRC-32. The
 * rates in GB/s are bytes / ns.
 */
#include "bench.h"

#include <string.h>
#include <tendon/base/crc.h>
#include <tendon/devices/obvious.h>
#include <zlib.h>

enum { FRAME = 4096, SEGMENTS = 20, WINDOW = 32 };

typedef struct segments {
    size_t size, count;
    uint8_t bytes[SEGMENTS][TENDON_OBVIOUS_SEGMENT_MAX];
    size_t length[SEGMENTS];
    tendon_obvious_receiver receiver;
    uint8_t number; /* of the next message */
    size_t messages;
} segments;

static uint8_t frame[FRAME], memory[FRAME];

static bool on_message(void *context, const uint8_t *message, size_t length, uint64_t now) {
    segments *s = context;
    (void)now;
    s->messages += length == FRAME ? 1 : 0;
    bench_keep(message);
    return true;
}

static void on_error(void *context, tendon_status status) {
    (void)context, (void)status;
}

static void on_control(void *context, const tendon_obvious_control *control, uint64_t now) {
    (void)context, (void)control, (void)now;
}

static void send_control(void *context, const uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE]) {
    (void)context;
    bench_keep(control);
}

static const tendon_obvious_receiver_handler handler = {on_message, on_error, on_control, send_control};

static void cut(segments *s, size_t mtu) {
    s->size = tendon_obvious_segment_size(mtu);
    s->count = tendon_obvious_segment_count(FRAME, s->size);
    for (size_t i = 0; i < s->count; i++) {
        bool asks = tendon_obvious_segment_requests_ack(i, s->count, WINDOW);
        s->length[i] = (size_t)tendon_obvious_encode_segment(frame, FRAME, s->size, 0, i, asks, s->bytes[i]);
    }
    tendon_obvious_receiver_init(&s->receiver, memory, sizeof memory, &handler, s);
    tendon_obvious_receiver_set_mtu(&s->receiver, mtu);
    tendon_obvious_receiver_set_limits(&s->receiver, WINDOW, FRAME);
}

static void reassemble(void *context, size_t count) {
    segments *s = context;
    size_t before = s->messages;
    for (size_t done = 0; done < count; done++) {
        for (size_t i = 0; i < s->count; i++) {
            s->bytes[i][1] = s->number; /* the number of the message, after the flags */
            tendon_obvious_receiver_segment(&s->receiver, bench_hide(s->bytes[i]), s->length[i], done);
        }
        s->number++;
    }
    if (s->messages - before != count) {
        __builtin_trap(); /* a benchmark of messages that were dropped says nothing */
    }
}

static void copy_segments(void *context, size_t count) {
    segments *s = context;
    for (size_t done = 0; done < count; done++) {
        uint8_t *end = memory;
        for (size_t i = 0; i < s->count; i++) {
            size_t header = i == 0 ? 6 : 4;
            memcpy(end, bench_hide(s->bytes[i]) + header, s->length[i] - header);
            end += s->length[i] - header;
        }
        bench_keep(memory);
    }
}

static void copy_frame(void *context, size_t count) {
    (void)context;
    for (size_t done = 0; done < count; done++) {
        memcpy(memory, bench_hide(frame), FRAME);
        bench_keep(memory);
    }
}

static void ours(void *context, size_t count) {
    (void)context;
    for (size_t done = 0; done < count; done++) {
        uint32_t crc = tendon_crc32(0, bench_hide(frame), FRAME);
        bench_keep(&crc);
    }
}

static void zlibs(void *context, size_t count) {
    (void)context;
    for (size_t done = 0; done < count; done++) {
        uint32_t crc = (uint32_t)crc32(0, bench_hide(frame), FRAME);
        bench_keep(&crc);
    }
}

int main(int argc, char **argv) {
    static segments small, large;
    static const bench_body bodies[] = {
        {"memcpy_frame", copy_frame, NULL, FRAME, 0},
        {"crc32_of_zlib", zlibs, NULL, FRAME, 0},
        {"crc32", ours, NULL, FRAME, 1},
        {"memcpy_segments_247", copy_segments, &small, FRAME, 0},
        {"reassembly_247", reassemble, &small, FRAME, 3},
        {"memcpy_segments_517", copy_segments, &large, FRAME, 0},
        {"reassembly_517", reassemble, &large, FRAME, 5},
    };
    for (size_t i = 0; i < FRAME; i++) {
        frame[i] = (uint8_t)(i * 7 + i / 256);
    }
    if (tendon_crc32(0, frame, FRAME) != crc32(0, frame, FRAME)) {
        return 1;
    }
    cut(&small, 247);
    cut(&large, 517);
    return bench_main(argc, argv, "obvious", bodies, sizeof bodies / sizeof bodies[0], 0);
}
