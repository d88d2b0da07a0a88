/* SPDX-License-Identifier: MIT */
/* An Activ5 session whose connection leads to a simulated trainer, in simulated time. */
#ifndef ACTIV5_WORLD_H
#define ACTIV5_WORLD_H

#include "activ5_fixture.h"

#include "tendon/simulate/activ5.h"
#include "tendon/simulate/memory_radio.h"

typedef struct activ5_world {
    activ5_fixture *f;
    uint64_t now;
    tendon_memory_radio air;
    tendon_memory_radio_device in_air;
    tendon_simulated_activ5 trainer;
    tendon_activ5_session session;
    size_t forces, motions;
    tendon_status reason; /* of the last end */
} activ5_world;

/** The latest one; for hooks. */
extern activ5_world *activ5_the_world;
/** Counts forces and motions, keeps the reason of a disconnection. The hook of a new world. */
void activ5_world_hook(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now);
activ5_world *activ5_world_new(const tendon_simulated_activ5_options *options);
void activ5_world_free(activ5_world *w);
/** A new one whose device is connected and initialized. */
activ5_world *activ5_world_ready(const tendon_simulated_activ5_options *options);
void activ5_world_run(activ5_world *w, uint64_t ms);

extern const tendon_simulated_activ5_options activ5_legacy;

#endif
