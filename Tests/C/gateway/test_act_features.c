/* SPDX-License-Identifier: MIT */
/* Actions on an Obvious device: features and firmware. */
#include "../devices/obvious_manager_world.h"

#include "tendon/gateway.h"

static tendon_act act;
static tendon_act_progress progress;
static unsigned ends, lines;
static tendon_status result;
static char line_text[TENDON_LINE_SIZE];

static void on_event(void *context, const tendon_obvious_event *event, uint64_t now) {
    tendon_status status = 99;
    (void)context, (void)now;
    tendon_line line;
    tendon_line_init(&line, line_text, sizeof line_text - 1, false);
    for (size_t i = 0;; i++) {
        tendon_status length = tendon_obvious_line(&line, NULL, 0, event, i);
        if (length <= 0) {
            break;
        }
        line_text[length] = '\0';
        lines++;
    }
    if (tendon_obvious_acted(event, &progress, &status)) {
        ends++;
        result = status;
        assert_int_equal(progress.kind, TENDON_ACT_NONE);
    }
}

static tendon_status perform_text(const char *text) {
    tendon_act_mistake mistake;
    assert_int_equal(tendon_act_parse_text("obvious", NULL, text, strlen(text), &act, &mistake), TENDON_OK);
    ends = lines = 0;
    w.manager.config.on_event = on_event;
    tendon_status status = tendon_obvious_act(&w.manager, &act, &progress, f->now);
    if (status < 0) {
        assert_int_equal(progress.kind, TENDON_ACT_NONE);
        return status;
    }
    fixture_run(f, 1000);
    assert_int_equal(ends, 1);
    return result;
}

static void toggles(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    f->device.features[0] = (tendon_obvious_feature){7, 1, TENDON_OBVIOUS_TOGGLE_DEACTIVATED};
    f->device.feature_count = 1;
    assert_int_equal(perform_text("toggle 7 on"), TENDON_OK);
    assert_int_equal(f->device.features[0].toggle, TENDON_OBVIOUS_TOGGLE_ACTIVATED);
    assert_int_equal(act.feature.toggle, TENDON_OBVIOUS_TOGGLE_ACTIVATED);
    assert_int_equal(lines, 1);
    assert_non_null(strstr(line_text, "\"feature\":7,\"state\":\"enabled\",\"toggle\":\"activated\"}"));
    assert_int_equal(perform_text("toggle 7 flip"), TENDON_OK);
    assert_int_equal(f->device.features[0].toggle, TENDON_OBVIOUS_TOGGLE_DEACTIVATED);
    assert_int_equal(perform_text("toggle 7 flip"), TENDON_OK);
    assert_int_equal(perform_text("toggle 7 off"), TENDON_OK);
    assert_int_equal(f->device.features[0].toggle, TENDON_OBVIOUS_TOGGLE_DEACTIVATED);
    f->device.error[TENDON_OBVIOUS_FEATURE_TOGGLE] = 8;
    assert_true(perform_text("toggle 7 on") < 0);
    assert_int_equal(lines, 0);
    end();
}

static void one_at_a_time(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    assert_int_equal(tendon_obvious_manager_start(&w.manager, TENDON_OBVIOUS_GET_INFO, NULL, 0, f->now), TENDON_OK);
    assert_int_equal(perform_text("toggle 7 on"), TENDON_ERROR_BUSY);
    fixture_run(f, 100);
    end();
}

static void results_of_firmware(void **state) {
    (void)state;
    static const struct {
        tendon_obvious_operation operation;
        int code;
        tendon_status status, result;
    } rows[] = {
        {TENDON_OBVIOUS_CHECK_FIRMWARE, TENDON_OBVIOUS_UPDATE_SUCCESS, TENDON_OK, TENDON_OK},
        {TENDON_OBVIOUS_CHECK_FIRMWARE, TENDON_OBVIOUS_UNAVAILABLE, TENDON_OK, TENDON_OK},
        {TENDON_OBVIOUS_CHECK_FIRMWARE, TENDON_OBVIOUS_UPDATE_FAILED, TENDON_ERROR_TIMEOUT, TENDON_ERROR_TIMEOUT},
        {TENDON_OBVIOUS_UPGRADE_FIRMWARE, TENDON_OBVIOUS_UPGRADE_SUCCESS, TENDON_OK, TENDON_OK},
        {TENDON_OBVIOUS_UPGRADE_FIRMWARE, TENDON_OBVIOUS_UPGRADE_UNAVAILABLE, TENDON_OK, TENDON_ERROR_WRONG_STATE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_obvious_event event = {.kind = TENDON_OBVIOUS_EVENT_PROGRESS,
                                      .operation = rows[i].operation,
                                      .code = rows[i].code,
                                      .status = rows[i].status};
        tendon_status status = 99;
        progress = (tendon_act_progress){.kind = TENDON_ACT_OBVIOUS_FIRMWARE};
        assert_false(tendon_obvious_acted(&event, &progress, &status));
        event.kind = TENDON_OBVIOUS_EVENT_DONE;
        assert_true(tendon_obvious_acted(&event, &progress, &status));
        assert_int_equal(status, rows[i].result);
        assert_false(tendon_obvious_acted(&event, &progress, &status));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(toggles),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(results_of_firmware),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
