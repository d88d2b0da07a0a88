/* SPDX-License-Identifier: MIT */
/* The Obvious session of the client and the simulated device, over the radio in memory: each side's own codec. */
#include "obvious_fixture.h"

#include "tendon/devices/obvious_session.h"

enum { FRAME_MAX = 1024, CHUNK = 400 };

typedef struct site {
    tendon_memory_radio_device device;
    tendon_memory_radio radio;
    tendon_obvious_session session;
    uint8_t memory[TENDON_OBVIOUS_SESSION_MEMORY(FRAME_MAX)];
    uint64_t now;
    unsigned opened, unusable, closed, changed, rebooting, trial;
    bool answered;
    tendon_status status;
    tendon_obvious_payload got;
    uint8_t items[256]; /* of a list in got */
} site;

static site s;
static const tendon_address address = {{0xC0, 0, 0, 0, 0, 6}, TENDON_ADDRESS_TYPE_RANDOM};

static void on_event(void *context, const tendon_obvious_session_event *event, uint64_t now) {
    (void)context;
    (void)now;
    s.opened += event->kind == TENDON_OBVIOUS_SESSION_EVENT_OPENED;
    s.unusable += event->kind == TENDON_OBVIOUS_SESSION_EVENT_UNUSABLE;
    s.closed += event->kind == TENDON_OBVIOUS_SESSION_EVENT_CLOSED;
    if (event->kind == TENDON_OBVIOUS_SESSION_EVENT_DEVICE) {
        s.changed += event->opcode == TENDON_OBVIOUS_EVT_FEATURE_CHANGED;
        s.rebooting += event->opcode == TENDON_OBVIOUS_EVT_REBOOTING;
        s.trial += event->opcode == TENDON_OBVIOUS_EVT_FW_TRIAL;
    }
    s.status = event->kind == TENDON_OBVIOUS_SESSION_EVENT_UNUSABLE ? event->status : s.status;
}

static void on_response(void *context, const tendon_obvious_response *response, uint64_t now) {
    (void)context;
    (void)now;
    s.answered = true;
    s.status = response->status;
    if (response->payload != NULL) {
        s.got = *response->payload;
    }
}

static void on_list(void *context, const tendon_obvious_response *response, uint64_t now) {
    on_response(context, response, now);
    if (response->payload != NULL) {
        memcpy(s.items, s.got.features.items, (size_t)s.got.features.count * s.got.features.item_size);
        s.got.features.items = s.items;
    }
}

static void start(const tendon_simulated_obvious_options *options) {
    obvious_new(options);
    memset(&s, 0, sizeof s);
    s.now = o.now;
    s.device = (tendon_memory_radio_device){.device = o.seam, .address = address, .rssi = -40, .present = true};
    tendon_memory_radio_init(&s.radio, &s.device, 1);
    tendon_memory_radio_attach(&s.radio, &tendon_obvious_session_inputs, &s.session);
    tendon_memory_radio_set_target(&s.radio, &address);
    const tendon_obvious_session_config config = {.link = tendon_memory_radio_link(&s.radio),
                                                  .memory = s.memory,
                                                  .frame_max = FRAME_MAX,
                                                  .window = 8,
                                                  .on_event = on_event};
    assert_int_equal(tendon_obvious_session_init(&s.session, &config), TENDON_OK);
}

/* Ticks until the flag or the time. */
static void run(const bool *until, uint64_t ms) {
    const uint64_t end = s.now + ms;
    while (s.now < end && (until == NULL || !*until)) {
        tendon_memory_radio_tick(&s.radio, s.now);
        uint64_t due = tendon_memory_radio_deadline(&s.radio);
        uint64_t device = o.seam.ops->deadline(o.seam.context); /* also while it is not connected */
        if (s.radio.peer == NULL && device <= s.now) {
            o.seam.ops->tick(o.seam.context, s.now);
        }
        due = device < due ? device : due;
        s.now = due <= s.now ? s.now + (s.radio.peer == NULL) : due < end ? due : end;
    }
}

/* The device may be starting: as an application, it tries again. */
static void open(void) {
    unsigned before = s.opened;
    for (unsigned tries = 0; tries < 20 && s.opened == before; tries++) {
        if (s.session.state == TENDON_OBVIOUS_SESSION_IDLE) {
            assert_int_equal(tendon_obvious_session_connect(&s.session, s.now), TENDON_OK);
        }
        run(NULL, 500);
    }
    assert_int_equal(s.opened, before + 1);
    assert_int_equal(s.session.state, TENDON_OBVIOUS_SESSION_OPEN);
}

static tendon_status ask_with(uint8_t opcode, const tendon_obvious_payload *payload, tendon_obvious_on_response done) {
    s.answered = false;
    tendon_status status = tendon_obvious_session_request(&s.session, opcode, payload, done, NULL, s.now);
    if (status != TENDON_OK) {
        return status;
    }
    run(&s.answered, 60000);
    assert_true(s.answered);
    return s.status;
}

static tendon_status ask(uint8_t opcode, const tendon_obvious_payload *payload) {
    return ask_with(opcode, payload, on_response);
}

static tendon_status begin(uint8_t obj, const uint8_t *data, size_t length, const uint8_t *manifest) {
    uint8_t hash[32];
    signer_sha256(NULL, data, length, hash);
    tendon_obvious_payload payload = {.begin = {.obj = obj,
                                                .flags = 1,
                                                .chunk_max = CHUNK,
                                                .size = (uint32_t)length,
                                                .crc32 = tendon_crc32(0, data, length),
                                                .sha256 = hash,
                                                .manifest = manifest,
                                                .manifest_length = manifest != NULL ? 136 : 0}};
    return ask(TENDON_OBVIOUS_XFER_BEGIN, &payload);
}

/* From the device's offset to @p end. */
static tendon_status send(const uint8_t *data, size_t end) {
    uint32_t session = s.got.begin_response.session, offset = s.got.begin_response.offset;
    assert_int_equal(s.got.begin_response.crc32, tendon_crc32(0, data, offset));
    assert_int_equal(s.got.begin_response.chunk_max, CHUNK);
    tendon_status status = TENDON_OK;
    while (offset < end && status == TENDON_OK) {
        size_t part = end - offset < CHUNK ? end - offset : CHUNK;
        tendon_obvious_payload chunk = {
            .data = {.session = session, .offset = offset, .data = data + offset, .length = part}};
        status = ask(TENDON_OBVIOUS_XFER_DATA, &chunk);
        offset += (uint32_t)part;
        assert_true(status != TENDON_OK || s.got.next.offset == offset);
    }
    s.got.session.session = session;
    return status;
}

static tendon_status finish(uint32_t session) {
    const tendon_obvious_payload payload = {.session = {.session = session}};
    return ask(TENDON_OBVIOUS_XFER_END, &payload);
}

static tendon_obvious_feature feature(uint16_t id) {
    uint8_t item[2];
    tendon_obvious_put_feature((tendon_obvious_feature){.id = id}, 2, item);
    const tendon_obvious_payload payload = {.features = {.items = item, .count = 1, .item_size = 2}};
    assert_int_equal(ask_with(TENDON_OBVIOUS_FEATURE_STATUS, &payload, on_list), TENDON_OK);
    assert_int_equal(s.got.features.count, 1);
    return tendon_obvious_feature_at(&s.got, 0);
}

static void the_session_opens_after_pairing(void **state) {
    (void)state;
    start(NULL);
    open();
    assert_true(s.device.bonded);
    assert_int_equal(s.session.caps, 0xFF);
    assert_int_equal(s.session.boot_id, o.device.boot_id);
    assert_int_equal(s.session.flags, 0);
    assert_int_equal(s.session.frame_max, FRAME_MAX);
    assert_int_equal(ask(TENDON_OBVIOUS_GET_DEVICE_INFO, NULL), TENDON_OK);
    assert_int_equal(s.got.device_info.product, 1234);
    assert_true(s.got.device_info.serial == 0x1122334455667788);
    assert_int_equal(s.got.device_info.fw, 1003000);
    assert_int_equal(s.got.device_info.bootloader, 1000002);
    assert_int_equal(s.got.device_info.stack, 6001001);
    assert_int_equal(s.got.device_info.sdk, 1010000);
    assert_int_equal(s.got.device_info.counter, 41);
    assert_int_equal(s.got.device_info.flags, 9); /* provisioned, bonded */
    assert_int_equal(s.got.device_info.battery, 87);
    assert_int_equal(s.got.device_info.hw_rev, 2);
    assert_int_equal(s.got.device_info.key_id, 1);
    tendon_obvious_session_disconnect(&s.session, s.now);
    run(NULL, 1000);
    assert_int_equal(s.closed, 1);
    open(); /* with the key */
    assert_int_equal(s.unusable, 0);
}

static void a_device_that_rejects_pairing_is_unusable(void **state) {
    (void)state;
    const tendon_simulated_obvious_options options = {.rejects_pairing = true};
    start(&options);
    assert_int_equal(tendon_obvious_session_connect(&s.session, s.now), TENDON_OK);
    run(NULL, 10000);
    assert_int_equal(s.opened, 0);
    assert_int_equal(s.unusable, 1);
    assert_int_equal(s.status, TENDON_OBVIOUS_ERROR_UNAUTHORIZED);
}

static void another_profile_is_unusable(void **state) {
    (void)state;
    static const tendon_simulated_obvious_options cases[] = {
        {.profile = 2},
        {.lacks = TENDON_SIMULATED_OBVIOUS_NO_SERVICE},
        {.lacks = TENDON_SIMULATED_OBVIOUS_NO_DATA},
        {.lacks = TENDON_SIMULATED_OBVIOUS_NO_STATUS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start(&cases[i]);
        assert_int_equal(tendon_obvious_session_connect(&s.session, s.now), TENDON_OK);
        run(NULL, 10000);
        assert_int_equal(s.unusable, 1);
        assert_int_equal(s.status, TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE);
        assert_int_equal(o.device.counters.requests + o.device.counters.refusals, 0); /* no segment was written */
    }
}

static void features_and_toggles(void **state) {
    (void)state;
    start(NULL);
    open();
    assert_int_equal(feature(16).toggle, TENDON_OBVIOUS_TOGGLE_ACTIVATED);
    uint8_t item[3];
    tendon_obvious_put_feature((tendon_obvious_feature){.id = 16, .toggle = 2}, 3, item);
    tendon_obvious_payload payload = {.features = {.items = item, .count = 1, .item_size = 3}};
    assert_int_equal(ask_with(TENDON_OBVIOUS_FEATURE_TOGGLE, &payload, on_list), TENDON_OK);
    assert_int_equal(tendon_obvious_feature_at(&s.got, 0).toggle, TENDON_OBVIOUS_TOGGLE_DEACTIVATED);
    tendon_obvious_put_feature((tendon_obvious_feature){.id = 20, .toggle = 1}, 3, item);
    assert_int_equal(ask(TENDON_OBVIOUS_FEATURE_TOGGLE, &payload), TENDON_OBVIOUS_ERROR_FEATURE_DISABLED);
    assert_int_equal(tendon_simulated_obvious_set(&o.device, 16, 1, 1, s.now), TENDON_OK);
    run(NULL, 1000);
    assert_int_equal(s.changed, 1);
    /* A bad radio on demand: the request is answered all the same. */
    o.device.lose_next = o.device.double_next = 1;
    assert_int_equal(feature(16).toggle, TENDON_OBVIOUS_TOGGLE_ACTIVATED);
    o.device.corrupt_next = 1;
    assert_int_equal(feature(16).toggle, TENDON_OBVIOUS_TOGGLE_ACTIVATED);
}

static void a_package_with_a_nonce_and_a_restart(void **state) {
    (void)state;
    uint8_t package[200];
    start(NULL);
    open();
    uint32_t boot_id = s.session.boot_id;
    size_t length = obvious_package(package, 2, 3, 42, (const uint8_t *)"\x14\x00\x01\x01\x00\x00\x00\x00", 1);
    assert_int_equal(ask(TENDON_OBVIOUS_GET_NONCE, NULL), TENDON_OK);
    memcpy(package + 36, o.device.links[0].nonce.bytes, 16); /* as the response, whose bytes were lent */
    obvious_sign(package, length, "OBVIOUS-OFP1");
    assert_int_equal(begin(1, package, length, NULL), TENDON_OK);
    assert_int_equal(send(package, length), TENDON_OK);
    assert_int_equal(finish(s.got.session.session), TENDON_OK);
    assert_int_equal(s.got.end.result, 0);
    assert_int_equal(s.got.end.flags, 1);
    run(NULL, 3000);
    assert_int_equal(s.rebooting, 1);
    assert_int_equal(s.closed, 1);
    open();
    assert_int_not_equal(s.session.boot_id, boot_id);
    assert_int_equal(feature(20).enable, TENDON_OBVIOUS_ENABLED);
    assert_int_equal(ask(TENDON_OBVIOUS_FEATURE_COUNTER, NULL), TENDON_OK);
    assert_int_equal(s.got.counter.counter, 42);
}

/* An upgrade with a power cut in the middle of the transfer, then trial, self test, confirmation. */
static void a_firmware_upgrade(void **state) {
    (void)state;
    static uint8_t image[3000];
    uint8_t manifest[136];
    start(NULL);
    open();
    for (size_t i = 0; i < sizeof image; i++) {
        image[i] = (uint8_t)(i * 31 >> 3);
    }
    obvious_manifest(manifest, 1004000, 2, image, sizeof image);
    assert_int_equal(begin(2, image, sizeof image, manifest), TENDON_OK);
    assert_int_equal(send(image, 1400), TENDON_OK);
    tendon_simulated_obvious_power_cut(&o.device, s.now);
    run(NULL, 1000);
    assert_int_equal(s.closed, 1);
    open();
    assert_int_equal(begin(2, image, sizeof image, manifest), TENDON_OK);
    assert_int_equal(s.got.begin_response.offset, 1280); /* five pages of 256 */
    assert_int_equal(send(image, sizeof image), TENDON_OK);
    assert_int_equal(finish(s.got.session.session), TENDON_OK);
    assert_int_equal(s.got.end.result, 2);
    tendon_obvious_payload payload = {.activate = {.version = 1004000, .mode = 1, .delay_100ms = 10}};
    assert_int_equal(ask(TENDON_OBVIOUS_FW_ACTIVATE, &payload), TENDON_OK);
    run(NULL, 3000);
    assert_int_equal(s.rebooting, 1);
    open();
    run(NULL, 100);
    assert_int_equal(s.trial, 1);
    assert_int_equal(s.session.flags, TENDON_OBVIOUS_FLAG_TRIAL);
    assert_int_equal(ask(TENDON_OBVIOUS_FW_STATE, NULL), TENDON_OK);
    assert_int_equal(s.got.firmware.active, 1004000);
    assert_int_equal(s.got.firmware.active_state, 2);
    assert_int_equal(s.got.firmware.rollback, 1003000);
    assert_in_range(s.got.firmware.trial_remaining_s, 280, 300);
    payload = (tendon_obvious_payload){.confirm = {.version = 1004000, .verdict = 1}};
    assert_int_equal(ask(TENDON_OBVIOUS_FW_CONFIRM, &payload), TENDON_OK);
    assert_int_equal(ask(TENDON_OBVIOUS_FW_STATE, NULL), TENDON_OK);
    assert_int_equal(s.got.firmware.active_state, 1);
    assert_int_equal(s.got.firmware.epoch, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_session_opens_after_pairing),
        cmocka_unit_test(a_device_that_rejects_pairing_is_unusable),
        cmocka_unit_test(another_profile_is_unusable),
        cmocka_unit_test(features_and_toggles),
        cmocka_unit_test(a_package_with_a_nonce_and_a_restart),
        cmocka_unit_test(a_firmware_upgrade),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
