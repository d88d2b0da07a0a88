/* SPDX-License-Identifier: MIT */
/* Keys of the kernel's radio and their store: keys of others, keys that cannot be stored, removal. */
#include "pairing_scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* The kernel accepts Load Long Term Keys, through a socket of its own. */
static uint8_t loaded[128];
static size_t loaded_length;

static bool accept_keys(int fd, uint16_t opcode, const uint8_t *pdu, size_t length) {
    static const uint8_t done[] = {1, 0, 7, 0, 4, 0, 0x13, 0, 0, 0xEE}; /* a byte more than is known */
    if (opcode == TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS) {
        loaded_length = length < sizeof loaded ? length : sizeof loaded;
        memcpy(loaded, pdu, loaded_length);
        assert_int_equal(send(fake_far(fd), done, sizeof done, 0), (ssize_t)sizeof done);
    }
    return true;
}

static int syncs_refused;

int fsync(int fd) {
    if (syncs_refused > 0) {
        syncs_refused--;
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

static void keys_of_others_are_not_stored(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(0);
    tendon_bond mine = {.radio = TENDON_BOND_KERNEL,
                        .initiator = true,
                        .key_size = 16,
                        .own = bluez_public_address,
                        .peer = pairing_peers[2]};
    assert_int_equal(tendon_bonds_store(&s->bonds, &mine), TENDON_OK);
    for (int i = 0; i < TENDON_BONDS_MAX; i++) {
        uint8_t pdu[6 + 37] = {0x0A, 0, 7, 0, 37, 0, 1, (uint8_t)i, 1, 2, 3, 4, 5, 1, 2, 0, 16};
        pairing_scene_kernel_sends(s, pdu, sizeof pdu);
    }
    assert_int_equal(s->bonds.count, 1);
    assert_non_null(tendon_bonds_find(&s->bonds, TENDON_BOND_KERNEL, &bluez_public_address, &pairing_peers[2]));
    pairing_scene_add(s, 0, false); /* a peripheral that starts pairing by itself */
    uint8_t unkept[6 + 37] = {0x0A, 0, 7, 0, 37, 0, 0, 5, 4, 3, 2, 1, 0xC0, 2, 2, 1, 16}; /* store hint 0 */
    pairing_scene_kernel_sends(s, unkept, sizeof unkept);
    assert_int_equal(s->bonds.count, 1);
    tendon_radio_set_pairing_policy(&s->b->radio.radio, &(tendon_pairing_policy){.restricted = true});
    pairing_scene_new_key(s, 0, 1);
    assert_int_equal(s->bonds.count, 1);
    assert_int_equal(s->ends[0].end.bonded, 0);
    tendon_radio_set_pairing_policy(&s->b->radio.radio, NULL);
    pairing_scene_new_key(s, 0, 1);
    assert_int_equal(s->bonds.count, 2);
    assert_int_equal(s->ends[0].end.bonded, 1);
    pairing_scene_add(s, 1, true); /* a central, and we are not in pairing mode */
    pairing_scene_new_key(s, 1, 1);
    assert_int_equal(s->bonds.count, 2);
    assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, true), TENDON_OK);
    assert_int_equal(s->ends[1].end.bonded, 0);
    pairing_scene_new_key(s, 1, 1);
    assert_int_equal(s->bonds.count, 3);
    assert_int_equal(s->ends[1].end.bonded, 1);
    pairing_scene_drain(s);
    pairing_scene_close(s);
}

/* The longest commands: count, then 36 bytes for each key, 23 for each identity key. */
static void the_keys_of_a_full_store_fit_a_command(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(0);
    for (uint8_t i = 0; i < TENDON_BONDS_MAX; i++) {
        const tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                                  .initiator = true,
                                  .key_size = 16,
                                  .own = bluez_public_address,
                                  .peer = {{0xC0, 0, 0, 0, 0, i}, TENDON_ADDRESS_TYPE_RANDOM},
                                  .has_identity_key = true};
        assert_int_equal(tendon_bonds_store(&s->bonds, &bond), TENDON_OK);
    }
    uint8_t pdu[1024];
    tendon_bluez_load_again(&s->b->radio); /* it is not known who else is there */
    assert_false(s->b->radio.identities_loaded);
    pairing_scene_expect_nothing(s);
    fake.programs = 0;
    tendon_bluez_load_again(&s->b->radio);
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 6 + 2 + 36 * 24);
    assert_memory_equal(pdu, "\x13\0\7\0\x62\3\x18\0", 8);
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 6 + 2 + 23 * 24);
    assert_memory_equal(pdu, "\x30\0\7\0\x2A\2\x18\0", 8);
    assert_true(s->b->radio.identities_loaded);
    pairing_scene_expect_nothing(s);
    assert_int_equal(tendon_bluez_resolves(&s->b->radio.radio), TENDON_OK);
    fake.programs = -1; /* another program may have come, and replaced them */
    tendon_bluez_load_again(&s->b->radio);
    assert_int_equal(tendon_bluez_resolves(&s->b->radio.radio), TENDON_RADIO_ERROR_OTHER_BOND_STORE);
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

/* The list without a device makes the kernel request identity keys: once. */
static void without_bonds_the_kernel_is_given_one_list(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(0);
    uint8_t pdu[64];
    fake.programs = 0;
    tendon_bluez_load_again(&s->b->radio);
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 6 + 2 + 23);
    /* Of one: this adapter's address, LE public, and the address again and again as the key. */
    static const uint8_t list[] = {0x30, 0,    7, 0, 0x19, 0, 1,    0,    0x42, 0, 0,    0x01, 0xAA, 0,    1, 0,
                                   0xAA, 0x01, 0, 0, 0x42, 0, 0xAA, 0x01, 0,    0, 0x42, 0,    0xAA, 0x01, 0};
    assert_memory_equal(pdu, list, sizeof list);
    tendon_bluez_load_again(&s->b->radio);
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

/* A pairing that has replaced a key needs no key of before. */
static void a_replaced_key_is_not_loaded_again(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    pairing_scene_begin(s, 0);
    fake.programs = 0;
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_ALREADY_PAIRED);
    pairing_scene_expect(s, 0x1B, 0, 0);
    pairing_scene_expect(s, 0x19, 0, 3);
    pairing_scene_new_key(s, 0, 0x10);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

static void a_key_that_is_in_no_file_is_removed_once(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    pairing_scene_begin(s, 0);
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_ALREADY_PAIRED);
    pairing_scene_expect(s, 0x1B, 0, 0); /* unpaired, and stays connected */
    pairing_scene_expect(s, 0x19, 0, 3);
    assert_int_equal(s->ends[0].paired, 0);
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_ALREADY_PAIRED);
    assert_int_equal(s->ends[0].status, TENDON_MANAGEMENT_ERROR(TENDON_MANAGEMENT_ALREADY_PAIRED));
    pairing_scene_begin(s, 0);
    tendon_radio_set_pairing_policy(&s->b->radio.radio, &(tendon_pairing_policy){.restricted = true});
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_ALREADY_PAIRED);
    pairing_scene_expect_nothing(s);
    assert_int_equal(s->ends[0].status, TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED);
    pairing_scene_close(s);
}

static void keys_that_cannot_be_stored_are_removed_from_the_kernel(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    pairing_scene_begin(s, 0);
    strcpy(s->bonds.path, "/proc/nowhere/bonds");
    pairing_scene_new_key(s, 0, 1);
    pairing_scene_complete(s, 0, 0);
    assert_true(s->ends[0].status < 0);
    assert_int_equal(s->bonds.count, 0);
    pairing_scene_expect(s, 0x1B, 0, 0);
    memset(s->bonds.path, 0, sizeof s->bonds.path);
    pairing_scene_close(s);
}

/* Paired again because the peer has lost its key: neither the new key nor the old one is left on either side. */
static void a_bond_that_cannot_be_renewed_is_removed(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    char path[] = "/tmp/tendon-bonds-XXXXXX", lock[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_equal(tendon_bonds_open(&s->bonds, path), TENDON_OK);
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                        .initiator = true,
                        .key_size = 16,
                        .own = bluez_public_address,
                        .peer = pairing_peers[0]};
    assert_int_equal(tendon_bonds_store(&s->bonds, &bond), TENDON_OK);
    pairing_scene_begin(s, 0);
    syncs_refused = 1;
    pairing_scene_new_key(s, 0, 1);
    assert_int_equal(syncs_refused, 0);
    assert_int_equal(s->bonds.count, 1);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_SYSTEM_ERROR(EIO));
    assert_int_equal(s->bonds.count, 0);
    pairing_scene_expect(s, 0x1B, 0, 0);
    unlink(path);
    unlink(lock);
    pairing_scene_close(s);
}

/* The peripheral pairs by itself, and the disk is full. */
static void a_key_without_a_procedure_is_removed_too(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    strcpy(s->bonds.path, "/proc/nowhere/bonds");
    pairing_scene_new_key(s, 0, 1);
    pairing_scene_expect(s, 0x1B, 0, 0);
    memset(s->bonds.path, 0, sizeof s->bonds.path);
    pairing_scene_close(s);
}

static void forgetting_all_reports_the_kernels_error(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(0);
    tendon_bonds other;
    char path[] = "/tmp/tendon-bonds-XXXXXX", lock[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_equal(tendon_bonds_open(&s->bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_open(&other, path), TENDON_OK);
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                        .initiator = true,
                        .key_size = 16,
                        .own = bluez_public_address,
                        .peer = pairing_peers[0]};
    assert_int_equal(tendon_bonds_store(&other, &bond), TENDON_OK); /* by another process, since the last look-up */
    assert_int_equal(tendon_radio_forget_all(&s->b->radio.radio), 1);
    pairing_scene_expect(s, 0x1B, 0, 1);
    assert_int_equal(tendon_bonds_store(&other, &bond), TENDON_OK);
    assert_int_equal(shutdown(s->b->radio.management.fd, SHUT_WR), 0);
    assert_true(tendon_radio_forget_all(&s->b->radio.radio) < 0);
    unlink(path);
    unlink(lock);
    pairing_scene_close(s);
}

static void forgetting_is_one_step(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    pairing_scene_begin(s, 0);
    pairing_scene_new_key(s, 0, 1);
    pairing_scene_complete(s, 0, 0);
    strcpy(s->bonds.path, "/proc/nowhere/bonds");
    assert_true(tendon_radio_forget(&s->b->radio.radio, &pairing_peers[0]) < 0);
    pairing_scene_expect_nothing(s); /* the kernel keeps the key too */
    memset(s->bonds.path, 0, sizeof s->bonds.path);
    assert_int_equal(s->bonds.count, 1);
    assert_int_equal(tendon_radio_forget(&s->b->radio.radio, &pairing_peers[0]), TENDON_OK);
    pairing_scene_expect(s, 0x1B, 0, 1);
    assert_int_equal(shutdown(s->b->radio.management.fd, SHUT_WR), 0);           /* the kernel takes no more commands */
    assert_true(tendon_radio_forget(&s->b->radio.radio, &pairing_peers[0]) < 0); /* it may still have the key */
    assert_int_not_equal(tendon_radio_forget(&s->b->radio.radio, &pairing_peers[0]), TENDON_ERROR_NOT_FOUND);
    pairing_scene_close(s);
}

/* Another process at the adapter of this index, with another store. */
static int other_program(const char *text) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    strcpy(name.sun_path + 1, text);
    assert_int_equal(
        bind(fd, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(text))), 0);
    return fd;
}

static tendon_status use(bluez_bench *b, tendon_bonds *bonds) {
    b->radio.radio.bonds = NULL;
    return tendon_radio_use_bonds(&b->radio.radio, bonds);
}

/* Command Status: Invalid Parameters. */
static bool reject_keys(int fd, uint16_t opcode, const uint8_t *pdu, size_t length) {
    static const uint8_t rejected[] = {2, 0, 7, 0, 3, 0, 0x13, 0, 0x0D};
    (void)pdu;
    (void)length;
    if (opcode == TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS) {
        assert_int_equal(send(fake_far(fd), rejected, sizeof rejected, 0), (ssize_t)sizeof rejected);
    }
    return true;
}

/* Without its keys the kernel would pair again with each bonded device. */
static void keys_that_the_kernel_rejects_are_an_error(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                        .initiator = true,
                        .key_size = 16,
                        .own = bluez_public_address,
                        .peer = pairing_peers[0]};
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    fake.programs = 0;
    fake.on_send = reject_keys;
    assert_int_equal(use(b, &bonds), TENDON_MANAGEMENT_ERROR(0x0D));
    assert_null(tendon_radio_pairing(&b->radio.radio));
    assert_int_equal(b->radio.leases[1], -1);
    assert_false(b->radio.identities_loaded);
    fake.on_send = accept_keys;
    assert_int_equal(use(b, &bonds), TENDON_OK);
    assert_true(b->radio.identities_loaded);
    fake.on_send = NULL;
    bluez_close(b);
}

/* One list of keys per adapter: loading ours would remove those of a program with another store. */
static void keys_of_another_store_are_not_unloaded(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_bonds none, some;
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                        .initiator = true,
                        .key_size = 16,
                        .own = bluez_public_address,
                        .peer = pairing_peers[0]};
    uint8_t pdu[128];
    bond.has_identity_key = true;
    memset(bond.identity_key, 0x1D, sizeof bond.identity_key);
    loaded_length = 0;
    fake.on_send = accept_keys;
    fake.programs = 0;
    tendon_bonds_init(&none);
    tendon_bonds_init(&some);
    assert_int_equal(tendon_bonds_store(&some, &bond), TENDON_OK);
    int dummies[40];
    for (int i = 0; i < 40; i++) { /* lines before and behind the one that counts */
        char dummy[40];
        snprintf(dummy, sizeof dummy, "tendon-test-%d-%d", (int)getpid(), i);
        dummies[i] = other_program(dummy);
    }
    char text[64];
    snprintf(text, sizeof text, "tendon/hci77/keys-1-2-3/%d", (int)getpid());
    int other = -1, another_adapter = other_program(text);
    for (int i = 0; i < 16; i++) { /* wherever the kernel lists it */
        snprintf(text, sizeof text, "tendon/hci7/keys-1-2-3/%d-%d", (int)getpid(), i);
        close(other);
        other = other_program(text);
        assert_int_equal(use(b, &some), TENDON_RADIO_ERROR_OTHER_BOND_STORE);
    }
    assert_null(tendon_radio_pairing(&b->radio.radio));
    assert_int_equal(loaded_length, 0); /* nothing was loaded */
    assert_int_equal(b->radio.leases[1], -1);
    assert_int_equal(use(b, &none), TENDON_OK); /* no keys */
    tendon_bluez_load_missing(&b->radio);       /* as before a connection */
    assert_int_equal(loaded_length, 0);
    assert_int_equal(recv(b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), -1);
    assert_int_equal(b->radio.leases[1], -1);
    assert_false(b->radio.identities_loaded);
    close(other);
    tendon_status status = use(b, &some);
    if (status >= 0) {
        assert_int_equal(loaded_length, 6 + 2 + 36);
        assert_int_equal(loaded[0], TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS);
        assert_int_equal(loaded[6], 1);
        /* Load Identity Resolving Keys: one key of 23 bytes. */
        const uint8_t expected[6 + 2 + 23] = {0x30, 0,    7,    0,    25,   0,    1,    0,    5,    4,    3,
                                              2,    1,    0xC0, 2,    0x1D, 0x1D, 0x1D, 0x1D, 0x1D, 0x1D, 0x1D,
                                              0x1D, 0x1D, 0x1D, 0x1D, 0x1D, 0x1D, 0x1D, 0x1D, 0x1D};
        assert_int_equal(recv(b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), sizeof expected);
        assert_memory_equal(pdu, expected, sizeof expected);
        assert_true(b->radio.leases[1] >= 0); /* others see that this store is in use */
        assert_true(b->radio.identities_loaded);
        b->radio.identities_loaded = false;
    }
    assert_int_equal(status, TENDON_OK);
    /* Without keys and without another store: one of no device, so that the kernel requests the keys of new devices. */
    const uint8_t *a = bluez_public_address.bytes;
    const uint8_t no_device[6 + 2 + 23] = {0x30, 0,    7,    0,    25,   0,    1,    0,    a[5], a[4], a[3],
                                           a[2], a[1], a[0], 1,    a[0], a[1], a[2], a[3], a[4], a[5], a[0],
                                           a[1], a[2], a[3], a[4], a[5], a[0], a[1], a[2], a[3]};
    assert_int_equal(use(b, &none), TENDON_OK);
    assert_int_equal(recv(b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), -1);
    tendon_bluez_load_missing(&b->radio);
    assert_int_equal(recv(b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), sizeof no_device);
    assert_memory_equal(pdu, no_device, sizeof no_device);
    assert_true(b->radio.identities_loaded); /* of the devices that pair from now on */
    close(another_adapter);
    for (int i = 0; i < 40; i++) {
        close(dummies[i]);
    }
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_others_are_not_stored),
        cmocka_unit_test(the_keys_of_a_full_store_fit_a_command),
        cmocka_unit_test(without_bonds_the_kernel_is_given_one_list),
        cmocka_unit_test(a_replaced_key_is_not_loaded_again),
        cmocka_unit_test(a_key_that_is_in_no_file_is_removed_once),
        cmocka_unit_test(keys_that_cannot_be_stored_are_removed_from_the_kernel),
        cmocka_unit_test(a_bond_that_cannot_be_renewed_is_removed),
        cmocka_unit_test(a_key_without_a_procedure_is_removed_too),
        cmocka_unit_test(forgetting_all_reports_the_kernels_error),
        cmocka_unit_test(forgetting_is_one_step),
        cmocka_unit_test(keys_that_the_kernel_rejects_are_an_error),
        cmocka_unit_test(keys_of_another_store_are_not_unloaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
