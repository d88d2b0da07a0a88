/* SPDX-License-Identifier: MIT */
/*
 * Turns: which of the devices in range is connected to, over which radio, and when. It joins admission and search of
 * the gateway component with radios. The sessions are the caller's: those of a fleet, or those of a program that has
 * its own for some families. The radios are opened and closed by the caller, and have the numbers that it gives them.
 *
 * One thread, no heap, no clock. Nothing ticks: see tendon_turns_deadline().
 */
#ifndef TENDON_FLEET_TURNS_H
#define TENDON_FLEET_TURNS_H

#include "tendon/gateway/admission.h"
#include "tendon/gateway/search.h"
#include "tendon/linux/radio_group.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Until a device that may not be connected to is considered again, in ms. Our design. */
#define TENDON_TURNS_ASK_MS 1000u
/** Between two looks at all devices because of the time alone, in ms: of many devices one takes long. */
#define TENDON_TURNS_GRANULARITY_MS 20u

/** What the caller decides and does. Families have the numbers of tendon/gateway/search.h. Of these functions none may
 * call tendon_turns_end(), or another one that begins turns. */
typedef struct tendon_turns_owner {
    void *context;
    /** Returns whether a device is served. */
    bool (*serves)(void *context, const tendon_address *address, uint8_t family);
    /** Returns whether a device is expected, as one with a bond is: it is tried before strangers, and longer. */
    bool (*expects)(void *context, const tendon_address *address);
    /** Returns whether a device may be connected to now, as another gateway may have it. NULL: all may. */
    bool (*may_connect)(void *context, const tendon_address *address, uint8_t family);
    /** Begins a turn over a radio, which ends with tendon_turns_end(). @return false: it cannot begin now. */
    bool (*begin)(void *context, const tendon_address *address, uint8_t family, uint8_t radio, uint64_t now);
    /** Another program has removed the bond of a device: it is left alone from now on, until it is paired again or
     * recalled. Its turn is to end, if it has one. */
    void (*bond_removed)(void *context, const tendon_address *address);
} tendon_turns_owner;

/** Memory and settings. */
typedef struct tendon_turns_config {
    tendon_turns_owner owner;
    const tendon_definition *const *definitions; /**< borrowed; may be NULL if there are none */
    size_t definition_count;
    tendon_admission_record *records; /**< borrowed; see TENDON_ADMISSION_SLOTS */
    size_t record_count;
    tendon_search_advertiser *advertisers; /**< borrowed; see TENDON_SEARCH_ADVERTISERS */
    size_t advertiser_count;
    const tendon_admission_random *random; /**< of pauses; NULL: a generator with this seed */
    uint32_t seed;
} tendon_turns_config;

/** What a packet tells of its device. */
typedef struct tendon_turns_taken {
    uint8_t family;    /**< TENDON_SEARCH_NO_FAMILY: of none that is known so far */
    bool is_served;    /**< it has a family, which is served */
    bool is_new;       /**< it was not known before */
    bool is_connected; /**< it goes on advertising: nothing of it is new but its signal */
    bool is_left;      /**< it is dismissed */
    const char *name;  /**< as in tendon_search_found; NULL also if it is connected */
    size_t name_length;
} tendon_turns_taken;

/** Caller's memory. A caller may use admission and search for what has no function here, and set owner.may_connect; the
 * rest is private. Must not be moved. */
typedef struct tendon_turns {
    tendon_turns_owner owner;
    tendon_admission admission;
    tendon_search search;
    tendon_radio_group group;
    tendon_radio *radios[TENDON_ADMISSION_RADIOS]; /**< by their numbers; NULL: not open */
    tendon_scan_lease asking[TENDON_ADMISSION_RADIOS];
    uint8_t asks; /**< radios whose scan is active for the search */
    bool is_over;
    uint64_t looked_at; /**< when all devices were looked at because of the time */
} tendon_turns;

/** @param config copied, except what it borrows. */
void tendon_turns_init(tendon_turns *turns, const tendon_turns_config *config);

/**
 * A radio is open, and scans, or will soon: without a scan of the caller it makes one only while scan responses are
 * missing.
 * @param number below TENDON_ADMISSION_RADIOS. @param radio borrowed until tendon_turns_stop_radio(), at the latest
 * before it is closed.
 * @return TENDON_OK, or an error of tendon_radio_group_add().
 */
tendon_status tendon_turns_use_radio(tendon_turns *turns, uint8_t number, tendon_radio *radio);
/** A radio has failed, or will be closed: no turn begins over it. Those in progress are the caller's to end; that they
 * do is not the devices' fault. A second call does nothing. */
void tendon_turns_stop_radio(tendon_turns *turns, uint8_t number);
/** The turns over a radio that was stopped have ended: another one may get its number. */
void tendon_turns_lose_radio(tendon_turns *turns, uint8_t number);
/** Returns the radios over which turns begin: one bit for each, by its number. */
uint8_t tendon_turns_radios(const tendon_turns *turns);

/**
 * Takes a packet that a radio has received. Then call tendon_turns_follow(), after it was reported, unless the device
 * is connected.
 */
tendon_turns_taken tendon_turns_take(tendon_turns *turns, uint8_t radio, const tendon_ad_report *report, uint64_t now);
/** Begins the turns that a packet of this device has made possible. @return when tendon_turns_step() is due because of
 * it; 0: immediately; UINT64_MAX: it has changed nothing. */
uint64_t tendon_turns_follow(tendon_turns *turns, const tendon_address *address, const tendon_turns_taken *taken,
                             uint64_t now);
/** An expected device counts as received, over a radio that does not scan. @return whether it may have a turn. */
bool tendon_turns_add(tendon_turns *turns, const tendon_address *address, uint8_t family, uint8_t radio, uint64_t now);

/** Begins the turns that are possible, and has the radios ask for scan responses, or not. */
void tendon_turns_step(tendon_turns *turns, uint64_t now);
/** Returns when tendon_turns_step() is due because of the time alone; UINT64_MAX: never. */
uint64_t tendon_turns_deadline(const tendon_turns *turns, uint64_t now);
/** No further turn begins. */
void tendon_turns_finish(tendon_turns *turns);

/** This program has removed the bond of a device, or made one: it is not mistaken for what another program does. */
void tendon_turns_bond_changed(tendon_turns *turns, const tendon_address *address, uint64_t now);

/** A turn has become a connection whose session is open: it may have a bond now. */
void tendon_turns_connected(tendon_turns *turns, const tendon_address *address, uint8_t radio, uint64_t now);

/**
 * A turn has ended, and no connection to the device is left, or it will end by itself.
 * @param cause why the radio could not connect, or lost the device; TENDON_OK: it reported nothing.
 * @return as tendon_admission_end_turn().
 */
uint64_t tendon_turns_end(tendon_turns *turns, const tendon_address *address, const tendon_admission_ending *ending,
                          tendon_status cause, uint64_t now);

#ifdef __cplusplus
}
#endif
#endif
