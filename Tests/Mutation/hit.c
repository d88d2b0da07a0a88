/* SPDX-License-Identifier: MIT */
/*
 * Compiled into the mutated copy only. Every seeded fault asks whether it is the one that is switched on; what was
 * asked is noted in a shared file, so that a test which crashes or is killed has noted it too. TENDON_MUTANT_TEST is
 * the one function of a test program that runs.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tendon/mutant.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FAULTS_MAX = 1 << 16 };

static unsigned char *reached;
static int active = -1;

void cmocka_set_test_filter(const char *pattern) __attribute__((weak));

__attribute__((constructor)) static void start(void) {
    const char *number = getenv("TENDON_MUTANT"), *trace = getenv("TENDON_MUTANT_TRACE");
    const char *function = getenv("TENDON_MUTANT_TEST");
    if (function != NULL && cmocka_set_test_filter != NULL) {
        cmocka_set_test_filter(function);
    }
    active = number != NULL ? atoi(number) : -1;
    int file = trace != NULL ? open(trace, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file >= 0 && ftruncate(file, FAULTS_MAX) == 0) {
        void *map = mmap(NULL, FAULTS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        reached = map != MAP_FAILED ? map : NULL;
    }
    if (file >= 0) {
        close(file);
    }
}

_Bool tendon_mutant(int number) {
    if (reached != NULL && number >= 0 && number < FAULTS_MAX) {
        reached[number] = 1;
    }
    return number == active;
}
