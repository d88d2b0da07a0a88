/* SPDX-License-Identifier: MIT */
/*
 * Virtual radio across processes. Connections are Unix SOCK_SEQPACKET sockets; one flag byte before each PDU
 * distinguishes an empty PDU from the end of file. Advertisements are datagrams. All sockets are in one directory with
 * mode 0700.
 */
#ifndef TENDON_LINUX_VIRTUAL_RADIO_H
#define TENDON_LINUX_VIRTUAL_RADIO_H

#include "tendon/linux/radio.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_VIRTUAL_PATH_SIZE 80 /* together with the longest socket name, it fits a Unix socket address */
#define TENDON_VIRTUAL_NAME_SIZE 28 /* of a socket in the directory */
#define TENDON_VIRTUAL_DUPLICATES 32

/** A virtual radio in the caller's memory. Opaque except for the first member. */
typedef struct tendon_virtual_radio {
    tendon_radio radio; /**< first */
    char directory[TENDON_VIRTUAL_PATH_SIZE];
    int directory_fd;
    tendon_source scan_source;
    char scan_name[TENDON_VIRTUAL_NAME_SIZE];
    bool active_scan, filter_duplicates;
    uint32_t seen[TENDON_VIRTUAL_DUPLICATES]; /**< hashes of the latest advertisements, for filter_duplicates */
    uint32_t seen_count;
    tendon_source advertise_source; /**< repeats the advertisement; its descriptor is not watched */
    int advertise_fd;               /**< -1: not advertising */
    uint16_t interval_ms;
    uint8_t data[TENDON_AD_EXTENDED_MAX], scan_response[TENDON_AD_EXTENDED_MAX];
    uint16_t data_length, scan_response_length;
    uint16_t next_handle;
    uint32_t next_name;
} tendon_virtual_radio;

/**
 * Opens a virtual controller. Radios of one directory discover and connect to each other, in one process or in several.
 *
 * Differences from a real radio: a device that listens is connectable even if it does not advertise; the RSSI is
 * constant unless the advertiser's datagram contains one, and that of a connection is not known; only advertisements
 * that a scanner does not read in time are lost. As on a real radio, an advertisement longer than 31 bytes has no scan
 * response, and a connect() to an absent device lasts until its deadline.
 *
 * @param directory NULL: $XDG_RUNTIME_DIR/tendon, or /tmp/tendon-UID when the variable is unset. Created with mode
 * 0700; TENDON_ERROR_FILE_PERMISSION if it belongs to another user or is accessible to other users.
 * At most TENDON_VIRTUAL_PATH_SIZE - 1 bytes (TENDON_ERROR_OVERFLOW).
 * @param address our own address; unique among the listeners in the directory (RADIO_ERROR_ADAPTER_BUSY at listen).
 */
tendon_status tendon_virtual_radio_open(tendon_virtual_radio *radio, tendon_loop *loop, const char *directory,
                                        const tendon_address *address);

/** Returns a default address: random static, derived from the process ID. */
tendon_address tendon_virtual_radio_default_address(void);

#ifdef __cplusplus
}
#endif
#endif
