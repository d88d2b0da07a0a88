/* SPDX-License-Identifier: MIT */
/*
 * Virtual radio across processes: links are Unix SOCK_SEQPACKET sockets (one
 * flag byte in front of each PDU, so that an empty PDU is not an end of file),
 * advertisements are datagrams, all in one directory of mode 0700.
 */
#ifndef TENDON_LINUX_VIRTUAL_RADIO_H
#define TENDON_LINUX_VIRTUAL_RADIO_H

#include "tendon/linux/radio.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_VIRTUAL_PATH_SIZE 80 /* with the longest socket name behind it, it fits a Unix socket address */
#define TENDON_VIRTUAL_NAME_SIZE 28 /* of a socket in the directory */
#define TENDON_VIRTUAL_DUPLICATES 32

/** The caller's memory; opaque but for the first member. */
typedef struct tendon_virtual_radio {
    tendon_radio radio; /**< first */
    char directory[TENDON_VIRTUAL_PATH_SIZE];
    int directory_fd;
    tendon_source scan_source;
    char scan_name[TENDON_VIRTUAL_NAME_SIZE];
    bool active_scan, filter_duplicates;
    uint32_t seen[TENDON_VIRTUAL_DUPLICATES]; /**< what filter_duplicates remembers: the last few, by hash */
    uint32_t seen_count;
    tendon_source advertise_source; /**< repeats the advertisement; its descriptor is not watched */
    int advertise_fd;               /**< -1: not advertising */
    uint16_t interval_ms;
    uint8_t data[TENDON_AD_EXTENDED_MAX], scan_response[TENDON_AD_EXTENDED_MAX];
    uint16_t data_length, scan_response_length;
    tendon_listener *listener;
    uint16_t next_handle;
    uint32_t next_name;
} tendon_virtual_radio;

/**
 * Opens a virtual controller. Radios of one directory hear and reach each other, in one process or in several.
 *
 * Differences from the air: a device that listens is reached whether it advertises or not; RSSI is constant; nothing
 * is lost but advertisements that a scanner is too slow to read. As there, an advertisement longer than 31 bytes has
 * no scan response, and a connect to an absent device goes on until its deadline.
 *
 * @param directory NULL: $XDG_RUNTIME_DIR/tendon, or /tmp/tendon-UID when the variable is unset. Created with mode
 * 0700; one that belongs to another user or is open to others is refused (TENDON_ERROR_FILE_PERMISSION).
 * At most TENDON_VIRTUAL_PATH_SIZE - 1 bytes (TENDON_ERROR_OVERFLOW).
 * @param address our own address; unique among the listeners in the directory (RADIO_ERROR_ADAPTER_BUSY at listen).
 */
tendon_status tendon_virtual_radio_open(tendon_virtual_radio *radio, tendon_loop *loop, const char *directory,
                                        const tendon_address *address);

/** Our own address for programs that do not care: random static, made of the process id. */
tendon_address tendon_virtual_radio_default_address(void);

#ifdef __cplusplus
}
#endif
#endif
