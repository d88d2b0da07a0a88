/* SPDX-License-Identifier: MIT */
/* A link end that records its callbacks. */
#ifndef LINK_FIXTURE_H
#define LINK_FIXTURE_H

#include "tendon/linux.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** Steps until @p condition, 2000 ms at most; fails the test otherwise. */
#define STEP_UNTIL(loop, condition)                                                                                    \
    do {                                                                                                               \
        uint64_t limit_ = tendon_monotonic_ms() + 2000;                                                                \
        while (!(condition) && tendon_monotonic_ms() < limit_) {                                                       \
            assert_int_equal(tendon_loop_step((loop), limit_), TENDON_OK);                                             \
        }                                                                                                              \
        assert_true(condition);                                                                                        \
    } while (0)

typedef enum link_action { LINK_KEEP = 0, LINK_CLOSE, LINK_RECONNECT } link_action;

typedef struct link_end {
    tendon_link link;
    int connected, received, writable, bonded, closed;
    tendon_status reason;
    bool inside; /**< one of our own calls to the link runs: no callback may come */
    link_action on_connected, on_received;
    tendon_radio *reconnect;   /**< in closed(): connect to the same peer again, once */
    uint32_t next, misordered; /**< counting PDUs: 4 bytes, little-endian */
    uint8_t last[600];
    size_t last_length;
} link_end;

void link_end_init(link_end *end);
tendon_status link_end_send(link_end *end, const void *bytes, size_t length);
void link_end_close(link_end *end);

#endif
