/* SPDX-License-Identifier: MIT */
/*
 * An Obvious session and a small scripted device in the air. The device answers each request from the members below;
 * tests change them. What the session reports is kept in the trace.
 */
#ifndef OBVIOUS_FIXTURE_H
#define OBVIOUS_FIXTURE_H

#include "obvious_trace.h"

#include "tendon/devices/obvious.h"
#include "tendon/host.h"
#include "tendon/simulate/memory_radio.h"

enum { FIXTURE_OBJECT_MAX = 70000, FIXTURE_QUEUE = 8, FIXTURE_FEATURES = 80, FIXTURE_SENT_MAX = 600 };

struct obvious_fixture;

typedef struct fixture_device {
    /* GATT */
    uint8_t data_properties, status_value[8];
    size_t status_length;
    bool without_service, without_status, encrypted, status_unanswered;
    bool status_open;       /* readable without encryption */
    unsigned refuse_writes; /* so many Write Requests */
    /* what it answers */
    uint8_t error[256];          /* status of the response to an opcode */
    bool mute[256];              /* no response */
    const uint8_t *payload[256]; /* instead of its own: payload_length bytes, lent */
    size_t payload_length[256];
    unsigned times[256]; /* requests so far */
    uint8_t proto, window;
    uint16_t max_frame;
    uint32_t caps, boot_id, product, fw;
    uint64_t serial, counter;
    uint8_t flags, battery;
    tendon_obvious_feature features[FIXTURE_FEATURES];
    size_t feature_count;
    /* transfer */
    uint32_t session, offset, chunk_max, resume_at;
    uint8_t object[FIXTURE_OBJECT_MAX], begin[46 + 136];
    size_t begin_length, obj, size;
    uint8_t xfer_state, end_result, end_flags;
    bool loops;          /* BAD_OFFSET to all data */
    uint32_t bad_offset; /* and this in it, unless 0 */
    bool swallows_end;   /* XFER_END is executed, without a response */
    /* firmware */
    uint32_t active, staged, rollback, epoch;
    uint8_t active_state, staged_state;
    bool reboots;      /* after FW_ACTIVATE and REBOOT */
    uint64_t reset_at; /* it disconnects then; UINT64_MAX */
    void (*on_reset)(struct obvious_fixture *f);
    /* radio */
    unsigned loss, duplication, reordering;      /* percent of segments, in both directions */
    uint8_t held[2][TENDON_OBVIOUS_SEGMENT_MAX]; /* a segment that comes after the next one, or with the next tick */
    size_t held_length[2];
    uint64_t held_until;
    dice random;
    /* its own */
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[12];
    tendon_gatt_connection connection;
    uint16_t cccds[4];
    tendon_att_bearer *bearer;
    tendon_bearer_io io; /* of the bearer */
    uint16_t data, status;
    tendon_obvious_receiver receiver;
    tendon_obvious_sender sender;
    uint8_t memory[TENDON_OBVIOUS_RECEIVER_MEMORY];
    uint8_t queue[FIXTURE_QUEUE][TENDON_OBVIOUS_FRAME_MAX];
    size_t lengths[FIXTURE_QUEUE], queued;
    uint8_t sent[FIXTURE_SENT_MAX]; /* opcodes of the requests, in order */
    size_t sent_count;
    uint8_t last[TENDON_OBVIOUS_FRAME_MAX]; /* request */
    size_t last_length;
    uint8_t answered[TENDON_OBVIOUS_FRAME_MAX]; /* to the request with the id last_corr */
    size_t answered_length;
    uint16_t answered_corr, swallowed;
    unsigned commands, writes; /* segments that arrived in either way */
    uint64_t now;
} fixture_device;

typedef struct obvious_fixture {
    uint64_t now;
    tendon_memory_radio air;
    tendon_memory_radio_device devices[1];
    fixture_device device;
    tendon_obvious_session session;
    uint8_t *memory;
    unsigned opened, unusable, closed;
    tendon_status last_status, last_cause;
    bool quiet; /* events of the session are not traced */
    void (*on_session_event)(struct obvious_fixture *f, const tendon_obvious_session_event *event);
    void *owner; /* of the tests */
} obvious_fixture;

/* frame_max 4096, window 8, a bonded device that supports everything. free it with fixture_free(). */
obvious_fixture *fixture_new(void);
obvious_fixture *fixture_new_with(uint16_t frame_max, uint8_t window);
void fixture_free(obvious_fixture *f);
/* Everything that is due up to so many ms from now. */
void fixture_run(obvious_fixture *f, uint64_t ms);
/* Connects; the session is open afterwards, and the trace is empty. */
void fixture_open(obvious_fixture *f);
/* The lowest @p width bytes of a value, little endian. Returns the place behind them. */
size_t put_number(uint8_t *out, size_t at, uint64_t value, size_t width);
/* The device sends an event, or any frame. */
void fixture_event(obvious_fixture *f, uint8_t opcode, const uint8_t *payload, size_t length);
/* The device sends a segment as it is. */
void fixture_segment(obvious_fixture *f, const uint8_t *segment, size_t length);
/* Number of requests with an opcode that the device received since the start. */
unsigned fixture_times(const obvious_fixture *f, uint8_t opcode);
/* The device disconnects. */
void fixture_drop(obvious_fixture *f);

#endif
