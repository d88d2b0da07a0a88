/* SPDX-License-Identifier: MIT */
/*
 * Obvious manager: every operation against a scripted device and a scripted cloud. The trace: "need:package",
 * "prov:1", "update:1", "40%", "changed:2", "done:result/STATUS".
 */
#include "obvious_fixture.h"
#include "obvious_signer.h"

#include "tendon/base/crc.h"

static struct {
    tendon_obvious_manager manager;
    tendon_obvious_key key;
    tendon_obvious_key_ring ring;
    unsigned verified;
    uint8_t package[8316], provision[124];
    size_t package_length;
    tendon_obvious_answer answers[2]; /* by need */
    bool silent_cloud;
    unsigned done;
} w;

static obvious_fixture *f;

static void put(uint8_t *out, size_t at, uint64_t value, size_t width) {
    for (size_t i = 0; i < width; i++) {
        out[at + i] = (uint8_t)(value >> 8 * i & 0xFFu);
    }
}

static void sign(uint8_t *data, size_t length, const char *domain) {
    mark_of(w.key.bytes, (const uint8_t *)domain, 13, data, length - 64, data + length - 64);
}

static size_t make_package(uint8_t *out, uint8_t kind, uint8_t flags, uint64_t counter, uint16_t entries) {
    size_t length = 124 + 8 * (size_t)entries;
    memset(out, 0, length);
    memcpy(out, "OFP1\1", 5);
    out[5] = kind;
    out[6] = 1;
    out[7] = flags;
    put(out, 8, 1234, 4);
    put(out, 12, 0x1122334455667788, 8);
    put(out, 20, counter, 8);
    if ((flags & 1) != 0) {
        memset(out + 36, 0xA5, 16);
    }
    put(out, 56, entries, 2);
    put(out, 58, 8, 2);
    for (uint16_t i = 0; i < entries; i++) {
        put(out, 60 + 8u * i, i + 1u, 2);
        out[62 + 8u * i] = 1;
        out[63 + 8u * i] = 1;
    }
    sign(out, length, "OBVIOUS-OFP1");
    return length;
}

static void give(int need) {
    assert_int_equal(tendon_obvious_manager_give(&w.manager, &w.answers[need], f->now), TENDON_OK);
}

static void on_event(void *context, const tendon_obvious_event *event, uint64_t now) {
    static const char *const needs[] = {"package", "provision", "firmware", "image", "report"};
    (void)context, (void)now;
    switch (event->kind) {
    case TENDON_OBVIOUS_EVENT_NEED:
        note("need:%s ", needs[event->code]);
        if (event->code != TENDON_OBVIOUS_NEED_REPORT && !w.silent_cloud) {
            give(event->code);
        }
        break;
    case TENDON_OBVIOUS_EVENT_PROVISIONING:
        note("prov:%d ", event->code);
        break;
    case TENDON_OBVIOUS_EVENT_UPDATE:
        note("update:%d ", event->code);
        break;
    case TENDON_OBVIOUS_EVENT_CHANGED:
        note("changed:%zu ", event->count);
        break;
    default:
        w.done++;
        note("done:%d/%s ", event->code, tendon_obvious_status_name(event->status));
        break;
    }
}

static void begin_world(uint16_t frame_max) {
    memset(&w, 0, sizeof w);
    f = fixture_new_with(frame_max, 8);
    f->quiet = true;
    w.ring = signer_ring(&w.key, &w.verified);
    const tendon_obvious_manager_config config = {
        .session = &f->session, .ring = &w.ring, .product = 1234, .chunk_max = 4000, .on_event = on_event};
    assert_int_equal(tendon_obvious_manager_init(&w.manager, &config), TENDON_OK);
    tendon_memory_radio_attach(&f->air, &tendon_obvious_manager_inputs, &w.manager);
    w.package_length = make_package(w.package, 1, 0, 42, 200);
    (void)make_package(w.provision, 4, 0, 42, 0);
    w.answers[TENDON_OBVIOUS_NEED_PACKAGE] = (tendon_obvious_answer){.data = w.package, .length = w.package_length};
    w.answers[TENDON_OBVIOUS_NEED_PROVISION] = (tendon_obvious_answer){.data = w.provision, .length = 124};
}

static void begin(void) {
    begin_world(4096);
}

static void end(void) {
    assert_int_equal(w.manager.illegal_inputs, 0);
    fixture_free(f);
}

static void start_with(tendon_obvious_operation operation, tendon_obvious_feature *features, size_t count,
                       uint64_t lowest) {
    const tendon_obvious_record record = {.serial = 0x1122334455667788, .counter = lowest};
    assert_int_equal(tendon_obvious_manager_start(&w.manager, operation, features, count, &record, f->now), TENDON_OK);
}

static void start(tendon_obvious_operation operation) {
    start_with(operation, NULL, 0, 0);
}

/* Started, run to its end. */
static void perform(tendon_obvious_operation operation) {
    unsigned before = w.done;
    start(operation);
    fixture_run(f, 1900000);
    assert_int_equal(w.done, before + 1);
}

/* ---- information and features ---- */

static void device_information(void **state) {
    (void)state;
    begin();
    perform(TENDON_OBVIOUS_GET_INFO); /* it does not connect */
    expect("done:14/ERROR_DISCONNECTED ");
    fixture_open(f);
    start(TENDON_OBVIOUS_GET_INFO);
    expect(""); /* not within the call */
    assert_int_equal(tendon_obvious_manager_start(&w.manager, TENDON_OBVIOUS_GET_INFO, NULL, 0, NULL, f->now),
                     TENDON_ERROR_BUSY);
    fixture_run(f, 100);
    expect("done:0/OK ");
    assert_true(w.manager.serial == 0x1122334455667788 && w.manager.fw == 1003000 && w.manager.battery == 87);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_HELLO), 1);
    f->device.product = 99;
    perform(TENDON_OBVIOUS_GET_INFO);
    expect("done:14/WRONG_PRODUCT ");
    f->device.product = 1234;
    f->device.serial++;
    perform(TENDON_OBVIOUS_GET_INFO);
    expect("done:14/PROTOCOL ");
    assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_IDLE);
    end();
}

static void status_of_features(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    tendon_obvious_feature list[FIXTURE_FEATURES];
    for (uint16_t i = 0; i < FIXTURE_FEATURES; i++) {
        f->device.features[i] = (tendon_obvious_feature){(uint16_t)(i + 1), 1, (uint8_t)(i % 3)};
        list[i] = (tendon_obvious_feature){(uint16_t)(FIXTURE_FEATURES - i), 0, 0};
    }
    f->device.feature_count = FIXTURE_FEATURES;
    start_with(TENDON_OBVIOUS_CHECK_STATUS, list, FIXTURE_FEATURES, 0);
    fixture_run(f, 1000);
    expect("done:0/OK ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FEATURE_STATUS), 2); /* 64 and 16 */
    for (uint16_t i = 0; i < FIXTURE_FEATURES; i++) {
        assert_int_equal(list[i].id, FIXTURE_FEATURES - i);
        assert_int_equal(list[i].toggle, (FIXTURE_FEATURES - i - 1) % 3);
    }
    f->device.error[TENDON_OBVIOUS_FEATURE_STATUS] = 8;
    start_with(TENDON_OBVIOUS_CHECK_STATUS, list, 1, 0);
    fixture_run(f, 1000);
    expect("done:14/UNKNOWN_FEATURE ");
    end();
}

/* Answers with other ids, another order, fewer or more features. */
static void lying_status_answers(void **state) {
    (void)state;
    static const struct {
        uint8_t bytes[13];
        size_t length;
    } rows[] = {
        {{2, 17, 0, 1, 1, 16, 0, 1, 1}, 9},
        {{2, 16, 0, 1, 1, 18, 0, 1, 1}, 9},
        {{1, 16, 0, 1, 1}, 5},
        {{3, 16, 0, 1, 1, 17, 0, 1, 1, 18, 0, 1, 1}, 13},
        {{2, 16, 0, 1, 1, 16, 0, 1, 1}, 9},
        {{2, 16, 0, 2, 1, 17, 0, 1, 1}, 9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        fixture_open(f);
        tendon_obvious_feature list[2] = {{16, 0, 0}, {17, 0, 0}};
        f->device.payload[TENDON_OBVIOUS_FEATURE_STATUS] = rows[i].bytes;
        f->device.payload_length[TENDON_OBVIOUS_FEATURE_STATUS] = rows[i].length;
        start_with(TENDON_OBVIOUS_CHECK_STATUS, list, 2, 0);
        fixture_run(f, 1000);
        expect("done:14/BAD_PARAM ");
        end();
    }
}

static void toggles(void **state) {
    (void)state;
    static const struct {
        uint8_t enable, toggle;
        const char *trace;
        uint8_t after;
    } rows[] = {
        {1, 1, "done:0/OK ", 2},
        {1, 2, "done:0/OK ", 1},
        {1, 0, "done:14/TOGGLE_UNSUPPORTED ", 0},
        {1, 255, "done:14/TOGGLE_UNSUPPORTED ", 255},
        {0, 1, "done:14/FEATURE_DISABLED ", 1},
        {255, 1, "done:14/FEATURE_DISABLED ", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        fixture_open(f);
        tendon_obvious_feature feature = {16, 0, 0};
        f->device.features[0] = (tendon_obvious_feature){16, rows[i].enable, rows[i].toggle};
        f->device.feature_count = 1;
        start_with(TENDON_OBVIOUS_TOGGLE, &feature, 1, 0);
        fixture_run(f, 1000);
        expect(rows[i].trace);
        assert_int_equal(f->device.features[0].toggle, rows[i].after);
        if (rows[i].enable == 1 && rows[i].toggle != 0 && rows[i].toggle != 255) {
            assert_int_equal(feature.toggle, rows[i].after);
            assert_int_equal(f->device.last[10 + 3], rows[i].after); /* the explicit opposite, not a flip */
        }
        end();
    }
    begin();
    fixture_open(f);
    tendon_obvious_feature list[2] = {{16, 0, 2}, {17, 0, 1}};
    f->device.features[0] = (tendon_obvious_feature){16, 1, 1};
    f->device.features[1] = (tendon_obvious_feature){17, 1, 2};
    f->device.feature_count = 2;
    start_with(TENDON_OBVIOUS_SET_TOGGLES, list, 2, 0);
    fixture_run(f, 1000);
    expect("done:0/OK ");
    assert_int_equal(f->device.features[0].toggle, 2);
    assert_int_equal(f->device.features[1].toggle, 1);
    f->device.error[TENDON_OBVIOUS_FEATURE_TOGGLE] = 9;
    start_with(TENDON_OBVIOUS_SET_TOGGLES, list, 2, 0);
    fixture_run(f, 1000);
    expect("done:14/FEATURE_DISABLED ");
    end();
}

static void what_the_caps_do_not_cover_is_not_sent(void **state) {
    (void)state;
    static const struct {
        unsigned operation;
        uint32_t missing;
        const char *trace;
    } rows[] = {
        {TENDON_OBVIOUS_CHECK_STATUS, 1, "done:14/NOT_SUPPORTED "},
        {TENDON_OBVIOUS_TOGGLE, 1, "done:14/NOT_SUPPORTED "},
        {TENDON_OBVIOUS_TOGGLE, 2, "done:14/NOT_SUPPORTED "},
        {TENDON_OBVIOUS_SET_TOGGLES, 2, "done:14/NOT_SUPPORTED "},
        {TENDON_OBVIOUS_UPDATE_FEATURES, 4, "done:14/NOT_SUPPORTED "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        tendon_obvious_feature feature = {16, 1, 1};
        f->device.caps = 0xFF & ~rows[i].missing;
        fixture_open(f);
        bool list = rows[i].operation <= TENDON_OBVIOUS_SET_TOGGLES;
        start_with((tendon_obvious_operation)rows[i].operation, list ? &feature : NULL, list, 0);
        fixture_run(f, 1000);
        expect(rows[i].trace);
        assert_int_equal(f->device.sent_count, list ? 1 : 2); /* HELLO */
        end();
    }
}

static void changes_are_held_back(void **state) {
    (void)state;
    static const uint8_t one[] = {1, 16, 0, 1, 1}, two[] = {2, 16, 0, 1, 2, 17, 0, 0, 0};
    begin();
    fixture_open(f);
    fixture_event(f, TENDON_OBVIOUS_EVT_FEATURE_CHANGED, one, sizeof one);
    expect("changed:1 ");
    w.silent_cloud = true;
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, 1000);
    expect("need:package ");
    fixture_event(f, TENDON_OBVIOUS_EVT_FEATURE_CHANGED, one, sizeof one);
    fixture_event(f, TENDON_OBVIOUS_EVT_FEATURE_CHANGED, two, sizeof two);
    expect("");
    w.answers[0].kind = TENDON_OBVIOUS_ANSWER_NOTHING;
    give(0);
    expect("");
    fixture_run(f, 10);
    expect("done:0/OK changed:2 ");
    assert_int_equal(w.manager.held[0].toggle, 2);
    /* more than can be kept */
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, 100);
    for (uint16_t i = 1; i <= 70; i++) {
        const uint8_t item[] = {1, (uint8_t)i, 0, 1, 1};
        fixture_event(f, TENDON_OBVIOUS_EVT_FEATURE_CHANGED, item, sizeof item);
    }
    give(0);
    fixture_run(f, 10);
    expect("need:package done:0/OK changed:64 ");
    assert_int_equal(w.manager.dropped, 6);
    end();
}

/* ---- update ---- */

static void an_update(void **state) {
    (void)state;
    begin();
    perform(TENDON_OBVIOUS_UPDATE_FEATURES); /* connects */
    expect("need:package need:report done:0/OK ");
    assert_int_equal(f->device.counter, 42);
    assert_int_equal(f->device.size, w.package_length);
    assert_memory_equal(f->device.object, w.package, w.package_length);
    assert_true(w.manager.nonce.outstanding && w.manager.counter == 42);
    /* HELLO of the connection, then HELLO INFO NONCE BEGIN DATA(1724 in chunks of 1024) END */
    static const uint8_t sent[] = {1, 1, 2, 4, 0x20, 0x21, 0x21, 0x23};
    assert_int_equal(f->device.sent_count, sizeof sent);
    assert_memory_equal(f->device.sent, sent, sizeof sent);
    end();
    /* without nonces, without resume, with a small frame_max: the flags and the chunks show it */
    begin_world(512);
    f->device.caps = 0x0F & ~1u;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package need:report done:0/OK ");
    assert_false(w.manager.nonce.outstanding);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 4); /* 490 each */
    end();
}

static void provisioning_then_an_update(void **state) {
    (void)state;
    begin();
    f->device.flags = 0;
    w.package_length = make_package(w.package, 2, 1, 43, 3);
    w.answers[0].length = w.package_length;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("prov:1 need:provision prov:0 need:package need:report done:0/OK ");
    assert_int_equal(f->device.counter, 43);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_GET_NONCE), 2);
    end();
    /* the device does not become provisioned */
    begin();
    f->device.flags = 0;
    f->device.payload[TENDON_OBVIOUS_XFER_END] = (const uint8_t[]){1, 0, 0, 0};
    f->device.payload_length[TENDON_OBVIOUS_XFER_END] = 4;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("prov:1 need:provision prov:0 done:14/NOT_PROVISIONED ");
    end();
    /* a cloud that asks for it again and again */
    begin();
    w.answers[0].kind = TENDON_OBVIOUS_ANSWER_PROVISION;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package prov:1 need:provision prov:0 need:package done:10/NOT_PROVISIONED ");
    end();
}

static void answers_of_the_cloud(void **state) {
    (void)state;
    static const struct {
        uint8_t flags, answer;
        const char *trace;
    } rows[] = {
        {1, TENDON_OBVIOUS_ANSWER_NOTHING, "need:package done:0/OK "},
        {1, TENDON_OBVIOUS_ANSWER_REFUSED, "need:package done:10/NOT_PROVISIONED "},
        {1, TENDON_OBVIOUS_ANSWER_FAILED, "need:package done:11/ERROR_NOT_FOUND "},
        {0, TENDON_OBVIOUS_ANSWER_NOTHING, "prov:1 need:provision prov:11 done:14/ERROR_NOT_FOUND "},
        {0, TENDON_OBVIOUS_ANSWER_REFUSED, "prov:1 need:provision prov:14 done:10/NOT_PROVISIONED "},
        {0, TENDON_OBVIOUS_ANSWER_PROVISION, "prov:1 need:provision prov:14 done:10/NOT_PROVISIONED "},
        {0, TENDON_OBVIOUS_ANSWER_FAILED, "prov:1 need:provision prov:11 done:14/ERROR_NOT_FOUND "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        f->device.flags = rows[i].flags;
        w.answers[0].kind = w.answers[1].kind = (tendon_obvious_answer_kind)rows[i].answer;
        perform(TENDON_OBVIOUS_UPDATE_FEATURES);
        expect(rows[i].trace);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 0);
        end();
    }
}

/* Nothing of a package that does not verify reaches the device. */
static void packages_that_are_refused(void **state) {
    (void)state;
    static const char *const traces[] = {"SIG_INVALID", "BAD_LENGTH",     "WRONG_PRODUCT", "WRONG_DEVICE", "REPLAY",
                                         "BAD_FORMAT",  "NONCE_MISMATCH", "REPLAY",        "UNKNOWN_KEY"};
    for (unsigned i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        begin();
        uint8_t *p = w.package;
        w.package_length = make_package(p, i == 5 ? 4 : 1, 0, i == 4 ? 41 : 42, 0);
        w.answers[0].length = w.package_length - (i == 1);
        p[8] ^= i == 2;
        p[12] ^= i == 3;
        p[7] |= i == 6; /* the flag, with a nonce of zeros */
        w.key.revoked = i == 8;
        sign(p, w.package_length, "OBVIOUS-OFP1");
        p[30] ^= i == 0;
        start_with(TENDON_OBVIOUS_UPDATE_FEATURES, NULL, 0, i == 7 ? 42 : 0);
        fixture_run(f, 1000);
        char text[64];
        snprintf(text, sizeof text, "need:package done:11/%s ", traces[i]);
        expect(text);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 0);
        end();
    }
}

static void failures_of_a_transfer(void **state) {
    (void)state;
    static const uint8_t opcodes[] = {TENDON_OBVIOUS_XFER_BEGIN, TENDON_OBVIOUS_XFER_DATA, TENDON_OBVIOUS_XFER_END};
    for (size_t i = 0; i < 3; i++) {
        begin();
        f->device.error[opcodes[i]] = 21;
        perform(TENDON_OBVIOUS_UPDATE_FEATURES);
        expect("need:package done:12/FLASH_FAILED ");
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_ABORT), i > 0);
        end();
        begin();
        f->device.flags = 0;
        f->device.error[opcodes[i]] = 99; /* an unknown number */
        perform(TENDON_OBVIOUS_UPDATE_FEATURES);
        expect("prov:1 need:provision prov:12 done:14/INTERNAL ");
        end();
        begin();
        w.package_length = make_package(w.package, 3, 0, 42, 0);
        w.answers[0].length = w.package_length;
        f->device.error[opcodes[i]] = 11;
        perform(TENDON_OBVIOUS_UPDATE_FEATURES);
        expect("need:package done:13/SIG_INVALID ");
        end();
    }
    begin();
    w.package_length = make_package(w.package, 3, 0, 42, 0);
    w.answers[0].length = w.package_length;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package update:3 need:report done:0/OK ");
    end();
    begin();
    f->device.mute[TENDON_OBVIOUS_XFER_DATA] = true;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package done:15/ERROR_TIMEOUT ");
    end();
}

/* ---- hostile answers to a transfer ---- */

static void hostile_begin_answers(void **state) {
    (void)state;
    static const struct {
        uint8_t bytes[14];
        const char *trace;
    } rows[] = {
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0}, "need:package done:12/BAD_PARAM "},         /* session 0 */
        {{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "need:package done:12/BAD_PARAM "},         /* chunk_max 0 */
        {{1, 0, 0, 0, 255, 255, 255, 255, 0, 4, 0, 0, 0, 0}, "need:package done:12/BAD_PARAM "}, /* offset */
        {{1, 0, 0, 0, 0xBD, 6, 0, 0, 0, 4, 0, 0, 0, 0}, "need:package done:12/BAD_PARAM "},      /* size + 1 */
        {{1, 0, 0, 0, 10, 0, 0, 0, 0, 4, 1, 2, 3, 4}, "need:package done:12/HASH_MISMATCH "},    /* CRC */
        {{1, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4}, "need:package done:12/HASH_MISMATCH "},     /* CRC at 0 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        f->device.payload[TENDON_OBVIOUS_XFER_BEGIN] = rows[i].bytes;
        f->device.payload_length[TENDON_OBVIOUS_XFER_BEGIN] = 14;
        perform(TENDON_OBVIOUS_UPDATE_FEATURES);
        expect(rows[i].trace);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 0);
        assert_true(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN) <= 2);
        end();
    }
}

static void lying_offsets(void **state) {
    (void)state;
    static const uint8_t far[] = {0, 0, 0, 1}, behind[] = {1, 0, 0, 0}, zero[4] = {0};
    static const uint8_t *const answers[] = {far, behind, zero};
    for (size_t i = 0; i < 3; i++) {
        begin();
        f->device.payload[TENDON_OBVIOUS_XFER_DATA] = answers[i];
        f->device.payload_length[TENDON_OBVIOUS_XFER_DATA] = 4;
        perform(TENDON_OBVIOUS_UPDATE_FEATURES);
        expect("need:package done:12/BAD_PARAM ");
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_ABORT), 1);
        end();
    }
}

static uint8_t corrections_left;

/* The device answers BAD_OFFSET with its real offset, as after a power cut. */
static void bad_offsets_are_corrected(void **state) {
    (void)state;
    begin();
    w.silent_cloud = true;
    f->device.chunk_max = 100;
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, 100);
    give(0);
    for (corrections_left = 7; corrections_left > 0 && w.done == 0; corrections_left--) {
        for (unsigned n = f->device.times[TENDON_OBVIOUS_XFER_DATA] + 2;
             f->device.times[TENDON_OBVIOUS_XFER_DATA] < n && w.done == 0;) {
            tendon_memory_radio_tick(&f->air, f->now++);
        }
        f->device.offset = f->device.offset > 50 ? f->device.offset - 50 : 0;
    }
    fixture_run(f, 1000);
    assert_true(w.done == 1);
    end();
    /* a device that never agrees: 5 corrections, then the end */
    begin();
    f->device.loops = true;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package done:12/BAD_OFFSET ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 6);
    end();
    /* an offset beyond what was sent */
    begin();
    f->device.loops = true;
    f->device.bad_offset = 1025;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package done:12/BAD_OFFSET ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 1);
    end();
}

/* ---- connections that end ---- */

/* Disconnects after so many XFER_DATA. */
static void run_to_data(unsigned count) {
    for (int i = 0; i < 100000 && fixture_times(f, TENDON_OBVIOUS_XFER_DATA) < count; i++) {
        tendon_memory_radio_tick(&f->air, f->now);
        f->now = tendon_memory_radio_deadline(&f->air) > f->now ? f->now + 1 : f->now;
    }
}

static void a_transfer_goes_on_after_a_disconnection(void **state) {
    (void)state;
    for (unsigned resume = 0; resume < 2; resume++) {
        begin();
        f->device.chunk_max = 20;
        f->device.caps = resume ? 0xFF : 0xFF & ~16u;
        fixture_open(f);
        start(TENDON_OBVIOUS_UPDATE_FEATURES);
        run_to_data(7);
        unsigned before = fixture_times(f, TENDON_OBVIOUS_XFER_DATA);
        assert_true(before < 80);
        fixture_drop(f);
        fixture_run(f, 60000);
        expect("need:package need:report done:0/OK ");
        assert_memory_equal(f->device.object, w.package, w.package_length);
        /* 87 chunks; what the device has is not sent again if it can resume */
        unsigned sent = fixture_times(f, TENDON_OBVIOUS_XFER_DATA), all = resume ? 87 : 87 + before;
        assert_in_range(sent, all, all + 1);
        end();
    }
    /* a device that has another prefix than it reports: from the beginning */
    begin();
    f->device.chunk_max = 20;
    fixture_open(f);
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    run_to_data(7);
    f->device.object[3] ^= 1;
    fixture_drop(f);
    fixture_run(f, 60000);
    expect("need:package need:report done:0/OK ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_ABORT), 1);
    assert_memory_equal(f->device.object, w.package, w.package_length);
    end();
}

static void three_reconnections_then_the_end(void **state) {
    (void)state;
    begin();
    f->device.chunk_max = 20;
    fixture_open(f);
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    run_to_data(7);
    tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
    uint64_t before = f->now;
    while (w.done == 0 && f->now < before + 200000) {
        fixture_run(f, 100);
    }
    expect("need:package done:12/LINK_ERROR ");
    /* 1 + 2 + 4 s, and 30 s for each attempt */
    assert_in_range(f->now - before, 97000, 97400);
    end();
}

/* The response to XFER_END is lost: XFER_STATUS says whether the package was applied. */
static void a_lost_end_answer(void **state) {
    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        begin();
        fixture_open(f);
        f->device.swallows_end = true; /* it executes XFER_END, and does not respond */
        start(TENDON_OBVIOUS_UPDATE_FEATURES);
        fixture_run(f, 1000);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_END), 1);
        f->device.swallows_end = false;
        if (how == 1) {
            fixture_drop(f);
        } else if (how == 2) { /* it lost everything, too */
            f->device.xfer_state = 1;
            f->device.begin_length = 0;
            f->device.counter = 41;
            fixture_drop(f);
        }
        fixture_run(f, 150000);
        expect("need:package need:report done:0/OK ");
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_STATUS), 1);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_END), how == 2 ? 2 : 1);
        assert_int_equal(f->device.counter, 42);
        end();
    }
}

/* ---- resets ---- */

static void forget_counter(obvious_fixture *fixture) {
    fixture->device.counter = 41;
}

static void leave(obvious_fixture *fixture) {
    fixture->devices[0].present = false;
}

static void an_update_that_resets_the_device(void **state) {
    (void)state;
    begin();
    f->device.end_flags = 1;
    f->device.reboots = true;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package update:1 update:2 need:report done:0/OK ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_REBOOT), 1);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FEATURE_COUNTER), 1);
    end();
    /* it does not disconnect: 15 s, then Tendon does; it did not reset */
    begin();
    f->device.end_flags = 1;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package update:1 update:2 done:14/INTERNAL ");
    end();
    /* it comes back with another counter */
    begin();
    f->device.end_flags = 1;
    f->device.reboots = true;
    f->device.on_reset = forget_counter;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package update:1 update:2 done:14/INTERNAL ");
    end();
    /* it does not come back within 60 s */
    begin();
    f->device.end_flags = 1;
    f->device.reboots = true;
    f->device.on_reset = leave;
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, 62000);
    expect("need:package update:1 update:2 done:15/ERROR_TIMEOUT ");
    end();
    /* it refuses, or it does not respond */
    begin();
    f->device.end_flags = 1;
    f->device.error[TENDON_OBVIOUS_REBOOT] = 6;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package update:1 done:14/NOT_SUPPORTED ");
    end();
}

static void cancelled_at_any_time(void **state) {
    (void)state;
    for (unsigned ms = 0; ms < 60; ms++) {
        begin();
        w.silent_cloud = ms % 2 == 0;
        f->device.chunk_max = 4;
        start(TENDON_OBVIOUS_UPDATE_FEATURES);
        fixture_run(f, ms);
        bool over = w.done > 0;
        tendon_obvious_manager_cancel(&w.manager, f->now);
        tendon_obvious_manager_cancel(&w.manager, f->now);
        fixture_run(f, 100000);
        assert_int_equal(w.done, 1);
        assert_true(over || strstr(trace, "done:14/ERROR_CANCELLED ") != NULL);
        trace[0] = '\0';
        end();
    }
    begin();
    tendon_obvious_manager_cancel(&w.manager, f->now);
    fixture_run(f, 10);
    expect("");
    end();
}

/* Cancels an operation whose request has no response; the next one starts at once. */
static void cancel_then_start(tendon_obvious_operation next) {
    begin();
    fixture_open(f);
    f->device.mute[TENDON_OBVIOUS_GET_DEVICE_INFO] = true;
    start(TENDON_OBVIOUS_GET_INFO);
    fixture_run(f, 100);
    tendon_obvious_manager_cancel(&w.manager, f->now);
    fixture_run(f, 0);
    expect("done:14/ERROR_CANCELLED ");
    memset(f->device.mute, 0, sizeof f->device.mute);
    start(next);
    fixture_run(f, 4000);
    expect("");
}

static void after_a_cancelled_operation_the_next_one_waits(void **state) {
    (void)state;
    /* for the response, which comes when the request is repeated after 5 s */
    cancel_then_start(TENDON_OBVIOUS_GET_INFO);
    fixture_run(f, 1000);
    expect("done:0/OK ");
    end();
    /* for the limit of time of the request: 5 s, and 3 repeats */
    cancel_then_start(TENDON_OBVIOUS_GET_INFO);
    f->device.mute[TENDON_OBVIOUS_GET_DEVICE_INFO] = true;
    fixture_run(f, 15800);
    f->device.mute[TENDON_OBVIOUS_GET_DEVICE_INFO] = false;
    expect("");
    fixture_run(f, 200);
    expect("done:0/OK ");
    end();
    /* for the end of the connection: an update connects again, the others do not */
    cancel_then_start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_drop(f);
    fixture_run(f, 2000);
    expect("need:package need:report done:0/OK ");
    end();
    cancel_then_start(TENDON_OBVIOUS_GET_INFO);
    fixture_drop(f);
    fixture_run(f, 10);
    expect("done:14/ERROR_DISCONNECTED ");
    end();
    /* or it is cancelled, too */
    cancel_then_start(TENDON_OBVIOUS_GET_INFO);
    tendon_obvious_manager_cancel(&w.manager, f->now);
    fixture_run(f, 0);
    expect("done:14/ERROR_CANCELLED ");
    end();
    /* a lost connection cannot take longer than the operation itself may */
    cancel_then_start(TENDON_OBVIOUS_GET_INFO);
    f->devices[0].silent = true;
    fixture_run(f, 30000);
    assert_int_equal(w.done, 2);
    end();
}

/* The keys and the product of the next operation. */
static void another_ring_and_product(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    w.manager.config.product = 1235;
    perform(TENDON_OBVIOUS_GET_INFO);
    expect("done:14/WRONG_PRODUCT ");
    w.manager.config.product = 1234;
    const tendon_obvious_key_ring none = {.crypto = w.ring.crypto};
    w.manager.config.ring = &none;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package done:11/UNKNOWN_KEY ");
    w.manager.config.ring = &w.ring;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package need:report done:0/OK ");
    end();
}

static void a_session_that_cannot_be_opened(void **state) {
    (void)state;
    begin();
    f->device.status_value[3] = 2;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("done:14/UNSUPPORTED_PROFILE ");
    perform(TENDON_OBVIOUS_GET_INFO); /* until the next connect */
    expect("done:14/UNSUPPORTED_PROFILE ");
    end();
    begin();
    f->devices[0].present = false;
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, 29900);
    expect("");
    fixture_run(f, 200);
    expect("done:15/OK ");
    end();
}

static void arguments(void **state) {
    (void)state;
    begin();
    tendon_obvious_feature list[2] = {{16, 0, 1}, {17, 0, 1}};
#define start_status(operation, features, count)                                                                       \
    tendon_obvious_manager_start(&w.manager, operation, features, count, NULL, f->now)
    assert_int_equal(start_status((tendon_obvious_operation)0, NULL, 0), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(start_status((tendon_obvious_operation)3, list, 1), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(start_status(TENDON_OBVIOUS_UPGRADE_FIRMWARE, NULL, 0), TENDON_ERROR_INVALID_ARGUMENT);
    for (unsigned number = TENDON_OBVIOUS_UPGRADE_FIRMWARE * 2u; number <= 0x8000; number *= 2) { /* no operations */
        assert_int_equal(start_status((tendon_obvious_operation)number, NULL, 0), TENDON_ERROR_INVALID_ARGUMENT);
    }
    assert_int_equal(start_status(TENDON_OBVIOUS_CHECK_STATUS, list, 0), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(start_status(TENDON_OBVIOUS_TOGGLE, list, 2), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(start_status(TENDON_OBVIOUS_GET_INFO, list, 1), TENDON_ERROR_INVALID_ARGUMENT);
    list[1].id = 1025;
    assert_int_equal(start_status(TENDON_OBVIOUS_CHECK_STATUS, list, 2), TENDON_ERROR_INVALID_ARGUMENT);
    list[1].id = 0;
    assert_int_equal(start_status(TENDON_OBVIOUS_SET_TOGGLES, list, 2), TENDON_ERROR_INVALID_ARGUMENT);
    list[1] = (tendon_obvious_feature){17, 0, 0x80};
    assert_int_equal(start_status(TENDON_OBVIOUS_SET_TOGGLES, list, 2), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_obvious_manager_give(&w.manager, &w.answers[0], f->now), TENDON_ERROR_WRONG_STATE);
    tendon_obvious_answer bad = {.kind = TENDON_OBVIOUS_ANSWER_GIVEN};
    assert_int_equal(tendon_obvious_manager_give(&w.manager, &bad, f->now), TENDON_ERROR_INVALID_ARGUMENT);
    bad.kind = TENDON_OBVIOUS_ANSWER_COUNT;
    assert_int_equal(tendon_obvious_manager_give(&w.manager, &bad, f->now), TENDON_ERROR_INVALID_ARGUMENT);
    tendon_obvious_manager_config config = w.manager.config, other;
    tendon_obvious_manager manager;
#define refused(member, value)                                                                                         \
    other = config;                                                                                                    \
    other.member = value;                                                                                              \
    assert_int_equal(tendon_obvious_manager_init(&manager, &other), TENDON_ERROR_INVALID_ARGUMENT)
    refused(session, NULL);
    refused(ring, NULL);
    refused(on_event, NULL);
    refused(chunk_max, 0);
    fixture_run(f, 10);
    expect("");
    end();
}

/* Whatever the operation before has left behind: a new one begins as the first one does. */
static void nothing_of_an_operation_is_left_for_the_next(void **state) {
    (void)state;
    begin();
    tendon_obvious_manager *m = &w.manager;
    m->obj = m->package_kind = m->tries = m->corrections = m->activations = m->reason = 9;
    m->answered = m->cancelled = m->restarted = m->resumes = m->provisioned = m->end_sent = m->announced =
        m->rejoining = true;
    m->percent = 50;
    m->nonce.outstanding = true;
    m->status = TENDON_ERROR_TIMEOUT;
    m->feature_at = 3;
    m->transfer = 77;
    memset(&m->record, 0xA5, sizeof m->record);
    assert_int_equal(tendon_obvious_manager_start(m, TENDON_OBVIOUS_UPDATE_FEATURES, NULL, 0, NULL, 5000), TENDON_OK);
    const tendon_obvious_record none = {0};
    assert_int_equal(m->obj | m->package_kind | m->tries | m->corrections | m->activations, 0);
    assert_false(m->answered || m->cancelled || m->restarted || m->resumes || m->provisioned || m->end_sent);
    assert_false(m->announced || m->rejoining || m->nonce.outstanding);
    assert_int_equal(m->percent, -1);
    assert_int_equal(m->status, TENDON_OK);
    assert_int_equal(m->feature_at, 0);
    assert_int_equal(m->transfer, 0);
    assert_memory_equal(&m->record, &none, sizeof none);
    assert_int_equal(m->deadline, 5000);
    assert_int_equal(m->limit, 5000 + 1800000);
    assert_true(f->session.keep_alive);
    fixture_free(f);
}

/* A package is not sent again because its hash differs, as firmware is; nor does the device restart. */
static void a_package_with_another_hash_fails(void **state) {
    (void)state;
    begin();
    f->device.error[TENDON_OBVIOUS_XFER_END] = 18;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package done:12/HASH_MISMATCH ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_REBOOT), 0);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 1);
    end();
}

/* The first transfer begins at the beginning, also with a device that can resume. */
static void a_first_transfer_does_not_resume(void **state) {
    (void)state;
    begin();
    assert_true((f->device.caps & TENDON_OBVIOUS_CAP_RESUME) != 0);
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package need:report done:0/OK ");
    assert_int_equal(f->device.begin[1], 0);
    end();
}

/* ---- every pair of state and input ---- */

enum { PROVISIONING = 1, RESETS = 2, STAYS = 4, CLOUD = 8, ABSENT = 16, LEAVES = 32, LATER = 64, LOST_END = 128 };

/* How to stop an update in each state: an opcode without a response, and what else. */
static const struct {
    uint8_t mute;
    unsigned how;
} parks[] = {
    {0, ABSENT},                   /* CONNECT */
    {TENDON_OBVIOUS_HELLO, LATER}, /* HELLO */
    {TENDON_OBVIOUS_GET_DEVICE_INFO, 0},
    {TENDON_OBVIOUS_GET_NONCE, 0},
    {0, CLOUD},                /* FETCH */
    {0, CLOUD | PROVISIONING}, /* PROVISION */
    {TENDON_OBVIOUS_XFER_BEGIN, 0},
    {TENDON_OBVIOUS_XFER_BEGIN, PROVISIONING},
    {TENDON_OBVIOUS_XFER_DATA, 0},
    {TENDON_OBVIOUS_XFER_DATA, PROVISIONING},
    {TENDON_OBVIOUS_XFER_END, 0},
    {TENDON_OBVIOUS_XFER_END, PROVISIONING},
    {TENDON_OBVIOUS_XFER_STATUS, LOST_END},
    {TENDON_OBVIOUS_XFER_ABORT, 0}, /* after an error of XFER_END */
    {TENDON_OBVIOUS_REBOOT, RESETS},
    {0, RESETS | STAYS}, /* RESETTING */
    {TENDON_OBVIOUS_FEATURE_COUNTER, RESETS},
    {0, RESETS | LEAVES}, /* JOINING */
};
enum { PARKS = sizeof parks / sizeof parks[0] };

static void park(size_t which) {
    unsigned how = parks[which].how;
    begin();
    f->device.flags = (how & PROVISIONING) != 0 ? 0 : 1;
    (void)make_package(w.package, 1, 0, 43, 200);
    f->device.end_flags = (how & RESETS) != 0;
    f->device.reboots = (how & STAYS) == 0;
    f->device.on_reset = (how & LEAVES) != 0 ? leave : NULL;
    f->devices[0].present = (how & ABSENT) == 0;
    f->device.swallows_end = (how & LOST_END) != 0;
    w.silent_cloud = (how & CLOUD) != 0;
    if ((how & ABSENT) == 0) {
        fixture_open(f);
    }
    f->device.mute[parks[which].mute] = true;
    if (parks[which].mute == TENDON_OBVIOUS_XFER_ABORT) {
        f->device.error[TENDON_OBVIOUS_XFER_END] = 21;
    }
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, (how & LOST_END) != 0 ? 122000 : 2000);
    trace[0] = '\0';
}

enum { LOSE = 0, CANCEL, ANSWER, SILENCE, DISCONNECT, SECOND_END, OPENED, RESPONSE, TIME, INPUTS };

static void input(unsigned which) {
    const tendon_obvious_session_event closed = {.kind = TENDON_OBVIOUS_SESSION_EVENT_CLOSED,
                                                 .status = TENDON_RADIO_ERROR_PEER_CLOSED};
    const tendon_obvious_session_event opened = {.kind = TENDON_OBVIOUS_SESSION_EVENT_OPENED};
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
        (void)tendon_obvious_manager_give(&w.manager, &w.answers[f->device.flags == 0], f->now);
        break;
    case SILENCE:
        f->devices[0].silent = true;
        break;
    case DISCONNECT:
        tendon_obvious_session_disconnect(&f->session, f->now);
        break;
    case SECOND_END:
        if (f->session.state == TENDON_OBVIOUS_SESSION_IDLE) {
            f->session.config.on_event(f->session.config.context, &closed, f->now);
        }
        break;
    case OPENED: /* a second report */
        if (f->session.state == TENDON_OBVIOUS_SESSION_OPEN) {
            f->session.config.on_event(f->session.config.context, &opened, f->now);
        }
        break;
    case RESPONSE: /* it speaks again, and the request is repeated */
        memset(f->device.mute, 0, sizeof f->device.mute);
        f->device.swallows_end = false;
        break;
    default:
        break;
    }
}

/* Whatever comes in whatever state: the operation ends, with one DONE, and the next one can start. */
static void every_pair_of_state_and_input(void **state) {
    (void)state;
    bool seen[64] = {false};
    unsigned states = 0, good = 0;
    for (size_t which = 0; which < PARKS; which++) {
        for (unsigned i = 0; i < INPUTS; i++) {
            park(which);
            states += !seen[w.manager.state];
            seen[w.manager.state] = true;
            input(i);
            fixture_run(f, 2000000);
            assert_int_equal(w.done, 1);
            assert_int_equal(w.manager.operation, 0);
            assert_false(f->session.keep_alive);
            good += strstr(trace, "done:0/OK") != NULL;
            trace[0] = '\0';
            start(TENDON_OBVIOUS_GET_INFO);
            fixture_run(f, 2000000);
            assert_int_equal(w.done, 2);
            fixture_free(f);
        }
    }
    printf("# %u states, %u pairs, %u of them ended well\n", states, (unsigned)PARKS * INPUTS, good);
    assert_int_equal(states, 15);
    assert_true(good >= 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_information),
        cmocka_unit_test(status_of_features),
        cmocka_unit_test(lying_status_answers),
        cmocka_unit_test(toggles),
        cmocka_unit_test(what_the_caps_do_not_cover_is_not_sent),
        cmocka_unit_test(changes_are_held_back),
        cmocka_unit_test(an_update),
        cmocka_unit_test(provisioning_then_an_update),
        cmocka_unit_test(answers_of_the_cloud),
        cmocka_unit_test(packages_that_are_refused),
        cmocka_unit_test(failures_of_a_transfer),
        cmocka_unit_test(hostile_begin_answers),
        cmocka_unit_test(lying_offsets),
        cmocka_unit_test(bad_offsets_are_corrected),
        cmocka_unit_test(a_transfer_goes_on_after_a_disconnection),
        cmocka_unit_test(three_reconnections_then_the_end),
        cmocka_unit_test(a_lost_end_answer),
        cmocka_unit_test(an_update_that_resets_the_device),
        cmocka_unit_test(cancelled_at_any_time),
        cmocka_unit_test(after_a_cancelled_operation_the_next_one_waits),
        cmocka_unit_test(another_ring_and_product),
        cmocka_unit_test(a_session_that_cannot_be_opened),
        cmocka_unit_test(arguments),
        cmocka_unit_test(nothing_of_an_operation_is_left_for_the_next),
        cmocka_unit_test(a_package_with_another_hash_fails),
        cmocka_unit_test(a_first_transfer_does_not_resume),
        cmocka_unit_test(every_pair_of_state_and_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
