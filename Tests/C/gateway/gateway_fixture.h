/* SPDX-License-Identifier: MIT */
/* Lines for tests. */
#ifndef GATEWAY_FIXTURE_H
#define GATEWAY_FIXTURE_H

#include "test_bytes.h"

#include "tendon/gateway.h"

/* Writes one line; its result as of tendon_line_end(), or 0. */
typedef tendon_status (*writes_line)(tendon_line *line, void *context);

/*
 * Writes a line into a block of exactly its size, and into each smaller one, in which it must be given up. Returns it
 * without its line feed; "" if there is none. Static memory, until the next call.
 */
const char *whole_line(writes_line write, void *context, bool is_exact);

/* The same without what all lines of the tests begin with: {"time":"1970-01-01T00:00:00.000000Z","event": */
const char *line_of(writes_line write, void *context);

#endif
