/* SPDX-License-Identifier: MIT */
/*
 * Firmware check and upgrade of the Obvious manager against a scripted device, a scripted cloud and a journal in
 * memory. The trace: "need:image", "prep", "40%", "resetting", "rec:state", "done:result/STATUS".
 */
#include "obvious_fixture.h"
#include "obvious_signer.h"

#include "tendon/base/crc.h"

enum { IMAGE = 4000, OLD = 1003000, NEW = 1004000, JOURNAL_MAX = 400 };

static struct {
    tendon_obvious_manager manager;
    tendon_obvious_key key;
    tendon_obvious_key_ring ring;
    unsigned verified, done, reads, stores, fail_store; /* fail_store: this one; 0: none */
    uint8_t image[IMAGE], sha256[32], manifest[136];
    tendon_obvious_answer offer, download;
    tendon_obvious_record journal[JOURNAL_MAX]; /* all of them, in order */
    bool silent_cloud, traces_records, unreadable, heals, cut;
    unsigned cut_at, passes; /* cut_at: with this record the gateway stops */
} w;

static obvious_fixture *f;

static void put(uint8_t *out, size_t at, uint64_t value, size_t width) {
    for (size_t i = 0; i < width; i++) {
        out[at + i] = (uint8_t)(value >> 8 * i & 0xFFu);
    }
}

static void make_manifest(uint32_t version, uint32_t epoch, uint32_t product) {
    uint8_t *m = w.manifest;
    memset(m, 0, sizeof w.manifest);
    memcpy(m, "OFM1\1\1", 6);
    put(m, 8, product, 4);
    put(m, 12, version, 4);
    put(m, 20, 999999999, 4);
    put(m, 24, IMAGE, 4);
    put(m, 28, tendon_crc32(0, w.image, IMAGE), 4);
    memcpy(m + 32, w.sha256, 32);
    put(m, 64, epoch, 4);
    mark_of(w.key.bytes, (const uint8_t *)"OBVIOUS-OFM1", 13, m, 72, m + 72);
}

static void answer(int need) {
    const tendon_obvious_answer *given = need == TENDON_OBVIOUS_NEED_FIRMWARE ? &w.offer : &w.download;
    assert_int_equal(tendon_obvious_manager_give(&w.manager, given, f->now), TENDON_OK);
}

static void on_event(void *context, const tendon_obvious_event *event, uint64_t now) {
    static const char *const needs[] = {"package", "provision", "firmware", "image", "report"};
    (void)context, (void)now;
    switch (event->kind) {
    case TENDON_OBVIOUS_EVENT_NEED:
        note("need:%s ", needs[event->code]);
        if (event->code != TENDON_OBVIOUS_NEED_REPORT && !w.silent_cloud) {
            answer(event->code);
        }
        break;
    case TENDON_OBVIOUS_EVENT_PROGRESS:
        if (event->code == TENDON_OBVIOUS_PROGRESS_PREPARING || event->code == TENDON_OBVIOUS_PROGRESS_RESETTING) {
            note(event->code == TENDON_OBVIOUS_PROGRESS_PREPARING ? "prep " : "resetting ");
        } else {
            note("%d%% ", event->code);
        }
        break;
    case TENDON_OBVIOUS_EVENT_DONE:
        w.done++;
        note("done:%d/%s ", event->code, tendon_obvious_status_name(event->status));
        break;
    default:
        fail();
    }
}

static tendon_status read_image(void *context, uint32_t offset, uint8_t *buffer, size_t length) {
    (void)context;
    assert_true(offset <= IMAGE && length <= IMAGE - offset);
    w.reads++;
    w.passes += offset == 0;
    if (w.heals && w.passes == 2) { /* the flash memory of the device works the second time */
        f->device.error[TENDON_OBVIOUS_XFER_END] = 0;
    }
    memcpy(buffer, w.image + offset, length);
    return w.unreadable ? TENDON_ERROR_NOT_FOUND : TENDON_OK;
}

static tendon_status store(void *context, const tendon_obvious_record *record) {
    (void)context;
    if (w.cut) { /* there is no gateway any more */
        return TENDON_OK;
    }
    if (w.traces_records) {
        note("rec:%d ", record->state);
    }
    assert_true(w.stores < JOURNAL_MAX);
    w.journal[w.stores++] = *record;
    if (w.stores == w.cut_at) {
        w.cut = true;
        f->devices[0].silent = true; /* the device hears nothing more */
    }
    return w.stores == w.fail_store ? TENDON_ERROR_TABLE_FULL : TENDON_OK;
}

/* What a trial boot does: the staged image runs. */
static void boot_staged(obvious_fixture *fixture) {
    fixture_device *d = &fixture->device;
    if (d->staged_state == 2) {
        d->rollback = d->active;
        d->active = d->fw = d->staged;
        d->active_state = 2;
        d->staged = 0xFFFFFFFF;
        d->staged_state = 0;
    }
}

static void init_manager(void) {
    const tendon_obvious_manager_config config = {.session = &f->session,
                                                  .ring = &w.ring,
                                                  .product = 1234,
                                                  .chunk_max = 4000,
                                                  .min_battery = 20,
                                                  .on_event = on_event,
                                                  .read = read_image,
                                                  .store = store};
    assert_int_equal(tendon_obvious_manager_init(&w.manager, &config), TENDON_OK);
}

static void begin(void) {
    memset(&w, 0, sizeof w);
    f = fixture_new();
    f->quiet = true;
    f->device.reboots = true;
    f->device.on_reset = boot_staged;
    f->device.chunk_max = 1000;
    w.ring = signer_ring(&w.key, &w.verified);
    for (size_t i = 0; i < IMAGE; i++) {
        w.image[i] = (uint8_t)(7 * i);
    }
    signer_sha256(NULL, w.image, IMAGE, w.sha256);
    make_manifest(NEW, 3, 1234);
    w.offer = (tendon_obvious_answer){.data = w.manifest, .length = sizeof w.manifest};
    w.download = w.offer;
    w.download.image_length = IMAGE;
    w.download.image_crc32 = tendon_crc32(0, w.image, IMAGE);
    w.download.image_sha256 = w.sha256;
    init_manager();
    tendon_memory_radio_attach(&f->air, &tendon_obvious_manager_inputs, &w.manager);
}

static void end(void) {
    assert_int_equal(w.manager.illegal_inputs, 0);
    fixture_free(f);
}

static void start_from(tendon_obvious_operation operation, const tendon_obvious_record *record) {
    assert_int_equal(tendon_obvious_manager_start(&w.manager, operation, NULL, 0, record, f->now), TENDON_OK);
}

static void upgrade(void) {
    start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, NULL);
}

static void perform_upgrade(void) {
    unsigned before = w.done;
    upgrade();
    fixture_run(f, 2000000);
    assert_int_equal(w.done, before + 1);
}

static const tendon_obvious_record *last_record(void) {
    assert_true(w.stores > 0);
    return &w.journal[w.stores - 1];
}

/* ---- check ---- */

static void perform_check(void) {
    unsigned before = w.done;
    start_from(TENDON_OBVIOUS_CHECK_FIRMWARE, NULL);
    fixture_run(f, 2000000);
    assert_int_equal(w.done, before + 1);
}

static void a_check(void **state) {
    (void)state;
    begin();
    perform_check(); /* it does not connect */
    expect("done:14/ERROR_DISCONNECTED ");
    fixture_open(f);
    perform_check();
    expect("need:firmware done:0/OK ");
    assert_int_equal(w.manager.fw, OLD);
    assert_int_equal(w.manager.offer.version, NEW);
    static const uint8_t sent[] = {1, 1, 2, 0x32};
    assert_int_equal(f->device.sent_count, sizeof sent);
    assert_memory_equal(f->device.sent, sent, sizeof sent);
    assert_int_equal(w.stores, 0);
    end();
}

static void checks_without_an_offer(void **state) {
    (void)state;
    static const struct {
        tendon_obvious_answer_kind kind;
        uint32_t version, epoch, product;
        const char *trace;
    } rows[] = {
        {TENDON_OBVIOUS_ANSWER_NOTHING, NEW, 3, 1234, "need:firmware done:16/OK "},
        {TENDON_OBVIOUS_ANSWER_REFUSED, NEW, 3, 1234, "need:firmware done:16/OK "},
        {TENDON_OBVIOUS_ANSWER_FAILED, NEW, 3, 1234, "need:firmware done:16/ERROR_NOT_FOUND "},
        {TENDON_OBVIOUS_ANSWER_GIVEN, OLD, 3, 1234, "need:firmware done:16/DOWNGRADE "},
        {TENDON_OBVIOUS_ANSWER_GIVEN, NEW, 2, 1234, "need:firmware done:16/DOWNGRADE "},
        {TENDON_OBVIOUS_ANSWER_GIVEN, NEW, 3, 1235, "need:firmware done:16/WRONG_PRODUCT "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        fixture_open(f);
        make_manifest(rows[i].version, rows[i].epoch, rows[i].product);
        w.offer.kind = rows[i].kind;
        perform_check();
        expect(rows[i].trace);
        end();
    }
    begin();
    fixture_open(f);
    w.manifest[20] ^= 1;
    perform_check();
    expect("need:firmware done:16/SIG_INVALID ");
    f->device.fw = 0xFFFFFFFF;
    perform_check();
    expect("done:14/INTERNAL ");
    f->device.fw = OLD;
    f->device.error[TENDON_OBVIOUS_FW_STATE] = 21;
    perform_check();
    expect("done:14/FLASH_FAILED ");
    end();
}

/* A trial that waits is confirmed first. */
static void a_check_confirms_a_trial(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    f->device.active_state = 2;
    perform_check();
    expect("need:firmware done:0/OK ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_CONFIRM), 1);
    assert_int_equal(f->device.active_state, 1);
    end();
}

/* ---- upgrade ---- */

static void a_good_upgrade(void **state) {
    (void)state;
    begin();
    w.traces_records = true;
    perform_upgrade(); /* connects */
    expect("prep need:image rec:1 0% rec:1 25% rec:1 50% rec:1 75% rec:1 99% rec:2 100% resetting rec:3 rec:0 "
           "need:report done:0/OK ");
    assert_memory_equal(f->device.object, w.image, IMAGE);
    assert_memory_equal(f->device.begin + 46, w.manifest, 136);
    assert_int_equal(f->device.active, NEW);
    assert_int_equal(f->device.active_state, 1);
    /* HELLO twice, INFO FW_STATE BEGIN DATA(4) END ACTIVATE; HELLO FW_STATE INFO CONFIRM */
    static const uint8_t sent[] = {1, 1, 2, 0x32, 0x20, 0x21, 0x21, 0x21, 0x21, 0x23, 0x30, 1, 0x32, 2, 0x31};
    assert_int_equal(f->device.sent_count, sizeof sent);
    assert_memory_equal(f->device.sent, sent, sizeof sent);
    static const uint8_t confirm[] = {0xE0, 0x51, 0x0F, 0, 1};
    assert_memory_equal(f->device.last + 10, confirm, sizeof confirm);
    end();
}

static void upgrades_that_do_not_begin(void **state) {
    (void)state;
    static const struct {
        uint8_t battery;
        uint32_t missing;
        tendon_obvious_answer_kind kind;
        const char *trace;
    } rows[] = {
        {87, 8, TENDON_OBVIOUS_ANSWER_GIVEN, "done:4/NOT_SUPPORTED "},
        {87, 32, TENDON_OBVIOUS_ANSWER_GIVEN, "done:4/NOT_SUPPORTED "},
        {19, 0, TENDON_OBVIOUS_ANSWER_GIVEN, "prep done:2/LOW_POWER "},
        {87, 0, TENDON_OBVIOUS_ANSWER_NOTHING, "prep need:image done:4/OK "},
        {87, 0, TENDON_OBVIOUS_ANSWER_REFUSED, "prep need:image done:1/OK "},
        {87, 0, TENDON_OBVIOUS_ANSWER_FAILED, "prep need:image done:1/ERROR_NOT_FOUND "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        f->device.battery = rows[i].battery;
        f->device.caps = 0xFF & ~rows[i].missing;
        w.download.kind = rows[i].kind;
        perform_upgrade();
        expect(rows[i].trace);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 0);
        assert_int_equal(w.stores, 0);
        end();
    }
    static const uint8_t batteries[] = {20, 255};
    for (size_t i = 0; i < 2; i++) {
        begin();
        f->device.battery = batteries[i];
        perform_upgrade();
        expect("prep need:image 0% 25% 50% 75% 99% 100% resetting need:report done:0/OK ");
        end();
    }
    begin();
    f->device.status_value[3] = 2;
    perform_upgrade();
    expect("done:4/UNSUPPORTED_PROFILE ");
    end();
    begin(); /* pairing refused */
    f->devices[0].bonded = false;
    f->session.config.link.pair = NULL;
    perform_upgrade();
    expect("done:3/UNAUTHORIZED ");
    end();
}

/* The image must be that of the manifest before a byte goes to the device. */
static void images_that_do_not_fit(void **state) {
    (void)state;
    for (unsigned how = 0; how < 5; how++) {
        begin();
        uint8_t other[32] = {0};
        w.download.image_length += how == 0;
        w.download.image_crc32 ^= how == 1;
        w.download.image_sha256 = how == 2 ? other : how == 3 ? NULL : w.sha256;
        w.manifest[100] ^= how == 4;
        perform_upgrade();
        expect(how == 0   ? "prep need:image done:1/BAD_LENGTH "
               : how == 4 ? "prep need:image done:1/SIG_INVALID "
                          : "prep need:image done:1/HASH_MISMATCH ");
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 0);
        end();
    }
    begin();
    w.unreadable = true;
    perform_upgrade();
    expect("prep need:image 0% need:report done:2/ERROR_NOT_FOUND ");
    end();
}

/* ---- disconnections ---- */

static void run_to(uint8_t opcode, unsigned times) {
    for (int i = 0; i < 100000 && fixture_times(f, opcode) < times; i++) {
        tendon_memory_radio_tick(&f->air, f->now);
        f->now = tendon_memory_radio_deadline(&f->air) > f->now ? f->now + 1 : f->now;
    }
    assert_true(fixture_times(f, opcode) >= times);
}

static void five_reconnections_then_the_end(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    f->device.chunk_max = 20;
    upgrade();
    run_to(TENDON_OBVIOUS_XFER_DATA, 7);
    tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
    uint64_t before = f->now;
    while (w.done == 0 && f->now < before + 400000) {
        fixture_run(f, 100);
    }
    /* 1 + 2 + 4 + 8 + 15 s, and 30 s for each attempt */
    assert_in_range(f->now - before, 180000, 180600);
    assert_non_null(strstr(trace, "need:report done:2/LINK_ERROR "));
    assert_int_equal(last_record()->state, TENDON_OBVIOUS_JOURNAL_SEND); /* to resume it later */
    end();
}

static void an_upgrade_resumes(void **state) {
    (void)state;
    for (unsigned drops = 1; drops <= 5; drops++) {
        begin();
        fixture_open(f);
        f->device.chunk_max = 20;
        upgrade();
        for (unsigned i = 1; i <= drops; i++) {
            run_to(TENDON_OBVIOUS_XFER_DATA, fixture_times(f, TENDON_OBVIOUS_XFER_DATA) + 1);
            fixture_drop(f);
            fixture_run(f, 990); /* the first pause of 1 s, always: there was progress in between */
        }
        fixture_run(f, 200000);
        assert_non_null(strstr(trace, "100% resetting need:report done:0/OK "));
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 1 + drops);
        assert_in_range(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 200, 200 + drops);
        assert_memory_equal(f->device.object, w.image, IMAGE);
        end();
    }
}

static void bad_offsets(void **state) {
    (void)state;
    begin();
    f->device.loops = true; /* a device that never agrees: 5 corrections */
    perform_upgrade();
    expect("prep need:image 0% need:report done:2/BAD_OFFSET ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 6);
    assert_int_equal(last_record()->state, TENDON_OBVIOUS_JOURNAL_NONE);
    end();
    begin();
    f->device.chunk_max = 20;
    fixture_open(f);
    upgrade();
    run_to(TENDON_OBVIOUS_XFER_DATA, 15);
    assert_in_range(f->device.offset, 257, IMAGE - 1);
    f->device.offset = 256; /* the last page that it has */
    fixture_run(f, 100000);
    assert_non_null(strstr(trace, "need:report done:0/OK "));
    assert_memory_equal(f->device.object, w.image, IMAGE);
    end();
}

/* HASH_MISMATCH at the end: once again from the beginning. */
static void hash_mismatches(void **state) {
    (void)state;
    for (unsigned bad = 1; bad <= 2; bad++) {
        begin();
        fixture_open(f);
        f->device.error[TENDON_OBVIOUS_XFER_END] = 18;
        w.heals = bad == 1;
        perform_upgrade();
        bool good = bad == 1;
        assert_non_null(strstr(trace, good ? "need:report done:0/OK " : "need:report done:2/HASH_MISMATCH "));
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 2);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 8);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_ABORT), good ? 1 : 2);
        assert_int_equal(f->device.active, good ? NEW : OLD);
        end();
    }
}

/* ---- trial ---- */

static void roll_back(obvious_fixture *fixture) {
    fixture->device.staged = 0xFFFFFFFF;
    fixture->device.staged_state = 0;
}

static void loses_a_cap(obvious_fixture *fixture) {
    boot_staged(fixture);
    fixture->device.caps &= ~1u;
}

static void loses_the_counter(obvious_fixture *fixture) {
    boot_staged(fixture);
    fixture->device.counter = 40;
}

static void leaves(obvious_fixture *fixture) {
    boot_staged(fixture);
    fixture->devices[0].present = false;
}

static void trials_that_fail(void **state) {
    (void)state;
    static const struct {
        void (*on_reset)(obvious_fixture *fixture);
        const char *end;
        unsigned confirms;
    } rows[] = {
        {roll_back, "resetting need:report done:2/INTERNAL ", 0},
        {loses_a_cap, "resetting need:report done:2/INTERNAL ", 1},
        {loses_the_counter, "resetting need:report done:2/INTERNAL ", 1},
        {leaves, "resetting need:report done:2/ERROR_TIMEOUT ", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        f->device.on_reset = rows[i].on_reset;
        perform_upgrade();
        assert_non_null(strstr(trace, rows[i].end));
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_CONFIRM), rows[i].confirms);
        if (rows[i].confirms > 0) {
            assert_int_equal(f->device.last[10 + 4], 0); /* rejected */
        }
        end();
    }
    begin(); /* 180 s to come back */
    fixture_open(f);
    f->device.on_reset = leaves;
    upgrade();
    run_to(TENDON_OBVIOUS_FW_ACTIVATE, 1);
    fixture_run(f, 179000);
    assert_int_equal(w.done, 0);
    fixture_run(f, 3000);
    assert_int_equal(w.done, 1);
    assert_int_equal(last_record()->state, TENDON_OBVIOUS_JOURNAL_REJOIN);
    end();
}

/* The device that does not disconnect after FW_ACTIVATE: Tendon does after 5 s. */
static void a_device_that_stays_connected(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    f->device.reboots = false;
    upgrade();
    run_to(TENDON_OBVIOUS_FW_ACTIVATE, 1);
    fixture_run(f, 4900);
    assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_OPEN);
    fixture_run(f, 300);
    assert_int_not_equal(f->session.state, TENDON_OBVIOUS_SESSION_OPEN);
    f->device.reboots = true; /* it is still staged: once more */
    fixture_run(f, 200000);
    assert_non_null(strstr(trace, "need:report done:0/OK "));
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_ACTIVATE), 2);
    end();
}

static uint8_t mute_after_reset;

static void boot_and_mute(obvious_fixture *fixture) {
    boot_staged(fixture);
    fixture->device.mute[mute_after_reset] = true;
}

/* Requests without a response, of the trial firmware and before. */
static void silent_firmware(void **state) {
    (void)state;
    begin(); /* it disconnects instead of confirming, then it confirms */
    f->device.on_reset = boot_and_mute;
    mute_after_reset = TENDON_OBVIOUS_FW_CONFIRM;
    upgrade();
    run_to(TENDON_OBVIOUS_FW_CONFIRM, 1);
    f->device.mute[TENDON_OBVIOUS_FW_CONFIRM] = false;
    fixture_drop(f);
    fixture_run(f, 200000);
    assert_non_null(strstr(trace, "need:report done:0/OK "));
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_CONFIRM), 2);
    trace[0] = '\0';
    end();
    begin(); /* the self test gets no response: rejected */
    f->device.on_reset = boot_and_mute;
    mute_after_reset = TENDON_OBVIOUS_GET_DEVICE_INFO;
    perform_upgrade();
    assert_non_null(strstr(trace, "need:report done:2/ERROR_TIMEOUT "));
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_CONFIRM), 1);
    assert_int_equal(f->device.last[10 + 4], 0);
    trace[0] = '\0';
    end();
    begin(); /* data without a response: a new connection */
    fixture_open(f);
    f->device.mute[TENDON_OBVIOUS_XFER_DATA] = true;
    upgrade();
    fixture_run(f, 15500); /* three attempts of 5 s */
    f->device.mute[TENDON_OBVIOUS_XFER_DATA] = false;
    fixture_run(f, 200000);
    assert_non_null(strstr(trace, "need:report done:0/OK "));
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 2);
    trace[0] = '\0';
    end();
}

/* ---- journal ---- */

static void records(void **state) {
    (void)state;
    tendon_obvious_record record = {.state = TENDON_OBVIOUS_JOURNAL_ACTIVATE,
                                    .version = NEW,
                                    .offset = 0x01020304,
                                    .caps = 0xFF,
                                    .boot_id = 0xA1B2C3D4,
                                    .serial = 0x1122334455667788,
                                    .counter = 42};
    for (uint8_t i = 0; i < 32; i++) {
        record.sha256[i] = i;
    }
    uint8_t bytes[TENDON_OBVIOUS_RECORD_SIZE + 1] = {0};
    tendon_obvious_encode_record(&record, bytes);
    static const uint8_t head[] = {'T', 'O', 'J', 1, 2, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 42,
                                   0,   0,   0,   0, 0, 0,    0,    0xE0, 0x51, 0x0F, 0,    4,    3,    2,
                                   1,   255, 0,   0, 0, 0xD4, 0xC3, 0xB2, 0xA1, 0,    1,    2,    3};
    assert_memory_equal(bytes, head, sizeof head);
    tendon_obvious_record back;
    memset(&back, 0x55, sizeof back);
    assert_int_equal(tendon_obvious_decode_record(bytes, TENDON_OBVIOUS_RECORD_SIZE, &back), TENDON_OK);
    uint8_t again[TENDON_OBVIOUS_RECORD_SIZE];
    tendon_obvious_encode_record(&back, again);
    assert_memory_equal(again, bytes, sizeof again);
    for (size_t length = 0; length < TENDON_OBVIOUS_RECORD_SIZE; length++) {
        uint8_t *part = malloc(length + (length == 0));
        assert_non_null(part);
        memcpy(part, bytes, length);
        assert_int_equal(tendon_obvious_decode_record(part, length, &back), TENDON_ERROR_TRUNCATED);
        free(part);
    }
    assert_int_equal(tendon_obvious_decode_record(bytes, sizeof bytes, &back), TENDON_ERROR_MALFORMED);
    for (size_t i = 0; i < 8u * TENDON_OBVIOUS_RECORD_SIZE; i++) {
        bytes[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_int_equal(tendon_obvious_decode_record(bytes, TENDON_OBVIOUS_RECORD_SIZE, &back),
                         TENDON_ERROR_MALFORMED);
        bytes[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    record.state = 4; /* with a CRC that fits */
    tendon_obvious_encode_record(&record, bytes);
    assert_int_equal(tendon_obvious_decode_record(bytes, TENDON_OBVIOUS_RECORD_SIZE, &back), TENDON_ERROR_MALFORMED);
    assert_int_equal(back.state, TENDON_OBVIOUS_JOURNAL_ACTIVATE); /* untouched */
}

/* An error of the journal fails the operation, whichever record it is. */
static void a_journal_that_fails(void **state) {
    (void)state;
    begin();
    perform_upgrade();
    unsigned stores = w.stores;
    assert_int_equal(stores, 8);
    trace[0] = '\0';
    end();
    for (unsigned i = 1; i < stores; i++) { /* the last one is that of the end */
        begin();
        w.fail_store = i;
        perform_upgrade();
        assert_non_null(strstr(trace, "done:2/ERROR_TABLE_FULL "));
        trace[0] = '\0';
        end();
    }
}

/* The gateway stops with each record and starts again from it, once while the device still has its connection and once
 * after the device has lost it. */
static void the_gateway_starts_again(void **state) {
    (void)state;
    unsigned resumed = 0;
    for (unsigned i = 2; i <= 15; i++) {
        unsigned stop = i / 2;
        bool booted = i % 2 != 0;
        begin();
        w.cut_at = stop;
        upgrade();
        fixture_run(f, 20000);
        assert_true(w.cut);
        assert_int_equal(w.stores, stop);
        uint8_t bytes[TENDON_OBVIOUS_RECORD_SIZE];
        tendon_obvious_record record;
        tendon_obvious_encode_record(last_record(), bytes);
        assert_int_equal(tendon_obvious_decode_record(bytes, sizeof bytes, &record), TENDON_OK);
        assert_int_not_equal(record.state, TENDON_OBVIOUS_JOURNAL_NONE);
        tendon_obvious_manager_cancel(&w.manager, f->now);
        fixture_run(f, 40000);
        tendon_obvious_session_disconnect(&f->session, f->now);
        fixture_run(f, 40000);
        assert_int_equal(w.done, 1);
        f->devices[0].silent = false;
        w.cut = false;
        w.cut_at = 0;
        unsigned begins = fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN),
                 sent = fixture_times(f, TENDON_OBVIOUS_XFER_DATA);
        if (record.state == TENDON_OBVIOUS_JOURNAL_ACTIVATE && booted) { /* FW_ACTIVATE had arrived */
            f->device.boot_id++;
            boot_staged(f);
        }
        f->device.battery = record.state >= TENDON_OBVIOUS_JOURNAL_ACTIVATE ? 3 : 87;
        trace[0] = '\0';
        start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, &record);
        fixture_run(f, 400000);
        assert_int_equal(w.done, 2);
        assert_non_null(strstr(trace, "need:report done:0/OK "));
        assert_int_equal(f->device.active, NEW);
        assert_int_equal(f->device.active_state, 1);
        if (record.state >= TENDON_OBVIOUS_JOURNAL_ACTIVATE) { /* nothing is sent again */
            assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), begins);
            assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), sent);
        } else {
            resumed += fixture_times(f, TENDON_OBVIOUS_XFER_DATA) <= 5;
        }
        assert_int_equal(last_record()->state, TENDON_OBVIOUS_JOURNAL_NONE);
        trace[0] = '\0';
        end();
    }
    assert_true(resumed >= 8);
}

/* The device has only a part of what the record says it has: it runs the old firmware. */
static void a_partly_staged_firmware(void **state) {
    (void)state;
    begin();
    f->device.staged = NEW;
    f->device.staged_state = 1;
    const tendon_obvious_record record = {.state = TENDON_OBVIOUS_JOURNAL_ACTIVATE,
                                          .version = NEW,
                                          .serial = 0x1122334455667788,
                                          .counter = 41,
                                          .caps = 0xFF};
    start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, &record);
    fixture_run(f, 200000);
    expect("prep need:report done:2/INTERNAL ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_ACTIVATE), 0);
    assert_int_equal(last_record()->state, TENDON_OBVIOUS_JOURNAL_NONE);
    end();
}

/* A record of another device says nothing about this one. */
static void a_record_of_another_device(void **state) {
    (void)state;
    begin();
    const tendon_obvious_record record = {
        .state = TENDON_OBVIOUS_JOURNAL_REJOIN, .version = NEW, .serial = 1, .caps = 0xFF};
    start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, &record);
    fixture_run(f, 200000);
    expect("prep need:image 0% 25% 50% 75% 99% 100% resetting need:report done:0/OK ");
    end();
}

/* ---- every pair of state and input ---- */

enum { CLOUD = 1, ABSENT = 2, STAYS = 4, LEAVES = 8, TRIAL = 16, LOST_END = 32, CHECKS = 64, ACTIVATED = 128 };

static const struct {
    uint8_t mute;
    unsigned how;
} parks[] = {
    {0, ABSENT},
    {TENDON_OBVIOUS_GET_DEVICE_INFO, 0},
    {TENDON_OBVIOUS_FW_STATE, 0},
    {TENDON_OBVIOUS_FW_STATE, CHECKS},
    {0, CLOUD},
    {0, CLOUD | CHECKS},
    {TENDON_OBVIOUS_XFER_BEGIN, 0},
    {TENDON_OBVIOUS_XFER_DATA, 0},
    {TENDON_OBVIOUS_XFER_END, 0},
    {TENDON_OBVIOUS_XFER_STATUS, LOST_END},
    {TENDON_OBVIOUS_XFER_ABORT, 0}, /* after an error of XFER_END */
    {TENDON_OBVIOUS_FW_ACTIVATE, 0},
    {0, STAYS},  /* DOWN */
    {0, LEAVES}, /* JOINING */
    {TENDON_OBVIOUS_FW_CONFIRM, 0},
    {TENDON_OBVIOUS_FW_CONFIRM, CHECKS | TRIAL},
    {TENDON_OBVIOUS_FW_STATE, ACTIVATED},
    {TENDON_OBVIOUS_GET_DEVICE_INFO, ACTIVATED}, /* SELF_TEST */
};
enum { PARKS = sizeof parks / sizeof parks[0] };

static void park(size_t which) {
    unsigned how = parks[which].how;
    begin();
    w.silent_cloud = (how & CLOUD) != 0;
    f->device.reboots = (how & STAYS) == 0;
    f->device.on_reset = (how & LEAVES) != 0 ? leaves : (how & ACTIVATED) != 0 ? boot_and_mute : boot_staged;
    mute_after_reset = parks[which].mute;
    f->device.swallows_end = (how & LOST_END) != 0;
    f->device.active_state = (how & TRIAL) != 0 ? 2 : 1;
    f->devices[0].present = (how & ABSENT) == 0;
    if ((how & ABSENT) == 0) {
        fixture_open(f);
    }
    f->device.mute[parks[which].mute] = (how & ACTIVATED) == 0;
    if (parks[which].mute == TENDON_OBVIOUS_XFER_ABORT) {
        f->device.error[TENDON_OBVIOUS_XFER_END] = 21;
    }
    start_from((how & CHECKS) != 0 ? TENDON_OBVIOUS_CHECK_FIRMWARE : TENDON_OBVIOUS_UPGRADE_FIRMWARE, NULL);
    fixture_run(f, (how & LOST_END) != 0 ? 122000 : 2000);
    trace[0] = '\0';
}

enum { NOTHING, LOSE, CANCEL, ANSWER, SILENCE, DISCONNECT, RESPONSE, ROLL_BACK, INPUTS };

static void input(unsigned which) {
    switch (which) {
    case LOSE:
        if (f->device.bearer != NULL) {
            fixture_drop(f);
        }
        break;
    case CANCEL:
        tendon_obvious_manager_cancel(&w.manager, f->now);
        break;
    case ANSWER:
        (void)tendon_obvious_manager_give(&w.manager, &w.download, f->now);
        break;
    case SILENCE:
        f->devices[0].silent = true;
        break;
    case DISCONNECT:
        tendon_obvious_session_disconnect(&f->session, f->now);
        break;
    case RESPONSE: /* it speaks again, and the request is repeated */
        memset(f->device.mute, 0, sizeof f->device.mute);
        f->device.swallows_end = false;
        break;
    case ROLL_BACK:
        f->device.active = f->device.fw = OLD;
        f->device.active_state = 1;
        roll_back(f);
        break;
    default:
        break;
    }
}

static void every_pair_of_state_and_input(void **state) {
    (void)state;
    bool seen[64] = {false};
    unsigned states = 0, good = 0;
    for (size_t which = 0; which < PARKS; which++) {
        for (unsigned i = 0; i < INPUTS; i++) {
            park(which);
            assert_int_not_equal(w.manager.operation, 0);
            states += !seen[w.manager.state];
            seen[w.manager.state] = true;
            input(i);
            fixture_run(f, 2000000);
            assert_int_equal(w.done, 1);
            assert_int_equal(w.manager.operation, 0);
            assert_false(f->session.keep_alive);
            good += strstr(trace, "done:0/OK") != NULL;
            trace[0] = '\0';
            start_from(TENDON_OBVIOUS_GET_INFO, NULL);
            fixture_run(f, 2000000);
            assert_int_equal(w.done, 2);
            fixture_free(f);
        }
    }
    printf("# %u states, %u pairs, %u of them ended well\n", states, (unsigned)PARKS * INPUTS, good);
    assert_true(states >= 15);
    assert_true(good >= 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check),
        cmocka_unit_test(checks_without_an_offer),
        cmocka_unit_test(a_check_confirms_a_trial),
        cmocka_unit_test(a_good_upgrade),
        cmocka_unit_test(upgrades_that_do_not_begin),
        cmocka_unit_test(images_that_do_not_fit),
        cmocka_unit_test(five_reconnections_then_the_end),
        cmocka_unit_test(an_upgrade_resumes),
        cmocka_unit_test(bad_offsets),
        cmocka_unit_test(hash_mismatches),
        cmocka_unit_test(trials_that_fail),
        cmocka_unit_test(a_device_that_stays_connected),
        cmocka_unit_test(silent_firmware),
        cmocka_unit_test(records),
        cmocka_unit_test(a_journal_that_fails),
        cmocka_unit_test(the_gateway_starts_again),
        cmocka_unit_test(a_partly_staged_firmware),
        cmocka_unit_test(a_record_of_another_device),
        cmocka_unit_test(every_pair_of_state_and_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
