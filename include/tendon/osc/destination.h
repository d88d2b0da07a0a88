/* SPDX-License-Identifier: MIT */
/*
 * Where values of devices go, as people write it: HOST:PORT, HOST:PORT/PRESET, HOST:PORT/PRESET/DEVICE; and which
 * devices a name means. docs/osc.md is the page for people. No name is resolved here.
 */
#ifndef TENDON_OSC_DESTINATION_H
#define TENDON_OSC_DESTINATION_H

#include "tendon/osc/preset.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /** Longest host: RFC 1035, 2.3.4. */
    TENDON_OSC_HOST_MAX = 255,
    /** Longest text of an endpoint, with brackets, colon, port and terminator. */
    TENDON_OSC_ENDPOINT_SIZE = TENDON_OSC_HOST_MAX + 2 + 1 + 5 + 1,
    /** Longest name of a device, in bytes: Core Specification Vol 3 Part C 12.1. */
    TENDON_OSC_DEVICE_MAX = 248
};

typedef struct tendon_osc_endpoint {
    char host[TENDON_OSC_HOST_MAX + 1]; /**< a name, or an address of IPv4 or IPv6 without brackets */
    uint16_t port;                      /**< 1 to 65535 */
} tendon_osc_endpoint;

/**
 * Reads "127.0.0.1:9000", "[::1]:9000" or "studio.local:9000": brackets are around hosts with a colon, and no others. A
 * host is printable ASCII without blank and "/".
 * @return TENDON_OK or TENDON_ERROR_MALFORMED. @param out is not valid then.
 */
tendon_status tendon_osc_endpoint_parse(const char *text, size_t length, tendon_osc_endpoint *out);
/** Writes it as it is read, with a terminator. Returns @p out. */
const char *tendon_osc_endpoint_format(const tendon_osc_endpoint *endpoint, char out[TENDON_OSC_ENDPOINT_SIZE]);

typedef struct tendon_osc_destination {
    tendon_osc_endpoint endpoint;
    char device[TENDON_OSC_DEVICE_MAX + 1]; /**< the name or address of the only device that is sent there; "": each */
    tendon_osc_format format;
    bool is_custom;                  /**< preset "custom", of ORIENTATION: address and map are still to be set */
    const char *address;             /**< of ORIENTATION: static, or borrowed from who sets it */
    tendon_osc_map map;              /**< of ORIENTATION and OPENTRACK */
    size_t preset_at, preset_length; /**< of the name within the text; length 0: there is none, it is raw */
} tendon_osc_destination;

/** The preset whose address and map the user gives. It is not among those of tendon_osc_preset_at(). */
#define TENDON_OSC_CUSTOM "custom"

/**
 * Reads a destination. A device may have "/" in its name.
 * @return TENDON_OK; TENDON_ERROR_MALFORMED; TENDON_ERROR_NOT_FOUND: there is no such preset, its place is set.
 */
tendon_status tendon_osc_destination_parse(const char *text, size_t length, tendon_osc_destination *out);

/** Whether an address can be sent: see tendon_osc_sample(). @param address with a terminator. */
bool tendon_osc_is_address(const char *address);

/**
 * Whether a name means a device: by its name as it is or as addresses have it, or by its address, in any case, with or
 * without its type.
 * @param name of the device, as it was given or advertised, of @p name_length bytes; 0: not known.
 * @param address of the device, "AA:BB:CC:DD:EE:FF" or "AA:BB:CC:DD:EE:FF/TYPE" with a terminator. "/random" is also
 *   "/random_identity".
 */
bool tendon_osc_means(const char *wanted, size_t wanted_length, const char *name, size_t name_length,
                      const char *address);

/**
 * Writes the address of a raw sample, "/tendon/NAME/SENSOR", with a terminator. A level that has no room is left out:
 * no name is that long.
 * @param name as of tendon_osc_means(); without one it is the address of the device.
 */
void tendon_osc_sample_address(const char *name, size_t name_length, const char *address, const char *sensor,
                               size_t sensor_length, char out[TENDON_OSC_ADDRESS_MAX + 1]);

#ifdef __cplusplus
}
#endif
#endif
