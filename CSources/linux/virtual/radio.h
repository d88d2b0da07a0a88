/* SPDX-License-Identifier: MIT */
/* Shared by the three files of the virtual radio. Internal to component linux. */
#ifndef TENDON_VIRTUAL_RADIO_INTERNAL_H
#define TENDON_VIRTUAL_RADIO_INTERNAL_H

#include "tendon/linux/virtual_radio.h"

#include <sys/socket.h>
#include <sys/un.h>

/** Socket address of @p name in the radio's directory; returns its length. */
socklen_t tendon_virtual_path(const tendon_virtual_radio *radio, const char *name, struct sockaddr_un *out);

/**
 * The directory that an argument of tendon_virtual_radio_open() means, truncated if it is too long. Returns the length
 * of all of it: TENDON_VIRTUAL_PATH_SIZE or more is too long, 0 or less is none.
 */
int tendon_virtual_directory(const char *directory, char out[TENDON_VIRTUAL_PATH_SIZE]);

/* pairing.c */
void tendon_virtual_control(tendon_link *link, const uint8_t *bytes, size_t length, uint64_t now);
void tendon_virtual_opened(tendon_link *link, uint64_t now);
tendon_status tendon_virtual_use_bonds(tendon_radio *radio);
tendon_status tendon_virtual_set_pairable(tendon_radio *radio, bool pairable);
tendon_status tendon_virtual_pair(tendon_radio *radio, tendon_link *link);
void tendon_virtual_answer(tendon_radio *radio, tendon_link *link, bool accepted, uint32_t passkey, uint64_t now);
void tendon_virtual_pair_cancel(tendon_radio *radio, const tendon_link *link);
tendon_status tendon_virtual_unpair(tendon_radio *radio, const tendon_address *peer);

/* advertise.c */
tendon_status tendon_virtual_scan_start(tendon_radio *radio, const tendon_scan_parameters *parameters);
tendon_status tendon_virtual_scan_stop(tendon_radio *radio);
tendon_status tendon_virtual_advertise_start(tendon_radio *radio, const tendon_advertise_parameters *parameters);
tendon_status tendon_virtual_advertise_stop(tendon_radio *radio);

#endif
