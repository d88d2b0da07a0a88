/* SPDX-License-Identifier: MIT */
#include "tendon/linux/loop.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/** Sources dispatched per wake-up at most; the rest is still ready at the next one. */
#define BATCH 32

uint64_t tendon_monotonic_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000u + (uint64_t)time.tv_nsec / 1000000u;
}

static uint32_t to_epoll(uint32_t interest) {
    return ((interest & TENDON_READABLE) != 0 ? (uint32_t)EPOLLIN | (uint32_t)EPOLLRDHUP : 0u) |
           ((interest & TENDON_WRITABLE) != 0 ? (uint32_t)EPOLLOUT : 0u);
}

static uint32_t from_epoll(uint32_t events) {
    return ((events & (uint32_t)EPOLLIN) != 0 ? (uint32_t)TENDON_READABLE : 0u) |
           ((events & (uint32_t)EPOLLOUT) != 0 ? (uint32_t)TENDON_WRITABLE : 0u) |
           ((events & ((uint32_t)EPOLLHUP | (uint32_t)EPOLLRDHUP | (uint32_t)EPOLLERR)) != 0 ? (uint32_t)TENDON_HANGUP
                                                                                             : 0u);
}

static void on_wake_ready(void *context, uint32_t events, uint64_t now) {
    tendon_loop *loop = context;
    uint64_t count;
    (void)events;
    if (read(loop->wake_fd, &count, sizeof count) == (ssize_t)sizeof count && loop->on_wake != NULL) {
        loop->on_wake(loop->on_wake_context, now);
    }
}

size_t tendon_loop_size(void) {
    return sizeof(tendon_loop);
}

int tendon_loop_descriptor(const tendon_loop *loop) {
    return loop->epoll_fd;
}

tendon_status tendon_loop_init(tendon_loop *loop) {
    *loop = (tendon_loop){.epoll_fd = -1, .wake_fd = -1};
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll_fd < 0) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (loop->wake_fd < 0) {
        tendon_status status = TENDON_SYSTEM_ERROR(errno);
        tendon_loop_close(loop);
        return status;
    }
    tendon_source_init(&loop->wake, loop->wake_fd, loop, on_wake_ready, NULL);
    loop->wake.interest = TENDON_READABLE;
    tendon_status status = tendon_loop_add(loop, &loop->wake);
    if (status < 0) {
        tendon_loop_close(loop);
    }
    return status;
}

void tendon_loop_close(tendon_loop *loop) {
    while (loop->sources != NULL) {
        tendon_loop_remove(loop, loop->sources);
    }
    if (loop->wake_fd >= 0) {
        close(loop->wake_fd);
        loop->wake_fd = -1;
    }
    if (loop->epoll_fd >= 0) {
        close(loop->epoll_fd);
        loop->epoll_fd = -1;
    }
}

void tendon_source_init(tendon_source *source, int fd, void *context,
                        void (*ready)(void *context, uint32_t events, uint64_t now),
                        void (*expired)(void *context, uint64_t now)) {
    *source = (tendon_source){.fd = fd, .deadline = UINT64_MAX, .context = context, .ready = ready, .expired = expired};
}

static tendon_status control(tendon_loop *loop, tendon_source *source, int operation) {
    struct epoll_event event = {.events = to_epoll(source->interest), .data.ptr = source};
    return epoll_ctl(loop->epoll_fd, operation, source->fd, &event) == 0 ? TENDON_OK : TENDON_SYSTEM_ERROR(errno);
}

tendon_status tendon_loop_add(tendon_loop *loop, tendon_source *source) {
    if (source->added) {
        return TENDON_ERROR_WRONG_STATE;
    }
    source->watched = false;
    if (source->fd >= 0) {
        tendon_status status = control(loop, source, EPOLL_CTL_ADD);
        if (status < 0) {
            return status;
        }
        source->watched = true;
    }
    source->added = true;
    source->next = loop->sources;
    loop->sources = source;
    return TENDON_OK;
}

tendon_status tendon_loop_update(tendon_loop *loop, tendon_source *source, uint32_t interest) {
    if (!source->added || !source->watched) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (source->interest == interest) {
        return TENDON_OK;
    }
    source->interest = interest;
    return control(loop, source, EPOLL_CTL_MOD);
}

void tendon_loop_remove(tendon_loop *loop, tendon_source *source) {
    if (!source->added) {
        return;
    }
    tendon_source **link = &loop->sources;
    while (*link != NULL && *link != source) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        return; /* of another loop */
    }
    *link = source->next;
    if (loop->cursor == source) {
        loop->cursor = source->next;
    }
    for (int i = 0; loop->batch != NULL && i < loop->batch_count; i++) {
        if (loop->batch[i] == source) {
            loop->batch[i] = NULL;
        }
    }
    if (source->watched) {
        (void)control(loop, source, EPOLL_CTL_DEL);
        source->watched = false;
    }
    source->added = false;
    source->next = NULL;
}

uint64_t tendon_loop_deadline(const tendon_loop *loop) {
    uint64_t deadline = UINT64_MAX;
    for (const tendon_source *source = loop->sources; source != NULL; source = source->next) {
        if (source->deadline < deadline) {
            deadline = source->deadline;
        }
    }
    return deadline;
}

/** Of a step that does not know when the one before it woke up. */
#define UNKNOWN UINT64_MAX

/**
 * Milliseconds for epoll_wait. It rounds up to its clock, and now is rounded down, so that it never wakes before the
 * deadline only to sleep again.
 */
static int timeout_of(const tendon_loop *loop, uint64_t until, uint64_t now) {
    uint64_t deadline = tendon_loop_deadline(loop);
    deadline = until < deadline ? until : deadline;
    if (deadline == UINT64_MAX) {
        return -1;
    }
    if (deadline == 0) {
        return 0;
    }
    if (now == UNKNOWN) {
        now = tendon_monotonic_ms();
    }
    uint64_t wait = deadline > now ? deadline - now : 0;
    return wait > (uint64_t)INT_MAX ? INT_MAX : (int)wait;
}

static int8_t order_of(const struct epoll_event *event) {
    const tendon_source *source = event->data.ptr;
    return source->order;
}

static void dispatch_ready(tendon_loop *loop, struct epoll_event *events, int count, uint64_t now) {
    tendon_source *batch[BATCH];
    for (int i = 1; i < count; i++) { /* most often there is one, or all have the same order */
        const struct epoll_event event = events[i];
        int slot = i;
        for (; slot > 0 && order_of(&events[slot - 1]) > order_of(&event); slot--) {
            events[slot] = events[slot - 1];
        }
        events[slot] = event;
    }
    for (int i = 0; i < count; i++) {
        batch[i] = events[i].data.ptr;
    }
    loop->batch = batch;
    loop->batch_count = count;
    for (int i = 0; i < count; i++) {
        tendon_source *source = batch[i];
        if (source != NULL && source->ready != NULL) {
            source->ready(source->context, from_epoll(events[i].events), now);
        }
    }
    loop->batch = NULL;
    loop->batch_count = 0;
}

static void dispatch_deadlines(tendon_loop *loop, uint64_t now) {
    loop->cursor = loop->sources;
    while (loop->cursor != NULL) {
        tendon_source *source = loop->cursor;
        loop->cursor = source->next;
        if (source->deadline <= now) {
            if (source->expired != NULL) {
                source->expired(source->context, now);
            } else {
                source->deadline = UINT64_MAX; /* without expired(), nothing would reset it */
            }
        }
    }
}

/** @param now time at which the step before woke up, or UNKNOWN; set to the time at which this one did */
static tendon_status step(tendon_loop *loop, uint64_t until, uint64_t *now) {
    struct epoll_event events[BATCH];
    if (loop->stepping) {
        return TENDON_ERROR_WRONG_STATE; /* the outer step still dispatches: sources of its batch would be lost */
    }
    int count = epoll_wait(loop->epoll_fd, events, BATCH, timeout_of(loop, until, *now));
    loop->wakeups++;
    if (count < 0) {
        if (errno != EINTR) {
            return TENDON_SYSTEM_ERROR(errno);
        }
        count = 0;
    }
    *now = tendon_monotonic_ms();
    loop->stepping = true;
    dispatch_ready(loop, events, count, *now);
    dispatch_deadlines(loop, *now);
    loop->stepping = false;
    return TENDON_OK;
}

tendon_status tendon_loop_step(tendon_loop *loop, uint64_t until) {
    uint64_t now = UNKNOWN;
    return step(loop, until, &now);
}

tendon_status tendon_loop_run(tendon_loop *loop, uint64_t until) {
    tendon_status status = TENDON_OK;
    uint64_t now = UNKNOWN; /* read once a wake-up: where the kernel has no vDSO for it, that is a system call */
    while (!loop->stopping && status >= 0) {
        status = step(loop, until, &now);
        if (now != UNKNOWN && now >= until) {
            break;
        }
    }
    loop->stopping = false;
    return status;
}

void tendon_loop_stop(tendon_loop *loop) {
    loop->stopping = true;
}

void tendon_loop_wake(tendon_loop *loop) {
    int saved = errno; /* may run in a signal handler */
    const uint64_t one = 1;
    ssize_t written = write(loop->wake_fd, &one, sizeof one);
    (void)written; /* EAGAIN: the counter is full, so a wake is pending */
    errno = saved;
}

void tendon_loop_on_wake(tendon_loop *loop, void (*on_wake)(void *context, uint64_t now), void *context) {
    loop->on_wake = on_wake;
    loop->on_wake_context = context;
}
