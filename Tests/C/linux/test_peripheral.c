/* SPDX-License-Identifier: MIT */
/* A device of the program's own behind a virtual radio: places for centrals, filters, deadlines, pairing, the end. */
#include "open_files.h"
#include "virtual/virtual_fixture.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PLACES = TENDON_PERIPHERAL_LINKS };

typedef struct toy_filter {
    int wraps, writables, ticks;
    uint64_t deadline, now;
    bool wants_writable, wants_disconnect;
} toy_filter;

/** A device, its filters, and up to one central more than there are places. */
static struct toy {
    tendon_status advertisement, scan_response, accepts;
    uint8_t flags;
    bool one_place;
    tendon_att_bearer *bearers[PLACES + 1];
    int connected, disconnected, paired, writable, ticks;
    tendon_status reason;
    uint64_t deadline;
    uint32_t wants; /**< of pairing() */
    toy_filter filters[PLACES];
    int told_connected, told_disconnected, told_idle;
    tendon_peripheral peripheral;
    link_end centrals[PLACES + 1];
} toy;

static tendon_status toy_advertisement(const void *device, uint8_t *out, size_t capacity) {
    (void)device;
    assert_int_equal(capacity, TENDON_AD_LEGACY_MAX);
    memcpy(out, (const uint8_t[]){2, 1, toy.flags}, 3);
    return toy.advertisement;
}

static tendon_status toy_scan_response(const void *device, uint8_t *out, size_t capacity) {
    (void)device;
    assert_int_equal(capacity, TENDON_AD_LEGACY_MAX);
    memcpy(out, advertised_name, sizeof advertised_name);
    return toy.scan_response;
}

static tendon_status toy_connected(void *device, tendon_att_bearer *bearer, uint64_t now) {
    (void)device;
    (void)now;
    assert_int_equal(toy.told_connected, toy.connected); /* the device is told first */
    if (toy.one_place && toy.connected != toy.disconnected) {
        return TENDON_ERROR_TABLE_FULL;
    }
    if (toy.accepts >= 0) {
        toy.bearers[toy.connected++] = bearer;
    }
    return toy.accepts;
}

static void toy_disconnected(void *device, tendon_att_bearer *bearer, tendon_status reason, uint64_t now) {
    (void)device;
    (void)now;
    assert_non_null(bearer);
    assert_int_equal(toy.told_disconnected, toy.disconnected);
    toy.disconnected++;
    toy.reason = reason;
}

static void toy_paired(void *device, tendon_att_bearer *bearer, uint64_t now) {
    (void)device;
    (void)now;
    assert_ptr_equal(bearer, toy.bearers[0]);
    toy.paired++;
}

static void toy_writable(void *device, uint64_t now) {
    (void)device;
    (void)now;
    toy.writable++;
}

static void toy_tick(void *device, uint64_t now) {
    (void)device;
    assert_true(toy.deadline <= now);
    toy.ticks++;
    toy.deadline = UINT64_MAX;
}

static uint64_t toy_deadline(const void *device) {
    (void)device;
    return toy.deadline;
}

static uint32_t toy_pairing(void *device) {
    uint32_t wants = toy.wants;
    (void)device;
    toy.wants &= ~(uint32_t)TENDON_PERIPHERAL_CLEAR_BONDS;
    return wants;
}

static tendon_peripheral_ops ops = {.name = "toy",
                                    .advertisement = toy_advertisement,
                                    .scan_response = toy_scan_response,
                                    .connected = toy_connected,
                                    .disconnected = toy_disconnected,
                                    .paired = toy_paired,
                                    .writable = toy_writable,
                                    .tick = toy_tick,
                                    .deadline = toy_deadline};

static tendon_bearer_io filter_wrap(void *context, tendon_bearer_io link) {
    ((toy_filter *)context)->wraps++;
    return link;
}

static void filter_writable(void *context, uint64_t now) {
    (void)now;
    ((toy_filter *)context)->writables++;
    ((toy_filter *)context)->wants_writable = true;
}

static void filter_tick(void *context, uint64_t now) {
    toy_filter *filter = context;
    filter->ticks++;
    filter->now = now;
    filter->deadline = filter->deadline <= now ? UINT64_MAX : filter->deadline;
}

static uint64_t filter_deadline(const void *context) {
    return ((const toy_filter *)context)->deadline;
}

static bool take(bool *flag) {
    bool was = *flag;
    *flag = false;
    return was;
}

static bool filter_take_writable(void *context) {
    return take(&((toy_filter *)context)->wants_writable);
}

static bool filter_take_disconnect(void *context) {
    return take(&((toy_filter *)context)->wants_disconnect);
}

static void on_connected(void *context, tendon_peripheral_link *link, uint64_t now) {
    (void)now;
    assert_ptr_equal(context, &toy);
    assert_true(link->served);
    toy.told_connected++;
}

static void on_disconnected(void *context, tendon_peripheral_link *link, tendon_status reason, uint64_t now) {
    (void)now;
    assert_ptr_equal(context, &toy);
    assert_false(link->used || link->served);
    assert_int_equal(reason, toy.reason);
    toy.told_disconnected++;
}

static void on_idle(void *context, uint64_t now) {
    (void)now;
    assert_ptr_equal(context, &toy);
    assert_false(toy.peripheral.timer.added); /* its memory could be given back now */
    toy.told_idle++;
}

static int toy_setup(void **state) {
    memset(&toy, 0, sizeof toy);
    ops.pairing = NULL;
    toy.advertisement = 3;
    toy.scan_response = sizeof advertised_name;
    toy.flags = 6;
    toy.deadline = UINT64_MAX;
    for (int i = 0; i < PLACES; i++) {
        toy.filters[i].deadline = UINT64_MAX;
    }
    for (int i = 0; i <= PLACES; i++) {
        link_end_init(&toy.centrals[i]);
    }
    int result = world_setup(state);
    world *w = *state;
    const tendon_peripheral_callbacks callbacks = {
        .context = &toy, .connected = on_connected, .disconnected = on_disconnected, .idle = on_idle};
    tendon_peripheral_init(&toy.peripheral, &w->device.radio, &(tendon_peripheral_device){.ops = &ops}, &callbacks);
    return result;
}

static int toy_teardown(void **state) {
    world *w = *state;
    for (int i = 0; i <= PLACES; i++) {
        tendon_link_close(&toy.centrals[i].link);
    }
    tendon_peripheral_close(&toy.peripheral);
    for (int i = 0; i < 4; i++) {
        (void)tendon_loop_step(&w->loop, 0);
    }
    return toy.peripheral.timer.added ? -1 : world_teardown(state);
}
#define WITH_TOY(test) cmocka_unit_test_setup_teardown(test, toy_setup, toy_teardown)

static void use_filters(void) {
    tendon_bearer_filter filters[PLACES];
    for (int i = 0; i < PLACES; i++) {
        filters[i] = (tendon_bearer_filter){.context = &toy.filters[i],
                                            .wrap = filter_wrap,
                                            .writable = filter_writable,
                                            .tick = filter_tick,
                                            .deadline = filter_deadline,
                                            .take_writable = filter_take_writable,
                                            .take_disconnect = filter_take_disconnect};
    }
    tendon_peripheral_set_filters(&toy.peripheral, filters);
}

static void connect_one(world *w, int i) {
    link_end_init(&toy.centrals[i]);
    assert_int_equal(
        tendon_radio_connect(&w->central.radio, &toy.centrals[i].link, &device_address, tendon_monotonic_ms() + 2000),
        TENDON_OK);
}

static void serve_all(world *w) {
    assert_int_equal(tendon_peripheral_open(&toy.peripheral, 20), TENDON_OK);
    for (int i = 0; i < PLACES; i++) {
        connect_one(w, i);
        STEP_UNTIL(&w->loop, toy.told_connected == i + 1);
    }
}

/* ---- places ---- */

static void every_place_serves_and_the_next_central_is_refused(void **state) {
    world *w = *state;
    serve_all(w);
    assert_int_equal(tendon_peripheral_count(&toy.peripheral), PLACES);
    connect_one(w, PLACES);
    STEP_UNTIL(&w->loop, toy.centrals[PLACES].closed == 1);
    assert_int_equal(toy.peripheral.refused, 1);
    assert_int_equal(toy.peripheral.accepted, PLACES);
    tendon_link_close(&toy.centrals[PLACES - 1].link);
    STEP_UNTIL(&w->loop, toy.told_disconnected == 1);
    assert_int_equal(toy.reason, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(tendon_peripheral_count(&toy.peripheral), PLACES - 1);
    toy.connected = toy.told_connected = 0;
    connect_one(w, PLACES); /* into the place that is free again */
    STEP_UNTIL(&w->loop, toy.told_connected == 1);
    assert_ptr_equal(toy.bearers[0], &toy.peripheral.links[PLACES - 1].bearer);
    assert_int_equal(toy.told_idle, 0);
}

/* ---- everything is full at once ---- */

enum { ADDRESSES = TENDON_RESOLVER_SETS * TENDON_RESOLVER_WAYS };

/* Core Specification Vol 3 Part H D.7: the identity key, and an address that it resolves. */
static const uint8_t identity_key[16] = {0x9B, 0x7D, 0x39, 0x0A, 0xA6, 0x10, 0x10, 0x34,
                                         0x05, 0xAD, 0xC8, 0x57, 0xA3, 0x34, 0x02, 0xEC};
static const tendon_address private_address = {{0x70, 0x81, 0x94, 0x0D, 0xFB, 0xAA}, TENDON_ADDRESS_TYPE_RANDOM};

/** As many bonds as there can be; the first one has the key. */
static void fill_bonds(tendon_bonds *bonds) {
    tendon_bonds_init(bonds);
    for (uint8_t i = 0; i < TENDON_BONDS_MAX; i++) {
        tendon_bond bond = {.radio = TENDON_BOND_VIRTUAL, .type = 2, .key_size = 16, .has_identity_key = true};
        bond.own.type = TENDON_ADDRESS_TYPE_PUBLIC;
        bond.peer = (tendon_address){{0xC0, 1, 2, 3, 4, i}, TENDON_ADDRESS_TYPE_RANDOM};
        memcpy(bond.identity_key, identity_key, sizeof bond.identity_key);
        bond.identity_key[0] ^= i;
        assert_int_equal(tendon_bonds_store(bonds, &bond), TENDON_OK);
    }
    assert_int_equal(bonds->count, TENDON_BONDS_MAX);
}

static bool is_bonded(tendon_radio *radio, const tendon_address *address) {
    const tendon_pairing_service *service = tendon_radio_pairing(radio);
    return service->bonded(service->context, address);
}

/** Strangers, as many as the table of private addresses has entries. */
static void ask_for_strangers(tendon_radio *radio) {
    for (uint32_t i = 0; i < ADDRESSES; i++) {
        const uint8_t set = (uint8_t)(i % TENDON_RESOLVER_SETS), way = (uint8_t)(i / TENDON_RESOLVER_SETS);
        const tendon_address stranger = {{0x40, 0, 0, 1, way, set}, TENDON_ADDRESS_TYPE_RANDOM};
        assert_false(is_bonded(radio, &stranger));
    }
}

/** The central at the place after the last is refused, and leaves nothing. */
static void expect_refusal(world *w) {
    const int files = open_descriptors();
    const uint32_t refused = (uint32_t)toy.peripheral.refused;
    connect_one(w, PLACES);
    STEP_UNTIL(&w->loop, toy.centrals[PLACES].closed == 1);
    assert_int_equal(toy.centrals[PLACES].reason, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(toy.peripheral.refused, refused + 1);
    assert_int_equal(tendon_peripheral_count(&toy.peripheral), PLACES);
    assert_int_equal(open_descriptors(), files);
}

/** A place is free, and this process has no descriptor for the central: it waits until there is one. */
static void expect_wait_for_a_descriptor(world *w) {
    struct rlimit limit, none;
    tendon_link_close(&toy.centrals[0].link);
    STEP_UNTIL(&w->loop, toy.told_disconnected == 1);
    toy.connected = toy.told_connected = 0;
    connect_one(w, 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(tendon_loop_step(&w->loop, 0), TENDON_OK);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(toy.told_connected, 0);
    assert_int_equal(tendon_peripheral_count(&toy.peripheral), PLACES - 1);
    STEP_UNTIL(&w->loop, toy.told_connected == 1);
}

static void no_place_no_descriptor_and_no_entry_for_an_address(void **state) {
    world *w = *state;
    tendon_radio *radio = &w->device.radio;
    static tendon_bonds bonds;
    fill_bonds(&bonds);
    assert_int_equal(tendon_radio_use_bonds(radio, &bonds), TENDON_OK);
    serve_all(w);
    ask_for_strangers(radio);
    ask_for_strangers(radio);
    assert_int_equal(radio->resolver.computed, ADDRESSES); /* each has its entry */
    const int files = open_descriptors();
    expect_refusal(w);
    for (int i = 0; i < 2; i++) {
        assert_true(is_bonded(radio, &private_address)); /* in place of one stranger */
        assert_int_equal(radio->resolver.computed, ADDRESSES + 1);
    }
    expect_refusal(w);
    expect_wait_for_a_descriptor(w);
    assert_true(is_bonded(radio, &private_address));
    assert_int_equal(radio->resolver.computed, ADDRESSES + 1);
    expect_refusal(w);
    assert_int_equal(toy.peripheral.accepted, PLACES + 1);
    assert_int_equal(toy.peripheral.refused, 3);
    assert_int_equal(open_descriptors(), files);
    /* With the bond goes what was found by it. */
    assert_int_equal(tendon_radio_forget(radio, &private_address), TENDON_OK);
    assert_int_equal(bonds.count, TENDON_BONDS_MAX - 1);
    assert_false(is_bonded(radio, &private_address));
    assert_int_equal(tendon_peripheral_count(&toy.peripheral), PLACES);
}

static void a_central_that_the_device_refuses_is_disconnected(void **state) {
    world *w = *state;
    toy.accepts = TENDON_ERROR_TABLE_FULL;
    assert_int_equal(tendon_peripheral_open(&toy.peripheral, 20), TENDON_OK);
    connect_one(w, 0);
    STEP_UNTIL(&w->loop, toy.centrals[0].closed == 1 && tendon_peripheral_count(&toy.peripheral) == 0);
    assert_int_equal(toy.peripheral.refused, 1);
    assert_int_equal(toy.peripheral.accepted, 0);
    assert_int_equal(toy.told_connected + toy.told_disconnected + toy.disconnected, 0);
    /* What still arrives for it goes nowhere. */
    tendon_peripheral_link *place = &toy.peripheral.links[0];
    place->link.callbacks.received(place, (const uint8_t *)"\x0A\x01\x00", 3, 1);
    place->link.callbacks.writable(place, 1);
    place->link.callbacks.encrypted(place, 1);
    assert_int_equal(toy.writable + toy.paired, 0);
    assert_int_equal(place->bearer.counters.received, 0);
}

/* A device with one place, as belts: its earlier connection has ended when it is asked about the next one. */
static void a_central_that_connects_again_at_once_is_served(void **state) {
    world *w = *state;
    toy.one_place = true;
    assert_int_equal(tendon_peripheral_open(&toy.peripheral, 20), TENDON_OK);
    connect_one(w, 0);
    STEP_UNTIL(&w->loop, toy.told_connected == 1);
    tendon_link_close(&toy.peripheral.links[0].link);
    connect_one(w, 1); /* before the loop's next step */
    STEP_UNTIL(&w->loop, toy.told_connected == 2);
    assert_int_equal(toy.told_disconnected, 1);
    assert_int_equal(toy.peripheral.refused, 0);
    assert_int_equal(toy.centrals[1].closed, 0);
}

static void closes_all(void *context, tendon_peripheral_link *link, tendon_status reason, uint64_t now) {
    on_disconnected(context, link, reason, now);
    tendon_peripheral_close(&toy.peripheral);
}

/* The owner closes the device when it is notified of the earlier connection: the next one is not served. */
static void a_central_that_connects_while_the_owner_closes(void **state) {
    world *w = *state;
    toy.peripheral.callbacks.disconnected = closes_all;
    assert_int_equal(tendon_peripheral_open(&toy.peripheral, 20), TENDON_OK);
    connect_one(w, 0);
    STEP_UNTIL(&w->loop, toy.told_connected == 1);
    tendon_link_close(&toy.peripheral.links[0].link);
    connect_one(w, 1);
    STEP_UNTIL(&w->loop, toy.told_idle == 1);
    assert_int_equal(toy.connected, 1);
    assert_int_equal(toy.told_disconnected, 1);
    STEP_UNTIL(&w->loop, toy.centrals[1].closed == 1);
}

/* A device hangs up by closing its bearer. */
static void a_closed_bearer_ends_its_link_alone(void **state) {
    world *w = *state;
    serve_all(w);
    tendon_att_bearer_close(toy.bearers[PLACES - 1]);
    tendon_peripheral_refresh(&toy.peripheral);
    STEP_UNTIL(&w->loop, toy.told_disconnected == 1 && toy.centrals[PLACES - 1].closed == 1);
    assert_int_equal(toy.reason, TENDON_ERROR_CANCELLED);
    for (int i = 0; i < PLACES - 1; i++) {
        assert_int_equal(toy.centrals[i].closed, 0);
    }
}

/* ---- PDUs ---- */

/* The bearer has no server: Request Not Supported. */
static void requests_of_every_central_reach_its_bearer(void **state) {
    world *w = *state;
    serve_all(w);
    for (int i = 0; i < PLACES; i++) {
        assert_int_equal(link_end_send(&toy.centrals[i], "\x0A\x03\x00", 3), TENDON_OK);
        STEP_UNTIL(&w->loop, toy.centrals[i].received == 1);
        static const uint8_t refused[] = {0x01, 0x0A, 0, 0, 0x06};
        assert_int_equal(toy.centrals[i].last_length, sizeof refused);
        assert_memory_equal(toy.centrals[i].last, refused, sizeof refused);
        assert_int_equal(toy.bearers[i]->counters.received, 1);
    }
    tendon_peripheral_link *place = &toy.peripheral.links[0];
    place->link.callbacks.encrypted(place, 1);
    assert_int_equal(toy.paired, 1);
}

/** Notifications until the link takes no more. */
static void fill(tendon_att_bearer *bearer) {
    static const uint8_t notification[20] = {0x1B, 3};
    tendon_status status = TENDON_OK;
    while (status >= 0) {
        status = tendon_att_bearer_send(bearer, notification, sizeof notification);
    }
    assert_int_equal(status, TENDON_ERROR_WOULD_BLOCK);
}

static void a_link_that_was_full_is_writable_again(void **state) {
    world *w = *state;
    serve_all(w);
    fill(toy.bearers[PLACES - 1]);
    assert_int_equal(toy.writable, 0);
    STEP_UNTIL(&w->loop, toy.writable > 0);
    assert_true(toy.centrals[PLACES - 1].received > 0);
}

/* With a filter, it is the filter that knows when its own PDUs have left. */
static void a_filter_decides_when_the_device_may_write(void **state) {
    world *w = *state;
    use_filters();
    serve_all(w);
    toy_filter *last = &toy.filters[PLACES - 1];
    assert_int_equal(last->wraps, 1);
    fill(toy.bearers[PLACES - 1]);
    STEP_UNTIL(&w->loop, last->writables > 0);
    STEP_UNTIL(&w->loop, toy.writable > 0);
    assert_false(last->wants_writable);
    int ticks = last->ticks;
    assert_int_equal(link_end_send(&toy.centrals[PLACES - 1], "\x52\x03\x00", 3), TENDON_OK);
    STEP_UNTIL(&w->loop, toy.bearers[PLACES - 1]->counters.received == 1);
    assert_true(last->ticks > ticks);
    assert_int_equal(toy.filters[0].writables, 0);
}

static void a_filter_disconnects_its_link_alone(void **state) {
    world *w = *state;
    use_filters();
    serve_all(w);
    toy.filters[PLACES - 1].wants_disconnect = true;
    toy.deadline = 0;
    tendon_peripheral_refresh(&toy.peripheral);
    STEP_UNTIL(&w->loop, toy.told_disconnected == 1);
    STEP_UNTIL(&w->loop, toy.centrals[PLACES - 1].closed == 1);
    for (int i = 0; i < PLACES - 1; i++) {
        assert_int_equal(toy.centrals[i].closed, 0);
    }
}

/* A fault can be due to what the device's tick() has sent: it is looked at after the tick too, in the same step. */
static void late_tick(void *device, uint64_t now) {
    toy_tick(device, now);
    toy.filters[PLACES - 1].wants_disconnect = true;
}

static void a_filter_is_asked_again_after_the_device(void **state) {
    world *w = *state;
    use_filters();
    serve_all(w);
    void (*before)(void *device, uint64_t now) = ops.tick;
    ops.tick = late_tick;
    toy.deadline = 0;
    toy.peripheral.timer.expired(toy.peripheral.timer.context, tendon_monotonic_ms());
    ops.tick = before;
    assert_int_equal(toy.ticks, 1);
    assert_false(toy.filters[PLACES - 1].wants_disconnect);
    STEP_UNTIL(&w->loop, toy.told_disconnected == 1);
}

/* ---- time ---- */

static void the_earliest_deadline_counts(void **state) {
    world *w = *state;
    use_filters();
    serve_all(w);
    uint64_t now = tendon_monotonic_ms();
    STEP_UNTIL(&w->loop, toy.peripheral.timer.deadline == UINT64_MAX);
    toy.deadline = now + 5000;
    tendon_peripheral_refresh(&toy.peripheral);
    assert_int_equal(toy.peripheral.timer.deadline, now + 5000);
    toy.filters[PLACES - 1].deadline = now + 3000;
    tendon_peripheral_refresh(&toy.peripheral);
    assert_int_equal(toy.peripheral.timer.deadline, now + 3000);
    int ticks = toy.filters[PLACES - 1].ticks;
    toy.peripheral.timer.expired(toy.peripheral.timer.context, now + 3000);
    assert_int_equal(toy.filters[PLACES - 1].ticks, ticks + 1);
    assert_int_equal(toy.ticks, 0); /* not due yet */
    assert_int_equal(toy.peripheral.timer.deadline, now + 5000);
    toy.peripheral.timer.expired(toy.peripheral.timer.context, now + 5000);
    assert_int_equal(toy.ticks, 1);
    assert_true(toy.peripheral.timer.deadline == UINT64_MAX);
}

/* ---- opening and closing ---- */

static void what_cannot_be_opened_leaves_nothing(void **state) {
    world *w = *state;
    for (int i = 0; i < 2; i++) {
        toy.advertisement = i == 0 ? TENDON_ERROR_BUFFER_TOO_SMALL : 3;
        toy.scan_response = i == 1 ? TENDON_ERROR_BUFFER_TOO_SMALL : 4;
        assert_int_equal(tendon_peripheral_open(&toy.peripheral, 20), TENDON_ERROR_BUFFER_TOO_SMALL);
        assert_false(toy.peripheral.open || toy.peripheral.timer.added);
        assert_null(w->device.radio.listener);
        assert_int_equal(entries(w->directory), 0);
    }
    toy.scan_response = 4;
    assert_int_equal(tendon_peripheral_readvertise(&toy.peripheral), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(tendon_peripheral_open(&toy.peripheral, 20), TENDON_OK);
    assert_int_equal(tendon_peripheral_open(&toy.peripheral, 20), TENDON_RADIO_ERROR_ALREADY_STARTED);
    tendon_peripheral second;
    tendon_peripheral_init(&second, &w->device.radio, &toy.peripheral.device, NULL);
    assert_int_equal(tendon_peripheral_open(&second, 20), TENDON_RADIO_ERROR_ALREADY_STARTED);
    assert_int_equal(tendon_peripheral_open(&toy.peripheral, 20), TENDON_RADIO_ERROR_ALREADY_STARTED);
}

static void new_data_is_advertised_at_once(void **state) {
    world *w = *state;
    assert_int_equal(tendon_peripheral_open(&toy.peripheral, 20), TENDON_OK);
    scan(w, false, false);
    STEP_UNTIL(&w->loop, w->reports > 0);
    toy.flags = 4;
    assert_int_equal(tendon_peripheral_readvertise(&toy.peripheral), TENDON_OK);
    STEP_UNTIL(&w->loop, w->report.length == 3 && w->data[2] == 4);
    toy.advertisement = toy.scan_response = 0; /* a device may say nothing */
    assert_int_equal(tendon_peripheral_readvertise(&toy.peripheral), TENDON_OK);
    STEP_UNTIL(&w->loop, w->report.length == 0);
    toy.scan_response = TENDON_ERROR_BUFFER_TOO_SMALL;
    assert_int_equal(tendon_peripheral_readvertise(&toy.peripheral), TENDON_ERROR_BUFFER_TOO_SMALL);
}

/* The owner may give the memory back in idle(): once, after the last link. */
static void closing_ends_every_link_and_then_the_peripheral(void **state) {
    world *w = *state;
    serve_all(w);
    tendon_peripheral_close(&toy.peripheral);
    assert_int_equal(toy.told_idle, 0);
    assert_true(toy.peripheral.timer.added);
    STEP_UNTIL(&w->loop, toy.told_idle == 1);
    assert_int_equal(toy.told_disconnected, PLACES);
    assert_int_equal(toy.disconnected, PLACES);
    for (int i = 0; i < PLACES; i++) {
        STEP_UNTIL(&w->loop, toy.centrals[i].closed == 1);
    }
    tendon_peripheral_close(&toy.peripheral);
    assert_int_equal(toy.told_idle, 1);
    assert_int_equal(entries(w->directory), 0);
}

/* ---- pairing ---- */

static void the_device_decides_about_pairing(void **state) {
    world *w = *state;
    tendon_bonds bonds;
    const tendon_bond bond = {
        .radio = TENDON_BOND_VIRTUAL, .key_size = 16, .own = device_address, .peer = central_address};
    tendon_bonds_init(&bonds);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    tendon_peripheral_refresh(&toy.peripheral); /* not open: nothing is asked of a radio */
    assert_false(w->device.radio.pairable);
    assert_int_equal(tendon_peripheral_open(&toy.peripheral, 20), TENDON_OK);
    assert_false(w->device.radio.pairable); /* the radio has no bonds */
    assert_int_equal(tendon_radio_use_bonds(&w->device.radio, &bonds), TENDON_OK);
    tendon_peripheral_refresh(&toy.peripheral);
    assert_true(w->device.radio.pairable); /* without a word of the device */
    ops.pairing = toy_pairing;
    tendon_peripheral_refresh(&toy.peripheral);
    assert_false(w->device.radio.pairable);
    assert_int_equal(bonds.count, 1);
    toy.wants = TENDON_PERIPHERAL_PAIRABLE;
    tendon_peripheral_refresh(&toy.peripheral);
    assert_true(w->device.radio.pairable);
    assert_int_equal(bonds.count, 1);
    toy.wants = TENDON_PERIPHERAL_CLEAR_BONDS;
    tendon_peripheral_refresh(&toy.peripheral);
    assert_int_equal(bonds.count, 0);
    assert_false(w->device.radio.pairable);
    tendon_peripheral_close(&toy.peripheral);
    toy.wants = TENDON_PERIPHERAL_PAIRABLE;
    tendon_peripheral_refresh(&toy.peripheral);
    assert_false(w->device.radio.pairable); /* closed: its wishes are of no interest any more */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TOY(every_place_serves_and_the_next_central_is_refused),
        WITH_TOY(no_place_no_descriptor_and_no_entry_for_an_address),
        WITH_TOY(a_central_that_the_device_refuses_is_disconnected),
        WITH_TOY(a_central_that_connects_again_at_once_is_served),
        WITH_TOY(a_central_that_connects_while_the_owner_closes),
        WITH_TOY(a_closed_bearer_ends_its_link_alone),
        WITH_TOY(requests_of_every_central_reach_its_bearer),
        WITH_TOY(a_link_that_was_full_is_writable_again),
        WITH_TOY(a_filter_decides_when_the_device_may_write),
        WITH_TOY(a_filter_disconnects_its_link_alone),
        WITH_TOY(a_filter_is_asked_again_after_the_device),
        WITH_TOY(the_earliest_deadline_counts),
        WITH_TOY(what_cannot_be_opened_leaves_nothing),
        WITH_TOY(new_data_is_advertised_at_once),
        WITH_TOY(closing_ends_every_link_and_then_the_peripheral),
        WITH_TOY(the_device_decides_about_pairing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
