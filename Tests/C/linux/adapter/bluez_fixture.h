/* SPDX-License-Identifier: MIT */
/*
 * A radio over the kernel of fake_kernel.h whose two sockets end in this test: the controller and the management
 * interface are scripted, packet by packet.
 */
#ifndef BLUEZ_FIXTURE_H
#define BLUEZ_FIXTURE_H

#include "../../../../CSources/linux/adapter/adapter_parts.h"
#include "../link_fixture.h"
#include "fake_kernel.h"
#include "privileges.h"

typedef struct bluez_bench {
    tendon_loop loop;
    tendon_bluez_radio radio;
    int controller, kernel; /**< our ends of the two sockets */
    int failures;           /**< calls of on_failure */
    tendon_status failure;
    unsigned reports;
} bluez_bench;

/** Adapter 7 at 100 s of the fake kernel's clock; it is not known whether other programs use it. */
bluez_bench *bluez_open(bool extended, const tendon_address *own);
/** Closes the radio; fails the test if this process has anything of the kernel open then. */
void bluez_close(bluez_bench *b);
/** The other end of the latest Bluetooth socket. */
int bluez_far_end(void);
/** The end of a step of the loop: the radio acts upon what has changed. */
void bluez_settle(bluez_bench *b);
/** The next command that the controller was given must have this opcode. @return its parameters, lent. */
const uint8_t *bluez_expect(bluez_bench *b, uint16_t opcode);
void bluez_expect_nothing(bluez_bench *b);
/** An event into the radio's socket; the radio has not read it yet. */
void bluez_event(bluez_bench *b, uint8_t code, const void *parameters, size_t length);
/** Command Complete, not read yet. */
void bluez_complete(bluez_bench *b, uint16_t opcode, uint8_t status);
/** New Settings: on or off; not read yet. */
void bluez_settings(bluez_bench *b, bool powered);
/** A step of the loop: the radio reads what waits in both sockets, and acts upon it. */
void bluez_read(bluez_bench *b);
/** The same with a link, which the loop serves after them. */
void bluez_link_ready(bluez_bench *b, tendon_link *link, uint32_t events);
/** expect(), complete() and read(). @return the parameters. */
const uint8_t *bluez_answer(bluez_bench *b, uint16_t opcode, uint8_t status);
/** Strikes the radio's timer. */
void bluez_tick(bluez_bench *b, uint64_t now);

/* Sequences that several tests share. */

/** An adapter with a public address, and the static random one that an adapter without it is given. */
extern const tendon_address bluez_public_address, bluez_random_address;
extern const uint8_t bluez_random_wire[6];
/** The commands that enable scanning and advertising: of the legacy set, and of the extended one. */
extern const uint16_t bluez_scan_parameters[2], bluez_scan_enable[2], bluez_advertising_parameters[2],
    bluez_advertising_data[2], bluez_scan_response_data[2], bluez_advertising_enable[2];

void bluez_start_scan(bluez_bench *b);
void bluez_start_advertising(bluez_bench *b);
/** Opened, and scanning is on. */
bluez_bench *bluez_scanning(bool extended, const tendon_address *own);
/** As start_scan() and start_advertising(), whatever the result; a scan is started again. */
void bluez_request_scan(bluez_bench *b);
void bluez_request_advertising(bluez_bench *b);
/** Command Complete for the command in flight; the radio reads it. */
void bluez_answer_pending(bluez_bench *b, uint8_t status);
/** The management interface was asked nothing. */
void bluez_expect_no_management(bluez_bench *b);
/** The command in flight gets no response in time; then the timer expires. */
void bluez_expire_command(bluez_bench *b);
/** Discards the commands so far. */
void bluez_drain_commands(bluez_bench *b);
/** Read by the radio immediately. */
void bluez_hardware_error(bluez_bench *b);
void bluez_power(bluez_bench *b, bool on);
/** A command of another program, or of the kernel, with this parameter and a zero, as the raw socket shows it. */
void bluez_other_sends(bluez_bench *b, uint16_t opcode, uint8_t parameter);
/** The same, and it succeeds. */
void bluez_other_command(bluez_bench *b, uint16_t opcode, uint8_t parameter);
/** LE Enable Encryption of the kernel with a key, or as many bytes of its parameters, as the raw socket shows it; not
 * read yet. */
void bluez_kernel_encrypts(bluez_bench *b, uint16_t handle, const uint8_t key[16], size_t length);
/** The kernel says that it discovers devices, or no more; not read yet. */
void bluez_discovering(bluez_bench *b, uint8_t on);
/** Whether the next management command is Stop Discovery of LE, both types of address. */
bool bluez_stops_discovery(bluez_bench *b);
/** A scan is taken over: the kernel is asked to stop a discovery of either kind, and has none. */
void bluez_has_no_discovery(bluez_bench *b);

#endif
