/* SPDX-License-Identifier: MIT */
/* Activ5: recorded runs of a session with a simulated trainer, and of the manager with devices found and lost. */
#include "activ5_world.h"
#include "bad_peer.h"
#include "test_recording.h"

enum { RUNS = 12, LIVES = 40, STEPS = 60 };

static recording *recorded;
static bool damages;

static void note_device(const tendon_activ5_device *d) {
    recording *r = recorded;
    note(r, "link %d state %d %d%d%d%d%d%d%d, battery %d, rssi %d, has %x, due %lld", d->link, d->state, d->initialized,
         d->listed, d->forget, d->reconnects, d->disconnect_requested, d->uses_new_protocol, d->has_battery, d->battery,
         (int)d->rssi, d->characteristics, (long long)tendon_activ5_device_deadline(d));
    note(r, "counted %u %u %u %u %u %u", (unsigned)d->counters.values, (unsigned)d->counters.messages,
         (unsigned)d->counters.errors, (unsigned)d->counters.squeezes, (unsigned)d->counters.double_squeezes,
         (unsigned)d->counters.ignored);
}

static void note_words(activ5_fixture *f) {
    char *begin = f->words;
    for (char *end = begin; *begin != 0; begin = end) { /* one word a line */
        while (*end != 0 && *end != ' ') {
            end++;
        }
        bool last = *end == 0;
        *end = 0;
        note(recorded, "%s", begin);
        end += last ? 0 : 1;
    }
    activ5_forget(f);
}

static tendon_status call(tendon_activ5_device *d, uint64_t now) {
    recording *r = recorded;
    unsigned what = choose(r, 16), which = choose(r, TENDON_ACTIV5_COMMAND_COUNT + 1);
    int64_t rate = (int64_t)choose(r, 40) * 10 - 10;
    bool on = choose(r, 2) == 0;
    switch (what) {
    case 0:
    case 1:
        return tendon_activ5_device_connect(d, now);
    case 2:
        return choose(r, 3) == 0 ? tendon_activ5_device_disconnect(d, now) : 1;
    case 3:
        return tendon_activ5_device_send(d, (tendon_activ5_command)which, now);
    case 4:
        return tendon_activ5_device_send_text(d, "hello world", which % 12, now);
    case 5:
        return tendon_activ5_device_start_isometric(d, now);
    case 6:
        return tendon_activ5_device_stop(d, now);
    case 7:
        return tendon_activ5_device_tare(d, now);
    case 8:
        return tendon_activ5_device_start_imu(d, now);
    case 9:
        return tendon_activ5_device_stop_imu(d, now);
    case 10:
        return tendon_activ5_device_set_sample_rate(d, rate, now);
    case 11:
        tendon_activ5_device_set_evergreen(d, on, now);
        return 0;
    case 12:
        return tendon_activ5_device_get_battery(d, now);
    case 13:
        return tendon_activ5_device_open(d, now);
    case 14:
        return tendon_activ5_device_start_isometric_when_ready(d, now);
    default:
        return tendon_activ5_device_get_serial_number(d);
    }
}

static unsigned calls_within;

/* What the program does when it is told something. */
static void call_within(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    recording *r = recorded;
    if (calls_within == 0 || choose(r, 8) != 0) {
        return;
    }
    calls_within--;
    if (event->device != NULL && choose(r, 3) != 0) {
        note(r, "within %d", call(event->device, now));
    } else if (f->manager.devices != NULL) {
        note(r, "scan within %d", tendon_activ5_manager_scan(&f->manager, now));
    }
}

static void command(activ5_world *w) {
    recording *r = recorded;
    static const char *const words[] = {
        "squeeze",           "double_squeeze",       "load 500",       "load 0",
        "battery 33",        "battery 120",          "power off",      "power on",
        "malformed empty",   "malformed short",      "malformed long", "malformed no_slash",
        "malformed unknown", "malformed garbage",    "stale_tails on", "split_frames on",
        "split_frames off",  "malformed short_imu 3"};
    char line[64];
    tendon_scenario_event event;
    const char *chosen = words[choose(r, sizeof words / sizeof words[0])];
    snprintf(line, sizeof line, "at 0ms %s", chosen);
    assert_int_equal(tendon_scenario_parse(line, strlen(line), NULL, &event, 1, NULL), 1);
    size_t wrong = 0;
    const tendon_scenario_actor actor = tendon_simulated_activ5_actor(&w->trainer);
    note(r, "%s: %d", chosen, actor.perform(actor.context, &event, false, &wrong, w->now));
}

static void step(activ5_world *w) {
    recording *r = recorded;
    unsigned what = choose(r, 14);
    if (what < 7) {
        note(r, "call %d", call(&w->f->device, w->now));
    } else if (what < 11) {
        command(w);
    } else if (what == 11) {
        tendon_memory_radio_set_present(&w->air, &w->in_air, choose(r, 3) != 0, w->now);
    } else if (what == 12) {
        w->in_air.silent = choose(r, 6) == 0;
    }
    if (damages && choose(r, 6) == 0) {
        stray_input(r, &tendon_activ5_session_inputs, &w->session, w->now);
    }
    note_words(w->f);
    unsigned pause = choose(r, 8);
    activ5_world_run(w, pause == 0 ? 0 : pause == 1 ? choose(r, 9000) : choose(r, 300));
    note_words(w->f);
    note_device(&w->f->device);
    note(r, "due %lld", (long long)tendon_memory_radio_deadline(&w->air));
}

static void play_session(recording *r, unsigned number) {
    recorded = r;
    for (unsigned life = 0; life < LIVES; life++) {
        tendon_simulated_activ5_options options = {.no_script = true}; /* its curve is computed in floating point */
        options.legacy = choose(r, 3) == 0;
        options.lacks = choose(r, 3) == 0 ? 1u << choose(r, 11) : 0;
        options.force_is_f0f1 = choose(r, 4) == 0;
        options.silent = choose(r, 3) == 0;
        options.accepts_early = choose(r, 3) == 0;
        options.switch_off_ms = choose(r, 3) == 0 ? 4000 : 0;
        options.ticks = choose(r, 3) == 0 ? 0xFFFFFF00u : 0;
        note(r, "life %u.%u", number, life);
        activ5_world *w = activ5_world_new(&options);
        if (damages) {
            w->in_air.device = bad_peer_of(r, w->in_air.device, 10);
        }
        calls_within = life % 5;
        w->f->hook = call_within;
        w->f->timed = true;
        w->f->options.accept_f0f1 = choose(r, 2) == 0;
        w->f->options.auto_handshake = choose(r, 4) != 0;
        note(r, "connect %d", tendon_activ5_device_connect(&w->f->device, w->now));
        activ5_world_run(w, choose(r, 400));
        for (int i = 0; i < STEPS; i++) {
            step(w);
        }
        activ5_world_free(w);
    }
}

/* ---- the manager ---- */

static void found(activ5_fixture *f, uint64_t now) {
    recording *r = recorded;
    static const char *const names[] = {"ACTIV5-1", "ACTIV5-2", "ACTIV5-3",
                                        "ACTIV5-4", "ACTIV5-5", "ACTIV5-LONG-NAME-1"};
    const char *name = names[choose(r, 6)];
    const tendon_address peer = {{(uint8_t)choose(r, 3), 2, 3, 4, 5, 6}, TENDON_ADDRESS_TYPE_RANDOM};
    bool known = choose(r, 2) == 0;
    const tendon_activ5_device *d = tendon_activ5_manager_advertised(
        &f->manager, name, strlen(name), known ? &peer : NULL, (int8_t)(-40 - (int)strlen(name)), now);
    note(r, "found %d", d != NULL ? (int)(d - f->devices) : -1);
}

static void manage(activ5_fixture *f, uint64_t now) {
    recording *r = recorded;
    static const tendon_status ends[] = {TENDON_ERROR_CANCELLED, TENDON_RADIO_ERROR_PEER_CLOSED, TENDON_ERROR_TIMEOUT,
                                         TENDON_RADIO_ERROR_ADAPTER_DOWN, TENDON_HCI_ERROR(0x08)};
    unsigned what = choose(r, 18), end = choose(r, 5);
    tendon_activ5_device *d = &f->devices[choose(r, ACTIV5_DEVICES)];
    bool in_use = d->on_event != NULL && d->listed;
    switch (what) {
    case 0:
    case 1:
        note(r, "scan %d", tendon_activ5_manager_scan(&f->manager, now));
        break;
    case 2:
        tendon_activ5_manager_stop_scanning(&f->manager, now);
        break;
    case 3:
        tendon_activ5_manager_disconnect_all(&f->manager, now);
        break;
    case 4:
        tendon_activ5_manager_set_radio(&f->manager, choose(r, 3) != 0 ? TENDON_OK : TENDON_RADIO_ERROR_ADAPTER_DOWN,
                                        now);
        break;
    case 5:
        if (in_use) {
            tendon_activ5_manager_remove(&f->manager, d);
        }
        break;
    case 6:
    case 7:
    case 8:
        found(f, now);
        break;
    case 9:
        if (in_use) {
            bool newer = choose(r, 2) == 0;
            size_t count = choose(r, 11);
            tendon_activ5_device_link_up(d, now);
            tendon_activ5_device_discovered(d, newer, activ5_all, count, now);
        }
        break;
    case 10:
    case 11:
        if (in_use) {
            tendon_activ5_device_link_down(d, ends[end], now);
        }
        break;
    case 12:
        if (in_use) {
            d->should_reconnect = choose(r, 2) == 0;
        }
        f->refuse = choose(r, 6) == 0 ? TENDON_RADIO_ERROR_ADAPTER_DOWN : TENDON_OK;
        break;
    case 13:
        if (in_use) {
            activ5_say(d, choose(r, 2) == 0 ? "TC5k;1.00" : "IS700/IS", now);
        }
        break;
    default:
        if (in_use) {
            note(r, "call %d", call(d, now));
        }
        break;
    }
}

static void play_manager(recording *r, unsigned number) {
    recorded = r;
    for (unsigned life = 0; life < LIVES; life++) {
        activ5_fixture *f = activ5_new();
        uint64_t now = 1000;
        calls_within = life % 5;
        f->hook = call_within;
        f->timed = true;
        note(r, "life %u.%u", number, life);
        for (int i = 0; i < 2 * STEPS; i++) {
            manage(f, now);
            note_words(f);
            now += choose(r, 6) == 0 ? choose(r, 9000) : choose(r, 200);
            tendon_activ5_manager_tick(&f->manager, now);
            note_words(f);
            note(r, "due %lld, connection %d, searches %u", (long long)tendon_activ5_manager_deadline(&f->manager),
                 tendon_activ5_manager_connection_state(&f->manager), (unsigned)f->manager.searches);
            for (int k = 0; k < ACTIV5_DEVICES; k++) {
                if (f->devices[k].on_event != NULL) {
                    note_device(&f->devices[k]);
                }
            }
        }
        free(f);
    }
}

static void a_session_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x8B7D4DE4, 0x4F27DD73, 0xC9194C22, 0x048A8CD2, 0x659AC23D, 0x6C743086,
        0x235DA996, 0x413A9E66, 0x2962229A, 0x591EBEC3, 0xEC62F076, 0x8D1AF1E0,
    };
    compare_recordings(known, RUNS, play_session);
}

static void a_session_with_damaged_responses_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x951DCB70, 0x9F972C72, 0x0FE61FD4, 0x68D9B1B7, 0x4F932A2E, 0x47A1F463,
        0x9B20CCD1, 0xC9985C1C, 0x743B07FC, 0x7392795F, 0x41A8E338, 0x918C1250,
    };
    damages = true;
    compare_recordings(known, RUNS, play_session);
    damages = false;
}

static void a_manager_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0xD8E9138D, 0x09F013D3, 0xB270B9EC, 0x222F993C, 0x8A16BF3D, 0x50F98AB0,
        0x4EFFD4C9, 0xA3357992, 0xA80DE9A8, 0x17146511, 0x03F9C576, 0xD116FA2E,
    };
    compare_recordings(known, RUNS, play_manager);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_as_recorded),
        cmocka_unit_test(a_session_with_damaged_responses_is_as_recorded),
        cmocka_unit_test(a_manager_is_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
