/* SPDX-License-Identifier: MIT */
/* What the benchmarks in Swift need in C: a device that notifies on demand, the two limits, clocks, the heap's counter.
 */
#ifndef TENDON_BENCH_PEER_H
#define TENDON_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * A device with one heart rate service (0x180D, characteristic 0x2A37) on the virtual radio in @p directory, on a
 * thread of its own: it answers the requests of every central from literal bytes and sends nothing by itself.
 * @return false: errno says why.
 */
bool bench_peer_start(const char *directory);

/** The link that subscribed as the @p number-th, from 0; waits for it. */
int bench_peer_link(unsigned number);

/**
 * Sends @p count notifications of 11 bytes. The time of the calling thread in here is what bench_fill_ns() sums up.
 * Ends the process when the socket takes no more.
 */
void bench_peer_fill(int link, size_t count);

/** CPU time of the process so far, without that of bench_peer_fill(). */
uint64_t bench_cpu_ns(void);

/** epoll_wait, then recv up to 32 times or until EAGAIN, @p fill packets in the socket at a time. */
void bench_bare_loop(size_t count, size_t fill);

/** tendon_connection with a callback in C, in a loop of its own on the calling thread. Connects when first called. */
void bench_c_callback(const char *directory, size_t count, size_t fill);

/** Prints @p count lines of a sample with these members into a buffer that is used again. @return bytes of all. */
size_t bench_printf_lines(const uint8_t *members, size_t length, size_t count);

/** Heap calls of this process so far. */
uint64_t bench_heap_calls(void);
/** Prints the stacks of the next @p calls heap calls on standard error. */
void bench_heap_trace(unsigned calls);

#endif
