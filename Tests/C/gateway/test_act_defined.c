/* SPDX-License-Identifier: MIT */
/* Actions on a device of a file: what is written, and its end. */
#include "../definition/definition_fixture.h"

#include "tendon/gateway.h"
#include "tendon/simulate.h"

static struct world {
    tendon_definition definition, served;
    tendon_simulated_defined device;
    tendon_memory_radio_device seat;
    tendon_memory_radio radio;
    tendon_defined_session session;
    tendon_act_progress progress;
    unsigned ends;
    tendon_status result;
    uint64_t now;
} w;

static void on_event(void *context, const tendon_defined_event *event, uint64_t now) {
    tendon_status status = 99;
    (void)context, (void)now;
    if (tendon_defined_acted(event, &w.progress, &status)) {
        w.ends++;
        w.result = status;
        assert_int_equal(w.progress.kind, TENDON_ACT_NONE);
    }
}

static void run(uint64_t ms) {
    uint64_t until = w.now + ms;
    for (uint64_t next = tendon_memory_radio_deadline(&w.radio); next <= until;
         next = tendon_memory_radio_deadline(&w.radio)) {
        w.now = next > w.now ? next : w.now;
        tendon_memory_radio_tick(&w.radio, w.now);
    }
    w.now = until;
}

#define TOY(flags)                                                                                                     \
    "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': [{'name': 'level', "           \
    "'service': 'fff0', 'uuid': 'fff1', 'notify': [{'name': 'x', 'type': 'u8'}], 'required': true}, {'name': "         \
    "'control', 'service': 'fff5', 'uuid': '" flags "', 'write': [{'name': 'rate', 'type': 'u16', 'max': 500}]}], "    \
    "'actions': [{'name': 'set_rate', 'characteristic': 'control'}]}"

static void start(const char *served) {
    tendon_definition_mistake mistake;
    w = (struct world){.now = 1000};
    assert_int_equal(parse_text(TOY("fff3"), &w.definition, &mistake), TENDON_OK);
    assert_int_equal(parse_text(served, &w.served, &mistake), TENDON_OK);
    const tendon_simulated_defined_options options = {0};
    assert_int_equal(tendon_simulated_defined_init(&w.device, &w.served, &options), TENDON_OK);
    w.seat = (tendon_memory_radio_device){.device = tendon_simulated_defined_device(&w.device),
                                          .address = {{1, 2, 3, 4, 5, 6}, 0},
                                          .rssi = -50,
                                          .present = true};
    tendon_memory_radio_init(&w.radio, &w.seat, 1);
    tendon_memory_radio_attach(&w.radio, &tendon_defined_inputs, &w.session);
    tendon_memory_radio_set_target(&w.radio, &w.seat.address);
    tendon_defined_session_init(&w.session, &w.definition, tendon_memory_radio_link(&w.radio), NULL, on_event);
}

static tendon_status act(const char *text) {
    tendon_act parsed_act;
    tendon_act_mistake mistake;
    assert_int_equal(tendon_act_parse_text("toy", &w.definition, text, strlen(text), &parsed_act, &mistake), TENDON_OK);
    w.ends = 0;
    return tendon_defined_act(&w.session, &parsed_act, &w.progress, w.now);
}

static void connect_it(void) {
    assert_int_equal(w.session.link.connect(w.session.link.context), TENDON_OK);
    run(100);
}

static void it_is_written(void **state) {
    (void)state;
    start(TOY("fff3"));
    assert_int_equal(act("set_rate 1"), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(w.progress.kind, TENDON_ACT_NONE);
    connect_it();
    assert_int_equal(act("set_rate 258"), TENDON_OK);
    run(50);
    assert_int_equal(w.ends, 1);
    assert_int_equal(w.result, TENDON_OK);
    assert_hex(w.device.written.bytes, w.device.written.length, "0201");
    /* another write that ends in between is not its end */
    const uint8_t other[] = {7, 0};
    tendon_act_progress none = {0};
    assert_true(tendon_defined_session_write(&w.session, 0, other, 2, w.now) > 0);
    assert_int_equal(act("set_rate 3"), TENDON_OK);
    run(50);
    assert_int_equal(w.ends, 1);
    assert_hex(w.device.written.bytes, w.device.written.length, "0300");
    /* nothing is in progress: nothing ends */
    tendon_status status = 99;
    const tendon_defined_event event = {.kind = TENDON_DEFINED_EVENT_WRITTEN};
    assert_false(tendon_defined_acted(&event, &none, &status));
}

static void failures(void **state) {
    (void)state;
    start(TOY("fff4")); /* the device does not have the characteristic */
    connect_it();
    assert_int_equal(act("set_rate 1"), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(w.progress.kind, TENDON_ACT_NONE);
    const tendon_act other = {.kind = TENDON_ACT_DEFINED, .defined = &w.served};
    assert_int_equal(tendon_defined_act(&w.session, &other, &w.progress, w.now), TENDON_ERROR_INVALID_ARGUMENT);
    uint8_t large[TENDON_DEFINITION_VALUE + 1] = {0};
    assert_int_equal(tendon_defined_session_write(&w.session, 0, large, sizeof large, w.now),
                     TENDON_ERROR_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_written),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
