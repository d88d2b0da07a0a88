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

#define TENDON_VIRTUAL_PATH_SIZE 108

typedef struct tendon_virtual_radio {
    tendon_radio radio; /**< first */
    char directory[TENDON_VIRTUAL_PATH_SIZE];
    tendon_source scan_source;
    tendon_source advertise_source; /**< repeats the advertisement */
    tendon_listener *listener;
    uint16_t interval_ms;
    uint8_t data[TENDON_AD_EXTENDED_MAX], scan_response[TENDON_AD_EXTENDED_MAX];
    uint16_t data_length, scan_response_length;
    bool active_scan;
} tendon_virtual_radio;

/**
 * @param directory NULL: $XDG_RUNTIME_DIR/tendon, or /tmp/tendon-UID when the variable is unset. Created with mode
 * 0700; one that belongs to another user or is open to others is refused (RADIO_ERROR_PERMISSION).
 * @param address our own address; unique in the directory.
 */
tendon_status tendon_virtual_radio_open(tendon_virtual_radio *radio, tendon_loop *loop, const char *directory,
                                        const tendon_address *address);

#ifdef __cplusplus
}
#endif
#endif
