/* SPDX-License-Identifier: MIT */
/* Actions on a trainer: their requests and their end. */
#include "../devices/activ5_world.h"

#include "tendon/gateway.h"

static tendon_act_progress progress;
static unsigned ends;
static tendon_status result;

static void hook(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    tendon_status status = 99;
    activ5_world_hook(f, event, now);
    if (event != NULL && tendon_activ5_acted(event, &progress, &status)) {
        ends++;
        result = status;
        assert_int_equal(progress.kind, TENDON_ACT_NONE);
    }
}

static tendon_status start(activ5_world *w, const char *text) {
    tendon_act act;
    tendon_act_mistake mistake;
    assert_int_equal(tendon_act_parse_text("activ5", NULL, text, strlen(text), &act, &mistake), TENDON_OK);
    ends = 0;
    w->f->hook = hook;
    return tendon_activ5_act(&w->session, &act, &progress, w->now);
}

static void actions(void **state) {
    (void)state;
    activ5_world *w = activ5_world_ready(NULL);
    activ5_forget(w->f);
    assert_int_equal(start(w, "start"), TENDON_OK);
    activ5_world_run(w, 500);
    assert_int_equal(ends, 1);
    assert_int_equal(result, TENDON_OK);
    assert_true(w->forces > 0);
    assert_int_equal(start(w, "tare"), TENDON_OK);
    activ5_world_run(w, 200);
    assert_int_equal(ends, 1);
    assert_int_equal(result, TENDON_OK);
    /* a request before it ends first */
    assert_true(tendon_activ5_device_set_sample_rate(&w->f->device, 50, w->now) >= 0);
    assert_int_equal(start(w, "stop"), TENDON_OK);
    assert_int_equal(progress.number, 2);
    activ5_world_run(w, 500);
    assert_int_equal(ends, 1);
    assert_int_equal(w->f->device.state, TENDON_ACTIV5_STATE_STOP);
    size_t forces = w->forces;
    activ5_world_run(w, 500);
    assert_int_equal(w->forces, forces);
    activ5_world_free(w);
}

static void failures(void **state) {
    (void)state;
    activ5_world *w = activ5_world_ready(NULL);
    assert_int_equal(start(w, "tare"), TENDON_OK);
    tendon_memory_radio_set_present(&w->air, &w->in_air, false, w->now);
    activ5_world_run(w, 20000);
    assert_int_equal(ends, 1);
    assert_true(result < 0);
    /* not connected any more */
    assert_true(start(w, "tare") < 0);
    assert_int_equal(progress.kind, TENDON_ACT_NONE);
    activ5_world_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actions),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
