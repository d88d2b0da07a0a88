/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands and events of the HCI raw socket. One command of ours is in flight
 * at a time; scan.c and advertise.c say which one comes next.
 */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

#include <errno.h>
#include <sys/socket.h>

/** Packets read per wake-up at most, one recvmmsg. */
#define BATCH 16
/** Such reads before a command counts as not answered. */
#define DRAIN_ROUNDS 256
/** H4 type, event code, length, 255 parameters; commands of others are a little longer. */
#define SLOT 264
/** How long a controller that reported a hardware error is left alone: the kernel resets it, off and on again. */
#define RESET_REST_MS 500u
#define RESET_LIMIT_MS 10000u
#define REFUSED_SENDS_MAX 10
#define REFUSED_REST_MS 200u

void tendon_bluez_fail(tendon_bluez_radio *radio, tendon_status status) {
    if (radio->failed || !radio->opened) {
        return;
    }
    radio->failed = true;
    radio->failure = status;
    radio->scan.wanted = radio->advertising.wanted = false;
    radio->command = 0;
    tendon_loop_remove(radio->radio.loop, &radio->hci);
    tendon_loop_remove(radio->radio.loop, &radio->management);
    for (size_t i = 0; i < TENDON_BLUEZ_ATTEMPTS; i++) {
        if (radio->attempts[i] != NULL) {
            tendon_socket_link_fail(radio->attempts[i], status);
        }
    }
    radio->timer.deadline = 0; /* told from the loop, for this may be a call of the owner's */
}

static void tell(tendon_bluez_radio *radio, tendon_status *status, uint64_t now) {
    tendon_status what = *status;
    *status = TENDON_OK;
    if (what < 0 && radio->opened && radio->radio.on_failure != NULL) {
        radio->radio.on_failure(radio->radio.report_context, what, now);
    }
}

void tendon_bluez_timer_expired(void *context, uint64_t now) {
    tendon_bluez_radio *radio = context;
    radio->timer.deadline = UINT64_MAX;
    if (radio->failed) {
        tendon_status status = radio->told ? TENDON_OK : radio->failure;
        radio->told = true;
        radio->radio.scanning = false;
        tell(radio, &status, now);
        return;
    }
    if (radio->reset_down && now >= radio->reset_until) {
        tendon_bluez_fail(radio, tendon_bluez_why_off(radio->index));
        return; /* told in this step's next round: the deadline is set */
    }
    radio->radio.scanning = radio->radio.scanning && radio->scan.refusal == TENDON_OK;
    tell(radio, &radio->scan.refusal, now);
    tell(radio, &radio->advertising.refusal, now);
    tendon_bluez_step(radio);
    tendon_bluez_connect_waiting(radio);
}

void tendon_bluez_wake_at(tendon_bluez_radio *radio, uint64_t time) {
    if (time < radio->timer.deadline) {
        radio->timer.deadline = time;
    }
}

static bool send_command(int fd, const uint8_t *bytes, size_t length) {
    uint16_t opcode = (uint16_t)(bytes[0] | (unsigned)bytes[1] << 8);
    /* libbluetooth puts the type byte in front; the parameters are ours. */
    uint8_t parameters[255];
    memcpy(parameters, bytes + 3, length - 3);
    return hci_send_cmd(fd, cmd_opcode_ogf(opcode), cmd_opcode_ocf(opcode), (uint8_t)(length - 3), parameters) >= 0;
}

void tendon_bluez_send_and_forget(tendon_bluez_radio *radio, const tendon_bluez_command *command) {
    if (command->length > 0) {
        (void)send_command(radio->hci.fd, command->bytes, (size_t)command->length);
    }
}

void tendon_bluez_step(tendon_bluez_radio *radio) {
    if (radio->failed || !radio->opened || radio->command != 0 || radio->reset_down) {
        return;
    }
    tendon_bluez_command command = {.length = 0};
    bool advertises = false;
    tendon_bluez_scan_next(radio, tendon_now_ms(), &command);
    if (command.length == 0) {
        tendon_bluez_advertise_next(radio, &command);
        advertises = true;
    }
    if (command.length == 0) {
        return;
    }
    tendon_bluez_address_next(radio, &command);
    if (command.length < 0) {
        tendon_bluez_fail(radio, command.length); /* arguments are checked before: an error of our own */
        return;
    }
    if (!send_command(radio->hci.fd, command.bytes, (size_t)command.length)) {
        /* Off for a reset, or for good: the management socket is about to say which. */
        if (errno == ENETDOWN && radio->refused_sends < REFUSED_SENDS_MAX) {
            radio->refused_sends++;
            tendon_bluez_wake_at(radio, tendon_now_ms() + REFUSED_REST_MS);
            return;
        }
        tendon_bluez_fail(radio, tendon_bluez_socket_status(errno));
        return;
    }
    radio->refused_sends = 0;
    radio->command = (uint16_t)(command.bytes[0] | (unsigned)command.bytes[1] << 8);
    radio->command_advertises = advertises;
    radio->command_value = command.value;
    radio->counters.commands++;
    radio->hci.deadline = tendon_now_ms() + TENDON_BLUEZ_COMMAND_TIMEOUT_MS;
}

/** The command whose time is over is still the one in flight: the next one has a deadline of its own. */
static bool awaits(const tendon_bluez_radio *radio) {
    return radio->command != 0 && radio->hci.deadline == UINT64_MAX && !radio->failed;
}

void tendon_bluez_hci_expired(void *context, uint64_t now) {
    tendon_bluez_radio *radio = context;
    radio->hci.deadline = UINT64_MAX;
    /* A process that could not run for a while finds the answer in its socket, behind what came before it. */
    for (int i = 0; i < DRAIN_ROUNDS && awaits(radio); i++) {
        if (!tendon_bluez_wait_readable(radio->hci.fd, tendon_now_ms() + 1)) {
            break;
        }
        tendon_bluez_hci_ready(radio, TENDON_READABLE, now);
    }
    if (awaits(radio)) {
        tendon_bluez_fail(radio, TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    }
}

/** A command was answered with @p status: ours, or one of the kernel's or of another program. */
static void answered(tendon_bluez_radio *radio, uint16_t opcode, uint8_t status, uint64_t now) {
    if (opcode == 0) {
        return; /* only says how many commands the controller takes; the kernel counts them */
    }
    /* Commands are answered in their order and a foreign one was seen as it left, so its answer comes first. */
    if (opcode == radio->foreign_command) {
        radio->foreign_command = 0;
        tendon_bluez_scan_foreign_done(radio, status, now);
        return;
    }
    if (tendon_bluez_connects(opcode) && status != 0) {
        radio->connects_until = 0;
    }
    if (opcode != radio->command) {
        return; /* of the kernel: it has many that are not about scanning */
    }
    radio->command = 0;
    radio->hci.deadline = UINT64_MAX;
    if (opcode == TENDON_HCI_LE_SET_RANDOM_ADDRESS) {
        tendon_bluez_address_done(radio, status);
    } else if (radio->command_advertises) {
        tendon_bluez_advertise_done(radio, opcode, status);
    } else {
        tendon_bluez_scan_done(radio, opcode, status, now);
    }
}

static void command_complete(tendon_bluez_radio *radio, const tendon_hci_parameters *parameters, uint64_t now) {
    if (parameters->opcode == radio->command && parameters->length == 0) {
        radio->radio.malformed++; /* no status in the answer: as if it had not come, the watchdog ends it */
        return;
    }
    answered(radio, parameters->opcode, parameters->length > 0 ? parameters->data[0] : 0, now);
}

static void connected(tendon_bluez_radio *radio, const tendon_hci_parameters *parameters, uint64_t now) {
    if (parameters->status == 0 && parameters->role == 1) {
        tendon_bluez_advertise_connected(radio);
    } else if (parameters->status == 0) {
        tendon_bluez_note_connected(radio, now);
    } else {
        radio->connects_until = 0;
        radio->connect_failure = parameters->role == 0 ? parameters->status : radio->connect_failure;
    }
}

/** What was on is off; what was asked is never answered. */
static void forget_state(tendon_bluez_radio *radio) {
    radio->command = radio->foreign_command = 0;
    radio->hci.deadline = UINT64_MAX;
    radio->address_set = false;
    radio->connects_until = 0;
    tendon_bluez_scan_forget(radio);
    tendon_bluez_advertise_forget(radio);
}

static void hardware_error(tendon_bluez_radio *radio, uint64_t now) {
    forget_state(radio);
    radio->reset_until = now + RESET_LIMIT_MS;
    radio->scan.retry_at = now + RESET_REST_MS;
    tendon_bluez_wake_at(radio, radio->scan.retry_at);
}

/* The two sockets are read in any order: a hardware error may wait in the one while the other says off. */
static void read_what_waits(tendon_bluez_radio *radio, uint64_t now) {
    for (int i = 0; i < DRAIN_ROUNDS && now >= radio->reset_until && !radio->failed; i++) {
        if (!tendon_bluez_wait_readable(radio->hci.fd, tendon_now_ms() + 1)) {
            return;
        }
        tendon_bluez_hci_ready(radio, TENDON_READABLE, now);
    }
}

bool tendon_bluez_powered(tendon_bluez_radio *radio, bool powered, uint64_t now) {
    if (!powered) {
        read_what_waits(radio, now);
    }
    if (powered && radio->reset_down) {
        radio->reset_down = false;
        radio->reset_until = 0;
        radio->scan.retry_at = UINT64_MAX;
        tendon_bluez_wake_at(radio, now); /* all that is wanted is asked for again */
    } else if (!powered && now < radio->reset_until) {
        forget_state(radio);
        radio->reset_down = true;
        tendon_bluez_wake_at(radio, radio->reset_until);
        return true;
    }
    return powered;
}

static void event(tendon_bluez_radio *radio, const uint8_t *packet, size_t length, uint64_t now) {
    tendon_hci_event event;
    tendon_hci_parameters parameters;
    if (tendon_hci_event_decode(packet, length, &event, NULL) < 0) {
        radio->radio.malformed++;
        return;
    }
    if (event.code == TENDON_HCI_LE_META && (event.subevent == TENDON_HCI_LE_ADVERTISING_REPORT ||
                                             event.subevent == TENDON_HCI_LE_EXTENDED_ADVERTISING_REPORT)) {
        tendon_bluez_scan_reports(radio, &event, now);
        return;
    }
    tendon_status status = tendon_hci_decode(&event, &parameters, NULL);
    if (status < 0) {
        radio->radio.malformed += status != TENDON_ERROR_UNSUPPORTED;
        return;
    }
    switch (event.code) {
    case TENDON_HCI_COMMAND_COMPLETE:
        command_complete(radio, &parameters, now);
        break;
    case TENDON_HCI_COMMAND_STATUS:
        if (parameters.status != 0) { /* 0: pending; ours all end with Command Complete */
            answered(radio, parameters.opcode, parameters.status, now);
        }
        break;
    case TENDON_HCI_DISCONNECTION_COMPLETE:
        if (parameters.status == 0) {
            tendon_bluez_note_ending(radio, parameters.handle, parameters.reason, now);
            tendon_bluez_advertise_disconnected(radio);
        }
        break;
    case TENDON_HCI_HARDWARE_ERROR:
        hardware_error(radio, now);
        break;
    case TENDON_HCI_ENCRYPTION_CHANGE:
        if (parameters.status == 0 && parameters.enabled != 0 && radio->radio.bonds != NULL) {
            tendon_bluez_encrypted(radio, parameters.handle, now);
        }
        break;
    case TENDON_HCI_LE_META:
        if (event.subevent == TENDON_HCI_LE_CONNECTION_COMPLETE ||
            event.subevent == TENDON_HCI_LE_ENHANCED_CONNECTION_COMPLETE) {
            connected(radio, &parameters, now);
        }
        break;
    default:
        break;
    }
}

void tendon_bluez_hci_ready(void *context, uint32_t events, uint64_t now) {
    tendon_bluez_radio *radio = context;
    uint8_t slots[BATCH][SLOT];
    struct iovec vectors[BATCH];
    struct mmsghdr messages[BATCH];
    (void)events;
    memset(messages, 0, sizeof messages);
    for (size_t i = 0; i < BATCH; i++) {
        vectors[i] = (struct iovec){.iov_base = slots[i], .iov_len = SLOT};
        messages[i].msg_hdr.msg_iov = &vectors[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    int count = recvmmsg(radio->hci.fd, messages, BATCH, MSG_DONTWAIT, NULL);
    if (count < 0) {
        if (errno != EAGAIN && errno != EINTR) {
            tendon_bluez_fail(radio, tendon_bluez_socket_status(errno));
        }
        return;
    }
    for (int i = 0; i < count && radio->opened && !radio->failed; i++) {
        size_t length = messages[i].msg_len;
        if (length > 0 && slots[i][0] == HCI_EVENT_PKT) {
            event(radio, slots[i] + 1, length - 1, now);
        } else if (length > 0 && slots[i][0] == HCI_COMMAND_PKT) {
            tendon_bluez_scan_foreign_sent(radio, slots[i] + 1, length - 1);
        }
    }
    tendon_bluez_step(radio);
}

/** The return parameters of one Command Complete. */
static tendon_status exchange_reply(const uint8_t *packet, size_t length, uint16_t opcode, uint8_t *reply,
                                    size_t capacity) {
    tendon_hci_event event;
    tendon_hci_parameters parameters;
    if (length < 1 || packet[0] != HCI_EVENT_PKT || tendon_hci_event_decode(packet + 1, length - 1, &event, NULL) < 0 ||
        (event.code != TENDON_HCI_COMMAND_COMPLETE && event.code != TENDON_HCI_COMMAND_STATUS) ||
        tendon_hci_decode(&event, &parameters, NULL) < 0 || parameters.opcode != opcode) {
        return TENDON_ERROR_INCOMPLETE;
    }
    if (event.code == TENDON_HCI_COMMAND_STATUS) {
        return parameters.status != 0 ? TENDON_HCI_ERROR(parameters.status) : TENDON_ERROR_INCOMPLETE;
    }
    if (parameters.length < 1 || parameters.data[0] != 0) {
        return parameters.length < 1 ? TENDON_ERROR_TRUNCATED : TENDON_HCI_ERROR(parameters.data[0]);
    }
    size_t kept = parameters.length - 1 < capacity ? parameters.length - 1 : capacity;
    memcpy(reply, parameters.data + 1, kept);
    return (tendon_status)kept;
}

tendon_status tendon_bluez_exchange(int fd, uint16_t opcode, uint8_t *reply, size_t capacity) {
    uint8_t packet[SLOT] = {0};
    tendon_status length = tendon_hci_command_plain(opcode, packet, sizeof packet);
    if (length < 0) {
        return length;
    }
    if (!send_command(fd, packet, (size_t)length)) {
        return tendon_bluez_socket_status(errno);
    }
    uint64_t until = tendon_now_ms() + TENDON_BLUEZ_COMMAND_TIMEOUT_MS;
    while (tendon_bluez_wait_readable(fd, until)) {
        ssize_t got = recv(fd, packet, sizeof packet, 0);
        if (got < 0 && errno != EAGAIN && errno != EINTR) {
            return tendon_bluez_socket_status(errno);
        }
        tendon_status status =
            got < 0 ? TENDON_ERROR_INCOMPLETE : exchange_reply(packet, (size_t)got, opcode, reply, capacity);
        if (status != TENDON_ERROR_INCOMPLETE) {
            return status;
        }
    }
    return TENDON_RADIO_ERROR_COMMAND_TIMEOUT;
}

#else
typedef int tendon_bluez_command_nothing; /* ISO C wants a declaration in every file */
#endif
