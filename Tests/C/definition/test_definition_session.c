/* SPDX-License-Identifier: MIT */
/* The session against a simulated device of the same file, in memory. */
#include "definition_fixture.h"

#include "tendon/simulate.h"

#define FILE_TEXT                                                                                                      \
    "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': ["                             \
    "{'name': 'level', 'service': 'fff0', 'uuid': 'fff1', 'notify': [{'name': 'x', 'type': 'u8'}], 'required': true, " \
    "'examples': ['01', '02'], 'every_ms': 100}, "                                                                     \
    "{'name': 'serial', 'service': 'fff0', 'uuid': 'fff2', 'read': [{'name': 's', 'type': 'utf8'}], 'examples': "      \
    "['4142']}, "                                                                                                      \
    "{'name': 'control', 'service': 'fff5', 'uuid': 'fff3', 'write': [{'name': 'rate', 'type': 'u16', 'max': 500}]}, " \
    "{'name': 'battery', 'service': '180f', 'uuid': '2a19', 'value': [{'name': 'b', 'type': 'u8'}], 'examples': "      \
    "['57']}], "                                                                                                       \
    "'actions': [{'name': 'begin', 'characteristic': 'control', 'at_start': true, 'write': [{'type': 'u8', 'equals': " \
    "9}]}, "                                                                                                           \
    "{'name': 'set_rate', 'characteristic': 'control'}]}"

typedef struct world {
    tendon_definition definition, served; /* the session's, the device's */
    tendon_simulated_defined device;
    tendon_memory_radio_device seat;
    tendon_memory_radio radio;
    tendon_defined_session session;
    uint64_t now;
    char events[4096];
    size_t length;
    bool disconnects; /* at the first value */
} world;

static void note(world *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(w->events + w->length, sizeof w->events - w->length, format, arguments);
    va_end(arguments);
    assert_true(count >= 0 && w->length + (size_t)count < sizeof w->events);
    w->length += (size_t)count;
}

static void on_event(void *context, const tendon_defined_event *event, uint64_t now) {
    world *w = context;
    const char *row = tendon_definition_text(&w->definition, w->definition.rows[event->row].name);
    (void)now;
    switch (event->kind) {
    case TENDON_DEFINED_EVENT_OPEN:
        note(w, "open ");
        break;
    case TENDON_DEFINED_EVENT_VALUE:
        note(w, "%s%s:", event->is_read ? "read." : "", row);
        for (size_t i = 0; i < event->length; i++) {
            note(w, "%02x", event->bytes[i]);
        }
        note(w, " ");
        assert_true(event->received_at != 0);
        if (w->disconnects) {
            w->disconnects = false;
            w->session.link.disconnect(w->session.link.context);
        }
        break;
    case TENDON_DEFINED_EVENT_REFUSED:
        note(w, "refused.%s:%s ", row, tendon_status_name(event->status));
        break;
    case TENDON_DEFINED_EVENT_WRITTEN:
        note(w, "written.%u:%s ", (unsigned)event->number, tendon_status_name(event->status));
        break;
    default:
        note(w, "closed:%s ", tendon_status_name(event->status));
        break;
    }
}

static void run(world *w, uint64_t until) {
    while (w->now < until) {
        uint64_t next = tendon_memory_radio_deadline(&w->radio);
        if (next > until) {
            w->now = until;
            break;
        }
        w->now = next > w->now ? next : w->now;
        tendon_memory_radio_tick(&w->radio, w->now);
    }
}

/* The events since the last look. */
static const char *look(world *w) {
    w->events[w->length] = 0;
    w->length = 0;
    return w->events;
}

static void start_with(world *w, const char *text, const char *device_text) {
    tendon_definition_mistake mistake;
    memset(w, 0, sizeof *w);
    assert_int_equal(parse_text(text, &w->definition, &mistake), TENDON_OK);
    assert_int_equal(parse_text(device_text, &w->served, &mistake), TENDON_OK);
    const tendon_simulated_defined_options options = {0};
    assert_int_equal(tendon_simulated_defined_init(&w->device, &w->served, &options), TENDON_OK);
    w->now = 1000;
    w->seat = (tendon_memory_radio_device){.device = tendon_simulated_defined_device(&w->device),
                                           .address = {{1, 2, 3, 4, 5, 6}, 0},
                                           .rssi = -50,
                                           .present = true};
    tendon_memory_radio_init(&w->radio, &w->seat, 1);
    tendon_memory_radio_attach(&w->radio, &tendon_defined_inputs, &w->session);
    tendon_memory_radio_set_target(&w->radio, &w->seat.address);
    tendon_defined_session_init(&w->session, &w->definition, tendon_memory_radio_link(&w->radio), w, on_event);
}

static void start(world *w, const char *device_text) {
    start_with(w, FILE_TEXT, device_text);
}

static void connect_it(world *w) {
    assert_int_equal(w->session.link.connect(w->session.link.context), TENDON_OK);
    run(w, w->now + 60);
}

static tendon_status act_on(world *w, size_t action, double number, size_t *wrong) {
    const tendon_argument argument = {.number = number};
    uint8_t bytes[TENDON_DEFINITION_VALUE];
    tendon_status length = tendon_action_encode(&w->definition, action, &argument, 1, bytes, wrong);
    return length < 0 ? length : tendon_defined_session_write(&w->session, action, bytes, (size_t)length, w->now);
}

static tendon_status act(world *w, double rate, size_t *wrong) {
    return act_on(w, 1, rate, wrong);
}

static void it_opens_and_streams(void **state) {
    (void)state;
    static world w;
    start(&w, FILE_TEXT);
    connect_it(&w);
    assert_string_equal(look(&w), "read.serial:4142 read.battery:57 open level:01 battery:57 ");
    assert_int_equal(w.device.writes, 1);
    assert_hex(w.device.written.bytes, w.device.written.length, "09");
    assert_true(tendon_defined_session_has(&w.session, 2));
    assert_false(tendon_defined_session_has(&w.session, 4));
    run(&w, w.now + 200);
    assert_string_equal(look(&w), "level:02 level:01 ");
    w.session.link.disconnect(w.session.link.context);
    run(&w, w.now + 100);
    assert_string_equal(look(&w), "closed:ERROR_CANCELLED ");
    /* Again, with the same memory. */
    connect_it(&w);
    assert_non_null(strstr(look(&w), "open "));
}

/* `notify NAME BYTES` in a scenario; what it lacks, or has too much, is told by the number of the word. */
static void a_scenario_notifies(void **state) {
    (void)state;
    static const struct {
        const char *words;
        tendon_status status;
        size_t wrong;
    } rows[] = {
        {"notify level 2a", TENDON_OK, 2},
        {"tell level 2a", TENDON_ERROR_UNSUPPORTED, 0},
        {"notify", TENDON_ERROR_MALFORMED, 1},
        {"notify leve 2a", TENDON_ERROR_MALFORMED, 1},
        {"notify level", TENDON_ERROR_MALFORMED, 2},
        {"notify level 2", TENDON_ERROR_MALFORMED, 2},
        {"notify level 2g", TENDON_ERROR_MALFORMED, 2},
        {"notify level 2a 2b", TENDON_ERROR_MALFORMED, 3},
    };
    static world w;
    start(&w, FILE_TEXT);
    connect_it(&w);
    run(&w, w.now + 20);
    (void)look(&w);
    const tendon_scenario_actor actor = tendon_simulated_defined_actor(&w.device);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_scenario_event event = {.count = 0};
        size_t wrong = 99;
        for (const char *at = rows[i].words; *at != 0; at += strspn(at, " ")) {
            tendon_scenario_word *word = &event.words[event.count++];
            word->text = at;
            word->length = (uint16_t)strcspn(at, " ");
            at += word->length;
        }
        assert_int_equal(actor.perform(actor.context, &event, false, &wrong, w.now), rows[i].status);
        assert_int_equal(wrong, rows[i].wrong);
        tendon_memory_radio_tick(&w.radio, w.now);
        assert_string_equal(look(&w), i == 0 ? "level:2a " : "");
    }
}

/* Each is found in its own service, whatever their order in the file. */
static void one_uuid_in_two_services(void **state) {
    static const char text[] =
        "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': ["
        "{'name': 'b', 'service': 'fff1', 'uuid': 'ffff', 'value': [{'name': 'x', 'type': 'u8'}], 'examples': ['0b'], "
        "'every_ms': 100}, "
        "{'name': 'other', 'service': 'fff0', 'uuid': 'fff2', 'read': [{'name': 'x', 'type': 'u8'}], 'examples': "
        "['0c']}, "
        "{'name': 'a', 'service': 'fff0', 'uuid': 'ffff', 'value': [{'name': 'y', 'type': 'u8'}], 'examples': ['0a'], "
        "'every_ms': 100, 'write': [{'name': 'y', 'type': 'u8'}]}], "
        "'actions': [{'name': 'set', 'characteristic': 'a'}]}";
    static world w;
    size_t wrong = 0;
    (void)state;
    start_with(&w, text, text);
    connect_it(&w);
    assert_string_equal(look(&w), "read.b:0b read.other:0c read.a:0a open b:0b a:0a ");
    assert_true(act_on(&w, 0, 7, &wrong) > 0);
    run(&w, w.now + 20);
    assert_int_equal(w.device.writes, 1);
    assert_int_equal(w.device.written.row, 2);
}

#define SENSOR(examples)                                                                                               \
    "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': ["                             \
    "{'name': 'air', 'service': 'fff0', 'uuid': 'fff1', 'read': [{'name': 'x', 'type': 'u8'}], 'every_ms': 1500, "     \
    "'read_every_ms': 1000" examples "}, "                                                                             \
    "{'name': 'soil', 'service': 'fff0', 'uuid': 'fff2', 'read': [{'name': 'y', 'type': 'u8'}], 'examples': ['07'], "  \
    "'read_every_ms': 2500}, "                                                                                         \
    "{'name': 'once', 'service': 'fff0', 'uuid': 'fff3', 'write': [{'name': 'z', 'type': 'u8'}], 'examples': ['09'], " \
    "'read': [{'name': 'z', 'type': 'u8'}]}], 'actions': [{'name': 'set', 'characteristic': 'once'}]}"

/* Every second and every 2.5 seconds after the opening; what is read once is not read again. */
static void it_reads_again(void **state) {
    static const char text[] = SENSOR(", 'examples': ['01', '02']");
    static world w;
    size_t wrong = 0;
    (void)state;
    start_with(&w, text, text);
    connect_it(&w);
    assert_string_equal(look(&w), "read.air:01 read.soil:07 read.once:09 open ");
    run(&w, w.now + 900);
    assert_string_equal(look(&w), "");
    run(&w, w.now + 100);
    assert_string_equal(look(&w), "read.air:01 ");
    run(&w, w.now + 1000);
    assert_string_equal(look(&w), "read.air:02 ");
    run(&w, w.now + 1000);
    assert_string_equal(look(&w), "read.soil:07 read.air:01 ");
    /* What the program asks for goes first. */
    assert_true(act_on(&w, 0, 7, &wrong) > 0);
    run(&w, w.now + 1000);
    assert_string_equal(look(&w), "written.1:OK read.air:01 ");
    /* The deadline is that of the next value, and not in the past. */
    assert_true(tendon_defined_inputs.deadline(&w.session) > w.now);
    w.session.link.disconnect(w.session.link.context);
    run(&w, w.now + 5000);
    assert_string_equal(look(&w), "closed:ERROR_CANCELLED ");
    assert_true(tendon_defined_inputs.deadline(&w.session) == UINT64_MAX);
    connect_it(&w);
    run(&w, w.now + 1000);
    assert_non_null(strstr(look(&w), "open read.air:"));
}

static unsigned refusals;
static tendon_gatt_handlers usual;

static tendon_status refuse_some(void *context, struct tendon_gatt_connection *connection, uint16_t handle,
                                 const uint8_t **value, size_t *length) {
    if (refusals > 0) {
        refusals--;
        return TENDON_ATT_ERROR(TENDON_ATT_UNLIKELY_ERROR);
    }
    return usual.read(context, connection, handle, value, length);
}

/* A device without the value, and one that refuses it for a while: reported once until it is read. */
static void a_value_that_is_refused_again(void **state) {
    static const char text[] = SENSOR(", 'examples': ['01']"), without[] = SENSOR("");
    static world w;
    (void)state;
    start_with(&w, text, without);
    connect_it(&w);
    run(&w, w.now + 3000);
    assert_string_equal(look(&w),
                        "read.air: read.soil:07 read.once:09 open read.air: read.air: read.soil:07 read.air: ");
    start_with(&w, text, text);
    connect_it(&w);
    look(&w);
    usual = w.device.server.handlers;
    w.device.server.handlers.read = refuse_some;
    refusals = 3;
    run(&w, w.now + 2000);
    assert_string_equal(look(&w), "refused.air:ATT_UNLIKELY_ERROR ");
    run(&w, w.now + 1000);
    assert_string_equal(look(&w), "refused.soil:ATT_UNLIKELY_ERROR read.air:01 ");
    refusals = 1;
    run(&w, w.now + 1000);
    assert_string_equal(look(&w), "refused.air:ATT_UNLIKELY_ERROR ");
    /* One that does not answer: no second request until the limit of ATT ends the connection. */
    w.seat.silent = true;
    run(&w, w.now + 31000);
    assert_non_null(strstr(look(&w), "closed:"));
}

#define OTHER(text, flags)                                                                                             \
    "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': ["                             \
    "{'name': 'air', 'service': 'fff0', 'uuid': 'fff1', '" text "': [{'name': 'x', 'type': 'u8'}]" flags               \
    ", 'examples': ['01']}]}"

/* By the properties of a characteristic: a `value` is content with one of its two. */
static void what_a_device_cannot_do(void **state) {
    static const struct {
        const char *text, *served, *told;
    } rows[] = {
        {OTHER("notify", ""), OTHER("read", ""), "refused.air:ERROR_UNSUPPORTED open "},
        {OTHER("read", ", 'read_every_ms': 1000"), OTHER("notify", ""), "refused.air:ERROR_UNSUPPORTED open "},
        {OTHER("value", ""), OTHER("write", ""), "refused.air:ERROR_UNSUPPORTED open "},
        {OTHER("value", ""), OTHER("read", ""), "read.air:01 open "},
        {OTHER("value", ""), OTHER("notify", ""), "open "},
        {OTHER("notify", ", 'required': true"), OTHER("value", ""), "open "},
        {OTHER("notify", ", 'required': true"), OTHER("read", ""),
         "refused.air:ERROR_UNSUPPORTED closed:ERROR_UNSUPPORTED "},
        {OTHER("read", ", 'required': true"), OTHER("notify", ""),
         "refused.air:ERROR_UNSUPPORTED closed:ERROR_UNSUPPORTED "},
    };
    static world w;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        start_with(&w, rows[i].text, rows[i].served);
        connect_it(&w);
        run(&w, w.now + 100);
        assert_memory_equal(look(&w), rows[i].told, strlen(rows[i].told)); /* values may follow */
    }
}

static void it_writes_actions_in_order(void **state) {
    (void)state;
    static world w;
    size_t wrong = 9;
    start(&w, FILE_TEXT);
    assert_int_equal(act(&w, 1, &wrong), TENDON_ERROR_WRONG_STATE);
    connect_it(&w);
    /* A name that no action has: its index is behind the last one. */
    const size_t unknown = tendon_definition_action_named(&w.definition, "nothing");
    assert_int_equal(tendon_defined_session_write(&w.session, unknown, (const uint8_t *)"a", 1, w.now),
                     TENDON_ERROR_NOT_FOUND);
    assert_int_equal(act_on(&w, unknown, 1, &wrong), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(tendon_action_arguments(&w.definition, SIZE_MAX, NULL, 0), 0);
    look(&w);
    tendon_status first = act(&w, 100, &wrong), second = act(&w, 500, &wrong);
    assert_true(first > 0 && second == first + 1);
    assert_int_equal(act(&w, 501, &wrong), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wrong, 0);
    run(&w, w.now + 20);
    char expected[64];
    snprintf(expected, sizeof expected, "written.%d:OK written.%d:OK ", first, second);
    assert_string_equal(look(&w), expected);
    assert_hex(w.device.written.bytes, w.device.written.length, "f401");
    for (unsigned i = 0; i < TENDON_DEFINED_WRITES; i++) {
        assert_true(act(&w, i, &wrong) > 0);
    }
    assert_int_equal(act(&w, 1, &wrong), TENDON_ERROR_TABLE_FULL);
    /* The end of the connection ends them. */
    tendon_memory_radio_set_present(&w.radio, &w.seat, false, w.now);
    run(&w, w.now + 50);
    assert_non_null(strstr(look(&w), "closed:"));
    assert_int_equal(act(&w, 1, &wrong), TENDON_ERROR_WRONG_STATE);
}

#define DEVICE_WITHOUT(level, serial)                                                                                  \
    "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': [" level serial                \
    "{'name': 'battery', 'service': '180f', 'uuid': '2a19', 'value': [{'name': 'b', 'type': 'u8'}], 'examples': "      \
    "['57']}]}"

static void what_is_missing(void **state) {
    (void)state;
    static world w;
    /* Nothing but what is required. */
    start(&w,
          DEVICE_WITHOUT(
              "{'name': 'level', 'service': 'fff0', 'uuid': 'fff1', 'notify': [{'name': 'x', 'type': 'u8'}]}, ", ""));
    connect_it(&w);
    assert_string_equal(look(&w), "read.battery:57 open battery:57 ");
    assert_false(tendon_defined_session_has(&w.session, 2));
    size_t wrong = 9;
    assert_int_equal(act(&w, 1, &wrong), TENDON_ERROR_NOT_FOUND);
    /* Not even that. */
    start(&w, DEVICE_WITHOUT("", "{'name': 'serial', 'service': 'fff0', 'uuid': 'fff2', 'read': []}, "));
    connect_it(&w);
    run(&w, w.now + 100);
    assert_string_equal(look(&w), "refused.level:ERROR_NOT_FOUND closed:ERROR_NOT_FOUND ");
    /* It is there, and cannot notify. */
    start(&w, DEVICE_WITHOUT(
                  "{'name': 'level', 'service': 'fff0', 'uuid': 'fff1', 'read': [{'name': 'x', 'type': 'u8'}]}, ", ""));
    connect_it(&w);
    run(&w, w.now + 100);
    assert_string_equal(look(&w), "refused.level:ERROR_UNSUPPORTED closed:ERROR_UNSUPPORTED ");
}

static void a_callback_that_disconnects(void **state) {
    (void)state;
    static world w;
    start(&w, FILE_TEXT);
    w.disconnects = true;
    connect_it(&w);
    run(&w, w.now + 200);
    assert_non_null(strstr(look(&w), "closed:ERROR_CANCELLED "));
    connect_it(&w);
    assert_non_null(strstr(look(&w), "open "));
}

/* At every moment of the opening: a device that is gone, and one that does not respond. */
static void the_device_goes(void **state) {
    (void)state;
    static world w;
    for (uint64_t after = 0; after < 60; after++) {
        for (unsigned silent = 0; silent < 2; silent++) {
            start(&w, FILE_TEXT);
            assert_int_equal(w.session.link.connect(w.session.link.context), TENDON_OK);
            run(&w, w.now + after);
            w.seat.silent = silent != 0;
            if (silent == 0) {
                tendon_memory_radio_set_present(&w.radio, &w.seat, false, w.now);
                w.session.link.disconnect(w.session.link.context);
            }
            run(&w, w.now + 31000); /* the limit of ATT: Vol 3 Part F 3.3.3 */
            const char *events = look(&w);
            bool was_open = strstr(events, "open ") != NULL;
            assert_true(strstr(events, "closed:") != NULL || (silent != 0 && was_open));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_uuid_in_two_services),      cmocka_unit_test(it_opens_and_streams),
        cmocka_unit_test(a_scenario_notifies),           cmocka_unit_test(it_reads_again),
        cmocka_unit_test(a_value_that_is_refused_again), cmocka_unit_test(what_a_device_cannot_do),
        cmocka_unit_test(it_writes_actions_in_order),    cmocka_unit_test(what_is_missing),
        cmocka_unit_test(a_callback_that_disconnects),   cmocka_unit_test(the_device_goes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
