/* SPDX-License-Identifier: MIT */
/* Pairing on the virtual radio: who refuses, what is kept, keys that one side has lost, messages that are none. */
#include "../../../../CSources/linux/socket_link.h"
#include "recorded_session.h"
#include "tendon/simulate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const tendon_address device_address = {{0xC1, 2, 3, 4, 5, 0xD0}, TENDON_ADDRESS_TYPE_RANDOM};
static const tendon_address central_address = {{0xC1, 2, 3, 4, 5, 0xCE}, TENDON_ADDRESS_TYPE_RANDOM};
static const tendon_address second_address = {{0xC1, 2, 3, 4, 5, 0xCF}, TENDON_ADDRESS_TYPE_RANDOM};

typedef struct world {
    char directory[64];
    tendon_loop loop;
    tendon_virtual_radio device, central;
    tendon_bonds device_bonds, central_bonds;
    tendon_simulated_bose bose;
    tendon_peripheral peripheral;
    tendon_connection connection;
    tendon_session_link link;
    recorded_session session;
    tendon_status read_status;
    bool read_done;
} world;

static void open_central(world *w, const tendon_address *address) {
    assert_int_equal(tendon_virtual_radio_open(&w->central, &w->loop, w->directory, address), TENDON_OK);
    assert_int_equal(tendon_radio_use_bonds(&w->central.radio, &w->central_bonds), TENDON_OK);
    tendon_connection_init(&w->connection, &w->central.radio, &device_address, tendon_radio_pairing(&w->central.radio),
                           NULL);
    tendon_connection_attach(&w->connection, &recorded_session_inputs, &w->session);
    w->link = tendon_connection_session_link(&w->connection);
}

static int setup(void **state) {
    world *w = calloc(1, sizeof *w);
    *state = w;
    strcpy(w->directory, "/tmp/tendon-test-XXXXXX");
    if (mkdtemp(w->directory) == NULL || tendon_loop_init(&w->loop) < 0 ||
        tendon_virtual_radio_open(&w->device, &w->loop, w->directory, &device_address) < 0) {
        return -1;
    }
    tendon_bonds_init(&w->device_bonds);
    tendon_bonds_init(&w->central_bonds);
    tendon_simulated_bose_options options = tendon_simulated_bose_frames();
    options.pairing_required = options.pairing_enabled = true;
    assert_int_equal(tendon_simulated_bose_init(&w->bose, &options), TENDON_OK);
    tendon_peripheral_device device = tendon_simulated_bose_device(&w->bose);
    assert_null(tendon_radio_pairing(&w->device.radio));
    assert_int_equal(tendon_radio_set_pairable(&w->device.radio, true), TENDON_RADIO_ERROR_NO_PAIRING_SERVICE);
    assert_int_equal(tendon_radio_forget(&w->device.radio, &central_address), TENDON_RADIO_ERROR_NO_PAIRING_SERVICE);
    assert_int_equal(tendon_radio_forget_all(&w->device.radio), TENDON_RADIO_ERROR_NO_PAIRING_SERVICE);
    assert_int_equal(tendon_radio_use_bonds(&w->device.radio, &w->device_bonds), TENDON_OK);
    assert_int_equal(tendon_radio_use_bonds(&w->device.radio, &w->device_bonds), TENDON_ERROR_WRONG_STATE);
    tendon_peripheral_init(&w->peripheral, &w->device.radio, &device, NULL);
    assert_int_equal(tendon_peripheral_open(&w->peripheral, 20), TENDON_OK);
    open_central(w, &central_address);
    return 0;
}

static void close_link(world *w) {
    tendon_connection_close(&w->connection);
    STEP_UNTIL(&w->loop, w->connection.state == TENDON_CONNECTION_IDLE && tendon_peripheral_count(&w->peripheral) == 0);
}

static int teardown(void **state) {
    world *w = *state;
    close_link(w);
    tendon_peripheral_close(&w->peripheral);
    tendon_radio_close(&w->central.radio);
    tendon_radio_close(&w->device.radio);
    tendon_loop_close(&w->loop);
    int removed = rmdir(w->directory);
    free(w);
    return removed;
}

static void connect_central(world *w) {
    int before = w->session.connected;
    assert_int_equal(w->link.connect(w->link.context), TENDON_OK);
    STEP_UNTIL(&w->loop, w->session.connected == before + 1);
}

static tendon_status pair(world *w) {
    int before = w->session.paired;
    w->session.inside = true;
    tendon_status status = w->link.pair(w->link.context);
    w->session.inside = false;
    if (status < 0) {
        return status;
    }
    STEP_UNTIL(&w->loop, w->session.paired == before + 1);
    return w->session.pair_status;
}

static void on_read(void *context, const tendon_gatt_result *result) {
    world *w = context;
    w->read_done = true;
    w->read_status = result->status;
}

/** Of the sensor configuration, which wants encryption. */
static tendon_status read_value(world *w) {
    w->read_done = false;
    assert_true(tendon_gatt_read(w->session.client, w->bose.handles[2], on_read, w, tendon_monotonic_ms()) > 0);
    STEP_UNTIL(&w->loop, w->read_done || w->session.client == NULL);
    return w->read_status;
}

#define NOT_AUTHENTICATED TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_AUTHENTICATION)

static void refused_paired_read_again(void **state) {
    world *w = *state;
    connect_central(w);
    assert_false(w->link.bonded(w->link.context));
    assert_int_equal(read_value(w), NOT_AUTHENTICATED);
    assert_int_equal(pair(w), TENDON_OK);
    assert_true(w->link.bonded(w->link.context) && w->connection.link.encrypted);
    assert_int_equal(w->central_bonds.count, 1);
    assert_int_equal(w->device_bonds.count, 1);
    assert_memory_equal(w->central_bonds.items[0].key, w->device_bonds.items[0].key, 16);
    assert_true(read_value(w) >= 0);
    assert_int_equal(pair(w), TENDON_OK); /* again: nothing is exchanged */
    assert_int_equal(w->central_bonds.count, 1);
}

static void a_bonded_link_is_encrypted_by_itself(void **state) {
    world *w = *state;
    connect_central(w);
    assert_int_equal(pair(w), TENDON_OK);
    close_link(w);
    tendon_radio_close(&w->central.radio);
    open_central(w, &second_address); /* the same program another time: it has another address */
    connect_central(w);
    assert_true(w->link.bonded(w->link.context));
    assert_true(read_value(w) >= 0); /* at once: what the key says goes first */
    STEP_UNTIL(&w->loop, w->connection.link.encrypted);
    assert_false(w->connection.link.encrypting);
    const tendon_link *device = &w->peripheral.links[0].link;
    assert_true(tendon_address_equal(&device->peer, &second_address));
    assert_true(tendon_address_equal(&device->identity, &central_address)); /* under which its key is stored */
    assert_int_equal(tendon_radio_forget_all(&w->device.radio), 1);         /* so its connection ends with the bond */
    STEP_UNTIL(&w->loop, w->session.disconnected == 2);
}

/* The device has received nothing when the session is notified: neither of a first connection, nor with the bond. */
static void where_encryption_is_required_it_comes_first(void **state) {
    world *w = *state;
    assert_int_equal(tendon_radio_set_security(&w->central.radio, TENDON_SECURITY_ENCRYPTED), TENDON_OK);
    for (int i = 0; i < 2; i++) {
        connect_central(w);
        assert_true(w->connection.link.encrypted);
        assert_int_equal(w->connection.link.sent + w->peripheral.links[0].link.received, 0);
        assert_true(tendon_link_has_security(&w->connection.link, TENDON_SECURITY_ENCRYPTED));
        assert_false(tendon_link_has_security(&w->connection.link, TENDON_SECURITY_AUTHENTICATED));
        assert_true(read_value(w) >= 0);
        assert_int_equal(w->central_bonds.count, 1);
        close_link(w);
    }
    /* Just Works is not enough. */
    assert_int_equal(tendon_radio_set_security(&w->central.radio, TENDON_SECURITY_AUTHENTICATED), TENDON_OK);
    int ends = w->session.disconnected;
    assert_int_equal(w->link.connect(w->link.context), TENDON_OK);
    STEP_UNTIL(&w->loop, w->session.disconnected == ends + 1);
    assert_int_equal(w->session.connected, 2);
    assert_int_equal(w->session.reason, TENDON_RADIO_ERROR_NOT_SECURE);
    assert_int_equal(w->connection.link.sent, 0);
}

static void a_device_that_does_not_pair_is_not_used(void **state) {
    world *w = *state;
    tendon_simulated_bose_set_pairing_mode(&w->bose, false, tendon_monotonic_ms());
    tendon_peripheral_refresh(&w->peripheral);
    assert_int_equal(tendon_radio_set_security(&w->central.radio, TENDON_SECURITY_ENCRYPTED), TENDON_OK);
    assert_int_equal(w->link.connect(w->link.context), TENDON_OK);
    STEP_UNTIL(&w->loop, w->session.disconnected == 1);
    assert_int_equal(w->session.connected, 0);
    assert_int_equal(w->session.reason, TENDON_RADIO_ERROR_NOT_SECURE);
    assert_int_equal(w->connection.link.sent, 0);
    assert_int_equal(w->central_bonds.count, 0);
}

static void out_of_pairing_mode_it_is_refused(void **state) {
    world *w = *state;
    tendon_simulated_bose_set_pairing_mode(&w->bose, false, tendon_monotonic_ms());
    tendon_peripheral_refresh(&w->peripheral);
    connect_central(w);
    assert_int_equal(pair(w), TENDON_RADIO_ERROR_PAIRING_FAILED);
    assert_false(w->link.bonded(w->link.context));
    assert_int_equal(read_value(w), NOT_AUTHENTICATED); /* the link stays */
    tendon_simulated_bose_set_pairing_mode(&w->bose, true, tendon_monotonic_ms());
    tendon_peripheral_refresh(&w->peripheral);
    assert_int_equal(pair(w), TENDON_OK);
}

static void a_peer_that_has_lost_its_key_ends_the_link(void **state) {
    world *w = *state;
    connect_central(w);
    assert_int_equal(pair(w), TENDON_OK);
    close_link(w);
    assert_int_equal(tendon_radio_forget_all(&w->device.radio), 1);
    int before = w->session.disconnected;
    assert_int_equal(w->link.connect(w->link.context), TENDON_OK);
    STEP_UNTIL(&w->loop, w->session.disconnected == before + 1);
    assert_int_equal(w->session.reason, TENDON_RADIO_ERROR_PAIRING_FAILED);
    assert_true(w->link.bonded(w->link.context)); /* that is for the user to forget */
    assert_int_equal(w->link.forget(w->link.context), TENDON_OK);
    assert_int_equal(w->link.forget(w->link.context), TENDON_ERROR_NOT_FOUND);
    connect_central(w);
    assert_int_equal(pair(w), TENDON_OK);
}

/* Each member of a bond counts: a key of another radio, adapter or role is none of this connection. */
static void a_key_that_belongs_to_something_else_does_not_encrypt(void **state) {
    world *w = *state;
    connect_central(w);
    assert_int_equal(pair(w), TENDON_OK);
    assert_int_equal(w->device_bonds.count, 1);
    const tendon_bond bond = w->device_bonds.items[0];
    for (int how = 0; how < 5; how++) {
        close_link(w);
        tendon_bond *changed = &w->device_bonds.items[0];
        *changed = bond;
        changed->radio = how == 0 ? TENDON_BOND_KERNEL : bond.radio;
        changed->initiator = how == 1 ? !bond.initiator : bond.initiator;
        changed->own.bytes[5] ^= how == 2;
        changed->key[15] ^= how == 3;
        int before = w->session.disconnected, connected = w->session.connected;
        assert_int_equal(w->link.connect(w->link.context), TENDON_OK);
        if (how < 4) {
            STEP_UNTIL(&w->loop, w->session.disconnected == before + 1);
            assert_int_equal(w->session.reason, TENDON_RADIO_ERROR_PAIRING_FAILED);
        } else {
            STEP_UNTIL(&w->loop, w->session.connected == connected + 1);
        }
    }
}

/* ---- what the device's server demands ---- */

/** The sensor configuration demands a key that was made with a passkey. */
static void demand_authentication(world *w) {
    w->bose.attributes[w->bose.handles[2] - 1].permissions |= TENDON_GATT_READ_AUTHENTICATED;
}

static const tendon_gatt_connection *server_of(const world *w) {
    return w->peripheral.links[0].bearer.server;
}

/* A bond of each worth, on the connection that made it and on the next one. */
static void the_server_knows_what_the_key_is_worth(void **state) {
    world *w = *state;
    static const struct {
        uint8_t type, key_size, level, error;
    } rows[] = {{0, 16, TENDON_GATT_SECURITY_ENCRYPTED, TENDON_ATT_INSUFFICIENT_AUTHENTICATION},
                {1, 16, TENDON_GATT_SECURITY_AUTHENTICATED, 0},
                {2, 16, TENDON_GATT_SECURITY_ENCRYPTED, TENDON_ATT_INSUFFICIENT_AUTHENTICATION},
                {3, 16, TENDON_GATT_SECURITY_AUTHENTICATED, 0},
                {3, 6, TENDON_GATT_SECURITY_AUTHENTICATED, TENDON_ATT_ENCRYPTION_KEY_SIZE_TOO_SHORT},
                {4, 16, TENDON_GATT_SECURITY_ENCRYPTED, TENDON_ATT_INSUFFICIENT_AUTHENTICATION}};
    demand_authentication(w);
    connect_central(w);
    assert_int_equal(read_value(w), NOT_AUTHENTICATED);
    assert_int_equal(server_of(w)->security, TENDON_GATT_SECURITY_NONE);
    assert_false(server_of(w)->bonded);
    assert_int_equal(pair(w), TENDON_OK); /* Just Works */
    assert_int_equal(read_value(w), NOT_AUTHENTICATED);
    assert_int_equal(server_of(w)->security, TENDON_GATT_SECURITY_ENCRYPTED);
    assert_true(server_of(w)->bonded);
    /* The same connection pairs again, with a passkey: the key in the store is a better one. */
    w->device_bonds.items[0].type = 3;
    assert_true(read_value(w) >= 0);
    assert_int_equal(server_of(w)->security, TENDON_GATT_SECURITY_AUTHENTICATED);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        close_link(w);
        w->device_bonds.items[0].type = rows[i].type;
        w->device_bonds.items[0].key_size = rows[i].key_size;
        connect_central(w);
        STEP_UNTIL(&w->loop, w->peripheral.links[0].link.encrypted);
        assert_int_equal(server_of(w)->security, rows[i].level); /* before the first request */
        tendon_status status = read_value(w);
        assert_int_equal(status < 0 ? status : 0, rows[i].error == 0 ? 0 : TENDON_ATT_ERROR(rows[i].error));
        assert_int_equal(server_of(w)->security, rows[i].level);
        assert_int_equal(server_of(w)->key_size, rows[i].key_size);
    }
    close_link(w);
    w->device_bonds.items[0].type = 3;
    tendon_bonds_init(&w->central_bonds); /* whoever has the address of a bonded central has not its key */
    connect_central(w);
    /* Core Spec Vol 3 Part C 10.3.1: not encrypted, although there is a key. */
    assert_int_equal(read_value(w), TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_ENCRYPTION));
    assert_int_equal(server_of(w)->security, TENDON_GATT_SECURITY_NONE);
    assert_true(server_of(w)->bonded);
}

static void looks_away(void *device, tendon_att_bearer *bearer, uint64_t now) {
    (void)device, (void)bearer, (void)now;
}

/* The peripheral tells the server that there is a key, whatever the device does about it. */
static void the_server_is_bonded_without_a_word_of_the_device(void **state) {
    world *w = *state;
    static tendon_peripheral_ops ops;
    ops = *w->peripheral.device.ops;
    ops.paired = looks_away;
    w->peripheral.device.ops = &ops;
    connect_central(w);
    assert_false(server_of(w)->bonded);
    assert_int_equal(pair(w), TENDON_OK);
    assert_true(server_of(w)->bonded);
    close_link(w);
}

static void forgetting_ends_the_link(void **state) {
    world *w = *state;
    connect_central(w);
    assert_int_equal(pair(w), TENDON_OK);
    assert_int_equal(w->link.forget(w->link.context), TENDON_OK);
    assert_int_equal(w->central_bonds.count, 0);
    STEP_UNTIL(&w->loop, w->session.disconnected == 1);
    assert_int_equal(w->session.reason, TENDON_ERROR_CANCELLED);
}

/* All keys of this radio; those of the other kind stay, also with the same own address. */
static void forgetting_all_keeps_the_keys_of_another_radio(void **state) {
    world *w = *state;
    connect_central(w);
    assert_int_equal(pair(w), TENDON_OK);
    tendon_bond other = w->device_bonds.items[0];
    other.radio = TENDON_BOND_KERNEL;
    assert_int_equal(tendon_bonds_store(&w->device_bonds, &other), TENDON_OK);
    assert_int_equal(w->device_bonds.count, 2);
    assert_int_equal(tendon_radio_forget_all(&w->device.radio), 1);
    assert_int_equal(w->device_bonds.count, 1);
    assert_int_equal(w->device_bonds.items[0].radio, TENDON_BOND_KERNEL);
    STEP_UNTIL(&w->loop, w->session.disconnected == 1);
}

static void a_device_without_pairing_refuses(void **state) {
    world *w = *state;
    w->device.radio.bonds = NULL;
    connect_central(w);
    assert_int_equal(pair(w), TENDON_RADIO_ERROR_PAIRING_FAILED);
}

static void the_file_decides_too(void **state) {
    world *w = *state;
    strcpy(w->central_bonds.path, "/proc/nowhere/bonds");
    connect_central(w);
    assert_true(pair(w) < 0); /* paired, but not kept: that is a failure */
    assert_false(w->link.bonded(w->link.context));
    memset(w->central_bonds.path, 0, sizeof w->central_bonds.path);
}

static void one_at_a_time_and_only_over_a_link(void **state) {
    world *w = *state;
    const tendon_pairing_service *service = tendon_radio_pairing(&w->central.radio);
    assert_int_equal(service->start(service->context, &device_address, recorded_session_inputs.paired, &w->session,
                                    tendon_monotonic_ms()),
                     TENDON_ERROR_WRONG_STATE);
    assert_int_equal(w->link.pair(w->link.context), TENDON_ERROR_WRONG_STATE);
    connect_central(w);
    assert_int_equal(w->link.pair(w->link.context), TENDON_OK);
    assert_int_equal(w->link.pair(w->link.context), TENDON_ERROR_BUSY);
    assert_int_equal(service->start(service->context, &device_address, recorded_session_inputs.paired, &w->session,
                                    tendon_monotonic_ms()),
                     TENDON_ERROR_BUSY);
    close_link(w); /* cancels it */
    assert_int_equal(w->session.paired, 0);
    connect_central(w);
    assert_int_equal(pair(w), TENDON_OK);
}

static void a_pairing_that_is_never_answered_has_a_limit(void **state) {
    world *w = *state;
    connect_central(w);
    tendon_source *watch = &w->peripheral.links[0].link.source; /* the device reads no more */
    assert_int_equal(tendon_loop_update(&w->loop, watch, 0), TENDON_OK);
    uint64_t now = tendon_monotonic_ms();
    assert_int_equal(w->link.pair(w->link.context), TENDON_OK);
    const tendon_source *timer = &w->central.radio.pairing_timer;
    assert_true(timer->added && timer->deadline >= now + 30000 && timer->deadline <= tendon_monotonic_ms() + 40000);
    timer->expired(timer->context, timer->deadline); /* time passes */
    assert_int_equal(w->session.paired, 1);
    assert_int_equal(w->session.pair_status, TENDON_ERROR_TIMEOUT);
    assert_false(timer->added); /* an idle radio causes no wake-up */
}

/* Hostile: everything that is no message of this state is counted and changes nothing. */
static void mal_messages_that_are_none(void **state) {
    world *w = *state;
    connect_central(w);
    STEP_UNTIL(&w->loop, w->peripheral.links[0].served);
    tendon_link *central = &w->connection.link, *device = &w->peripheral.links[0].link;
    uint8_t bytes[20] = {0}; /* lengths: PAIR 18, ENCRYPT 17, ANSWER 5, the others 1 */
    uint64_t expected = w->device.radio.malformed;
    for (unsigned code = 0; code < 16; code++) {
        for (size_t length = 0; length <= 20; length++) {
            bool good = (code == 1 && length == 18) || (code == 4 && length == 17) || (code == 8 && length == 5);
            if (good) {
                continue;
            }
            bytes[0] = (uint8_t)code;
            assert_int_equal(tendon_socket_link_control(central, bytes, length), TENDON_OK);
            expected++;
        }
        STEP_UNTIL(&w->loop, w->device.radio.malformed == expected);
    }
    expected = w->central.radio.malformed;
    for (unsigned code = 0; code < 16; code++) {
        for (size_t length = 0; length <= 20; length++) {
            bool good = (code == 2 || code == 3 || (code >= 5 && code <= 7) || code == 9) && length == 1;
            if (!good) {
                bytes[0] = (uint8_t)code;
                assert_int_equal(tendon_socket_link_control(device, bytes, length), TENDON_OK);
                expected++;
            }
        }
        STEP_UNTIL(&w->loop, w->central.radio.malformed == expected);
    }
    bytes[0] = 2; /* "paired", unasked */
    assert_int_equal(tendon_socket_link_control(device, bytes, 1), TENDON_OK);
    bytes[0] = 3;
    assert_int_equal(tendon_socket_link_control(device, bytes, 1), TENDON_OK);
    for (int i = 0; i < 4; i++) {
        (void)tendon_loop_step(&w->loop, tendon_monotonic_ms() + 5);
    }
    assert_int_equal(w->central_bonds.count + w->device_bonds.count, 0);
    assert_false(central->encrypted || device->encrypted);
    assert_int_equal(w->session.disconnected + w->session.paired, 0);
    assert_int_equal(read_value(w), NOT_AUTHENTICATED); /* it still works */
}

static void a_key_that_is_not_ours_is_no_key(void **state) {
    world *w = *state;
    uint8_t message[17] = {4, 1, 2, 3}; /* encrypt, with some key */
    connect_central(w);
    assert_int_equal(tendon_socket_link_control(&w->connection.link, message, sizeof message), TENDON_OK);
    STEP_UNTIL(&w->loop, w->session.disconnected == 1);
    assert_int_equal(w->session.reason, TENDON_RADIO_ERROR_PAIRING_FAILED);
}

#define PAIRING_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        PAIRING_TEST(refused_paired_read_again),
        PAIRING_TEST(a_bonded_link_is_encrypted_by_itself),
        PAIRING_TEST(where_encryption_is_required_it_comes_first),
        PAIRING_TEST(a_device_that_does_not_pair_is_not_used),
        PAIRING_TEST(out_of_pairing_mode_it_is_refused),
        PAIRING_TEST(a_peer_that_has_lost_its_key_ends_the_link),
        PAIRING_TEST(a_key_that_belongs_to_something_else_does_not_encrypt),
        PAIRING_TEST(the_server_knows_what_the_key_is_worth),
        PAIRING_TEST(the_server_is_bonded_without_a_word_of_the_device),
        PAIRING_TEST(forgetting_ends_the_link),
        PAIRING_TEST(forgetting_all_keeps_the_keys_of_another_radio),
        PAIRING_TEST(a_device_without_pairing_refuses),
        PAIRING_TEST(the_file_decides_too),
        PAIRING_TEST(one_at_a_time_and_only_over_a_link),
        PAIRING_TEST(a_pairing_that_is_never_answered_has_a_limit),
        PAIRING_TEST(mal_messages_that_are_none),
        PAIRING_TEST(a_key_that_is_not_ours_is_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
