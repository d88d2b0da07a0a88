/* SPDX-License-Identifier: MIT */
/* Shared by the parts of radio_check. */
#ifndef RADIO_CHECK_H
#define RADIO_CHECK_H

#include "tendon/bluez.h"
#include "tendon/tendon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A loop with an open radio; every part uses this one. */
typedef struct check {
    tendon_loop loop;
    tendon_bluez_radio radio;
    tendon_status failure; /**< last status passed to on_failure */
    uint64_t until;        /**< monotonic ms */
    /* scan */
    unsigned reports, responses;
    unsigned hits;
    const char *wanted_name;
    uint16_t wanted_service;
    bool stop_when_found, print;
} check;

void check_open(check *c, const char *adapter, unsigned milliseconds);
/** Ends the program with 0 when @p good, else 1. */
_Noreturn void check_end(check *c, bool good);
/** Of sessions that wait for nothing. */
void check_on_tick(void *context, uint64_t now);
uint64_t check_no_deadline(const void *context);
tendon_status check_scan_start(check *c);
tendon_status check_advertise_start(check *c, const char *name);

/** What this process holds: resident pages, and open descriptors. */
typedef struct check_holdings {
    unsigned long pages;
    unsigned descriptors;
} check_holdings;

check_holdings check_count_holdings(void);

/* radio_check_links.c */
int run_serve(check *c, int argc, char **argv);
int run_connect(check *c, int argc, char **argv);
int run_cycles(check *c, int argc, char **argv);
int run_background(check *c, int argc, char **argv);

/* radio_check_flow.c */
int run_flow(check *c, int argc, char **argv);
int run_crowd(check *c);
int run_stall(check *c, int argc, char **argv);

/* radio_check_cost.c */
int run_cost(check *c, int argc, char **argv);

/* radio_check_second.c */
int run_second(check *c, int argc, char **argv);

/* radio_check_many.c */
int run_many(check *c, int argc, char **argv);

/* radio_check_parameters.c */
int run_wishes(check *c, int argc, char **argv);

/* radio_check_pairing.c */
/** The file of bonds, or "-" for a store in memory. */
bool use_bonds(check *c, tendon_bonds *bonds, const char *path);
/** Prints the address of a central that is connected. */
void check_on_central(void *context, tendon_peripheral_link *link, uint64_t now);
int run_wearable(check *c, int argc, char **argv);
int run_pair(check *c, int argc, char **argv);

/* radio_check_keeper.c */
int run_keeper(check *c, int argc, char **argv);

/* radio_check_hostile.c */
int run_hostile(check *c, int argc, char **argv);

#endif
