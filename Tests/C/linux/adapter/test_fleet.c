/* SPDX-License-Identifier: MIT */
/* A fleet over the kernel's adapters, which another thread opens: the test is both threads. */
#include "../file_tree.h"
#include "adapter_fixture.h"
#include "tendon/fleet/fleet.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    char directory[FILE_TREE_SIZE];
    tendon_loop loop;
    tendon_fleet fleet;
    tendon_fleet_options options;
    unsigned opened, ended;
    tendon_status status;
    size_t length;
    char lines[1 << 16];
    /* Of the other thread; several wait. */
    unsigned runs, count;
    struct {
        void (*work)(void *of);
        void (*done)(void *of);
        void *of;
    } jobs[TENDON_FLEET_RADIOS];
} w;

static void run(void *context, void (*work)(void *of), void (*done)(void *of), void *of) {
    assert_ptr_equal(context, &w.runs);
    w.runs++;
    w.jobs[w.count].work = work;
    w.jobs[w.count].done = done;
    w.jobs[w.count++].of = of;
}

static void on_opened(void *context, tendon_status status) {
    assert_ptr_equal(context, &w);
    w.opened++;
    w.status = status;
}

static void on_ended(void *context) {
    assert_ptr_equal(context, &w);
    w.ended++;
}

static bool on_line(void *context, const tendon_fleet_line *line) {
    assert_ptr_equal(context, &w);
    assert_true(w.length + line->length < sizeof w.lines);
    memcpy(w.lines + w.length, line->text, line->length);
    w.length += line->length;
    w.lines[w.length] = '\0';
    return true;
}

static bool has(const char *event, const char *text) {
    char name[64];
    snprintf(name, sizeof name, "\"event\":\"%s\"", event);
    return strstr(w.lines, name) != NULL && strstr(w.lines, text) != NULL;
}

static int start(void **state) {
    (void)state;
    memset(&w, 0, sizeof w);
    fake_start();
    tree_make(w.directory);
    tendon_fleet_options_init(&w.options);
    w.options.no_gatt_cache = true;
    w.options.run = run;
    w.options.run_context = &w.runs;
    w.options.on_opened = on_opened;
    return setenv("XDG_STATE_HOME", w.directory, 1) == 0 && tendon_loop_init(&w.loop) >= 0 ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    tendon_fleet_close(&w.fleet);
    tendon_loop_close(&w.loop);
    tree_remove(w.directory);
    fake_end();
    return 0;
}

static void open_fleet(void) {
    assert_int_equal(tendon_fleet_open(&w.fleet, &w.loop, &w.options, on_line, &w), TENDON_OK);
    assert_int_equal(w.opened, 0);
}

/* The other thread has done its work, and the loop's hears of it. */
static void finish(void) {
    assert_true(w.count > 0);
    w.count--;
    w.jobs[w.count].work(w.jobs[w.count].of);
    w.jobs[w.count].done(w.jobs[w.count].of);
}

static void end_fleet(void) {
    tendon_fleet_end_then(&w.fleet, on_ended);
    fake_pass(&w.loop, 100);
    assert_int_equal(w.ended, 1);
    tendon_fleet_close(&w.fleet);
}

static void an_adapter_is_opened_elsewhere(void **state) {
    (void)state;
    fake_add(7, false);
    open_fleet();
    fake_pass(&w.loop, 60000); /* nothing else begins meanwhile */
    assert_int_equal(w.runs, 1);
    assert_null(w.fleet.radios[0].radio);
    finish();
    assert_int_equal(w.opened, 1);
    assert_int_equal(w.status, TENDON_OK);
    assert_non_null(w.fleet.radios[0].radio);
    fake_pass(&w.loop, 1000);
    assert_true(w.fleet.radios[0].radio->scanning);
    assert_int_equal(w.length, 0);
    end_fleet();
}

/* It is tried again in the same way, and reported like any other. */
static void an_adapter_that_does_not_respond(void **state) {
    (void)state;
    fake_add(7, false)->mute = true;
    open_fleet();
    finish();
    assert_int_equal(w.opened, 1);
    assert_int_equal(w.status, TENDON_OK);
    assert_true(has("radio_waiting", "RADIO_ERROR_COMMAND_TIMEOUT"));
    fake_pass(&w.loop, TENDON_GATEWAY_PAUSE_MS + 100);
    assert_int_equal(w.runs, 2);
    w.length = 0;
    finish();
    assert_int_equal(w.length, 0); /* the reason is the same */
    fake_pass(&w.loop, 2 * TENDON_GATEWAY_PAUSE_MS + 100);
    assert_int_equal(w.runs, 3);
    fake_of(7)->mute = false;
    finish();
    assert_true(has("radio_restored", "\"radio\":\"bluez\""));
    assert_int_equal(w.opened, 1);
    end_fleet();
}

/* Waiting cannot help: of one of two adapters. */
static void what_cannot_be_opened(void **state) {
    (void)state;
    fake_add(7, false);
    assert_int_equal(tendon_fleet_options_set(&w.options, "adapter", "printer,hci7"), TENDON_OK);
    open_fleet();
    assert_int_equal(w.runs, 2);
    finish(); /* the second one */
    assert_int_equal(w.opened, 0);
    finish();
    assert_int_equal(w.opened, 1);
    assert_int_equal(w.status, TENDON_ERROR_INVALID_ARGUMENT);
    fake_pass(&w.loop, 3600000);
    assert_int_equal(w.runs, 2);
    assert_int_equal(w.length, 0);
    end_fleet();
}

static void without_the_capability(void **state) {
    (void)state;
    fake_add(7, false);
    fake_power(7, true);
    bluez_privileges.effective = 1u << CAP_NET_ADMIN;
    open_fleet();
    finish();
    assert_int_equal(w.status, TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    end_fleet();
}

/* The memory of the radio is the other thread's until it has done its work. */
static void ended_meanwhile(void **state) {
    (void)state;
    fake_add(7, false);
    open_fleet();
    tendon_fleet_end_then(&w.fleet, on_ended);
    fake_pass(&w.loop, 60000);
    assert_int_equal(w.ended, 0);
    assert_false(tendon_fleet_has_ended(&w.fleet));
    finish();
    fake_pass(&w.loop, 100);
    assert_int_equal(w.ended, 1);
    assert_null(w.fleet.radios[0].radio);
    assert_int_equal(w.length, 0);
    tendon_fleet_close(&w.fleet);
    fake_settled();
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_WORLD(an_adapter_is_opened_elsewhere),
        IN_WORLD(an_adapter_that_does_not_respond),
        IN_WORLD(what_cannot_be_opened),
        IN_WORLD(without_the_capability),
        IN_WORLD(ended_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
