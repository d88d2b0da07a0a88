/* SPDX-License-Identifier: MIT */
/*
 * Tendon: Bluetooth LE wearables on Linux. The C ABI.
 *
 * Conventions, true everywhere unless a header says otherwise:
 *
 * - The caller owns all memory. A context is a struct of the caller's, prepared by its _init function (an _open
 *   function where it takes system resources, given back by _close). Sizes are known at compile time; there is no heap.
 * - No hidden state: two contexts never share anything, and every function is re-entrant. One context must not be used
 *   from two threads at once.
 * - Time is an argument: monotonic milliseconds, uint64_t. A deadline of UINT64_MAX means "never".
 * - Results are tendon_status: >= 0 is success (often a count or a length), < 0 an error that tells its layer.
 * - Pointers in a struct that a callback gets are lent for the callback. Pointers given to a function are borrowed for
 * the call unless its text says until when. NULL is legal only where the text says so.
 * - Callbacks get their context pointer first, run on the thread that runs the loop, and are never re-entered: a call
 * made from a callback does not call back before it returns, unless its text says so.
 * - Malformed input gives a status and, where there is an offset argument, the byte it was found at; it changes no
 * state.
 * - Unknown enum values and reserved bits are kept and reported.
 */
#ifndef TENDON_H
#define TENDON_H

#include "tendon/base.h"
#include "tendon/devices.h"
#include "tendon/host.h"
#include "tendon/linux.h"
#include "tendon/motion.h"
#include "tendon/simulate.h"
#include "tendon/version.h"
#if defined(TENDON_HAVE_BLUEZ)
#include "tendon/bluez.h"
#endif

#endif
