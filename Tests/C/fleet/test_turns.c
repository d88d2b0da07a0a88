/* SPDX-License-Identifier: MIT */
/* Turns with radios that receive what the test says: what each packet begins, over which radio, and what ends. */
#include "test_bytes.h"

#include "tendon/tendon.h"

enum { RADIOS = 2, TRAINER = 2 };

static struct {
    tendon_turns turns;
    tendon_turns_taken taken; /* of the latest packet */
    tendon_admission_record records[64];
    tendon_search_advertiser advertisers[64];
    tendon_radio radios[RADIOS];
    tendon_bonds bonds;
    tendon_address bonded[RADIOS]; /* all zeros: none */
    bool served, expected, allowed, begins;
    unsigned begun, removed, asked; /* asked: of another gateway */
    uint8_t radio, family;          /* of the latest turn */
} w;

/* ---- radios ---- */

static tendon_status scan_start(tendon_radio *radio, const tendon_scan_parameters *parameters) {
    (void)radio, (void)parameters;
    return TENDON_OK;
}

static tendon_status scan_stop(tendon_radio *radio) {
    (void)radio;
    return TENDON_OK;
}

static const tendon_radio_ops ops = {.name = "test", .scan_start = scan_start, .scan_stop = scan_stop};

static bool bonded(void *context, const tendon_address *peer) {
    return tendon_address_equal(context, peer);
}

static uint32_t no_random(void *context) {
    (void)context;
    return 0;
}

/* ---- the owner ---- */

static bool serves(void *context, const tendon_address *address, uint8_t family) {
    (void)context, (void)address, (void)family;
    return w.served;
}

static bool expects(void *context, const tendon_address *address) {
    (void)context, (void)address;
    return w.expected;
}

static bool may_connect(void *context, const tendon_address *address, uint8_t family) {
    (void)context, (void)address;
    assert_int_equal(family, TRAINER);
    w.asked++;
    return w.allowed;
}

static bool begin(void *context, const tendon_address *address, uint8_t family, uint8_t radio, uint64_t now) {
    (void)address, (void)now;
    assert_ptr_equal(context, &w);
    w.begun += w.begins;
    w.radio = radio;
    w.family = family;
    return w.begins;
}

static void bond_removed(void *context, const tendon_address *address) {
    (void)context, (void)address;
    w.removed++;
}

static int start(void **state) {
    (void)state;
    static const tendon_admission_random random = {.next = no_random};
    memset(&w, 0, sizeof w);
    w.served = w.allowed = w.begins = true;
    tendon_turns_init(&w.turns, &(tendon_turns_config){.owner = {.context = &w,
                                                                 .serves = serves,
                                                                 .expects = expects,
                                                                 .may_connect = may_connect,
                                                                 .begin = begin,
                                                                 .bond_removed = bond_removed},
                                                       .records = w.records,
                                                       .record_count = 64,
                                                       .advertisers = w.advertisers,
                                                       .advertiser_count = 64,
                                                       .random = &random});
    tendon_bonds_init(&w.bonds);
    for (uint8_t i = 0; i < RADIOS; i++) {
        w.radios[i] = (tendon_radio){.ops = &ops,
                                     .address = {.bytes = {i}},
                                     .bonds = &w.bonds,
                                     .pairing = {.context = &w.bonded[i], .bonded = bonded}};
        assert_int_equal(tendon_turns_use_radio(&w.turns, i, &w.radios[i]), TENDON_OK);
    }
    return 0;
}

/* ---- packets ---- */

static tendon_address device(uint8_t number) {
    return (tendon_address){{0xC0, 0, 0, 0, 0, number}, TENDON_ADDRESS_TYPE_RANDOM};
}

/* A trainer; without a name of its own it has a scan response. */
static tendon_turns_taken hear(uint8_t number, uint8_t radio, uint16_t properties, uint64_t now) {
    static const uint8_t advertisement[] = {0x03, 0x03, 0x00, 0x50}, response[] = {0x03, 0x09, 'A', 'b'};
    bool is_response = (properties & TENDON_AD_SCAN_RESPONSE) != 0;
    const tendon_ad_report report = {.address = device(number),
                                     .properties = properties,
                                     .data = is_response ? response : advertisement,
                                     .length = sizeof advertisement};
    return w.taken = tendon_turns_take(&w.turns, radio, &report, now);
}

static uint64_t follow(uint8_t number, uint64_t now) {
    const tendon_address address = device(number);
    return tendon_turns_follow(&w.turns, &address, &w.taken, now);
}

/* It needs no scan response, and all radios have received it. Returns how many turns it has begun. */
static unsigned begin_turn(uint8_t number, uint64_t now) {
    unsigned before = w.begun;
    for (uint8_t i = 0; i < RADIOS; i++) {
        (void)hear(number, i, TENDON_AD_CONNECTABLE, now);
    }
    (void)follow(number, now);
    return w.begun - before;
}

static uint64_t end_turn(uint8_t number, uint8_t radio, tendon_status cause, uint64_t now) {
    const tendon_address address = device(number);
    const tendon_admission_ending ending = {.radio = radio, .may_retry = true};
    return tendon_turns_end(&w.turns, &address, &ending, cause, now);
}

/* ---- tests ---- */

static void a_packet_begins_a_turn(void **state) {
    (void)state;
    tendon_turns_taken taken = hear(1, 0, TENDON_AD_CONNECTABLE, 1000);
    assert_true(taken.is_new && taken.is_served && !taken.is_connected && !taken.is_left);
    assert_int_equal(taken.family, TRAINER);
    assert_int_equal(follow(1, 1000), 2000); /* the other radio may receive it, too */
    assert_int_equal(w.begun, 0);
    taken = hear(1, 1, TENDON_AD_CONNECTABLE, 1001);
    assert_false(taken.is_new);
    (void)follow(1, 1001);
    assert_int_equal(w.begun, 1);
    (void)follow(1, 1002);
    assert_int_equal(w.begun, 1);
    const tendon_address address = device(1);
    tendon_admission_answered(&w.turns.admission, &address);
    taken = hear(1, 0, TENDON_AD_CONNECTABLE, 1003);
    assert_true(taken.is_connected && taken.is_served);
}

/* Another family, or another device than those that are wanted. */
static void what_is_not_served(void **state) {
    (void)state;
    w.served = false;
    tendon_turns_taken taken = hear(1, 0, TENDON_AD_CONNECTABLE, 1000);
    assert_true(taken.family != TENDON_SEARCH_NO_FAMILY && !taken.is_served && !taken.is_new);
    assert_int_equal(follow(1, 1000), UINT64_MAX);
    w.served = true;
    assert_true(hear(1, 0, TENDON_AD_CONNECTABLE, 1000).is_new);
    w.served = false; /* by another configuration, in the meantime */
    tendon_turns_step(&w.turns, 20000);
    assert_int_equal(w.begun, 0);
}

/* Over the radio with fewer connections, until it is full; what cannot begin is tried later. */
static void radios_are_chosen(void **state) {
    (void)state;
    for (uint8_t number = 1; number <= 4; number++) {
        assert_int_equal(begin_turn(number, 1000u * number), 1);
        assert_int_equal(w.radio, (number - 1) % 2);
    }
    (void)end_turn(2, 1, TENDON_HCI_ERROR(0x09), 5000); /* Connection Limit Exceeded */
    assert_int_equal(begin_turn(5, 20000), 1);
    assert_int_equal(w.radio, 0);
    assert_int_equal(begin_turn(6, 21000), 1);
    assert_int_equal(w.radio, 0);
    w.begins = false;
    assert_int_equal(begin_turn(7, 22000), 0);
    assert_int_equal(w.turns.group.members[0].assigned + w.turns.group.members[1].assigned, 5);
    w.begins = true;
    tendon_turns_step(&w.turns, 22499);
    assert_int_equal(w.begun, 6);
    tendon_turns_step(&w.turns, 22500);
    assert_int_equal(w.begun, 7);
    assert_int_equal(w.radio, 0); /* the attempt that could not begin is not counted */
}

static void expected_devices_come_first(void **state) {
    (void)state;
    const tendon_address address = device(9);
    for (uint8_t number = 1; number <= TENDON_ADMISSION_UNPROVEN_MAX; number++) {
        assert_int_equal(begin_turn(number, 1000), 1);
    }
    assert_int_equal(begin_turn(8 + 2, 1000), 0); /* too many strangers */
    assert_true(tendon_turns_add(&w.turns, &address, TRAINER, 0, 1000));
    tendon_turns_step(&w.turns, 4000); /* the other radio does not receive it */
    assert_int_equal(w.begun, TENDON_ADMISSION_UNPROVEN_MAX + 1);
    assert_int_equal(w.family, TRAINER);
    w.expected = true;
    assert_int_equal(begin_turn(11, 4000), 1);
    w.expected = false;
    w.bonded[1] = device(12);
    assert_int_equal(begin_turn(12, 4000), 1);
    assert_int_equal(begin_turn(13, 4000), 0);
    /* The bond may be of any radio, of the last one, too. */
    enum { LAST = TENDON_ADMISSION_RADIOS - 1 };
    tendon_address other = device(14);
    tendon_radio last = w.radios[0];
    last.address.bytes[0] = LAST;
    last.pairing.context = &other;
    assert_int_equal(tendon_turns_use_radio(&w.turns, LAST, &last), TENDON_OK);
    assert_int_equal(tendon_turns_radios(&w.turns), 3 | 1 << LAST);
    unsigned before = w.begun;
    (void)hear(14, LAST, TENDON_AD_CONNECTABLE, 4000);
    (void)begin_turn(14, 4000);
    assert_int_equal(w.begun, before + 1);
    tendon_turns_bond_changed(&w.turns, &other, 4001);
    assert_int_equal(w.removed, 0);
    tendon_address gone = other;
    memset(&other, 0, sizeof other);
    tendon_turns_bond_changed(&w.turns, &gone, 4002);
    assert_int_equal(w.removed, 1);
    (void)hear(15, 0, TENDON_AD_CONNECTABLE | TENDON_AD_SCANNABLE, 4000);
    tendon_turns_step(&w.turns, 4000);
    assert_true(last.scanning);
    tendon_turns_stop_radio(&w.turns, LAST);
}

/* Another gateway may have it: it is asked each second, for as long as the device is in range. A packet of the device
 * asks about that alone. */
static void another_gateway_is_asked(void **state) {
    (void)state;
    w.allowed = false;
    assert_int_equal(begin_turn(2, 1000), 0);
    w.asked = 0;
    assert_int_equal(begin_turn(1, 1000), 0);
    assert_int_equal(w.asked, 1);
    assert_int_equal(tendon_turns_deadline(&w.turns, 5000), 5000 + TENDON_TURNS_ASK_MS);
    w.allowed = true;
    tendon_turns_step(&w.turns, 6000);
    assert_int_equal(w.begun, 2);
    assert_int_equal(tendon_turns_deadline(&w.turns, 6000), UINT64_MAX);
}

/* All devices are looked at no more often than that; a packet looks at its own. */
static void nothing_ticks(void **state) {
    (void)state;
    assert_int_equal(tendon_turns_deadline(&w.turns, 1000), UINT64_MAX);
    (void)hear(1, 0, TENDON_AD_CONNECTABLE, 1000);
    assert_int_equal(tendon_turns_deadline(&w.turns, 1500), 2000);
    tendon_turns_step(&w.turns, 1990);
    assert_int_equal(tendon_turns_deadline(&w.turns, 1990), 1990 + TENDON_TURNS_GRANULARITY_MS);
    assert_int_equal(follow(1, 1995), 1990 + TENDON_TURNS_GRANULARITY_MS);
}

static void responses_are_asked_for(void **state) {
    (void)state;
    const uint16_t scannable = TENDON_AD_CONNECTABLE | TENDON_AD_SCANNABLE;
    tendon_turns_step(&w.turns, 500);
    assert_false(w.radios[0].scanning);
    (void)hear(1, 0, scannable, 1000);
    assert_int_equal(follow(1, 1000), 0);
    tendon_turns_step(&w.turns, 1000);
    assert_true(w.radios[0].scan.active && w.radios[1].scan.active);
    (void)hear(1, 1, scannable, 1001);
    assert_int_not_equal(follow(1, 1001), 0);
    assert_int_equal(w.begun, 0);
    tendon_turns_taken taken = hear(1, 1, TENDON_AD_SCAN_RESPONSE, 1002);
    assert_int_equal(taken.name_length, 2);
    assert_int_equal(follow(1, 1002), 0);
    assert_int_equal(w.begun, 1); /* it was awaited */
    tendon_turns_step(&w.turns, 1002);
    assert_false(w.radios[0].scanning || w.radios[1].scanning);
    (void)hear(2, 0, scannable, 70000); /* and by its end */
    tendon_turns_step(&w.turns, 70000);
    assert_true(w.radios[0].scanning);
    tendon_turns_finish(&w.turns);
    assert_int_equal(tendon_turns_deadline(&w.turns, 70001), 70000 + TENDON_SEARCH_ASK_MS);
    tendon_turns_stop_radio(&w.turns, 0);
    assert_false(w.radios[0].scanning);
    assert_null(w.radios[0].leases);
}

static void a_radio_is_lost(void **state) {
    (void)state;
    assert_int_equal(begin_turn(1, 1000), 1);
    const tendon_address other = device(3);
    (void)hear(3, 0, TENDON_AD_CONNECTABLE, 1000);
    tendon_turns_stop_radio(&w.turns, 0);
    tendon_turns_stop_radio(&w.turns, 0);
    assert_int_equal(tendon_turns_radios(&w.turns), 2);
    assert_int_equal(end_turn(1, 0, TENDON_OK, 2000), UINT64_MAX); /* not the device's fault */
    tendon_turns_lose_radio(&w.turns, 0);
    assert_int_equal(tendon_admission_radios(&w.turns.admission, &other), 0); /* out of range, as far as is known */
    assert_int_equal(begin_turn(2, 2100), 1);
    assert_int_equal(w.radio, 1);
    assert_int_equal(tendon_turns_use_radio(&w.turns, 0, &w.radios[0]), TENDON_OK);
    assert_int_equal(w.turns.group.members[1].assigned, 0); /* nothing of before */
    assert_int_equal(begin_turn(1, 20000), 1);
    assert_int_equal(w.radio, 0);
    assert_int_not_equal(tendon_turns_use_radio(&w.turns, 1, &w.radios[0]), TENDON_OK);
}

/* A radio over which an attempt has failed makes the next one if no other can: only it has the bond, the others were
 * lost, or are full. */
static void a_radio_that_failed_tries_again(void **state) {
    (void)state;
    w.bonded[0] = device(1);
    assert_int_equal(begin_turn(1, 1000), 1);
    assert_int_equal(w.radio, 0);
    (void)end_turn(1, 0, TENDON_OK, 2000);
    assert_int_equal(begin_turn(1, 20000), 1);
    assert_int_equal(w.radio, 0);
    (void)end_turn(1, 0, TENDON_OK, 21000);
    w.bonded[1] = device(1); /* then the other one is before it */
    assert_int_equal(begin_turn(1, 60000), 1);
    assert_int_equal(w.radio, 1);

    assert_int_equal(begin_turn(2, 61000), 1);
    assert_int_equal(w.radio, 0);
    (void)end_turn(2, 0, TENDON_OK, 62000);
    (void)end_turn(1, 1, TENDON_HCI_ERROR(0x09), 62000); /* full, and not for another reason */
    assert_int_equal(begin_turn(2, 90000), 1);
    assert_int_equal(w.radio, 0);
    (void)end_turn(2, 0, TENDON_OK, 91000);
    tendon_turns_stop_radio(&w.turns, 1);
    tendon_turns_lose_radio(&w.turns, 1);
    (void)hear(2, 0, TENDON_AD_CONNECTABLE, 110000);
    tendon_turns_step(&w.turns, 110000);
    assert_int_equal(w.radio, 0);
    assert_int_equal(w.begun, 6);
}

/* Noticed when the device advertises, connected or not, and when its turn has ended. */
static void a_bond_is_removed(void **state) {
    (void)state;
    const tendon_address address = device(1);
    for (int when = 0; when < 3; when++) {
        uint64_t now = 1000u + 100000u * (unsigned)when;
        w.removed = 0;
        w.bonded[0] = address;
        assert_int_equal(begin_turn(1, now), 1);
        assert_int_equal(w.radio, 0); /* the one with the bond */
        assert_int_equal(w.removed, 0);
        if (when > 0) {
            tendon_admission_answered(&w.turns.admission, &address);
        }
        memset(&w.bonded[0], 0, sizeof w.bonded[0]);
        if (when < 2) {
            tendon_turns_taken taken = hear(1, 0, TENDON_AD_CONNECTABLE, now + 1);
            assert_int_equal(taken.is_left, when == 0);
            assert_int_equal(w.removed, 1);
        }
        (void)end_turn(1, 0, TENDON_OK, now + 2);
        assert_int_equal(w.removed, 1);
        assert_int_equal(begin_turn(1, now + 90000), 0);
        assert_false(tendon_turns_add(&w.turns, &address, TRAINER, 0, now + 90000));
        tendon_admission_recall(&w.turns.admission, NULL);
    }
}

/* The device was paired in this turn: the bond is new. It is removed by another program, or by whoever forgets the
 * device. */
static void a_new_bond_is_removed(void **state) {
    (void)state;
    const tendon_address address = device(1);
    for (int is_forgotten = 0; is_forgotten < 2; is_forgotten++) {
        uint64_t now = 1000u + 100000u * (unsigned)is_forgotten;
        w.removed = 0;
        assert_int_equal(begin_turn(1, now), 1);
        w.bonded[w.radio] = address;
        tendon_admission_answered(&w.turns.admission, &address);
        tendon_turns_connected(&w.turns, &address, w.radio, now + 1);
        assert_int_equal(w.removed, 0);
        if (is_forgotten) {
            assert_true(tendon_admission_dismiss(&w.turns.admission, &address, now + 2));
            (void)hear(1, w.radio, TENDON_AD_CONNECTABLE, now + 3);
            (void)end_turn(1, w.radio, TENDON_OK, now + 4);
            (void)hear(1, w.radio, TENDON_AD_CONNECTABLE, now + 5);
            memset(&w.bonded[w.radio], 0, sizeof w.bonded[0]);
            /* It is not received before it is paired again, by another program. */
            tendon_turns_bond_changed(&w.turns, &address, now + 6);
            assert_int_equal(begin_turn(1, now + 30000), 0);
            w.bonded[w.radio] = address;
            (void)hear(1, w.radio, TENDON_AD_CONNECTABLE, now + 60000);
            assert_int_equal(begin_turn(1, now + 70000), 1);
            (void)end_turn(1, w.radio, TENDON_OK, now + 70001);
            memset(&w.bonded[w.radio], 0, sizeof w.bonded[0]);
            assert_true(tendon_admission_dismiss(&w.turns.admission, &address, now + 70002));
        } else {
            memset(&w.bonded[w.radio], 0, sizeof w.bonded[0]);
            (void)end_turn(1, w.radio, TENDON_OK, now + 4);
        }
        assert_int_equal(begin_turn(1, now + 90000), 0);
        assert_int_equal(w.removed, is_forgotten ? 0 : 1);
        tendon_admission_recall(&w.turns.admission, NULL);
    }
}

static void the_end(void **state) {
    (void)state;
    assert_int_equal(begin_turn(1, 1000), 1);
    tendon_turns_finish(&w.turns);
    assert_int_equal(begin_turn(2, 2000), 0);
    tendon_turns_step(&w.turns, 3000);
    assert_int_equal(w.begun, 1);
    assert_int_equal(tendon_turns_deadline(&w.turns, 3000), UINT64_MAX);
    assert_int_equal(end_turn(1, 0, TENDON_OK, 3000), 1000);
    assert_int_equal(w.turns.group.members[0].assigned, 0);
    assert_int_equal(w.turns.admission.served, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_packet_begins_a_turn, start),
        cmocka_unit_test_setup(what_is_not_served, start),
        cmocka_unit_test_setup(radios_are_chosen, start),
        cmocka_unit_test_setup(expected_devices_come_first, start),
        cmocka_unit_test_setup(another_gateway_is_asked, start),
        cmocka_unit_test_setup(nothing_ticks, start),
        cmocka_unit_test_setup(responses_are_asked_for, start),
        cmocka_unit_test_setup(a_radio_is_lost, start),
        cmocka_unit_test_setup(a_radio_that_failed_tries_again, start),
        cmocka_unit_test_setup(a_bond_is_removed, start),
        cmocka_unit_test_setup(a_new_bond_is_removed, start),
        cmocka_unit_test_setup(the_end, start),
    };
    return cmocka_run_group_tests_name("fleet: turns", tests, NULL, NULL);
}
