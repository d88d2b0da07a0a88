/* SPDX-License-Identifier: MIT */
/*
 * Obvious: requests of 4,000 bytes over a slow connection, under simulated time: ATT MTU 23, 100 ms in each direction.
 * A frame takes longer than the limit of time of its request.
 */
#include "test_bytes.h"

#include "tendon/devices/obvious.h"

enum { WAY_MS = 100, MTU = 23, QUEUE = 64, CHUNK = 4000, CHUNKS = 5, GATEWAY = 0, DEVICE = 1 };

typedef struct end {
    tendon_obvious_receiver receiver;
    tendon_obvious_sender sender;
    uint8_t memory[TENDON_OBVIOUS_RECEIVER_MEMORY], frame[TENDON_OBVIOUS_FRAME_MAX];
    struct {
        uint64_t due;
        size_t length;
        uint8_t bytes[TENDON_OBVIOUS_SEGMENT_MAX];
    } queue[QUEUE]; /* to this end */
    size_t first, count;
    struct end *peer;
} end;

static end ends[2];
static tendon_obvious_requests requests;
static tendon_obvious_request request;
static uint64_t now, slowest;
static unsigned executed, answered;
static bool mute;
static tendon_status ended;

static tendon_status write_segment(void *context, const uint8_t *segment, size_t length) {
    end *to = ((end *)context)->peer;
    assert_true(to->count < QUEUE);
    size_t at = (to->first + to->count++) % QUEUE;
    to->queue[at].due = now + WAY_MS;
    to->queue[at].length = length;
    memcpy(to->queue[at].bytes, segment, length);
    return TENDON_OK;
}

static void send_control(void *context, const uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE]) {
    (void)write_segment(context, control, TENDON_OBVIOUS_CONTROL_SIZE);
}

static void on_error(void *context, tendon_status status) {
    (void)context;
    assert_int_equal(status, TENDON_OBVIOUS_ERROR_SEG_DUP); /* nothing is lost */
}

static void on_control(void *context, const tendon_obvious_control *control, uint64_t time) {
    tendon_obvious_sender_control(&((end *)context)->sender, control, time);
}

/* The device answers XFER_DATA; the gateway takes responses. */
static bool on_message(void *context, const uint8_t *frame, size_t length, uint64_t time) {
    end *to = context;
    if (to == &ends[GATEWAY]) {
        return tendon_obvious_requests_message(&requests, frame, length, TENDON_OBVIOUS_FRAME_MAX, time);
    }
    tendon_obvious_frame asked;
    assert_int_equal(tendon_obvious_decode_frame(frame, length, TENDON_OBVIOUS_FRAME_MAX, &asked), TENDON_OK);
    executed++;
    if (!mute) {
        const tendon_obvious_frame header = {
            .flags = TENDON_OBVIOUS_RESPONSE, .opcode = asked.opcode, .corr = asked.corr};
        const tendon_obvious_payload payload = {.next = {executed * CHUNK}};
        tendon_status size = tendon_obvious_encode_frame(&header, &payload, to->frame, sizeof to->frame);
        assert_true(size > 0);
        assert_int_equal(tendon_obvious_sender_start(&to->sender, to->frame, (size_t)size, MTU, time), TENDON_OK);
    }
    return true;
}

static void on_sent(void *context, tendon_status status, uint64_t time) {
    assert_int_equal(status, TENDON_OK);
    if (context == &ends[GATEWAY]) {
        tendon_obvious_requests_sent(&requests, status, time);
    }
}

static tendon_status start_frame(void *context, const uint8_t *frame, size_t length, uint64_t time) {
    (void)context;
    return tendon_obvious_sender_start(&ends[GATEWAY].sender, frame, length, MTU, time);
}

static void cancel_frame(void *context) {
    (void)context;
    tendon_obvious_sender_cancel(&ends[GATEWAY].sender);
}

static void on_event(void *context, uint8_t opcode, const tendon_obvious_payload *payload, uint64_t time) {
    (void)context, (void)opcode, (void)payload, (void)time;
    fail();
}

static void on_done(void *context, tendon_obvious_request *done, const tendon_obvious_response *response,
                    uint64_t time) {
    (void)context, (void)done, (void)time;
    ended = response->status;
    answered += response->status == TENDON_OK;
}

static const tendon_obvious_receiver_handler receiver_handler = {on_message, on_error, on_control, send_control};
static const tendon_obvious_sender_handler sender_handler = {write_segment, on_sent};
static const tendon_obvious_requests_handler requests_handler = {start_frame, cancel_frame, on_event};

static void deliver(end *to) {
    while (to->count > 0 && to->queue[to->first].due <= now) {
        size_t at = to->first;
        to->first = (to->first + 1) % QUEUE;
        to->count--;
        tendon_obvious_receiver_segment(&to->receiver, to->queue[at].bytes, to->queue[at].length, now);
    }
}

static void run_request(const uint8_t *chunk) {
    const uint64_t begin = now;
    const tendon_obvious_payload payload = {.data = {.session = 1, .data = chunk, .length = CHUNK}};
    assert_int_equal(tendon_obvious_request_prepare(&request, TENDON_OBVIOUS_XFER_DATA, &payload, ends[GATEWAY].frame,
                                                    sizeof ends[GATEWAY].frame),
                     TENDON_OK);
    request.on_done = on_done;
    ended = 1;
    assert_int_equal(tendon_obvious_requests_add(&requests, &request, now), TENDON_OK);
    while (ended == 1) {
        now++;
        assert_true(now - begin < 100000);
        for (size_t i = 0; i < 2; i++) {
            deliver(&ends[i]);
            tendon_obvious_receiver_tick(&ends[i].receiver, now);
            tendon_obvious_sender_tick(&ends[i].sender, now);
        }
        tendon_obvious_requests_tick(&requests, now);
    }
    slowest = now - begin > slowest ? now - begin : slowest;
}

static void a_frame_may_take_longer_than_the_limit(void **state) {
    (void)state;
    static uint8_t chunk[CHUNK];
    for (size_t i = 0; i < 2; i++) {
        ends[i].peer = &ends[1 - i];
        tendon_obvious_receiver_init(&ends[i].receiver, ends[i].memory, sizeof ends[i].memory, &receiver_handler,
                                     &ends[i]);
        tendon_obvious_sender_init(&ends[i].sender, &sender_handler, &ends[i]);
    }
    tendon_obvious_requests_init(&requests, &requests_handler, NULL);
    for (unsigned i = 0; i < CHUNKS; i++) {
        run_request(chunk);
        assert_int_equal(ended, TENDON_OK);
    }
    assert_true(slowest > 5000);
    assert_int_equal(executed, CHUNKS); /* no frame was given up and sent again */
    assert_int_equal(answered, CHUNKS);
    assert_int_equal(requests.ignored, 0);
    /* Without a response: each of the four frames is sent as a whole before its 5 s begin. */
    mute = true;
    uint64_t begin = now;
    run_request(chunk);
    assert_int_equal(ended, TENDON_ERROR_TIMEOUT);
    assert_int_equal(executed, CHUNKS + 4);
    assert_true(now - begin > 4 * 10000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_may_take_longer_than_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
