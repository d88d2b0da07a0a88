/* SPDX-License-Identifier: MIT */
/*
 * Admission: which of the devices in range may connect, and when. Devices that do not respond use a bounded share of
 * the radio's time; a device that is lost again and again waits longer each time; a device over which several adapters
 * can connect is not left to the first adapter that receives it.
 *
 * A device that was received has a record. It gets a turn (tendon_admission_next()), which has an attempt, perhaps a
 * connection, and an end; then a pause. No I/O, no heap: the caller passes what happened and the time, in monotonic
 * milliseconds. Nothing ticks: tendon_admission_deadline() is when the time alone can make a turn possible. All figures
 * are our own design. One thread.
 */
#ifndef TENDON_GATEWAY_ADMISSION_H
#define TENDON_GATEWAY_ADMISSION_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Time without a connection after which an attempt ends, in ms: of a device that is expected to respond, and the first
 * one of a stranger. The next attempts of a stranger may take twice as long each, up to the former. A connection needs
 * two advertisements, one for the kernel's scan and one for itself: of a device that advertises once per second the
 * second one comes after 1 to 2 s. */
#define TENDON_ADMISSION_PROVEN_MS 4000u
#define TENDON_ADMISSION_STRANGER_MS 2500u
/** Maximum number of simultaneous attempts to devices that have not responded yet, and of devices that are served. */
#define TENDON_ADMISSION_UNPROVEN_MAX 8u
#define TENDON_ADMISSION_SERVED_MAX 32u
/** A device that was not received for so long is not connected to, in ms. */
#define TENDON_ADMISSION_PRESENCE_MS 15000u
/** Pause before the next turn, in ms: the first value, doubled with each setback, up to the second. A random part of at
 * most half of it is added: gateways that lose a device at the same time do not retry at the same time. */
#define TENDON_ADMISSION_PAUSE_MS 500u
#define TENDON_ADMISSION_PAUSE_MAX_MS 60000u
/** A connection that is lost sooner, in ms, is a setback like a failed attempt. */
#define TENDON_ADMISSION_CONNECTION_MS 10000u
/** Time that a new device without a name waits for its scan response, in ms: a radio that connects does not scan. */
#define TENDON_ADMISSION_RESPONSE_MS 1000u
/** Time that a new device waits until each open radio has received it, in ms; and while such a radio has received no
 * device at all, because its scan may not have begun. */
#define TENDON_ADMISSION_SPREAD_MS 1000u
#define TENDON_ADMISSION_START_MS 3000u
/** Maximum number of radios. They have numbers from 0; a set of them has one bit for each. */
#define TENDON_ADMISSION_RADIOS 8
/** Recommended number of slots of the table. Three quarters of them are used. */
#define TENDON_ADMISSION_SLOTS 5461

typedef enum tendon_admission_state {
    TENDON_ADMISSION_UNKNOWN = 0, /**< it has no record */
    TENDON_ADMISSION_WAITING,  /**< for its turn: for its pause, its scan response, other radios, or for a free turn */
    TENDON_ADMISSION_ATTEMPT,  /**< it has a turn, and no connection yet */
    TENDON_ADMISSION_SERVED,   /**< it has a turn and, now or earlier in the turn, a connection */
    TENDON_ADMISSION_EXCLUDED, /**< it cannot be served, until tendon_admission_readmit() */
    TENDON_ADMISSION_DISMISSED /**< forgotten, and left alone until tendon_admission_recall() */
} tendon_admission_state;

/** One device. Private. */
typedef struct tendon_admission_record {
    tendon_address address;
    uint8_t state;         /**< tendon_admission_state; UNKNOWN: the slot is free */
    uint8_t family;        /**< a number of the caller */
    uint8_t heard, failed; /**< radios that have received it; over which attempts have failed */
    uint8_t bonded;        /**< 1 + the radio that had a bond with it when that was last looked at; 0: none had */
    bool preferred, has_connected;
    bool leaves;       /**< it is dismissed when its turn ends */
    bool seen;         /**< seen_at counts: it was received since its radio was opened */
    uint16_t failures; /**< failed attempts since a connection */
    uint16_t setbacks; /**< failed attempts and short connections since a connection that was long enough */
    uint64_t first_seen, seen_at, connected_at, not_before, response_until;
} tendon_admission_record;

/** Numbers for the random part of the pauses. */
typedef struct tendon_admission_random {
    void *context;
    uint32_t (*next)(void *context);
} tendon_admission_random;

/** Caller's memory. A program may read served and count, and write the two limits. */
typedef struct tendon_admission {
    tendon_admission_record *records; /**< a hash table with linear probing */
    size_t slots, count;
    tendon_admission_random random;
    uint32_t served_max, unproven_max; /**< at first TENDON_ADMISSION_SERVED_MAX, _UNPROVEN_MAX */
    uint32_t served, unproven;         /**< devices with a turn; attempts to devices that have not responded yet */
    uint32_t jitter;                   /**< of the generator in this struct */
    uint64_t search_until;             /**< until then unknown devices are searched for, not connected to */
    uint8_t receiving;                 /**< radios that have received a device since they were opened */
    bool takes_newest;                 /**< which of two equal devices has the next turn */
} tendon_admission;

/** A device of a family that was received. */
typedef struct tendon_admission_report {
    uint8_t family;
    uint8_t radio;        /**< 0 to TENDON_ADMISSION_RADIOS - 1 */
    bool preferred;       /**< bonded, or named by the user: it is expected to respond */
    bool awaits_response; /**< its name is expected in a scan response */
} tendon_admission_report;

/**
 * @param records table of @p slots (at least 4) entries, borrowed; it is cleared.
 * @param random copied; NULL: a generator in the struct, which begins with @p seed.
 */
void tendon_admission_init(tendon_admission *admission, tendon_admission_record *records, size_t slots,
                           const tendon_admission_random *random, uint32_t seed);

/* ---- what was received ---- */

/**
 * A device was received. In a full table those that were received longest ago, and have no turn, make room; devices
 * that were dismissed only for others of them.
 * @return true if it is new: it had no record. False also if the table is full of devices with turns.
 */
bool tendon_admission_received(tendon_admission *admission, const tendon_address *address,
                               const tendon_admission_report *report, uint64_t now);
/** The scan response of a device was received, with or without a name. Returns true if the device waited for it. */
bool tendon_admission_responded(tendon_admission *admission, const tendon_address *address, uint64_t now);
/**
 * A device that may be connected already was received: the short way for its advertisements.
 * @return whether it has a connection; then *family is set, and it counts as received by @p radio.
 */
bool tendon_admission_heard(tendon_admission *admission, const tendon_address *address, uint8_t radio, uint64_t now,
                            uint8_t *family);
/** A radio was lost: which devices are in its range is known when it receives them again. So its next scan begins
 * before its first connection. Which bonds it had is not known any more: another adapter may take its place. */
void tendon_admission_radio_lost(tendon_admission *admission, uint8_t radio);

/* ---- turns ---- */

/** Returns whether a device may have a turn now, for reasons that admission does not know. */
typedef bool (*tendon_admission_filter)(void *context, const tendon_address *address, uint8_t family);

/**
 * Begins the next turn, if one is possible. Preferred devices come first, then those that have connected before, then
 * those that were tried least. Among equals the newest and the oldest take turns: neither many strangers before a
 * device nor many after it keep it waiting. Call it until it returns false.
 * @param radios those that are open. @param filter may be NULL. @param address set if it returns true.
 */
bool tendon_admission_next(tendon_admission *admission, uint8_t radios, tendon_admission_filter filter, void *context,
                           uint64_t now, tendon_address *address, uint8_t *family);
/** Returns whether tendon_admission_next() can return this device, which was received. An advertisement changes its own
 * device only: so the others, of which there can be many, need not be looked at. */
bool tendon_admission_may_be_next(const tendon_admission *admission, const tendon_address *address, uint8_t radios,
                                  uint64_t now);
/** Returns whether a device that was received could have a turn, if the filter allows it. */
bool tendon_admission_has_waiting(const tendon_admission *admission, uint64_t now);
/** Returns when tendon_admission_next() may return a device that it does not return now, if nothing else happens;
 * UINT64_MAX: never. It looks at all devices. */
uint64_t tendon_admission_deadline(const tendon_admission *admission, uint64_t now);
/** The same of one device. */
uint64_t tendon_admission_deadline_of(const tendon_admission *admission, const tendon_address *address, uint64_t now);
/** Returns the radios that have received a device, and over which no attempt has failed since one over each of them, or
 * since a connection. */
uint8_t tendon_admission_radios(const tendon_admission *admission, const tendon_address *address);
/** Returns the radios that have received it. If none of the others can connect, because they are full, have no bond
 * with it or were lost, one over which an attempt has failed makes the next one. */
uint8_t tendon_admission_receivers(const tendon_admission *admission, const tendon_address *address);
/** Returns the time that the present attempt may take without a connection, in ms; 0: the device has no record. */
uint32_t tendon_admission_answer_ms(const tendon_admission *admission, const tendon_address *address);

/** A connection exists; the session may still need long. */
void tendon_admission_answered(tendon_admission *admission, const tendon_address *address);
/** The session is open. */
void tendon_admission_connected(tendon_admission *admission, const tendon_address *address, uint64_t now);
/** How a turn ended. */
typedef struct tendon_admission_ending {
    uint8_t radio;     /**< over which it was */
    bool was_open;     /**< the session was open */
    bool was_released; /**< by the program, or with the radio: neither the device nor its connection was the reason */
    bool may_retry;    /**< of a session that did not open: another attempt may succeed */
    bool is_last;      /**< the program connects to each device once */
} tendon_admission_ending;

/**
 * The turn ends. The next one comes when the device advertises, after the pause; the device is excluded instead if it
 * cannot be served, or if this turn is the last. A connection that was short does not end a series of setbacks. After
 * an attempt that failed, another radio makes the next one; and if there was no connection at all, the search goes on
 * for a time before other unknown devices are tried: at least half of the time is for the search.
 * @return the pause after a failure or a lost connection, in ms; UINT64_MAX: nothing is tried again.
 */
uint64_t tendon_admission_end_turn(tendon_admission *admission, const tendon_address *address,
                                   const tendon_admission_ending *ending, uint64_t now);
/** The turn could not begin: it comes again after a pause. */
void tendon_admission_postpone(tendon_admission *admission, const tendon_address *address, uint64_t now);

/* ---- devices that are left alone ---- */

/** The device may be served again if it was excluded. */
void tendon_admission_readmit(tendon_admission *admission, const tendon_address *address);
/** Removes the record of a device without a turn: it is new when it is received again. */
void tendon_admission_forget(tendon_admission *admission, const tendon_address *address);
/**
 * A forgotten device that still advertises would be connected to, and so be known again, a second later. It is left
 * alone from now on; if it has a turn, from the end of the turn on, which the caller ends.
 * @return false: it was dismissed before, or the table is full of devices with turns.
 */
bool tendon_admission_dismiss(tendon_admission *admission, const tendon_address *address, uint64_t now);
/** Ends that: the device is new when it is received again. NULL: of all devices. */
void tendon_admission_recall(tendon_admission *admission, const tendon_address *address);
/**
 * Whether a radio has a bond with a device now. A dismissed device with a bond is recalled, unless it is the bond that
 * it had when it was dismissed: that one may be removed after the turn.
 * @return true: this radio had a bond before, which another program has removed. Dismiss the device then.
 */
bool tendon_admission_look_at_bond(tendon_admission *admission, const tendon_address *address, bool is_bonded,
                                   uint8_t radio);
tendon_admission_state tendon_admission_state_of(const tendon_admission *admission, const tendon_address *address);

#ifdef __cplusplus
}
#endif
#endif
