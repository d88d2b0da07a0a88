/* SPDX-License-Identifier: MIT */
/* Obvious: recorded runs of the sender and the receiver of messages, each with a peer that does anything. */
#include "test_recording.h"

#include "tendon/devices/obvious.h"

enum { RUNS = 12, LIVES = 40, STEPS = 120, MESSAGE_MAX = 1200 };

static recording *recorded;
static uint8_t message[MESSAGE_MAX];

static void note_control(const char *what, const tendon_obvious_control *c) {
    note(recorded, "%s %d of %d: reason %d, next %d, credit %d, bitmap %x", what, c->type, c->msgseq, c->reason,
         c->next, c->credit, (unsigned)c->bitmap);
}

/* ---- the sender ---- */

static tendon_status write_segment(void *context, const uint8_t *segment, size_t length) {
    static const tendon_status results[] = {TENDON_OK, TENDON_ERROR_WOULD_BLOCK, TENDON_ERROR_DISCONNECTED};
    unsigned what = choose(recorded, 24);
    (void)context;
    note(recorded, "write, result %u", what);
    note_bytes(recorded, "segment", segment, length < 12 ? length : 12);
    return results[what > 2 ? 0 : what];
}

static void on_done(void *context, tendon_status status, uint64_t now) {
    (void)context;
    note(recorded, "done %d at %u", status, (unsigned)now);
}

static const tendon_obvious_sender_handler sending = {write_segment, on_done};

/* Mostly what a peer acknowledges that received some of what was sent. */
static tendon_obvious_control some_control(const tendon_obvious_sender *s) {
    recording *r = recorded;
    static const uint8_t types[] = {1, 1, 1, 1, 1, 1, 2, 3, 4, 4};
    tendon_obvious_control c = {.msgseq = (uint8_t)(s->msgseq + (choose(r, 12) == 0))};
    c.type = types[choose(r, sizeof types)];
    c.reason = (uint8_t)choose(r, 10);
    c.next = (uint16_t)(choose(r, 3) == 0 ? choose(r, 90) : s->next + choose(r, 5));
    c.credit = (uint16_t)(choose(r, 5) == 0 ? 0 : 1 + choose(r, 9));
    c.bitmap = choose(r, 3) == 0 ? choose(r, 64) : 0;
    return c;
}

static void sender_life(recording *r, unsigned number) {
    tendon_obvious_sender s;
    uint64_t now = 1000 + number;
    memset(&s, 0xA5, sizeof s);
    tendon_obvious_sender_init(&s, &sending, NULL);
    for (int i = 0; i < STEPS; i++) {
        unsigned what = choose(r, 16);
        uint64_t due = tendon_obvious_sender_deadline(&s);
        if (what < 3) {
            size_t length = 12 + choose(r, choose(r, 2) == 0 ? 100 : MESSAGE_MAX - 12), mtu = 20 + choose(r, 60);
            note(r, "start %u at %u: %d", (unsigned)length, (unsigned)mtu,
                 tendon_obvious_sender_start(&s, message, length, mtu, now));
        } else if (what < 9) {
            const tendon_obvious_control c = some_control(&s);
            note_control("control", &c);
            tendon_obvious_sender_control(&s, &c, now);
        } else if (what < 11) {
            tendon_obvious_sender_writable(&s, now);
        } else if (what == 11) {
            tendon_obvious_sender_set_window(&s, choose(r, 20));
        } else if (what == 12 && choose(r, 6) == 0) {
            tendon_obvious_sender_cancel(&s);
        } else if (due != UINT64_MAX) {
            now = due > now && choose(r, 4) != 0 ? due - (choose(r, 4) == 0) : now;
        }
        tendon_obvious_sender_tick(&s, now);
        note(r, "at %u due %lld: active %d, message %d, %d sent of %d, next %d, blocked %d, paused %d, waiting %d",
             (unsigned)now, (long long)tendon_obvious_sender_deadline(&s), s.active, s.msgseq, (int)s.sent,
             (int)s.count, (int)s.next, s.blocked, s.paused, s.waiting);
        now += choose(r, 3) * choose(r, 200);
    }
}

/* ---- the receiver ---- */

static bool on_message(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    (void)context;
    note(recorded, "message of %u at %u", (unsigned)length, (unsigned)now);
    note_bytes(recorded, "frame", frame, length);
    return choose(recorded, 6) != 0;
}

static void on_error(void *context, tendon_status status) {
    (void)context;
    note(recorded, "error %d", status);
}

static void on_control(void *context, const tendon_obvious_control *control, uint64_t now) {
    (void)context, (void)now;
    note_control("received", control);
}

static void send_control(void *context, const uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE]) {
    (void)context;
    note_bytes(recorded, "send", control, TENDON_OBVIOUS_CONTROL_SIZE);
}

static const tendon_obvious_receiver_handler receiving = {on_message, on_error, on_control, send_control};

/* A segment of the message that is sent, or near it. */
static void feed(tendon_obvious_receiver *receiver, size_t length, size_t size, uint8_t msgseq, size_t *index,
                 uint64_t now) {
    recording *r = recorded;
    uint8_t segment[TENDON_OBVIOUS_SEGMENT_MAX];
    size_t count = tendon_obvious_segment_count(length, size), which = *index;
    unsigned order = choose(r, 10); /* lost, or out of their order */
    which = order == 0 ? choose(r, (unsigned)count) : order == 1 ? which + 1 : which;
    which = which < count ? which : count - 1;
    *index = which + 1;
    bool ack = choose(r, 3) == 0;
    tendon_status written = tendon_obvious_encode_segment(message, length, size, msgseq, which, ack, segment);
    assert_true(written > 0);
    size_t part = (size_t)written;
    for (unsigned changes = choose(r, 8) == 0; changes > 0; changes--) {
        segment[choose(r, 6)] = (uint8_t)choose(r, choose(r, 2) == 0 ? 8 : 256);
    }
    part -= choose(r, 20) == 0 ? choose(r, (unsigned)part) : 0;
    block exact = block_copy(segment, part);
    note_bytes(r, "segment", exact.data, part < 12 ? part : 12);
    tendon_obvious_receiver_segment(receiver, exact.data, part, now);
    free(exact.data);
}

static void receiver_life(recording *r, unsigned number) {
    static uint8_t memory[2000];
    tendon_obvious_receiver receiver;
    size_t size = 20 + choose(r, 30), length = 14, index = 0;
    uint8_t msgseq = (uint8_t)choose(r, 256);
    uint64_t now = 1000 + number;
    memset(&receiver, 0xA5, sizeof receiver);
    tendon_obvious_receiver_init(&receiver, memory, 200 + choose(r, sizeof memory - 200), &receiving, NULL);
    tendon_obvious_receiver_set_mtu(&receiver, size + 3);
    for (int i = 0; i < STEPS; i++) {
        unsigned what = choose(r, 24);
        uint64_t due = tendon_obvious_receiver_deadline(&receiver);
        tendon_obvious_control pending;
        if (what < 3 || index >= tendon_obvious_segment_count(length, size)) {
            msgseq = (uint8_t)(msgseq + choose(r, 3)); /* the next message, the same again, or not the next */
            index = 0;
            length = 14 + choose(r, choose(r, 3) == 0 ? MESSAGE_MAX - 14 : 200);
        } else if (what == 3) {
            size_t window = 1 + choose(r, 32), most = 256 + choose(r, 1000);
            tendon_obvious_receiver_set_limits(&receiver, window, most);
        } else if (what == 4 && choose(r, 3) == 0) {
            tendon_obvious_receiver_reset(&receiver);
        } else if (what == 5) {
            static const char *const controls[] = {"44 01 0100 0300 0000 0000 08 00", "44 01 0300 0000 0000 0000 00 00",
                                                   "44 02 0209 0000 0000 0000 00 00"};
            block b = changed_value(r, controls, 3);
            tendon_obvious_receiver_segment(&receiver, b.data, b.length, now);
            free(b.data);
        } else if (what == 6 && due != UINT64_MAX) {
            now = due > now ? due - choose(r, 2) : now;
        } else if (what < 23) {
            feed(&receiver, length, size, msgseq, &index, now);
        }
        tendon_obvious_receiver_tick(&receiver, now);
        note(r, "at %u due %lld", (unsigned)now, (long long)tendon_obvious_receiver_deadline(&receiver));
        if (choose(r, 4) == 0 && tendon_obvious_receiver_pending_ack(&receiver, &pending)) {
            note_control("pending", &pending);
        }
        now += choose(r, 3) * choose(r, 60);
    }
}

static void play_sender(recording *r, unsigned number) {
    recorded = r;
    play_lives(r, number, LIVES, sender_life);
}

static void play_receiver(recording *r, unsigned number) {
    recorded = r;
    play_lives(r, number, LIVES, receiver_life);
}

static void a_sender_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x312EB6C0, 0xF69A3265, 0x6FF379AD, 0x3A2B22E2, 0x738A9F77, 0x976EEA1D,
        0x196D4146, 0xD30B0CF4, 0x741C1661, 0xE09D66BF, 0x373DBE14, 0xCDC89D77,
    };
    compare_recordings(known, RUNS, play_sender);
}

static void a_receiver_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x0A513C25, 0xC372777D, 0xC2A1D8BA, 0x3B744231, 0x22FF3A66, 0xEABBC6E1,
        0x23DD553F, 0x0D674A29, 0xA0CB3C71, 0x587745CD, 0xFBDFE668, 0x2105B086,
    };
    compare_recordings(known, RUNS, play_receiver);
}

int main(void) {
    for (size_t i = 0; i < sizeof message; i++) {
        message[i] = (uint8_t)(13 * i + i / 256);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sender_is_as_recorded),
        cmocka_unit_test(a_receiver_is_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
