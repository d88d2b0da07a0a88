/* SPDX-License-Identifier: MIT */
/*
 * Obvious: recorded runs of the client's manager with the simulated device: every operation, a cloud that answers
 * anything, lost and damaged segments, wrong answers, power cuts, devices that lack something.
 */
#include "bad_peer.h"
#include "obvious_fixture.h"
#include "test_recording.h"

#include "tendon/devices/obvious_manager.h"

enum { RUNS = 16, LIVES = 60, STEPS = 25, FRAME_MAX = 1024, IMAGE = 1500 };

static struct {
    tendon_memory_radio_device device;
    tendon_memory_radio radio;
    tendon_obvious_session session;
    tendon_obvious_manager manager;
    uint8_t memory[TENDON_OBVIOUS_SESSION_MEMORY(FRAME_MAX)], package[300];
    uint8_t image[IMAGE], sha256[32], manifest[136];
    tendon_obvious_feature features[3];
    tendon_obvious_record record;
    tendon_status store_result, read_result;
    uint64_t now;
    int need; /* -1: none */
    bool done, goes_on;
} s;

static recording *recorded;
static bool damages;

static const tendon_address address = {{0xC0, 0, 0, 0, 0, 6}, TENDON_ADDRESS_TYPE_RANDOM};

/* ---- what is seen ---- */

static uint32_t digest(const uint8_t *bytes, size_t length) {
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < length; i++) {
        sum = (sum ^ bytes[i]) * 16777619u;
    }
    return sum;
}

static void on_event(void *context, const tendon_obvious_event *event, uint64_t now) {
    recording *r = recorded;
    (void)context;
    note(r, "event %d of %d: %d, status %d, %u features at %u", event->kind, event->operation, event->code,
         event->status, (unsigned)event->count, (unsigned)now);
    for (size_t i = 0; i < event->count; i++) {
        note(r, "%u %u %u", event->features[i].id, event->features[i].enable, event->features[i].toggle);
    }
    s.need = event->kind == TENDON_OBVIOUS_EVENT_NEED ? event->code : s.need;
    s.done = s.done || event->kind == TENDON_OBVIOUS_EVENT_DONE;
}

static void on_session(void *context, const tendon_obvious_session_event *event, uint64_t now) {
    (void)context;
    note(recorded, "session %d, status %d, opcode %d at %u", event->kind, event->status, event->opcode, (unsigned)now);
}

static tendon_status read_image(void *context, uint32_t offset, uint8_t *buffer, size_t length) {
    (void)context;
    note(recorded, "read %u from %u", (unsigned)length, (unsigned)offset);
    assert_true(offset <= IMAGE && length <= IMAGE - offset);
    memcpy(buffer, s.image + offset, length);
    return s.read_result;
}

static tendon_status store(void *context, const tendon_obvious_record *record) {
    uint8_t bytes[TENDON_OBVIOUS_RECORD_SIZE];
    (void)context;
    tendon_obvious_encode_record(record, bytes);
    note_bytes(recorded, "store", bytes, sizeof bytes);
    s.record = s.store_result < 0 ? s.record : *record;
    return s.store_result;
}

static void load(void *context, tendon_obvious_record *record) {
    (void)context;
    if (s.goes_on && s.record.serial == record->serial) {
        *record = s.record;
    }
}

static void note_all(void) {
    recording *r = recorded;
    const tendon_obvious_manager *m = &s.manager;
    const tendon_simulated_obvious *d = &o.device;
    const uint64_t *counters = (const uint64_t *)(const void *)&d->counters;
    note(r, "at %u due %lld, device %lld", (unsigned)(s.now), (long long)tendon_memory_radio_deadline(&s.radio),
         (long long)o.seam.ops->deadline(o.seam.context));
    note(r, "manager %d flags %d battery %d fw %u %u %u serial %u counter %u; %u illegal", m->operation, m->flags,
         m->battery, (unsigned)m->fw, (unsigned)m->bootloader, (unsigned)m->stack, (unsigned)m->serial,
         (unsigned)m->counter, (unsigned)m->illegal_inputs);
    note(r, "session %d %d %d %u %x %u %d; %u %u %u", s.session.state, s.session.window, s.session.has_serial,
         s.session.frame_max, (unsigned)s.session.caps, (unsigned)s.session.boot_id, s.session.status,
         (unsigned)s.session.counters.segments, (unsigned)s.session.counters.errors,
         (unsigned)s.session.counters.illegal_inputs);
    for (size_t i = 0; i < sizeof d->counters / sizeof counters[0]; i++) {
        note(r, "%u", (unsigned)counters[i]);
    }
    note(r, "boot %d %d %d %u %u; runs %d, recovery %d, provisioned %d, counter %u, id %u, battery %d", d->boot.active,
         d->boot.trial, d->boot.boots, (unsigned)d->boot.epoch, (unsigned)d->boot.trial_since, d->running, d->recovery,
         d->provisioned, (unsigned)d->counter, (unsigned)d->boot_id, d->battery);
    for (int i = 0; i < 2; i++) {
        note(r, "slot %d %u %u %u", d->boot.slots[i].state, (unsigned)d->boot.slots[i].version,
             (unsigned)d->boot.slots[i].size, (unsigned)d->boot.slots[i].epoch);
    }
    for (uint16_t id = 15; id < 24; id++) {
        tendon_simulated_obvious_feature feature = {0};
        bool known = tendon_simulated_obvious_get(d, id, &feature);
        note(r, "feature %d: %d %d %d", id, known, feature.enable, feature.toggle);
    }
    note(r, "flash %08x", (unsigned)digest(o.memory, sizeof o.memory));
    uint8_t data[31];
    tendon_status length = o.seam.ops->advertisement(o.seam.context, data, sizeof data);
    note_bytes(r, "advertisement", data, length > 0 ? (size_t)length : 0);
}

/* ---- the cloud ---- */

static void answer_firmware(void) {
    tendon_obvious_answer given = {.data = s.manifest,
                                   .length = sizeof s.manifest,
                                   .image_length = IMAGE,
                                   .image_crc32 = tendon_crc32(0, s.image, IMAGE),
                                   .image_sha256 = s.sha256};
    given.image_length += choose(recorded, 12) == 0;
    given.image_crc32 ^= choose(recorded, 12) == 0;
    note(recorded, "given %d", tendon_obvious_manager_give(&s.manager, &given, s.now));
}

static void answer_package(bool provision) {
    recording *r = recorded;
    static const uint8_t entries[][9] = {"\x14\x00\x01\x01\x00\x00\x00\x00", "\x10\x00\x01\x02\x00\x00\x00\x00",
                                         "\x11\x00\x00\x02\x05\x00\x00\x00"};
    uint8_t kind = (uint8_t)(provision ? 4 : 1 + choose(r, 3)), flags = (uint8_t)choose(r, 4);
    kind = choose(r, 15) == 0 ? (uint8_t)choose(r, 6) : kind;
    uint64_t counter = s.manager.counter + (choose(r, 10) != 0);
    unsigned entry = choose(r, 3);
    size_t length = obvious_package(s.package, kind, flags, counter, entries[entry], kind < 3 ? 1 : 0);
    memcpy(s.package + 36, s.manager.nonce.bytes, 16);
    s.package[7] = (uint8_t)(s.manager.nonce.outstanding ? s.package[7] | 1 : s.package[7] & 2);
    if (choose(r, 10) == 0) {
        s.package[choose(r, 60)]++;
    }
    obvious_sign(s.package, length, "OBVIOUS-OFP1");
    if (choose(r, 20) == 0) {
        s.package[length - 1]++;
    }
    const tendon_obvious_answer given = {.kind = TENDON_OBVIOUS_ANSWER_GIVEN, .data = s.package, .length = length};
    note(r, "given %d", tendon_obvious_manager_give(&s.manager, &given, s.now));
}

static void answer(void) {
    recording *r = recorded;
    int need = s.need;
    s.need = -1;
    if (need == TENDON_OBVIOUS_NEED_REPORT) {
        return;
    }
    unsigned other = choose(r, 40);
    if (other < TENDON_OBVIOUS_ANSWER_COUNT && other != TENDON_OBVIOUS_ANSWER_GIVEN) {
        const tendon_obvious_answer given = {.kind = (tendon_obvious_answer_kind)other,
                                             .status = other % 2 == 0 ? TENDON_ERROR_TIMEOUT : TENDON_OK};
        note(r, "answer %u: %d", other, tendon_obvious_manager_give(&s.manager, &given, s.now));
    } else if (need == TENDON_OBVIOUS_NEED_FIRMWARE || need == TENDON_OBVIOUS_NEED_IMAGE) {
        answer_firmware();
    } else {
        answer_package(need == TENDON_OBVIOUS_NEED_PROVISION);
    }
}

/* ---- time ---- */

static void run(uint64_t ms) {
    const uint64_t end = s.now + ms;
    for (int rounds = 0; s.now < end && !s.done && rounds < 3000; rounds++) {
        if (s.radio.peer == NULL) { /* in range when it runs */
            o.seam.ops->tick(o.seam.context, s.now);
            s.device.present = o.device.running;
        }
        tendon_memory_radio_tick(&s.radio, s.now);
        if (s.need >= 0) {
            answer();
        }
        uint64_t due = tendon_memory_radio_deadline(&s.radio), device = o.seam.ops->deadline(o.seam.context);
        due = device < due ? device : due;
        s.now = due <= s.now ? s.now + (s.radio.peer == NULL) : due < end ? due : end;
    }
}

/* ---- what is done ---- */

static void command(void) {
    recording *r = recorded;
    static const char *const words[] = {
        "enable 16",    "enable 20",       "disable 17",  "toggle 16 on", "toggle 17 off", "toggle 99 on",
        "battery 15",   "battery 90",      "power_cut 0", "watchdog",     "reboot",        "reboot recovery",
        "reject 4",     "reject 6 2",      "wrong crc",   "wrong offset", "wrong session", "wrong next",
        "wrong serial", "wrong product 2", "lose 3",      "duplicate 2",  "swap 2",        "corrupt",
        "ignore 2",     "credit 2",        "credit 0",    "pause 300",    "pairing off",   "pairing on",
        "mute on",      "mute off",        "mute off",    "reject 21",    "power_cut 5000"};
    char line[64];
    tendon_scenario_event event;
    const char *chosen = words[choose(r, sizeof words / sizeof words[0])];
    snprintf(line, sizeof line, "at 0ms %s", chosen);
    assert_int_equal(tendon_scenario_parse(line, strlen(line), NULL, &event, 1, NULL), 1);
    size_t wrong = 0;
    const tendon_scenario_actor actor = tendon_simulated_obvious_actor(&o.device);
    note(r, "%s: %d", chosen, actor.perform(actor.context, &event, false, &wrong, s.now));
    note(r, "wrong %u", (unsigned)wrong);
}

static void start(void) {
    recording *r = recorded;
    static const uint8_t operations[] = {
        TENDON_OBVIOUS_GET_INFO,       TENDON_OBVIOUS_CHECK_STATUS,     TENDON_OBVIOUS_TOGGLE,
        TENDON_OBVIOUS_SET_TOGGLES,    TENDON_OBVIOUS_UPDATE_FEATURES,  TENDON_OBVIOUS_UPDATE_FEATURES,
        TENDON_OBVIOUS_CHECK_FIRMWARE, TENDON_OBVIOUS_UPGRADE_FIRMWARE, TENDON_OBVIOUS_UPGRADE_FIRMWARE};
    tendon_obvious_operation operation = (tendon_obvious_operation)operations[choose(r, 9)];
    bool listed = (operation & (TENDON_OBVIOUS_CHECK_STATUS | TENDON_OBVIOUS_TOGGLE | TENDON_OBVIOUS_SET_TOGGLES)) != 0;
    size_t count = !listed ? 0 : operation == TENDON_OBVIOUS_TOGGLE ? 1 : 1 + choose(r, 3);
    for (size_t i = 0; i < count; i++) {
        static const uint16_t ids[] = {16, 17, 20, 21, 1000};
        s.features[i].id = ids[choose(r, 5)];
        s.features[i].enable = 0;
        s.features[i].toggle = (uint8_t)(1 + choose(r, 2));
    }
    s.done = false;
    bool goes_on = choose(r, 3) == 0;
    tendon_status status =
        tendon_obvious_manager_start(&s.manager, operation, listed ? s.features : NULL, count, s.now);
    s.goes_on = status < 0 ? s.goes_on : goes_on;
    note(r, "start %d: %d", operation, status);
}

static void step(void) {
    recording *r = recorded;
    if (damages && choose(r, 6) == 0) {
        stray_input(r, &tendon_obvious_manager_inputs, &s.manager, s.now);
    }
    switch (choose(r, 16)) {
    case 0:
    case 1:
    case 2:
    case 3:
        start();
        run(choose(r, 3) == 0 ? 200 : 60000);
        break;
    case 4:
        run(400000);
        break;
    case 5:
        run(choose(r, 300));
        break;
    case 6:
        tendon_obvious_manager_cancel(&s.manager, s.now);
        break;
    case 7:
        if (choose(r, 3) == 0) {
            tendon_obvious_session_disconnect(&s.session, s.now);
        }
        break;
    case 8:
        note(r, "connect %d", tendon_obvious_session_connect(&s.session, s.now));
        break;
    case 9:
        s.store_result = choose(r, 4) == 0 ? TENDON_SYSTEM_ERROR(28) : TENDON_OK;
        s.read_result = choose(r, 6) == 0 ? TENDON_SYSTEM_ERROR(5) : TENDON_OK;
        break;
    case 10:
        o.flash.fail_next = choose(r, 4) == 0 ? 1 : 0;
        o.flash.fail_after = choose(r, 6);
        break;
    case 11:
        s.now += choose(r, 10) == 0 ? 400000 : 10;
        s.done = false;
        run(1000);
        break;
    default:
        command();
        break;
    }
    note_all();
}

static void begin(recording *r) {
    tendon_simulated_obvious_options options = {.counter = 41};
    options.unprovisioned = choose(r, 4) == 0;
    options.frame_max = (uint16_t)(choose(r, 3) == 0 ? 256 : 0);
    options.chunk_max = (uint16_t)(choose(r, 3) == 0 ? 70 : 0);
    options.window = (uint8_t)(choose(r, 3) == 0 ? 1 + choose(r, 16) : 0);
    options.lacks_caps = (uint8_t)(choose(r, 4) == 0 ? 1u << choose(r, 8) : 0);
    options.lacks = choose(r, 6) == 0 ? 1u << choose(r, 4) : 0;
    options.open = choose(r, 4) == 0;
    options.with_response = choose(r, 4) == 0;
    options.indicates = choose(r, 4) == 0;
    options.waits_for_reboot = choose(r, 4) == 0;
    options.reports_progress = choose(r, 3) == 0;
    options.epoch = choose(r, 5) == 0 ? 1 : 0;
    obvious_new(&options);
    memset(&s, 0, sizeof s);
    s.now = o.now;
    s.need = -1;
    s.device = (tendon_memory_radio_device){.device = o.seam, .address = address, .rssi = -40, .present = true};
    if (damages) {
        s.device.device = bad_peer_of(r, o.seam, 40);
    }
    tendon_memory_radio_init(&s.radio, &s.device, 1);
    s.radio.mtu = (uint16_t)(choose(r, 3) == 0 ? 23 + choose(r, 60) : s.radio.mtu);
    tendon_memory_radio_attach(&s.radio, &tendon_obvious_manager_inputs, &s.manager);
    tendon_memory_radio_set_target(&s.radio, &address);
    const tendon_obvious_session_config session = {.link = tendon_memory_radio_link(&s.radio),
                                                   .memory = s.memory,
                                                   .frame_max = FRAME_MAX,
                                                   .window = 8,
                                                   .on_event = on_session};
    const tendon_obvious_manager_config manager = {.session = &s.session,
                                                   .ring = &obvious_ring,
                                                   .product = 1234,
                                                   .chunk_max = 200,
                                                   .min_battery = 20,
                                                   .on_event = on_event,
                                                   .read = read_image,
                                                   .store = store,
                                                   .load = load};
    assert_int_equal(tendon_obvious_session_init(&s.session, &session), TENDON_OK);
    assert_int_equal(tendon_obvious_manager_init(&s.manager, &manager), TENDON_OK);
    for (size_t i = 0; i < IMAGE; i++) {
        s.image[i] = (uint8_t)(11 * i + 3);
    }
    signer_sha256(NULL, s.image, IMAGE, s.sha256);
    obvious_manifest(s.manifest, 1004000, choose(r, 4) == 0 ? 1 : 0, s.image, IMAGE);
}

static void play(recording *r, unsigned number) {
    recorded = r;
    for (unsigned life = 0; life < LIVES; life++) {
        note(r, "life %u.%u", number, life);
        begin(r);
        for (int i = 0; i < STEPS; i++) {
            step();
        }
    }
}

static void client_and_device_are_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x5A7B71C6, 0x67743FFA, 0xAE6A4D70, 0x4994BB07, 0xFD783333, 0x2B370720, 0x313B3AEA, 0x3C10E78A,
        0x217D3EBA, 0x8E8442C6, 0xD42295F6, 0xB934CFEF, 0xE0132752, 0x4827E891, 0xEFCCFBF4, 0xF9AFCAC6,
    };
    compare_recordings(known, RUNS, play);
}

static void with_damaged_responses_too(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x2160D8C3, 0xB7231A24, 0x281757AC, 0x400E3AE0, 0x4C6A4087, 0x29BD6F3B, 0x76F30063, 0x7B363F54,
        0xCC359A47, 0x84A5A42D, 0xFE45EAEF, 0x47FA4A2A, 0xC7BF7FEB, 0xD2C84383, 0x9546B55C, 0xE335C933,
    };
    damages = true;
    compare_recordings(known, RUNS, play);
    damages = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(client_and_device_are_as_recorded),
        cmocka_unit_test(with_damaged_responses_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
