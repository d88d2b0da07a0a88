/* SPDX-License-Identifier: MIT */
/* For the tests of the virtual radio: a device and a central of one directory. */
#ifndef VIRTUAL_FIXTURE_H
#define VIRTUAL_FIXTURE_H

#include "../link_fixture.h"

extern const tendon_address device_address, central_address;
extern const uint8_t advertised_flags[3], advertised_name[4];

typedef struct world {
    char directory[64];
    tendon_loop loop;
    tendon_virtual_radio device, central;
    tendon_listener listener;
    link_end ends[4]; /**< of the device */
    int accepted;
    bool refuse;
    tendon_address peer;
    link_end end; /**< of the central */
    int reports, responses;
    tendon_ad_report report;
    uint8_t data[TENDON_AD_EXTENDED_MAX];
} world;

int world_setup(void **state);
/* Ends all; what the radios put into the directory must be gone. */
int world_teardown(void **state);
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int entries(const char *directory);
tendon_link *on_accept(void *context, const tendon_address *peer, uint64_t now);
void listen_on(world *w);
void connect_central(world *w, uint64_t timeout);
void scan(world *w, bool active, bool filter);
/* The flags and the name where their lengths are asked for, else zeros. */
tendon_status advertise(world *w, size_t length, size_t response_length);

#endif
