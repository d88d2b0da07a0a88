/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of this folder. */
#ifndef TENDON_BLUEZ_INTERNAL_H
#define TENDON_BLUEZ_INTERNAL_H

#include "../pairing.h"
#include "../socket_link.h"
#include "tendon/bluez.h"

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
#include <bluetooth/l2cap.h>

/** HCI error codes (Core Spec Vol 1 Part F) that decide what happens next. */
enum { HCI_COMMAND_DISALLOWED_ERROR = 0x0C, HCI_FAILED_TO_BE_ESTABLISHED = 0x3E };

/** One buffer for a command. */
typedef struct tendon_bluez_command {
    uint8_t bytes[TENDON_HCI_COMMAND_MAX];
    tendon_status length; /**< 0: nothing to send; < 0: cannot be encoded */
    uint8_t value;        /**< of an enable command */
} tendon_bluez_command;

/* socket.c: sockets of this family, all CLOEXEC and NONBLOCK. */
/** @return a descriptor bound to a channel of the HCI family, or a status. */
tendon_status tendon_bluez_channel_socket(uint16_t index, uint16_t channel);
/** errno of socket(), bind() and the like as a status. */
tendon_status tendon_bluez_socket_status(int number);
/** "hci7" is 7; -1: something else. */
int tendon_bluez_parse_name(const char *name);
/** A receive buffer that outlasts a busy moment of the process. */
void tendon_bluez_set_buffer(int fd);
/** Packets that the kernel dropped because the receive buffer was full. */
uint32_t tendon_bluez_dropped(int fd);
/** Waits until the socket is readable; false when @p until passed first. */
bool tendon_bluez_wait_readable(int fd, uint64_t until);
/**
 * HCI sockets that other processes, or other radios, have open; -1: unknown.
 * @param index without those that radios have open for other adapters than this one; -1: all.
 */
int tendon_bluez_other_sockets(int own_fd, int own_other_fd, int index);
/** Those that may be about the radio's adapter. 0: what the controller does it was told by a program that has ended. */
int tendon_bluez_users(const tendon_bluez_radio *radio);
/** Tells other radios which adapter @p fd is about, until what is returned is closed; -1: it could not be told. */
int tendon_bluez_lease(int fd, uint16_t index);

/* manage.c: blocking exchanges, used while opening only. */
/** @return the length of the return parameters (at @p reply, at most @p capacity), or a status. */
tendon_status tendon_bluez_manage(int fd, uint16_t opcode, uint16_t index, const uint8_t *data, size_t length,
                                  uint8_t *reply, size_t capacity);
tendon_status tendon_bluez_manage_mode(int fd, uint16_t opcode, uint16_t index, uint8_t mode, uint32_t *settings);
/** Any command that is answered by the adapter's settings. */
tendon_status tendon_bluez_manage_settings(int fd, uint16_t opcode, uint16_t index, const uint8_t *data, size_t length,
                                           uint32_t *settings);
/** Adapters with what the management interface knows, in order of their index; see tendon_bluez_list(). */
tendon_status tendon_bluez_read_adapters(int fd, tendon_bluez_adapter *adapters, size_t capacity);
/** Sets blocked and hard_blocked. */
void tendon_bluez_read_blocks(tendon_bluez_adapter *adapter);
/** A status byte of the management interface as a status. */
tendon_status tendon_bluez_management_status(uint8_t status);

/* command.c */
/** Sends what is to be done next, if nothing is in flight. */
void tendon_bluez_step(tendon_bluez_radio *radio);
/** The radio is unusable from now on: attempts end with @p status, on_failure is told from the loop. */
void tendon_bluez_fail(tendon_bluez_radio *radio, tendon_status status);
/** What a command that was refused with this HCI code means to the owner. */
static inline tendon_status tendon_bluez_refusal(uint8_t code) {
    return code == HCI_COMMAND_DISALLOWED_ERROR ? TENDON_RADIO_ERROR_ADAPTER_BUSY : TENDON_HCI_ERROR(code);
}
/** The adapter is on or off. False: off for good, not for a reset. */
bool tendon_bluez_powered(tendon_bluez_radio *radio, bool powered, uint64_t now);
/** timer_expired() not later than @p time. */
void tendon_bluez_wake_at(tendon_bluez_radio *radio, uint64_t time);
/** Tells refusals and the end of the radio, then steps. */
void tendon_bluez_timer_expired(void *context, uint64_t now);
/** One command and its answer, blocking. @return the length of the return parameters after the status byte. */
tendon_status tendon_bluez_exchange(int fd, uint16_t opcode, uint8_t *reply, size_t capacity);
void tendon_bluez_hci_ready(void *context, uint32_t events, uint64_t now);
void tendon_bluez_hci_expired(void *context, uint64_t now);
/** Writes a command without waiting for its answer; for closing. */
void tendon_bluez_send_and_forget(tendon_bluez_radio *radio, const tendon_bluez_command *command);

/* open.c */
/** An unopened radio without sockets. */
void tendon_bluez_prepare(tendon_bluez_radio *radio, tendon_loop *loop);
/** The radio has its two sockets: the loop watches them from now on. */
tendon_status tendon_bluez_begin(tendon_bluez_radio *radio);
/** Takes what waits in the management socket. */
void tendon_bluez_read_management(tendon_bluez_radio *radio);
/** What is told when the adapter is off. */
tendon_status tendon_bluez_why_off(uint16_t index);
/** Sets the filter of a raw socket and checks that the kernel kept all of it. */
tendon_status tendon_bluez_set_filter(int fd);

/* address.c */
/** The static random address for adapter @p index of the machine whose identity has this hash. */
tendon_address tendon_bluez_static_address_from(uint64_t hash, uint16_t index);
/** That of this machine; always the same. */
tendon_address tendon_bluez_static_address(uint16_t index);
/** Before the adapter is switched on: gives the kernel the static address, where there is to be one. */
tendon_status tendon_bluez_settle_address(tendon_bluez_radio *radio, const tendon_bluez_adapter *adapter,
                                          uint32_t *settings);
bool tendon_bluez_address_is_random(const tendon_bluez_radio *radio);
/** Puts LE Set Random Address in the place of the first command. */
void tendon_bluez_address_next(const tendon_bluez_radio *radio, tendon_bluez_command *out);
void tendon_bluez_address_done(tendon_bluez_radio *radio, uint8_t status);

/** A command of the management socket whose answer comes as an event. */
tendon_status tendon_bluez_management_send(tendon_bluez_radio *radio, uint16_t opcode, const uint8_t *data,
                                           size_t length);

/* discovery.c */
void tendon_bluez_discovery_event(tendon_bluez_radio *radio, const tendon_management_event *event);
/** Our scan may be off now: ends the search that the kernel takes it for. */
void tendon_bluez_discovery_settle(tendon_bluez_radio *radio);
/** Likewise, for closing. */
void tendon_bluez_discovery_close(tendon_bluez_radio *radio);
/** Ends what a program that died has left; refused where there is nothing. */
void tendon_bluez_discovery_recover(tendon_bluez_radio *radio);

/* scan.c */
bool tendon_bluez_scan_idle(const tendon_bluez_radio *radio);
void tendon_bluez_scan_next(tendon_bluez_radio *radio, uint64_t now, tendon_bluez_command *out);
void tendon_bluez_scan_done(tendon_bluez_radio *radio, uint16_t opcode, uint8_t status, uint64_t now);
/** A scan command that is not ours: as it is sent, and when it is answered. */
void tendon_bluez_scan_foreign_sent(tendon_bluez_radio *radio, const uint8_t *packet, size_t length);
void tendon_bluez_scan_foreign_done(tendon_bluez_radio *radio, uint8_t status, uint64_t now);
void tendon_bluez_scan_reports(tendon_bluez_radio *radio, const tendon_hci_event *event, uint64_t now);
/** The controller forgot everything (it was reset). */
void tendon_bluez_scan_forget(tendon_bluez_radio *radio);
void tendon_bluez_scan_disable(const tendon_bluez_radio *radio, tendon_bluez_command *out);
tendon_status tendon_bluez_scan_start(tendon_radio *radio, const tendon_scan_parameters *parameters);
tendon_status tendon_bluez_scan_stop(tendon_radio *radio);
void tendon_bluez_scan_held(tendon_radio *radio);

/* advertise.c */
void tendon_bluez_advertise_next(tendon_bluez_radio *radio, tendon_bluez_command *out);
void tendon_bluez_advertise_done(tendon_bluez_radio *radio, uint16_t opcode, uint8_t status);
void tendon_bluez_advertise_connected(tendon_bluez_radio *radio);
void tendon_bluez_advertise_disconnected(tendon_bluez_radio *radio);
void tendon_bluez_advertise_forget(tendon_bluez_radio *radio);
void tendon_bluez_advertise_disable(const tendon_bluez_radio *radio, tendon_bluez_command *out);
tendon_status tendon_bluez_advertise_start(tendon_radio *radio, const tendon_advertise_parameters *parameters);
tendon_status tendon_bluez_advertise_stop(tendon_radio *radio);

/* links.c */
/** Connects that may start now, for scanning is off and the last connection has ended, do. */
void tendon_bluez_connect_waiting(tendon_bluez_radio *radio);
/** The kernel's commands to connect; we have none. */
static inline bool tendon_bluez_connects(uint16_t opcode) {
    return opcode == TENDON_HCI_OPCODE(0x08, 0x00D) || opcode == TENDON_HCI_OPCODE(0x08, 0x043);
}
/** The controller has made a connection, as central; the kernel still has to look at the peer before it tells. */
void tendon_bluez_note_connected(tendon_bluez_radio *radio, uint64_t now);
/** A link ended. */
void tendon_bluez_note_ending(tendon_bluez_radio *radio, uint16_t handle, uint8_t cause, uint64_t now);
tendon_status tendon_bluez_connect(tendon_radio *radio, tendon_link *link, const tendon_address *peer,
                                   uint64_t deadline);
tendon_status tendon_bluez_listen(tendon_radio *radio, tendon_listener *listener);
void tendon_bluez_link_close(tendon_link *link);
void tendon_bluez_unlisten(tendon_radio *radio, tendon_listener *listener);

/* keys.c */
tendon_status tendon_bluez_use_bonds(tendon_radio *radio);
/** The store has keys of this adapter, which no other process may remove from the kernel. */
void tendon_bluez_keys_stored(tendon_bluez_radio *radio);

/* pairing.c */
tendon_status tendon_bluez_set_pairable(tendon_radio *radio, bool pairable);
tendon_status tendon_bluez_pair(tendon_radio *radio, tendon_link *link);
void tendon_bluez_pair_cancel(tendon_radio *radio, const tendon_link *link);
tendon_status tendon_bluez_unpair(tendon_radio *radio, const tendon_address *peer);
/** The controller encrypts this connection from now on. */
void tendon_bluez_encrypted(tendon_bluez_radio *radio, uint16_t handle, uint64_t now);
bool tendon_bluez_is_encrypted(const tendon_link *link);
/** Encrypts a new link to a bonded peer; false: it is none, or encrypted already. */
bool tendon_bluez_secure(tendon_link *link);
/** An event of the management socket about our adapter. */
void tendon_bluez_pairing_event(tendon_bluez_radio *radio, const tendon_management_event *event, uint64_t now);

#endif
