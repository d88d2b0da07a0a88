/* SPDX-License-Identifier: MIT */
/*
 * Every pair of connection state and input of a feelSpace session, and what it does. Tested with a script for a link
 * (test_feelspace_pairs.c), and over links of a radio (Tests/Kernel/c/walk_feelspace.c).
 */
#ifndef FEELSPACE_PAIRS_H
#define FEELSPACE_PAIRS_H

#include "tendon/devices/feelspace.h"

typedef enum situation {
    IDLE,
    DRAINING, /* not connected, the old link still goes down */
    SCANNING,
    AWAITING, /* connecting, as soon as the old link is down */
    CONNECTING,
    DISCOVERING,
    PAIRING,
    HANDSHAKE,
    CONNECTED,
    RECONNECTING,
    SITUATIONS
} situation;

typedef enum input {
    IN_CONNECTED,
    IN_DISCONNECTED,
    IN_PAIRED,
    IN_PAIRING_FAILED,
    IN_TICK,
    IN_DEADLINE,
    IN_ADAPTER_ON,
    IN_ADAPTER_OFF,
    IN_ADAPTER_UNKNOWN,
    IN_SCAN,
    IN_STOP_SCAN,
    IN_CONNECT,
    IN_DISCONNECT,
    IN_ADVERTISED,
    IN_COMMAND,
    INPUTS
} input;

static const char *const situation_names[SITUATIONS] = {
    "idle",      "draining",  "scanning",    "awaiting the old link's end", "connecting", "discovering", "pairing",
    "handshake", "connected", "reconnecting"};
static const char *const input_names[INPUTS] = {
    "connected", "disconnected", "paired",      "pairing failed",  "tick",
    "deadline",  "adapter on",   "adapter off", "adapter unknown", "scan",
    "stop scan", "connect",      "disconnect",  "advertised",      "command"};

/* What an input does. */
typedef struct outcome {
    bool known;
    tendon_feelspace_state next;
    bool illegal; /* counted */
    int events;   /* told: changes of state, ends of a search, belts found */
    int hangs_up; /* the link is asked to end */
    int asks;     /* a link is asked for */
} outcome;

#define STAYS(state)                                                                                                   \
    { true, TENDON_FEELSPACE_##state, false, 0, 0, 0 }
#define ILLEGAL(state)                                                                                                 \
    { true, TENDON_FEELSPACE_##state, true, 0, 0, 0 }
#define GOES(state, events)                                                                                            \
    { true, TENDON_FEELSPACE_##state, false, events, 0, 0 }
#define ENDS(state)                                                                                                    \
    { true, TENDON_FEELSPACE_##state, false, 1, 1, 0 }
#define ASKS(state, events)                                                                                            \
    { true, TENDON_FEELSPACE_##state, false, events, 0, 1 }

static const outcome table[SITUATIONS][INPUTS] = {
    [IDLE] = {[IN_CONNECTED] = ILLEGAL(NOT_CONNECTED),
              [IN_DISCONNECTED] = ILLEGAL(NOT_CONNECTED),
              [IN_PAIRED] = ILLEGAL(NOT_CONNECTED),
              [IN_PAIRING_FAILED] = ILLEGAL(NOT_CONNECTED),
              [IN_TICK] = STAYS(NOT_CONNECTED),
              [IN_DEADLINE] = STAYS(NOT_CONNECTED),
              [IN_ADAPTER_ON] = STAYS(NOT_CONNECTED),
              [IN_ADAPTER_OFF] = STAYS(NOT_CONNECTED),
              [IN_ADAPTER_UNKNOWN] = STAYS(NOT_CONNECTED),
              [IN_SCAN] = GOES(SCANNING, 1),
              [IN_STOP_SCAN] = STAYS(NOT_CONNECTED),
              [IN_CONNECT] = ASKS(CONNECTING, 1),
              [IN_DISCONNECT] = STAYS(NOT_CONNECTED),
              [IN_ADVERTISED] = STAYS(NOT_CONNECTED),
              [IN_COMMAND] = STAYS(NOT_CONNECTED)},
    [DRAINING] = {[IN_CONNECTED] = ILLEGAL(NOT_CONNECTED),
                  [IN_DISCONNECTED] = STAYS(NOT_CONNECTED),
                  [IN_PAIRED] = ILLEGAL(NOT_CONNECTED),
                  [IN_PAIRING_FAILED] = ILLEGAL(NOT_CONNECTED),
                  [IN_TICK] = STAYS(NOT_CONNECTED),
                  [IN_DEADLINE] = STAYS(NOT_CONNECTED),
                  [IN_ADAPTER_ON] = STAYS(NOT_CONNECTED),
                  [IN_ADAPTER_OFF] = STAYS(NOT_CONNECTED),
                  [IN_ADAPTER_UNKNOWN] = STAYS(NOT_CONNECTED),
                  [IN_SCAN] = GOES(SCANNING, 1),
                  [IN_STOP_SCAN] = STAYS(NOT_CONNECTED),
                  [IN_CONNECT] = GOES(CONNECTING, 1),
                  [IN_DISCONNECT] = STAYS(NOT_CONNECTED),
                  [IN_ADVERTISED] = STAYS(NOT_CONNECTED),
                  [IN_COMMAND] = STAYS(NOT_CONNECTED)},
    [SCANNING] = {[IN_CONNECTED] = ILLEGAL(SCANNING),
                  [IN_DISCONNECTED] = ILLEGAL(SCANNING),
                  [IN_PAIRED] = ILLEGAL(SCANNING),
                  [IN_PAIRING_FAILED] = ILLEGAL(SCANNING),
                  [IN_TICK] = STAYS(SCANNING),
                  [IN_DEADLINE] = GOES(NOT_CONNECTED, 2),
                  [IN_ADAPTER_ON] = STAYS(SCANNING),
                  [IN_ADAPTER_OFF] = GOES(NOT_CONNECTED, 2),
                  [IN_ADAPTER_UNKNOWN] = STAYS(SCANNING),
                  [IN_SCAN] = STAYS(SCANNING),
                  [IN_STOP_SCAN] = GOES(NOT_CONNECTED, 2),
                  [IN_CONNECT] = ASKS(CONNECTING, 2),
                  [IN_DISCONNECT] = STAYS(SCANNING),
                  [IN_ADVERTISED] = GOES(SCANNING, 1),
                  [IN_COMMAND] = STAYS(SCANNING)},
    [AWAITING] = {[IN_CONNECTED] = ILLEGAL(CONNECTING),
                  [IN_DISCONNECTED] = ASKS(CONNECTING, 0),
                  [IN_PAIRED] = ILLEGAL(CONNECTING),
                  [IN_PAIRING_FAILED] = ILLEGAL(CONNECTING),
                  [IN_TICK] = STAYS(CONNECTING),
                  [IN_DEADLINE] = ASKS(CONNECTING, 0),
                  [IN_ADAPTER_ON] = STAYS(CONNECTING),
                  [IN_ADAPTER_OFF] = GOES(NOT_CONNECTED, 1),
                  [IN_ADAPTER_UNKNOWN] = STAYS(CONNECTING),
                  [IN_SCAN] = GOES(CONNECTING, 1),
                  [IN_STOP_SCAN] = STAYS(CONNECTING),
                  [IN_CONNECT] = GOES(CONNECTING, 1),
                  [IN_DISCONNECT] = GOES(NOT_CONNECTED, 1),
                  [IN_ADVERTISED] = STAYS(CONNECTING),
                  [IN_COMMAND] = STAYS(CONNECTING)},
    [CONNECTING] = {[IN_CONNECTED] = GOES(DISCOVERING_SERVICES, 1),
                    [IN_DISCONNECTED] = GOES(NOT_CONNECTED, 1),
                    [IN_PAIRED] = ILLEGAL(CONNECTING),
                    [IN_PAIRING_FAILED] = ILLEGAL(CONNECTING),
                    [IN_TICK] = STAYS(CONNECTING),
                    [IN_DEADLINE] = ENDS(NOT_CONNECTED),
                    [IN_ADAPTER_ON] = STAYS(CONNECTING),
                    [IN_ADAPTER_OFF] = ENDS(NOT_CONNECTED),
                    [IN_ADAPTER_UNKNOWN] = STAYS(CONNECTING),
                    [IN_SCAN] = GOES(CONNECTING, 1),
                    [IN_STOP_SCAN] = STAYS(CONNECTING),
                    [IN_CONNECT] = GOES(CONNECTING, 1),
                    [IN_DISCONNECT] = ENDS(NOT_CONNECTED),
                    [IN_ADVERTISED] = STAYS(CONNECTING),
                    [IN_COMMAND] = STAYS(CONNECTING)},
    [DISCOVERING] = {[IN_CONNECTED] = ILLEGAL(DISCOVERING_SERVICES),
                     [IN_DISCONNECTED] = GOES(NOT_CONNECTED, 1),
                     [IN_PAIRED] = ILLEGAL(DISCOVERING_SERVICES),
                     [IN_PAIRING_FAILED] = ILLEGAL(DISCOVERING_SERVICES),
                     [IN_TICK] = STAYS(DISCOVERING_SERVICES),
                     [IN_DEADLINE] = ENDS(NOT_CONNECTED),
                     [IN_ADAPTER_ON] = STAYS(DISCOVERING_SERVICES),
                     [IN_ADAPTER_OFF] = ENDS(NOT_CONNECTED),
                     [IN_ADAPTER_UNKNOWN] = STAYS(DISCOVERING_SERVICES),
                     [IN_SCAN] = GOES(DISCOVERING_SERVICES, 1),
                     [IN_STOP_SCAN] = STAYS(DISCOVERING_SERVICES),
                     [IN_CONNECT] = GOES(DISCOVERING_SERVICES, 1),
                     [IN_DISCONNECT] = ENDS(NOT_CONNECTED),
                     [IN_ADVERTISED] = STAYS(DISCOVERING_SERVICES),
                     [IN_COMMAND] = STAYS(DISCOVERING_SERVICES)},
    [PAIRING] = {[IN_CONNECTED] = ILLEGAL(DISCOVERING_SERVICES),
                 [IN_DISCONNECTED] = GOES(NOT_CONNECTED, 1),
                 [IN_PAIRED] = STAYS(DISCOVERING_SERVICES),
                 [IN_PAIRING_FAILED] = ENDS(NOT_CONNECTED),
                 [IN_TICK] = STAYS(DISCOVERING_SERVICES),
                 [IN_DEADLINE] = ENDS(NOT_CONNECTED),
                 [IN_ADAPTER_ON] = STAYS(DISCOVERING_SERVICES),
                 [IN_ADAPTER_OFF] = ENDS(NOT_CONNECTED),
                 [IN_ADAPTER_UNKNOWN] = STAYS(DISCOVERING_SERVICES),
                 [IN_SCAN] = GOES(DISCOVERING_SERVICES, 1),
                 [IN_STOP_SCAN] = STAYS(DISCOVERING_SERVICES),
                 [IN_CONNECT] = GOES(DISCOVERING_SERVICES, 1),
                 [IN_DISCONNECT] = ENDS(NOT_CONNECTED),
                 [IN_ADVERTISED] = STAYS(DISCOVERING_SERVICES),
                 [IN_COMMAND] = STAYS(DISCOVERING_SERVICES)},
    [HANDSHAKE] = {[IN_CONNECTED] = ILLEGAL(HANDSHAKE),
                   [IN_DISCONNECTED] = GOES(NOT_CONNECTED, 1),
                   [IN_PAIRED] = ILLEGAL(HANDSHAKE),
                   [IN_PAIRING_FAILED] = ILLEGAL(HANDSHAKE),
                   [IN_TICK] = STAYS(HANDSHAKE),
                   [IN_DEADLINE] = ENDS(NOT_CONNECTED),
                   [IN_ADAPTER_ON] = STAYS(HANDSHAKE),
                   [IN_ADAPTER_OFF] = ENDS(NOT_CONNECTED),
                   [IN_ADAPTER_UNKNOWN] = STAYS(HANDSHAKE),
                   [IN_SCAN] = GOES(HANDSHAKE, 1),
                   [IN_STOP_SCAN] = STAYS(HANDSHAKE),
                   [IN_CONNECT] = GOES(HANDSHAKE, 1),
                   [IN_DISCONNECT] = ENDS(NOT_CONNECTED),
                   [IN_ADVERTISED] = STAYS(HANDSHAKE),
                   [IN_COMMAND] = STAYS(HANDSHAKE)},
    [CONNECTED] = {[IN_CONNECTED] = ILLEGAL(CONNECTED),
                   [IN_DISCONNECTED] = GOES(NOT_CONNECTED, 1),
                   [IN_PAIRED] = ILLEGAL(CONNECTED),
                   [IN_PAIRING_FAILED] = ILLEGAL(CONNECTED),
                   [IN_TICK] = STAYS(CONNECTED),
                   [IN_DEADLINE] = STAYS(CONNECTED),
                   [IN_ADAPTER_ON] = STAYS(CONNECTED),
                   [IN_ADAPTER_OFF] = ENDS(NOT_CONNECTED),
                   [IN_ADAPTER_UNKNOWN] = STAYS(CONNECTED),
                   [IN_SCAN] = GOES(CONNECTED, 1),
                   [IN_STOP_SCAN] = STAYS(CONNECTED),
                   [IN_CONNECT] = GOES(CONNECTED, 1),
                   [IN_DISCONNECT] = ENDS(NOT_CONNECTED),
                   [IN_ADVERTISED] = STAYS(CONNECTED),
                   [IN_COMMAND] = STAYS(CONNECTED)},
    [RECONNECTING] = {[IN_CONNECTED] = ILLEGAL(RECONNECTING),
                      [IN_DISCONNECTED] = ILLEGAL(RECONNECTING),
                      [IN_PAIRED] = ILLEGAL(RECONNECTING),
                      [IN_PAIRING_FAILED] = ILLEGAL(RECONNECTING),
                      [IN_TICK] = STAYS(RECONNECTING),
                      [IN_DEADLINE] = ASKS(CONNECTING, 1),
                      [IN_ADAPTER_ON] = STAYS(RECONNECTING),
                      [IN_ADAPTER_OFF] = GOES(NOT_CONNECTED, 1),
                      [IN_ADAPTER_UNKNOWN] = STAYS(RECONNECTING),
                      [IN_SCAN] = GOES(RECONNECTING, 1),
                      [IN_STOP_SCAN] = STAYS(RECONNECTING),
                      [IN_CONNECT] = GOES(RECONNECTING, 1),
                      [IN_DISCONNECT] = GOES(NOT_CONNECTED, 1),
                      [IN_ADVERTISED] = STAYS(RECONNECTING),
                      [IN_COMMAND] = STAYS(RECONNECTING)},
};

#endif
