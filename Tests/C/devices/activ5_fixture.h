/* SPDX-License-Identifier: MIT */
/* Activ5 devices, alone or with their manager; everything that they ask for and tell is kept as words. */
#ifndef ACTIV5_FIXTURE_H
#define ACTIV5_FIXTURE_H

#include "test_bytes.h"

#include "tendon/devices/activ5.h"

enum { ACTIV5_DEVICES = 4 };

typedef struct activ5_fixture {
    tendon_activ5_options options;
    tendon_activ5_device device; /* alone */
    tendon_activ5_manager manager;
    tendon_activ5_device devices[ACTIV5_DEVICES];
    char words[8192];
    bool timed;           /* "word@ms" */
    tendon_status refuse; /* what requests answer; TENDON_OK: done */
    /* Called from within events and requests, after they were noted. */
    void (*hook)(struct activ5_fixture *f, const tendon_activ5_event *event, uint64_t now);
} activ5_fixture;

/* Both, at time 0 without a link. free() it. */
activ5_fixture *activ5_new(void);
/* The words since the last call, exactly: "deviceConnected discover". Then they are forgotten. */
void activ5_expect(activ5_fixture *f, const char *words);
void activ5_forget(activ5_fixture *f);

/* Characteristics of a device, as sets. */
extern const tendon_activ5_characteristic activ5_all[10];
enum { ACTIV5_LEGACY = 2, ACTIV5_NEW = 10 }; /* as many of them */
/* Connected and discovered, words forgotten. */
void activ5_reach(activ5_fixture *f, tendon_activ5_device *device, size_t characteristics, uint64_t now);
void activ5_value(tendon_activ5_device *device, tendon_activ5_characteristic which, const char *hex, uint64_t now);
/* A text frame of 5A01. */
void activ5_say(tendon_activ5_device *device, const char *content, uint64_t now);
/* Found by the manager under this name. */
tendon_activ5_device *activ5_found(activ5_fixture *f, const char *name, uint64_t now);

#endif
