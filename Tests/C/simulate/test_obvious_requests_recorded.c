/* SPDX-License-Identifier: MIT */
/*
 * Simulated Obvious device: recorded runs with gateways that send anything. Requests of all kinds, whole and damaged,
 * in any order and of any session; packages and images in parts; scenario commands, power cuts, flash memory that
 * fails.
 */
#include "obvious_fixture.h"
#include "test_recording.h"

enum { RUNS = 12, LIVES = 90, STEPS = 60, GATEWAYS = 2, OBJECT_MAX = 3000 };

static recording *recorded;

/* What is transferred. */
static struct {
    uint8_t obj, bytes[OBJECT_MAX], manifest[136];
    size_t length;
    uint32_t offset;
} object;

/* ---- what is seen ---- */

static void note_frames(size_t which) {
    gateway *g = &o.gateways[which];
    note(recorded, "gateway %u: %u events, %u responses, %u naks, %u errors, battery %u, waiting %u", (unsigned)which,
         g->events, g->responses, g->naks, g->errors, g->battery, (unsigned)g->count);
    note_bytes(recorded, "response", g->frame, g->length);
    note_bytes(recorded, "event", g->event, g->event_length);
    g->length = g->event_length = 0;
}

static void note_device(void) {
    recording *r = recorded;
    const tendon_simulated_obvious *d = &o.device;
    const uint64_t *counters = (const uint64_t *)(const void *)&d->counters;
    for (size_t i = 0; i < sizeof d->counters / sizeof counters[0]; i++) {
        note(r, "%u", (unsigned)counters[i]);
    }
    note(r, "at %u due %lld, reboot at %lld, runs %d, recovery %d, cause %d, needed %d", (unsigned)o.now,
         (long long)o.seam.ops->deadline(o.seam.context), (long long)d->reboot_at, d->running, d->recovery, d->cause,
         d->reboot_needed);
    note(r, "boot %d %d %d %u since %lld", d->boot.active, d->boot.trial, d->boot.boots, (unsigned)d->boot.epoch,
         (long long)d->boot.trial_since);
    for (int i = 0; i < 2; i++) {
        const tendon_simulated_obvious_slot *slot = &d->boot.slots[i];
        note(r, "slot %d %u %u %u %08x", slot->state, (unsigned)slot->version, (unsigned)slot->size,
             (unsigned)slot->epoch, (unsigned)slot->crc32);
    }
    note(r, "session %x of %d: %d, %u of %u, crc %08x", (unsigned)d->session.id, d->session.obj, d->session.state,
         (unsigned)d->session.offset, (unsigned)d->session.size, (unsigned)d->session.crc);
    note(r, "provisioned %d, %d features, counter %u, battery %d", d->provisioned, d->feature_count,
         (unsigned)d->counter, d->battery);
    for (uint16_t id = 15; id < 24; id++) {
        tendon_simulated_obvious_feature feature = {0};
        bool known = tendon_simulated_obvious_get(d, id, &feature);
        note(r, "feature %d: %d %d %d", id, known, feature.enable, feature.toggle);
    }
    uint8_t data[31];
    tendon_status length = o.seam.ops->advertisement(o.seam.context, data, sizeof data);
    note_bytes(r, "advertisement", data, length > 0 ? (size_t)length : 0);
}

static void note_flash(void) {
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < sizeof o.memory; i++) {
        sum = (sum ^ o.memory[i]) * 16777619u;
    }
    note(recorded, "flash %08x", (unsigned)sum);
}

/* ---- requests ---- */

static void put(uint8_t *out, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> 8 * i);
    }
}

static void ask(size_t which, uint8_t opcode, const uint8_t *payload, size_t length) {
    if (o.gateways[which].connected) {
        note(recorded, "ask %02x: %d", opcode, obvious_ask(which, opcode, payload, length));
    }
}

/* A usual payload, or one near it. */
static void simple_request(size_t which) {
    static const struct {
        uint8_t opcode;
        const char *payload;
    } usual[] = {{0x01, "01 0100 10 0800 01 02 03 04 05 06 07 08"},
                 {0x01, "01 01 00 10 08 00 01 02 03 04 05 06 07 08"},
                 {0x01, "01 01 00 01 03 00 01 02 03 04 05 06 07 08"},
                 {0x02, ""},
                 {0x03, "aabbcc"},
                 {0x04, ""},
                 {0x05, ""},
                 {0x06, "00e1f505"},
                 {0x10, "00"},
                 {0x10, "02 1000 1400"},
                 {0x10, "02 1100 1600"},
                 {0x11, "01 1000 01"},
                 {0x11, "02 1000 02 1100 01"},
                 {0x11, "02 1100 00 1000 01"},
                 {0x12, ""},
                 {0x32, ""},
                 {0x33, "00 01"},
                 {0x33, "01 02"},
                 {0x13, "01"}};
    size_t row = choose(recorded, sizeof usual / sizeof usual[0]);
    const char *payload = usual[row].payload;
    block b = choose(recorded, 2) == 0 && payload[0] != 0 ? changed_value(recorded, &payload, 1) : block_hex(payload);
    ask(which, usual[row].opcode, b.data, b.length);
    free(b.data);
}

static void session_request(size_t which) {
    static const uint8_t opcodes[] = {0x22, 0x22, 0x23, 0x24, 0x30, 0x30, 0x31, 0x31};
    uint8_t opcode = opcodes[choose(recorded, sizeof opcodes)], payload[8] = {0};
    uint32_t version = choose(recorded, 3) == 0 ? 1003000 + choose(recorded, 3) : 1004000;
    bool other = choose(recorded, 8) == 0;
    put(payload, opcode < 0x30 ? o.device.session.id + other : version);
    payload[4] = (uint8_t)choose(recorded, opcode == 0x24 ? 12 : 3);
    payload[5] = (uint8_t)choose(recorded, 4);
    size_t length = opcode == 0x24 || opcode == 0x31 ? 5 : opcode == 0x30 ? 6 : 4;
    ask(which, opcode, payload, length - (choose(recorded, 20) == 0));
}

/* ---- transfers ---- */

static void make_package(void) {
    recording *r = recorded;
    static const uint8_t entries[][17] = {"\x14\x00\x01\x01\x00\x00\x00\x00", "\x10\x00\x01\x02\x00\x00\x00\x00",
                                          "\x11\x00\x00\x02\x05\x00\x00\x00",
                                          "\x10\x00\x01\x01\x00\x00\x00\x00\x11\x00\x01\x01\x00\x00\x00\x00"};
    uint8_t kind = (uint8_t)(1 + choose(r, 4)), flags = (uint8_t)choose(r, 4);
    unsigned entry = choose(r, 4);
    uint64_t counter = o.device.counter + (choose(r, 6) != 0);
    object.length = obvious_package(object.bytes, kind, (uint8_t)(flags & 2), counter, entries[entry],
                                    kind == 3    ? 0
                                    : entry == 3 ? 2
                                                 : 1);
    object.obj = 1;
    if (choose(r, 8) == 0) {
        object.bytes[choose(r, (unsigned)object.length)]++;
        obvious_sign(object.bytes, object.length, "OBVIOUS-OFP1");
    }
    if (choose(r, 16) == 0) {
        object.bytes[object.length - 1]++;
    }
}

static void make_image(void) {
    recording *r = recorded;
    object.obj = 2;
    object.length = 200 + choose(r, OBJECT_MAX - 200);
    uint8_t first = (uint8_t)choose(r, 256);
    for (size_t i = 0; i < object.length; i++) {
        object.bytes[i] = (uint8_t)(first + 7 * i);
    }
    uint32_t version = choose(r, 6) == 0 ? 1003000 : 1004000, epoch = choose(r, 3) == 0 ? 1 : 0;
    obvious_manifest(object.manifest, version, epoch, object.bytes, object.length);
    if (choose(r, 12) == 0) {
        object.manifest[choose(r, 136)]++;
    }
}

static void begin(size_t which) {
    recording *r = recorded;
    unsigned what = choose(r, 6);
    if (what == 0 || object.length == 0) {
        make_image();
    } else if (what < 4) {
        make_package();
    } /* otherwise the same again */
    object.offset = 0;
    const uint8_t flags = (uint8_t)(choose(r, 3) != 0);
    const uint8_t obj = choose(r, 16) == 0 ? (uint8_t)choose(r, 4) : object.obj;
    bool manifest = (object.obj == 2) != (choose(r, 16) == 0);
    if (o.gateways[which].connected) {
        int status = obvious_begin(which, obj, flags, object.bytes, object.length, manifest ? object.manifest : NULL);
        size_t length;
        object.offset = status == 0 ? obvious_u32(obvious_payload(which, &length) + 4) : 0;
        object.offset = object.offset <= object.length ? object.offset : 0;
        note(r, "begin %d: %d from %u", obj, status, (unsigned)object.offset);
    }
}

static void send_parts(size_t which) {
    recording *r = recorded;
    for (unsigned count = 1 + choose(r, 12); count > 0 && o.gateways[which].connected; count--) {
        size_t left = object.length - object.offset, part = 1 + choose(r, choose(r, 2) == 0 ? 60 : 700);
        uint32_t offset = choose(r, 20) == 0 ? choose(r, (unsigned)object.length + 1) : object.offset;
        part = part < left ? part : left;
        part = part <= object.length - offset ? part : object.length - offset;
        o.gateways[which].session = choose(r, 30) == 0 ? choose(r, 3) : o.device.session.id;
        int status = obvious_data(which, offset, object.bytes + offset, part);
        note(r, "data %u from %u: %d", (unsigned)part, (unsigned)offset, status);
        object.offset = status == 0 ? (uint32_t)(offset + part) : object.offset;
        if (status < 0 || (status != 0 && choose(r, 3) != 0)) {
            break;
        }
    }
    if (choose(r, 3) != 0 && o.gateways[which].connected) {
        o.gateways[which].session = o.device.session.id;
        note(r, "end %d", obvious_end(which));
    }
}

/* ---- frames and segments that are none ---- */

static void any_frame(size_t which) {
    recording *r = recorded;
    static const uint8_t opcodes[] = {0x01, 0x02, 0x03, 0x10, 0x11, 0x12, 0x20, 0x21, 0x22, 0x32, 0x33, 0x77};
    uint8_t payload[24], frame[64];
    size_t length = choose(r, sizeof payload);
    for (size_t i = 0; i < length; i++) {
        payload[i] = (uint8_t)choose(r, choose(r, 2) == 0 ? 4 : 256);
    }
    uint8_t opcode = opcodes[choose(r, sizeof opcodes)], flags = (uint8_t)(choose(r, 6) == 0 ? choose(r, 8) : 0);
    size_t size = obvious_seal(frame, flags, (uint16_t)(0x8000 + choose(r, 4)), opcode, payload, length);
    if (choose(r, 4) == 0) {
        frame[choose(r, (unsigned)size)]++;
    }
    if (o.gateways[which].connected) {
        obvious_send_frame(which, frame, size);
        note(r, "frame %02x of %u", opcode, (unsigned)size);
        obvious_run(o.now + choose(r, 400));
    }
}

static void any_segment(size_t which) {
    recording *r = recorded;
    gateway *g = &o.gateways[which];
    static const char *const usual[] = {"43 01 0000 0e00 4f42", "41 01 0100 4f42",         "42 02 0000 2000 4f42",
                                        "44 01 0100",           "48 01 0200 0000 0000 00", "48 01 0100 0300 ff00 08"};
    block b = changed_value(r, usual, 6);
    uint8_t pdu[3 + 64] = {choose(r, 6) == 0 ? 0x12 : 0x52, (uint8_t)(o.device.data_handle & 0xFF),
                           (uint8_t)(o.device.data_handle >> 8)};
    if (g->connected && b.length <= 64) {
        memcpy(pdu + 3, b.data, b.length);
        note_bytes(r, "segment", b.data, b.length);
        (void)tendon_att_bearer_receive(&g->bearer, pdu, 3 + b.length, o.now);
        obvious_run(o.now);
    }
    free(b.data);
}

static void read_values(size_t which) {
    recording *r = recorded;
    gateway *g = &o.gateways[which];
    static const uint8_t cccds[] = {0, 1, 2};
    const uint8_t cccd = cccds[choose(r, 3)];
    uint16_t handle = (uint16_t)(1 + choose(r, 36));
    const uint8_t read[3] = {0x0A, (uint8_t)handle, 0};
    uint16_t target = choose(r, 2) == 0 ? o.device.data_handle : o.device.battery_handle;
    const uint8_t write[5] = {0x12, (uint8_t)(target + 1), (uint8_t)((target + 1) >> 8), cccd, 0};
    if (!g->connected) {
        return;
    }
    bool reads = choose(r, 4) != 0;
    size_t before = g->count;
    (void)tendon_att_bearer_receive(&g->bearer, reads ? read : write, reads ? sizeof read : sizeof write, o.now);
    for (size_t i = before; i < g->count; i++) {
        note_bytes(r, "answer", g->queue[i].bytes, g->queue[i].length);
    }
    obvious_run(o.now);
}

/* ---- what else happens ---- */

static void command(void) {
    recording *r = recorded;
    static const char *const words[] = {
        "enable 16",    "enable 20",       "disable 17",  "toggle 16 on", "toggle 17 off", "toggle 99 on",
        "battery 15",   "battery 90",      "power_cut 0", "watchdog",     "reboot",        "reboot recovery",
        "reject 4",     "reject 6 2",      "wrong crc",   "wrong offset", "wrong session", "wrong next",
        "wrong serial", "wrong product 2", "lose 3",      "duplicate 2",  "swap 2",        "corrupt",
        "ignore 2",     "credit 2",        "credit 0",    "pause 300",    "mute on",       "mute off",
        "mute off",     "power_cut 5000",  "credit 6"};
    char line[64];
    tendon_scenario_event event;
    const char *chosen = words[choose(r, sizeof words / sizeof words[0])];
    snprintf(line, sizeof line, "at 0ms %s", chosen);
    assert_int_equal(tendon_scenario_parse(line, strlen(line), NULL, &event, 1, NULL), 1);
    size_t wrong = 0;
    const tendon_scenario_actor actor = tendon_simulated_obvious_actor(&o.device);
    note(r, "%s: %d", chosen, actor.perform(actor.context, &event, false, &wrong, o.now));
    obvious_run(o.now);
}

static void connect(size_t which) {
    recording *r = recorded;
    uint16_t mtu = (uint16_t)(choose(r, 3) == 0 ? 23 : choose(r, 2) == 0 ? 24 + choose(r, 100) : 247);
    if (o.gateways[which].connected) {
        if (choose(r, 3) == 0) {
            obvious_disconnect(which);
        }
    } else if (o.device.running && o.device.down_until <= o.now) {
        obvious_connect(which, mtu);
        if (choose(r, 8) != 0) {
            note(r, "hello %d", obvious_ask_hex(which, 0x01, "01 01 00 10 08 00 01 02 03 04 05 06 07 08"));
            tendon_obvious_sender_set_window(&o.gateways[which].sender, 4);
            tendon_obvious_receiver_set_limits(&o.gateways[which].receiver, 8, 4096);
        }
    }
}

/* Up to the end of a trial, of an incomplete transfer, or of the process. */
static void time_passes(void) {
    recording *r = recorded;
    switch (choose(r, 12)) {
    case 0:
        obvious_run(o.now + 400000);
        break;
    case 1:
        obvious_run(o.now + TENDON_SIMULATED_OBVIOUS_SESSION_MS);
        break;
    case 2:
    case 3:
        for (size_t i = 0; i < GATEWAYS; i++) {
            obvious_disconnect(i);
        }
        obvious_again();
        break;
    default:
        obvious_run(o.now + choose(r, 3000));
        break;
    }
}

static void step(void) {
    recording *r = recorded;
    size_t which = choose(r, 4) == 0;
    if (choose(r, 4) == 0) {
        o.gateways[0].deaf = o.gateways[1].deaf = o.device.options.mute = false;
        connect(which);
    }
    switch (choose(r, 20)) {
    case 0:
    case 1:
        connect(which);
        break;
    case 2:
    case 3:
        begin(which);
        break;
    case 4:
    case 5:
    case 6:
        send_parts(which);
        break;
    case 7:
    case 8:
        session_request(which);
        break;
    case 9:
        any_frame(which);
        break;
    case 10:
        any_segment(which);
        break;
    case 11:
        read_values(which);
        break;
    case 12:
    case 13:
        command();
        break;
    case 14:
        time_passes();
        break;
    case 15:
        o.gateways[which].deaf = choose(r, 6) == 0;
        o.gateways[which].lost = choose(r, 4) == 0 ? 4 + choose(r, 6) : 0;
        break;
    case 16:
        o.flash.fail_next = choose(r, 4) == 0 ? 1 : 0;
        o.flash.fail_after = choose(r, 6);
        break;
    default:
        simple_request(which);
        break;
    }
    for (size_t i = 0; i < GATEWAYS; i++) {
        note_frames(i);
    }
    note_device();
}

static void live(recording *r, unsigned number) {
    tendon_simulated_obvious_options options = {.counter = 41, .seed = number};
    recorded = r;
    memset(&object, 0, sizeof object);
    options.unprovisioned = choose(r, 4) == 0;
    options.frame_max = (uint16_t)(choose(r, 3) == 0 ? 256 + choose(r, 40) : 0);
    options.chunk_max = (uint16_t)(choose(r, 3) == 0 ? 70 : 0);
    options.window = (uint8_t)(choose(r, 3) == 0 ? 1 + choose(r, 16) : 0);
    options.lacks_caps = (uint8_t)(choose(r, 4) == 0 ? 1u << choose(r, 8) : 0);
    options.lacks = choose(r, 6) == 0 ? 8u << choose(r, 2) : 0;
    options.open = choose(r, 4) == 0;
    options.with_response = choose(r, 4) == 0;
    options.indicates = choose(r, 4) == 0;
    options.waits_for_reboot = choose(r, 4) == 0;
    options.reports_progress = choose(r, 3) == 0;
    options.epoch = choose(r, 5) == 0 ? 1 : 0;
    obvious_new(&options);
    connect(0);
    for (int i = 0; i < STEPS; i++) {
        step();
    }
    note_flash();
    obvious_again(); /* the flash memory has what a new process needs */
    note_device();
    for (size_t i = 0; i < GATEWAYS; i++) {
        obvious_disconnect(i);
    }
}

static void play(recording *r, unsigned number) {
    play_lives(r, number, LIVES, live);
}

static void requests_are_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x4BC54AB3, 0x21050BBD, 0x6735F323, 0xC1717F21, 0x270BD0D0, 0xC1DE6EBC,
        0xF611A2AB, 0x447E57D1, 0x065B4454, 0x2D8668FA, 0x9A1FDFDB, 0x169D27AB,
    };
    compare_recordings(known, RUNS, play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
