/* SPDX-License-Identifier: MIT */
/* A radio over the kernel of fake_kernel.h, and what its callbacks have reported. */
#ifndef ADAPTER_FIXTURE_H
#define ADAPTER_FIXTURE_H

#include "fake_kernel.h"
#include "privileges.h"

typedef struct adapter_fixture {
    tendon_loop loop;
    tendon_bluez_radio radio;
    unsigned reports, failures, connected, closed;
    tendon_status failure, reason; /**< the latest */
} adapter_fixture;
extern adapter_fixture own;

int adapter_setup(void **state);
int adapter_teardown(void **state);
void adapter_open(const char *name);
/** Ways to open adapter 7. */
enum { ADAPTER_LEGACY, ADAPTER_EXTENDED, ADAPTER_UNPRIVILEGED, ADAPTER_SOLE, ADAPTER_OBSERVER, ADAPTER_KINDS };
tendon_status adapter_open_as(int kind);
void adapter_scan(void);
/** Legacy advertising of three bytes; the loop runs for 100 ms. */
void adapter_advertise(void);
/** Connects for 5 s at most; the caller lets time pass. */
tendon_status adapter_connect(tendon_link *link, const fake_device *device);

#define ADAPTER_TEST(function) cmocka_unit_test_setup_teardown(function, adapter_setup, adapter_teardown)

#endif
