/* SPDX-License-Identifier: MIT */
/*
 * Tendon: Bluetooth LE wearables on Linux. The C ABI.
 *
 * Conventions, true everywhere unless a header says otherwise:
 *
 * - The caller owns all memory. A context is a struct in the caller's memory. Its _init function prepares it. If a
 * context takes system resources, its _open function prepares it and its _close function releases them. Sizes are known
 * at compile time; no function uses the heap.
 * - No hidden state: two contexts never share anything, and every function is re-entrant. Two threads must not use one
 * context at the same time.
 * - Time is an argument: monotonic milliseconds, uint64_t.
 * - Results are tendon_status: >= 0 is success (often a count or a length), < 0 is an error with the layer that
 * reported it.
 * - Pointers in a struct that is passed to a callback are lent for the callback. A function borrows the pointers that
 * it receives until it returns, unless its text states a longer time. NULL is permitted only where the text states it.
 * - A callback receives its context pointer as the first argument, and runs on the thread that runs the loop. A
 * function that is called from a callback does not call a callback before it returns, unless its text states it.
 * - Malformed input returns an error and changes no state. A function with an offset argument also returns the offset
 * of the first wrong byte.
 * - Unknown enum values and reserved bits are kept and reported.
 *
 * Words with one meaning in all headers:
 *
 * - Lent: a pointer that Tendon passes to the caller. It is valid until the callback returns, or as long as the text
 * states; the caller copies what it needs longer.
 * - Borrowed: a pointer that the caller passes to Tendon. The memory must stay valid and unchanged until the function
 * returns, or as long as the text states.
 * - Sans I/O: without input and output. Such code calls no operating system; the caller passes the received bytes and
 * the time in, and sends the bytes that come out. All components except linux, tools and fleet are sans I/O.
 * - Codec: the functions that decode the values of one protocol from bytes and encode them to bytes, without state.
 * - Session: the state machine of one device. It receives connection changes, GATT results and the time, and issues
 * GATT requests and events.
 * - Deadline and tick: a state machine returns from its _deadline function the monotonic time of its next timer;
 * UINT64_MAX means "never". The caller calls its _tick function at or after that time.
 * - Connection and link: a connection is the state of two connected devices. The type tendon_link is the transport of
 * one ATT bearer over a connection.
 * - Family: the devices of one vendor that share a protocol, for example "bose".
 */
#ifndef TENDON_H
#define TENDON_H

#include "tendon/base.h"
#include "tendon/definition.h"
#include "tendon/devices.h"
#include "tendon/fleet.h"
#include "tendon/gateway.h"
#include "tendon/host.h"
#include "tendon/linux.h"
#include "tendon/motion.h"
#include "tendon/osc.h"
#include "tendon/replay.h"
#include "tendon/simulate.h"
#include "tendon/tools.h"
#include "tendon/version.h"
#if defined(TENDON_HAVE_BLUEZ)
#include "tendon/bluez.h"
#include "tendon/tools/monitor.h"
#endif

#endif
