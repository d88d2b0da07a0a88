/* SPDX-License-Identifier: MIT */
/* Fjorden: recorded runs of a session with simulated grips that are lost, refuse, send wrong values. */
#include "bad_peer.h"
#include "fjorden_fixture.h"
#include "test_recording.h"

enum { RUNS = 16, LIVES = 40, STEPS = 70 };

static recording *recorded;
static bool damages;
static unsigned calls_within;

static tendon_status request(fjorden_fixture *f);

/* What the program does when it is told something: most of it is refused there. */
static void call_within(fjorden_fixture *f) {
    recording *r = recorded;
    unsigned what = choose(r, 6);
    tendon_status status = what == 0   ? fjorden_call(f, TENDON_FJORDEN_CALL_START)
                           : what == 1 ? tendon_fjorden_session_disconnect(&f->session, f->now)
                           : what == 2 ? tendon_fjorden_session_read_battery(&f->session, f->now)
                           : what == 3 ? tendon_fjorden_session_read_info(&f->session, f->now)
                           : what == 4 ? request(f)
                                       : fjorden_call(f, TENDON_FJORDEN_CALL_FORGET);
    note(r, "within %u: %d", what, status);
}

static void on_notice(fjorden_fixture *f, const tendon_fjorden_session_event *notice) {
    recording *r = recorded;
    note(r, "notice %d status %d, %d at %u: %d %d %d", notice->kind, notice->status, notice->cause, (unsigned)f->now,
         notice->synthesized, notice->level, notice->characteristic);
    if (notice->output != NULL) {
        const tendon_fjorden_output *o = notice->output;
        note(r, "output %d in %d of %d: %d %d at %u", o->kind, o->state, o->call, o->status, o->gives_state,
             (unsigned)o->time_ms);
        note(r, "grip %s %s", o->grip != NULL ? o->grip->identifier : "-", o->grip != NULL ? o->grip->name : "-");
    }
    if (notice->record != NULL) {
        const tendon_fjorden_record *e = notice->record;
        note(r, "record %d %d %d %d %d %d %u, %d", e->sequence, e->code, e->event, e->value, e->count, e->lost_before,
             (unsigned)e->time_ms, e->status);
    }
    if (notice->response != NULL) {
        note(r, "response %d %d %d", notice->response->opcode, notice->response->request_id, notice->response->status);
        note_bytes(r, "payload", notice->response->payload, notice->response->payload_length);
    }
    f->count = 0;
    if (calls_within > 0 && choose(r, 10) == 0) {
        calls_within--;
        call_within(f);
    }
}

static void note_all(fjorden_fixture *f) {
    recording *r = recorded;
    const tendon_fjorden_session *s = &f->session;
    const tendon_fjorden_session_counters *c = &s->counters;
    note(r, "due %lld, state %d, configured %d, level %d %d, info %d", (long long)tendon_memory_radio_deadline(&f->air),
         s->manager.state, s->manager.configured, s->has_level, s->level, s->has_info);
    note(r, "counted %u %u %u %u %u %u; lost %u %u %u %u %u, last %d %d %d", (unsigned)c->notifications,
         (unsigned)c->events, (unsigned)c->rejected, (unsigned)c->strays, (unsigned)c->resyncs,
         (unsigned)c->illegal_inputs, (unsigned)s->stream.lost, (unsigned)s->stream.duplicates,
         (unsigned)s->stream.out_of_order, (unsigned)s->stream.bad_values, (unsigned)s->stream.bad_notifications,
         s->stream.last, s->stream.last_shutter, s->stream.last_lever);
    for (int i = 0; i < TENDON_FJORDEN_STRING_COUNT; i++) {
        note(r, "text %d %s", s->info.present[i], s->info.strings[i]);
    }
    note(r, "bond %d %s", s->manager.configuration.has_bond, s->manager.configuration.bond.identifier);
    for (int i = 0; i < FJORDEN_GRIPS; i++) {
        const uint64_t *counters = (const uint64_t *)(const void *)&f->grips[i].counters;
        note(r, "grip %d bonded %d %d", i, f->devices[i].bonded, f->grips[i].bonded);
        for (size_t at = 0; at < sizeof f->grips[i].counters / sizeof counters[0]; at++) {
            note(r, "%u", (unsigned)counters[at]);
        }
    }
}

static void command(fjorden_fixture *f) {
    recording *r = recorded;
    static const char *const words[] = {"shutter half",
                                        "shutter full",
                                        "shutter released",
                                        "fn down",
                                        "fn up",
                                        "dial_button down",
                                        "dial_button up",
                                        "dial cw 3",
                                        "dial ccw",
                                        "lever left",
                                        "lever neutral",
                                        "lever right",
                                        "event 0x41",
                                        "battery 7",
                                        "lose 2",
                                        "duplicate 1",
                                        "malformed empty",
                                        "malformed length",
                                        "malformed value",
                                        "malformed unknown",
                                        "malformed state",
                                        "reset_bond",
                                        "power_off",
                                        "pairing off",
                                        "pairing on",
                                        "lose 1"};
    char line[64];
    tendon_scenario_event event;
    const char *chosen = words[choose(r, sizeof words / sizeof words[0])];
    unsigned which = choose(r, 8) == 0;
    snprintf(line, sizeof line, "at 0ms %s", chosen);
    assert_int_equal(tendon_scenario_parse(line, strlen(line), NULL, &event, 1, NULL), 1);
    size_t wrong = 0;
    const tendon_scenario_actor actor = tendon_simulated_fjorden_actor(&f->grips[which]);
    note(r, "%s: %d", chosen, actor.perform(actor.context, &event, false, &wrong, f->now));
}

static tendon_status request(fjorden_fixture *f) {
    recording *r = recorded;
    static const uint8_t payload[] = {1, 2, 3, 4};
    tendon_fjorden_command wanted = {.opcode = (tendon_fjorden_opcode)choose(r, 9), .payload = payload};
    wanted.payload_length = choose(r, 5);
    wanted.led_mode = (uint8_t)choose(r, 5);
    wanted.led_duration_ms = (uint16_t)choose(r, 2000);
    wanted.config.long_press_ms = (uint16_t)(choose(r, 8) * 200);
    wanted.config.lever_hold_ms = (uint16_t)(choose(r, 8) * 200);
    wanted.config.dial_divider = (uint8_t)choose(r, 10);
    return tendon_fjorden_session_request(&f->session, &wanted, f->now);
}

static void configure(fjorden_fixture *f) {
    recording *r = recorded;
    f->configuration.timeout_ms = choose(r, 4) * 5000u;
    f->configuration.auto_reconnect = choose(r, 2) == 0;
    snprintf(f->configuration.minimum_firmware, sizeof f->configuration.minimum_firmware, "%s",
             choose(r, 4) == 0 ? "9.0.0" : "1.0.0");
    const tendon_fjorden_input input = {.kind = TENDON_FJORDEN_CALL_CONFIGURE, .configuration = &f->configuration};
    note(r, "configure %d", tendon_fjorden_session_input(&f->session, &input, f->now));
}

static void tell_anything(fjorden_fixture *f) {
    recording *r = recorded;
    if (f->air.peer == NULL) {
        return;
    }
    uint8_t pdu[24] = {0x1B, (uint8_t)(1 + choose(r, 40)), 0};
    size_t length = 3 + choose(r, sizeof pdu - 2);
    for (size_t i = 3; i < length; i++) {
        pdu[i] = (uint8_t)choose(r, choose(r, 2) == 0 ? 4 : 256);
    }
    block exact = block_copy(pdu, length);
    (void)tendon_att_bearer_receive(&f->air.ours, exact.data, exact.length, f->now);
    free(exact.data);
}

static void step(fjorden_fixture *f) {
    recording *r = recorded;
    tendon_fjorden_input input = {.kind = TENDON_FJORDEN_ON_POWER};
    switch (choose(r, 22)) {
    case 0:
    case 1:
        note(r, "start %d", fjorden_call(f, TENDON_FJORDEN_CALL_START));
        break;
    case 2:
        note(r, "scan %d", fjorden_call(f, TENDON_FJORDEN_CALL_SCAN));
        break;
    case 3:
        note(r, "stop scanning %d", fjorden_call(f, TENDON_FJORDEN_CALL_STOP_SCANNING));
        break;
    case 4:
    case 5:
        note(r, "connect %d", fjorden_connect(f, choose(r, 5) == 0));
        break;
    case 6:
        note(r, "connect bonded %d", fjorden_call(f, TENDON_FJORDEN_CALL_CONNECT_BONDED));
        break;
    case 7:
        note(r, "forget %d", choose(r, 3) == 0 ? fjorden_call(f, TENDON_FJORDEN_CALL_FORGET) : 1);
        break;
    case 8:
        input.ok = choose(r, 4) != 0;
        note(r, "power %d", tendon_fjorden_session_input(&f->session, &input, f->now));
        break;
    case 9:
        input.kind = TENDON_FJORDEN_ON_PERMISSION;
        input.ok = choose(r, 3) != 0;
        note(r, "permission %d", tendon_fjorden_session_input(&f->session, &input, f->now));
        break;
    case 10: {
        unsigned which = choose(r, 3) == 0;
        tendon_memory_radio_set_present(&f->air, &f->devices[which], choose(r, 3) != 0, f->now);
        break;
    }
    case 11:
        f->devices[0].silent = choose(r, 5) == 0;
        f->devices[0].rejects_pairing = choose(r, 5) == 0;
        break;
    case 12:
        note(r, "disconnect %d", choose(r, 3) == 0 ? tendon_fjorden_session_disconnect(&f->session, f->now) : 1);
        break;
    case 13:
        note(r, "request %d", request(f));
        break;
    case 14:
        if (choose(r, 4) == 0) {
            tendon_fjorden_session_cancel_request(&f->session);
        }
        note(r, "battery %d", tendon_fjorden_session_read_battery(&f->session, f->now));
        break;
    case 15:
        note(r, "info %d", tendon_fjorden_session_read_info(&f->session, f->now));
        break;
    case 16:
        if (choose(r, 4) == 0) {
            configure(f);
        }
        break;
    case 17:
        tell_anything(f);
        break;
    default:
        command(f);
        break;
    }
    if (damages && choose(r, 6) == 0) {
        stray_input(r, &tendon_fjorden_session_inputs, &f->session, f->now);
    }
    unsigned pause = choose(r, 8);
    fjorden_run(f, pause == 0 ? 0 : pause == 1 ? choose(r, 20000) : choose(r, 300));
    note_all(f);
}

static void live(recording *r, unsigned number) {
    tendon_simulated_fjorden_options options = {.lacks = choose(r, 4) == 0 ? 1u << choose(r, 7) : 0};
    options.open = choose(r, 3) == 0;
    options.rejects_pairing = choose(r, 8) == 0;
    options.mute = choose(r, 8) == 0;
    options.hand = choose(r, 6) == 0;
    options.event_limit = options.hand ? 30 : 0;
    options.firmware = choose(r, 6) == 0 ? "0.9.1" : NULL;
    fjorden_fixture *f = number % 2 == 0 ? fjorden_new(&options) : fjorden_new_bonded(&options);
    recorded = r;
    calls_within = number % 5;
    f->uncounted = true;
    f->hook = on_notice;
    for (int i = 0; i < FJORDEN_GRIPS && damages; i++) {
        f->devices[i].device = bad_peer_of(r, tendon_simulated_fjorden_device(&f->grips[i]), 10);
    }
    for (int i = 0; i < STEPS; i++) {
        step(f);
    }
    free(f);
}

static void play(recording *r, unsigned number) {
    play_lives(r, number, LIVES, live);
}

static void what_a_session_does_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0xEA2B5A27, 0x56C864F2, 0xD0AEFE48, 0xCBC85566, 0x90ACBBE6, 0xBFDAA797, 0x0DED7407, 0xA2D5CFA9,
        0x81D7197D, 0x045EBFC7, 0x219BEC44, 0x0603ED07, 0x6F187535, 0x940F8D36, 0xA859F17A, 0x599254CE,
    };
    compare_recordings(known, RUNS, play);
}

static void with_damaged_responses_too(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x1F0A6ED4, 0x2F43BCB5, 0x15E5DA55, 0x01200D71, 0x5B8836C3, 0x85DF90C5, 0xEB63AC89, 0xD6447B19,
        0xAEC908BF, 0x8D9F0214, 0x2A113C54, 0x2F434962, 0xFAC95980, 0x32D7DEA0, 0x1059BEA0, 0x3CA8FF1E,
    };
    damages = true;
    compare_recordings(known, RUNS, play);
    damages = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_session_does_is_as_recorded),
        cmocka_unit_test(with_damaged_responses_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
