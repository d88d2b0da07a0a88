/* SPDX-License-Identifier: MIT */
/* The light of a grip: the command, and every answer. */
#include "../devices/fjorden_fixture.h"

#include "tendon/gateway.h"

static tendon_act_progress progress;
static unsigned ends;
static tendon_status result;

static void hook(fjorden_fixture *f, const tendon_fjorden_session_event *event) {
    tendon_status status = 99;
    (void)f;
    if (tendon_fjorden_acted(event, &progress, &status)) {
        ends++;
        result = status;
        assert_int_equal(progress.kind, TENDON_ACT_NONE);
    }
}

static tendon_status start(fjorden_fixture *f, const char *text) {
    tendon_act act;
    tendon_act_mistake mistake;
    assert_int_equal(tendon_act_parse_text("fjorden", NULL, text, strlen(text), &act, &mistake), TENDON_OK);
    ends = 0;
    f->hook = hook;
    return tendon_fjorden_act(&f->session, &act, &progress, f->now);
}

static void the_light(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    assert_int_equal(start(f, "led on"), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(progress.kind, TENDON_ACT_NONE);
    fjorden_reach_connected(f);
    assert_int_equal(start(f, "led blinkSlow 500"), TENDON_OK);
    assert_int_equal(start(f, "led on"), TENDON_ERROR_BUSY);
    assert_int_equal(start(f, "led on"), TENDON_ERROR_BUSY);
    free(f);
    f = fjorden_new(NULL);
    fjorden_reach_connected(f);
    assert_int_equal(start(f, "led blinkSlow 500"), TENDON_OK);
    fjorden_run(f, 200);
    assert_int_equal(ends, 1);
    assert_int_equal(result, TENDON_OK);
    assert_int_equal(f->grips[0].led_mode, 2);
    free(f);
}

static void answers(void **state) {
    (void)state;
    static const struct {
        uint8_t status;
        tendon_status result;
    } rows[] = {
        {TENDON_FJORDEN_RESPONSE_OK, TENDON_OK},
        {TENDON_FJORDEN_RESPONSE_UNKNOWN_OPCODE, TENDON_ERROR_UNSUPPORTED},
        {TENDON_FJORDEN_RESPONSE_BAD_LENGTH, TENDON_ERROR_INVALID_ARGUMENT},
        {TENDON_FJORDEN_RESPONSE_BAD_PARAMETER, TENDON_ERROR_INVALID_ARGUMENT},
        {TENDON_FJORDEN_RESPONSE_BUSY, TENDON_ERROR_BUSY},
        {TENDON_FJORDEN_RESPONSE_NOT_PERMITTED, TENDON_ERROR_WRONG_STATE},
        {0x77, TENDON_ERROR_WRONG_STATE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tendon_fjorden_response response = {.status = rows[i].status};
        tendon_fjorden_session_event event = {.kind = TENDON_FJORDEN_SESSION_EVENT_BATTERY, .response = &response};
        tendon_status status = 99;
        progress = (tendon_act_progress){.kind = TENDON_ACT_FJORDEN_LED};
        assert_false(tendon_fjorden_acted(&event, &progress, &status));
        event.kind = TENDON_FJORDEN_SESSION_EVENT_RESPONSE;
        assert_true(tendon_fjorden_acted(&event, &progress, &status));
        assert_int_equal(status, rows[i].result);
        assert_false(tendon_fjorden_acted(&event, &progress, &status)); /* once */
        progress = (tendon_act_progress){.kind = TENDON_ACT_FJORDEN_LED};
        event.status = TENDON_ERROR_TIMEOUT;
        assert_true(tendon_fjorden_acted(&event, &progress, &status));
        assert_int_equal(status, TENDON_ERROR_TIMEOUT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_light),
        cmocka_unit_test(answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
