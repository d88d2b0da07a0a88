/* SPDX-License-Identifier: MIT */
/*
 * Memory radio: simulated devices and the connection of a session to one of them, in memory. No
 * radio, no socket, no thread: the caller passes the time. Used by the simulated mode of the vendors' APIs, and by
 * tests of sessions.
 */
#ifndef TENDON_SIMULATE_MEMORY_RADIO_H
#define TENDON_SIMULATE_MEMORY_RADIO_H

#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_MEMORY_RADIO_QUEUE 16
#define TENDON_MEMORY_RADIO_MTU 247    /**< of both sides, unless changed */
#define TENDON_MEMORY_RADIO_REQUESTS 4 /**< of a session: one outstanding, one cancelled, two of its cache */
#define TENDON_MEMORY_RADIO_SUBSCRIPTIONS 8

/** A device in range of the memory radio. The caller's memory. All members except bonded may be changed between two
 * calls. */
typedef struct tendon_memory_radio_device {
    tendon_peripheral_device device;
    tendon_address address;
    int8_t rssi;
    bool present;         /**< in range; see tendon_memory_radio_set_present() */
    bool rejects_pairing; /**< rejects pairing, as if the user declined it */
    bool silent;          /**< its PDUs are lost before they are received */
    bool bonded;          /**< the central has a key of the device */
} tendon_memory_radio_device;

/** PDUs in transit in one direction. */
typedef struct tendon_memory_radio_queue {
    uint16_t first, count;
    bool refused; /**< a send returned TENDON_ERROR_WOULD_BLOCK */
    struct {
        uint16_t length;
        uint8_t bytes[TENDON_ATT_MTU_MAX];
    } pdus[TENDON_MEMORY_RADIO_QUEUE];
} tendon_memory_radio_queue;

/** The caller's memory. Members below the line are private. */
typedef struct tendon_memory_radio {
    tendon_memory_radio_device *devices;
    size_t count;
    uint32_t interval_ms, connect_ms, pairing_ms; /**< 100, 20, 20 unless changed */
    uint16_t mtu;                                 /**< receive MTU of both sides, at most 517 */
    tendon_gatt_cache *cache;                     /**< of the target, for the next connection; NULL: none */
    void *report_context;
    void (*on_report)(void *context, const tendon_ad_report *report, uint64_t now); /**< while scanning; may be NULL */
    /* ---- */
    const tendon_session_inputs *inputs;
    void *session;
    tendon_address target;
    tendon_memory_radio_device *peer; /**< the connected device; NULL: not connected */
    bool scanning, connect_asked, connecting, disconnect_asked, pair_asked, pairing;
    uint64_t now, next_report, link_at, paired_at;
    tendon_att_bearer ours, theirs;
    tendon_gatt_client client;
    tendon_gatt_request requests[TENDON_MEMORY_RADIO_REQUESTS];
    tendon_gatt_subscription subscriptions[TENDON_MEMORY_RADIO_SUBSCRIPTIONS];
    tendon_memory_radio_queue to_device, to_us;
} tendon_memory_radio;

/** @param devices borrowed. */
void tendon_memory_radio_init(tendon_memory_radio *radio, tendon_memory_radio_device *devices, size_t count);
/** Attaches the session. Call it before all other functions. */
void tendon_memory_radio_attach(tendon_memory_radio *radio, const tendon_session_inputs *inputs, void *session);
tendon_session_link tendon_memory_radio_link(tendon_memory_radio *radio);
/** Sets the device of the next connection. An attempt waits for a device that is not in range yet. */
void tendon_memory_radio_set_target(tendon_memory_radio *radio, const tendon_address *address);
void tendon_memory_radio_scan(tendon_memory_radio *radio, bool on);
/** Moves a device into range or out of range. A connected device that leaves the range is disconnected. */
void tendon_memory_radio_set_present(tendon_memory_radio *radio, tendon_memory_radio_device *device, bool present,
                                     uint64_t now);
/** Removes the key of a device and disconnects it. TENDON_ERROR_NOT_FOUND if it was not bonded. */
tendon_status tendon_memory_radio_forget(tendon_memory_radio *radio, const tendon_address *address);
/** Processes everything whose time has come. New work may be pending afterwards. Must not be called from a callback. */
void tendon_memory_radio_tick(tendon_memory_radio *radio, uint64_t now);
uint64_t tendon_memory_radio_deadline(const tendon_memory_radio *radio);

#ifdef __cplusplus
}
#endif
#endif
