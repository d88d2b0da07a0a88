/* SPDX-License-Identifier: MIT */
/* Several devices that pair with one radio at the same time, a silent one among them, and which devices may pair. */
#include "recorded_session.h"
#include "tendon/simulate.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEVICES = 14 };

typedef struct side {
    tendon_virtual_radio radio;
    tendon_bonds bonds;
    tendon_simulated_bose bose;
    tendon_peripheral peripheral;
    tendon_connection connection;
    tendon_session_link link;
    recorded_session session;
} side;

typedef struct world {
    char directory[64];
    tendon_loop loop;
    tendon_virtual_radio central;
    tendon_bonds bonds;
    side sides[DEVICES];
    struct {
        int count;
        tendon_address peer;
        tendon_status reason;
    } failure; /**< the radio's latest */
} world;

static void on_peer_failure(void *context, const tendon_address *peer, tendon_status reason, uint64_t now) {
    world *w = context;
    (void)now;
    w->failure.count++;
    w->failure.peer = *peer;
    w->failure.reason = reason;
}

static void assert_failure(const world *w, int count, int device, tendon_status reason) {
    const tendon_address peer = {{0xC1, 2, 3, 4, 5, (uint8_t)(0xA0 + device)}, TENDON_ADDRESS_TYPE_RANDOM};
    assert_int_equal(w->failure.count, count);
    assert_true(tendon_address_equal(&w->failure.peer, &peer));
    assert_int_equal(w->failure.reason, reason);
}

/* Devices 0 and 1 have the same 48 bits and different address types. */
static tendon_address address_of(int i) {
    return (tendon_address){{0xC1, 2, 3, 4, 5, (uint8_t)(i == 1 ? 0xA0 : 0xA0 + i)},
                            i == 1 ? TENDON_ADDRESS_TYPE_PUBLIC : TENDON_ADDRESS_TYPE_RANDOM};
}

static void open_side(world *w, int i) {
    side *s = &w->sides[i];
    const tendon_address address = address_of(i);
    assert_int_equal(tendon_virtual_radio_open(&s->radio, &w->loop, w->directory, &address), TENDON_OK);
    tendon_bonds_init(&s->bonds);
    tendon_simulated_bose_options options = tendon_simulated_bose_frames();
    options.pairing_required = options.pairing_enabled = true;
    assert_int_equal(tendon_simulated_bose_init(&s->bose, &options), TENDON_OK);
    tendon_peripheral_device device = tendon_simulated_bose_device(&s->bose);
    assert_int_equal(tendon_radio_use_bonds(&s->radio.radio, &s->bonds), TENDON_OK);
    tendon_peripheral_init(&s->peripheral, &s->radio.radio, &device, NULL);
    assert_int_equal(tendon_peripheral_open(&s->peripheral, 100), TENDON_OK);
    tendon_connection_init(&s->connection, &w->central.radio, &address, tendon_radio_pairing(&w->central.radio), NULL);
    tendon_connection_attach(&s->connection, &recorded_session_inputs, &s->session);
    s->link = tendon_connection_session_link(&s->connection);
    assert_int_equal(s->link.connect(s->link.context), TENDON_OK);
    STEP_UNTIL(&w->loop, s->session.client != NULL);
}

static int setup(void **state) {
    static const tendon_address own = {{0xC1, 2, 3, 4, 5, 0xCE}, TENDON_ADDRESS_TYPE_RANDOM};
    world *w = calloc(1, sizeof *w);
    *state = w;
    strcpy(w->directory, "/tmp/tendon-test-XXXXXX");
    tendon_bonds_init(&w->bonds);
    if (mkdtemp(w->directory) == NULL || tendon_loop_init(&w->loop) < 0 ||
        tendon_virtual_radio_open(&w->central, &w->loop, w->directory, &own) < 0 ||
        tendon_radio_use_bonds(&w->central.radio, &w->bonds) < 0) {
        return -1;
    }
    w->central.radio.report_context = w;
    w->central.radio.on_peer_failure = on_peer_failure;
    for (int i = 0; i < DEVICES; i++) {
        open_side(w, i);
    }
    return 0;
}

static int teardown(void **state) {
    world *w = *state;
    for (int i = 0; i < DEVICES; i++) {
        tendon_connection_close(&w->sides[i].connection);
        STEP_UNTIL(&w->loop, w->sides[i].connection.state == TENDON_CONNECTION_IDLE &&
                                 tendon_peripheral_count(&w->sides[i].peripheral) == 0);
        tendon_peripheral_close(&w->sides[i].peripheral);
        tendon_radio_close(&w->sides[i].radio.radio);
    }
    assert_false(w->central.radio.pairing_timer.added);
    tendon_radio_close(&w->central.radio);
    tendon_loop_close(&w->loop);
    int removed = rmdir(w->directory);
    free(w);
    return removed;
}

static tendon_status pair(side *s) {
    return s->link.pair(s->link.context);
}

static int paired(const world *w) {
    int count = 0;
    for (int i = 0; i < DEVICES; i++) {
        count += w->sides[i].session.paired;
    }
    return count;
}

static void all_pair_at_the_same_time(void **state) {
    world *w = *state;
    for (int i = 0; i < DEVICES; i++) {
        assert_int_equal(pair(&w->sides[i]), TENDON_OK);
    }
    STEP_UNTIL(&w->loop, paired(w) == DEVICES);
    assert_int_equal(w->bonds.count, DEVICES);
    for (int i = 0; i < DEVICES; i++) {
        const tendon_address peer = address_of(i), nobody = {.type = TENDON_ADDRESS_TYPE_PUBLIC};
        const tendon_bond *bond = tendon_bonds_find(&w->bonds, TENDON_BOND_VIRTUAL, &nobody, &peer);
        assert_int_equal(w->sides[i].session.pair_status, TENDON_OK);
        assert_true(w->sides[i].connection.link.encrypted);
        assert_non_null(bond);
        assert_int_equal(w->sides[i].bonds.count, 1); /* each with a key of its own */
        assert_memory_equal(bond->key, w->sides[i].bonds.items[0].key, 16);
    }
}

static void a_silent_device_delays_no_other_and_ends_alone(void **state) {
    world *w = *state;
    side *silent = &w->sides[3];
    tendon_source *watch = &silent->peripheral.links[0].link.source;
    assert_int_equal(tendon_loop_update(&w->loop, watch, 0), TENDON_OK); /* the device reads no more */
    assert_int_equal(pair(silent), TENDON_OK);
    uint64_t deadline = silent->connection.link.pairing.deadline;
    for (int i = 0; i < DEVICES; i++) {
        if (i != 3) {
            assert_int_equal(pair(&w->sides[i]), TENDON_OK);
        }
    }
    STEP_UNTIL(&w->loop, paired(w) == DEVICES - 1);
    assert_int_equal(silent->session.paired, 0);
    assert_int_equal(w->bonds.count, DEVICES - 1);
    const tendon_source *timer = &w->central.radio.pairing_timer;
    assert_true(timer->added && timer->deadline == deadline);
    timer->expired(timer->context, deadline - 1);
    assert_int_equal(silent->session.paired, 0);
    timer->expired(timer->context, deadline);
    assert_int_equal(silent->session.paired, 1);
    assert_int_equal(silent->session.pair_status, TENDON_ERROR_TIMEOUT);
    assert_int_equal(paired(w), DEVICES);
}

static void a_connection_that_ends_takes_only_its_own_pairing_with_it(void **state) {
    world *w = *state;
    assert_int_equal(pair(&w->sides[0]), TENDON_OK);
    assert_int_equal(pair(&w->sides[1]), TENDON_OK);
    w->sides[0].link.disconnect(w->sides[0].link.context);
    STEP_UNTIL(&w->loop, w->sides[1].session.paired == 1 && w->sides[0].session.client == NULL);
    assert_int_equal(w->sides[1].session.pair_status, TENDON_OK);
    assert_int_equal(w->sides[0].session.paired, 0);
    assert_int_equal(w->sides[0].connection.link.pairing.state, TENDON_PAIRING_NONE);
}

static void only_permitted_devices_pair(void **state) {
    world *w = *state;
    tendon_radio *radio = &w->central.radio;
    const tendon_address allowed[] = {address_of(1), address_of(5)};
    uint64_t now = tendon_monotonic_ms();
    tendon_radio_set_pairing_policy(radio, &(tendon_pairing_policy){.restricted = true});
    assert_int_equal(pair(&w->sides[0]), TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED);
    tendon_radio_set_pairing_policy(
        radio, &(tendon_pairing_policy){.restricted = true, .allowed = allowed, .allowed_count = 2});
    assert_int_equal(pair(&w->sides[0]), TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED); /* the type belongs to the address */
    assert_int_equal(pair(&w->sides[4]), TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED);
    assert_int_equal(pair(&w->sides[1]), TENDON_OK);
    assert_int_equal(pair(&w->sides[5]), TENDON_OK);
    STEP_UNTIL(&w->loop, paired(w) == 2);
    assert_int_equal(w->bonds.count, 2);
    tendon_radio_set_pairing_policy(radio, &(tendon_pairing_policy){.restricted = true, .window_until = now + 60000});
    const tendon_address other = address_of(7);
    assert_true(tendon_radio_may_pair(radio, &other, now + 59999));
    assert_false(tendon_radio_may_pair(radio, &other, now + 60000));
    assert_int_equal(pair(&w->sides[7]), TENDON_OK);
    tendon_radio_set_pairing_policy(radio, &(tendon_pairing_policy){.restricted = true}); /* it closes meanwhile */
    STEP_UNTIL(&w->loop, paired(w) == 3);
    assert_int_equal(w->sides[7].session.pair_status, TENDON_OK);
    assert_int_equal(pair(&w->sides[7]), TENDON_OK); /* bonded: nothing new */
    tendon_radio_set_pairing_policy(radio, NULL);
    assert_int_equal(pair(&w->sides[0]), TENDON_OK);
    STEP_UNTIL(&w->loop, paired(w) == 5);
}

/* The session of a bonded device may ask before the encryption has ended: that is no new pairing. */
static void a_bonded_device_needs_no_permission(void **state) {
    world *w = *state;
    side *s = &w->sides[2];
    assert_int_equal(pair(s), TENDON_OK);
    STEP_UNTIL(&w->loop, s->session.paired == 1);
    s->link.disconnect(s->link.context);
    STEP_UNTIL(&w->loop, s->session.client == NULL && tendon_peripheral_count(&s->peripheral) == 0);
    tendon_radio_set_pairing_policy(&w->central.radio, &(tendon_pairing_policy){.restricted = true});
    uint8_t key[16];
    memcpy(key, w->bonds.items[0].key, sizeof key);
    assert_int_equal(s->link.connect(s->link.context), TENDON_OK);
    STEP_UNTIL(&w->loop, s->session.client != NULL);
    assert_false(s->connection.link.encrypted);
    assert_int_equal(pair(s), TENDON_OK);
    assert_int_equal(s->connection.link.pairing.state, TENDON_PAIRING_ENCRYPTING);
    STEP_UNTIL(&w->loop, s->session.paired == 2);
    assert_int_equal(s->session.pair_status, TENDON_OK);
    assert_true(s->connection.link.encrypted);
    assert_memory_equal(w->bonds.items[0].key, key, sizeof key);
}

static tendon_bond stranger(uint8_t number) {
    return (tendon_bond){.radio = TENDON_BOND_VIRTUAL,
                         .initiator = true,
                         .key_size = 16,
                         .peer = {{0xC9, 9, 9, 9, 9, number}, TENDON_ADDRESS_TYPE_RANDOM}};
}

/* Keys of real devices stay. */
static void a_full_store_evicts_nobody(void **state) {
    world *w = *state;
    for (uint8_t i = 0; i < TENDON_BONDS_MAX; i++) {
        tendon_bond bond = stranger(i);
        bond.radio = TENDON_BOND_KERNEL;
        assert_int_equal(tendon_bonds_store(&w->bonds, &bond), TENDON_OK);
    }
    assert_int_equal(pair(&w->sides[1]), TENDON_RADIO_ERROR_BONDS_FULL); /* before anything is exchanged */
    assert_int_equal(w->sides[1].bonds.count, 0);
    tendon_bond one = stranger(1);
    assert_int_equal(tendon_bonds_remove(&w->bonds, TENDON_BOND_KERNEL, &one.own, &one.peer), 1);
    assert_int_equal(pair(&w->sides[1]), TENDON_OK);
    STEP_UNTIL(&w->loop, paired(w) == 1);
    assert_int_equal(w->sides[1].session.pair_status, TENDON_OK);
}

/* Simulated devices have other addresses at each start. */
static void the_oldest_key_of_a_simulated_device_makes_room(void **state) {
    world *w = *state;
    for (uint8_t i = 0; i < TENDON_BONDS_MAX; i++) {
        tendon_bond bond = stranger(i);
        assert_int_equal(tendon_bonds_store(&w->bonds, &bond), TENDON_OK);
    }
    assert_int_equal(pair(&w->sides[1]), TENDON_OK);
    STEP_UNTIL(&w->loop, paired(w) == 1);
    assert_int_equal(w->sides[1].session.pair_status, TENDON_OK);
    assert_int_equal(w->bonds.count, TENDON_BONDS_MAX);
    assert_int_equal(w->bonds.items[0].peer.bytes[5], 1);
}

/* A device in pairing mode has bonds of centrals: one that is connected keeps its bond. */
static void a_device_replaces_the_oldest_bond_that_is_not_in_use(void **state) {
    world *w = *state;
    side *s = &w->sides[6];
    assert_int_equal(pair(s), TENDON_OK);
    STEP_UNTIL(&w->loop, s->session.paired == 1 && s->peripheral.links[0].link.encrypted);
    const tendon_address central = s->bonds.items[0].peer; /* the oldest, and connected */
    for (uint8_t i = 1; i < TENDON_BONDS_MAX; i++) {
        tendon_bond bond = stranger(i);
        bond.initiator = false;
        bond.own = s->radio.radio.address;
        assert_int_equal(tendon_bonds_store(&s->bonds, &bond), TENDON_OK);
    }
    tendon_virtual_radio second;
    tendon_bonds bonds;
    tendon_connection connection;
    side other = {.session = {.client = NULL}};
    const tendon_address own = {{0xC1, 2, 3, 4, 5, 0xCF}, TENDON_ADDRESS_TYPE_RANDOM}, peer = address_of(6);
    tendon_bonds_init(&bonds);
    assert_int_equal(tendon_virtual_radio_open(&second, &w->loop, w->directory, &own), TENDON_OK);
    assert_int_equal(tendon_radio_use_bonds(&second.radio, &bonds), TENDON_OK);
    tendon_connection_init(&connection, &second.radio, &peer, tendon_radio_pairing(&second.radio), NULL);
    tendon_connection_attach(&connection, &recorded_session_inputs, &other.session);
    other.link = tendon_connection_session_link(&connection);
    assert_int_equal(other.link.connect(other.link.context), TENDON_OK);
    STEP_UNTIL(&w->loop, other.session.client != NULL);
    assert_int_equal(pair(&other), TENDON_OK);
    STEP_UNTIL(&w->loop, other.session.paired == 1);
    assert_int_equal(other.session.pair_status, TENDON_OK);
    assert_int_equal(s->bonds.count, TENDON_BONDS_MAX);
    tendon_bond first = stranger(1), next = stranger(2);
    const tendon_address *device = &s->radio.radio.address;
    assert_non_null(tendon_bonds_find(&s->bonds, TENDON_BOND_VIRTUAL, device, &central));
    assert_null(tendon_bonds_find(&s->bonds, TENDON_BOND_VIRTUAL, device, &first.peer));
    assert_non_null(tendon_bonds_find(&s->bonds, TENDON_BOND_VIRTUAL, device, &next.peer));
    tendon_connection_close(&connection);
    STEP_UNTIL(&w->loop, connection.state == TENDON_CONNECTION_IDLE);
    tendon_radio_close(&second.radio);
}

/* A device with room for one bond would keep a key that nobody else has: it is not asked for one. */
static void a_full_disk_is_found_before_the_device_has_a_key(void **state) {
    world *w = *state;
    side *s = &w->sides[2];
    struct rlimit before, narrow;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    snprintf(w->bonds.path, sizeof w->bonds.path, "%s/bonds", w->directory);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    narrow = before;
    narrow.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &narrow), 0);
    tendon_status status = pair(s);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, TENDON_SYSTEM_ERROR(EFBIG));
    assert_int_equal(w->central.radio.store_failure, TENDON_SYSTEM_ERROR(EFBIG));
    assert_failure(w, 1, 2, TENDON_SYSTEM_ERROR(EFBIG));
    assert_int_equal(s->bonds.count, 0);
    assert_int_equal(pair(s), TENDON_OK); /* with space again */
    STEP_UNTIL(&w->loop, s->session.paired == 1);
    assert_int_equal(s->session.pair_status, TENDON_OK);
    assert_int_equal(w->central.radio.store_failure, TENDON_OK);
    assert_int_equal(w->bonds.count, 1);
    assert_int_equal(s->bonds.count, 1);
    unlink(w->bonds.path);
    strcat(w->bonds.path, ".lock");
    unlink(w->bonds.path);
    memset(w->bonds.path, 0, sizeof w->bonds.path);
}

/* A session reports its own error; the radio reports the cause, once, and nothing of what the program did itself. */
static void the_cause_of_a_failure_is_reported(void **state) {
    world *w = *state;
    side *s = &w->sides[2];
    strcpy(w->bonds.path, "/proc/nowhere/bonds");
    assert_int_equal(pair(s), TENDON_SYSTEM_ERROR(2)); /* nothing is sent: the device keeps its only bond for others */
    assert_int_equal(w->central.radio.store_failure, TENDON_SYSTEM_ERROR(2));
    assert_int_equal(s->bonds.count, 0);
    assert_failure(w, 1, 2, TENDON_SYSTEM_ERROR(2));
    memset(w->bonds.path, 0, sizeof w->bonds.path);
    assert_int_equal(pair(s), TENDON_OK);
    strcpy(w->bonds.path, "/proc/nowhere/bonds"); /* in the meantime */
    STEP_UNTIL(&w->loop, s->session.paired == 1); /* the device has a key, and the store cannot keep it */
    assert_int_equal(s->session.pair_status, TENDON_SYSTEM_ERROR(2));
    assert_failure(w, 2, 2, TENDON_SYSTEM_ERROR(2)); /* ENOENT */
    memset(w->bonds.path, 0, sizeof w->bonds.path);

    side *closed = &w->sides[3];
    closed->bose.status = 0; /* not in pairing mode */
    tendon_radio_set_pairable(&closed->radio.radio, false);
    assert_int_equal(pair(closed), TENDON_OK);
    STEP_UNTIL(&w->loop, closed->session.paired == 1);
    assert_failure(w, 3, 3, TENDON_RADIO_ERROR_PAIRING_FAILED);

    tendon_radio_set_pairing_policy(&w->central.radio, &(tendon_pairing_policy){.restricted = true});
    assert_int_equal(pair(&w->sides[4]), TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED);
    assert_failure(w, 4, 4, TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED);

    side *own = &w->sides[5];
    own->link.disconnect(own->link.context);
    STEP_UNTIL(&w->loop, own->session.client == NULL);
    assert_int_equal(w->failure.count, 4);

    side *leaving = &w->sides[6];
    tendon_link_close(&leaving->peripheral.links[0].link);
    STEP_UNTIL(&w->loop, leaving->session.client == NULL);
    assert_failure(w, 5, 6, TENDON_RADIO_ERROR_PEER_CLOSED);
}

/* A device that was reset, or another one with the address of a bonded one. */
static void a_lost_key_is_reported(void **state) {
    world *w = *state;
    side *s = &w->sides[7];
    assert_int_equal(pair(s), TENDON_OK);
    STEP_UNTIL(&w->loop, s->session.paired == 1);
    s->link.disconnect(s->link.context);
    STEP_UNTIL(&w->loop, s->session.client == NULL && tendon_peripheral_count(&s->peripheral) == 0);
    s->bonds.count = 0;
    assert_int_equal(s->link.connect(s->link.context), TENDON_OK);
    STEP_UNTIL(&w->loop, s->session.client != NULL);
    STEP_UNTIL(&w->loop, s->session.client == NULL);
    assert_failure(w, 1, 7, TENDON_RADIO_ERROR_PAIRING_FAILED);
    assert_int_equal(s->session.reason, TENDON_RADIO_ERROR_PAIRING_FAILED);
}

/* Nothing changes if the store cannot be changed; then all of it does. */
static void forgetting_is_one_step(void **state) {
    world *w = *state;
    side *s = &w->sides[0];
    assert_int_equal(pair(s), TENDON_OK);
    STEP_UNTIL(&w->loop, s->session.paired == 1);
    strcpy(w->bonds.path, "/proc/nowhere/bonds");
    assert_true(s->link.forget(s->link.context) < 0);
    memset(w->bonds.path, 0, sizeof w->bonds.path);
    assert_int_equal(w->bonds.count, 1);
    assert_int_equal(s->connection.link.state, TENDON_LINK_OPEN);
    assert_int_equal(s->link.forget(s->link.context), TENDON_OK);
    STEP_UNTIL(&w->loop, s->session.client == NULL);
    assert_int_equal(w->bonds.count, 0);
}

static tendon_address unpaired_peers[4];
static unsigned unpaired_count;

static tendon_status note_unpaired(tendon_radio *radio, const tendon_address *peer) {
    (void)radio;
    assert_true(unpaired_count < 4);
    unpaired_peers[unpaired_count++] = *peer;
    return TENDON_OK;
}

/* The file has the bonds of all radios and own addresses: the radio is asked to forget those of its own alone. */
static void the_bonds_of_others_are_left_alone(void **state) {
    (void)state;
    static const tendon_radio_ops ops = {.name = "noted", .bond_radio = TENDON_BOND_VIRTUAL, .unpair = note_unpaired};
    const tendon_address own = address_of(2), other = address_of(3);
    tendon_bonds bonds;
    tendon_radio radio = {.ops = &ops, .address = own, .bonds = &bonds};
    tendon_bonds_init(&bonds);
    const tendon_bond kept[] = {
        {.radio = TENDON_BOND_KERNEL, .key_size = 16, .own = own, .peer = address_of(4)},
        {.radio = TENDON_BOND_VIRTUAL, .key_size = 16, .own = other, .peer = address_of(5)},
    };
    const tendon_bond forgotten = {.radio = TENDON_BOND_VIRTUAL, .key_size = 16, .own = own, .peer = address_of(6)};
    assert_int_equal(tendon_bonds_store(&bonds, &kept[0]), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &forgotten), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &kept[1]), TENDON_OK);
    unpaired_count = 0;
    assert_int_equal(tendon_radio_forget_all(&radio), 1);
    assert_int_equal(unpaired_count, 1);
    assert_true(tendon_address_equal(&unpaired_peers[0], &forgotten.peer));
    assert_int_equal(bonds.count, 2);
    assert_int_equal(tendon_radio_forget_all(&radio), 0); /* nothing of its own is left */
    assert_int_equal(unpaired_count, 1);
}

/* Another process pairs, and another one forgets: this one sees both at its next look-up. */
static void what_another_process_changes_is_seen(void **state) {
    world *w = *state;
    side *s = &w->sides[0];
    tendon_bonds other;
    tendon_bond bond = {.radio = TENDON_BOND_VIRTUAL, .initiator = true, .key_size = 16, .peer = address_of(0)};
    char path[96];
    snprintf(path, sizeof path, "%s/bonds", w->directory);
    assert_int_equal(tendon_bonds_open(&w->bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_open(&other, path), TENDON_OK);
    assert_false(s->link.bonded(s->link.context));
    assert_int_equal(tendon_bonds_store(&other, &bond), TENDON_OK);
    assert_true(s->link.bonded(s->link.context));
    assert_int_equal(tendon_bonds_remove(&other, TENDON_BOND_VIRTUAL, &bond.own, NULL), 1);
    assert_false(s->link.bonded(s->link.context));
    unlink(path);
    strcat(path, ".lock");
    unlink(path);
}

/* The device's bonds are removed by another process: it does not know the central's key any more. */
static void a_device_sees_what_another_process_removed(void **state) {
    world *w = *state;
    side *s = &w->sides[0];
    tendon_bonds other;
    char path[96];
    snprintf(path, sizeof path, "%s/bonds", w->directory);
    assert_int_equal(tendon_bonds_open(&s->bonds, path), TENDON_OK);
    assert_int_equal(pair(s), TENDON_OK);
    STEP_UNTIL(&w->loop, s->session.paired == 1);
    s->link.disconnect(s->link.context);
    STEP_UNTIL(&w->loop, s->session.client == NULL && tendon_peripheral_count(&s->peripheral) == 0);
    assert_int_equal(tendon_bonds_open(&other, path), TENDON_OK);
    assert_int_equal(tendon_bonds_remove(&other, TENDON_BOND_VIRTUAL, &s->radio.radio.address, NULL), 1);
    assert_int_equal(s->link.connect(s->link.context), TENDON_OK);
    STEP_UNTIL(&w->loop, s->session.reason == TENDON_RADIO_ERROR_PAIRING_FAILED);
    unlink(path);
    strcat(path, ".lock");
    unlink(path);
}

/* The socket is full for a moment: the request is sent again, until the limit of the procedure. */
static void a_full_socket_is_no_failed_pairing(void **state) {
    world *w = *state;
    side *s = &w->sides[0];
    tendon_source *watch = &s->peripheral.links[0].link.source;
    static const uint8_t command[] = {0x52, 1, 0, 0}; /* Write Command, to nowhere */
    assert_int_equal(tendon_loop_update(&w->loop, watch, 0), TENDON_OK);
    while (tendon_link_send(&s->connection.link, command, sizeof command) == TENDON_OK) {
    }
    assert_int_equal(pair(s), TENDON_OK);
    assert_int_equal(s->connection.link.pairing.state, TENDON_PAIRING_RETRYING);
    const tendon_source *timer = &w->central.radio.pairing_timer;
    timer->expired(timer->context, s->connection.link.pairing.retry_at); /* still full */
    assert_int_equal(s->connection.link.pairing.state, TENDON_PAIRING_RETRYING);
    assert_int_equal(tendon_loop_update(&w->loop, watch, TENDON_READABLE), TENDON_OK);
    STEP_UNTIL(&w->loop, !s->connection.link.blocked);
    timer->expired(timer->context, s->connection.link.pairing.retry_at);
    STEP_UNTIL(&w->loop, s->session.paired == 1);
    assert_int_equal(s->session.pair_status, TENDON_OK);
}

#define MANY_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        MANY_TEST(all_pair_at_the_same_time),
        MANY_TEST(a_silent_device_delays_no_other_and_ends_alone),
        MANY_TEST(a_connection_that_ends_takes_only_its_own_pairing_with_it),
        MANY_TEST(only_permitted_devices_pair),
        MANY_TEST(a_bonded_device_needs_no_permission),
        MANY_TEST(a_full_store_evicts_nobody),
        MANY_TEST(the_oldest_key_of_a_simulated_device_makes_room),
        MANY_TEST(a_device_replaces_the_oldest_bond_that_is_not_in_use),
        MANY_TEST(a_full_disk_is_found_before_the_device_has_a_key),
        MANY_TEST(the_cause_of_a_failure_is_reported),
        MANY_TEST(a_lost_key_is_reported),
        MANY_TEST(forgetting_is_one_step),
        cmocka_unit_test(the_bonds_of_others_are_left_alone),
        MANY_TEST(what_another_process_changes_is_seen),
        MANY_TEST(a_device_sees_what_another_process_removed),
        MANY_TEST(a_full_socket_is_no_failed_pairing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
