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
    tendon_radio *radio;           /**< the one that is open, or another radio that the caller opened on the loop */
    tendon_status adapter_failure; /**< why tendon_gateway_open() opened no adapter; TENDON_OK: it opened one, or a
                                    * directory was given */
    tendon_bonds bonds;
    tendon_status bonds_failure; /**< why devices cannot pair; TENDON_OK: they can */
    tendon_connection connection;
} tendon_gateway;

/**
 * Opens the loop and a radio: the Bluetooth adapter with the lowest index, or, if no adapter opens, the virtual radio
 * in its default directory (adapter_failure has the reason). A build without TENDON_HAVE_BLUEZ has no adapters
 * (TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT). Bonds are kept in the default file, see tendon_bonds_open(); without it the
 * radio opens, but devices cannot pair (bonds_failure).
 * @param directory NULL, or the directory of a virtual radio, see tendon_virtual_radio_open(): no adapter is opened.
 * @return TENDON_OK, or the error of the loop or of the virtual radio. Nothing stays open after an error.
 */
tendon_status tendon_gateway_open(tendon_gateway *gateway, const char *directory);

/**
 * Scans and runs the loop until an advertisement or a scan response is recognized, e.g. by the function recognizes of
 * a tendon_family. Not from within a callback of the loop: TENDON_ERROR_WRONG_STATE, and nothing was done. Until it
 * returns, on_report is not called, and on_failure not for the end of the scan.
 * @param found its address. @return TENDON_OK, TENDON_ERROR_TIMEOUT, or why the radio cannot scan.
 */
tendon_status tendon_radio_find(tendon_radio *radio, bool (*recognizes)(const uint8_t *data, size_t length),
                                uint32_t timeout_ms, tendon_address *found);

/**
 * Calls tendon_radio_find(), and prepares the gateway's connection for the device that was found. Not from within a
 * callback of the loop, and not before an earlier connection has ended (tendon_connection_close(), then the loop until
 * its state is TENDON_CONNECTION_IDLE): TENDON_ERROR_WRONG_STATE, and nothing was done.
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
