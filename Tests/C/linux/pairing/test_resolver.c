/* SPDX-License-Identifier: MIT */
/* Which reports carry the identity of a bonded device: resolvable private addresses, the table of them, the bonds. */
#include "../adapter/bluez_fixture.h"
#include "../store/bonds_fixture.h"

#include <stdio.h>
#include <string.h>

/* Core Specification Vol 3 Part H D.7: IRK ec0234a357c8ad05341010a60a397d9b, prand 708194, hash 0dfbaa. */
static const uint8_t key[16] = {0x9B, 0x7D, 0x39, 0x0A, 0xA6, 0x10, 0x10, 0x34,
                                0x05, 0xAD, 0xC8, 0x57, 0xA3, 0x34, 0x02, 0xEC};
static const tendon_address private_address = {{0x70, 0x81, 0x94, 0x0D, 0xFB, 0xAA}, TENDON_ADDRESS_TYPE_RANDOM};
static const tendon_address nobody = {.type = TENDON_ADDRESS_TYPE_PUBLIC};

static tendon_bond bond_with_key(uint8_t number) {
    tendon_bond bond = bonds_item(number);
    bond.own = bluez_public_address;
    bond.has_identity_key = true;
    memcpy(bond.identity_key, key, sizeof key);
    return bond;
}

/* ---- the function ah ---- */

static void the_vector_of_the_specification(void **state) {
    (void)state;
    tendon_bond bond = bond_with_key(1);
    assert_true(tendon_bond_resolves(&bond, &private_address));
    for (size_t bit = 0; bit < 46; bit++) { /* the two bits that are left make it another type of address */
        tendon_address other = private_address;
        other.bytes[5 - bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(tendon_bond_resolves(&bond, &other));
    }
    for (size_t byte = 0; byte < sizeof key; byte++) {
        tendon_bond other = bond;
        other.identity_key[byte] ^= 1;
        assert_false(tendon_bond_resolves(&other, &private_address));
    }
    bond.has_identity_key = false;
    assert_false(tendon_bond_resolves(&bond, &private_address));
}

static void only_resolvable_addresses_resolve(void **state) {
    (void)state;
    const tendon_bond bond = bond_with_key(1);
    static const uint8_t tops[] = {0x30, 0xB0, 0xF0}; /* non-resolvable, reserved, static */
    for (size_t i = 0; i < sizeof tops; i++) {
        tendon_address address = private_address;
        address.bytes[0] = tops[i];
        assert_false(tendon_bond_resolves(&bond, &address));
    }
    static const uint8_t types[] = {TENDON_ADDRESS_TYPE_PUBLIC, TENDON_ADDRESS_TYPE_PUBLIC_IDENTITY,
                                    TENDON_ADDRESS_TYPE_RANDOM_IDENTITY, TENDON_ADDRESS_TYPE_ANONYMOUS};
    for (size_t i = 0; i < sizeof types; i++) {
        tendon_address address = private_address;
        address.type = types[i];
        assert_false(tendon_bond_resolves(&bond, &address));
    }
}

/* ---- reports ---- */

static struct seen {
    int count;
    tendon_address address, private_address;
} seen;

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)context;
    (void)now;
    seen.count++;
    seen.address = report->address;
    seen.private_address = report->private_address;
}

/* One legacy report without data, Vol 4 Part E 7.7.65.2. */
static void report_of(bluez_bench *b, const tendon_address *address) {
    uint8_t event[12] = {TENDON_HCI_LE_ADVERTISING_REPORT, 1, 0, address->type};
    tendon_address_to_wire(address, event + 4);
    event[11] = 0xC4;
    seen = (struct seen){.count = 0};
    bluez_event(b, TENDON_HCI_LE_META, event, sizeof event);
    bluez_read(b);
    assert_int_equal(seen.count, 1);
}

static void expect_identity(bluez_bench *b, const tendon_address *address, const tendon_address *identity) {
    report_of(b, address);
    assert_true(tendon_address_equal(&seen.address, identity));
    assert_true(tendon_address_equal(&seen.private_address, address));
}

static void expect_unchanged(bluez_bench *b, const tendon_address *address) {
    report_of(b, address);
    assert_true(tendon_address_equal(&seen.address, address));
    assert_true(tendon_address_equal(&seen.private_address, &nobody));
}

static bluez_bench *scanning_with(tendon_bonds *bonds) {
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    b->radio.radio.on_report = on_report;
    b->radio.radio.bonds = bonds;
    return b;
}

static void a_bonded_device_is_reported_by_its_identity(void **state) {
    (void)state;
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    bluez_bench *b = scanning_with(NULL);
    expect_unchanged(b, &private_address);
    b->radio.radio.bonds = &bonds;
    expect_unchanged(b, &private_address);
    assert_int_equal(b->radio.radio.resolver.computed, 0);
    tendon_bond bond = bond_with_key(1), other = bond_with_key(2);
    other.identity_key[0] ^= 1;
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &other), TENDON_OK);
    expect_identity(b, &private_address, &bond.peer);
    expect_identity(b, &private_address, &bond.peer);
    assert_int_equal(b->radio.radio.resolver.computed, 1);
    tendon_address untouched = private_address;
    static const uint8_t tops[] = {0x30, 0xB0, 0xF0}; /* non-resolvable, reserved, static */
    for (size_t i = 0; i < sizeof tops; i++) {
        untouched.bytes[0] = tops[i];
        expect_unchanged(b, &untouched);
    }
    untouched = private_address;
    untouched.type = TENDON_ADDRESS_TYPE_PUBLIC;
    expect_unchanged(b, &untouched);
    untouched.type = TENDON_ADDRESS_TYPE_ANONYMOUS;
    expect_unchanged(b, &untouched);
    assert_int_equal(b->radio.radio.resolver.computed, 1);
    /* Forgotten: a stranger again. */
    assert_int_equal(tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &bond.own, &bond.peer), 1);
    expect_unchanged(b, &private_address);
    bluez_close(b);
}

/* The device has another private address by now: the kernel is told whom to look for. */
static void a_private_address_of_a_bond_connects_to_the_identity(void **state) {
    (void)state;
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    const tendon_bond bond = bond_with_key(1);
    tendon_address stranger = private_address;
    stranger.bytes[5] ^= 1;
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    for (int background = 0; background < 2; background++) {
        const struct {
            const tendon_address *asked, *target;
            tendon_bonds *bonds;
        } cases[] = {{&private_address, &bond.peer, &bonds},
                     {&bond.peer, &bond.peer, &bonds},
                     {&stranger, &stranger, &bonds},
                     {&private_address, &private_address, NULL}};
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            bluez_bench *b = bluez_open(false, &bluez_public_address);
            tendon_radio *radio = &b->radio.radio;
            tendon_link link;
            tendon_link_init(&link, NULL);
            radio->bonds = cases[i].bonds;
            b->radio.identities_loaded = cases[i].bonds != NULL;
            assert_int_equal(background ? tendon_radio_connect_in_background(radio, &link, cases[i].asked)
                                        : tendon_radio_connect(radio, &link, cases[i].asked, UINT64_MAX),
                             TENDON_OK);
            assert_int_equal(fake.connects, 1);
            uint8_t wire[6];
            tendon_address_to_wire(cases[i].target, wire);
            assert_memory_equal(fake.target.l2_bdaddr.b, wire, 6);
            assert_true(tendon_address_equal(&link.peer, cases[i].target));
            tendon_link_close(&link);
            assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
            radio->bonds = NULL;
            bluez_close(b);
        }
    }
}

/* Without a connection: as far as the identity key tells. */
static void a_bond_is_found_and_forgotten_by_a_private_address(void **state) {
    (void)state;
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    tendon_bond bond = bond_with_key(1), stranger = bond_with_key(2);
    stranger.has_identity_key = false;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_radio *radio = &b->radio.radio;
    assert_int_equal(tendon_radio_use_bonds(radio, &bonds), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &stranger), TENDON_OK);
    const tendon_pairing_service *service = tendon_radio_pairing(radio);
    assert_true(service->bonded(service->context, &private_address));
    assert_int_equal(tendon_radio_forget(radio, &private_address), TENDON_OK);
    assert_int_equal(bonds.count, 1);
    assert_true(tendon_address_equal(&bonds.items[0].peer, &stranger.peer));
    assert_false(service->bonded(service->context, &private_address));
    assert_int_equal(tendon_radio_forget(radio, &private_address), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(bonds.count, 1);
    bluez_close(b);
}

/* Bonds of another adapter and of the virtual radio: the kernel does not connect to them. */
static void bonds_of_others_resolve_nothing(void **state) {
    (void)state;
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    tendon_bond elsewhere = bond_with_key(1), simulated = bond_with_key(2);
    elsewhere.own = bonds_own;
    simulated.radio = TENDON_BOND_VIRTUAL;
    assert_int_equal(tendon_bonds_store(&bonds, &elsewhere), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &simulated), TENDON_OK);
    bluez_bench *b = scanning_with(&bonds);
    expect_unchanged(b, &private_address);
    assert_int_equal(b->radio.radio.resolver.computed, 0);
    tendon_bond ours = bond_with_key(3);
    assert_int_equal(tendon_bonds_store(&bonds, &ours), TENDON_OK);
    expect_identity(b, &private_address, &ours.peer);
    bluez_close(b);
}

/* A controller with a resolving list reports the identity itself: types 2 and 3. */
static void what_the_controller_resolved_is_an_identity(void **state) {
    (void)state;
    bluez_bench *b = scanning_with(NULL);
    for (uint8_t type = TENDON_ADDRESS_TYPE_PUBLIC; type <= TENDON_ADDRESS_TYPE_RANDOM; type++) {
        tendon_address address = {{0xC0, 1, 2, 3, 4, 5}, type};
        const tendon_address identity = address;
        address.type = (uint8_t)(type + TENDON_ADDRESS_TYPE_PUBLIC_IDENTITY);
        report_of(b, &address);
        assert_true(tendon_address_equal(&seen.address, &identity));
        assert_true(tendon_address_equal(&seen.private_address, &nobody));
    }
    bluez_close(b);
}

/* ---- the table ---- */

static void four_hundred_strangers_are_computed_once(void **state) {
    (void)state;
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    tendon_bond bond = bond_with_key(1);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    bluez_bench *b = scanning_with(&bonds);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 400; i++) {
            const tendon_address stranger = {{0x40, 0, 0, 1, (uint8_t)(i >> 8), (uint8_t)i}, 1};
            expect_unchanged(b, &stranger);
        }
        expect_identity(b, &private_address, &bond.peer);
        assert_int_equal(b->radio.radio.resolver.computed, 401);
    }
    bluez_close(b);
}

/* Addresses that were chosen for one set of the table: the bonded device is computed again, and found. */
static void a_full_set_replaces_its_oldest_entry(void **state) {
    (void)state;
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    tendon_bond bond = bond_with_key(1);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    bluez_bench *b = scanning_with(&bonds);
    expect_identity(b, &private_address, &bond.peer);
    for (uint8_t i = 0; i < TENDON_RESOLVER_WAYS; i++) {
        const tendon_address stranger = {{0x40, 0, 0, 1, i, 0xAA}, TENDON_ADDRESS_TYPE_RANDOM};
        assert_int_equal(b->radio.radio.resolver.computed, 1u + i);
        expect_unchanged(b, &stranger);
    }
    expect_identity(b, &private_address, &bond.peer);
    assert_int_equal(b->radio.radio.resolver.computed, 2 + TENDON_RESOLVER_WAYS);
    bluez_close(b);
}

/* ---- another process ---- */

static void bonds_of_another_process_are_noticed(void **state) {
    char path[128];
    bonds_path_in(*state, path);
    tendon_bonds bonds, others;
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_open(&others, path), TENDON_OK);
    bluez_bench *b = scanning_with(&bonds);
    expect_unchanged(b, &private_address);
    tendon_bond bond = bond_with_key(1);
    assert_int_equal(tendon_bonds_store(&others, &bond), TENDON_OK);
    expect_unchanged(b, &private_address); /* the file is looked at once in a second */
    b->radio.radio.resolver.refresh_at = 0;
    expect_identity(b, &private_address, &bond.peer);
    assert_int_equal(tendon_bonds_remove(&others, TENDON_BOND_KERNEL, &bond.own, &bond.peer), 1);
    expect_identity(b, &private_address, &bond.peer);
    b->radio.radio.resolver.refresh_at = 0;
    expect_unchanged(b, &private_address);
    bluez_close(b);
}

/* A file that cannot be read: what was read before stays. */
static void a_spoiled_file_changes_nothing(void **state) {
    char path[128];
    bonds_path_in(*state, path);
    tendon_bonds bonds;
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    tendon_bond bond = bond_with_key(1);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    bluez_bench *b = scanning_with(&bonds);
    expect_identity(b, &private_address, &bond.peer);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    b->radio.radio.resolver.refresh_at = 0;
    expect_identity(b, &private_address, &bond.peer);
    assert_int_equal(bonds.status, TENDON_ERROR_TRUNCATED);
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vector_of_the_specification),
        cmocka_unit_test(only_resolvable_addresses_resolve),
        cmocka_unit_test(a_bonded_device_is_reported_by_its_identity),
        cmocka_unit_test(a_private_address_of_a_bond_connects_to_the_identity),
        cmocka_unit_test(a_bond_is_found_and_forgotten_by_a_private_address),
        cmocka_unit_test(bonds_of_others_resolve_nothing),
        cmocka_unit_test(what_the_controller_resolved_is_an_identity),
        cmocka_unit_test(four_hundred_strangers_are_computed_once),
        cmocka_unit_test(a_full_set_replaces_its_oldest_entry),
        cmocka_unit_test_setup_teardown(bonds_of_another_process_are_noticed, bonds_setup, bonds_teardown),
        cmocka_unit_test_setup_teardown(a_spoiled_file_changes_nothing, bonds_setup, bonds_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
