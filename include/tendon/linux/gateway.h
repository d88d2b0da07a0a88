/* SPDX-License-Identifier: MIT */
/*
 * Gateway: loop, radio and one connection in one struct, for programs that serve one device only. Larger programs use
 * the parts.
 */
#ifndef TENDON_LINUX_GATEWAY_H
#define TENDON_LINUX_GATEWAY_H

#include "tendon/linux/connection.h"
#include "tendon/linux/virtual_radio.h"
#if defined(TENDON_HAVE_BLUEZ)
#include "tendon/bluez.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Room for a radio of either kind (our design): the layout does not depend on how the caller was compiled. */
#define TENDON_GATEWAY_RADIO_SIZE 17664
/** Likewise for what waits for an adapter. */
#define TENDON_GATEWAY_ARRIVAL_SIZE 128
/** An adapter that does not open is tried again after this time, in ms, then after twice the time before, up to the
 * second one. */
#define TENDON_GATEWAY_PAUSE_MS 1000u
#define TENDON_GATEWAY_PAUSE_MAX_MS 30000u
/** Between the kernel's report of an adapter and the attempt, in ms: one that comes and goes costs at most ten attempts
 * per second. */
#define TENDON_GATEWAY_ARRIVAL_MS 100u
/** The environment variable that names the radio of a gateway: bluez or virtual. */
#define TENDON_GATEWAY_RADIO_VARIABLE "TENDON_RADIO"
/** The one that names its Bluetooth adapter: hciN, an address, or a USB path; see tendon_bluez_open(). */
#define TENDON_GATEWAY_ADAPTER_VARIABLE "TENDON_ADAPTER"

/** What can be done about an adapter that did not open, or has failed. */
typedef enum tendon_adapter_absence {
    TENDON_ADAPTER_MISSING = 0, /**< the kernel reports it when it comes, or is configured */
    TENDON_ADAPTER_OFF,         /**< it was switched off, perhaps by another program, and on purpose */
    TENDON_ADAPTER_FAILING,     /**< another attempt may succeed */
    TENDON_ADAPTER_UNUSABLE     /**< waiting cannot help */
} tendon_adapter_absence;

tendon_adapter_absence tendon_adapter_absence_of(tendon_status failure);

/** When an adapter that did not open is tried again. Opaque: of a gateway, and of each radio of a fleet. */
typedef struct tendon_adapter_wait {
    union {
#if defined(TENDON_HAVE_BLUEZ)
        tendon_bluez_arrival arrival;
#endif
        uint64_t room[TENDON_GATEWAY_ARRIVAL_SIZE / sizeof(uint64_t)];
    };
    bool is_asked; /**< the kernel, for a report */
    bool is_off;   /**< the adapter was switched off while it was used */
    uint32_t pause_ms;
    uint64_t retry_at; /**< monotonic ms; UINT64_MAX: when the kernel reports it */
    void *context;
    void (*on_report)(void *context);
} tendon_adapter_wait;

/** The caller's memory; not to be moved while open. */
typedef struct tendon_gateway {
    tendon_loop loop;
    union {
        tendon_virtual_radio virtual_radio;
#if defined(TENDON_HAVE_BLUEZ)
        tendon_bluez_radio bluez_radio;
#endif
        uint64_t room[TENDON_GATEWAY_RADIO_SIZE / sizeof(uint64_t)];
    };
    tendon_radio *radio; /**< the one that is open, or another radio that the caller opened on the loop; NULL: the
                          * gateway waits for an adapter, or is closed */
    bool waiting;        /**< for an adapter */
    tendon_status adapter_failure; /**< why no adapter is open, at the latest attempt; TENDON_OK: one is, or the virtual
                                    * radio was requested */
    /** Set both after tendon_gateway_open(). Called once, from the loop, if an adapter was waited for and is open;
     * NULL: not called. */
    void (*on_adapter)(void *context, uint64_t now);
    void *adapter_context;
    tendon_source retry; /**< opaque */
    tendon_adapter_wait wait;
    tendon_bonds bonds;
    tendon_status bonds_failure; /**< why devices cannot pair; TENDON_OK: they can */
    tendon_connection connection;
} tendon_gateway;

/**
 * Opens the loop and a radio: the Bluetooth adapter with the lowest index. If none opens, the gateway waits for one
 * (waiting, adapter_failure): it is opened from the loop when the kernel reports it, or at an attempt at most 30 s
 * later. See tendon_gateway_await_adapter(), on_adapter. Nothing is used in the place of an adapter: the virtual radio
 * only with @p directory, or in its default directory if the environment has TENDON_RADIO=virtual.
 *
 * Bonds are kept in the default file, see tendon_bonds_open(); without it the radio opens, but devices cannot pair
 * (bonds_failure).
 * @param directory NULL, or the directory of a virtual radio, see tendon_virtual_radio_open(): no adapter is opened.
 * @return TENDON_OK; the error of the loop or of the virtual radio; TENDON_RADIO_ERROR_NO_CAP_NET_RAW: this process
 * lacks the capability; TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT: of a build without adapters (TENDON_HAVE_BLUEZ);
 * TENDON_RADIO_ERROR_UNKNOWN_RADIO: TENDON_RADIO names neither bluez nor virtual; TENDON_ERROR_INVALID_ARGUMENT:
 * TENDON_ADAPTER names no adapter. Nothing stays open after an error.
 */
tendon_status tendon_gateway_open(tendon_gateway *gateway, const char *directory);

/**
 * Runs the loop until the gateway has a radio. Not from within a callback of the loop: TENDON_ERROR_WRONG_STATE.
 * @param timeout_ms 0: no limit. @return TENDON_OK, immediately if it has one; adapter_failure: the time is over; an
 * error of tendon_loop_step(); TENDON_ERROR_CANCELLED: tendon_loop_stop() was called.
 */
tendon_status tendon_gateway_await_adapter(tendon_gateway *gateway, uint32_t timeout_ms);

/**
 * Scans and runs the loop until an advertisement or a scan response is recognized, e.g. by the function recognizes of
 * a tendon_family: each alone, and after the other one of the same advertiser. Not from within a callback of the loop:
 * TENDON_ERROR_WRONG_STATE, and nothing was done. Until it returns, on_report is not called, and on_failure not for the
 * end of the scan.
 * @param radio not NULL: that of a gateway is NULL while it waits for an adapter. @param recognizes not NULL: for any
 * device, a function that returns true. @param timeout_ms 0: one step of the loop, which does not wait.
 * @param found its address; not NULL.
 * @return TENDON_OK, TENDON_ERROR_TIMEOUT, or why the radio cannot scan; TENDON_ERROR_INVALID_ARGUMENT: one of these is
 * NULL, and nothing was done; TENDON_ERROR_CANCELLED: the radio was closed, or tendon_loop_stop() was called.
 */
tendon_status tendon_radio_find(tendon_radio *radio, bool (*recognizes)(const uint8_t *data, size_t length),
                                uint32_t timeout_ms, tendon_address *found);

/**
 * Calls tendon_radio_find(), and prepares the gateway's connection for the device that was found. An adapter is waited
 * for within the same time, with 0 for one step of the loop: adapter_failure is returned if none has come. Not from
 * within a callback of the loop, and not before an earlier connection has ended (tendon_connection_close(), then the
 * loop until its state is TENDON_CONNECTION_IDLE): TENDON_ERROR_WRONG_STATE, and nothing was done. The same with
 * TENDON_ERROR_INVALID_ARGUMENT if @p recognizes is NULL.
 */
tendon_status tendon_gateway_find(tendon_gateway *gateway, bool (*recognizes)(const uint8_t *data, size_t length),
                                  uint32_t timeout_ms);

/**
 * Runs the loop until tendon_loop_stop(&gateway->loop). @param timeout_ms 0: no limit.
 * @return TENDON_OK, TENDON_ERROR_TIMEOUT, or an error of tendon_loop_run().
 */
tendon_status tendon_gateway_run(tendon_gateway *gateway, uint32_t timeout_ms);

/**
 * Disconnects, runs the loop until the connection is closed (a few steps without waiting), and closes the radio and the
 * loop. To end from within a callback, call tendon_loop_stop() there, and this function after tendon_gateway_run().
 * @return TENDON_OK, also when it is closed already; TENDON_ERROR_WRONG_STATE: called from within a callback of the
 * loop, nothing was done.
 */
tendon_status tendon_gateway_close(tendon_gateway *gateway);

#ifdef __cplusplus
}
#endif
#endif
