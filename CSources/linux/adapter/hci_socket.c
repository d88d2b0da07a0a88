/* SPDX-License-Identifier: MIT */
/* Packets of the HCI raw socket: events of the controller, and commands of the kernel and of other programs. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>
#include <sys/socket.h>

/** Maximum number of packets read per wake-up, with one recvmmsg(). */
#define BATCH 16
/** Of one read of everything: a bound, for a controller that sends faster than this loop reads. */
#define BATCHES_MAX 100u
/** H4 type, event code, length, 255 parameters; commands of others are slightly longer. */
#define SLOT 264

static void command_complete(tendon_bluez_radio *radio, uint16_t opcode, const tendon_hci_parameters *parameters,
                             uint64_t now) {
    if (opcode == radio->command.opcode && parameters->length == 0) {
        radio->radio.malformed++; /* a response without a status: ignored */
        return;
    }
    uint8_t status = parameters->length > 0 ? parameters->data[0] : 0;
    /* The controller responds in order, and the other command was observed when it was sent: its response comes first.
     */
    if (opcode == radio->kernel.opcode) {
        tendon_bluez_scan_other_done(radio, status, now);
        return;
    }
    if (tendon_bluez_sets_resolution(opcode) && status != 0) {
        radio->unresolved = false;
        return;
    }
    if (opcode == TENDON_HCI_LE_READ_PHY) {
        tendon_bluez_phy_read(radio, parameters->data, parameters->length);
        return;
    }
    tendon_bluez_answered(radio, opcode, status, now);
}

static void command_status(tendon_bluez_radio *radio, uint16_t opcode, uint8_t status, uint64_t now) {
    if (status == 0) {
        return; /* pending; all of ours end with Command Complete */
    }
    if (opcode == radio->kernel.opcode) {
        tendon_bluez_scan_other_done(radio, status, now);
        return;
    }
    if (tendon_bluez_creates(opcode)) {
        tendon_bluez_kernel_creates_none(&radio->kernel);
    }
    tendon_bluez_answered(radio, opcode, status, now);
}

/** An opcode of 0 is about no command: the controller takes commands again (Core Spec Vol 4 Part E 7.7.14). */
static void responded(tendon_bluez_radio *radio, uint8_t code, const tendon_hci_parameters *parameters, uint64_t now) {
    if (parameters->opcode == 0) {
        return;
    }
    if (code == TENDON_HCI_COMMAND_COMPLETE) {
        command_complete(radio, parameters->opcode, parameters, now);
    } else {
        command_status(radio, parameters->opcode, parameters->status, now);
    }
}

static void connected(tendon_bluez_radio *radio, const tendon_hci_parameters *parameters, uint64_t now) {
    if (parameters->status != 0) {
        tendon_bluez_note_connect_failure(radio, parameters, now);
        return;
    }
    tendon_bluez_note_new_handle(radio, parameters);
    if (tendon_bluez_note_timing(radio, parameters)) {
        tendon_bluez_kernel_counts(&radio->kernel, 1);
    }
    if (parameters->role == 0) {
        tendon_bluez_note_connected(radio, parameters->handle, now);
    } else if (!radio->extended_advertising) {
        tendon_bluez_advertise_ended(radio);
    } /* else the controller reports which set has ended: it can be another program's */
}

static void disconnected(tendon_bluez_radio *radio, const tendon_hci_parameters *parameters, uint64_t now) {
    if (parameters->status == 0) {
        if (tendon_bluez_forget_timing(radio, parameters->handle)) {
            tendon_bluez_kernel_counts(&radio->kernel, -1);
        }
        tendon_bluez_note_ending(radio, parameters->handle, parameters->reason, now);
        tendon_bluez_advertise_disconnected(radio);
    }
}

static bool is_report(const tendon_hci_event *event) {
    return event->code == TENDON_HCI_LE_META && (event->subevent == TENDON_HCI_LE_ADVERTISING_REPORT ||
                                                 event->subevent == TENDON_HCI_LE_EXTENDED_ADVERTISING_REPORT);
}

static void act_on(tendon_bluez_radio *radio, const tendon_hci_event *event, const tendon_hci_parameters *parameters,
                   uint64_t now) {
    switch (event->code) {
    case TENDON_HCI_COMMAND_COMPLETE:
    case TENDON_HCI_COMMAND_STATUS:
        responded(radio, event->code, parameters, now);
        break;
    case TENDON_HCI_DISCONNECTION_COMPLETE:
        disconnected(radio, parameters, now);
        break;
    case TENDON_HCI_HARDWARE_ERROR:
        tendon_bluez_hardware_error(radio, now);
        break;
    case TENDON_HCI_ENCRYPTION_CHANGE:
        if (parameters->status == 0) {
            tendon_bluez_encryption_changed(radio, parameters->handle, parameters->enabled != 0, now);
        }
        break;
    case TENDON_HCI_LE_META:
        if (event->subevent == TENDON_HCI_LE_CONNECTION_COMPLETE ||
            event->subevent == TENDON_HCI_LE_ENHANCED_CONNECTION_COMPLETE) {
            connected(radio, parameters, now);
        } else if (event->subevent == TENDON_HCI_LE_ADVERTISING_SET_TERMINATED) {
            if (parameters->set == radio->advertising.set) {
                tendon_bluez_advertise_ended(radio);
            }
        } else {
            tendon_bluez_note_change(radio, event->subevent, parameters);
        }
        break;
    default:
        return;
    }
    tendon_bluez_wake_at(radio, 0);
}

static void take_event(tendon_bluez_radio *radio, const uint8_t *packet, size_t length, uint64_t now) {
    tendon_hci_event event;
    tendon_hci_parameters parameters;
    if (tendon_hci_event_decode(packet, length, &event, NULL) < 0) {
        radio->radio.malformed++;
        return;
    }
    if (is_report(&event)) {
        tendon_bluez_scan_reports(radio, &event, now);
        return;
    }
    tendon_status status = tendon_hci_decode(&event, &parameters, NULL);
    if (status < 0) {
        radio->radio.malformed += status != TENDON_ERROR_UNSUPPORTED;
        return;
    }
    act_on(radio, &event, &parameters, now);
}

/** A command of the kernel or of another program, as it is sent. */
static void take_command(tendon_bluez_radio *radio, const uint8_t *packet, size_t length) {
    tendon_reader reader = tendon_reader_make(packet, length);
    tendon_bluez_wake_at(radio, 0);
    uint16_t opcode = tendon_read_u16le(&reader);
    (void)tendon_read_u8(&reader);
    if (tendon_bluez_creates(opcode)) {
        radio->stuck_connects = 0;
        tendon_bluez_kernel_creates(&radio->kernel, opcode, &reader);
    } else if (opcode == TENDON_HCI_OPCODE(0x08, 0x019)) {
        tendon_bluez_note_key(radio, &reader);
    } else if (tendon_bluez_sets_resolution(opcode)) {
        tendon_bluez_note_resolution(radio, &reader);
    } else if (opcode == TENDON_HCI_LE_SET_RANDOM_ADDRESS) {
        tendon_bluez_address_other_sent(radio, &reader);
    } else {
        tendon_reader again = reader;
        tendon_bluez_advertise_other_sent(radio, opcode, &again);
        tendon_bluez_scan_other_sent(radio, opcode, &reader);
    }
}

/** Returns true if more may be waiting. */
static bool read_batch(tendon_bluez_radio *radio, uint64_t now) {
    uint8_t slots[BATCH][SLOT];
    struct iovec vectors[BATCH];
    struct mmsghdr messages[BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        vectors[i] = (struct iovec){.iov_base = slots[i], .iov_len = SLOT};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &vectors[i], .msg_iovlen = 1}};
    }
    int count = recvmmsg(radio->hci.fd, messages, BATCH, MSG_DONTWAIT, NULL);
    if (count < 0) {
        if (errno != EAGAIN && errno != EINTR) {
            tendon_bluez_fail(radio, tendon_bluez_socket_status(errno));
        }
        return false;
    }
    for (int i = 0; i < count && radio->opened && !tendon_bluez_failed(radio); i++) {
        size_t length = messages[i].msg_len;
        if (length > 0 && slots[i][0] == HCI_EVENT_PKT) {
            take_event(radio, slots[i] + 1, length - 1, now);
        } else if (length > 0 && slots[i][0] == HCI_COMMAND_PKT) {
            take_command(radio, slots[i] + 1, length - 1);
        }
    }
    return count == BATCH && radio->opened && !tendon_bluez_failed(radio);
}

/* All that has come: the management socket and the links, which are served after this one, then find what the
 * controller has said before. What it leads to is decided at the end of the step. */
void tendon_bluez_hci_ready(void *context, uint32_t events, uint64_t now) {
    tendon_bluez_radio *radio = context;
    (void)events;
    for (uint32_t batches = 0; batches < BATCHES_MAX && read_batch(radio, now); batches++) {
    }
}

#endif
