/* SPDX-License-Identifier: MIT */
/* The feature update of the client with the simulated device: provisioning, a package with a nonce, its restart. */
#include "obvious_fixture.h"

#include "tendon/devices/obvious_manager.h"

enum { FRAME_MAX = 1024 };

static struct {
    tendon_memory_radio_device device;
    tendon_memory_radio radio;
    tendon_obvious_session session;
    tendon_obvious_manager manager;
    uint8_t memory[TENDON_OBVIOUS_SESSION_MEMORY(FRAME_MAX)], package[200];
    uint64_t now;
    int need; /* -1: none */
    bool done;
    char trace[256];
} s;

static const tendon_address address = {{0xC0, 0, 0, 0, 0, 6}, TENDON_ADDRESS_TYPE_RANDOM};

static void on_event(void *context, const tendon_obvious_event *event, uint64_t now) {
    static const char *const names[] = {"need", "provisioning", "update", "changed", "done"};
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

/* The application's cloud: kind 4 for provisioning, then a delta that requires a restart; both bound to the nonce. */
static void answer(void) {
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

static void run(uint64_t ms) {
    const uint64_t end = s.now + ms;
    while (s.now < end && !s.done) {
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

static void a_new_device_is_provisioned_and_updated(void **state) {
    (void)state;
    const tendon_simulated_obvious_options options = {.unprovisioned = true};
    obvious_new(&options);
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
    const tendon_obvious_manager_config manager = {
        .session = &s.session, .ring = &obvious_ring, .product = 1234, .chunk_max = 50, .on_event = on_event};
    assert_int_equal(tendon_obvious_session_init(&s.session, &session), TENDON_OK);
    assert_int_equal(tendon_obvious_manager_init(&s.manager, &manager), TENDON_OK);
    uint32_t boot_id = o.device.boot_id;
    assert_int_equal(tendon_obvious_manager_start(&s.manager, TENDON_OBVIOUS_UPDATE_FEATURES, NULL, 0, 0, s.now),
                     TENDON_OK);
    run(120000);
    assert_string_equal(s.trace,
                        "provisioning 1, need 1, provisioning 0, need 0, update 1, update 2, need 2, done 0, ");
    assert_int_not_equal(o.device.boot_id, boot_id);
    tendon_simulated_obvious_feature feature;
    assert_true(tendon_simulated_obvious_get(&o.device, 20, &feature));
    assert_int_equal(feature.enable, 1);
    assert_true(o.device.provisioned);
    assert_int_equal(o.device.counter, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_device_is_provisioned_and_updated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
