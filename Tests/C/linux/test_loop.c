/* SPDX-License-Identifier: MIT */
/* The loop: readiness, deadlines, removal inside a batch, wakes from elsewhere, no idle wake-ups. */
#include "open_files.h"
#include "tendon/linux/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef struct probe {
    tendon_loop *loop;
    tendon_source source;
    struct probe *victim;
    int pipe[2];
    int readies, expiries;
    uint32_t events;
    uint64_t again; /**< next deadline, set in expired(); UINT64_MAX: none */
} probe;

static unsigned clock_reads;

/** In the place of the C library's, so that its calls are counted. */
int clock_gettime(clockid_t clock, struct timespec *time) {
    clock_reads++;
    return (int)syscall(SYS_clock_gettime, clock, time);
}

static void on_ready(void *context, uint32_t events, uint64_t now) {
    probe *p = context;
    (void)now;
    p->readies++;
    p->events |= events;
    if (p->victim != NULL) {
        tendon_loop_remove(p->loop, &p->victim->source);
    }
}

static void on_expired(void *context, uint64_t now) {
    probe *p = context;
    p->expiries++;
    assert_true(p->source.deadline <= now);
    p->source.deadline = p->again;
    if (p->victim != NULL) {
        tendon_loop_remove(p->loop, &p->victim->source);
    }
}

static void probe_open(probe *p, tendon_loop *loop) {
    memset(p, 0, sizeof *p);
    p->loop = loop;
    p->again = UINT64_MAX;
    assert_int_equal(pipe(p->pipe), 0);
    tendon_source_init(&p->source, p->pipe[0], p, on_ready, on_expired);
    p->source.interest = TENDON_READABLE;
    assert_int_equal(tendon_loop_add(loop, &p->source), TENDON_OK);
}

static void probe_close(probe *p) {
    tendon_loop_remove(p->loop, &p->source);
    close(p->pipe[0]);
    if (p->pipe[1] >= 0) {
        close(p->pipe[1]);
    }
}

static void probe_fill(probe *p) {
    assert_int_equal(write(p->pipe[1], "x", 1), 1);
}

static void ready_source_is_told_once_per_step(void **state) {
    (void)state;
    tendon_loop loop;
    probe p;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    probe_open(&p, &loop);
    assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK);
    assert_int_equal(p.readies, 0);
    probe_fill(&p);
    assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK);
    assert_int_equal(p.readies, 1);
    assert_int_equal(p.events, TENDON_READABLE);
    assert_int_equal(tendon_loop_add(&loop, &p.source), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(tendon_loop_update(&loop, &p.source, 0), TENDON_OK);
    assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK);
    assert_int_equal(p.readies, 1);
    close(p.pipe[1]);
    p.pipe[1] = -1;
    assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK);
    assert_int_equal(p.readies, 2); /* a source of interest 0 is still notified of the end */
    assert_true((p.events & TENDON_HANGUP) != 0);
    probe_close(&p);
    assert_int_equal(tendon_loop_update(&loop, &p.source, TENDON_READABLE), TENDON_ERROR_WRONG_STATE);
    tendon_source timer; /* nothing to watch */
    tendon_source_init(&timer, -1, NULL, NULL, NULL);
    assert_int_equal(tendon_loop_add(&loop, &timer), TENDON_OK);
    assert_int_equal(tendon_loop_update(&loop, &timer, TENDON_READABLE), TENDON_ERROR_WRONG_STATE);
    tendon_loop_close(&loop);
}

/* One that wants to know nothing: watched for its deadline alone. */
static void a_source_without_ready_is_passed_over(void **state) {
    (void)state;
    tendon_loop loop;
    probe p;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    probe_open(&p, &loop);
    p.source.ready = NULL;
    p.source.deadline = 0;
    probe_fill(&p);
    assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK);
    assert_int_equal(p.expiries, 1);
    probe_close(&p);
    tendon_loop_close(&loop);
}

/* For a program that drives the loop from another one. */
static void the_earliest_deadline_is_known(void **state) {
    (void)state;
    tendon_loop loop;
    probe p[2];
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    assert_true(tendon_loop_deadline(&loop) == UINT64_MAX);
    probe_open(&p[0], &loop);
    probe_open(&p[1], &loop);
    assert_true(tendon_loop_deadline(&loop) == UINT64_MAX);
    p[0].source.deadline = 70;
    assert_true(tendon_loop_deadline(&loop) == 70);
    p[1].source.deadline = 30;
    assert_true(tendon_loop_deadline(&loop) == 30);
    tendon_loop_remove(&loop, &p[1].source);
    assert_true(tendon_loop_deadline(&loop) == 70);
    probe_close(&p[0]);
    probe_close(&p[1]);
    tendon_loop_close(&loop);
}

/* Both are ready in one batch; the first one that is called removes the other and closes its descriptor. */
static void removal_inside_a_batch_is_safe(void **state) {
    (void)state;
    for (int round = 0; round < 2; round++) {
        tendon_loop loop;
        probe p[3];
        assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
        for (int i = 0; i < 3; i++) {
            probe_open(&p[i], &loop);
        }
        p[0].victim = &p[1];
        p[1].victim = &p[0];
        for (int i = 0; i < 3; i++) {
            probe_fill(&p[round == 0 ? i : 2 - i]);
        }
        assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK);
        assert_int_equal(p[0].readies + p[1].readies, 1);
        assert_int_equal(p[2].readies, 1);
        for (int i = 0; i < 3; i++) {
            probe_close(&p[i]);
        }
        tendon_loop_close(&loop);
    }
}

static void removal_inside_the_deadline_pass_is_safe(void **state) {
    (void)state;
    for (int victim = 0; victim < 3; victim++) {
        tendon_loop loop;
        probe p[3];
        assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
        for (int i = 0; i < 3; i++) {
            probe_open(&p[i], &loop);
            p[i].source.deadline = 0;
        }
        p[1].victim = &p[victim];
        assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK);
        /* sources are visited from the last added on: 2 was before its removal, 0 was not */
        assert_int_equal(p[2].expiries, 1);
        assert_int_equal(p[1].expiries, 1);
        assert_int_equal(p[0].expiries, victim == 0 ? 0 : 1);
        for (int i = 0; i < 3; i++) {
            probe_close(&p[i]);
        }
        tendon_loop_close(&loop);
    }
}

static void deadlines_fire_once_and_can_be_set_anew(void **state) {
    (void)state;
    tendon_loop loop;
    probe p;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    probe_open(&p, &loop);
    p.source.deadline = 0;
    p.again = 0;
    assert_int_equal(tendon_loop_step(&loop, UINT64_MAX), TENDON_OK); /* past: no wait, no endless turn */
    assert_int_equal(p.expiries, 1);
    p.again = UINT64_MAX;
    assert_int_equal(tendon_loop_step(&loop, UINT64_MAX), TENDON_OK);
    assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK);
    assert_int_equal(p.expiries, 2);
    p.source.expired = NULL;
    p.source.deadline = 0;
    assert_int_equal(tendon_loop_step(&loop, UINT64_MAX), TENDON_OK);
    assert_true(p.source.deadline == UINT64_MAX);
    probe_close(&p);
    tendon_loop_close(&loop);
}

/* One wait per deadline: it is never woken too early to find that it must wait once more. */
static void no_wake_up_before_the_deadline(void **state) {
    (void)state;
    tendon_loop loop;
    probe p;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    probe_open(&p, &loop);
    for (uint64_t wait = 1; wait <= 8; wait++) {
        uint64_t before = loop.wakeups;
        p.source.deadline = tendon_monotonic_ms() + wait;
        int expiries = p.expiries;
        assert_int_equal(tendon_loop_step(&loop, UINT64_MAX), TENDON_OK);
        assert_int_equal(p.expiries, expiries + 1);
        assert_int_equal(loop.wakeups, before + 1);
    }
    probe_close(&p);
    tendon_loop_close(&loop);
}

static void idle_loop_sleeps_through(void **state) {
    (void)state;
    tendon_loop loop;
    probe p[8];
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    for (int i = 0; i < 8; i++) {
        probe_open(&p[i], &loop);
        p[i].source.deadline = tendon_monotonic_ms() + 3600000;
    }
    assert_int_equal(tendon_loop_run(&loop, tendon_monotonic_ms() + 30), TENDON_OK);
    assert_int_equal(loop.wakeups, 1); /* the one that ends the run */
    for (int i = 0; i < 8; i++) {
        assert_int_equal(p[i].readies + p[i].expiries, 0);
        probe_close(&p[i]);
    }
    tendon_loop_close(&loop);
}

static void deadline_farther_than_epoll_can_say(void **state) {
    (void)state;
    tendon_loop loop;
    probe p;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    probe_open(&p, &loop);
    p.source.deadline = UINT64_MAX - 1;
    probe_fill(&p);
    assert_int_equal(tendon_loop_step(&loop, UINT64_MAX), TENDON_OK);
    assert_int_equal(p.readies, 1);
    assert_int_equal(p.expiries, 0);
    probe_close(&p);
    tendon_loop_close(&loop);
}

typedef struct waker {
    tendon_loop *loop;
    int told;
} waker;

static void on_wake(void *context, uint64_t now) {
    waker *w = context;
    (void)now;
    w->told++;
    tendon_loop_stop(w->loop);
}

static void *wake_thread(void *context) {
    for (int i = 0; i < 1000; i++) {
        tendon_loop_wake(context);
    }
    return NULL;
}

static void wake_from_another_thread(void **state) {
    (void)state;
    tendon_loop loop;
    pthread_t thread;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    waker w = {.loop = &loop};
    tendon_loop_on_wake(&loop, on_wake, &w);
    assert_int_equal(pthread_create(&thread, NULL, wake_thread, &loop), 0);
    assert_int_equal(tendon_loop_run(&loop, UINT64_MAX), TENDON_OK);
    pthread_join(thread, NULL);
    assert_true(w.told >= 1);
    while (tendon_loop_step(&loop, 0) == TENDON_OK && loop.stopping) {
        loop.stopping = false;
    }
    assert_true(w.told <= 1000);
    tendon_loop_close(&loop);
}

static tendon_loop *signalled;
static void stop_after(void *context, uint32_t events, uint64_t now) {
    tendon_loop *loop = context;
    uint64_t count;
    (void)events;
    (void)now;
    assert_int_equal(read(loop->wake_fd, &count, sizeof count), sizeof count);
    if (loop->wakeups == 10) {
        tendon_loop_stop(loop);
    } else {
        tendon_loop_wake(loop);
    }
}

/** With a deadline of a source and one of the run: both are compared with the time of the wake-up before. */
static void a_run_reads_the_clock_once_a_wake_up(void **state) {
    tendon_loop loop;
    tendon_source timer;
    (void)state;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    loop.wake.ready = stop_after;
    tendon_source_init(&timer, -1, NULL, NULL, NULL);
    timer.deadline = tendon_monotonic_ms() + 3600000;
    assert_int_equal(tendon_loop_add(&loop, &timer), TENDON_OK);
    tendon_loop_wake(&loop);
    clock_reads = 0;
    assert_int_equal(tendon_loop_run(&loop, timer.deadline), TENDON_OK);
    assert_int_equal(loop.wakeups, 10);
    assert_int_equal(clock_reads, 1 + 10); /* the first step knows of none before it */
    tendon_loop_close(&loop);
}

static void on_signal(int number) {
    (void)number;
    tendon_loop_wake(signalled);
}

static void wake_from_a_signal_handler(void **state) {
    (void)state;
    tendon_loop loop;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    waker w = {.loop = &loop};
    tendon_loop_on_wake(&loop, on_wake, &w);
    signalled = &loop;
    struct sigaction action = {.sa_handler = on_signal}, old;
    sigaction(SIGUSR1, &action, &old);
    raise(SIGUSR1);
    raise(SIGUSR1);
    assert_int_equal(tendon_loop_run(&loop, UINT64_MAX), TENDON_OK);
    assert_int_equal(w.told, 1); /* both folded into one */
    sigaction(SIGUSR1, &old, NULL);
    tendon_loop_close(&loop);
}

static void stop_before_run_returns_at_once(void **state) {
    (void)state;
    tendon_loop loop;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    tendon_loop_stop(&loop);
    assert_int_equal(tendon_loop_run(&loop, UINT64_MAX), TENDON_OK);
    assert_int_equal(loop.wakeups, 0);
    assert_false(loop.stopping);
    tendon_loop_close(&loop);
    tendon_loop_close(&loop); /* twice does nothing */
}

/* More sources are ready than one batch holds: all get their turn in the next steps. */
static void more_ready_sources_than_a_batch(void **state) {
    (void)state;
    enum { COUNT = 80 };
    static probe p[COUNT];
    tendon_loop loop;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    for (int i = 0; i < COUNT; i++) {
        probe_open(&p[i], &loop);
        probe_fill(&p[i]);
    }
    for (int step = 0; step < 3; step++) {
        assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_true(p[i].readies >= 1);
        probe_close(&p[i]);
    }
    tendon_loop_close(&loop);
}

static void bad_descriptor_is_refused(void **state) {
    (void)state;
    tendon_loop loop;
    tendon_source source;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    tendon_source_init(&source, 1 << 20, NULL, NULL, NULL);
    assert_int_equal(TENDON_STATUS_LAYER(tendon_loop_add(&loop, &source)), TENDON_LAYER_SYSTEM);
    assert_false(source.added);
    tendon_loop_remove(&loop, &source);
    tendon_loop_close(&loop);
}

/* A step that fails ends the run; it does not go on failing. */
static void a_step_that_fails_ends_the_run(void **state) {
    (void)state;
    tendon_loop loop;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    close(loop.epoll_fd);
    loop.epoll_fd = 1 << 20;
    assert_int_equal(tendon_loop_run(&loop, UINT64_MAX), TENDON_SYSTEM_ERROR(EBADF));
    assert_int_equal(loop.wakeups, 1);
    loop.epoll_fd = -1;
    tendon_loop_close(&loop);
}

/* In the C library's place: no more descriptors, or no more watches of this user. */
static int refused_eventfd, refused_add;

int eventfd(unsigned count, int flags) {
    errno = refused_eventfd;
    return refused_eventfd != 0 ? -1 : (int)syscall(SYS_eventfd2, count, flags);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
    errno = refused_add;
    return refused_add != 0 && operation == EPOLL_CTL_ADD ? -1
                                                          : (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}

static void a_loop_that_cannot_be_made_leaves_nothing_open(void **state) {
    (void)state;
    tendon_loop loop;
    int before = open_descriptors();
    refused_eventfd = EMFILE;
    assert_int_equal(tendon_loop_init(&loop), TENDON_SYSTEM_ERROR(EMFILE));
    refused_eventfd = 0;
    assert_int_equal(open_descriptors(), before);
    refused_add = ENOSPC;
    assert_int_equal(tendon_loop_init(&loop), TENDON_SYSTEM_ERROR(ENOSPC));
    refused_add = 0;
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(loop.epoll_fd, -1);
    assert_int_equal(loop.wake_fd, -1);
}

static tendon_status nested_step, nested_run;

static void step_inside(void *context, uint32_t events, uint64_t now) {
    probe *p = context;
    char byte = 0;
    (void)events;
    (void)now;
    p->readies++;
    assert_int_equal(read(p->pipe[0], &byte, 1), 1);
    nested_step = tendon_loop_step(p->loop, 0);
    nested_run = tendon_loop_run(p->loop, 0);
}

static void step_at_deadline(void *context, uint64_t now) {
    probe *p = context;
    (void)now;
    p->expiries++;
    p->source.deadline = UINT64_MAX;
    nested_step = tendon_loop_step(p->loop, 0);
}

/* A step inside a callback would forget the batch of the outer one. */
static void a_step_inside_a_callback_is_rejected(void **state) {
    (void)state;
    tendon_loop loop;
    probe a, b;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    probe_open(&a, &loop);
    probe_open(&b, &loop);
    a.source.ready = step_inside;
    b.source.ready = step_inside;
    probe_fill(&a);
    probe_fill(&b);
    assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK);
    assert_int_equal(nested_step, TENDON_ERROR_WRONG_STATE);
    assert_int_equal(nested_run, TENDON_ERROR_WRONG_STATE);
    assert_int_equal(a.readies, 1);
    assert_int_equal(b.readies, 1);
    nested_step = TENDON_OK;
    a.source.deadline = 0;
    a.source.expired = step_at_deadline;
    assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK);
    assert_int_equal(a.expiries, 1);
    assert_int_equal(nested_step, TENDON_ERROR_WRONG_STATE);
    assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK); /* and outside it steps again */
    probe_close(&a);
    probe_close(&b);
    tendon_loop_close(&loop);
}

/* It may run in a signal handler, between a system call and the look at its errno. */
static void a_wake_leaves_errno_alone(void **state) {
    (void)state;
    tendon_loop loop;
    const uint64_t full = UINT64_MAX - 1;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    assert_int_equal(write(loop.wake_fd, &full, sizeof full), sizeof full);
    errno = EXDEV;
    tendon_loop_wake(&loop); /* write() fails with EAGAIN */
    assert_int_equal(errno, EXDEV);
    tendon_loop_close(&loop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready_source_is_told_once_per_step),
        cmocka_unit_test(a_source_without_ready_is_passed_over),
        cmocka_unit_test(the_earliest_deadline_is_known),
        cmocka_unit_test(removal_inside_a_batch_is_safe),
        cmocka_unit_test(removal_inside_the_deadline_pass_is_safe),
        cmocka_unit_test(deadlines_fire_once_and_can_be_set_anew),
        cmocka_unit_test(no_wake_up_before_the_deadline),
        cmocka_unit_test(idle_loop_sleeps_through),
        cmocka_unit_test(deadline_farther_than_epoll_can_say),
        cmocka_unit_test(wake_from_another_thread),
        cmocka_unit_test(a_run_reads_the_clock_once_a_wake_up),
        cmocka_unit_test(wake_from_a_signal_handler),
        cmocka_unit_test(stop_before_run_returns_at_once),
        cmocka_unit_test(more_ready_sources_than_a_batch),
        cmocka_unit_test(bad_descriptor_is_refused),
        cmocka_unit_test(a_step_that_fails_ends_the_run),
        cmocka_unit_test(a_loop_that_cannot_be_made_leaves_nothing_open),
        cmocka_unit_test(a_step_inside_a_callback_is_rejected),
        cmocka_unit_test(a_wake_leaves_errno_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
