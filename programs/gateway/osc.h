/* SPDX-License-Identifier: MIT */
/*
 * Orientations and samples as datagrams of OSC and OpenTrack, with the options of `tendon run`: docs/osc.md. Sending
 * never waits. A host is an address: to resolve a name waits, and there is one thread.
 */
#ifndef TENDON_PROGRAMS_OSC_H
#define TENDON_PROGRAMS_OSC_H

#include "tendon/fleet/fleet.h"
#include "tendon/linux/datagram.h"
#include "tendon/osc.h"

/** Our design. */
enum { OSC_DESTINATIONS = 8, OSC_TEXT_SIZE = 96 };

typedef struct osc_destination {
    tendon_osc_destination to;
    tendon_osc_delivery delivery;
    int descriptor; /**< -1: none */
} osc_destination;

/** What is known of the head of a device. The reference outlives its connections. */
typedef struct osc_head {
    bool is_used;
    tendon_address address;
    tendon_osc_head head;
} osc_head;

typedef struct osc {
    void (*report)(const char *text); /**< sentences for people */
    tendon_orientation_settings settings;
    bool has_settings;
    char custom_address[OSC_TEXT_SIZE], custom_map[OSC_TEXT_SIZE];
    size_t destination_count, next_head;
    osc_destination destinations[OSC_DESTINATIONS];
    osc_head heads[TENDON_FLEET_DEVICES];
} osc;

/** Returns an option, or false beyond the last. */
bool osc_option_at(size_t index, tendon_fleet_option *out);
/**
 * Sets an option by its name, without dashes.
 * @param mistake set to why a value is none: a sentence, static until the next call.
 * @return TENDON_OK; TENDON_ERROR_NOT_FOUND: there is no such option; TENDON_ERROR_INVALID_ARGUMENT.
 */
tendon_status osc_set(osc *sound, const char *name, const char *value, const char **mistake);
/** Opens the sockets. Returns why the options do not fit together, or NULL. */
const char *osc_open(osc *sound, const tendon_fleet_options *from, void (*report)(const char *text));
/** Sends the numbers of a line. */
void osc_take(osc *sound, const tendon_fleet_line *line);
bool osc_sends_orientations(const osc *sound);
/** The present orientation of a device looks straight ahead. Of the type TENDON_ADDRESS_TYPE_ANONYMOUS only the bytes
 * count. Returns false if it has sent no orientation. */
bool osc_recenter(osc *sound, const tendon_address *address);
/** Closes the sockets, and reports what did not arrive. */
void osc_close(osc *sound);

#endif
