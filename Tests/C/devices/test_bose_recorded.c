/* SPDX-License-Identifier: MIT */
/* Bose: recorded runs of a session with a device that refuses, falls silent, suspends, disappears. */
#include "bose_fixture.h"
#include "test_recording.h"

enum { RUNS = 16, LIVES = 70, STEPS = 100 };

static tendon_status configure(fixture *f);

static recording *recorded;
static unsigned calls_within;

static void note_sample(recording *r, const tendon_bose_sample *s) {
    note(r, "sample %d, time %u, accuracy %d %d, has %d %d %d %d, %d", s->sensor_id, s->timestamp, s->accuracy,
         s->accuracy_raw, s->has_vector, s->has_quaternion, s->has_accuracy, s->has_bias, s->accuracy_unknown);
    for (int i = 0; i < 4; i++) {
        note(r, "%d, bias %d", s->raw[i], s->raw_bias[i]);
    }
}

static void on_event(fixture *f, const tendon_bose_event *event) {
    recording *r = recorded;
    note(r, "event %d status %d at %u in %d: %d %d %u, %u", event->kind, event->status, (unsigned)f->now,
         f->session.state, event->reason, event->characteristic, (unsigned)event->offset, event->configuration);
    note(r, "clock %u, gesture %d at %u, length %u", (unsigned)event->device_ms, event->gesture.gesture_id,
         (unsigned)event->gesture.timestamp, (unsigned)event->length);
    note_bytes(r, "service", event->service_uuid.bytes, sizeof event->service_uuid.bytes);
    note_bytes(r, "characteristic", event->characteristic_uuid.bytes, sizeof event->characteristic_uuid.bytes);
    if (event->sample != NULL) {
        note_sample(r, event->sample);
    }
    if (event->intents != NULL) {
        note(r, "missing %x %x %x, %d %d", (unsigned)event->intents->missing_sensors, event->intents->missing_periods,
             (unsigned)event->intents->missing_gestures, event->intents->too_many_sensors,
             event->intents->over_payload);
    }
    if (calls_within > 0 && choose(r, 12) == 0) {
        calls_within--;
        unsigned what = choose(r, 8);
        note(r, "within: %d",
             what < 2    ? tendon_bose_session_close(&f->session, f->now)
             : what == 2 ? tendon_bose_session_open(&f->session, f->now)
                         : configure(f));
    }
}

static void note_all(fixture *f) {
    recording *r = recorded;
    const tendon_bose_session *s = &f->session;
    const tendon_bose_counters *c = &s->counters;
    for (size_t i = 0; i < f->log_count; i++) {
        note(r, "asked %06x", (unsigned)f->log[i]);
    }
    f->log_count = f->event_count = 0;
    note(r, "state %d due %lld bearer %lld; asked %d %d %d, pairs %d", s->state,
         (long long)tendon_bose_session_inputs.deadline(s),
         f->up ? (long long)tendon_att_bearer_deadline(&f->bearer) : -1, f->connect_asked, f->disconnect_asked,
         f->pair_asked, f->pair_calls);
    note(r, "has %d %d %d %d %d, number %u, firmware %d, count %u %u %u %u", s->has_device, s->has_sensors,
         s->has_sensor_configuration, s->has_gestures, s->has_gesture_configuration, s->configurations, s->firmware,
         (unsigned)s->sensors.count, (unsigned)s->sensor_configuration.count, (unsigned)s->gestures.count,
         (unsigned)s->gesture_configuration.count);
    for (size_t i = 0; i < s->sensor_configuration.count && s->has_sensor_configuration; i++) {
        note(r, "sensor %d every %d", s->sensor_configuration.settings[i].sensor_id,
             s->sensor_configuration.settings[i].period_ms);
    }
    for (size_t i = 0; i < s->gesture_configuration.count && s->has_gesture_configuration; i++) {
        note(r, "gesture %d is %d", s->gesture_configuration.entries[i].gesture_id,
             s->gesture_configuration.entries[i].enabled);
    }
    for (int i = 0; i < TENDON_BOSE_STRING_COUNT && s->strings.strings[i].present; i++) {
        note_bytes(r, "string", (const uint8_t *)s->strings.strings[i].bytes, s->strings.strings[i].length);
    }
    note(r, "ids %d %d %d", s->strings.has_system_id, s->strings.has_pnp_id, s->strings.has_regulatory);
    note_bytes(r, "regulatory", s->strings.regulatory, s->strings.has_regulatory ? s->strings.regulatory_length : 0);
    note(r, "counted %u %u %u %u %u %u %u", (unsigned)c->notifications, (unsigned)c->samples, (unsigned)c->gestures,
         (unsigned)c->skipped, (unsigned)c->malformed, (unsigned)c->dropped, (unsigned)c->illegal_inputs);
}

static void random_value(fixture *f, uint16_t handle) {
    recording *r = recorded;
    attribute *a = fixture_attribute(f, handle);
    if (a == NULL) {
        return;
    }
    size_t cut = choose(r, 4) == 0 ? choose(r, (unsigned)a->length + 1) : a->length;
    a->length = cut;
    for (unsigned changes = choose(r, 3); changes > 0 && a->length > 0; changes--) {
        size_t at = choose(r, (unsigned)a->length);
        a->value[at] = (uint8_t)choose(r, 256);
    }
}

static void notify(fixture *f) {
    recording *r = recorded;
    static const char *const values[] = {"0003e800000000f00003",
                                         "00000a0000010002000303",
                                         "01000b0000010002000303 03000c00000100020003000400",
                                         "020004000001000200030004000a00",
                                         "0300ff",
                                         "07000000",
                                         "",
                                         "00fffe0000010002000303"};
    static const char *const gestures[] = {"c12710", "810001", "830002", "c1", "990001", "c2ffff00"};
    static const char *const lists[] = {"8101 8200 8300 c000 c101 c200", "8100 8201 8301 c000 c100 c200", "8101 82",
                                        "8100 8200 8300 c000 c100 c201"};
    unsigned what = choose(r, 6);
    if (what < 3) {
        fixture_notify(f, H_SENSOR_DATA, values[choose(r, 8)]);
    } else if (what == 5) {
        fixture_notify(f, H_GESTURE_CONFIG, lists[choose(r, 4)]);
    } else if (what == 3) {
        fixture_notify(f, H_GESTURE_DATA, gestures[choose(r, 6)]);
    } else {
        fixture_notify(f, H_SENSOR_CONFIG, choose(r, 2) == 0 ? "001400 010000 020000 030000" : "0014");
    }
}

static tendon_status configure(fixture *f) {
    recording *r = recorded;
    tendon_bose_session *s = &f->session;
    static const uint16_t periods[] = {0, 10, 20, 40, 80, 160, 320, 33};
    unsigned what = choose(r, 5), id = choose(r, 6), index = choose(r, 8);
    switch (what) {
    case 0: {
        tendon_bose_sensor_configuration wanted = s->sensor_configuration;
        for (size_t i = 0; i < wanted.count; i++) {
            if (choose(r, 3) == 0) {
                wanted.settings[i].period_ms = choose(r, 2) == 0 ? 0 : periods[index];
            }
        }
        return tendon_bose_session_configure_sensors(s, &wanted, f->now);
    }
    case 1: {
        tendon_bose_gesture_configuration wanted = s->gesture_configuration;
        for (size_t i = 0; i < wanted.count; i++) {
            wanted.entries[i].enabled = choose(r, 2) == 0;
        }
        return tendon_bose_session_configure_gestures(s, &wanted, f->now);
    }
    case 2:
        return tendon_bose_session_refresh(
            s, (tendon_bose_characteristic)choose(r, TENDON_BOSE_CHARACTERISTIC_COUNT + 1), f->now);
    case 3:
        return tendon_bose_session_refresh_strings(s, f->now);
    default:
        return tendon_bose_session_enable(s, (uint8_t)id, periods[index], f->now);
    }
}

static void step(fixture *f) {
    recording *r = recorded;
    static const uint16_t statuses[] = {0x0000, 0x0002, 0x0003, 0x1008, 0x2008, 0x3008, 0x0008, 0x0001};
    static const tendon_status ends[] = {TENDON_RADIO_ERROR_OUT_OF_RANGE, TENDON_RADIO_ERROR_PEER_CLOSED,
                                         TENDON_ERROR_CANCELLED, TENDON_ERROR_TIMEOUT, TENDON_HCI_ERROR(0x08)};
    static const uint16_t handles[] = {H_DEVICE,         H_SENSORS, H_SENSOR_CONFIG, H_GESTURES,
                                       H_GESTURE_CONFIG, H_MODEL,   H_SERIAL,        H_FIRMWARE};
    switch (choose(r, 24)) {
    case 0:
    case 1:
        note(r, "open %d", tendon_bose_session_open(&f->session, f->now));
        break;
    case 2:
        note(r, "close %d", choose(r, 2) == 0 ? tendon_bose_session_close(&f->session, f->now) : 1);
        break;
    case 3:
    case 4:
        if (!f->up && f->connect_asked) {
            f->connect_asked = false;
            fixture_link_up(f);
        }
        break;
    case 5:
        if (choose(r, 3) == 0) {
            fixture_lose(f, ends[choose(r, 5)]);
        }
        break;
    case 6:
        tendon_bose_session_inputs.paired(&f->session, choose(r, 2) == 0 ? TENDON_OK : TENDON_ERROR_BUSY, f->now);
        break;
    case 7:
        tendon_bose_session_inputs.paired(
            &f->session, choose(r, 2) == 0 ? TENDON_RADIO_ERROR_PAIRING_FAILED : TENDON_RADIO_ERROR_ADAPTER_BUSY,
            f->now);
        break;
    case 8:
    case 9:
        fixture_status(f, statuses[choose(r, 8)]);
        break;
    case 10:
    case 11:
        notify(f);
        break;
    case 12:
    case 13:
    case 14:
        note(r, "configure %d", configure(f));
        break;
    case 15:
        f->mute = choose(r, 5) == 0;
        f->keeps_written = choose(r, 4) != 0;
        f->is_bonded = choose(r, 2) == 0;
        f->mtu = choose(r, 4) == 0 ? (uint16_t)(23 * choose(r, 3)) : 247;
        f->connect_result = choose(r, 6) == 0 ? TENDON_RADIO_ERROR_ADAPTER_DOWN : TENDON_OK;
        f->pair_result = choose(r, 4) == 0 ? TENDON_ERROR_BUSY : TENDON_OK;
        break;
    case 16:
        f->fail_at = choose(r, 2) == 0 ? (int)(f->log_count + choose(r, 25)) : -1;
        f->fail_at_code = (uint8_t)(1 + choose(r, 0x11));
        break;
    case 17:
        if (choose(r, 3) == 0) {
            random_value(f, handles[choose(r, 8)]);
        }
        break;
    case 18:
        fixture_advance(f, choose(r, 400));
        break;
    case 19:
        fixture_advance(f, choose(r, 12000));
        break;
    case 20:
        fixture_disconnect_if_asked(f);
        break;
    case 21:
        f->answer_limit = (int)choose(r, 6);
        fixture_run(f);
        f->answer_limit = -1;
        break;
    default:
        fixture_run(f);
        break;
    }
}

/* The strings that the usual table does not have. */
static void add_strings(fixture *f) {
    static const struct {
        uint16_t handle;
        const char *type, *value;
    } more[] = {{0x003B, "0328", "023c00272a"}, {0x003C, "272a", "4857"},       {0x003D, "0328", "023e00282a"},
                {0x003E, "282a", "5357"},       {0x003F, "0328", "024000292a"}, {0x0040, "292a", "4d414b4552"},
                {0x0041, "0328", "0242002a2a"}, {0x0042, "2a2a", "0102030405"}};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        attribute *a = &f->attributes[f->attribute_count++];
        a->handle = more[i].handle;
        a->type_length = unhex(more[i].type, a->type, sizeof a->type);
        a->length = unhex(more[i].value, a->value, sizeof a->value);
    }
}

static void live(recording *r, unsigned number) {
    void *fresh;
    fixture_setup(&fresh);
    fixture *f = fresh;
    recorded = r;
    calls_within = number % 8;
    tendon_bose_intent intent = {0};
    intent.sensors = choose(r, 3) == 0 ? choose(r, 64) : choose(r, 16);
    intent.gestures = choose(r, 4) == 0 ? 1u << choose(r, 20) : 0;
    intent.periods = (uint16_t)(choose(r, 4) == 0 ? 1u << choose(r, 16) : 0);
    f->config.pairing_delegate = choose(r, 3) != 0;
    f->config.fixed_profile = choose(r, 3) == 0;
    f->config.old_firmware = choose(r, 10) == 0;
    f->config.intent = choose(r, 3) == 0 ? &intent : NULL;
    fixture_init(f);
    f->hook = on_event;
    if (choose(r, 2) == 0) {
        add_strings(f);
    }
    if (choose(r, 3) == 0) {
        uint16_t first = (uint16_t)(0x14 + choose(r, 0x27));
        fixture_remove(f, first, (uint16_t)(first + choose(r, 3)));
    }
    if (number % 2 == 1) {
        note(r, "open %d", tendon_bose_session_open(&f->session, f->now));
        if (f->connect_asked) {
            f->connect_asked = false;
            fixture_link_up(f);
            fixture_run(f);
        }
    }
    for (int i = 0; i < STEPS; i++) {
        f->now += choose(r, 3) * choose(r, 30); /* nothing was due: what comes has a time of its own */
        step(f);
        tendon_bose_session_inputs.tick(&f->session, f->now); /* due or not */
        note_all(f);
    }
    fixture_teardown(&fresh);
}

static void play(recording *r, unsigned number) {
    play_lives(r, number, LIVES, live);
}

static void what_a_session_does_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x2E2E5CC3, 0x681E9335, 0x968668F5, 0x79A6C3B4, 0x270C2E73, 0x4236162B, 0x79572CFA, 0x6FA8D89A,
        0xB28702A2, 0x7BA5E8CD, 0x1FCF4D1C, 0x8B05D172, 0x772BE973, 0x6EBE310A, 0x07C55B82, 0x1D5B8856,
    };
    compare_recordings(known, RUNS, play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_session_does_is_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
