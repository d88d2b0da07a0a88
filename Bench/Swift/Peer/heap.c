/* SPDX-License-Identifier: MIT */
/* Counts heap calls by standing in for the C library's allocator, and can say where they come from. */
#include "bench_peer.h"

#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_uint_fast64_t heap_calls;
static atomic_int traces;

uint64_t bench_heap_calls(void) {
    return atomic_load_explicit(&heap_calls, memory_order_relaxed);
}

void bench_heap_trace(unsigned calls) {
    void *frames[2];
    (void)backtrace(frames, 2); /* its first call allocates */
    atomic_store(&traces, (int)calls);
}

static void count(void) {
    static _Thread_local bool inside;
    atomic_fetch_add_explicit(&heap_calls, 1, memory_order_relaxed);
    if (atomic_load_explicit(&traces, memory_order_relaxed) > 0 && !inside) {
        void *frames[24];
        inside = true;
        backtrace_symbols_fd(frames, backtrace(frames, 24), 2);
        atomic_fetch_sub(&traces, 1);
        inside = false;
    }
}

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *pointer, size_t size) {
    count();
    return __libc_realloc(pointer, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    count();
    *out = __libc_memalign(alignment, size);
    return *out != NULL ? 0 : ENOMEM;
}
