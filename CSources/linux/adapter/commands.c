/* SPDX-License-Identifier: MIT */
/* Commands to the controller, over the HCI raw socket. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

bool tendon_bluez_send_command(int fd, const tendon_bluez_command *command) {
    size_t length = (size_t)command->length;
    uint16_t opcode = (uint16_t)(command->bytes[0] | (unsigned)command->bytes[1] << 8);
    /* libbluetooth adds the packet type byte and takes the parameters apart. */
    uint8_t parameters[255];
    memcpy(parameters, command->bytes + 3, length - 3);
    return hci_send_cmd(fd, cmd_opcode_ogf(opcode), cmd_opcode_ocf(opcode), (uint8_t)(length - 3), parameters) >= 0;
}

void tendon_bluez_send_and_forget(tendon_bluez_radio *radio, const tendon_bluez_command *command) {
    if (command->length > 0) {
        (void)tendon_bluez_send_command(radio->hci.fd, command);
    }
}

/** No command is in flight any more, and the next one may be sent. */
void tendon_bluez_queue_reset(tendon_bluez_radio *radio) {
    radio->command.state = TENDON_BLUEZ_IDLE;
    radio->command.opcode = 0;
    radio->hci.deadline = UINT64_MAX;
}

bool tendon_bluez_in_flight(const tendon_bluez_radio *radio, const tendon_bluez_activity *activity) {
    return radio->command.opcode != 0 && radio->command.activity == activity;
}

#endif
