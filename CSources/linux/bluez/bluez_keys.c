/* SPDX-License-Identifier: MIT */
/*
 * The keys of a bond store in the kernel. Load Long Term Keys replaces the whole list of an adapter, and no command
 * reads it. Processes that use one store load the same list; one that uses another store would remove their keys. The
 * same is true of Load Identity Resolving Keys. Until it was received once, even with an empty list, the kernel does
 * not request the identity keys of the devices that it pairs with.
 */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"
#include "tendon/linux/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/** Parameters of the two commands: a count, then 36 bytes for each key, 23 for each identity key. */
enum { NO_KEYS = 2, KEYS_SIZE = TENDON_BLUEZ_PARAMETERS_MAX };

/** The commands, with the functions that encode their parameters. */
static const struct key_list {
    uint16_t opcode;
    tendon_status (*encode)(const tendon_bonds *bonds, const tendon_address *own, uint8_t *out, size_t capacity);
} key_lists[] = {{TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS, tendon_bonds_encode_keys},
                 {TENDON_MANAGEMENT_LOAD_IDENTITY_KEYS, tendon_bonds_encode_identities}};
enum { LONG_TERM_KEYS = 0, IDENTITY_KEYS, KEY_LISTS };

/** Identifies a store among those of one machine. */
typedef struct store_id {
    char text[40];
} store_id;

/** Directory and name of the file, for the file is a new one after each change; a store in memory is its own. */
static store_id id_of(const tendon_bluez_radio *radio) {
    const char *path = radio->radio.bonds->path, *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char directory[TENDON_BONDS_PATH_SIZE] = ".";
    struct stat state;
    store_id id;
    if (slash != NULL) {
        memcpy(directory, path, (size_t)(slash - path) + 1);
        directory[slash - path + 1] = '\0';
    }
    if (path[0] == '\0' || stat(directory, &state) != 0) {
        snprintf(id.text, sizeof id.text, "memory-%ld-%d", (long)getpid(), radio->management.fd);
    } else {
        snprintf(id.text, sizeof id.text, "%llx-%llx-%x", (unsigned long long)state.st_dev,
                 (unsigned long long)state.st_ino, (unsigned)tendon_crc32(0, (const uint8_t *)name, strlen(name)));
    }
    return id;
}

/** Shows other processes which store this radio uses, in an abstract address that ends with the process. */
static int announce(const tendon_bluez_radio *radio, const store_id *id) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "tendon/keys/hci%u/%s/%ld-%d", radio->index,
                          id->text, (long)getpid(), radio->management.fd);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void tendon_bluez_keys_stored(tendon_bluez_radio *radio) {
    if (radio->leases[2] < 0) {
        const store_id id = id_of(radio);
        radio->leases[2] = announce(radio, &id);
    }
}

/** A line of /proc/net/unix that shows another store at this adapter. */
static bool shows_other(const char *line, uint16_t index, const store_id *id) {
    char prefix[32];
    int length = snprintf(prefix, sizeof prefix, "@tendon/keys/hci%u/", index);
    const char *found = strstr(line, prefix);
    const size_t id_length = strlen(id->text);
    return found != NULL &&
           (strncmp(found + length, id->text, id_length) != 0 || found[(size_t)length + id_length] != '/');
}

/** Whether a radio with another store uses this adapter. */
static bool has_other_store(uint16_t index, const store_id *id) {
    char text[4096];
    size_t length = 0;
    bool found = false;
    int fd = open("/proc/net/unix", O_RDONLY | O_CLOEXEC);
    ssize_t got = 0;
    while (fd >= 0 && (got = read(fd, text + length, sizeof text - 1 - length)) > 0) {
        length += (size_t)got;
        text[length] = '\0';
        char *line = text, *end = NULL;
        while ((end = strchr(line, '\n')) != NULL) {
            *end = '\0';
            found = found || shows_other(line, index, id);
            line = end + 1;
        }
        length = line == text ? 0 : strlen(line); /* a line longer than the buffer was not written by Tendon */
        memmove(text, line, length);
    }
    if (fd >= 0) {
        close(fd);
    }
    return found;
}

/** bluetoothd has loaded the keys that it knows; a list of ours would replace them. */
static bool daemon_runs(void) {
    tendon_finding findings[TENDON_FINDING_COUNT];
    tendon_doctor_examine(NULL, findings);
    return findings[TENDON_FINDING_DAEMON].count > 0;
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
 * Sends a list; the response is not waited for. If the kernel rejects the list, bonded devices pair again (long term
 * keys), or are not recognized by their private addresses (identity keys); everything else works.
 */
static void send_list(const tendon_bluez_radio *radio, const struct key_list *list, tendon_status size_min) {
    uint8_t keys[KEYS_SIZE];
    tendon_status size = list->encode(radio->radio.bonds, &radio->radio.address, keys, sizeof keys);
    if (size >= size_min) {
        (void)tendon_bluez_management_send(radio, list->opcode, keys, (size_t)size);
    }
}

static void load_identities(tendon_bluez_radio *radio) {
    send_list(radio, &key_lists[IDENTITY_KEYS], NO_KEYS);
    radio->identities_loaded = true;
}

tendon_status tendon_bluez_use_bonds(tendon_radio *base) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    uint8_t keys[KEYS_SIZE];
    tendon_status size = tendon_bonds_encode_keys(base->bonds, &base->address, keys, sizeof keys);
    if (size < 0) {
        return size;
    }
    const store_id id = id_of(radio);
    if (size == NO_KEYS) { /* announced with the first key */
        if (!has_other_store(radio->index, &id) && !daemon_runs()) {
            load_identities(radio);
        }
        return TENDON_OK;
    }
    tendon_bluez_keys_stored(radio);
    tendon_status status = TENDON_OK;
    if (has_other_store(radio->index, &id)) {
        status = TENDON_RADIO_ERROR_OTHER_BOND_STORE;
    } else if (!daemon_runs()) {
        status = load(radio, keys, (size_t)size);
        if (status >= 0) {
            load_identities(radio);
        }
    }
    if (status < 0 && radio->leases[2] >= 0) {
        close(radio->leases[2]);
        radio->leases[2] = -1;
    }
    return status;
}

void tendon_bluez_load_again(tendon_bluez_radio *radio) {
    const store_id id = id_of(radio);
    radio->identities_loaded = !has_other_store(radio->index, &id) && !daemon_runs();
    if (!radio->identities_loaded) {
        return;
    }
    for (size_t i = 0; i < KEY_LISTS; i++) {
        send_list(radio, &key_lists[i], NO_KEYS + 1);
    }
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

#else
typedef int tendon_bluez_keys_nothing; /* ISO C requires a declaration in every file */
#endif
