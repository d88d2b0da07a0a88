/* SPDX-License-Identifier: MIT */
/*
 * The manager of an Obvious device with firmware to install, and a journal that the test keeps. The trace:
 * "need:image", "prep", "40%", "resetting", "rec:3" (a record of the journal), "done:result/STATUS".
 */
#ifndef OBVIOUS_FIRMWARE_WORLD_H
#define OBVIOUS_FIRMWARE_WORLD_H

#include "obvious_fixture.h"
#include "obvious_signer.h"

enum { IMAGE = 4000, OLD = 1003000, NEW = 1004000, JOURNAL_MAX = 400 };

typedef struct obvious_firmware_world {
    tendon_obvious_manager manager;
    tendon_obvious_key key;
    tendon_obvious_key_ring ring;
    unsigned verified, done, reads, stores, fail_store; /* fail_store: this one; 0: none */
    uint8_t image[IMAGE], sha256[32], manifest[136];
    tendon_obvious_answer offer, download;
    tendon_obvious_record journal[JOURNAL_MAX]; /* all of them, in order */
    tendon_obvious_record kept;                 /* what an operation finds; of serial number 0: nothing */
    bool silent_cloud, traces_records, unreadable, heals, cut;
    unsigned steps, cut_at, passes; /* records and parts of the image; cut_at: with this one the gateway stops */
} obvious_firmware_world;

extern obvious_firmware_world w;
extern obvious_fixture *f;
extern uint8_t mute_after_reset; /* of boot_and_mute() */

void make_manifest(uint32_t version, uint32_t epoch, uint32_t product);
void answer(int need);
void boot_staged(obvious_fixture *fixture);
void init_manager(void);
void begin(void);
void end(void);
void start_from(tendon_obvious_operation operation, const tendon_obvious_record *record);
void upgrade(void);
void perform_upgrade(void);
const tendon_obvious_record *last_record(void);
void run_to(uint8_t opcode, unsigned times);
void roll_back(obvious_fixture *fixture);
void leaves(obvious_fixture *fixture);
void boot_and_mute(obvious_fixture *fixture);

#endif
