/* SPDX-License-Identifier: MIT */
/* A Bose session and a simulated wearable that requires pairing, over the radio in memory. */
#include "test_bytes.h"

#include "tendon/devices/bose_session.h"
#include "tendon/simulate.h"

typedef struct site {
    tendon_simulated_bose wearable;
    tendon_memory_radio_device device;
    tendon_memory_radio radio;
    tendon_bose_session session;
    uint64_t now;
    unsigned opened, failed, closed, pairings;
    tendon_status status;
} site;

static const tendon_address address = {{0xC0, 0, 0, 0, 0, 1}, TENDON_ADDRESS_TYPE_RANDOM};

static void on_event(void *context, const tendon_bose_event *event, uint64_t now) {
    site *s = context;
    (void)now;
    s->opened += event->kind == TENDON_BOSE_EVENT_OPENED;
    s->failed += event->kind == TENDON_BOSE_EVENT_OPEN_FAILED;
    s->closed += event->kind == TENDON_BOSE_EVENT_CLOSED;
    s->pairings += event->kind == TENDON_BOSE_EVENT_PAIRING_STARTED;
    s->status = event->kind == TENDON_BOSE_EVENT_OPEN_FAILED ? event->status : s->status;
}

static int setup(void **state) {
    static site s;
    const tendon_simulated_bose_options options = {.pairing_required = true, .pairing_enabled = true};
    s = (site){.now = 1000};
    assert_int_equal(tendon_simulated_bose_init(&s.wearable, &options), TENDON_OK);
    s.device = (tendon_memory_radio_device){
        .device = tendon_simulated_bose_device(&s.wearable), .address = address, .rssi = -40, .present = true};
    tendon_memory_radio_init(&s.radio, &s.device, 1);
    tendon_memory_radio_attach(&s.radio, &tendon_bose_session_inputs, &s.session);
    tendon_memory_radio_set_target(&s.radio, &address);
    const tendon_bose_session_config config = {
        .link = tendon_memory_radio_link(&s.radio), .context = &s, .on_event = on_event};
    assert_int_equal(tendon_bose_session_init(&s.session, &config), TENDON_OK);
    *state = &s;
    return 0;
}

/* Ten seconds, to each deadline of the radio and of the session. */
static void run(site *s) {
    const uint64_t end = s->now + 10000;
    while (s->now < end) {
        tendon_memory_radio_tick(&s->radio, s->now);
        uint64_t due = tendon_memory_radio_deadline(&s->radio);
        s->now = due > s->now && due < end ? due : due <= s->now ? s->now : end;
    }
}

/* The key outlives the connection: the next one is encrypted with it before the session sends anything. */
static void the_next_connection_is_encrypted_with_the_key(void **state) {
    site *s = *state;
    assert_int_equal(tendon_bose_session_open(&s->session, s->now), TENDON_OK);
    run(s);
    assert_int_equal(s->opened, 1);
    assert_int_equal(s->pairings, 1);
    tendon_simulated_bose_set_pairing_mode(&s->wearable, false, s->now);
    assert_int_equal(tendon_bose_session_close(&s->session, s->now), TENDON_OK);
    run(s);
    assert_int_equal(s->closed, 1);
    assert_int_equal(tendon_bose_session_open(&s->session, s->now), TENDON_OK);
    run(s);
    assert_int_equal(s->status, TENDON_OK);
    assert_int_equal(s->opened, 2);
    assert_int_equal(s->pairings, 1);
}

/* Without the key, and outside pairing mode, pairing is impossible. */
static void a_forgotten_key_is_not_used(void **state) {
    site *s = *state;
    assert_int_equal(tendon_bose_session_open(&s->session, s->now), TENDON_OK);
    run(s);
    tendon_simulated_bose_set_pairing_mode(&s->wearable, false, s->now);
    assert_int_equal(tendon_memory_radio_forget(&s->radio, &address), TENDON_OK);
    run(s);
    assert_int_equal(s->closed, 1);
    assert_int_equal(tendon_bose_session_open(&s->session, s->now), TENDON_OK);
    run(s);
    assert_int_equal(s->failed, 1);
    assert_int_equal(s->status, TENDON_BOSE_ERROR_PAIRING_DELEGATE_MISSING);
}

static void on_read(void *context, const tendon_gatt_result *result) {
    (void)result;
    *(unsigned *)context += 1;
}

/* A full queue is reported as writable again: what the client could not send is sent then. */
static void a_full_queue_becomes_writable(void **state) {
    site *s = *state;
    unsigned reads = 0, writes = 0;
    assert_int_equal(tendon_bose_session_open(&s->session, s->now), TENDON_OK);
    run(s);
    while (tendon_gatt_write_command(&s->radio.client, 0xFFFF, (const uint8_t *)"x", 1) == TENDON_OK) {
        writes++;
    }
    assert_int_equal(writes, TENDON_MEMORY_RADIO_QUEUE);
    assert_true(tendon_gatt_read(&s->radio.client, 0xFFFF, on_read, &reads, s->now) > 0);
    run(s);
    assert_int_equal(reads, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_next_connection_is_encrypted_with_the_key, setup),
        cmocka_unit_test_setup(a_forgotten_key_is_not_used, setup),
        cmocka_unit_test_setup(a_full_queue_becomes_writable, setup),
    };
    return cmocka_run_group_tests_name("simulate_bose_paired", tests, NULL, NULL);
}
