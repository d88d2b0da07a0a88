/* SPDX-License-Identifier: MIT */
/* Obvious session: from the connection to HELLO and its end, every way in which opening fails, requests and events. */
#include "obvious_fixture.h"

static void connect_now(obvious_fixture *f) {
    assert_int_equal(tendon_obvious_session_connect(&f->session, f->now), TENDON_OK);
}

static void opens_with_the_lower_limits(void **state) {
    (void)state;
    static const struct {
        uint16_t ours, theirs, expected;
        uint8_t window, announced;
    } rows[] = {{4096, 4096, 4096, 8, 8}, {4096, 256, 256, 32, 16}, {512, 4096, 512, 8, 2}, {256, 300, 256, 8, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        obvious_fixture *f = fixture_new_with(rows[i].ours, rows[i].window);
        f->device.max_frame = rows[i].theirs;
        f->device.caps = 0x2F;
        f->device.status_value[4] = 3;
        connect_now(f);
        fixture_run(f, 100);
        expect("opened:OK ");
        assert_int_equal(f->session.frame_max, rows[i].expected);
        assert_int_equal(f->session.caps, 0x2F);
        assert_int_equal(f->session.boot_id, 0xA1B2C3D4);
        assert_int_equal(f->session.flags, 3);
        assert_int_equal(f->session.sender.window, 8);
        assert_int_equal(f->session.receiver.window, rows[i].announced);
        assert_int_equal(f->session.receiver.frame_max, rows[i].expected);
        /* HELLO: 1..1, our frame_max, the window, 0, the nonce */
        uint8_t hello[14] = {
            1, 1, (uint8_t)rows[i].ours, (uint8_t)(rows[i].ours >> 8), rows[i].announced, 0, 1, 2, 3, 4, 5, 6, 7, 8};
        assert_memory_equal(f->device.last + 10, hello, sizeof hello);
        assert_int_equal(f->device.sent_count, 1);
        fixture_free(f);
    }
}

/* Nothing but the CCCD is written to a device that does not speak OGP/1. */
static void other_profiles_are_unusable(void **state) {
    (void)state;
    static const struct {
        bool without_service, without_status;
        uint8_t properties;
        const char *value;
        size_t length;
        tendon_status cause;
    } rows[] = {
        {true, false, 0x14, "OGP\1\0\0", 6, TENDON_ERROR_NOT_FOUND},
        {false, true, 0x14, "OGP\1\0\0", 6, TENDON_ERROR_NOT_FOUND},
        {false, false, 0x14, "OGP\2\0\0", 6, TENDON_OK},
        {false, false, 0x14, "OGP\1\0\0", 5, TENDON_OK},
        {false, false, 0x14, "", 0, TENDON_OK},
        {false, false, 0x14, "OGQ\1\0\0", 6, TENDON_OK},
        {false, false, 0x10, "OGP\1\0\0", 6, TENDON_OK},
        {false, false, 0x04, "OGP\1\0\0", 6, TENDON_ERROR_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        obvious_fixture *f = fixture_new();
        f->device.without_service = rows[i].without_service;
        f->device.without_status = rows[i].without_status;
        f->device.data_properties = rows[i].properties;
        memcpy(f->device.status_value, rows[i].value, rows[i].length);
        f->device.status_length = rows[i].length;
        connect_now(f);
        fixture_run(f, 60000);
        expect("unusable:UNSUPPORTED_PROFILE ");
        assert_int_equal(f->last_cause, rows[i].cause);
        assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_UNUSABLE);
        assert_int_equal(f->device.commands + f->device.writes, 0);
        tendon_obvious_payload payload = {.echo = {NULL, 0}};
        assert_int_equal(tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_PING, &payload, NULL, NULL, f->now),
                         TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE);
        tendon_obvious_session_disconnect(&f->session, f->now);
        fixture_run(f, 10);
        expect("closed:ERROR_CANCELLED ");
        fixture_free(f);
    }
}

static void pairs_when_the_device_requires_it(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    f->devices[0].bonded = false;
    connect_now(f);
    fixture_run(f, 1000);
    expect("opened:OK ");
    assert_true(f->devices[0].bonded);
    fixture_free(f);
    /* refused twice */
    f = fixture_new();
    f->devices[0].bonded = false;
    f->devices[0].rejects_pairing = true;
    connect_now(f);
    fixture_run(f, 30000);
    expect("unusable:UNAUTHORIZED ");
    assert_int_equal(f->last_cause, TENDON_RADIO_ERROR_PAIRING_FAILED);
    assert_int_equal(f->session.work.pairings, 2);
    fixture_free(f);
    /* no pairing service */
    f = fixture_new();
    f->devices[0].bonded = false;
    f->session.config.link.pair = NULL;
    connect_now(f);
    fixture_run(f, 1000);
    expect("unusable:UNAUTHORIZED ");
    assert_int_equal(f->last_cause, TENDON_RADIO_ERROR_NO_PAIRING_SERVICE);
    fixture_free(f);
    /* a result that was not requested */
    f = fixture_new();
    fixture_open(f);
    tendon_obvious_session_inputs.paired(&f->session, TENDON_OK, f->now);
    assert_int_equal(f->session.counters.illegal_inputs, 1);
    fixture_free(f);
}

/* A device that requires no encryption could be another one: nothing of OGP is read or written in clear. */
static void pairs_with_a_device_that_does_not_require_it(void **state) {
    (void)state;
    for (unsigned how = 0; how < 3; how++) { /* it pairs, rejects pairing, or there is no pairing service */
        obvious_fixture *f = fixture_new();
        f->devices[0].bonded = f->device.encrypted = false;
        f->devices[0].rejects_pairing = how == 1;
        f->session.config.link.pair = how == 2 ? NULL : f->session.config.link.pair;
        connect_now(f);
        fixture_run(f, 1000);
        expect(how == 0 ? "opened:OK " : "unusable:UNAUTHORIZED ");
        assert_int_equal(f->devices[0].bonded, how == 0);
        assert_int_equal(f->session.work.pairings, how == 1 ? 2 : 1);
        assert_int_equal(f->device.commands + f->device.writes > 0, how == 0);
        fixture_free(f);
    }
}

static unsigned pairings;

static tendon_status pair_in_vain(void *context) {
    (void)context;
    pairings++;
    return TENDON_OK;
}

/* A pairing that succeeds at once, by a stored key, need not be what the device requires: once more, and no more. */
static void pairs_once_more_when_the_device_still_refuses(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    f->devices[0].bonded = false;
    f->session.config.link.pair = pair_in_vain;
    pairings = 0;
    connect_now(f);
    for (unsigned i = 1; i <= 2; i++) {
        fixture_run(f, 1000);
        assert_int_equal(pairings, i);
        expect("");
        tendon_obvious_session_inputs.paired(&f->session, TENDON_OK, f->now);
    }
    fixture_run(f, 1000);
    assert_int_equal(pairings, 2);
    expect("unusable:UNAUTHORIZED ");
    assert_int_equal(TENDON_STATUS_LAYER(f->last_cause), TENDON_LAYER_ATT);
    fixture_free(f);
}

/* The pairing that the end of the connection ends is no failed one. */
static void disconnected_while_pairing(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    f->devices[0].bonded = false;
    connect_now(f);
    f->air.pairing_ms = 5000;
    fixture_run(f, 1000);
    assert_int_equal(f->session.work.step, 5); /* PAIR */
    tendon_obvious_session_inputs.paired(&f->session, TENDON_ERROR_DISCONNECTED, f->now);
    fixture_drop(f);
    expect("closed:RADIO_ERROR_PEER_CLOSED ");
    assert_int_equal(f->session.counters.illegal_inputs, 0);
    fixture_free(f);
}

/* OGP_STATUS may be readable by anybody: then the subscription is what requires encryption. */
static void pairs_when_the_subscription_requires_it(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    f->devices[0].bonded = false;
    f->device.status_open = true;
    connect_now(f);
    fixture_run(f, 1000);
    expect("opened:OK ");
    assert_true(f->devices[0].bonded);
    assert_int_equal(f->session.work.pairings, 1);
    fixture_free(f);
    f = fixture_new();
    f->devices[0].bonded = false;
    f->device.status_open = true;
    f->session.config.link.pair = NULL;
    connect_now(f);
    fixture_run(f, 1000);
    expect("unusable:UNAUTHORIZED ");
    fixture_free(f);
}

/* Four attempts in all, then the reason of the last. */
static void a_subscription_that_is_refused_is_tried_again(void **state) {
    (void)state;
    for (unsigned refused = 1; refused <= 4; refused++) {
        obvious_fixture *f = fixture_new();
        f->device.refuse_writes = refused;
        connect_now(f);
        fixture_run(f, 1000);
        expect(refused < 4 ? "opened:OK " : "unusable:ATT_WRITE_NOT_PERMITTED ");
        assert_int_equal(f->device.refuse_writes, 0);
        fixture_free(f);
    }
}

/* The read of OGP_STATUS is limited to 5 s. A device that answers nothing at all is found by the MTU exchange before.
 */
static void a_silent_device(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    f->device.status_unanswered = true;
    connect_now(f);
    fixture_run(f, 20);
    fixture_run(f, 4900);
    expect("");
    fixture_run(f, 200);
    expect("unusable:UNSUPPORTED_PROFILE ");
    fixture_free(f);
    f = fixture_new();
    f->devices[0].silent = true;
    connect_now(f);
    fixture_run(f, 36000);
    assert_int_equal(f->opened, 0);
    assert_int_equal(f->unusable + f->closed, 1);
    fixture_free(f);
}

static void hello_that_fails(void **state) {
    (void)state;
    static const struct {
        uint8_t error, proto;
        bool mute;
        const char *trace;
    } rows[] = {
        {6, 1, false, "unusable:PROTOCOL "},     {5, 1, false, "unusable:PROTOCOL "},
        {0, 2, false, "unusable:PROTOCOL "},     {0, 0, false, "unusable:PROTOCOL "},
        {0, 1, true, "unusable:ERROR_TIMEOUT "}, {200, 1, false, "unusable:PROTOCOL "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        obvious_fixture *f = fixture_new();
        f->device.error[TENDON_OBVIOUS_HELLO] = rows[i].error;
        f->device.proto = rows[i].proto;
        f->device.mute[TENDON_OBVIOUS_HELLO] = rows[i].mute;
        connect_now(f);
        fixture_run(f, 21000);
        expect(rows[i].trace);
        unsigned commands = f->device.commands; /* nothing more is written, not even an acknowledgement */
        fixture_event(f, TENDON_OBVIOUS_EVT_REBOOTING, (const uint8_t[]){2, 0xE8, 3}, 3);
        fixture_run(f, 60000);
        assert_int_equal(f->device.commands, commands);
        assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_UNUSABLE);
        expect("");
        fixture_free(f);
    }
}

/* ---- requests ---- */

static unsigned responses;

static void on_response(void *context, const tendon_obvious_response *response, uint64_t now) {
    (void)context, (void)now;
    responses++;
    note("%s ", tendon_obvious_status_name(response->status));
}

static void on_chain(void *context, const tendon_obvious_response *response, uint64_t now) {
    obvious_fixture *f = context;
    static const tendon_obvious_payload none;
    on_response(context, response, now);
    if (responses < 3) {
        assert_int_equal(
            tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_GET_TIME, &none, on_chain, f, f->now),
            TENDON_OK);
    }
}

static void on_own(void *context, tendon_obvious_request *request, const tendon_obvious_response *response,
                   uint64_t now) {
    (void)context, (void)request, (void)now;
    note("own:%s ", tendon_obvious_status_name(response->status));
}

/* A HELLO of an operation that is refused: the connection is not used further, and what waits fails. */
static void a_later_hello_that_is_refused(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    fixture_open(f);
    f->device.error[TENDON_OBVIOUS_HELLO] = 6;
    static uint8_t frame[TENDON_OBVIOUS_FRAME_OVERHEAD];
    tendon_obvious_payload none = {.echo = {NULL, 0}};
    tendon_obvious_request own = {.on_done = on_own};
    assert_int_equal(tendon_obvious_request_prepare(&own, TENDON_OBVIOUS_PING, &none, frame, sizeof frame), TENDON_OK);
    assert_int_equal(tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_HELLO, NULL, on_response, NULL, f->now),
                     TENDON_OK);
    assert_int_equal(tendon_obvious_requests_add(&f->session.requests, &own, f->now), TENDON_OK);
    fixture_run(f, 60000);
    expect("own:PROTOCOL unusable:PROTOCOL PROTOCOL ");
    assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_UNUSABLE);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_PING), 0);
    assert_int_equal(tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_HELLO, NULL, on_response, NULL, f->now),
                     TENDON_OBVIOUS_ERROR_PROTOCOL);
    tendon_obvious_session_disconnect(&f->session, f->now);
    fixture_run(f, 10);
    expect("closed:ERROR_CANCELLED ");
    fixture_free(f);
}

static void requests_and_their_errors(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    static const uint8_t echo[65] = {1, 2, 3, 4, 5};
    tendon_obvious_payload payload = {.echo = {echo, 5}};
    assert_int_equal(tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_PING, &payload, on_response, f, f->now),
                     TENDON_ERROR_DISCONNECTED);
    fixture_open(f);
    assert_int_equal(tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_PING, &payload, on_response, f, f->now),
                     TENDON_OK);
    expect(""); /* not within the call */
    assert_int_equal(tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_PING, &payload, on_response, f, f->now),
                     TENDON_ERROR_BUSY);
    fixture_run(f, 10);
    expect("OK ");
    payload.echo.length = 65;
    assert_int_equal(tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_PING, &payload, on_response, f, f->now),
                     TENDON_OBVIOUS_ERROR_BAD_LENGTH);
    responses = 0;
    static const tendon_obvious_payload none;
    f->device.error[TENDON_OBVIOUS_GET_TIME] = 27; /* an unknown number */
    assert_int_equal(tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_GET_TIME, &none, on_chain, f, f->now),
                     TENDON_OK);
    fixture_run(f, 10);
    expect("INTERNAL INTERNAL INTERNAL ");
    /* HELLO again fixes the limits again */
    f->device.window = 3;
    f->device.max_frame = 1000;
    assert_int_equal(tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_HELLO, NULL, on_response, f, f->now),
                     TENDON_OK);
    fixture_run(f, 10);
    expect("OK ");
    assert_int_equal(f->session.sender.window, 3);
    assert_int_equal(f->session.frame_max, 1000);
    /* a frame that exceeds the limit */
    static const uint8_t data[1000];
    payload.data.session = 1;
    payload.data.offset = 0;
    payload.data.data = data;
    payload.data.length = 1000 - 21;
    assert_int_equal(
        tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_XFER_DATA, &payload, on_response, f, f->now),
        TENDON_ERROR_BUFFER_TOO_SMALL);
    fixture_free(f);
}

static void a_request_of_the_caller_waits(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    uint8_t frame[14];
    tendon_obvious_request own = {.context = NULL};
    static const tendon_obvious_payload none;
    assert_int_equal(tendon_obvious_request_prepare(&own, TENDON_OBVIOUS_GET_TIME, &none, frame, sizeof frame),
                     TENDON_OK);
    fixture_open(f);
    f->device.error[TENDON_OBVIOUS_GET_TIME] = 6;
    own.on_done = on_own;
    assert_int_equal(
        tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_GET_DEVICE_INFO, &none, on_response, f, f->now),
        TENDON_OK);
    assert_int_equal(tendon_obvious_requests_add(&f->session.requests, &own, f->now), TENDON_OK);
    fixture_run(f, 10);
    expect("OK own:NOT_SUPPORTED ");
    assert_int_equal(f->session.serial, 0x1122334455667788);
    fixture_free(f);
}

static void another_serial_number_disconnects(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    static const tendon_obvious_payload none;
    fixture_open(f);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_GET_DEVICE_INFO, &none, on_response, f, f->now),
            TENDON_OK);
        fixture_run(f, 10);
        f->device.serial++;
    }
    expect("OK PROTOCOL closed:PROTOCOL ");
    /* it is allowed to be another one on the next connection */
    fixture_open(f);
    assert_false(f->session.has_serial);
    fixture_free(f);
}

static void a_request_ends_with_the_connection(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    static const tendon_obvious_payload none;
    fixture_open(f);
    f->device.mute[TENDON_OBVIOUS_GET_TIME] = true;
    assert_int_equal(
        tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_GET_TIME, &none, on_response, f, f->now), TENDON_OK);
    fixture_run(f, 10);
    fixture_drop(f);
    expect("RADIO_ERROR_PEER_CLOSED closed:RADIO_ERROR_PEER_CLOSED ");
    assert_true(tendon_obvious_session_inputs.deadline(&f->session) == UINT64_MAX);
    tendon_obvious_session_inputs.disconnected(&f->session, TENDON_ERROR_CANCELLED, f->now);
    assert_int_equal(f->session.counters.illegal_inputs, 1);
    fixture_free(f);
}

static tendon_status refuse(void *context, const uint8_t *pdu, size_t length) {
    (void)context, (void)pdu, (void)length;
    return TENDON_ERROR_DISCONNECTED;
}

/* The device acknowledges nothing: the sender gives up after 1 + 2 + 4 + 8 + 16 + 32 s. The limit of the request, which
 * begins with the acknowledgement, never does. */
static void a_connection_that_loses_everything(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    fixture_open(f);
    f->device.loss = 100;
    assert_int_equal(tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_XFER_END,
                                                    &(tendon_obvious_payload){.session = {1, 0}}, on_response, f,
                                                    f->now),
                     TENDON_OK);
    fixture_run(f, 62999);
    expect("");
    fixture_run(f, 1);
    expect("LINK_ERROR closed:LINK_ERROR ");
    fixture_free(f);
    /* writes that fail: LINK_ERROR, by the next tick */
    f = fixture_new();
    fixture_open(f);
    f->session.op.client->bearer->io.send = refuse;
    static const uint8_t data[2000];
    tendon_obvious_payload payload = {.data = {1, 0, data, sizeof data}};
    assert_int_equal(
        tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_XFER_DATA, &payload, on_response, f, f->now),
        TENDON_OK);
    expect("");
    fixture_run(f, 0);
    expect("LINK_ERROR closed:LINK_ERROR ");
    fixture_free(f);
}

/* ---- events, keep-alive, errors ---- */

static void events_of_the_device(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    fixture_open(f);
    fixture_event(f, TENDON_OBVIOUS_EVT_REBOOTING, (const uint8_t[]){1, 0xE8, 3}, 3);
    expect("device:EVT_REBOOTING ");
    fixture_event(f, TENDON_OBVIOUS_EVT_REBOOTING, (const uint8_t[]){6, 0xE8, 3}, 3); /* reason out of range */
    fixture_event(f, 0x90, NULL, 0);
    expect("");
    assert_int_equal(f->session.counters.errors, 2);
    fixture_free(f);
}

static void a_ping_after_20_s(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    fixture_open(f);
    fixture_run(f, 60000);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_PING), 0);
    f->session.keep_alive = true;
    f->session.work.active_at = f->now;
    fixture_run(f, 19999);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_PING), 0);
    fixture_run(f, 1);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_PING), 1);
    fixture_run(f, 40010);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_PING), 3);
    assert_int_equal(f->session.requests.ignored, 0);
    fixture_free(f);
}

static void errors_disconnect_and_ban(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    static const uint8_t reserved[4] = {0x43, 0, 0, 0}, duplicate[4] = {0x40, 0, 0, 0};
    fixture_open(f);
    for (int i = 0; i < 300; i++) { /* of the message of HELLO */
        fixture_segment(f, duplicate, 4);
    }
    assert_int_equal(f->session.counters.errors, 0);
    for (int i = 0; i < 99; i++) {
        fixture_segment(f, reserved, 4);
    }
    fixture_run(f, 10000);
    for (int i = 0; i < 99; i++) {
        fixture_segment(f, reserved, 4);
    }
    expect("");
    fixture_segment(f, reserved, 4);
    fixture_run(f, 1);
    expect("closed:PROTOCOL ");
    assert_int_equal(tendon_obvious_session_connect(&f->session, f->now), TENDON_OBVIOUS_ERROR_PROTOCOL);
    fixture_run(f, 60000);
    fixture_open(f);
    fixture_free(f);
}

/* ---- other ways to write ---- */

static void writes_with_a_response_and_indications(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    static const tendon_obvious_payload none;
    static uint8_t data[500];
    f->device.data_properties = TENDON_GATT_WRITE | TENDON_GATT_INDICATE;
    fixture_open(f);
    assert_int_equal(
        tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_GET_DEVICE_INFO, &none, on_response, f, f->now),
        TENDON_OK);
    fixture_run(f, 100);
    expect("OK ");
    tendon_obvious_payload payload = {.data = {1, 0, data, sizeof data}};
    assert_int_equal(
        tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_XFER_DATA, &payload, on_response, f, f->now),
        TENDON_OK);
    fixture_run(f, 100);
    expect("NO_SESSION ");
    assert_int_equal(f->device.commands, 0);
    assert_true(f->device.writes > 8);
    fixture_free(f);
}

static tendon_status blocked(void *context, const uint8_t *pdu, size_t length) {
    (void)context, (void)pdu, (void)length;
    return TENDON_ERROR_WOULD_BLOCK;
}

/* A socket that is full: segments wait for the writable state, not for the timer of the sender. */
static void continues_when_writable(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    static const tendon_obvious_payload none;
    fixture_open(f);
    tendon_status (*send)(void *, const uint8_t *, size_t) = f->air.ours.io.send;
    f->air.ours.io.send = blocked;
    assert_int_equal(
        tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_GET_TIME, &none, on_response, f, f->now), TENDON_OK);
    fixture_event(f, TENDON_OBVIOUS_EVT_REBOOTING, (const uint8_t[]){1, 0xE8, 3}, 3); /* its ACK waits, too */
    expect("device:EVT_REBOOTING ");
    assert_true(f->device.sender.active);
    f->air.ours.io.send = send;
    tendon_att_bearer_writable(&f->air.ours, f->now);
    f->device.error[TENDON_OBVIOUS_GET_TIME] = 6;
    fixture_run(f, 0);
    expect("NOT_SUPPORTED ");
    assert_false(f->device.sender.active);
    fixture_free(f);
}

/* ---- calls in each state ---- */

static tendon_status no_adapter(void *context) {
    (void)context;
    return TENDON_RADIO_ERROR_NO_ADAPTER;
}

static void arguments_and_states(void **state) {
    (void)state;
    obvious_fixture *f = fixture_new();
    tendon_obvious_session_config config = f->session.config, bad;
    tendon_obvious_session session;
#define refused(member, value)                                                                                         \
    bad = config;                                                                                                      \
    bad.member = value;                                                                                                \
    assert_int_equal(tendon_obvious_session_init(&session, &bad), TENDON_ERROR_INVALID_ARGUMENT)
    refused(link.connect, NULL);
    refused(link.disconnect, NULL);
    refused(on_event, NULL);
    refused(memory, NULL);
    refused(frame_max, 255);
    refused(frame_max, 4097);
    refused(window, 0);
    refused(window, 33);
    tendon_obvious_session_disconnect(&f->session, f->now);
    tendon_obvious_session_inputs.tick(&f->session, f->now);
    expect("");
    tendon_obvious_session_inputs.connected(&f->session, &f->air.client, f->now);
    assert_int_equal(f->session.counters.illegal_inputs, 1);
    connect_now(f);
    assert_int_equal(tendon_obvious_session_connect(&f->session, f->now), TENDON_ERROR_WRONG_STATE);
    tendon_obvious_session_disconnect(&f->session, f->now); /* during the attempt */
    tendon_obvious_session_disconnect(&f->session, f->now);
    fixture_run(f, 1000);
    expect("closed:ERROR_CANCELLED ");
    /* disconnected at each ms of opening */
    for (uint64_t ms = 0; ms < 60; ms++) {
        connect_now(f);
        fixture_run(f, ms);
        tendon_obvious_session_disconnect(&f->session, f->now);
        fixture_run(f, 100);
        assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_IDLE);
    }
    f->session.config.link.connect = no_adapter;
    assert_int_equal(tendon_obvious_session_connect(&f->session, f->now), TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_IDLE);
    fixture_free(f);
}

static void advertisements(void **state) {
    (void)state;
    static const uint8_t data[] = {2,    1,    6,    17,   7,    0x35, 0x9F, 0xFC, 0xD4, 0x02, 0x26,
                                   0xF4, 0x95, 0x20, 0x4E, 0x13, 0xC1, 0x01, 0x00, 0x19, 0x9C};
    assert_true(tendon_obvious_recognize(NULL, data, sizeof data));
    for (size_t length = 0; length < sizeof data; length++) {
        block exact = block_copy(data, length);
        assert_false(tendon_obvious_recognize(NULL, exact.data, length));
        free(exact.data);
    }
    const tendon_family *family = &tendon_obvious_family;
    assert_true(family->recognizes(data, sizeof data) && !family->recognizes(NULL, 0));
    assert_true(family->session_size == sizeof(tendon_obvious_session) && family->session_size <= 4096);
    assert_string_equal(family->status_name(TENDON_OBVIOUS_ERROR_REPLAY), "REPLAY");
    tendon_obvious_gatt other = tendon_obvious_gatt_defaults();
    other.service.bytes[0] ^= 1;
    assert_false(tendon_obvious_recognize(&other, data, sizeof data));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_with_the_lower_limits),
        cmocka_unit_test(other_profiles_are_unusable),
        cmocka_unit_test(pairs_when_the_device_requires_it),
        cmocka_unit_test(pairs_with_a_device_that_does_not_require_it),
        cmocka_unit_test(pairs_once_more_when_the_device_still_refuses),
        cmocka_unit_test(disconnected_while_pairing),
        cmocka_unit_test(pairs_when_the_subscription_requires_it),
        cmocka_unit_test(a_subscription_that_is_refused_is_tried_again),
        cmocka_unit_test(a_silent_device),
        cmocka_unit_test(hello_that_fails),
        cmocka_unit_test(a_later_hello_that_is_refused),
        cmocka_unit_test(requests_and_their_errors),
        cmocka_unit_test(a_request_of_the_caller_waits),
        cmocka_unit_test(another_serial_number_disconnects),
        cmocka_unit_test(a_request_ends_with_the_connection),
        cmocka_unit_test(a_connection_that_loses_everything),
        cmocka_unit_test(events_of_the_device),
        cmocka_unit_test(a_ping_after_20_s),
        cmocka_unit_test(errors_disconnect_and_ban),
        cmocka_unit_test(writes_with_a_response_and_indications),
        cmocka_unit_test(continues_when_writable),
        cmocka_unit_test(arguments_and_states),
        cmocka_unit_test(advertisements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
