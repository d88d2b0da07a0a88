/* SPDX-License-Identifier: MIT */
/*
 * Obvious: what one message leaves for the next one, and what a sender that has ended does no more.
 * The trace: "i" a segment, "i!" with ACKREQ, "c:type" a control sent, the names of errors, "done", "failed"
 */
#include "obvious_trace.h"

#include "tendon/devices/obvious.h"
#include "tendon/host.h"

#define expect(text)                                                                                                   \
    do {                                                                                                               \
        assert_string_equal(trace, text);                                                                              \
        trace[0] = '\0';                                                                                               \
    } while (0)

/* ---- the receiver ---- */

static tendon_obvious_receiver receiver;
static uint8_t memory[16384];

static bool on_message(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    (void)context, (void)frame, (void)length, (void)now;
    note("message ");
    return true;
}

static void on_error(void *context, tendon_status status) {
    (void)context;
    note("%s ", tendon_obvious_status_name(status));
}

static void on_control(void *context, const tendon_obvious_control *control, uint64_t now) {
    (void)context, (void)now;
    note("control:%u ", control->type);
}

static void send_control(void *context, const uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE]) {
    (void)context;
    note("c:%u ", control[2]);
}

static const tendon_obvious_receiver_handler receiver_handler = {on_message, on_error, on_control, send_control};

/* A segment of 20 bytes, of a message of 1024; index 0 is the first one. */
static void feed(uint8_t msgseq, uint8_t index, uint64_t now) {
    uint8_t bytes[20] = {index == 0 ? 0x60 : 0x40, msgseq, index, 0, 0, 4};
    tendon_obvious_receiver_segment(&receiver, bytes, sizeof bytes, now);
}

static void receive(void) {
    tendon_obvious_receiver_init(&receiver, memory, sizeof memory, &receiver_handler, NULL);
    tendon_obvious_receiver_set_mtu(&receiver, 23);
    tendon_obvious_receiver_set_limits(&receiver, 16, 4096);
    trace[0] = '\0';
}

/* Ten seconds for each message, and a hole of it is reported at once, whatever the one before it did. */
static void a_new_message_has_its_own_times(void **state) {
    (void)state;
    receive();
    feed(1, 0, 1000);
    feed(1, 2, 1010);
    expect("c:1 "); /* a hole */
    feed(1, 4, 1020);
    expect(""); /* another one within 100 ms */
    feed(2, 0, 1030);
    expect("SEG_SUPERSEDED ");
    feed(2, 2, 1040);
    expect("c:1 ");
    for (uint64_t now = 3000; now <= 11000; now += 2000) {
        feed(2, (uint8_t)(now / 1000), now);
    }
    assert_true(tendon_obvious_receiver_deadline(&receiver) == 1030 + 10000 + 1);
    tendon_obvious_receiver_tick(&receiver, 11030);
    assert_null(strstr(trace, "SEG_TIMEOUT"));
    tendon_obvious_receiver_tick(&receiver, 11031);
    assert_non_null(strstr(trace, "SEG_TIMEOUT"));
}

/* The version comes before everything that depends on it. */
static void a_control_of_another_version_is_not_looked_into(void **state) {
    (void)state;
    receive();
    static const uint8_t other[12] = {0x84, 1, 1, 0, 4, 0, 0, 0, 0, 0, 8, 0}, reserved[12] = {0x45, 1, 1, 0, 4};
    tendon_obvious_receiver_segment(&receiver, other, sizeof other, 0);
    expect("SEG_BAD_VERSION ");
    tendon_obvious_receiver_segment(&receiver, reserved, sizeof reserved, 0);
    expect("SEG_RESERVED ");
    tendon_obvious_receiver_segment(&receiver, other, 3, 0);
    expect("SEG_SHORT ");
}

/* ---- the sender ---- */

static tendon_obvious_sender sender;
static uint8_t message[4096];
static tendon_status write_result;

static tendon_status write_segment(void *context, const uint8_t *segment, size_t length) {
    (void)context;
    if (length == 12 && segment[0] == 0x44) {
        note("c:%u ", segment[2]);
        return TENDON_OK;
    }
    note("%u%s ", segment[2] | (unsigned)segment[3] << 8, (segment[0] & 8) != 0 ? "!" : "");
    return write_result;
}

static void on_done(void *context, tendon_status status, uint64_t now) {
    (void)context, (void)now;
    note(status == TENDON_OK ? "done " : "failed ");
}

static const tendon_obvious_sender_handler sender_handler = {write_segment, on_done};

/* A message of 20 segments at MTU 23, at @p now; 0 to 7 are written. */
static void send(uint64_t now) {
    tendon_obvious_sender_init(&sender, &sender_handler, NULL);
    trace[0] = '\0';
    write_result = TENDON_OK;
    assert_int_equal(tendon_obvious_sender_start(&sender, message, 14 + 16 * 19, 23, now), TENDON_OK);
    expect("0 1 2 3! 4 5 6 7! ");
}

static void control(uint8_t type, uint16_t next, uint64_t now) {
    const tendon_obvious_control c = {.msgseq = sender.msgseq, .type = type, .next = next, .credit = 8};
    tendon_obvious_sender_control(&sender, &c, now);
}

/* Only a link that was full repeats what is missing; the acknowledgement may still be on its way. */
static void writable_without_need_writes_nothing(void **state) {
    (void)state;
    send(0);
    tendon_obvious_sender_writable(&sender, 900);
    expect("");
    tendon_obvious_sender_tick(&sender, 1000);
    assert_true(trace[0] != '\0');
}

/* 30 s from the beginning of the pause, a probe each second and not more often. */
static void a_pause_has_its_own_beginning(void **state) {
    (void)state;
    send(100000);
    control(TENDON_OBVIOUS_WAIT, 0, 100100);
    for (unsigned i = 1; i < 30; i++) {
        uint64_t now = 100100 + 1000 * i;
        tendon_obvious_sender_tick(&sender, now - 1);
        expect("");
        tendon_obvious_sender_tick(&sender, now);
        expect("0! ");
    }
    tendon_obvious_sender_tick(&sender, 130100);
    assert_non_null(strstr(trace, "failed"));
}

/* Five failures in a row: nothing of the message is written behind the RESET. */
static void a_message_that_has_failed_is_not_written(void **state) {
    (void)state;
    tendon_obvious_sender_init(&sender, &sender_handler, NULL);
    write_result = TENDON_ERROR_DISCONNECTED;
    trace[0] = '\0';
    assert_int_equal(tendon_obvious_sender_start(&sender, message, 14 + 16 * 19, 23, 0), TENDON_OK);
    expect("0 1 2 3! 4 c:3 failed ");
    assert_true(tendon_obvious_sender_deadline(&sender) == UINT64_MAX);
    send(0);
    write_result = TENDON_ERROR_DISCONNECTED;
    control(TENDON_OBVIOUS_ACK, 3, 300); /* 3 to 7 are missing, 8 to 10 would be new */
    expect("3! 4 5 6 7! c:3 failed ");
    send(0);
    write_result = TENDON_ERROR_DISCONNECTED;
    control(TENDON_OBVIOUS_ACK, 4, 300); /* 4 to 7 and 8 */
    expect("4 5 6 7! 8 c:3 failed ");
}

/* ---- requests ---- */

static tendon_status start_frame(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    (void)context, (void)frame, (void)length, (void)now;
    note("start ");
    return TENDON_OK;
}

static void cancel(void *context) {
    (void)context;
    note("cancel ");
}

static void on_event(void *context, uint8_t opcode, const tendon_obvious_payload *payload, uint64_t now) {
    (void)context, (void)opcode, (void)payload, (void)now;
    note("event ");
}

static void on_response(void *context, tendon_obvious_request *request, const tendon_obvious_response *response,
                        uint64_t now) {
    (void)context, (void)request, (void)now;
    note(response->status == TENDON_OK ? "done " : "failed ");
}

static const tendon_obvious_requests_handler requests_handler = {start_frame, cancel, on_event};

/* The device answers twice: there is nothing that the second answer could be for. */
static void a_second_response_finds_no_request(void **state) {
    (void)state;
    static const uint8_t nonce[16] = {1};
    static const tendon_obvious_payload payload = {.nonce = {nonce}}, none;
    tendon_obvious_requests requests;
    tendon_obvious_request request = {.on_done = on_response};
    uint8_t frame[64], out[64];
    const tendon_obvious_frame head = {.flags = 1, .opcode = TENDON_OBVIOUS_GET_NONCE, .corr = 1};
    tendon_status length = tendon_obvious_encode_frame(&head, &payload, out, sizeof out);
    assert_true(length > 0);
    tendon_obvious_requests_init(&requests, &requests_handler, NULL);
    trace[0] = '\0';
    assert_int_equal(tendon_obvious_request_prepare(&request, TENDON_OBVIOUS_GET_NONCE, &none, frame, sizeof frame),
                     TENDON_OK);
    assert_int_equal(tendon_obvious_requests_add(&requests, &request, 0), TENDON_OK);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(tendon_obvious_requests_message(&requests, out, (size_t)length, 4096, 10 + i));
        assert_int_equal(requests.ignored, i);
    }
    expect("start cancel done ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_message_has_its_own_times),
        cmocka_unit_test(a_control_of_another_version_is_not_looked_into),
        cmocka_unit_test(writable_without_need_writes_nothing),
        cmocka_unit_test(a_pause_has_its_own_beginning),
        cmocka_unit_test(a_message_that_has_failed_is_not_written),
        cmocka_unit_test(a_second_response_finds_no_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
