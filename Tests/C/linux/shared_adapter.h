/* SPDX-License-Identifier: MIT */
/*
 * One scripted controller with the raw sockets of several radios, in simulated time: each radio receives the commands
 * of the others, every response, and the reports of a scan, whichever radio has enabled it.
 */
#ifndef SHARED_ADAPTER_H
#define SHARED_ADAPTER_H

#include "bluez_fixture.h"

enum { ADAPTER_USERS = 3, ADAPTER_INDEX = 7 };

/** A program with a radio. */
typedef struct adapter_user {
    tendon_bluez_radio radio;
    int controller, kernel; /**< other ends of its sockets */
    bool open;
    unsigned commands, enables, disables; /**< that it has sent */
    unsigned reports;                     /**< since adapter_heard() */
    int failures;
    tendon_status failure;
    bool deaf;         /**< the packets for it are lost */
    uint8_t active;    /**< scan type and interval that it has set last */
    uint16_t interval; /**< 0.625 ms */
} adapter_user;

typedef struct shared_adapter {
    tendon_loop loop;
    adapter_user users[ADAPTER_USERS];
    bool extended;
    bool strict;       /**< an enable command that changes nothing is rejected, as by btvirt; else accepted */
    bool scans;        /**< the scanner is enabled */
    int owner;         /**< the user that has enabled it; -1: another program, or one that is gone */
    bool filters;      /**< that scan has the filter accept list */
    bool quiet;        /**< nothing advertises */
    uint8_t rejects;   /**< each command gets this HCI error code */
    bool silent;       /**< no command gets a response */
    unsigned wronged;  /**< a scan was ended by a program that had not enabled it */
    unsigned programs; /**< HCI sockets of other programs */
} shared_adapter;
extern shared_adapter adapter;

void adapter_start(bool extended, bool strict);
/** Closes all; nothing may be left. */
void adapter_end(void);
void adapter_open(int user);
/** Without a command: as the kernel does when a process is killed. */
void adapter_kill(int user);
tendon_bluez_radio *adapter_radio(int user);
/** Starts or stops the scan of this user. */
void adapter_scan(int user, bool active, uint16_t interval_ms);
void adapter_stop(int user);
/** So many HCI sockets of other programs exist. */
void adapter_programs(unsigned count);
/** The controller executes one command of each user, and the users read its responses. */
void adapter_step(void);
/** Time passes: commands are executed, a device advertises every 100 ms. */
void adapter_pass(uint64_t ms);
/** Whether this user has received reports since the last call. */
bool adapter_heard(int user);
/** A command of the kernel or of another program, that all users see; the controller executes it. */
void adapter_other(uint16_t opcode, const uint8_t *parameters, uint8_t length);
/** Such a program enables the scanner, with or without the filter accept list, or disables it. */
void adapter_other_scans(bool filters);
void adapter_other_stops(void);
/** An event of the controller, or of the management interface, for all users. */
void adapter_event(uint8_t code, const uint8_t *parameters, uint8_t length);
void adapter_kernel_event(const uint8_t *pdu, size_t length);

#endif
