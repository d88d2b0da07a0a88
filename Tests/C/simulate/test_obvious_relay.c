/* SPDX-License-Identifier: MIT */
/* The relay: a session over a connection that the application owns. Segments are those of the protocol's document. */
#include "test_bytes.h"

#include "tendon/simulate.h"

typedef struct application {
    tendon_memory_radio radio;
    tendon_obvious_relay relay;
    tendon_obvious_session session;
    uint8_t memory[TENDON_OBVIOUS_SESSION_MEMORY(1024)];
    uint64_t now;
    bool has_status, answers_within, leaves; /* leaves: within the next write */
    unsigned sends;                          /* writes that are sent; the others are refused */
    unsigned reads, writes;
    uint8_t written[64];
    size_t length, first_length; /* of the last write, of the first */
    unsigned opened, unusable, closed;
    tendon_status status;
} application;

static application a;

static bool write_data(void *context, const uint8_t *value, size_t length) {
    application *app = context;
    app->writes++;
    app->first_length = app->writes == 1 ? length : app->first_length;
    app->length = length < sizeof app->written ? length : sizeof app->written;
    memcpy(app->written, value, app->length);
    if (app->leaves) {
        app->leaves = false;
        tendon_obvious_relay_disconnected(&app->relay, app->now);
        return true;
    }
    if (app->sends == 0) {
        return false;
    }
    app->sends--;
    return true;
}

static bool read_status(void *context) {
    application *app = context;
    app->reads++;
    if (app->answers_within) {
        tendon_obvious_relay_status(&app->relay, (const uint8_t *)"OGP\1\0\0", 6, app->now);
    }
    return app->has_status;
}

static const tendon_obvious_relay_handler handler = {write_data, read_status};

static void on_event(void *context, const tendon_obvious_session_event *event, uint64_t now) {
    application *app = context;
    (void)now;
    app->opened += event->kind == TENDON_OBVIOUS_SESSION_EVENT_OPENED;
    app->unusable += event->kind == TENDON_OBVIOUS_SESSION_EVENT_UNUSABLE;
    app->closed += event->kind == TENDON_OBVIOUS_SESSION_EVENT_CLOSED;
    app->status = event->status;
}

static uint64_t due(void) {
    const tendon_peripheral_device *device = &a.relay.device.device;
    return device->ops->deadline(device->context);
}

static void start(void) {
    memset(&a, 0, sizeof a);
    a.now = 1000;
    a.has_status = true;
    a.sends = 1000;
    memset(&a.relay, 0xA5, sizeof a.relay);
    tendon_obvious_relay_init(&a.relay, &a.radio, &handler, &a, NULL);
    assert_int_equal(due(), UINT64_MAX); /* without a connection nothing is due */
    tendon_memory_radio_attach(&a.radio, &tendon_obvious_session_inputs, &a.session);
    const tendon_obvious_session_config config = {.link = tendon_memory_radio_link(&a.radio),
                                                  .memory = a.memory,
                                                  .frame_max = 1024,
                                                  .window = 8,
                                                  .nonce = {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7},
                                                  .context = &a,
                                                  .on_event = on_event};
    assert_int_equal(tendon_obvious_session_init(&a.session, &config), TENDON_OK);
}

static void run(uint64_t ms) {
    const uint64_t end = a.now + ms;
    while (a.now <= end) {
        tendon_memory_radio_tick(&a.radio, a.now);
        uint64_t due = tendon_memory_radio_deadline(&a.radio);
        if (due > end) {
            break;
        }
        a.now = due > a.now ? due : a.now + 1;
    }
    a.now = end;
}

static void connect(uint16_t mtu) {
    assert_int_equal(tendon_obvious_session_connect(&a.session, a.now), TENDON_OK);
    tendon_obvious_relay_connected(&a.relay, mtu, a.now);
    assert_int_equal(a.reads, 0); /* not within the call */
    run(100);
}

static void give_status(const char *value) {
    block bytes = block_hex(value);
    tendon_obvious_relay_status(&a.relay, bytes.data, bytes.length, a.now);
    free(bytes.data);
    run(100);
}

static bool give_data(const char *value) {
    block bytes = block_hex(value);
    bool taken = tendon_obvious_relay_data(&a.relay, bytes.data, bytes.length);
    free(bytes.data);
    run(100);
    return taken;
}

/* The whole value of the response to HELLO, with an MTU of 64. */
static const char hello[] =
    "78 00 00 00 1a 00 4f 42 01 01 01 00 01 00 0c 00 01 00 04 08 ff 00 00 00 04 03 02 01 59 f8 5a b0";
static const char acknowledged[] = "44 00 01 00 01 00 00 00 00 00 08 00";

static void open(void) {
    connect(64);
    give_status("4f 47 50 01 00 00");
    assert_true(give_data(acknowledged));
    assert_true(give_data(hello));
    assert_int_equal(a.opened, 1);
}

static void the_status_is_the_first_that_is_read(void **state) {
    (void)state;
    start();
    connect(64);
    assert_int_equal(a.reads, 1);
    assert_int_equal(a.session.state, TENDON_OBVIOUS_SESSION_CONNECTING);
    assert_int_equal(a.writes, 0);
    give_status("4f 47 50 01 02 00");
    assert_int_equal(a.session.flags, 2);
    assert_int_equal(a.writes, 1);
    assert_hex(a.written, a.length,
               "78 00 00 00 1c 00 4f 42 01 00 01 00 01 00 0e 00 01 01 00 04 08 00 a0 a1 a2 a3 a4 a5 a6 a7 c4 b3 cb 55");
    assert_true(give_data(acknowledged));
    assert_true(give_data(hello));
    assert_int_equal(a.opened, 1);
    assert_int_equal(a.session.state, TENDON_OBVIOUS_SESSION_OPEN);
    assert_hex(a.written, a.length, acknowledged);
}

static void the_value_may_arrive_within_the_request(void **state) {
    (void)state;
    start();
    a.answers_within = true;
    connect(64);
    assert_int_equal(a.reads, 1);
    assert_int_equal(a.writes, 1);
}

/* Our design: an application that does not answer a request for the status within 5 s has none. */
static void a_status_that_never_comes(void **state) {
    (void)state;
    start();
    connect(64);
    run(4899);
    assert_int_equal(a.now, 5999);
    assert_int_equal(a.relay.deadline, 6000);
    assert_int_equal(a.closed + a.unusable, 0);
    run(1);
    assert_int_not_equal(a.relay.deadline, 6000);
}

/* An MTU of 23 is the least, 517 the most. */
static void segments_fit_the_connection(void **state) {
    (void)state;
    static const struct {
        uint16_t mtu, segment;
    } cases[] = {{0, 20}, {22, 20}, {23, 20}, {30, 27}, {64, 34}, {600, 34}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start();
        connect(cases[i].mtu);
        assert_int_equal(a.writes, 0);
        tendon_obvious_relay_status(&a.relay, (const uint8_t *)"OGP\1\0\0", 6, a.now);
        while (a.writes == 0) {
            tendon_memory_radio_tick(&a.radio, a.now);
        }
        assert_int_equal(a.first_length, cases[i].segment);
        assert_int_equal(a.session.op.client->bearer->mtu, cases[i].mtu < 23    ? 23
                                                           : cases[i].mtu > 517 ? 517
                                                                                : cases[i].mtu);
    }
}

static void without_the_characteristic_nothing_is_written(void **state) {
    (void)state;
    start();
    a.has_status = false;
    connect(64);
    run(4899); /* it is asked as long as it may take to read */
    assert_int_equal(a.unusable, 1);
    assert_int_equal(a.status, TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE);
    assert_int_equal(a.reads, 25);
    assert_int_equal(a.writes, 0);
    assert_int_equal(due(), UINT64_MAX);
    /* The next connection is another attempt. */
    tendon_obvious_relay_disconnected(&a.relay, a.now);
    a.has_status = true;
    a.reads = 0;
    open();
}

/* The order of the vendor's guide: the application reports the connection, then it discovers the characteristics. */
static void the_characteristics_are_discovered_later(void **state) {
    (void)state;
    start();
    a.has_status = false;
    connect(64);
    assert_int_equal(a.reads, 1);
    assert_int_equal(a.session.state, TENDON_OBVIOUS_SESSION_CONNECTING);
    tendon_memory_radio_tick(&a.radio, a.now); /* of something else: not due */
    assert_int_equal(a.reads, 1);
    run(3000);
    assert_int_equal(a.reads, 16);
    a.has_status = true;
    run(200);
    assert_int_equal(a.reads, 17);
    run(4000); /* the read has its 5 s */
    assert_int_equal(a.reads, 17);
    give_status("4f 47 50 01 00 00");
    assert_true(give_data(acknowledged));
    assert_true(give_data(hello));
    assert_int_equal(a.opened, 1);
    /* An application that disconnects is not asked any more. */
    tendon_obvious_relay_disconnected(&a.relay, a.now);
    a.has_status = false;
    a.reads = 0;
    connect(64);
    tendon_obvious_relay_disconnected(&a.relay, a.now);
    run(6000);
    assert_int_equal(a.reads, 1);
}

static void a_value_that_is_not_valid(void **state) {
    (void)state;
    static const char *const values[] = {"4f 47 50 02 00 00", "4f 47 50 01 00", ""};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        start();
        connect(64);
        give_status(values[i]);
        assert_int_equal(a.status, TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE);
        assert_int_equal(a.writes, 0);
    }
}

static void no_value_within_five_seconds(void **state) {
    (void)state;
    start();
    connect(64);
    run(4899);
    assert_int_equal(a.unusable, 0);
    run(200);
    assert_int_equal(a.unusable, 1);
    assert_int_equal(a.status, TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE);
    give_status("4f 47 50 01 00 00"); /* too late */
    assert_int_equal(a.writes, 0);
}

/* The application pairs; what remains refused is a failure of pairing. */
static void a_read_that_fails(void **state) {
    (void)state;
    static const struct {
        uint8_t code;
        tendon_status status;
    } cases[] = {{0x05, TENDON_OBVIOUS_ERROR_UNAUTHORIZED},
                 {0x0f, TENDON_OBVIOUS_ERROR_UNAUTHORIZED},
                 {0x02, TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE},
                 {0, TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start();
        connect(64);
        tendon_obvious_relay_failed(&a.relay, cases[i].code, a.now);
        run(1000);
        assert_int_equal(a.unusable, 1);
        assert_int_equal(a.status, cases[i].status);
        assert_int_equal(a.writes, 0);
    }
}

static void a_first_write_that_cannot_be_sent(void **state) {
    (void)state;
    start();
    a.sends = 0;
    connect(64);
    give_status("4f 47 50 01 00 00");
    assert_int_equal(a.writes, 1);
    assert_int_equal(a.closed, 1);
    assert_int_equal(a.relay.status, TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE);
    run(60000);
    assert_int_equal(a.writes, 1);
    /* The next connection is another attempt. */
    tendon_obvious_relay_disconnected(&a.relay, a.now);
    a.sends = 1000;
    a.reads = 0;
    open();
    assert_int_equal(a.relay.status, TENDON_OK);
}

/* 5 in a row; one that is sent in between starts the count again. */
static void later_writes_that_cannot_be_sent(void **state) {
    (void)state;
    start();
    open();
    a.sends = a.writes = 0;
    for (unsigned i = 0; i < 4; i++) { /* a message that arrives again is acknowledged again */
        assert_true(give_data(hello));
    }
    a.sends = 1;
    for (unsigned i = 0; i < 5; i++) {
        assert_true(give_data(hello));
    }
    assert_int_equal(a.closed, 0);
    assert_int_equal(a.writes, 9);
    assert_true(give_data(hello));
    assert_int_equal(a.closed, 1);
    assert_int_equal(a.writes, 10);
    assert_int_equal(a.relay.status, TENDON_OBVIOUS_ERROR_LINK_ERROR);
}

static void the_application_disconnects(void **state) {
    (void)state;
    start();
    open();
    tendon_obvious_relay_connected(&a.relay, 64, a.now); /* it is connected already */
    tendon_obvious_relay_disconnected(&a.relay, a.now);
    assert_int_equal(due(), UINT64_MAX);
    tendon_obvious_relay_connected(&a.relay, 64, a.now);
    assert_int_equal(due(), a.now);
    tendon_obvious_relay_disconnected(&a.relay, a.now);
    assert_int_equal(due(), UINT64_MAX);
    assert_int_equal(a.closed, 1);
    assert_int_equal(a.session.state, TENDON_OBVIOUS_SESSION_IDLE);
    assert_false(give_data(hello));
    a.reads = a.opened = 0;
    open();
}

static void the_application_disconnects_within_a_write(void **state) {
    (void)state;
    start();
    connect(64);
    a.leaves = true;
    give_status("4f 47 50 01 00 00");
    assert_int_equal(a.writes, 1);
    assert_int_equal(a.session.state, TENDON_OBVIOUS_SESSION_IDLE);
    a.reads = a.opened = 0;
    open();
}

/* The session waits for the application. */
static void the_session_connects_first(void **state) {
    (void)state;
    start();
    assert_int_equal(tendon_obvious_session_connect(&a.session, a.now), TENDON_OK);
    run(60000);
    assert_int_equal(a.reads, 0);
    tendon_obvious_relay_connected(&a.relay, 64, a.now);
    tendon_obvious_relay_connected(&a.relay, 64, a.now); /* is ignored */
    run(100);
    assert_int_equal(a.reads, 1);
    give_status("4f 47 50 01 00 00");
    assert_int_equal(a.writes, 1);
}

static void the_session_disconnects(void **state) {
    (void)state;
    start();
    open();
    tendon_obvious_session_disconnect(&a.session, a.now);
    run(10);
    assert_int_equal(a.closed, 1);
    assert_false(give_data(hello));
    /* The application's connection has not ended, and is used again. */
    a.reads = a.opened = 0;
    open();
}

static void values_at_other_times_are_lost(void **state) {
    (void)state;
    start();
    assert_false(give_data(hello));
    give_status("4f 47 50 01 00 00");
    tendon_obvious_relay_failed(&a.relay, 5, a.now);
    connect(23);
    assert_int_equal(a.reads, 1);
    assert_false(give_data(hello));
    give_status("4f 47 50 01 00 00");
    assert_false(give_data(hello)); /* longer than the connection permits */
    assert_int_equal(a.session.counters.segments, 0);
    assert_true(give_data(acknowledged));
    assert_int_equal(a.session.counters.segments, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_status_is_the_first_that_is_read),
        cmocka_unit_test(the_value_may_arrive_within_the_request),
        cmocka_unit_test(a_status_that_never_comes),
        cmocka_unit_test(segments_fit_the_connection),
        cmocka_unit_test(without_the_characteristic_nothing_is_written),
        cmocka_unit_test(the_characteristics_are_discovered_later),
        cmocka_unit_test(a_value_that_is_not_valid),
        cmocka_unit_test(no_value_within_five_seconds),
        cmocka_unit_test(a_read_that_fails),
        cmocka_unit_test(a_first_write_that_cannot_be_sent),
        cmocka_unit_test(later_writes_that_cannot_be_sent),
        cmocka_unit_test(the_application_disconnects),
        cmocka_unit_test(the_application_disconnects_within_a_write),
        cmocka_unit_test(the_session_connects_first),
        cmocka_unit_test(the_session_disconnects),
        cmocka_unit_test(values_at_other_times_are_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
