/* SPDX-License-Identifier: MIT */
/*
 * Connection parameters: how often central and peripheral exchange data, how many of these events the peripheral may
 * leave out, and how long a connection lives without one (Core Specification Vol 6 Part B 4.5.1 and 4.5.2; units and
 * ranges: Vol 4 Part E 7.8.12). A short interval costs both batteries; a long one costs time: a discovery of 20 round
 * trips takes 0.4 s at 15 ms and 2.5 s at 100 ms, as each takes one or two intervals. PHY (4.6.8 and 4.6.9) and data
 * length (4.5.10) say how fast one packet is transmitted, how far it gets, and how much it carries.
 */
#ifndef TENDON_HOST_CONNECTION_PARAMETERS_H
#define TENDON_HOST_CONNECTION_PARAMETERS_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** PHYs, by the numbers that events and advertising reports have (Vol 4 Part E 7.7.65.12). */
enum { TENDON_PHY_1M = 1, TENDON_PHY_2M = 2, TENDON_PHY_CODED = 3 };

/** What a central asks its controller for. */
typedef struct tendon_connection_parameters {
    uint16_t min_interval; /**< 6 to 3200, in 1.25 ms: 7.5 ms to 4 s */
    uint16_t max_interval; /**< >= min_interval */
    uint16_t latency;      /**< 0 to 499 connection events that the peripheral may leave out */
    uint16_t timeout;      /**< supervision timeout, 10 to 3200, in 10 ms */
    /** Longest payload of one sent packet over the air (data length), 27 to 251; 0: the controller's default, which the
     * kernel has set to its maximum. */
    uint16_t tx_octets;
    uint8_t phy; /**< TENDON_PHY_... of both directions; 0: the one that the connection is made on */
} tendon_connection_parameters;

/** What a connection has. */
typedef struct tendon_connection_timing {
    uint16_t interval;             /**< 1.25 ms; 0: not known */
    uint16_t latency;              /**< connection events */
    uint16_t timeout;              /**< 10 ms */
    uint8_t tx_phy, rx_phy;        /**< TENDON_PHY_...; 0: not known */
    uint16_t tx_octets, rx_octets; /**< longest payload of one data packet over the air, 27 to 251; 0: not known */
} tendon_connection_timing;

/** Whether all values are in range, and the supervision timeout is longer than (1 + latency) * max_interval * 2. */
bool tendon_connection_parameters_valid(const tendon_connection_parameters *parameters);

/**
 * Plans the intervals of @p links connections of one adapter that all have these parameters. Both intervals are raised
 * to where an event of each connection fits between two events of the same one: 2.5 ms for each, with LE Coded 18.75
 * ms. That is one packet of 251 bytes (2120 us with LE 1M, 17040 us with LE Coded: Vol 6 Part B 4.5.10), an empty one
 * (2.1 and 2.2), and two times 150 us (4.1.1), in steps of 1.25 ms. The supervision timeout is raised where it has to
 * be. Four connections with "fast" have 10 to 15 ms then, eight 20 ms. A controller can arrange its events in another
 * way: what it has granted is in tendon_connection_timing.
 * @param links 1 or more
 * @return TENDON_OK; TENDON_ERROR_INVALID_ARGUMENT: no link, parameters that are not valid, or no interval is long
 * enough (4 s: 1600 links). Nothing is changed then.
 */
tendon_status tendon_connection_parameters_plan(tendon_connection_parameters *parameters, size_t links);

/**
 * Parses the name of a profile, whose values are our design, or MIN-MAX[,LATENCY[,TIMEOUT]]; then [,phy=PHY]
 * [,length=OCTETS][,links=COUNT]. "fast", 7.5 to 15 ms: motion and gestures without delay. "balanced", 30 to 50 ms:
 * values several times a second. "low-power", 100 to 125 ms and latency 2: values now and then. Of the other form: the
 * intervals in ms in steps of 1.25 ("7.5-15"), the latency in events (0 if absent), the supervision timeout in ms in
 * steps of 10 (absent: 4000, or six times the longest silence that the other values allow, at most 32000). PHY is 1m,
 * 2m or coded; OCTETS 27 to 251. COUNT: as by tendon_connection_parameters_plan().
 * @param offset first wrong character; the length, if the values are not permitted together. May be NULL.
 * @return TENDON_OK; TENDON_ERROR_MALFORMED; TENDON_ERROR_INVALID_ARGUMENT: out of range. @p out is unchanged then.
 */
tendon_status tendon_connection_parameters_parse(const char *text, size_t length, tendon_connection_parameters *out,
                                                 size_t *offset);

#ifdef __cplusplus
}
#endif
#endif
