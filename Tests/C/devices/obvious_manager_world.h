/* SPDX-License-Identifier: MIT */
/*
 * The manager of an Obvious device with a scripted device and a scripted cloud. The trace: "need:package", "prov:1",
 * "update:1", "40%", "changed:2", "done:result/STATUS".
 */
#ifndef OBVIOUS_MANAGER_WORLD_H
#define OBVIOUS_MANAGER_WORLD_H

#include "obvious_fixture.h"
#include "obvious_signer.h"

typedef struct obvious_manager_world {
    tendon_obvious_manager manager;
    tendon_obvious_key key;
    tendon_obvious_key_ring ring;
    unsigned verified;
    uint8_t package[8316], provision[124];
    size_t package_length;
    tendon_obvious_answer answers[2]; /* by need */
    bool silent_cloud;
    unsigned done, stores;
    tendon_obvious_record record; /* the last one that was stored */
    tendon_obvious_record kept;   /* what an operation finds; of serial number 0: nothing */
} obvious_manager_world;

extern obvious_manager_world w;
extern obvious_fixture *f;

void sign(uint8_t *data, size_t length, const char *domain);
size_t make_package(uint8_t *out, uint8_t kind, uint8_t flags, uint64_t counter, uint16_t entries);
void give(int need);
void begin_world(uint16_t frame_max);
void begin(void);
void end(void);
void start_with(tendon_obvious_operation operation, tendon_obvious_feature *features, size_t count, uint64_t lowest);
void start(tendon_obvious_operation operation);
void perform(tendon_obvious_operation operation);
void leave(obvious_fixture *fixture);

#endif
