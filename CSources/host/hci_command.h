/* SPDX-License-Identifier: MIT */
/* Functions shared by the command encoders. */
#ifndef TENDON_HOST_HCI_COMMAND_H
#define TENDON_HOST_HCI_COMMAND_H

#include "tendon/host/hci.h"

/** Opcode and a length that finish() fills in. */
tendon_writer tendon_hci_begin(uint16_t opcode, uint8_t *out, size_t capacity);
tendon_status tendon_hci_finish(tendon_writer *writer);
void tendon_hci_put_address(tendon_writer *writer, const tendon_address *address);

#endif
