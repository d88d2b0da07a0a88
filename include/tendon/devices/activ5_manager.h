/* SPDX-License-Identifier: MIT */
/*
 * Activ5: the device manager: scan with its timeout, the list of devices by name, reconnection. Does no I/O; for any
 * number of devices. State table: docs/protocols/activ5.md.
 *
 * Its requests are SCAN_START, SCAN_STOP and those of its devices, which are passed to its request handler while no
 * session is attached. At CONNECT, the application creates a connection and a tendon_activ5_session for that device.
 */
#ifndef TENDON_DEVICES_ACTIV5_MANAGER_H
#define TENDON_DEVICES_ACTIV5_MANAGER_H

#include "tendon/devices/activ5_device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tendon_activ5_connection_state {
    TENDON_ACTIV5_MANAGER_DISCONNECTED = 0,
    TENDON_ACTIV5_MANAGER_SEARCHING,
    TENDON_ACTIV5_MANAGER_CONNECTED
} tendon_activ5_connection_state;

/** State of the radio; corresponds to CBManagerState on phones. */
typedef enum tendon_activ5_radio_state {
    TENDON_ACTIV5_RADIO_UNKNOWN = 0,
    TENDON_ACTIV5_RADIO_RESETTING,
    TENDON_ACTIV5_RADIO_UNSUPPORTED,
    TENDON_ACTIV5_RADIO_UNAUTHORIZED,
    TENDON_ACTIV5_RADIO_POWERED_OFF,
    TENDON_ACTIV5_RADIO_POWERED_ON
} tendon_activ5_radio_state;

/** Returns the state that corresponds to a status of the radio; TENDON_OK is POWERED_ON. */
tendon_activ5_radio_state tendon_activ5_radio_state_of(tendon_status status);

/** Maximum number of addresses whose service or name was received, but not both. If the table is full, the oldest entry
 * is replaced; entries with a name but no service first.
 */
#define TENDON_ACTIV5_PARTIAL_SIZE 16

/** Data of an advertiser, from its advertisement and scan response. Private. */
typedef struct tendon_activ5_partial {
    tendon_address address;
    bool used, matches;
    uint8_t name_length; /**< 0: no name yet */
    uint16_t age;
    char name[TENDON_ACTIV5_NAME_SIZE];
} tendon_activ5_partial;

/** Caller's memory. Options may be written at any time; all other members may only be read. */
typedef struct tendon_activ5_manager {
    tendon_activ5_options options;
    tendon_activ5_device *devices; /**< table; an entry is in the list if listed is set */
    size_t capacity;
    tendon_activ5_on_event on_event;
    tendon_activ5_on_request on_request;
    void *context;
    bool powered;               /**< isBluetoothOn; true at first */
    tendon_status radio_status; /**< reason why it is not powered; TENDON_OK if it is */
    bool scanning;
    bool squeezed;              /**< the last squeeze state of any device */
    bool reporting, report_off; /**< BLUETOOTH_OFF that a handler causes is reported after its event */
    uint32_t searches;          /**< calls of _scan(); each reports every device it finds once */
    uint64_t scan_deadline;
    uint16_t partial_age;
    tendon_activ5_partial partial[TENDON_ACTIV5_PARTIAL_SIZE];
    uint64_t left_out; /**< advertisements ignored because the table was full or the name was longer than
                          TENDON_ACTIV5_NAME_SIZE */
} tendon_activ5_manager;

/** Sets default options, adapter on. @param devices caller's table of @p capacity entries. */
void tendon_activ5_manager_init(tendon_activ5_manager *manager, tendon_activ5_device *devices, size_t capacity,
                                tendon_activ5_on_event on_event, tendon_activ5_on_request on_request, void *context);

/**
 * Starts scanning (scanForDevices), or restarts the scan time. If the adapter is off, only reports BLUETOOTH_OFF.
 * @return TENDON_OK; TENDON_RADIO_ERROR_ADAPTER_DOWN; or the error of the request (then it does not scan).
 */
tendon_status tendon_activ5_manager_scan(tendon_activ5_manager *manager, uint64_t now);
/** Stops scanning. SEARCH_COMPLETED is not reported. */
void tendon_activ5_manager_stop_scanning(tendon_activ5_manager *manager, uint64_t now);
/**
 * Processes an advertisement or a scan response; ignored while not scanning. A device is found once one of
 * options.services and a name were received from its address, in one report or in two.
 * @return the entry, or NULL.
 */
tendon_activ5_device *tendon_activ5_manager_on_advertisement(tendon_activ5_manager *manager,
                                                             const tendon_ad_report *report, uint64_t now);
/**
 * Processes an advertisement of a device with one of the services and this name. Ignored without a name, or while not
 * scanning. Connects a device whose connection was lost if options.reconnect is "automatically".
 * @param peer may be NULL. @return the entry, or NULL.
 */
tendon_activ5_device *tendon_activ5_manager_advertised(tendon_activ5_manager *manager, const char *name, size_t length,
                                                       const tendon_address *peer, double rssi, uint64_t now);
/** Returns true if the advertising data contains one of options.services. */
bool tendon_activ5_manager_matches(const tendon_activ5_manager *manager, const uint8_t *data, size_t length);
/** Returns the entry with this name in the list; NULL if there is none. */
tendon_activ5_device *tendon_activ5_manager_find(const tendon_activ5_manager *manager, const char *name, size_t length);
/** Removes a device from the list; a connection stays open. The next search that finds it reports it again. */
void tendon_activ5_manager_remove(tendon_activ5_manager *manager, tendon_activ5_device *device);
/** Disconnects all devices and removes them from the list. */
void tendon_activ5_manager_disconnect_all(tendon_activ5_manager *manager, uint64_t now);
/**
 * Sets the state of the radio: TENDON_OK if it is open, otherwise the reason; BLUETOOTH_STATE is reported. Without a
 * radio, the scan and all connections end, devices are removed from the list, and no reconnection follows.
 */
void tendon_activ5_manager_set_radio(tendon_activ5_manager *manager, tendon_status status, uint64_t now);
/** Processes the expired timers of the scan and of all devices in the order of their deadlines, each with its deadline
 * as the time. */
void tendon_activ5_manager_tick(tendon_activ5_manager *manager, uint64_t now);
/** Returns the next deadline of the scan and of all devices; UINT64_MAX: never. */
uint64_t tendon_activ5_manager_deadline(const tendon_activ5_manager *manager);
tendon_activ5_connection_state tendon_activ5_manager_connection_state(const tendon_activ5_manager *manager);

#ifdef __cplusplus
}
#endif
#endif
