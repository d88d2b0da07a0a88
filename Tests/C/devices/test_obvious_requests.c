/* SPDX-License-Identifier: MIT */
/*
 * Obvious: requests against a scripted peer, under simulated time.
 * The trace: "opcode/corr" sent, "done:status", "event:opcode"
 */
#include "obvious_trace.h"

#include "tendon/devices/obvious.h"
#include "tendon/host.h"

static tendon_obvious_requests requests;
static uint8_t frames[40][64];
static tendon_obvious_request list[40];
static tendon_obvious_request *again; /* added by its own on_done() */
static uint32_t offset;
static bool slow; /* frames are acknowledged by the test, not at once */
static tendon_status start_result;
static unsigned cancelled; /* how often the sender was made free */

static tendon_status start_frame(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    (void)context;
    tendon_obvious_frame decoded;
    assert_int_equal(tendon_obvious_decode_frame(frame, length, 4096, &decoded), TENDON_OK);
    note("%02x/%u ", decoded.opcode, decoded.corr);
    if (!slow) {
        tendon_obvious_requests_sent(&requests, TENDON_OK, now);
    }
    return start_result;
}

static void cancel(void *context) {
    (void)context;
    cancelled++;
}

static void on_event(void *context, uint8_t opcode, const tendon_obvious_payload *payload, uint64_t now) {
    (void)context, (void)now;
    note("event:%02x,%u ", opcode, payload->rebooting.delay_ms);
}

static void on_done(void *context, tendon_obvious_request *request, const tendon_obvious_response *response,
                    uint64_t now) {
    (void)context;
    note("done:%s ", tendon_obvious_status_name(response->status));
    offset = response->payload != NULL ? response->payload->next.offset : 0;
    if (request == again) {
        again = NULL;
        assert_int_equal(tendon_obvious_requests_add(&requests, request, now), TENDON_OK);
    }
}

static const tendon_obvious_requests_handler handler = {start_frame, cancel, on_event};

static void fresh(void) {
    memset(&requests, 0xA5, sizeof requests); /* what the memory held before */
    tendon_obvious_requests_init(&requests, &handler, NULL);
    memset(list, 0, sizeof list);
    trace[0] = '\0';
    again = NULL;
    cancelled = 0;
    slow = false;
    start_result = TENDON_OK;
}

/* A request whose payload is zeros, but for what is set in @p payload. */
static void add(unsigned slot, uint8_t opcode, const tendon_obvious_payload *payload, uint64_t now) {
    static const tendon_obvious_payload zero;
    assert_int_equal(tendon_obvious_request_prepare(&list[slot], opcode, payload != NULL ? payload : &zero,
                                                    frames[slot], sizeof frames[slot]),
                     TENDON_OK);
    list[slot].on_done = on_done;
    assert_int_equal(tendon_obvious_requests_add(&requests, &list[slot], now), TENDON_OK);
}

static void respond(uint8_t opcode, uint16_t corr, uint8_t status, uint64_t now) {
    static const uint8_t nonce[16] = {1};
    uint8_t out[64];
    tendon_obvious_payload payload = {.nonce = {nonce}};
    if (opcode == TENDON_OBVIOUS_XFER_DATA) {
        payload.next.offset = 400;
    }
    const tendon_obvious_frame frame = {.flags = status != 0 ? 5 : 1, .opcode = opcode, .corr = corr, .status = status};
    tendon_status length = tendon_obvious_encode_frame(&frame, &payload, out, sizeof out);
    assert_true(length > 0);
    assert_true(tendon_obvious_requests_message(&requests, out, (size_t)length, 4096, now));
}

static void one_at_a_time_in_order(void **state) {
    (void)state;
    fresh();
    assert_true(tendon_obvious_requests_deadline(&requests) == UINT64_MAX);
    add(0, TENDON_OBVIOUS_GET_NONCE, NULL, 0);
    add(1, TENDON_OBVIOUS_GET_TIME, NULL, 0);
    expect("04/1 ");
    respond(TENDON_OBVIOUS_GET_TIME, 1, 0, 10);  /* another opcode */
    respond(TENDON_OBVIOUS_GET_NONCE, 2, 0, 10); /* another id */
    expect("");
    assert_int_equal(requests.ignored, 2);
    again = &list[0];
    respond(TENDON_OBVIOUS_GET_NONCE, 1, 0, 20);
    expect("done:OK 05/2 "); /* what its end added waits behind */
    respond(TENDON_OBVIOUS_GET_NONCE, 1, 0, 20);
    assert_int_equal(requests.ignored, 3);
    respond(TENDON_OBVIOUS_GET_TIME, 2, 0, 30);
    expect("done:OK 04/3 ");
    respond(TENDON_OBVIOUS_GET_NONCE, 3, 27, 40); /* an unknown status */
    expect("done:INTERNAL ");
    assert_int_equal(cancelled, 3);
    assert_true(tendon_obvious_requests_deadline(&requests) == UINT64_MAX);
}

/* What an end adds while all requests fail waits for the last of them. */
static void all_fail_before_the_next_one_is_sent(void **state) {
    (void)state;
    fresh();
    add(0, TENDON_OBVIOUS_GET_NONCE, NULL, 0);
    add(1, TENDON_OBVIOUS_GET_TIME, NULL, 0);
    expect("04/1 ");
    again = &list[0];
    tendon_obvious_requests_fail(&requests, TENDON_ERROR_TIMEOUT, 10);
    expect("done:ERROR_TIMEOUT done:ERROR_TIMEOUT 04/2 ");
    respond(TENDON_OBVIOUS_GET_NONCE, 2, 0, 20);
    expect("done:OK ");
}

static void repeats_then_times_out(void **state) {
    (void)state;
    fresh();
    add(0, TENDON_OBVIOUS_GET_TIME, NULL, 0);
    add(1, TENDON_OBVIOUS_GET_NONCE, NULL, 0);
    uint8_t first[64];
    memcpy(first, frames[0], sizeof first);
    for (uint64_t now = 5000; now <= 15000; now += 5000) {
        trace[0] = '\0';
        tendon_obvious_requests_tick(&requests, now - 1);
        expect("");
        tendon_obvious_requests_tick(&requests, now);
        expect("05/1 ");
        assert_memory_equal(first, frames[0], sizeof first);
        assert_int_equal(cancelled, now / 5000); /* the frame that got no response may still be under way */
    }
    tendon_obvious_requests_tick(&requests, 20000);
    expect("done:ERROR_TIMEOUT 04/2 ");
    assert_int_equal(cancelled, 4);
}

static void some_are_not_repeated_and_some_may_take_longer(void **state) {
    (void)state;
    static const uint8_t off[] = {0x10, 0, 2, 0x11, 0, 1}, flip[] = {0x10, 0, 2, 0x11, 0, 0x80},
                         flip_first[] = {0x10, 0, 0x80, 0x11, 0, 1}, sha[32];
    tendon_obvious_payload payloads[9];
    memset(payloads, 0, sizeof payloads);
    payloads[0].activate.mode = 1;
    payloads[2].reboot.reason = 1;
    payloads[3].features.items = off;
    payloads[3].features.count = 2;
    payloads[4].features.items = flip;
    payloads[4].features.count = 2;
    payloads[8].features.items = flip_first;
    payloads[8].features.count = 2;
    payloads[5].begin.obj = 1;
    payloads[5].begin.chunk_max = 1;
    payloads[5].begin.size = 1;
    payloads[5].begin.sha256 = sha;
    static const struct {
        uint8_t opcode;
        uint64_t limit;
        bool repeats;
    } rows[] = {
        {TENDON_OBVIOUS_FW_ACTIVATE, 10000, false},   {TENDON_OBVIOUS_FW_CONFIRM, 5000, false},
        {TENDON_OBVIOUS_REBOOT, 10000, false},        {TENDON_OBVIOUS_FEATURE_TOGGLE, 5000, true},
        {TENDON_OBVIOUS_FEATURE_TOGGLE, 5000, false}, {TENDON_OBVIOUS_XFER_BEGIN, 15000, true},
        {TENDON_OBVIOUS_XFER_END, 30000, true},       {TENDON_OBVIOUS_FW_STATE, 5000, true},
        {TENDON_OBVIOUS_FEATURE_TOGGLE, 5000, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fresh();
        add(0, rows[i].opcode, &payloads[i], 100);
        trace[0] = '\0';
        assert_true(tendon_obvious_requests_deadline(&requests) == 100 + rows[i].limit);
        tendon_obvious_requests_tick(&requests, 100 + rows[i].limit);
        assert_int_equal(strstr(trace, "TIMEOUT") == NULL, rows[i].repeats);
    }
}

/* A frame may take longer than the limit, which begins with its acknowledgement, also that of a repeat. */
static void the_limit_begins_when_the_device_has_the_frame(void **state) {
    (void)state;
    fresh();
    slow = true;
    add(0, TENDON_OBVIOUS_GET_TIME, NULL, 0);
    for (uint16_t repeat = 0; repeat <= 3; repeat++) {
        uint64_t begin = repeat * 100000u;
        expect("05/1 ");
        assert_true(tendon_obvious_requests_deadline(&requests) == UINT64_MAX);
        tendon_obvious_requests_tick(&requests, begin + 60000);
        expect("");
        tendon_obvious_requests_sent(&requests, TENDON_OK, begin + 60000);
        assert_true(tendon_obvious_requests_deadline(&requests) == begin + 65000);
        tendon_obvious_requests_tick(&requests, begin + 64999);
        expect("");
        tendon_obvious_requests_tick(&requests, begin + 65000);
    }
    expect("done:ERROR_TIMEOUT ");
    /* a response may come before the acknowledgement, which says nothing then */
    add(0, TENDON_OBVIOUS_GET_TIME, NULL, 400000);
    respond(TENDON_OBVIOUS_GET_TIME, 2, 4, 410000);
    expect("05/2 ");
    tendon_obvious_requests_sent(&requests, TENDON_OK, 410400);
    assert_true(tendon_obvious_requests_deadline(&requests) == 410500);
    tendon_obvious_requests_tick(&requests, 410500);
    respond(TENDON_OBVIOUS_GET_TIME, 3, 0, 410600);
    expect("05/3 done:OK ");
    tendon_obvious_requests_sent(&requests, TENDON_OK, 410700);
    assert_true(tendon_obvious_requests_deadline(&requests) == UINT64_MAX);
    /* a frame that cannot be sent ends with its repeats */
    start_result = TENDON_ERROR_BUSY;
    add(0, TENDON_OBVIOUS_GET_TIME, NULL, 500000);
    for (int repeat = 0; repeat <= 3; repeat++) {
        assert_true(tendon_obvious_requests_deadline(&requests) == 500000);
        tendon_obvious_requests_tick(&requests, 500000);
    }
    expect("05/4 05/4 05/4 05/4 done:ERROR_TIMEOUT ");
}

static void busy_is_repeated_with_a_new_id(void **state) {
    (void)state;
    fresh();
    add(0, TENDON_OBVIOUS_GET_TIME, NULL, 0);
    expect("05/1 ");
    uint64_t now = 0;
    for (uint16_t i = 1; i <= 10; i++) {
        respond(TENDON_OBVIOUS_GET_TIME, i, 4, now);
        assert_int_equal(cancelled, i);              /* its frame has arrived, acknowledged or not */
        respond(TENDON_OBVIOUS_GET_TIME, i, 0, now); /* not any more */
        expect("");
        now += 500;
        assert_true(tendon_obvious_requests_deadline(&requests) == now);
        tendon_obvious_requests_tick(&requests, now);
        char sent[16];
        snprintf(sent, sizeof sent, "05/%u ", i + 1u);
        expect(sent);
    }
    respond(TENDON_OBVIOUS_GET_TIME, 11, 4, now);
    expect("done:BUSY ");
    assert_int_equal(cancelled, 11);
    add(1, TENDON_OBVIOUS_GET_NONCE, NULL, now); /* the next request may be repeated as often */
    expect("04/12 ");
    respond(TENDON_OBVIOUS_GET_NONCE, 12, 4, now);
    expect("");
    tendon_obvious_requests_tick(&requests, now + 500);
    expect("04/13 ");
    respond(TENDON_OBVIOUS_GET_NONCE, 13, 0, now + 500);
    expect("done:OK ");
}

static void mal_I06_ids_wrap_to_one(void **state) {
    (void)state;
    fresh();
    requests.corr = 65534;
    add(0, TENDON_OBVIOUS_GET_TIME, NULL, 0);
    add(1, TENDON_OBVIOUS_GET_TIME, NULL, 0);
    respond(TENDON_OBVIOUS_GET_TIME, 65535, 0, 0);
    expect("05/65535 done:OK 05/1 ");
}

/* Of an id that was never used, of one that is over, of another command: each is counted, and ends nothing. */
static void mal_I08_responses_to_no_request(void **state) {
    (void)state;
    fresh();
    respond(TENDON_OBVIOUS_GET_TIME, 1, 0, 0); /* nothing is asked */
    assert_int_equal(requests.ignored, 1);
    expect("");
    add(0, TENDON_OBVIOUS_GET_TIME, NULL, 0);
    trace[0] = '\0';
    const uint16_t corr = requests.corr;
    respond(TENDON_OBVIOUS_GET_TIME, (uint16_t)(corr + 1), 0, 0);
    respond(TENDON_OBVIOUS_FW_CONFIRM, corr, 0, 0);
    assert_int_equal(requests.ignored, 3);
    expect("");
    respond(TENDON_OBVIOUS_GET_TIME, corr, 0, 0);
    expect("done:OK ");
    respond(TENDON_OBVIOUS_GET_TIME, corr, 0, 0); /* twice */
    assert_int_equal(requests.ignored, 4);
    expect("");
}

static void invalid_frames_and_payloads(void **state) {
    (void)state;
    fresh();
    add(0, TENDON_OBVIOUS_FW_CONFIRM, NULL, 0);
    trace[0] = '\0';
    uint8_t bytes[64] = {0};
    assert_false(tendon_obvious_requests_message(&requests, bytes, 14, 4096, 0));
    const tendon_obvious_frame frame = {.flags = 1, .opcode = TENDON_OBVIOUS_FW_CONFIRM, .corr = 1};
    tendon_status length = tendon_obvious_seal_frame(&frame, 1, bytes, sizeof bytes); /* must be empty */
    assert_true(tendon_obvious_requests_message(&requests, bytes, (size_t)length, 4096, 0));
    expect("done:BAD_LENGTH ");
    block event = block_hex("4f42010200008100030002e803284341e9");
    assert_true(tendon_obvious_requests_message(&requests, event.data, event.length, 4096, 0));
    expect("event:81,1000 ");
    assert_false(tendon_obvious_requests_message(&requests, event.data, event.length, 16, 0));
    free(event.data);
    block request = block_hex("4f4201000201030000001138e8d2"); /* a gateway answers no requests */
    assert_true(tendon_obvious_requests_message(&requests, request.data, request.length, 4096, 0));
    free(request.data);
    assert_int_equal(requests.ignored, 3);
    expect("");
    /* The expected offset comes with its status. */
    tendon_obvious_payload data = {.data = {.session = 1, .offset = 500, .data = bytes, .length = 1}};
    add(0, TENDON_OBVIOUS_XFER_DATA, &data, 0);
    respond(TENDON_OBVIOUS_XFER_DATA, 2, 16, 0);
    expect("21/2 done:BAD_OFFSET ");
    assert_int_equal(offset, 400);
    data.data.length = 0;
    assert_int_equal(tendon_obvious_request_prepare(&list[0], TENDON_OBVIOUS_XFER_DATA, &data, bytes, sizeof bytes),
                     TENDON_OBVIOUS_ERROR_BAD_LENGTH);
}

static void a_full_queue_and_its_failure(void **state) {
    (void)state;
    fresh();
    for (unsigned i = 0; i < 32; i++) {
        add(i, TENDON_OBVIOUS_GET_TIME, NULL, 0);
    }
    assert_int_equal(tendon_obvious_requests_add(&requests, &list[32], 0), TENDON_GATT_ERROR_QUEUE_FULL);
    trace[0] = '\0';
    tendon_obvious_requests_sent(&requests, TENDON_OK, 1);
    expect("");
    again = &list[3];
    tendon_obvious_requests_sent(&requests, TENDON_OBVIOUS_ERROR_LINK_ERROR, 2);
    unsigned failed = 0;
    for (const char *at = trace; (at = strstr(at, "done:LINK_ERROR ")) != NULL; at++) {
        failed++;
    }
    assert_int_equal(failed, 32);
    assert_non_null(strstr(trace, "05/2 ")); /* the one that was added meanwhile */
    assert_int_equal(requests.count, 1);
    tendon_obvious_requests_fail(&requests, TENDON_ERROR_DISCONNECTED, 3);
    assert_int_equal(requests.count, 0);
    assert_int_equal(cancelled, 0); /* who reports the failure has ended the frame */
    assert_true(tendon_obvious_requests_deadline(&requests) == UINT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_at_a_time_in_order),
        cmocka_unit_test(all_fail_before_the_next_one_is_sent),
        cmocka_unit_test(repeats_then_times_out),
        cmocka_unit_test(some_are_not_repeated_and_some_may_take_longer),
        cmocka_unit_test(the_limit_begins_when_the_device_has_the_frame),
        cmocka_unit_test(busy_is_repeated_with_a_new_id),
        cmocka_unit_test(mal_I06_ids_wrap_to_one),
        cmocka_unit_test(mal_I08_responses_to_no_request),
        cmocka_unit_test(invalid_frames_and_payloads),
        cmocka_unit_test(a_full_queue_and_its_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
