/* SPDX-License-Identifier: MIT */
/* The client with the simulated device: provisioning, a package with a nonce, its restart; a firmware upgrade. */
#include "obvious_fixture.h"

#include "tendon/devices/obvious_manager.h"

enum { FRAME_MAX = 1024, IMAGE = 3000 };

static struct {
    tendon_memory_radio_device device;
    tendon_memory_radio radio;
    tendon_obvious_session session;
    tendon_obvious_manager manager;
    uint8_t memory[TENDON_OBVIOUS_SESSION_MEMORY(FRAME_MAX)], package[200];
    uint8_t image[IMAGE], sha256[32], manifest[136];
    tendon_obvious_record record;
    unsigned records;
    uint64_t now;
    int need; /* -1: none */
    bool done;
    char trace[512];
} s;

static const tendon_address address = {{0xC0, 0, 0, 0, 0, 6}, TENDON_ADDRESS_TYPE_RANDOM};

static void on_event(void *context, const tendon_obvious_event *event, uint64_t now) {
    static const char *const names[] = {"need", "provisioning", "update", "progress", "changed", "done"};
    size_t used = strlen(s.trace);
    (void)context;
    (void)now;
    snprintf(s.trace + used, sizeof s.trace - used, "%s %d, ", names[event->kind], event->code);
    s.need = event->kind == TENDON_OBVIOUS_EVENT_NEED ? event->code : s.need;
    s.done = s.done || event->kind == TENDON_OBVIOUS_EVENT_DONE;
}

static void on_session(void *context, const tendon_obvious_session_event *event, uint64_t now) {
    (void)context;
    (void)event;
    (void)now;
}

static tendon_status read_image(void *context, uint32_t offset, uint8_t *buffer, size_t length) {
    (void)context;
    assert_true(offset <= IMAGE && length <= IMAGE - offset);
    memcpy(buffer, s.image + offset, length);
    return TENDON_OK;
}

static tendon_status store(void *context, const tendon_obvious_record *record) {
    (void)context;
    s.record = *record;
    s.records++;
    return TENDON_OK;
}

static void answer_firmware(void) {
    const tendon_obvious_answer given = {.data = s.manifest,
                                         .length = sizeof s.manifest,
                                         .image_length = IMAGE,
                                         .image_crc32 = tendon_crc32(0, s.image, IMAGE),
                                         .image_sha256 = s.sha256};
    s.need = -1;
    assert_int_equal(tendon_obvious_manager_give(&s.manager, &given, s.now), TENDON_OK);
}

/* The application's cloud: kind 4 for provisioning, then a delta that requires a restart; both bound to the nonce. */
static void answer(void) {
    if (s.need == TENDON_OBVIOUS_NEED_FIRMWARE || s.need == TENDON_OBVIOUS_NEED_IMAGE) {
        answer_firmware();
        return;
    }
    bool provision = s.need == TENDON_OBVIOUS_NEED_PROVISION;
    uint64_t counter = s.manager.counter + 1;
    size_t length = obvious_package(s.package, provision ? 4 : 2, provision ? 1 : 3, counter,
                                    (const uint8_t *)"\x14\x00\x01\x01\x00\x00\x00\x00", provision ? 0 : 1);
    memcpy(s.package + 36, s.manager.nonce.bytes, 16);
    s.package[7] = (uint8_t)(s.manager.nonce.outstanding ? s.package[7] : s.package[7] & 2);
    obvious_sign(s.package, length, "OBVIOUS-OFP1");
    const tendon_obvious_answer given = {.kind = TENDON_OBVIOUS_ANSWER_GIVEN, .data = s.package, .length = length};
    bool asks = s.need != TENDON_OBVIOUS_NEED_REPORT;
    s.need = -1;
    if (asks) {
        assert_int_equal(tendon_obvious_manager_give(&s.manager, &given, s.now), TENDON_OK);
    }
}

static void step(uint64_t end) {
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

static void run(uint64_t ms) {
    const uint64_t end = s.now + ms;
    while (s.now < end && !s.done) {
        step(end);
    }
}

static void begin(const tendon_simulated_obvious_options *options) {
    obvious_new(options);
    memset(&s, 0, sizeof s);
    s.now = o.now;
    s.need = -1;
    s.device = (tendon_memory_radio_device){.device = o.seam, .address = address, .rssi = -40, .present = true};
    tendon_memory_radio_init(&s.radio, &s.device, 1);
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
                                                   .chunk_max = 500,
                                                   .min_battery = 20,
                                                   .on_event = on_event,
                                                   .read = read_image,
                                                   .store = store};
    assert_int_equal(tendon_obvious_session_init(&s.session, &session), TENDON_OK);
    assert_int_equal(tendon_obvious_manager_init(&s.manager, &manager), TENDON_OK);
    for (size_t i = 0; i < IMAGE; i++) {
        s.image[i] = (uint8_t)(11 * i + 3);
    }
    signer_sha256(NULL, s.image, IMAGE, s.sha256);
    obvious_manifest(s.manifest, 1004000, 0, s.image, IMAGE);
}

static void perform(tendon_obvious_operation operation, uint64_t ms) {
    s.done = false;
    s.trace[0] = '\0';
    assert_int_equal(tendon_obvious_manager_start(&s.manager, operation, NULL, 0, s.now), TENDON_OK);
    run(ms);
    assert_true(s.done);
}

static void a_new_device_is_provisioned_and_updated(void **state) {
    (void)state;
    const tendon_simulated_obvious_options options = {.unprovisioned = true};
    begin(&options);
    s.manager.config.chunk_max = 50;
    uint32_t boot_id = o.device.boot_id;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES, 120000);
    assert_string_equal(s.trace,
                        "provisioning 1, need 1, provisioning 0, need 0, update 1, update 2, need 4, done 0, ");
    assert_int_not_equal(o.device.boot_id, boot_id);
    tendon_simulated_obvious_feature feature;
    assert_true(tendon_simulated_obvious_get(&o.device, 20, &feature));
    assert_int_equal(feature.enable, 1);
    assert_true(o.device.provisioned);
    assert_int_equal(o.device.counter, 2);
}

/* Runs until a part of an object has arrived, then disconnects. */
static void drop_within(uint8_t obj) {
    for (unsigned i = 0; i < 100000 && (s.manager.obj != obj || s.manager.offset < 20 || s.manager.offset > 100); i++) {
        step(s.now + 1);
    }
    assert_int_equal(s.manager.obj, obj);
    assert_in_range(s.manager.offset, 20, 100);
    tendon_att_bearer_close(&s.radio.theirs);
}

/* The nonce ends with the connection: what is bound to it is made again, with the next nonce. */
static void what_is_bound_to_a_nonce_is_fetched_again(void **state) {
    (void)state;
    const tendon_simulated_obvious_options options = {.unprovisioned = true};
    begin(&options);
    s.radio.mtu = 23;
    s.manager.config.chunk_max = 1;
    assert_int_equal(tendon_obvious_manager_start(&s.manager, TENDON_OBVIOUS_UPDATE_FEATURES, NULL, 0, s.now),
                     TENDON_OK);
    drop_within(TENDON_OBVIOUS_OBJECT_PROVISION);
    drop_within(TENDON_OBVIOUS_OBJECT_PACKAGE);
    run(120000);
    assert_string_equal(s.trace, "provisioning 1, need 1, need 1, provisioning 0, need 0, need 0, update 1, update 2, "
                                 "need 4, done 0, ");
    assert_int_equal(o.device.counter, 2);
    assert_int_equal(s.manager.illegal_inputs, 0);
}

static uint64_t loaded[4];
static unsigned loads;

static void load(void *context, tendon_obvious_record *record) {
    (void)context;
    assert_true(loads < 4);
    loaded[loads++] = record->serial;
}

/* Over a connection of the application it can be another device that answers after a reconnection. */
static void each_device_has_its_own_record(void **state) {
    (void)state;
    const tendon_simulated_obvious_options options = {.unprovisioned = true};
    for (int another = 0; another < 2; another++) {
        begin(&options);
        s.radio.mtu = 23;
        s.manager.config.chunk_max = 1;
        s.manager.config.load = load;
        loads = 0;
        assert_int_equal(tendon_obvious_manager_start(&s.manager, TENDON_OBVIOUS_UPDATE_FEATURES, NULL, 0, s.now),
                         TENDON_OK);
        drop_within(TENDON_OBVIOUS_OBJECT_PROVISION); /* bound to a nonce: it begins again with GET_DEVICE_INFO */
        if (another) {
            o.device.options.serial = 7;
        }
        run(120000);
        assert_int_equal(loads, another ? 2 : 1);
        assert_int_equal(loaded[0], 0x1122334455667788);
        assert_int_equal(another ? loaded[1] : 7, 7);
    }
}

/* Transfer, trial boot, self test, confirmation; then the device runs the firmware, and there is nothing newer. */
static void an_upgrade_with_a_trial_boot(void **state) {
    (void)state;
    begin(NULL);
    uint64_t boots = o.device.counters.boots;
    perform(TENDON_OBVIOUS_UPGRADE_FIRMWARE, 200000);
    assert_string_equal(s.trace, "progress -1, need 3, progress 0, progress 16, progress 33, progress 50, progress 66, "
                                 "progress 83, progress 99, progress 100, progress -2, need 4, done 0, ");
    assert_int_equal(o.device.counters.boots, boots + 1);
    assert_int_equal(o.device.counters.rollbacks, 0);
    assert_int_equal(s.record.state, TENDON_OBVIOUS_JOURNAL_NONE);
    assert_int_equal(s.records, 4);
    perform(TENDON_OBVIOUS_CHECK_FIRMWARE, 60000);
    assert_string_equal(s.trace, "need 2, done 16, ");
    assert_int_equal(s.manager.fw, 1004000);
    s.now += 400000; /* confirmed: the device does not go back after the time of a trial */
    s.done = false;
    run(1000);
    perform(TENDON_OBVIOUS_UPGRADE_FIRMWARE, 60000);
    assert_int_equal(s.manager.fw, 1004000);
    assert_int_equal(o.device.counters.rollbacks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_device_is_provisioned_and_updated),
        cmocka_unit_test(what_is_bound_to_a_nonce_is_fetched_again),
        cmocka_unit_test(each_device_has_its_own_record),
        cmocka_unit_test(an_upgrade_with_a_trial_boot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
