/* SPDX-License-Identifier: MIT */
/*
 * Neighbors: the programs that use an adapter, from a capture of the kernel's monitor channel (of
 * tendon_bluez_monitor, `tendon capture` or btmon). Sans I/O.
 *
 * The kernel notes in such a capture which program opens a socket of which kind, and which management command it sends.
 * HCI commands of raw sockets are in the capture too, but not who sent them.
 */
#ifndef TENDON_TOOLS_NEIGHBORS_H
#define TENDON_TOOLS_NEIGHBORS_H

#include "tendon/tools/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Programs that are kept. */
#define TENDON_NEIGHBORS_MAX 16
/** Size of a program's name with its NUL: the kernel keeps 15 characters. */
#define TENDON_NEIGHBOR_NAME_SIZE 17

/** What a program has the kernel do. */
typedef enum tendon_neighbor_action {
    TENDON_NEIGHBOR_POWER = 0, /**< power the adapter on or off */
    TENDON_NEIGHBOR_SCAN,      /**< start or stop a discovery */
    TENDON_NEIGHBOR_ADVERTISE,
    TENDON_NEIGHBOR_CONNECT, /**< devices that the kernel connects to by itself; disconnections */
    TENDON_NEIGHBOR_KEYS,    /**< pairing; replacing the keys of the adapter */
    TENDON_NEIGHBOR_SETTINGS /**< other commands that change the adapter */
} tendon_neighbor_action;
#define TENDON_NEIGHBOR_ACTIONS 6

/** All sockets of the programs with one name. */
typedef struct tendon_neighbor {
    char program[TENDON_NEIGHBOR_NAME_SIZE]; /**< of the thread that opened the socket; printable, other bytes as '?' */
    uint32_t sockets;                        /**< opened, or open when the capture began */
    bool raw;                                /**< one of them can send HCI commands */
    bool exclusive;                          /**< one of them took the adapter from the kernel */
    uint32_t actions[TENDON_NEIGHBOR_ACTIONS]; /**< management commands */
} tendon_neighbor;

/** The caller's memory. Counters stop at their maximum. */
typedef struct tendon_neighbors {
    uint16_t adapter; /**< of which records count; TENDON_NEIGHBORS_ALL: of all */
    tendon_neighbor programs[TENDON_NEIGHBORS_MAX];
    size_t count;
    struct {
        uint32_t cookie;
        uint8_t program; /**< index */
        bool open;
    } sockets[4 * TENDON_NEIGHBORS_MAX]; /**< opaque */
    size_t next_socket;                  /**< opaque */
    uint32_t left_out;                   /**< sockets of programs beyond the maximum */
    /** Commands to scan, to advertise or to connect that the controller rejected, because it was doing that, or
     * something else: Command Disallowed (0x0C, Vol 1 Part F 2.12). */
    uint32_t rejected;
    uint16_t rejected_opcode; /**< of the latest */
    uint32_t resets;          /**< HCI Reset, which ends every connection and every scan */
    uint32_t malformed;       /**< records of the kernel that could not be decoded; skipped */
} tendon_neighbors;

#define TENDON_NEIGHBORS_ALL 0xFFFFu

void tendon_neighbors_init(tendon_neighbors *neighbors, uint16_t adapter);
/** Takes one record of a MONITOR capture; other records change nothing. */
void tendon_neighbors_feed(tendon_neighbors *neighbors, const tendon_capture_record *record);
/**
 * Whether the capture proves interference: a command was rejected, one program has the adapter exclusively while
 * another has a socket, or a program changed what the adapter does while another did that too, or could.
 */
bool tendon_neighbors_interfere(const tendon_neighbors *neighbors);
/** "power", "scan", ... In static storage; "unknown" otherwise. */
const char *tendon_neighbor_action_name(tendon_neighbor_action action);

#ifdef __cplusplus
}
#endif
#endif
