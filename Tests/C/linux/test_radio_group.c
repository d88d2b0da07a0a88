/* SPDX-License-Identifier: MIT */
/* Several radios: which of them connects to a device. The radios are lists of links, as the group reads them. */
#include "tendon/linux/radio_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { RADIOS = TENDON_RADIO_GROUP_MAX + 1, LINKS = 64 };
#define NO_ROOM TENDON_HCI_ERROR(0x09) /* Connection Limit Exceeded, Core Spec Vol 1 Part F 2.9 */

static tendon_radio radios[RADIOS];
static tendon_radio_group group;
static tendon_link links[LINKS];
static size_t used;

static int start(void **state) {
    (void)state;
    memset(radios, 0, sizeof radios);
    memset(links, 0, sizeof links);
    group = (tendon_radio_group){.count = 0};
    used = 0;
    return 0;
}

static tendon_address device(unsigned number) {
    return (tendon_address){{0xC0, 0, 0x5E, 0, (uint8_t)(number >> 8), (uint8_t)number}, TENDON_ADDRESS_TYPE_RANDOM};
}

static tendon_link *add_link(tendon_radio *radio, unsigned number, tendon_link_state state) {
    tendon_link *link = &links[used++];
    link->peer = link->identity = device(number);
    link->state = (uint8_t)state;
    link->next = radio->links;
    radio->links = link;
    return link;
}

static void end_link(tendon_radio *radio) {
    radio->links = radio->links->next;
}

static tendon_radio *choose(unsigned number, uint64_t now, tendon_status expected) {
    tendon_address peer = device(number);
    tendon_radio *chosen = &radios[RADIOS - 1];
    assert_int_equal(tendon_radio_group_choose_among(&group, &peer, UINT32_MAX, now, &chosen), expected);
    return chosen;
}

static void connections_are_spread(void **state) {
    (void)state;
    unsigned each[3] = {0};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tendon_radio_group_add(&group, &radios[i], 0), TENDON_OK);
    }
    for (unsigned number = 0; number < 30; number++) {
        tendon_radio *radio = choose(number, 0, TENDON_OK);
        assert_ptr_equal(radio, &radios[number % 3]); /* the one with the fewest; of equals the first */
        each[radio - radios]++;
        (void)add_link(radio, number, number % 2 ? TENDON_LINK_OPEN : TENDON_LINK_ASKED);
    }
    assert_true(each[0] == 10 && each[1] == 10 && each[2] == 10);
}

/** Linux finds the adapter of a connection by its address. */
static void adapters_with_one_address_are_one(void **state) {
    static const tendon_radio_ops kernels = {.bond_radio = TENDON_BOND_KERNEL},
                                  virtual = {.bond_radio = TENDON_BOND_VIRTUAL};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        radios[i].ops = i < 3 ? &kernels : &virtual;
        radios[i].address = device(i == 1 ? 2 : 1);
    }
    static const tendon_status expected[] = {TENDON_OK, TENDON_OK, TENDON_RADIO_ERROR_SAME_ADDRESS,
                                             TENDON_OK, TENDON_OK, TENDON_OK};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(tendon_radio_group_add(&group, &radios[i], 0), expected[i]);
    }
    tendon_radio_group_remove(&group, &radios[0]);
    assert_int_equal(tendon_radio_group_add(&group, &radios[2], 0), TENDON_OK);
}

static void no_device_is_connected_twice(void **state) {
    (void)state;
    static const tendon_link_state states[] = {TENDON_LINK_ASKED, TENDON_LINK_OPEN};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(start(state), 0);
        assert_int_equal(tendon_radio_group_add(&group, &radios[0], 0), TENDON_OK);
        assert_int_equal(tendon_radio_group_add(&group, &radios[1], 0), TENDON_OK);
        tendon_link *link = add_link(&radios[1], 7, states[i]);
        assert_ptr_equal(choose(7, 0, TENDON_ERROR_WRONG_STATE), &radios[1]);
        /* A private address: the bond's identity is another one. */
        link->identity = device(8);
        assert_ptr_equal(choose(7, 0, TENDON_ERROR_WRONG_STATE), &radios[1]);
        assert_ptr_equal(choose(8, 0, TENDON_ERROR_WRONG_STATE), &radios[1]);
        assert_ptr_equal(choose(9, 0, TENDON_OK), &radios[0]);
        link->background = true; /* it may connect at any moment */
        assert_ptr_equal(choose(7, 0, TENDON_ERROR_WRONG_STATE), &radios[1]);
        end_link(&radios[1]);
        assert_ptr_equal(choose(7, 0, TENDON_OK), &radios[0]);
    }
}

static void the_limit_of_the_owner_is_kept(void **state) {
    (void)state;
    assert_int_equal(tendon_radio_group_add(&group, &radios[0], 1), TENDON_OK);
    assert_int_equal(tendon_radio_group_add(&group, &radios[1], 2), TENDON_OK);
    for (unsigned number = 0; number < 3; number++) {
        (void)add_link(choose(number, 0, TENDON_OK), number, TENDON_LINK_OPEN);
    }
    assert_null(choose(3, 0, NO_ROOM));
    end_link(&radios[0]);
    assert_ptr_equal(choose(3, 0, TENDON_OK), &radios[0]);
}

/* 0x09 Connection Limit Exceeded, 0x0D Connection Rejected due to Limited Resources. */
static void a_controller_that_refuses_gets_no_more(void **state) {
    (void)state;
    static const uint8_t codes[] = {0x09, 0x0D};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(start(state), 0);
        assert_int_equal(tendon_radio_group_add(&group, &radios[0], 0), TENDON_OK);
        assert_int_equal(tendon_radio_group_add(&group, &radios[1], 0), TENDON_OK);
        for (unsigned number = 0; number < 6; number++) {
            (void)add_link(&radios[number < 2 ? 0 : 1], number, TENDON_LINK_OPEN);
        }
        assert_ptr_equal(choose(9, 1000, TENDON_OK), &radios[0]);
        assert_true(tendon_radio_group_refused(&group, &radios[0], TENDON_HCI_ERROR(codes[i]), 1000));
        assert_ptr_equal(choose(9, 1000, TENDON_OK), &radios[1]);
        assert_true(tendon_radio_group_refused(&group, &radios[1], TENDON_HCI_ERROR(codes[i]), 2000));
        assert_null(choose(9, 2000, NO_ROOM));
        /* After its time it is tried again: another program may have disconnected. */
        assert_null(choose(9, 1000 + TENDON_RADIO_GROUP_FULL_MS - 1, NO_ROOM));
        assert_ptr_equal(choose(9, 1000 + TENDON_RADIO_GROUP_FULL_MS, TENDON_OK), &radios[0]);
        /* A connection of ours has ended: there is a place now, and one only. */
        end_link(&radios[1]);
        assert_ptr_equal(choose(9, 3000, TENDON_OK), &radios[1]);
        (void)add_link(&radios[1], 20, TENDON_LINK_ASKED);
        assert_null(choose(9, 3000, NO_ROOM));
    }
}

static void other_reasons_are_not_about_room(void **state) {
    (void)state;
    assert_int_equal(tendon_radio_group_add(&group, &radios[0], 0), TENDON_OK);
    assert_false(tendon_radio_group_refused(&group, &radios[0], TENDON_ERROR_TIMEOUT, 0));
    for (int code = 1; code < 256; code++) {
        if (code != 0x09 && code != 0x0D) {
            assert_false(tendon_radio_group_refused(&group, &radios[0], TENDON_HCI_ERROR(code), 0));
        }
    }
    assert_ptr_equal(choose(1, 0, TENDON_OK), &radios[0]);
    /* A radio that was removed meanwhile. */
    assert_true(tendon_radio_group_refused(&group, &radios[1], NO_ROOM, 0));
    assert_ptr_equal(choose(1, 0, TENDON_OK), &radios[0]);
}

/* They wait in the accept list; once connected they have a place like all others. */
static void attempts_in_the_background_take_no_place(void **state) {
    (void)state;
    assert_int_equal(tendon_radio_group_add(&group, &radios[0], 1), TENDON_OK);
    tendon_link *link = add_link(&radios[0], 1, TENDON_LINK_ASKED);
    link->background = true;
    assert_ptr_equal(choose(2, 0, TENDON_OK), &radios[0]);
    link->state = TENDON_LINK_CONNECTED;
    assert_null(choose(2, 0, NO_ROOM));
    link->state = TENDON_LINK_OPEN;
    assert_null(choose(2, 0, NO_ROOM));
}

/** The key of device 7 alone. */
static bool has_bond_of_seven(void *context, const tendon_address *peer) {
    tendon_address seven = device(7);
    assert_ptr_equal(context, &radios[1]);
    return tendon_address_equal(peer, &seven);
}

/* A key belongs to one adapter: over another one the device would pair again, and lose the bond that it has. */
static void a_bonded_device_stays_with_its_radio(void **state) {
    (void)state;
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tendon_radio_group_add(&group, &radios[i], 0), TENDON_OK);
    }
    radios[1].bonds = &bonds;
    radios[1].pairing = (tendon_pairing_service){.context = &radios[1], .bonded = has_bond_of_seven};
    (void)add_link(&radios[1], 1, TENDON_LINK_OPEN);
    (void)add_link(&radios[1], 2, TENDON_LINK_OPEN);
    assert_ptr_equal(choose(7, 0, TENDON_OK), &radios[1]); /* though it has the most connections */
    assert_ptr_equal(choose(8, 0, TENDON_OK), &radios[0]);
    /* Full: no other radio is chosen in its place. */
    assert_true(tendon_radio_group_refused(&group, &radios[1], NO_ROOM, 0));
    assert_null(choose(7, 0, NO_ROOM));
    end_link(&radios[1]);
    assert_ptr_equal(choose(7, 0, TENDON_OK), &radios[1]);
    /* Its adapter was unplugged: over another one, rather than not at all. */
    tendon_radio_group_remove(&group, &radios[1]);
    assert_ptr_equal(choose(7, 0, TENDON_OK), &radios[0]);
    assert_int_equal(tendon_radio_group_add(&group, &radios[1], 0), TENDON_OK);
    assert_ptr_equal(choose(7, 0, TENDON_OK), &radios[1]);
    /* Pairing is off: a stored key is of no use. */
    radios[1].bonds = NULL;
    assert_ptr_equal(choose(7, 0, TENDON_OK), &radios[0]);
}

static tendon_radio *choose_among(unsigned number, uint32_t members, tendon_status expected) {
    tendon_address peer = device(number);
    tendon_radio *chosen = &radios[RADIOS - 1];
    assert_int_equal(tendon_radio_group_choose_among(&group, &peer, members, 0, &chosen), expected);
    return chosen;
}

static void only_radios_that_receive_the_device(void **state) {
    (void)state;
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    assert_null(choose_among(1, UINT32_MAX, TENDON_RADIO_ERROR_NO_ADAPTER));
    for (size_t i = 0; i < TENDON_RADIO_GROUP_MAX; i++) {
        assert_int_equal(tendon_radio_group_add(&group, &radios[i], 1), TENDON_OK);
        assert_ptr_equal(choose_among(1, 1u << i, TENDON_OK), &radios[i]);
    }
    assert_ptr_equal(choose_among(1, 0x06, TENDON_OK), &radios[1]);
    assert_null(choose_among(1, 0, TENDON_RADIO_ERROR_OUT_OF_RANGE));
    assert_null(choose_among(1, 1u << TENDON_RADIO_GROUP_MAX, TENDON_RADIO_ERROR_OUT_OF_RANGE));
    (void)add_link(&radios[1], 5, TENDON_LINK_OPEN);
    assert_null(choose_among(1, 0x02, NO_ROOM));
    assert_ptr_equal(choose_among(5, 0x04, TENDON_ERROR_WRONG_STATE), &radios[1]); /* which is not considered */
    radios[1].bonds = &bonds;
    radios[1].pairing = (tendon_pairing_service){.context = &radios[1], .bonded = has_bond_of_seven};
    assert_null(choose_among(7, 0x05, TENDON_RADIO_ERROR_OUT_OF_RANGE));
    assert_null(choose_among(7, 0x03, NO_ROOM));
    end_link(&radios[1]);
    assert_ptr_equal(choose_among(7, 0x03, TENDON_OK), &radios[1]);
}

/* A program chooses radios for several devices before the first of them connects. */
static void assigned_devices_count_once(void **state) {
    (void)state;
    assert_int_equal(tendon_radio_group_add(&group, &radios[0], 0), TENDON_OK);
    assert_int_equal(tendon_radio_group_add(&group, &radios[1], 2), TENDON_OK);
    for (unsigned number = 0; number < 4; number++) {
        tendon_radio *radio = choose(number, 0, TENDON_OK);
        assert_ptr_equal(radio, &radios[number % 2]);
        tendon_radio_group_assign(&group, radio);
    }
    for (unsigned number = 0; number < 4; number++) {
        (void)add_link(&radios[number % 2], number, TENDON_LINK_ASKED);
    }
    assert_ptr_equal(choose(4, 0, TENDON_OK), &radios[0]); /* two each; the limit of the other one is reached */
    (void)add_link(&radios[0], 4, TENDON_LINK_OPEN);       /* connected without an assignment */
    tendon_radio_group_release(&group, &radios[1]);
    assert_ptr_equal(choose(5, 0, TENDON_OK), &radios[0]); /* its link is still there */
    end_link(&radios[1]);
    assert_ptr_equal(choose(5, 0, TENDON_OK), &radios[1]);
    /* Refused: its connections count, not the device that was refused. */
    tendon_radio_group_assign(&group, &radios[1]);
    assert_true(tendon_radio_group_refused(&group, &radios[1], NO_ROOM, 0));
    tendon_radio_group_release(&group, &radios[1]);
    assert_ptr_equal(choose(5, 0, TENDON_OK), &radios[0]);
    /* More releases than assignments, and a radio that is in no group. */
    for (int i = 0; i < 3; i++) {
        tendon_radio_group_release(&group, &radios[1]);
    }
    tendon_radio_group_assign(&group, &radios[2]);
    tendon_radio_group_release(&group, &radios[2]);
    assert_int_equal(group.members[1].assigned, 0);
    end_link(&radios[1]);
    assert_ptr_equal(choose(5, 0, TENDON_OK), &radios[1]);
}

static void radios_are_added_once_and_removed(void **state) {
    (void)state;
    assert_null(choose(1, 0, TENDON_RADIO_ERROR_NO_ADAPTER));
    for (size_t i = 0; i < TENDON_RADIO_GROUP_MAX; i++) {
        assert_int_equal(tendon_radio_group_add(&group, &radios[i], 0), TENDON_OK);
        assert_int_equal(tendon_radio_group_add(&group, &radios[i], 0), TENDON_ERROR_WRONG_STATE);
    }
    assert_int_equal(tendon_radio_group_add(&group, &radios[RADIOS - 1], 0), TENDON_ERROR_OVERFLOW);
    assert_true(tendon_radio_group_refused(&group, &radios[0], NO_ROOM, 0));
    tendon_radio_group_remove(&group, &radios[RADIOS - 1]); /* was never in it */
    assert_int_equal(group.count, TENDON_RADIO_GROUP_MAX);
    tendon_radio_group_remove(&group, &radios[0]);
    assert_ptr_equal(choose(1, 0, TENDON_OK), &radios[1]);
    /* Added again it begins anew, at the end. */
    assert_int_equal(tendon_radio_group_add(&group, &radios[0], 0), TENDON_OK);
    for (size_t i = 1; i < TENDON_RADIO_GROUP_MAX; i++) {
        (void)add_link(&radios[i], (unsigned)i, TENDON_LINK_OPEN);
    }
    assert_ptr_equal(choose(50, 0, TENDON_OK), &radios[0]);
    for (size_t i = 0; i < TENDON_RADIO_GROUP_MAX; i++) {
        tendon_radio_group_remove(&group, &radios[i]);
    }
    assert_null(choose(50, 0, TENDON_RADIO_ERROR_NO_ADAPTER));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(connections_are_spread, start),
        cmocka_unit_test_setup(no_device_is_connected_twice, start),
        cmocka_unit_test_setup(adapters_with_one_address_are_one, start),
        cmocka_unit_test_setup(the_limit_of_the_owner_is_kept, start),
        cmocka_unit_test_setup(a_controller_that_refuses_gets_no_more, start),
        cmocka_unit_test_setup(other_reasons_are_not_about_room, start),
        cmocka_unit_test_setup(attempts_in_the_background_take_no_place, start),
        cmocka_unit_test_setup(a_bonded_device_stays_with_its_radio, start),
        cmocka_unit_test_setup(only_radios_that_receive_the_device, start),
        cmocka_unit_test_setup(assigned_devices_count_once, start),
        cmocka_unit_test_setup(radios_are_added_once_and_removed, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
