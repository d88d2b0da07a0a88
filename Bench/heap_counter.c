/* SPDX-License-Identifier: MIT */
/*
 * Counts heap calls by standing in for the C library's allocator (glibc lets a program do that). Linked into the
 * benchmarks only.
 */
#include "bench.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *pointer, size_t size);

static _Atomic uint64_t heap_calls;

uint64_t bench_heap_calls(void) {
    return heap_calls;
}

void *malloc(size_t size) {
    heap_calls++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    heap_calls++;
    return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
    heap_calls++;
    return __libc_realloc(pointer, size);
}
