/* SPDX-License-Identifier: MIT */
/* Simulated devices of every family: recorded runs with several centrals, any request, any command of a scenario. */
#include "device_fixture.h"
#include "test_recording.h"

enum { RUNS = 12, LIVES = 20, STEPS = 140, HANDLES = 90 };

typedef struct family {
    device_fixture *f;
    tendon_scenario_actor actor;
    const uint64_t *counters;
    size_t counter_count;
    const char *words;         /* of its commands and their arguments */
    const char *const *writes; /* values that it takes, wherever they belong; the last one is NULL */
    void (*more)(recording *r, void *device, uint64_t now);
    bool measures; /* values of its notifications are computed with floating point */
} family;

/* ---- what is seen ---- */

static void note_pdus(recording *r, family *m) {
    for (unsigned which = 0; which < DEVICE_CENTRALS; which++) {
        device_central *c = &m->f->centrals[which];
        size_t first = c->count > DEVICE_KEPT ? c->count - DEVICE_KEPT : 0;
        for (size_t i = first; i < c->count; i++) {
            const device_taken *t = &c->pdus[i % DEVICE_KEPT];
            bool values = m->measures && t->bytes[0] == 0x1B;
            size_t kept = t->length < sizeof t->bytes ? t->length : sizeof t->bytes;
            note(r, "to %u at %u, %u bytes", which, (unsigned)t->at, t->length);
            note_bytes(r, "pdu", t->bytes, values && kept > 6 ? 6 : kept);
        }
        c->count = 0;
    }
}

static void note_device(recording *r, family *m) {
    const tendon_peripheral_device *d = &m->f->device;
    uint8_t data[31];
    tendon_status length = d->ops->advertisement(d->context, data, sizeof data);
    note_bytes(r, "advertisement", data, length > 0 ? (size_t)length : 0);
    length = d->ops->scan_response(d->context, data, sizeof data);
    note_bytes(r, "scan response", data, length > 0 ? (size_t)length : 0);
    note(r, "due %lld, pairing %u", (long long)d->ops->deadline(d->context),
         d->ops->pairing != NULL ? (unsigned)d->ops->pairing(d->context) : 99u);
    for (size_t i = 0; i < m->counter_count; i++) {
        note(r, "%u", (unsigned)m->counters[i]);
    }
    if (m->more != NULL) {
        m->more(r, d->context, m->f->now);
    }
}

/* ---- what is done ---- */

static void send(family *m, unsigned which, const uint8_t *bytes, size_t length) {
    block exact = block_copy(bytes, length);
    if (m->f->centrals[which].owner != NULL) {
        (void)tendon_att_bearer_receive(&m->f->centrals[which].bearer, exact.data, exact.length, m->f->now);
    }
    free(exact.data);
}

static void send_any(recording *r, family *m, unsigned which) {
    static const uint8_t opcodes[] = {0x0A, 0x12, 0x12, 0x12, 0x52, 0x52, 0x0C,
                                      0x08, 0x04, 0x10, 0x16, 0x18, 0x1E, 0x0E};
    uint8_t pdu[40];
    unsigned handle = 1 + choose(r, HANDLES), way = choose(r, sizeof opcodes);
    size_t length = 3 + choose(r, choose(r, 3) == 0 ? 20 : 5);
    pdu[0] = opcodes[way];
    pdu[1] = (uint8_t)handle;
    pdu[2] = 0;
    for (size_t i = 3; i < sizeof pdu; i++) {
        pdu[i] = (uint8_t)choose(r, choose(r, 2) == 0 ? 5 : 256);
    }
    switch (pdu[0]) {
    case 0x0A:
        length = 3;
        break;
    case 0x0C:
        length = 5;
        pdu[4] = 0;
        break;
    case 0x08:
    case 0x10:
        length = 7;
        pdu[3] = (uint8_t)(handle + choose(r, 20));
        pdu[4] = 0;
        pdu[5] = (uint8_t)choose(r, 5);
        pdu[6] = 0x28;
        break;
    case 0x04:
        length = 5;
        pdu[3] = (uint8_t)(handle + choose(r, 20));
        pdu[4] = 0;
        break;
    case 0x16:
        length = 5 + choose(r, 16);
        pdu[4] = 0;
        break;
    case 0x18:
        length = 2;
        break;
    case 0x1E:
        length = 1;
        break;
    default:
        break;
    }
    note_bytes(r, "send", pdu, length);
    send(m, which, pdu, length);
}

static void subscribe_all(family *m, unsigned which, uint8_t bits) {
    for (unsigned handle = 1; handle <= HANDLES; handle++) {
        const uint8_t pdu[] = {0x12, (uint8_t)handle, 0, bits, 0};
        send(m, which, pdu, sizeof pdu);
    }
}

/* Up to so many ms; a device that sends without a pause is stopped earlier. */
static void run(family *m, unsigned ms) {
    const tendon_peripheral_device *d = &m->f->device;
    uint64_t until = m->f->now + ms;
    for (int ticks = 0; ticks < 150 && d->ops->deadline(d->context) <= until; ticks++) {
        uint64_t due = d->ops->deadline(d->context);
        m->f->now = due > m->f->now ? due : m->f->now;
        d->ops->tick(d->context, m->f->now);
    }
    m->f->now = until;
}

/* A value that one of its characteristics takes, with a byte changed now and then, to all of them. */
static void write_usual(recording *r, family *m, unsigned which) {
    size_t count = 0;
    while (m->writes[count] != NULL) {
        count++;
    }
    block value = block_hex(m->writes[choose(r, (unsigned)count)]);
    uint8_t pdu[40] = {0x12};
    memcpy(pdu + 3, value.data, value.length);
    if (choose(r, 2) == 0) {
        size_t at = 3 + choose(r, (unsigned)value.length);
        pdu[at] = (uint8_t)choose(r, choose(r, 2) == 0 ? 6 : 256);
    }
    note_bytes(r, "write", pdu + 3, value.length);
    for (unsigned handle = 1; handle <= HANDLES; handle++) {
        pdu[1] = (uint8_t)handle;
        send(m, which, pdu, value.length + 3);
    }
    free(value.data);
}

static size_t append_word(recording *r, family *m, char *line, size_t at, bool command) {
    size_t count = 0;
    for (const char *c = m->words; *c != 0; c++) {
        count += *c == ' ';
    }
    unsigned wanted = choose(r, (unsigned)count);
    if (command && choose(r, 3) != 0) {
        wanted = choose(r, (unsigned)count / 2); /* commands come first */
    }
    const char *begin = m->words;
    while (wanted > 0) {
        begin = strchr(begin, ' ') + 1;
        wanted--;
    }
    size_t length = (size_t)(strchr(begin, ' ') - begin);
    memcpy(line + at, begin, length);
    line[at + length] = ' ';
    return at + length + 1;
}

static void perform(recording *r, family *m) {
    char line[160] = "at 0ms ";
    size_t at = 7;
    unsigned words = 1 + choose(r, 4);
    for (unsigned i = 0; i < words; i++) {
        at = append_word(r, m, line, at, i == 0);
    }
    line[at] = 0;
    tendon_scenario_event event;
    note_raw(r, line);
    assert_int_equal(tendon_scenario_parse(line, at, NULL, &event, 1, NULL), 1);
    size_t wrong = 0;
    note(r, "dry %d", m->actor.perform(m->actor.context, &event, true, &wrong, m->f->now));
    note(r, "wrong %u", (unsigned)wrong);
    note_device(r, m);
    wrong = 0;
    note(r, "done %d", m->actor.perform(m->actor.context, &event, false, &wrong, m->f->now));
    note(r, "wrong %u", (unsigned)wrong);
}

static void connect(recording *r, family *m, unsigned which) {
    device_central *c = &m->f->centrals[which];
    if (c->owner != NULL) {
        device_disconnect(m->f, which);
        c->owner = NULL;
        note(r, "disconnected");
        return;
    }
    tendon_status status = device_connect(m->f, which, choose(r, 2) == 0 ? 23 : (uint16_t)(24 + choose(r, 136)));
    note(r, "connected %d", status);
    if (status != TENDON_OK) {
        c->owner = NULL;
        return;
    }
    if (choose(r, 4) != 0) {
        m->f->device.ops->paired(m->f->device.context, &c->bearer, m->f->now);
        subscribe_all(m, which, (uint8_t)(1 + choose(r, 4) / 3));
    }
}

static void step(recording *r, family *m) {
    unsigned which = choose(r, DEVICE_CENTRALS);
    device_central *c = &m->f->centrals[which];
    switch (choose(r, 20)) {
    case 16:
    case 17:
    case 18:
    case 19:
        write_usual(r, m, which);
        break;
    case 0:
        connect(r, m, which);
        break;
    case 1:
        if (c->owner != NULL) {
            m->f->device.ops->paired(m->f->device.context, &c->bearer, m->f->now);
        }
        break;
    case 2:
        if (c->owner != NULL) {
            device_writable(m->f, which, (int)choose(r, 6) - 1);
        }
        break;
    case 3:
        if (c->owner != NULL) {
            subscribe_all(m, which, (uint8_t)choose(r, 3));
        }
        break;
    case 4:
    case 5:
        run(m, choose(r, 120));
        break;
    case 6:
        run(m, choose(r, 1500));
        break;
    case 7:
        run(m, choose(r, 12) == 0 ? choose(r, 100000) : 1);
        break;
    case 8:
    case 9:
    case 10:
        perform(r, m);
        break;
    default:
        send_any(r, m, which);
        break;
    }
    note_pdus(r, m);
    note_device(r, m);
}

static void live(recording *r, family *m) {
    for (unsigned i = 0; i < 2; i++) {
        m->f->centrals[i].owner = NULL;
        connect(r, m, i);
    }
    note_pdus(r, m);
    for (int i = 0; i < STEPS; i++) {
        step(r, m);
    }
    free(m->f);
}

/* ---- the families ---- */

/* Configurations of sensors and gestures. */
static const char *const bose_writes[] = {"002800 010000 020000 030000",
                                          "001400 011400 021400 031400",
                                          "000000 010000 020000 030000",
                                          "005000 010000 025000 030000",
                                          "8101 8201 8301 c001 c101 c201",
                                          "8100 8200 8300 c000 c101 c200",
                                          "002800",
                                          NULL};
/* "A" and a text, ended by "!": the handshake, the force, a stop, questions; a sample rate. */
static const char *const activ5_writes[] = {"41 545647 54494d45 21",
                                            "41 49534f4d 21 21",
                                            "41 53544f50 21 21",
                                            "41 54415245 21 21",
                                            "41 494431 21 21",
                                            "41 494432 21 21",
                                            "41 534e31 21 21",
                                            "41 534e32 21 21",
                                            "1900",
                                            "0100",
                                            NULL};
/* Channels, pulses, stops, signals; modes and parameters; tones; sensors; the keep-alive. */
static const char *const feelspace_writes[] = {"00 03 aa aa 00 00 02 0e 01 00 00 05 e8 03 00 00 00 01",
                                               "01 01 32 aa 00 00 03 0a 00 00 00 ff f4 01 00 00 01 00",
                                               "02 05 64 aa 00 00 01 03 00 00 00 02 64 00 00 00 00 00",
                                               "40 01 02 2d00 32 6400 c800 02 e803 03 00 00 00",
                                               "40 00 03 0a00 aa 3200 6400 03 f401 01 00 01 01",
                                               "30 ff",
                                               "30 01",
                                               "20 00",
                                               "20 02",
                                               "01 81 03",
                                               "01 81 01",
                                               "01 81 02",
                                               "01 81 04",
                                               "01 82 32 01",
                                               "01 83 2d00",
                                               "01 01",
                                               "01 02",
                                               "01 03",
                                               "10 00 03",
                                               "11 01 03 02",
                                               "11 00 03 01",
                                               "11 00 64 01",
                                               "11 00 65 01",
                                               "11 01 6701 01",
                                               "11 01 6801 01",
                                               "10 00 0a",
                                               "00",
                                               "10",
                                               "03 01 f401",
                                               NULL};
/* Opcode, id, payload of the control point. */
static const char *const fjorden_writes[] = {
    "01 01 aabb", "02 02 01 e803", "02 03 02 0000",      "03 04", "04 05 f401 9001 01",
    "05 06",      "06 07",         "04 08 0a00 9001 01", "07 09", NULL};

#define COUNTERS(device)                                                                                               \
    (const uint64_t *)(const void *)&(device)->counters, sizeof(device)->counters / sizeof(uint64_t)

static bool one_in(recording *r, unsigned count) {
    return choose(r, count) == 0;
}

static void note_motors(recording *r, void *device, uint64_t now) {
    tendon_simulated_feelspace *belt = device;
    uint8_t motors[TENDON_SIMULATED_FEELSPACE_MOTORS];
    unsigned count = tendon_simulated_feelspace_motors(belt, now, motors);
    note(r, "%u motors, mode %d", count, belt->mode);
    note_bytes(r, "motors", motors, sizeof motors);
}

static void play_bose(recording *r, unsigned number) {
    for (unsigned life = 0; life < LIVES; life++) {
        tendon_simulated_bose *d = malloc(sizeof *d);
        assert_non_null(d);
        memset(d, 0xA5, sizeof *d);
        tendon_simulated_bose_options options = {.pairing_required = one_in(r, 3)};
        options.pairing_enabled = one_in(r, 2);
        options.flat_out = one_in(r, 8);
        options.legacy_gesture_information = one_in(r, 4);
        options.max_payload = one_in(r, 3) ? 40 : 0;
        options.transmission_period_ms = one_in(r, 3) ? 20 : 0;
        options.max_active_sensors = one_in(r, 3) ? 2 : 0;
        options.notification_limit = one_in(r, 4) ? 30 : 0;
        options.sensor_mask = one_in(r, 3) ? 0x3F : 0;
        note(r, "bose %u.%u: %d", number, life, tendon_simulated_bose_init(d, &options));
        family m = {
            device_fixture_new(tendon_simulated_bose_device(d)),
            tendon_simulated_bose_actor(d),
            COUNTERS(d),
            "suspend resume gesture malformed pairing_mode gesture malformed off on unknown voice_assistant "
            "multipoint_connection music_share empty cut_header cut_payload unknown_sensor bad_accuracy garbage "
            "single_tap double_tap head_nod affirmative input 3 0x81 300 ",
            bose_writes,
            NULL,
            true};
        live(r, &m);
        free(d);
    }
}

static void play_activ5(recording *r, unsigned number) {
    for (unsigned life = 0; life < LIVES; life++) {
        tendon_simulated_activ5 *d = malloc(sizeof *d);
        assert_non_null(d);
        memset(d, 0xA5, sizeof *d);
        tendon_simulated_activ5_options options = {.legacy = one_in(r, 3)};
        options.lacks = one_in(r, 3) ? 1u << choose(r, 11) : 0;
        options.force_is_f0f1 = one_in(r, 4);
        options.silent = one_in(r, 3);
        options.accepts_early = one_in(r, 3);
        options.stale_tails = one_in(r, 4);
        options.split_frames = one_in(r, 4);
        options.no_script = one_in(r, 4);
        options.flat_out = one_in(r, 8);
        options.notification_limit = one_in(r, 4) ? 25 : 0;
        options.switch_off_ms = one_in(r, 3) ? 3000 : 0;
        options.ticks = one_in(r, 3) ? 0xFFFFFF00u : 7;
        note(r, "activ5 %u.%u: %d", number, life, tendon_simulated_activ5_init(d, &options));
        family m = {device_fixture_new(tendon_simulated_activ5_device(d)),
                    tendon_simulated_activ5_actor(d),
                    COUNTERS(d),
                    "squeeze double_squeeze load battery power malformed stale_tails split_frames squeeze malformed "
                    "load empty short no_slash bad_number bad_encoding long unknown garbage short_imu off on 0 1 77 "
                    "900 70000 ",
                    activ5_writes,
                    NULL,
                    true};
        live(r, &m);
        free(d);
    }
}

static void play_feelspace(recording *r, unsigned number) {
    for (unsigned life = 0; life < LIVES; life++) {
        tendon_simulated_feelspace *d = malloc(sizeof *d);
        assert_non_null(d);
        memset(d, 0xA5, sizeof *d);
        tendon_simulated_feelspace_options options = {.generation = (uint8_t)choose(r, 3)};
        options.firmware = one_in(r, 3) ? (uint16_t)(30 + choose(r, 30)) : 0;
        options.keep_alive_ms = one_in(r, 3) ? 300 : 0;
        options.patience_ms = one_in(r, 3) ? 900 : 0;
        options.pairing_required = one_in(r, 4);
        options.pairing_mode = one_in(r, 4);
        options.without_debug = one_in(r, 4);
        options.unpatched = one_in(r, 3);
        options.flat_out = one_in(r, 8);
        options.notification_limit = one_in(r, 4) ? 25 : 0;
        note(r, "feelspace %u.%u: %d", number, life, tendon_simulated_feelspace_init(d, &options));
        family m = {device_fixture_new(tendon_simulated_feelspace_device(d)),
                    tendon_simulated_feelspace_actor(d),
                    COUNTERS(d),
                    "press mode battery heading turn accurate error malformed silent swapped deaf press mode heading "
                    "standby wait compass app pause calibration crossing power home short long double unknown "
                    "on_battery charging external empty cut bad_value garbage off on 0 1 50 270 4000 ",
                    feelspace_writes,
                    note_motors,
                    false};
        live(r, &m);
        free(d);
    }
}

static void play_fjorden(recording *r, unsigned number) {
    for (unsigned life = 0; life < LIVES; life++) {
        tendon_simulated_fjorden *d = malloc(sizeof *d);
        assert_non_null(d);
        memset(d, 0xA5, sizeof *d);
        tendon_simulated_fjorden_options options = {.lacks = one_in(r, 3) ? 1u << choose(r, 6) : 0};
        options.open = one_in(r, 3);
        options.rejects_pairing = one_in(r, 4);
        options.mute = one_in(r, 4);
        options.bonded = one_in(r, 4);
        options.hand = one_in(r, 3);
        options.flat_out = one_in(r, 8);
        options.event_limit = one_in(r, 4) ? 25 : 0;
        note(r, "fjorden %u.%u: %d", number, life, tendon_simulated_fjorden_init(d, &options));
        family m = {device_fixture_new(tendon_simulated_fjorden_device(d)),
                    tendon_simulated_fjorden_actor(d),
                    COUNTERS(d),
                    "shutter fn dial_button dial lever event battery lose duplicate malformed reset_bond power_off "
                    "pairing shutter fn dial lever event released half full up down ccw cw left neutral right off on "
                    "empty length value unknown state 0 1 3 20 0x41 300 ",
                    fjorden_writes,
                    NULL,
                    false};
        live(r, &m);
        free(d);
    }
}

/* ---- comparing ---- */

static void bose_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x730282E8, 0x2E76D993, 0x20E4C175, 0x38ADB4DD, 0x08E335E8, 0x453E3B7D,
        0xFA467B40, 0xD2C89364, 0xF6876827, 0x762C33EA, 0x141717E3, 0x3D6B3D71,
    };
    compare_recordings(known, RUNS, play_bose);
}

static void activ5_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0xB03BBDFD, 0xFA293D40, 0x3A799A81, 0xE2A2B24F, 0x978985EB, 0x76859559,
        0x483E7591, 0x1C407704, 0x547E4441, 0xF1B4117F, 0xE6BDCC5F, 0xBC374EC9,
    };
    compare_recordings(known, RUNS, play_activ5);
}

static void feelspace_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0xFF7D2412, 0x61D830FB, 0x2595CE6F, 0x2955B429, 0xC864A28D, 0xA5E0F7E7,
        0xDD6D1008, 0xBEF0C96F, 0x070B2323, 0xF6F031C6, 0x7481CFE6, 0xA826A0F8,
    };
    compare_recordings(known, RUNS, play_feelspace);
}

static void fjorden_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x940228D8, 0x30DD86C1, 0xFE91550B, 0x2D89741D, 0x0AA20192, 0x9755AAEC,
        0xA8040E54, 0x27C26AE8, 0x6F4A1C5D, 0xAC55609C, 0x9DD0A03F, 0x593B8417,
    };
    compare_recordings(known, RUNS, play_fjorden);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bose_is_as_recorded),
        cmocka_unit_test(activ5_is_as_recorded),
        cmocka_unit_test(feelspace_is_as_recorded),
        cmocka_unit_test(fjorden_is_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
