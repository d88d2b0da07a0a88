/* SPDX-License-Identifier: MIT */
/*
 * Relay: an Obvious device whose connection the application owns. A session uses it as a device of the radio in
 * memory; the application transfers the values of the two characteristics between it and the device.
 *
 * The application has encrypted the connection, which the session cannot see. OGP_STATUS is read first; the session is
 * connected when its value arrived. A write that the application cannot send is lost. If that is the first one, the
 * device does not have OGP_DATA.
 */
#ifndef TENDON_SIMULATE_OBVIOUS_RELAY_H
#define TENDON_SIMULATE_OBVIOUS_RELAY_H

#include "tendon/devices/obvious.h"
#include "tendon/simulate/memory_radio.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_OBVIOUS_RELAY_READ_MS 5000u
/** An application that cannot read OGP_STATUS yet is asked again after so long, for TENDON_OBVIOUS_RELAY_READ_MS. */
#define TENDON_OBVIOUS_RELAY_ASK_MS 200u
/** So many writes in a row that the application cannot send end the connection. */
#define TENDON_OBVIOUS_RELAY_REFUSALS 5
#define TENDON_OBVIOUS_RELAY_ATTRIBUTES 6

/** What the relay requests of the application; never from within a call of this header. */
typedef struct tendon_obvious_relay_handler {
    /** Writes a value of OGP_DATA, without a response. @return false: it was not sent. */
    bool (*write)(void *context, const uint8_t *value, size_t length);
    /** Reads OGP_STATUS; tendon_obvious_relay_status() or _failed() follows. @return false: it
     * does not exist, or is not discovered yet. */
    bool (*read)(void *context);
} tendon_obvious_relay_handler;

/** The caller's memory. Public is status, for reading. */
typedef struct tendon_obvious_relay {
    /**
     * Why it ended the connection by itself, or did not make one: UNSUPPORTED_PROFILE, LINK_ERROR. TENDON_OK again with
     * the next connection.
     */
    tendon_status status;
    /* ---- */
    uint8_t state, asked, refusals, value_length;
    bool written, connected;
    uint16_t mtu, data_handle, status_handle;
    uint64_t deadline;
    tendon_status failure; /* of the read; TENDON_OK: value */
    uint8_t value[20];
    const tendon_obvious_relay_handler *handler;
    void *context;
    tendon_obvious_gatt gatt;
    tendon_memory_radio *radio;
    tendon_memory_radio_device device;
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[TENDON_OBVIOUS_RELAY_ATTRIBUTES];
    tendon_gatt_connection connection;
    uint16_t cccds[1];
} tendon_obvious_relay;

/**
 * Prepares a relay, and the radio with it as the only device. Attach the session to the radio next, and use the radio's
 * link: connect() makes it wait for tendon_obvious_relay_connected().
 * @param gatt NULL: the default UUIDs
 */
void tendon_obvious_relay_init(tendon_obvious_relay *relay, tendon_memory_radio *radio,
                               const tendon_obvious_relay_handler *handler, void *context,
                               const tendon_obvious_gatt *gatt);
/** The application has connected the device. Its notifications are enabled, or will be before OGP_STATUS can be read.
 * @param mtu of the connection, 23 to 517;
 * values of OGP_DATA are at most 3 bytes shorter. */
void tendon_obvious_relay_connected(tendon_obvious_relay *relay, uint16_t mtu, uint64_t now);
void tendon_obvious_relay_disconnected(tendon_obvious_relay *relay, uint64_t now);
/** The value of OGP_STATUS. */
void tendon_obvious_relay_status(tendon_obvious_relay *relay, const uint8_t *value, size_t length, uint64_t now);
/** OGP_STATUS could not be read. @param code of ATT; 0: another reason */
void tendon_obvious_relay_failed(tendon_obvious_relay *relay, uint8_t code, uint64_t now);
/** A notification or an indication of OGP_DATA. @return false: it was lost, because the session is not connected, or
 * did not receive the former ones yet. */
bool tendon_obvious_relay_data(tendon_obvious_relay *relay, const uint8_t *value, size_t length);

#ifdef __cplusplus
}
#endif
#endif
