/* SPDX-License-Identifier: MIT */
#include "activ5_world.h"

activ5_world *activ5_the_world;

void activ5_world_hook(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    activ5_world *w = activ5_the_world;
    if (event->kind == TENDON_ACTIV5_EVENT_ISOMETRIC || event->kind == TENDON_ACTIV5_EVENT_IMU) {
        assert_true(event->received_at == now * UINT64_C(1000000));
    }
    switch (event->kind) {
    case TENDON_ACTIV5_EVENT_ISOMETRIC:
        w->forces++;
        break;
    case TENDON_ACTIV5_EVENT_IMU:
        w->motions++;
        break;
    case TENDON_ACTIV5_EVENT_DISCONNECTED:
    case TENDON_ACTIV5_EVENT_CONNECT_FAILED:
        w->reason = event->status;
        break;
    default:
        break;
    }
    if (w->forces > 20) {
        activ5_forget(f); /* a stream; it is counted */
    }
}

activ5_world *activ5_world_new(const tendon_simulated_activ5_options *options) {
    activ5_world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    activ5_the_world = w;
    w->f = activ5_new();
    w->f->hook = activ5_world_hook;
    w->now = 100000;
    memset(&w->trainer, 0xA5, sizeof w->trainer); /* what the memory held before */
    assert_int_equal(tendon_simulated_activ5_init(&w->trainer, options), TENDON_OK);
    w->in_air = (tendon_memory_radio_device){.device = tendon_simulated_activ5_device(&w->trainer),
                                             .address = {{0xC5, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM},
                                             .rssi = -50,
                                             .present = true};
    tendon_memory_radio_init(&w->air, &w->in_air, 1);
    tendon_memory_radio_set_target(&w->air, &w->in_air.address);
    const tendon_session_link link = tendon_memory_radio_link(&w->air);
    w->f->device.on_request = NULL;               /* alone: the session stays with it */
    memset(&w->session, 0xA5, sizeof w->session); /* what the memory held before */
    assert_int_equal(tendon_activ5_session_init(&w->session, &link, &w->f->device), TENDON_OK);
    tendon_memory_radio_attach(&w->air, &tendon_activ5_session_inputs, &w->session);
    return w;
}

void activ5_world_run(activ5_world *w, uint64_t ms) {
    uint64_t end = w->now + ms;
    for (int steps = 0; tendon_memory_radio_deadline(&w->air) <= end; steps++) {
        assert_true(steps < 1000000);
        uint64_t due = tendon_memory_radio_deadline(&w->air);
        w->now = due > w->now ? due : w->now;
        tendon_memory_radio_tick(&w->air, w->now);
    }
    w->now = end;
}

void activ5_world_free(activ5_world *w) {
    free(w->f);
    free(w);
}

activ5_world *activ5_world_ready(const tendon_simulated_activ5_options *options) {
    activ5_world *w = activ5_world_new(options);
    assert_int_equal(tendon_activ5_device_connect(&w->f->device, w->now), TENDON_OK);
    activ5_world_run(w, 1000);
    assert_true(w->f->device.initialized);
    activ5_forget(w->f);
    return w;
}

const tendon_simulated_activ5_options activ5_legacy = {.legacy = true};
