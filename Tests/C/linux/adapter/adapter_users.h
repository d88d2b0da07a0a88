/* SPDX-License-Identifier: MIT */
/* Several radios on one adapter of fake_kernel.h: each one receives the commands of the others, every response, and the
 * reports of a scan, whichever radio has enabled it. */
#ifndef ADAPTER_USERS_H
#define ADAPTER_USERS_H

#include "../../../../CSources/linux/adapter/adapter_parts.h"
#include "fake_kernel.h"

enum { USERS = 3, ADAPTER_INDEX = 7 };

/** What a program has sent to its controller. */
typedef struct sent_counts {
    unsigned commands, enables, disables; /**< the latter of the scanner */
    uint8_t active;                       /**< scan type and interval that it has set last */
    uint16_t interval;                    /**< 0.625 ms */
} sent_counts;

/** A program with a radio. */
typedef struct adapter_user {
    tendon_bluez_radio radio;
    bool open;
    sent_counts sent; /**< since it was opened */
    unsigned reports; /**< since user_heard() */
    int failures;
    tendon_status failure;
} adapter_user;
extern adapter_user users[USERS];
extern fake_adapter *adapter;
extern tendon_loop users_loop;

void users_start(bool extended, bool strict);
/** Closes all; nothing may be left. */
void users_end(void);
void users_pass(uint64_t ms);
/** Whether something advertises. */
void users_advertiser(bool on);
void user_open(int user);
/** Without a command: as the kernel does when a process is killed. */
void user_kill(int user);
tendon_bluez_radio *user_radio(int user);
/** Starts or stops the scan of this user. */
void user_scan(int user, bool active, uint16_t interval_ms);
void user_stop(int user);
/** Whether this user has received reports since the last call. */
bool user_heard(int user);
/** The user that has enabled the scanner; -1: another program, one that is gone, the kernel, or nobody. */
int scan_owner(void);
/** Another program enables the scanner without the filter accept list, or disables it. */
void other_scans(void);
void other_stops(void);

#endif
