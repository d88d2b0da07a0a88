/* SPDX-License-Identifier: MIT */
/* The memory radio by itself: calls in a wrong state, reports that end a scan, when it is due. */
#include "test_bytes.h"

#include "tendon/simulate.h"

enum { DEVICES = 2 };

/* A session that counts its inputs. */
typedef struct counted {
    int connected, disconnected, paired;
    tendon_status reason;
    tendon_gatt_client *client;
} counted;

typedef struct air {
    tendon_memory_radio radio;
    tendon_memory_radio_device devices[DEVICES];
    tendon_simulated_fjorden grips[DEVICES];
    tendon_session_link link;
    counted session;
    int reports;
    bool stops; /* the scan ends within the first report */
} air;

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    counted *session = context;
    (void)now;
    session->connected++;
    session->client = client;
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    counted *session = context;
    (void)now;
    session->disconnected++;
    session->reason = reason;
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    counted *session = context;
    (void)now;
    session->paired++;
    session->reason = status;
}

static void on_tick(void *context, uint64_t now) {
    (void)context, (void)now;
}

static uint64_t never(const void *context) {
    (void)context;
    return UINT64_MAX;
}

static const tendon_session_inputs inputs = {.connected = on_connected,
                                             .disconnected = on_disconnected,
                                             .paired = on_paired,
                                             .tick = on_tick,
                                             .deadline = never};

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    air *a = context;
    (void)report, (void)now;
    a->reports++;
    if (a->stops) {
        tendon_memory_radio_scan(&a->radio, false);
    }
}

static int setup(void **state) {
    air *a = calloc(1, sizeof *a);
    const tendon_simulated_fjorden_options options = {.open = true};
    for (uint8_t i = 0; i < DEVICES; i++) {
        assert_int_equal(tendon_simulated_fjorden_init(&a->grips[i], &options), TENDON_OK);
        a->devices[i] = (tendon_memory_radio_device){.device = tendon_simulated_fjorden_device(&a->grips[i]),
                                                     .address = {{i, 2, 3, 4, 5, 0xC1}, TENDON_ADDRESS_TYPE_RANDOM},
                                                     .present = true};
    }
    tendon_memory_radio_init(&a->radio, a->devices, DEVICES);
    tendon_memory_radio_attach(&a->radio, &inputs, &a->session);
    tendon_memory_radio_set_target(&a->radio, &a->devices[0].address);
    a->radio.report_context = a;
    a->radio.on_report = on_report;
    a->link = tendon_memory_radio_link(&a->radio);
    *state = a;
    return 0;
}

static int teardown(void **state) {
    free(*state);
    return 0;
}

/* From deadline to deadline; the time of the last one. */
static uint64_t run(air *a, uint64_t from, uint64_t to) {
    uint64_t now = from;
    while (now <= to) {
        tendon_memory_radio_tick(&a->radio, now);
        uint64_t due = tendon_memory_radio_deadline(&a->radio);
        now = due > now ? due : now + 1;
    }
    return to;
}

static void calls_in_a_wrong_state(void **state) {
    air *a = *state;
    assert_int_equal(a->link.pair(a->link.context), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(a->link.connect(a->link.context), TENDON_OK);
    assert_int_equal(a->link.connect(a->link.context), TENDON_ERROR_WRONG_STATE); /* asked for */
    tendon_memory_radio_tick(&a->radio, 0);
    assert_int_equal(a->link.connect(a->link.context), TENDON_ERROR_WRONG_STATE); /* under way */
    tendon_memory_radio_tick(&a->radio, 20);
    assert_int_equal(a->session.connected, 1);
    assert_int_equal(a->link.connect(a->link.context), TENDON_ERROR_WRONG_STATE); /* connected */
    assert_int_equal(a->link.forget(a->link.context), TENDON_ERROR_NOT_FOUND);
    a->link.disconnect(a->link.context);
    a->devices[1].bonded = true; /* forgetting another one does not take it back */
    assert_int_equal(tendon_memory_radio_forget(&a->radio, &a->devices[1].address), TENDON_OK);
    tendon_memory_radio_tick(&a->radio, 21);
    assert_int_equal(a->session.disconnected, 1);
    assert_int_equal(a->session.reason, TENDON_ERROR_CANCELLED);
    a->link.disconnect(a->link.context); /* of nothing */
    tendon_memory_radio_tick(&a->radio, 22);
    assert_int_equal(a->session.disconnected, 1);
}

/* Two devices with an advertisement and a scan response each, every 100 ms. */
static void a_scan_may_end_within_a_report(void **state) {
    air *a = *state;
    tendon_memory_radio_scan(&a->radio, true);
    tendon_memory_radio_tick(&a->radio, 0);
    assert_int_equal(a->reports, 4);
    tendon_memory_radio_tick(&a->radio, 99);
    assert_int_equal(a->reports, 4);
    assert_int_equal(tendon_memory_radio_deadline(&a->radio), 100);
    a->stops = true;
    tendon_memory_radio_tick(&a->radio, 100);
    assert_int_equal(a->reports, 5);
    tendon_memory_radio_scan(&a->radio, true);
    a->radio.on_report = NULL;
    tendon_memory_radio_tick(&a->radio, 200);
    assert_int_equal(a->reports, 5);
}

/* One that is connected does not advertise; one that is out of range neither. */
static void who_advertises(void **state) {
    air *a = *state;
    assert_int_equal(a->link.connect(a->link.context), TENDON_OK);
    (void)run(a, 0, 50);
    assert_int_equal(a->session.connected, 1);
    tendon_memory_radio_scan(&a->radio, true);
    tendon_memory_radio_tick(&a->radio, 60);
    assert_int_equal(a->reports, 2);
    tendon_memory_radio_set_present(&a->radio, &a->devices[1], false, 60);
    tendon_memory_radio_tick(&a->radio, 160);
    assert_int_equal(a->reports, 2);
    tendon_memory_radio_set_present(&a->radio, &a->devices[0], false, 160);
    assert_int_equal(a->session.reason, TENDON_RADIO_ERROR_OUT_OF_RANGE);
    tendon_memory_radio_tick(&a->radio, 260);
    assert_int_equal(a->reports, 2);
}

/* Whichever side closes its bearer: due at once, and the link ends in that tick. */
static void a_bearer_that_closes_ends_the_link(void **state) {
    air *a = *state;
    uint64_t now = 0;
    for (int side = 0; side < 2; side++) {
        assert_int_equal(a->link.connect(a->link.context), TENDON_OK);
        now = run(a, now, now + 50);
        assert_int_equal(a->session.connected, side + 1);
        assert_true(tendon_memory_radio_deadline(&a->radio) > now);
        tendon_att_bearer_close(side == 0 ? &a->radio.ours : &a->radio.theirs);
        assert_true(tendon_memory_radio_deadline(&a->radio) <= now);
        tendon_memory_radio_tick(&a->radio, now);
        assert_int_equal(a->session.disconnected, side + 1);
        assert_int_equal(a->session.reason, TENDON_RADIO_ERROR_PEER_CLOSED);
    }
}

static void walk_away(void *context, const tendon_gatt_value *value, uint64_t now) {
    air *a = context;
    (void)value;
    tendon_memory_radio_set_present(&a->radio, &a->devices[0], false, now);
}

/* The device has filled its queue, so that it waits for room when the value's handler takes it out of range. */
static void the_link_may_end_within_a_value(void **state) {
    air *a = *state;
    const tendon_simulated_fjorden_options options = {.open = true, .flat_out = true};
    assert_int_equal(tendon_simulated_fjorden_init(&a->grips[0], &options), TENDON_OK);
    uint16_t handle = a->grips[0].event_handle;
    assert_int_equal(a->link.connect(a->link.context), TENDON_OK);
    uint64_t now = run(a, 0, 20);
    assert_int_equal(a->session.connected, 1);
    tendon_gatt_subscribe(a->session.client, handle, (uint16_t)(handle + 1), false, walk_away, a, NULL, NULL, now);
    (void)run(a, now, now + 20);
    assert_int_equal(a->session.disconnected, 1);
    assert_int_equal(a->session.reason, TENDON_RADIO_ERROR_OUT_OF_RANGE);
}

static void on_done(void *context, const tendon_gatt_result *result) {
    *(tendon_status *)context = result->status;
}

/* A device that answers nothing: the transaction's 30 s are the radio's deadline (Core Spec Vol 3 Part F 3.3.3). */
static void a_transaction_is_a_deadline(void **state) {
    air *a = *state;
    tendon_status status = 1;
    assert_int_equal(a->link.connect(a->link.context), TENDON_OK);
    uint64_t now = run(a, 0, 50);
    a->devices[0].silent = true;
    assert_true(tendon_gatt_read(a->session.client, 3, on_done, &status, now) > 0);
    tendon_memory_radio_tick(&a->radio, now);
    assert_int_equal(tendon_memory_radio_deadline(&a->radio), now + 30000);
    (void)run(a, now, now + 29999);
    assert_int_equal(status, 1);
    tendon_memory_radio_tick(&a->radio, now + 30000);
    assert_true(status < 0);
}

/* 20 ms, and the key stays until it is forgotten. */
static void pairing_takes_its_time(void **state) {
    air *a = *state;
    assert_int_equal(a->link.connect(a->link.context), TENDON_OK);
    uint64_t now = run(a, 0, 50);
    for (int round = 0; round < 2; round++) {
        a->devices[0].rejects_pairing = round == 0;
        assert_int_equal(a->link.pair(a->link.context), TENDON_OK);
        assert_true(tendon_memory_radio_deadline(&a->radio) <= now);
        tendon_memory_radio_tick(&a->radio, now);
        assert_int_equal(tendon_memory_radio_deadline(&a->radio), now + 20);
        tendon_memory_radio_tick(&a->radio, now + 19);
        assert_int_equal(a->session.paired, round);
        now += 20;
        tendon_memory_radio_tick(&a->radio, now);
        assert_int_equal(a->session.paired, round + 1);
        assert_int_equal(a->session.reason, round == 0 ? TENDON_RADIO_ERROR_PAIRING_FAILED : TENDON_OK);
        assert_int_equal(a->link.bonded(a->link.context), round == 1);
    }
    assert_int_equal(a->link.forget(a->link.context), TENDON_OK);
    assert_false(a->link.bonded(a->link.context));
    tendon_memory_radio_tick(&a->radio, now);
    assert_int_equal(a->session.disconnected, 1);
}

static int writables;

static void on_writable(void *device, uint64_t now) {
    (void)device, (void)now;
    writables++;
}

/* 16 PDUs fit in each direction. Who was refused is notified once that there is room, and not again. */
static void a_full_queue_is_writable_once(void **state) {
    air *a = *state;
    static const uint8_t notification[] = {0x1B, 0xF0, 0, 1}, command[] = {0x52, 0xF0, 0, 1};
    tendon_peripheral_ops ops = *a->devices[0].device.ops;
    ops.writable = on_writable;
    a->devices[0].device.ops = &ops;
    assert_int_equal(a->link.connect(a->link.context), TENDON_OK);
    (void)run(a, 0, 100);
    writables = 0;
    for (int refused = 0; refused < 2; refused++) {
        for (int i = 0; i < 16; i++) {
            assert_int_equal(tendon_att_bearer_send(&a->radio.theirs, notification, sizeof notification), TENDON_OK);
            assert_int_equal(tendon_att_bearer_send(&a->radio.ours, command, sizeof command), TENDON_OK);
        }
        if (refused) {
            assert_int_equal(tendon_att_bearer_send(&a->radio.theirs, notification, sizeof notification),
                             TENDON_ERROR_WOULD_BLOCK);
            assert_int_equal(tendon_att_bearer_send(&a->radio.ours, command, sizeof command), TENDON_ERROR_WOULD_BLOCK);
        }
        for (uint64_t now = 200; now < 210; now++) {
            tendon_memory_radio_tick(&a->radio, now);
        }
        assert_int_equal(writables, refused);
        assert_int_equal(a->radio.to_us.count + a->radio.to_device.count, 0);
        assert_false(a->radio.to_us.refused || a->radio.to_device.refused);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_in_a_wrong_state, setup, teardown),
        cmocka_unit_test_setup_teardown(a_scan_may_end_within_a_report, setup, teardown),
        cmocka_unit_test_setup_teardown(who_advertises, setup, teardown),
        cmocka_unit_test_setup_teardown(a_bearer_that_closes_ends_the_link, setup, teardown),
        cmocka_unit_test_setup_teardown(the_link_may_end_within_a_value, setup, teardown),
        cmocka_unit_test_setup_teardown(a_transaction_is_a_deadline, setup, teardown),
        cmocka_unit_test_setup_teardown(pairing_takes_its_time, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_queue_is_writable_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
