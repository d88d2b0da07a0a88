/* SPDX-License-Identifier: MIT */
/*
 * Every pair of state and input of the Fjorden manager, and the steps of a connection. Tested on the manager alone
 * (test_fjorden_manager.c), and over links of a radio (Tests/Kernel/c/walk_fjorden.c).
 */
#ifndef FJORDEN_PAIRS_H
#define FJORDEN_PAIRS_H

#include "tendon/devices/fjorden.h"

enum { STATES = TENDON_FJORDEN_STATE_COUNT, INPUTS = TENDON_FJORDEN_INPUT_COUNT };

/* Letters: U uninitialized, R ready, G scanning for grips, B for the bonded one, C connecting, X connected,
 * D unauthorized (denied), O bluetoothUnavailable (off); '.' stays and gives nothing, otherwise the state it ends in.
 */
static const char grip_letters[] = "URGBCXDO";
/* Inputs in order: configure start scan stop connect connectBonded forget | permission power-on advertisement link-up
 * link-down services characteristics pairing firmware notify tick. */
static const char *const grip_table[STATES] = {
    "URU.UUU...........", /* U */
    "RRG.CRR...........", /* R */
    "GGGRCGG..G........", /* G */
    "BBBRBBR..C........", /* B */
    "CCC.CCC...CR......", /* C: a scripted link, nothing answered */
    "XXX.XXR....B......", /* X */
    "DDD.DDD...........", /* D */
    "OOO.OOO.R.........", /* O */
};

static const char *const grip_input_names[INPUTS] = {
    "configure", "start",           "scan",       "stop scanning", "connect", "connect bonded",
    "forget",    "permission",      "adapter on", "advertised",    "link up", "link down",
    "services",  "characteristics", "pairing",    "firmware",      "notify",  "tick"};

/* What answers each step of a connection, and how it fails: refused, and when the link is lost meanwhile. */
enum { STEPS = 6 };
static const struct {
    const char *name;
    tendon_fjorden_input_kind answer;
    tendon_status refused, lost;
} grip_steps[STEPS] = {
    {"link", TENDON_FJORDEN_ON_LINK_UP, TENDON_FJORDEN_ERROR_CONNECTION_TIMEOUT,
     TENDON_FJORDEN_ERROR_CONNECTION_TIMEOUT},
    {"services", TENDON_FJORDEN_ON_SERVICES, TENDON_FJORDEN_ERROR_NO_SERVICE, TENDON_FJORDEN_ERROR_DISCOVERY_CANCELLED},
    {"characteristics", TENDON_FJORDEN_ON_CHARACTERISTICS, TENDON_FJORDEN_ERROR_NO_CHARACTERISTICS,
     TENDON_FJORDEN_ERROR_DISCOVERY_CANCELLED},
    {"pairing", TENDON_FJORDEN_ON_PAIRING, TENDON_FJORDEN_ERROR_PAIRING_DECLINED,
     TENDON_FJORDEN_ERROR_PAIRING_DECLINED},
    {"firmware", TENDON_FJORDEN_ON_FIRMWARE, TENDON_FJORDEN_ERROR_NO_FIRMWARE_VERSION,
     TENDON_FJORDEN_ERROR_NO_FIRMWARE_VERSION},
    {"notify", TENDON_FJORDEN_ON_NOTIFY, TENDON_FJORDEN_ERROR_NO_NOTIFY, TENDON_FJORDEN_ERROR_NO_NOTIFY},
};

#endif
