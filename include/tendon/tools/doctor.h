/* SPDX-License-Identifier: MIT */
/*
 * Doctor: checks whether this machine and this process can use a Bluetooth adapter, and suggests a command that fixes
 * each problem. It requires neither libbluetooth nor capabilities. tendon_bluez_list() and
 * tendon_bluez_get_capabilities() report further properties, which require sockets.
 */
#ifndef TENDON_TOOLS_DOCTOR_H
#define TENDON_TOOLS_DOCTOR_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tendon_finding_state {
    TENDON_FINDING_GOOD = 0,
    TENDON_FINDING_NOTE,   /**< not a problem, but it can disturb the radio */
    TENDON_FINDING_LACKING /**< the kernel's radio cannot work; for the directory: the virtual radio cannot work */
} tendon_finding_state;

typedef enum tendon_finding_kind {
    TENDON_FINDING_KERNEL = 0,   /**< Bluetooth sockets */
    TENDON_FINDING_CAPABILITIES, /**< of this process */
    TENDON_FINDING_ADAPTERS,
    TENDON_FINDING_RFKILL,
    TENDON_FINDING_DAEMON,    /**< a running bluetoothd */
    TENDON_FINDING_DIRECTORY, /**< of the virtual radio */
    TENDON_FINDING_COUNT
} tendon_finding_kind;

#define TENDON_FINDING_TEXT_SIZE 192

typedef struct tendon_finding {
    tendon_finding_kind kind;
    tendon_finding_state state;
    tendon_status status;                  /**< status that opening a radio would return; TENDON_OK unless LACKING */
    uint32_t count;                        /**< adapters; blocked switches; daemons */
    char text[TENDON_FINDING_TEXT_SIZE];   /**< one line */
    char remedy[TENDON_FINDING_TEXT_SIZE]; /**< a command, or an instruction; empty if no action is required */
} tendon_finding;

typedef struct tendon_doctor_options {
    const char *root;    /**< directory that contains /proc and /sys; NULL: this machine (and its sockets are tested) */
    const char *program; /**< program that requires the capabilities; NULL: "$(command -v tendon)", quoted */
    const char *directory; /**< of the virtual radio; NULL: the default one */
} tendon_doctor_options;

/** "kernel", "capabilities", ... Static storage. */
const char *tendon_finding_name(tendon_finding_kind kind);

/** Examines everything; findings[kind] is the finding of that kind. @param options may be NULL. */
void tendon_doctor_examine(const tendon_doctor_options *options, tendon_finding findings[TENDON_FINDING_COUNT]);

#ifdef __cplusplus
}
#endif
#endif
