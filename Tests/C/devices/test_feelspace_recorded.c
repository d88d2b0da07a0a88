/* SPDX-License-Identifier: MIT */
/* feelSpace: recorded runs of a session, with and without a navigation controller on top. */
#include "feelspace_fixture.h"
#include "test_recording.h"

enum { RUNS = 24, LIVES = 50 };

static recording *now_recorded;

static void note_event(belt *b, const tendon_feelspace_event *event) {
    recording *r = now_recorded;
    const tendon_feelspace_session *s = &b->session;
    note(r, "event %d status %d at %u", event->kind, event->status, (unsigned)b->now);
    switch (event->kind) {
    case TENDON_FEELSPACE_EVENT_STATE:
        note(r, "%d > %d by %d, error %d", event->connection.previous, event->connection.state, event->connection.event,
             event->connection.error);
        break;
    case TENDON_FEELSPACE_EVENT_FOUND:
        note(r, "%d, %d", event->found.rssi, event->found.newer_hardware);
        note_bytes(r, "name", (const uint8_t *)event->found.name, event->found.name_length);
        note_bytes(r, "address", event->found.address->bytes, 6);
        break;
    case TENDON_FEELSPACE_EVENT_SCAN_FINISHED:
        note(r, "%d, %d", event->scan.cause, event->scan.error);
        break;
    case TENDON_FEELSPACE_EVENT_BUTTON:
        note(r, "%d %d %d %d", event->press.button, event->press.is_long, event->press.previous_mode,
             event->press.new_mode);
        break;
    case TENDON_FEELSPACE_EVENT_PARAMETER:
        note(r, "%d", event->parameter->kind);
        break;
    case TENDON_FEELSPACE_EVENT_DEBUG:
    case TENDON_FEELSPACE_EVENT_REJECTED:
        note(r, "%d at %u", event->packet.characteristic, (unsigned)event->packet.offset);
        note_bytes(r, "packet", event->packet.data, event->packet.length);
        break;
    case TENDON_FEELSPACE_EVENT_COMMAND:
        note(r, "%u on %d", (unsigned)event->command.id, event->command.characteristic);
        break;
    default:
        break;
    }
    note(r, "mode %d intensity %d offset %d accuracy %d battery %d heading %d", s->mode, s->default_intensity,
         s->heading_offset, s->accuracy_state, (int)s->battery.level_percent, s->orientation.heading);
}

static void note_told(belt *b, const tendon_feelspace_navigation_event *event) {
    note(now_recorded, "told %d: %d %d %d %d %d, %d %d; %d", event->kind, event->value, event->navigating,
         event->accurate, event->enabled, event->power, event->connection, event->error, event->found != NULL);
    note(now_recorded, "navigation %d", b->navigation.state);
}

static void note_all(belt *b) {
    recording *r = now_recorded;
    const tendon_feelspace_session *s = &b->session;
    const tendon_feelspace_counters *c = &s->counters;
    for (size_t i = 0; i < b->log_count; i++) {
        note(r, "asked %02x of %u at %u", b->log[i].opcode, b->log[i].handle, (unsigned)b->log[i].at);
        note_bytes(r, "with", b->log[i].value, b->log[i].length);
    }
    b->log_count = b->event_count = b->told_count = 0;
    note(r, "state %d, connects %d, disconnects %d, pairs %d, scanning %d, idle %d, draining %d", s->state, b->connects,
         b->disconnects, b->pairs, b->scanning, tendon_feelspace_session_idle(s), s->work.draining);
    note(r, "due %lld, bearer %lld", (long long)tendon_feelspace_session_inputs.deadline(s),
         b->up ? (long long)tendon_att_bearer_deadline(&b->bearer) : -1);
    note(r,
         "mode %d intensity %d offset %d accuracy %d on %d, %d, firmware %d battery %d %d orientation %d %d, patch %d",
         s->mode, s->default_intensity, s->heading_offset, s->accuracy_state, s->orientation_enabled,
         s->orientation_variation_deg, s->has_firmware, s->has_battery, (int)s->battery.level_percent,
         s->has_orientation, s->orientation.heading, s->patch);
    note(r, "counted %u %u %u %u %u %u %u, last %u", (unsigned)c->notifications, (unsigned)c->keep_alives,
         (unsigned)c->rejected, (unsigned)c->unsupported, (unsigned)c->commands, (unsigned)c->advertisers_left_out,
         (unsigned)c->illegal_inputs, (unsigned)s->last_command);
    if (b->navigates) {
        const tendon_feelspace_navigation *n = &b->navigation;
        note(r, "navigation %d, due %lld, heading %d accurate %d battery %d signal %d", n->state,
             (long long)tendon_feelspace_navigation_deadline(n), tendon_feelspace_navigation_heading(n),
             tendon_feelspace_navigation_accurate(n), tendon_feelspace_navigation_battery_level(n),
             tendon_feelspace_navigation_accuracy_signal(n));
    }
}

static void advertise(belt *b, recording *r) {
    static const uint8_t texts[][30] = {"\x03\x02\x51\xFE\x0F\x09naviGuertel 12", "\x03\x02\x51\xFE",
                                        "\x0F\x09naviGuertel 12", "\x03\x03\x50\xFE\x05\x09navi"};
    static const uint8_t lengths[] = {20, 4, 16, 10};
    unsigned which = choose(r, 4);
    tendon_ad_report report = {.address = belt_address,
                               .data = texts[which],
                               .length = lengths[which],
                               .rssi = (int8_t)(-40 - (int)choose(r, 40))};
    report.address.bytes[5] = (uint8_t)choose(r, 20);
    tendon_feelspace_session_advertised(&b->session, &report, b->now);
}

static void notify(belt *b, recording *r) {
    static const uint16_t handles[] = {H_KEEP_ALIVE, H_BUTTON, H_PARAMETER, H_BATTERY, H_ORIENTATION, H_DEBUG_OUTPUT};
    static const char *const usual[][4] = {
        {"0001", "0002", "0000", "0009"},
        {"01 01 00 01 02", "02 03 00 02 01", "04 01 00 01 01", "01 01"},
        {"01 01 02", "01 02 32", "10 03 01", "01 03 2d00"},
        {"010040f000", "02003ff100", "0300200000", "01"},
        {"02a6ffd3ff0200faff05000303030300", "025a00d3ff0200faff05000303030301", "020a00",
         "02b400000000000000000303030300"},
        {"a0 0100 02 01000000 02000000", "a1 01000000 02000000 0100 01", "e1 01000000", "00"},
    };
    unsigned which = choose(r, 6), form = choose(r, 6);
    if (form < 4) {
        belt_notify(b, handles[which], usual[which][form]);
        return;
    }
    uint8_t bytes[20];
    size_t length = choose(r, sizeof bytes + 1);
    for (size_t i = 0; i < length; i++) {
        bytes[i] = (uint8_t)choose(r, choose(r, 2) == 0 ? 4 : 256);
    }
    belt_notify_bytes(b, handles[which], bytes, length);
}

/* Arguments of a call: drawn one after the other, because compilers evaluate arguments in different orders. */
typedef struct drawn {
    int32_t few, more, many, angle, percent, ms, type, times;
    bool a, b, c;
} drawn;

static int32_t from_minus_one(recording *r, unsigned below) {
    return (int32_t)choose(r, below + 2u) - 1;
}

static drawn draw(recording *r) {
    drawn v;
    v.few = from_minus_one(r, 6);
    v.more = from_minus_one(r, 14);
    v.many = from_minus_one(r, 300);
    v.angle = from_minus_one(r, 400);
    v.percent = from_minus_one(r, 110);
    v.ms = from_minus_one(r, 40) * 20;
    v.type = from_minus_one(r, 4);
    v.times = from_minus_one(r, 4);
    v.a = choose(r, 2) == 0;
    v.b = choose(r, 2) == 0;
    v.c = choose(r, 2) == 0;
    return v;
}

static tendon_status vibrate(belt *b, unsigned how, const drawn *v) {
    tendon_feelspace_session *s = &b->session;
    const tendon_feelspace_channel channel = {.channel = v->few,
                                              .pattern = v->more,
                                              .intensity = v->percent,
                                              .orientation_type = v->type,
                                              .orientation = v->angle,
                                              .iterations = v->many,
                                              .period_ms = v->ms,
                                              .exclusive = v->a,
                                              .clear_others = v->b};
    const tendon_feelspace_pulse pulse = {.channel = v->few,
                                          .orientation_type = v->type,
                                          .orientation = v->angle,
                                          .intensity = v->percent,
                                          .on_ms = v->ms / 2,
                                          .pulse_period_ms = v->ms,
                                          .pulse_iterations = v->times,
                                          .series_period_ms = v->ms * 4,
                                          .series_iterations = v->many % 130,
                                          .timer_option = v->times,
                                          .exclusive = v->b,
                                          .clear_others = v->c};
    const tendon_feelspace_vibration vibration = {.signal = v->more,
                                                  .direction = v->angle,
                                                  .is_bearing = v->a,
                                                  .intensity = v->percent,
                                                  .channel = v->few,
                                                  .stop_others = v->b};
    return how == 0   ? tendon_feelspace_session_configure_channel(s, &channel, b->now)
           : how == 1 ? tendon_feelspace_session_pulse(s, &pulse, b->now)
                      : tendon_feelspace_session_vibrate(s, &vibration, b->now);
}

static tendon_status command(belt *b, recording *r) {
    tendon_feelspace_session *s = &b->session;
    unsigned what = choose(r, 18);
    const drawn v = draw(r);
    static const uint8_t request[] = {0x10, 0x00, 0x03, 0x00};
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    switch (what) {
    case 0:
    case 1:
        return tendon_feelspace_session_set_mode(s, v.few, b->now);
    case 2:
        return tendon_feelspace_session_set_default_intensity(s, v.percent, v.a, b->now);
    case 3:
        return tendon_feelspace_session_set_heading_offset(s, v.angle, b->now);
    case 4:
        return tendon_feelspace_session_set_accuracy_signal(s, v.a, v.b, v.c, b->now);
    case 5:
        return tendon_feelspace_session_request_accuracy_signal(s, b->now);
    case 6:
        return tendon_feelspace_session_signal(s, v.few, b->now);
    case 7:
        return tendon_feelspace_session_stop(s, v.few, b->now);
    case 8:
        return tendon_feelspace_session_set_orientation_period(s, v.ms, b->now);
    case 9:
    case 10:
        return tendon_feelspace_session_start_orientation(s, (uint32_t)(v.times + 1) * 100u,
                                                          (uint16_t)(v.angle / 2 + 1), b->now);
    case 11:
        return tendon_feelspace_session_stop_orientation(s, b->now);
    case 12:
        return tendon_feelspace_session_request_log(s, b->now);
    case 13:
        return tendon_feelspace_session_send(s, TENDON_FEELSPACE_PARAMETER_REQUEST, request, v.times, b->now);
    case 14:
        for (size_t i = 0; i < sizeof packet; i++) {
            packet[i] = (uint8_t)choose(r, i == 0 ? 0x44 : 16);
        }
        return tendon_feelspace_session_send(s, TENDON_FEELSPACE_VIBRATION_COMMAND, packet, v.more + 1, b->now);
    default:
        return vibrate(b, what - 15, &v);
    }
}

static tendon_status steer(belt *b, recording *r) {
    tendon_feelspace_navigation *n = &b->navigation;
    unsigned what = choose(r, 15);
    const drawn v = draw(r);
    switch (what) {
    case 0:
        return tendon_feelspace_navigation_search_and_connect(n, b->now);
    case 1:
        return tendon_feelspace_navigation_search(n, b->now);
    case 2:
        return tendon_feelspace_navigation_connect(n, &belt_address, b->now);
    case 3:
        if (v.times == 0) {
            tendon_feelspace_navigation_disconnect(n, b->now);
        }
        return 0;
    case 4:
    case 5:
        return tendon_feelspace_navigation_start(n, v.angle, v.a, v.more, b->now);
    case 6:
        return tendon_feelspace_navigation_update(n, v.angle, v.a, v.more, b->now);
    case 7:
        tendon_feelspace_navigation_pause(n, b->now);
        return 0;
    case 8:
        tendon_feelspace_navigation_stop(n, b->now);
        return 0;
    case 9:
        return tendon_feelspace_navigation_notify_destination(n, v.a, b->now);
    case 10:
        return tendon_feelspace_navigation_notify_direction(n, v.angle, v.a, b->now);
    case 11:
        return tendon_feelspace_navigation_notify_warning(n, v.a, b->now);
    case 12:
        return tendon_feelspace_navigation_notify_battery(n, b->now);
    case 13:
        return tendon_feelspace_navigation_set_intensity(n, v.percent, v.a, b->now);
    default:
        return tendon_feelspace_navigation_set_accuracy_signal(n, v.a, v.b, b->now);
    }
}

static void input(belt *b, recording *r, unsigned what) {
    tendon_feelspace_session *s = &b->session;
    static const tendon_status ends[] = {TENDON_HCI_ERROR(0x08), TENDON_RADIO_ERROR_PEER_CLOSED, TENDON_ERROR_CANCELLED,
                                         TENDON_ERROR_TIMEOUT, TENDON_RADIO_ERROR_OUT_OF_RANGE};
    switch (what) {
    case 0:
        note(r, "scan %d", tendon_feelspace_session_scan(s, choose(r, 3) * 1000u, b->now));
        break;
    case 1:
        tendon_feelspace_session_stop_scan(s, b->now);
        break;
    case 2: {
        tendon_feelspace_connect_options options = {.timeout_ms = choose(r, 4) * 3000u};
        options.known = choose(r, 2) == 0;
        note(r, "connect %d", tendon_feelspace_session_connect(s, &belt_address, &options, b->now));
        break;
    }
    case 3:
        if (choose(r, 4) == 0) {
            tendon_feelspace_session_disconnect(s, b->now);
        }
        break;
    case 4:
        tendon_feelspace_session_adapter(s, (tendon_feelspace_adapter)choose(r, choose(r, 2) == 0 ? 1 : 5), b->now);
        break;
    case 5:
        advertise(b, r);
        break;
    case 6:
    case 7:
        if (!b->up) {
            belt_link_up(b);
        }
        break;
    case 8:
        if (choose(r, 3) == 0) {
            belt_lose(b, ends[choose(r, 5)]);
        }
        break;
    case 9:
        tendon_feelspace_session_inputs.paired(s, choose(r, 2) == 0 ? TENDON_OK : TENDON_RADIO_ERROR_PAIRING_FAILED,
                                               b->now);
        break;
    case 10:
    case 11:
    case 12:
        notify(b, r);
        break;
    case 13:
    case 14:
    case 15:
        note(r, "command %d", command(b, r));
        break;
    case 16:
        if (b->navigates) {
            note(r, "steer %d", steer(b, r));
        }
        break;
    case 17:
        for (unsigned left = choose(r, 8); left > 0; left--) {
            (void)belt_answer_one(b);
        }
        break;
    case 18:
    case 19:
    case 20:
        belt_run(b);
        break;
    case 21:
        belt_advance(b, choose(r, 300));
        break;
    case 22:
        belt_advance(b, choose(r, 9000));
        break;
    case 23:
        b->mute = choose(r, 4) == 0;
        b->silent = choose(r, 4) == 0;
        b->is_bonded = choose(r, 4) != 0;
        b->connect_result = choose(r, 6) == 0 ? TENDON_RADIO_ERROR_ADAPTER_DOWN : TENDON_OK;
        b->pair_result = choose(r, 6) == 0 ? TENDON_RADIO_ERROR_PAIRING_FAILED : TENDON_OK;
        b->scan_result = choose(r, 6) == 0 ? TENDON_RADIO_ERROR_ADAPTER_DOWN : TENDON_OK;
        break;
    default:
        b->fail_at = choose(r, 3) == 0 ? (int)choose(r, 20) : -1;
        b->fail_code = (uint8_t)(1 + choose(r, 0x0F));
        break;
    }
}

/* What the program does within an event, now and then. */
static void on_hook(belt *b, const tendon_feelspace_event *event) {
    note_event(b, event);
    if (b->hooked > 0 && choose(now_recorded, event->kind == TENDON_FEELSPACE_EVENT_STATE ? 8 : 30) == 0) {
        b->hooked--;
        unsigned what = choose(now_recorded, 6);
        note(now_recorded, "within: %u", what);
        if (what > 2) {
            note(now_recorded, "command %d", command(b, now_recorded));
        } else if (what == 0) {
            tendon_feelspace_session_disconnect(&b->session, b->now);
        } else {
            (void)tendon_feelspace_session_connect(&b->session, &belt_address, NULL, b->now);
        }
    }
}

/* One belt, from its beginning. */
static void live(recording *r, unsigned number) {
    void *fresh = NULL;
    belt_setup(&fresh);
    belt *b = fresh;
    now_recorded = r;
    b->config.reconnect = number % 2 == 0;
    b->config.strict = number % 5 == 1;
    b->config.skip_pairing = number % 7 == 2;
    b->is_bonded = number % 3 != 0;
    b->hooked = 8;
    b->hook = on_hook;
    b->nav_hook = note_told;
    if (number % 4 == 3) {
        belt_set(b, H_FIRMWARE, "2d00");
    }
    belt_init(b);
    if (number % 3 == 1) {
        belt_navigate(b);
    }
    if (number % 2 == 1) { /* half of the runs begin with a connected belt */
        belt_connect(b);
        belt_run(b);
    }
    for (int i = 0; i < 150; i++) {
        b->now += choose(r, 3) * choose(r, 30); /* nothing was due: what comes has a time of its own */
        input(b, r, choose(r, 25));
        tendon_feelspace_session_inputs.tick(&b->session, b->now); /* due or not */
        note_all(b);
    }
    belt_teardown(&fresh);
}

static void play(recording *r, unsigned number) {
    play_lives(r, number, LIVES, live);
}

static void what_a_session_does_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x83168080, 0xC1659C81, 0x5FC024C5, 0x675AD235, 0x3FAA99B2, 0xE34A1D11, 0xDD2853CC, 0x5DAE5EF0,
        0x767BFC96, 0xE2109118, 0xDD4B239D, 0xED4DAF4E, 0x57B325B6, 0x868ACB6D, 0x2E13AFC1, 0x6025F128,
        0x34806475, 0x18F94288, 0x401B0BA8, 0x0202BB03, 0xACB354B3, 0x5C623ED2, 0x1CABB1E0, 0x0C0FC9CA,
    };
    compare_recordings(known, RUNS, play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_session_does_is_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
