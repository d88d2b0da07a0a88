/* SPDX-License-Identifier: MIT */
/*
 * A Bose session over a real GATT client, against the simulated wearable, through a fake link that does to each PDU of
 * the device what the input says: deliver, change a byte, cut, drop, double, put another in its place. In between:
 * time, disconnects, suspension, gestures, configuration.
 */
#include "fuzz.h"
#include "tendon/devices.h"
#include "tendon/simulate.h"

#define QUEUE 32

typedef struct queue {
    size_t count;
    struct {
        size_t length;
        uint8_t bytes[TENDON_ATT_MTU_MAX];
    } pdus[QUEUE];
} queue;

static struct {
    tendon_bose_session session;
    tendon_simulated_bose device;
    tendon_att_bearer ours, theirs;
    tendon_gatt_client client;
    tendon_gatt_request requests[8];
    tendon_gatt_subscription subscriptions[16];
    queue to_device, to_us;
    bool up, connect_asked, disconnect_asked, pair_asked, in_callback;
    uint64_t now;
    unsigned opened, ended;
} world;

static tendon_status push(queue *q, const uint8_t *pdu, size_t length) {
    FUZZ_CHECK(length > 0 && length <= TENDON_ATT_MTU_MAX);
    if (q->count == QUEUE) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    memcpy(q->pdus[q->count].bytes, pdu, length);
    q->pdus[q->count++].length = length;
    return TENDON_OK;
}

static tendon_status send_pdu(void *context, const uint8_t *pdu, size_t length) {
    return push(context, pdu, length);
}

static tendon_status on_connect(void *context) {
    (void)context;
    world.connect_asked = true;
    return TENDON_OK;
}

static void on_disconnect(void *context) {
    (void)context;
    world.disconnect_asked = true;
}

static tendon_status on_pair(void *context) {
    (void)context;
    world.pair_asked = true;
    return TENDON_OK;
}

static void on_event(void *context, const tendon_bose_event *event, uint64_t now) {
    (void)context, (void)now;
    FUZZ_CHECK(!world.in_callback);
    world.in_callback = true;
    (void)fuzz_touch(event->value, event->length);
    if (event->kind == TENDON_BOSE_EVENT_OPEN_FAILED && event->status == TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED) {
        const tendon_bose_intent *required = &world.session.intent;
        const tendon_bose_intent_check *check = event->intents;
        FUZZ_CHECK((check->missing_sensors & ~required->sensors) == 0);
        FUZZ_CHECK((check->missing_periods & ~(unsigned)required->periods) == 0);
        FUZZ_CHECK((check->missing_gestures & ~required->gestures) == 0);
        FUZZ_CHECK(check->missing_sensors != 0 || check->missing_periods != 0 || check->missing_gestures != 0);
    }
    world.opened += event->kind == TENDON_BOSE_EVENT_OPENED;
    world.ended += event->kind == TENDON_BOSE_EVENT_CLOSED || event->kind == TENDON_BOSE_EVENT_OPEN_FAILED;
    world.in_callback = false;
}

static void link_up(void) {
    world.up = true;
    world.connect_asked = world.disconnect_asked = world.pair_asked = false;
    world.to_device.count = world.to_us.count = 0;
    tendon_att_bearer_init(&world.ours, (tendon_bearer_io){&world.to_device, send_pdu}, 247);
    tendon_att_bearer_init(&world.theirs, (tendon_bearer_io){&world.to_us, send_pdu}, 247);
    tendon_gatt_client_config config = {0};
    config.bearer = &world.ours;
    config.requests = world.requests;
    config.request_capacity = 8;
    config.subscriptions = world.subscriptions;
    config.subscription_capacity = 16;
    FUZZ_CHECK(tendon_gatt_client_init(&world.client, &config) >= 0);
    FUZZ_CHECK(tendon_simulated_bose_connected(&world.device, &world.theirs, world.now) >= 0);
    tendon_bose_session_inputs.connected(&world.session, &world.client, world.now);
}

static void link_down(tendon_status reason) {
    world.disconnect_asked = world.connect_asked = false;
    if (world.up) {
        world.up = false;
        tendon_simulated_bose_disconnected(&world.device, &world.theirs, reason, world.now);
        tendon_gatt_client_disconnected(&world.client, reason, world.now);
    }
    tendon_bose_session_inputs.disconnected(&world.session, reason, world.now);
}

/* What the session asked for happens now. */
static void settle(fuzz_input *input) {
    if (world.disconnect_asked) {
        link_down(TENDON_ERROR_CANCELLED);
    }
    if (world.connect_asked && !world.up) {
        link_up();
    }
    if (world.pair_asked && world.up) {
        world.pair_asked = false;
        bool works = (fuzz_u8(input) & 1u) == 0;
        if (works) {
            tendon_simulated_bose_paired(&world.device, &world.theirs, world.now);
        }
        tendon_bose_session_inputs.paired(&world.session, works ? TENDON_OK : TENDON_RADIO_ERROR_PAIRING_FAILED,
                                          world.now);
    }
}

static void deliver(const uint8_t *pdu, size_t length) {
    fuzz_block exact = {malloc(length), length};
    if (length > 0) {
        memcpy(exact.data, pdu, length);
    }
    (void)tendon_att_bearer_receive(&world.ours, exact.data, exact.length, world.now);
    free(exact.data);
}

static void deliver_changed(fuzz_input *input) {
    static queue present;
    present = world.to_us;
    world.to_us.count = 0;
    for (size_t i = 0; i < present.count && world.up; i++) {
        uint8_t *pdu = present.pdus[i].bytes;
        size_t length = present.pdus[i].length;
        uint8_t choice = fuzz_u8(input);
        switch (choice < 0xC0 ? 0 : choice & 7u) {
        case 1:
            pdu[fuzz_u8(input) % length] = fuzz_u8(input);
            deliver(pdu, length);
            break;
        case 2:
            deliver(pdu, fuzz_u8(input) % length);
            break;
        case 3:
            break;
        case 4:
            deliver(pdu, length);
            deliver(pdu, length);
            break;
        case 5: {
            fuzz_block block = fuzz_block_of(input);
            deliver(block.data, block.length);
            free(block.data);
            break;
        }
        default:
            deliver(pdu, length);
            break;
        }
    }
}

static void exchange(fuzz_input *input) {
    static queue present;
    for (int round = 0; round < 40 && world.up && world.to_device.count + world.to_us.count > 0; round++) {
        present = world.to_device;
        world.to_device.count = 0;
        for (size_t i = 0; i < present.count; i++) {
            (void)tendon_att_bearer_receive(&world.theirs, present.pdus[i].bytes, present.pdus[i].length, world.now);
        }
        deliver_changed(input);
        settle(input);
    }
    if (world.up) {
        tendon_att_bearer_writable(&world.ours, world.now);
        tendon_att_bearer_writable(&world.theirs, world.now);
        tendon_simulated_bose_writable(&world.device, world.now);
    }
}

static void pass_time(uint64_t ms) {
    world.now += ms;
    if (world.up) {
        tendon_att_bearer_tick(&world.ours, world.now);
        tendon_att_bearer_tick(&world.theirs, world.now);
    }
    tendon_simulated_bose_tick(&world.device, world.now);
    if (tendon_bose_session_inputs.deadline(&world.session) <= world.now) {
        tendon_bose_session_inputs.tick(&world.session, world.now);
    }
}

static void act(fuzz_input *input) {
    uint8_t choice = fuzz_u8(input);
    tendon_bose_sensor_configuration sensors = world.session.sensor_configuration;
    tendon_bose_gesture_configuration gestures = world.session.gesture_configuration;
    switch (choice % 12) {
    case 0:
        (void)tendon_bose_session_open(&world.session, world.now);
        break;
    case 1:
        (void)tendon_bose_session_close(&world.session, world.now);
        break;
    case 2:
        link_down(TENDON_RADIO_ERROR_PEER_CLOSED);
        break;
    case 3:
        tendon_simulated_bose_suspend(&world.device, (choice & 0x10u) != 0, choice >> 4, world.now);
        break;
    case 4:
        (void)tendon_simulated_bose_gesture(&world.device, fuzz_u8(input), world.now);
        break;
    case 5:
        (void)tendon_bose_enable_sensor(&sensors, fuzz_u8(input) % 5, 20, NULL);
        (void)tendon_bose_session_configure_sensors(&world.session, &sensors, world.now);
        break;
    case 6:
        tendon_bose_set_all_gestures(&gestures, (choice & 0x10u) != 0);
        (void)tendon_bose_session_configure_gestures(&world.session, &gestures, world.now);
        break;
    case 7:
        (void)tendon_bose_session_refresh(&world.session, (tendon_bose_characteristic)(choice >> 4 & 7u), world.now);
        break;
    case 8:
        tendon_simulated_bose_inject(
            &world.device, (tendon_simulated_bose_malformation)(fuzz_u8(input) % TENDON_BOSE_MALFORM_COUNT), 1);
        break;
    case 9:
        tendon_simulated_bose_set_pairing_mode(&world.device, (choice & 0x10u) != 0, world.now);
        break;
    case 10:
        pass_time(6000);
        break;
    default:
        pass_time(20);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    uint8_t kind = fuzz_u8(&input);
    memset(&world, 0, sizeof(world));
    world.now = 1000;
    tendon_simulated_bose_options options = tendon_simulated_bose_frames();
    options.pairing_required = (kind & 1u) != 0;
    options.pairing_enabled = (kind & 2u) != 0;
    options.legacy_gesture_information = (kind & 4u) != 0;
    FUZZ_CHECK(tendon_simulated_bose_init(&world.device, &options) >= 0);
    tendon_bose_session_config config = {0};
    config.link = (tendon_session_link){.connect = on_connect, .disconnect = on_disconnect, .pair = on_pair};
    config.on_event = on_event;
    config.pairing_delegate = (kind & 8u) == 0;
    config.fixed_profile = (kind & 16u) != 0;
    tendon_bose_intent intent = {0};
    if ((kind & 32u) != 0) { /* what is required decides with the device's values whether it opens */
        intent.sensors = fuzz_u16(&input) | (uint32_t)fuzz_u16(&input) << 16;
        intent.periods = fuzz_u16(&input);
        intent.gestures = fuzz_u16(&input) | (uint32_t)fuzz_u16(&input) << 16;
        config.intent = &intent;
    }
    FUZZ_CHECK(tendon_bose_session_init(&world.session, &config) >= 0);
    unsigned opens = tendon_bose_session_open(&world.session, world.now) >= 0;
    for (unsigned steps = 0; steps < 400 && (input.left > 0 || steps < 4); steps++) {
        settle(&input);
        exchange(&input);
        if (world.session.state == TENDON_BOSE_CLOSED) {
            opens += tendon_bose_session_open(&world.session, world.now) >= 0;
        }
        act(&input);
        FUZZ_CHECK(world.session.state < TENDON_BOSE_STATE_COUNT);
    }
    link_down(TENDON_RADIO_ERROR_PEER_CLOSED);
    FUZZ_CHECK(world.session.state == TENDON_BOSE_CLOSED);
    FUZZ_CHECK(world.opened <= world.ended);
    return opens > 1000;
}
