/* SPDX-License-Identifier: MIT */
/*
 * Event loop on epoll. One thread; no heap; no idle wake-ups: it sleeps until a
 * descriptor is ready or the earliest deadline of its sources.
 */
#ifndef TENDON_LINUX_LOOP_H
#define TENDON_LINUX_LOOP_H

#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tendon_loop tendon_loop;
typedef struct tendon_source tendon_source;

/** Bits of tendon_source.interest and of the events passed to ready(). */
enum { TENDON_READABLE = 1, TENDON_WRITABLE = 2, TENDON_HANGUP = 4 };

/** Something the loop watches: a descriptor, a deadline, or both. Owned by the caller; must stay while added. */
struct tendon_source {
    int fd; /**< -1: only a deadline */
    uint32_t interest;
    uint64_t deadline; /**< monotonic ms; UINT64_MAX: none. May be changed at any time from the loop's thread. */
    void *context;
    void (*ready)(void *context, uint32_t events, uint64_t now);
    void (*expired)(void *context, uint64_t now); /**< called when the deadline passed; it sets the next deadline */
    tendon_source *next;                          /**< used by the loop, like the members below */
    bool added;
    bool watched; /**< fd is registered with epoll */
    int8_t order; /**< set by the owner: of sources that are ready in one step, the lowest is served first; usually 0 */
};

/** Must not be moved between init and close. */
struct tendon_loop {
    int epoll_fd;
    int wake_fd; /**< eventfd */
    tendon_source wake;
    tendon_source *sources;
    tendon_source *cursor; /**< next source while deadlines are dispatched */
    tendon_source **batch; /**< ready sources not dispatched yet; NULL outside of tendon_loop_step() */
    bool stepping;         /**< true while a step calls callbacks */
    int batch_count;
    bool stopping;
    uint64_t wakeups; /**< returns of epoll_wait since init; for tests and benchmarks */
    void *on_wake_context;
    void (*on_wake)(void *context, uint64_t now);
};

/** Returns the time of CLOCK_MONOTONIC in milliseconds, the time base of Tendon. */
uint64_t tendon_monotonic_ms(void);

/** Size of tendon_loop, for callers that cannot use sizeof. */
size_t tendon_loop_size(void);
/** Returns epoll_fd, for the same. */
int tendon_loop_descriptor(const tendon_loop *loop);

tendon_status tendon_loop_init(tendon_loop *loop);
void tendon_loop_close(tendon_loop *loop);

/** Sets up a source with no interest and no deadline. */
void tendon_source_init(tendon_source *source, int fd, void *context,
                        void (*ready)(void *context, uint32_t events, uint64_t now),
                        void (*expired)(void *context, uint64_t now));
/** Adds a source. TENDON_ERROR_WRONG_STATE if it is already added. */
tendon_status tendon_loop_add(tendon_loop *loop, tendon_source *source);
/** Changes the interest of an added source. ready() receives TENDON_HANGUP even if the interest of the source is 0. */
tendon_status tendon_loop_update(tendon_loop *loop, tendon_source *source, uint32_t interest);
/**
 * Removes a source. May be called from any callback, also for another source that is ready in the same batch. Call it
 * before the descriptor is closed. Does nothing if the source is not added.
 */
void tendon_loop_remove(tendon_loop *loop, tendon_source *source);

/**
 * Earliest deadline of all sources, monotonic ms; UINT64_MAX: none. For a program that drives the loop from another
 * event loop: it calls tendon_loop_step(loop, 0) when loop->epoll_fd is readable and when this time is reached, and
 * asks again after each step and after each call that may change a deadline.
 */
uint64_t tendon_loop_deadline(const tendon_loop *loop);

/**
 * Waits once, at most until @p until (monotonic ms; UINT64_MAX: no limit; 0: not at all), and calls the callbacks of
 * the sources that are ready or whose deadline passed.
 * @return TENDON_OK; TENDON_ERROR_WRONG_STATE: called from within a callback of this loop, nothing was done;
 * TENDON_SYSTEM_ERROR(errno).
 */
tendon_status tendon_loop_step(tendon_loop *loop, uint64_t until);
/**
 * Steps until tendon_loop_stop(), or @p until. Returns what tendon_loop_step() returned last. The clock is read once a
 * wake-up: a deadline can be late by the time that the callbacks of the wake-up before it took.
 */
tendon_status tendon_loop_run(tendon_loop *loop, uint64_t until);
/** Ends tendon_loop_run() after the present step, or the next tendon_loop_run() immediately. Call it on the loop's
 * thread. */
void tendon_loop_stop(tendon_loop *loop);

/** Requests a call of on_wake on the loop's thread. May be called from any thread or signal handler. Several requests
 * can result in one call. */
void tendon_loop_wake(tendon_loop *loop);
void tendon_loop_on_wake(tendon_loop *loop, void (*on_wake)(void *context, uint64_t now), void *context);

#ifdef __cplusplus
}
#endif
#endif
