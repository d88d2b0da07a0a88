/* SPDX-License-Identifier: MIT */
/*
 * The keys of a bond store in the kernel. Load Long Term Keys replaces the whole list of an adapter, and no command
 * reads it. Processes that use one store load the same list; one that uses another store would remove their keys. The
 * same is true of Load Identity Resolving Keys. Until the kernel has received that once, it does not request the
 * identity keys of the devices that it pairs with.
 *
 * So a list is sent only if no other program can have loaded one, and never an empty one. While that is so is checked
 * again before each connection, and before devices may pair with this machine.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/** Parameters of the two commands: a count, then 36 bytes for each key, 23 for each identity key. */
enum { NO_KEYS = 2, KEYS_SIZE = TENDON_BLUEZ_PARAMETERS_MAX, IDENTITY_KEY_SIZE = 16 };

/** Identifies a store among those of one machine. */
typedef struct store_id {
    char text[TENDON_BLUEZ_USE_SIZE];
} store_id;

/** Directory and name of the file, for the file is a new one after each change; a store in memory is its radio's. */
static store_id id_of(const tendon_bluez_radio *radio) {
    const char *path = radio->radio.bonds->path, *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char directory[TENDON_BONDS_PATH_SIZE] = ".";
    struct stat state = {0};
    store_id id;
    if (slash != NULL) {
        memcpy(directory, path, (size_t)(slash - path) + 1);
        directory[slash - path + 1] = '\0';
    }
    if (path[0] == '\0' || stat(directory, &state) != 0) {
        (void)fstat(radio->management.fd, &state);
    }
    snprintf(id.text, sizeof id.text, TENDON_BLUEZ_USE_KEYS "%llx-%llx-%x", (unsigned long long)state.st_dev,
             (unsigned long long)state.st_ino, (unsigned)tendon_crc32(0, (const uint8_t *)name, strlen(name)));
    return id;
}

void tendon_bluez_keys_stored(tendon_bluez_radio *radio) {
    if (radio->leases[1] < 0) {
        radio->leases[1] = tendon_bluez_lease(radio->index, id_of(radio).text);
    }
}

/** Who may have loaded keys for this adapter. */
typedef enum key_owner {
    OURS = 0,
    OF_OTHER_STORE, /**< a radio with another store has */
    OF_OTHERS       /**< another program may have, bluetoothd for example, or that is not known */
} key_owner;

/* bluetoothd is found by its sockets: in a container, and in the sandbox of a service, its process cannot be seen. */
static key_owner owner_of_keys(const tendon_bluez_radio *radio) {
    const store_id id = id_of(radio);
    tendon_bluez_names names;
    bool known = tendon_bluez_read_names(radio->index, id.text, &names);
    if (names.other_store) {
        return OF_OTHER_STORE;
    }
    return known && tendon_bluez_programs(radio) == 0 ? OURS : OF_OTHERS;
}

/** Loads the keys into the kernel, and waits for the response. */
static tendon_status load(const tendon_bluez_radio *radio, const uint8_t *keys, size_t length) {
    /* A separate socket: the loop reads the events of the radio's socket. */
    tendon_status fd = tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
    if (fd < 0) {
        return fd;
    }
    tendon_status status =
        tendon_bluez_manage(fd, TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS, radio->index, keys, length, NULL, 0);
    close(fd);
    return status < 0 ? status : TENDON_OK;
}

/**
 * Sends a list, unless it is empty; the response is not waited for. If the kernel rejects the list, bonded devices pair
 * again (long term keys), or are not recognized by their private addresses (identity keys); everything else works.
 */
static void send_list(const tendon_bluez_radio *radio, uint16_t opcode, const uint8_t *keys, tendon_status size) {
    if (size > NO_KEYS) {
        (void)tendon_bluez_management_send(radio, opcode, keys, (size_t)size);
    }
}

/** A list with one identity key, for the address of the adapter: no device has it. */
static tendon_status encode_no_device(const tendon_address *own, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u16le(&writer, 1);
    tendon_management_write_address(&writer, own);
    for (size_t i = 0; i < IDENTITY_KEY_SIZE; i++) {
        tendon_write_u8(&writer, own->bytes[i % sizeof own->bytes]);
    }
    return tendon_writer_result(&writer);
}

/* The first list makes the kernel request the keys of devices that pair, so there is one without any bond, too. */
static void load_identities(tendon_bluez_radio *radio) {
    const tendon_address *own = &radio->radio.address;
    uint8_t keys[KEYS_SIZE];
    tendon_status size = tendon_bonds_encode_identities(radio->radio.bonds, own, keys, sizeof keys);
    if (size == NO_KEYS && !radio->identities_loaded) {
        size = encode_no_device(own, keys, sizeof keys);
    }
    send_list(radio, TENDON_MANAGEMENT_LOAD_IDENTITY_KEYS, keys, size);
    radio->identities_loaded = true;
}

/* Without keys there is nothing to load yet, and nothing that another program could remove. */
tendon_status tendon_bluez_use_bonds(tendon_radio *base) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    uint8_t keys[KEYS_SIZE];
    tendon_status size = tendon_bonds_encode_keys(base->bonds, &base->address, keys, sizeof keys);
    if (size <= NO_KEYS) {
        return size < 0 ? size : TENDON_OK;
    }
    tendon_bluez_keys_stored(radio);
    const key_owner owner = owner_of_keys(radio);
    tendon_status status = owner == OF_OTHER_STORE ? TENDON_RADIO_ERROR_OTHER_BOND_STORE
                           : owner == OURS         ? load(radio, keys, (size_t)size)
                                                   : TENDON_OK;
    if (status >= 0 && owner == OURS) {
        load_identities(radio);
    }
    if (status < 0 && radio->leases[1] >= 0) {
        close(radio->leases[1]);
        radio->leases[1] = -1;
    }
    return status;
}

void tendon_bluez_load_again(tendon_bluez_radio *radio) {
    uint8_t keys[KEYS_SIZE];
    if (owner_of_keys(radio) != OURS) {
        radio->identities_loaded = false;
        return;
    }
    tendon_status size = tendon_bonds_encode_keys(radio->radio.bonds, &radio->radio.address, keys, sizeof keys);
    send_list(radio, TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS, keys, size);
    load_identities(radio);
}

void tendon_bluez_load_missing(tendon_bluez_radio *radio) {
    if (radio->radio.bonds != NULL && !radio->identities_loaded) {
        tendon_bluez_load_again(radio);
    }
}

/* Without the identity keys it would wait for an address that the device does not use. A key that came by a pairing is
 * in the kernel, too. */
tendon_status tendon_bluez_resolves(tendon_radio *base) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    tendon_bluez_load_missing(radio);
    return radio->identities_loaded || radio->identity_received ? TENDON_OK : TENDON_RADIO_ERROR_OTHER_BOND_STORE;
}

/* After the size of a key the kernel sends 0. A file can have sizes that no key has: 7 to 16 (Core Spec Vol 3 Part H
 * 2.3.4). */
static bool is_key_of(const tendon_bond *bond, const uint8_t *key) {
    return bond->radio == TENDON_BOND_KERNEL && bond->key_size >= 7 && bond->key_size <= sizeof bond->key &&
           memcmp(bond->key, key, bond->key_size) == 0;
}

static bool is_stored(const tendon_bonds *bonds, const uint8_t *key) {
    size_t i = 0;
    while (i < bonds->count && !is_key_of(&bonds->items[i], key)) {
        i++;
    }
    return i < bonds->count;
}

/** TENDON_BLUEZ_SLOTS: none was seen for this connection. */
static size_t key_slot(const tendon_bluez_radio *radio, uint16_t handle) {
    size_t i = 0;
    while (i < TENDON_BLUEZ_SLOTS && (!radio->keys[i].used || radio->keys[i].handle != handle)) {
        i++;
    }
    return i;
}

/* LE Enable Encryption (Core Spec Vol 4 Part E 7.8.24): handle (2), random number (8), diversifier (2), key. */
void tendon_bluez_note_key(tendon_bluez_radio *radio, tendon_reader *parameters) {
    const uint16_t handle = tendon_read_u16le(parameters);
    (void)tendon_read_bytes(parameters, 10);
    const uint8_t *key = tendon_read_bytes(parameters, 16);
    if (!tendon_reader_ok(parameters) || radio->radio.bonds == NULL) {
        return;
    }
    size_t i = key_slot(radio, handle);
    if (i == TENDON_BLUEZ_SLOTS) {
        i = radio->next_key;
        radio->next_key = (uint8_t)((i + 1u) % TENDON_BLUEZ_SLOTS);
    }
    radio->keys[i] =
        (tendon_bluez_key_seen){.used = true, .handle = handle, .of_bond = is_stored(radio->radio.bonds, key)};
}

tendon_bluez_key tendon_bluez_key_of(const tendon_bluez_radio *radio, uint16_t handle) {
    size_t i = key_slot(radio, handle);
    if (i == TENDON_BLUEZ_SLOTS) {
        return TENDON_BLUEZ_NO_KEY;
    }
    return radio->keys[i].of_bond ? TENDON_BLUEZ_BOND_KEY : TENDON_BLUEZ_OTHER_KEY;
}

void tendon_bluez_forget_key(tendon_bluez_radio *radio, uint16_t handle) {
    size_t i = key_slot(radio, handle);
    if (i < TENDON_BLUEZ_SLOTS) {
        radio->keys[i].used = false;
    }
}

#endif
