/* SPDX-License-Identifier: MIT */
#include "tendon/tools/neighbors.h"

#include "tendon/host/hci.h"
#include "tendon/host/management.h"

#include <string.h>

/* Of the kernel's monitor channel (include/net/bluetooth/hci_mon.h). */
enum { CONTROL_OPEN = 14, CONTROL_CLOSE = 15, CONTROL_COMMAND = 16 };
/* What a socket is for, in CONTROL_OPEN (net/bluetooth/hci_sock.c, create_monitor_ctrl_open()). */
enum { FORMAT_RAW = 0, FORMAT_USER = 1 };
enum { NO_ADAPTER = 0xFFFF, COMMAND_DISALLOWED = 0x0C, HCI_RESET = 0x0C03 };

/* The management commands that change an adapter for all programs (doc/mgmt-api.txt of BlueZ). */
static const struct {
    uint16_t opcode;
    uint8_t action;
} commands[] = {
    {TENDON_MANAGEMENT_SET_POWERED, TENDON_NEIGHBOR_POWER},
    {0x0023, TENDON_NEIGHBOR_SCAN}, /* Start Discovery */
    {TENDON_MANAGEMENT_STOP_DISCOVERY, TENDON_NEIGHBOR_SCAN},
    {0x003A, TENDON_NEIGHBOR_SCAN}, /* Start Service Discovery */
    {0x0041, TENDON_NEIGHBOR_SCAN}, /* Start Limited Discovery */
    {TENDON_MANAGEMENT_SET_ADVERTISING, TENDON_NEIGHBOR_ADVERTISE},
    {0x003E, TENDON_NEIGHBOR_ADVERTISE}, /* Add Advertising */
    {0x003F, TENDON_NEIGHBOR_ADVERTISE}, /* Remove Advertising */
    {0x0054, TENDON_NEIGHBOR_ADVERTISE}, /* Add Extended Advertising Parameters */
    {TENDON_MANAGEMENT_DISCONNECT, TENDON_NEIGHBOR_CONNECT},
    {0x0033, TENDON_NEIGHBOR_CONNECT}, /* Add Device */
    {0x0034, TENDON_NEIGHBOR_CONNECT}, /* Remove Device */
    {TENDON_MANAGEMENT_LOAD_CONNECTION_PARAMETERS, TENDON_NEIGHBOR_CONNECT},
    {TENDON_MANAGEMENT_SET_DEVICE_FLAGS, TENDON_NEIGHBOR_CONNECT},
    {TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS, TENDON_NEIGHBOR_KEYS},
    {TENDON_MANAGEMENT_LOAD_IDENTITY_KEYS, TENDON_NEIGHBOR_KEYS},
    {TENDON_MANAGEMENT_ADD_REMOTE_OUT_OF_BAND_DATA, TENDON_NEIGHBOR_KEYS},
    {TENDON_MANAGEMENT_READ_LOCAL_OUT_OF_BAND_EXTENDED_DATA, TENDON_NEIGHBOR_KEYS}, /* replaces the previous data */
    {TENDON_MANAGEMENT_SET_IO_CAPABILITY, TENDON_NEIGHBOR_KEYS},
    {TENDON_MANAGEMENT_PAIR_DEVICE, TENDON_NEIGHBOR_KEYS},
    {TENDON_MANAGEMENT_UNPAIR_DEVICE, TENDON_NEIGHBOR_KEYS},
    {TENDON_MANAGEMENT_SET_CONNECTABLE, TENDON_NEIGHBOR_SETTINGS},
    {TENDON_MANAGEMENT_SET_PHYS, TENDON_NEIGHBOR_SETTINGS},
    {TENDON_MANAGEMENT_SET_BONDABLE, TENDON_NEIGHBOR_SETTINGS},
    {TENDON_MANAGEMENT_SET_LOW_ENERGY, TENDON_NEIGHBOR_SETTINGS},
    {TENDON_MANAGEMENT_SET_BREDR, TENDON_NEIGHBOR_SETTINGS},
    {TENDON_MANAGEMENT_SET_STATIC_ADDRESS, TENDON_NEIGHBOR_SETTINGS},
    {0x002F, TENDON_NEIGHBOR_SETTINGS}, /* Set Privacy */
};

/* The commands that a controller rejects because of a scan, advertising or a connection of another program. */
static const uint16_t contested[] = {
    0x2006, 0x2008, 0x200A, 0x200B, 0x200C, 0x200D, /* legacy: advertising, scan, create connection */
    0x2036, 0x2039, 0x2041, 0x2042, 0x2043          /* extended */
};

void tendon_neighbors_init(tendon_neighbors *neighbors, uint16_t adapter) {
    memset(neighbors, 0, sizeof *neighbors);
    neighbors->adapter = adapter;
}

static void count(uint32_t *counter) {
    *counter += *counter < UINT32_MAX;
}

/** The name as far as its NUL, printable; @p out is empty. */
static void take_name(char out[TENDON_NEIGHBOR_NAME_SIZE], const uint8_t *name, size_t length) {
    size_t used = 0;
    while (used < length && used < TENDON_NEIGHBOR_NAME_SIZE - 1 && name[used] != 0) {
        out[used] = name[used] >= ' ' && name[used] <= '~' ? (char)name[used] : '?';
        used++;
    }
}

/** The program with this name, or a new one; NULL if there is no room. */
static tendon_neighbor *program_of(tendon_neighbors *neighbors, const char name[TENDON_NEIGHBOR_NAME_SIZE]) {
    for (size_t i = 0; i < neighbors->count; i++) {
        if (memcmp(neighbors->programs[i].program, name, TENDON_NEIGHBOR_NAME_SIZE) == 0) {
            return &neighbors->programs[i];
        }
    }
    if (neighbors->count == TENDON_NEIGHBORS_MAX) {
        return NULL;
    }
    tendon_neighbor *program = &neighbors->programs[neighbors->count++];
    memcpy(program->program, name, TENDON_NEIGHBOR_NAME_SIZE);
    return program;
}

/** A closed entry is used again; else the oldest. */
static void remember(tendon_neighbors *neighbors, uint32_t cookie, size_t program) {
    const size_t capacity = sizeof neighbors->sockets / sizeof neighbors->sockets[0];
    size_t at = 0;
    while (at < capacity && neighbors->sockets[at].open) {
        at++;
    }
    if (at == capacity) {
        at = neighbors->next_socket;
        neighbors->next_socket = (at + 1) % capacity;
    }
    neighbors->sockets[at].cookie = cookie;
    neighbors->sockets[at].program = (uint8_t)program;
    neighbors->sockets[at].open = true;
}

/** The entry of an open socket; the number of entries if there is none. */
static size_t socket_of(const tendon_neighbors *neighbors, uint32_t cookie) {
    const size_t capacity = sizeof neighbors->sockets / sizeof neighbors->sockets[0];
    size_t at = 0;
    while (at < capacity && !(neighbors->sockets[at].open && neighbors->sockets[at].cookie == cookie)) {
        at++;
    }
    return at;
}

/* Cookie (4), format (2), version (3), flags (4), length of the name (1), name. */
static void take_open(tendon_neighbors *neighbors, tendon_reader *reader) {
    char name[TENDON_NEIGHBOR_NAME_SIZE] = {0};
    uint32_t cookie = tendon_read_u32le(reader);
    uint16_t format = tendon_read_u16le(reader);
    (void)tendon_read_bytes(reader, 7);
    uint8_t length = tendon_read_u8(reader);
    const uint8_t *bytes = tendon_read_bytes(reader, length);
    if (!tendon_reader_ok(reader)) {
        count(&neighbors->malformed);
        return;
    }
    take_name(name, bytes, length);
    tendon_neighbor *program = program_of(neighbors, name);
    if (program == NULL) {
        count(&neighbors->left_out);
        return;
    }
    count(&program->sockets);
    program->raw |= format == FORMAT_RAW || format == FORMAT_USER;
    program->exclusive |= format == FORMAT_USER;
    remember(neighbors, cookie, (size_t)(program - neighbors->programs));
}

static void take_close(tendon_neighbors *neighbors, tendon_reader *reader) {
    uint32_t cookie = tendon_read_u32le(reader);
    if (!tendon_reader_ok(reader)) {
        count(&neighbors->malformed);
        return;
    }
    size_t at = socket_of(neighbors, cookie);
    if (at < sizeof neighbors->sockets / sizeof neighbors->sockets[0]) {
        neighbors->sockets[at].open = false;
    }
}

/* Cookie (4), opcode (2), parameters. */
static void take_command(tendon_neighbors *neighbors, tendon_reader *reader) {
    uint32_t cookie = tendon_read_u32le(reader);
    uint16_t opcode = tendon_read_u16le(reader);
    if (!tendon_reader_ok(reader)) {
        count(&neighbors->malformed);
        return;
    }
    size_t at = socket_of(neighbors, cookie);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (commands[i].opcode == opcode && at < sizeof neighbors->sockets / sizeof neighbors->sockets[0]) {
            count(&neighbors->programs[neighbors->sockets[at].program].actions[commands[i].action]);
        }
    }
}

static void take_event(tendon_neighbors *neighbors, const tendon_capture_record *record) {
    tendon_hci_event event;
    tendon_hci_parameters parameters;
    if (tendon_hci_event_decode(record->data, record->length, &event, NULL) != TENDON_OK ||
        (event.code != TENDON_HCI_COMMAND_COMPLETE && event.code != TENDON_HCI_COMMAND_STATUS) ||
        tendon_hci_decode(&event, &parameters, NULL) != TENDON_OK) {
        return; /* what a controller sends is the business of others */
    }
    /* Command Complete has its status in the return parameters. */
    uint8_t status = event.code == TENDON_HCI_COMMAND_STATUS ? parameters.status
                     : parameters.length > 0                 ? parameters.data[0]
                                                             : 0;
    for (size_t i = 0; status == COMMAND_DISALLOWED && i < sizeof contested / sizeof contested[0]; i++) {
        if (contested[i] == parameters.opcode) {
            count(&neighbors->rejected);
            neighbors->rejected_opcode = parameters.opcode;
        }
    }
}

void tendon_neighbors_feed(tendon_neighbors *neighbors, const tendon_capture_record *record) {
    tendon_reader reader = tendon_reader_make(record->data, record->length);
    if (neighbors->adapter != TENDON_NEIGHBORS_ALL && record->adapter != NO_ADAPTER &&
        record->adapter != neighbors->adapter) {
        return;
    }
    if (record->type == TENDON_HCI_PACKET_EVENT) {
        take_event(neighbors, record);
    } else if (record->type == TENDON_HCI_PACKET_COMMAND) {
        if (tendon_read_u16le(&reader) == HCI_RESET && tendon_reader_ok(&reader)) {
            count(&neighbors->resets);
        }
    } else if (record->type == 0 && record->opcode == CONTROL_OPEN) {
        take_open(neighbors, &reader);
    } else if (record->type == 0 && record->opcode == CONTROL_CLOSE) {
        take_close(neighbors, &reader);
    } else if (record->type == 0 && record->opcode == CONTROL_COMMAND) {
        take_command(neighbors, &reader);
    }
}

static bool acts(const tendon_neighbor *program) {
    for (size_t i = 0; i < TENDON_NEIGHBOR_ACTIONS; i++) {
        if (program->actions[i] != 0) {
            return true;
        }
    }
    return false;
}

bool tendon_neighbors_interfere(const tendon_neighbors *neighbors) {
    bool found = neighbors->rejected > 0;
    for (size_t i = 0; i < neighbors->count; i++) {
        for (size_t j = 0; j < neighbors->count; j++) {
            const tendon_neighbor *a = &neighbors->programs[i], *b = &neighbors->programs[j];
            found = found || (i != j && (a->exclusive || (acts(a) && (acts(b) || b->raw))));
        }
    }
    return found;
}

const char *tendon_neighbor_action_name(tendon_neighbor_action action) {
    static const char *const names[TENDON_NEIGHBOR_ACTIONS] = {"power",   "scan", "advertise",
                                                               "connect", "keys", "settings"};
    return (unsigned)action < TENDON_NEIGHBOR_ACTIONS ? names[action] : "unknown";
}
