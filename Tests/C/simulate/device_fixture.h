/* SPDX-License-Identifier: MIT */
/* A simulated device of any family with centrals on scripted links; what each link took is kept. */
#ifndef SIMULATE_DEVICE_FIXTURE_H
#define SIMULATE_DEVICE_FIXTURE_H

#include "test_bytes.h"

#include "tendon/simulate.h"

#define DEVICE_KEPT 4096
#define DEVICE_CENTRALS 5

typedef struct device_taken {
    uint64_t at;
    uint16_t length;
    uint8_t bytes[160];
} device_taken;

typedef struct device_fixture device_fixture;

typedef struct device_central {
    device_fixture *owner;
    tendon_att_bearer bearer;
    tendon_status link; /* what the link answers */
    int room;           /* PDUs it takes before it blocks; -1: no limit */
    size_t count;       /* of all PDUs it took */
    device_taken pdus[DEVICE_KEPT];
} device_central;

struct device_fixture {
    tendon_peripheral_device device;
    uint64_t now;
    device_central centrals[DEVICE_CENTRALS];
};

/** Nobody is connected. Time 5000. */
void device_fixture_init(device_fixture *f, tendon_peripheral_device device);
/** One of its own; free() it. */
device_fixture *device_fixture_new(tendon_peripheral_device device);
/** Connects and exchanges the MTU (23: none); the device's answer to connecting. */
tendon_status device_connect(device_fixture *f, size_t which, uint16_t mtu);
void device_disconnect(device_fixture *f, size_t which);
void device_send(device_fixture *f, size_t which, const char *hex);
/** One request, answered by this PDU first; what follows is kept. */
void device_exchange(device_fixture *f, size_t which, const char *request, const char *response);
/** The PDU number @p index that a central took. */
void device_expect(const device_fixture *f, size_t which, size_t index, const char *hex);
void device_expect_last(const device_fixture *f, size_t which, const char *hex);
void device_forget(device_fixture *f, size_t which);
/** The link takes PDUs again, @p room of them. */
void device_writable(device_fixture *f, size_t which, int room);
/** Ticks at every deadline up to @p until. */
void device_run(device_fixture *f, uint64_t until);
/** Plays one line of a scenario without its time: "gesture input". The actor's answer. */
tendon_status device_perform(device_fixture *f, tendon_scenario_actor actor, const char *command);

#endif
