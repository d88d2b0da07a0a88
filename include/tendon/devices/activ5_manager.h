/* SPDX-License-Identifier: MIT */
/*
 * Activ5: the device manager: scan with its timeout, the list of devices by
 * name, reconnection. Sans I/O, for any number of devices. State table:
 * docs/protocols/activ5.md.
 *
 * Its requests are SCAN_START, SCAN_STOP and those of its devices, which come
 * here as long as no session is attached: at CONNECT the program makes a
 * connection and a tendon_activ5_session for that device.
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

/** State of the radio, as a phone's CBManagerState. */
typedef enum tendon_activ5_radio_state {
    TENDON_ACTIV5_RADIO_UNKNOWN = 0,
    TENDON_ACTIV5_RADIO_RESETTING,
    TENDON_ACTIV5_RADIO_UNSUPPORTED,
    TENDON_ACTIV5_RADIO_UNAUTHORIZED,
    TENDON_ACTIV5_RADIO_POWERED_OFF,
    TENDON_ACTIV5_RADIO_POWERED_ON
} tendon_activ5_radio_state;

/** The state that a status of the radio means; TENDON_OK is POWERED_ON. */
tendon_activ5_radio_state tendon_activ5_radio_state_of(tendon_status status);

/** Addresses whose service or name was received, but not yet both. The oldest is replaced, names without service first.
 */
#define TENDON_ACTIV5_PARTIAL_SIZE 16

/** What an advertiser has sent in advertisement and scan response. Private. */
typedef struct tendon_activ5_partial {
    tendon_address address;
    bool used, matches;
    uint8_t name_length; /**< 0: no name yet */
    uint16_t age;
    char name[TENDON_ACTIV5_NAME_SIZE];
} tendon_activ5_partial;

/** Caller's memory; options may be written at any time, all else only read. */
typedef struct tendon_activ5_manager {
    tendon_activ5_options options;
    tendon_activ5_device *devices; /**< entries; in the list are those that are listed */
    size_t capacity;
    tendon_activ5_on_event on_event;
    tendon_activ5_on_request on_request;
    void *context;
    bool powered;               /**< isBluetoothOn; true at first */
    tendon_status radio_status; /**< why it is not powered; TENDON_OK */
    bool scanning;
    bool squeezed;              /**< the last squeeze state of any device */
    bool reporting, report_off; /**< BLUETOOTH_OFF that a handler causes is reported after its event */
    uint32_t searches;          /**< calls of _scan(); each reports every device it finds once */
    uint64_t scan_deadline;
    uint16_t partial_age;
    tendon_activ5_partial partial[TENDON_ACTIV5_PARTIAL_SIZE];
    uint64_t left_out; /**< advertisements without room in the table, or with a name beyond TENDON_ACTIV5_NAME_SIZE */
} tendon_activ5_manager;

/** Default options, adapter on. @param devices caller's table of @p capacity entries. */
void tendon_activ5_manager_init(tendon_activ5_manager *manager, tendon_activ5_device *devices, size_t capacity,
                                tendon_activ5_on_event on_event, tendon_activ5_on_request on_request, void *context);

/**
 * scanForDevices: starts, or restarts its time. With the adapter off it only reports BLUETOOTH_OFF.
 * @return TENDON_OK; TENDON_RADIO_ERROR_ADAPTER_DOWN; or why the request was refused (then it does not scan).
 */
tendon_status tendon_activ5_manager_scan(tendon_activ5_manager *manager, uint64_t now);
/** Without SEARCH_COMPLETED. */
void tendon_activ5_manager_stop_scanning(tendon_activ5_manager *manager, uint64_t now);
/**
 * Any advertisement or scan response, as the radio reports it; ignored while not scanning. A device is found once one
 * of options.services and a name were received from its address, in one report or in two.
 * @return the entry, or NULL.
 */
tendon_activ5_device *tendon_activ5_manager_on_advertisement(tendon_activ5_manager *manager,
                                                             const tendon_ad_report *report, uint64_t now);
/**
 * A device that advertises one of the services under this name. Without a name, or while not scanning, it is ignored. A
 * device that was lost, under "automatically", is connected.
 * @param peer may be NULL. @return the entry, or NULL.
 */
tendon_activ5_device *tendon_activ5_manager_advertised(tendon_activ5_manager *manager, const char *name, size_t length,
                                                       const tendon_address *peer, double rssi, uint64_t now);
/** True when advertising data names one of options.services. */
bool tendon_activ5_manager_matches(const tendon_activ5_manager *manager, const uint8_t *data, size_t length);
/** The entry of a name in the list; NULL: none. */
tendon_activ5_device *tendon_activ5_manager_find(const tendon_activ5_manager *manager, const char *name, size_t length);
/** Takes a device out of the list; a connection stays. The next search that finds it reports it again. */
void tendon_activ5_manager_remove(tendon_activ5_manager *manager, tendon_activ5_device *device);
/** Every device disconnects and is forgotten. */
void tendon_activ5_manager_disconnect_all(tendon_activ5_manager *manager, uint64_t now);
/**
 * The radio is open (TENDON_OK), or why it is not: BLUETOOTH_STATE. Without it: no scan, devices lost and out of the
 * list, no reconnection.
 */
void tendon_activ5_manager_set_radio(tendon_activ5_manager *manager, tendon_status status, uint64_t now);
/** Timers of the scan and of all devices that are due, in their order and with their own time. */
void tendon_activ5_manager_tick(tendon_activ5_manager *manager, uint64_t now);
/** Of the scan and of all devices; UINT64_MAX: never. */
uint64_t tendon_activ5_manager_deadline(const tendon_activ5_manager *manager);
tendon_activ5_connection_state tendon_activ5_manager_connection_state(const tendon_activ5_manager *manager);

#ifdef __cplusplus
}
#endif
#endif
