/* SPDX-License-Identifier: MIT */
/* A device of a gateway, and a simulated one of its family, in memory and in simulated time. */
#ifndef DEVICE_WORLD_H
#define DEVICE_WORLD_H

#include "test_bytes.h"

#include "tendon/gateway/device.h"
#include "tendon/simulate.h"

enum { WORLD_OBVIOUS_PAGE = 4096, WORLD_OBVIOUS_IMAGE = 8192 };

/** What a test may choose before world_start(). */
typedef struct world_choice {
    tendon_device_settings settings;
    tendon_simulated_bose_options bose;
    tendon_simulated_activ5_options activ5;
    tendon_simulated_feelspace_options feelspace;
    tendon_simulated_fjorden_options fjorden;
    tendon_simulated_obvious_options obvious;
    bool is_other; /**< the device of a file lacks what the file requires */
} world_choice;

typedef struct world {
    tendon_device device;
    tendon_memory_radio radio;
    tendon_memory_radio_device seat;
    uint64_t now;
    unsigned ended;             /**< turns */
    tendon_device_event ending; /**< of the last one */
    tendon_status connect;      /**< what the link answers; TENDON_OK: it connects */
    bool opens_in_acted;        /**< each ACTED opens the device */
    tendon_status opened;       /**< what that returned */
    size_t length;
    char events[65536]; /**< "kind" or "kind:event" for each line, with spaces */
} world;

extern world w;

/** The defaults of the settings, and a simulated device that is as new. */
world_choice world_defaults(void);
void world_start(tendon_device_family family, const world_choice *choice);
/** Lets time pass. */
void world_run(uint64_t milliseconds);
void world_open(void);
/** The events since the last look. Samples are "~", however many follow each other. */
const char *world_look(void);
/** The scenario command of the simulated device: "press home". */
void world_command(const char *words);

#endif
