/* SPDX-License-Identifier: MIT */
/*
 * Every pair of state and input of an Activ5 device and of the manager's scan, and where it leads. Tested with a script
 * for a link (test_activ5_pairs.c), and over links of a radio (Tests/Kernel/c/walk_activ5.c).
 */
#ifndef ACTIV5_PAIRS_H
#define ACTIV5_PAIRS_H

#include "tendon/devices/activ5.h"

/* ---- a device ---- */

/* The data states, and the time between disconnect() and its answer. */
typedef enum where { AT_DISCONNECTED, AT_CONNECTING, AT_CONNECTED, AT_ISOMETRIC, AT_STOP, AT_CLOSING, PLACES } where;

typedef enum input {
    CONNECT,
    LINK_UP,
    LINK_FAILED,
    LINK_DOWN,
    DISCONNECT,
    DISCOVERED,
    INITIAL,
    INITIAL_ALONE, /* without the automatic handshake */
    FORCE_TEXT,
    FORCE_BINARY,
    UNKNOWN_TEXT,
    UNKNOWN_CHARACTERISTIC,
    IMU,
    SN1,
    UUID1,
    SERIAL,
    BATTERY,
    TIMESTAMP,
    BAD_TEXT,
    BAD_FORCE,
    CALL_START,
    CALL_STOP,
    COMMAND_STOP,
    CALL_TARE,
    TICK,
    DONE,
    INPUTS
} input;

enum {
    D = TENDON_ACTIV5_STATE_DISCONNECTED,
    C = TENDON_ACTIV5_STATE_CONNECTING,
    U = TENDON_ACTIV5_STATE_CONNECTED,
    I = TENDON_ACTIV5_STATE_ISOMETRIC,
    S = TENDON_ACTIV5_STATE_STOP,
    X = 0x80 /* not for this state: counted and harmless, or refused */
};

static const char *const place_names[PLACES] = {"disconnected", "connecting", "connected",
                                                "isometric",    "stop",       "closing"};
static const char *const input_names[INPUTS] = {"connect",
                                                "link up",
                                                "link failed",
                                                "link down",
                                                "disconnect",
                                                "discovered",
                                                "first message",
                                                "first message, no handshake",
                                                "force as text",
                                                "force",
                                                "unknown text",
                                                "unknown characteristic",
                                                "motion",
                                                "sn1",
                                                "uuid1",
                                                "serial number",
                                                "battery",
                                                "timestamp",
                                                "bad text",
                                                "bad force",
                                                "start isometric",
                                                "stop",
                                                "stop by text",
                                                "tare",
                                                "tick",
                                                "done"};

static const uint8_t expected[INPUTS][PLACES] = {
    /*                          disc.  conn.  connected isom.  stop  closing */
    [CONNECT] = {C, C, U | X, I | X, S | X, D | X},
    [LINK_UP] = {D | X, U, U | X, I | X, S | X, D | X},
    [LINK_FAILED] = {D | X, D, D, D, D, D},
    [LINK_DOWN] = {D | X, D, D, D, D, D},
    [DISCONNECT] = {D | X, D, D, D, D, D},
    [DISCOVERED] = {D | X, C | X, U, I, S, D | X},
    [INITIAL] = {D | X, C | X, S, S, S, D | X},
    [INITIAL_ALONE] = {D | X, C | X, U, U, U, D | X},
    [FORCE_TEXT] = {D | X, C | X, I, I, I, D | X},
    [FORCE_BINARY] = {D | X, C | X, I, I, I, D | X},
    [UNKNOWN_TEXT] = {D | X, C | X, S, S, S, D | X},
    [UNKNOWN_CHARACTERISTIC] = {D | X, C | X, S, S, S, D | X},
    [IMU] = {D | X, C | X, U, I, S, D | X},
    [SN1] = {D | X, C | X, U, I, S, D | X},
    [UUID1] = {D | X, C | X, U, I, S, D | X},
    [SERIAL] = {D | X, C | X, U, I, S, D | X},
    [BATTERY] = {D | X, C | X, U, I, S, D | X},
    [TIMESTAMP] = {D | X, C | X, U, I, S, D | X},
    [BAD_TEXT] = {D | X, C | X, U, I, S, D | X},
    [BAD_FORCE] = {D | X, C | X, U, I, S, D | X},
    [CALL_START] = {D | X, C | X, U, I, S, D | X},
    [CALL_STOP] = {D | X, C | X, S, S, S, D | X},
    [COMMAND_STOP] = {D | X, C | X, S, S, S, D | X},
    [CALL_TARE] = {D | X, C | X, U, I, S, D | X},
    [TICK] = {D, C, U, I, S, D},
    [DONE] = {D, C, U, I, S, D},
};

/* ---- the scan ---- */

typedef enum scan_place { OFF, IDLE, SCANNING, SCAN_PLACES } scan_place;

static const char *const scan_names[SCAN_PLACES] = {"adapter off", "idle", "scanning"};

static const struct {
    const char *name;
    const char *words[SCAN_PLACES];
    scan_place next[SCAN_PLACES];
} scan_rows[] = {
    {"scan", {"bluetoothIsSwitchedOff", "scan_start", "scan_start"}, {OFF, SCANNING, SCANNING}},
    {"stop", {"", "", "scan_stop"}, {OFF, IDLE, IDLE}},
    {"timer", {"", "", "scan_stop searchCompleted"}, {OFF, IDLE, IDLE}},
    {"adv", {"", "", "deviceFound"}, {OFF, IDLE, SCANNING}},
    {"adv without a name", {"", "", ""}, {OFF, IDLE, SCANNING}},
    {"off",
     {"didChangeBluetoothState:off", "didChangeBluetoothState:off", "didChangeBluetoothState:off"},
     {OFF, OFF, OFF}},
    {"on",
     {"didChangeBluetoothState:on", "didChangeBluetoothState:on", "didChangeBluetoothState:on"},
     {IDLE, IDLE, SCANNING}},
    {"disconnect all", {"", "", ""}, {OFF, IDLE, SCANNING}},
};
enum { SCAN_ROWS = sizeof scan_rows / sizeof scan_rows[0] };

#endif
