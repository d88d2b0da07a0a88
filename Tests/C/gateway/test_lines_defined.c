/* SPDX-License-Identifier: MIT */
/* Lines of devices of files. */
#include "../definition/definition_fixture.h"
#include "gateway_fixture.h"

static const tendon_definition *toy;
static tendon_described_rates rates;
static tendon_defined_event event;
static size_t at;

static tendon_status write_event(tendon_line *line, void *context) {
    (void)context;
    static const tendon_line_device device = {.family = "toy"};
    return tendon_defined_line(line, &device, 0, toy, &rates, &event, at);
}

static const char *line(size_t index) {
    at = index;
    return line_of(write_event, NULL);
}

static block value;

static void value_of(const char *hex) {
    free(value.data);
    value = block_hex(hex);
    event = (tendon_defined_event){
        .kind = TENDON_DEFINED_EVENT_VALUE, .bytes = value.data, .length = value.length, .received_at = 2500000000};
    tendon_defined_take_rates(&rates, toy, &event);
}

static void device_with(const char *fields, const char *events) {
    char text[2048];
    snprintf(text, sizeof text,
             "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': [{'name': 'first', "
             "'service': 'fff0', 'uuid': 'fff1', 'notify': 'one'}], 'layouts': {'one': [%s]}, 'events': [%s]}",
             fields, events);
    toy = parsed(text);
    rates = (tendon_described_rates){0};
}

static void samples(void **state) {
    (void)state;
    device_with("{'name': 'temperature_c', 'type': 'i16', 'factor': 0.01}, {'name': 'mode', 'type': 'u8', 'values': "
                "[[0, 'off'], [1, 'so-called \\u00e4']]}, {'name': 'note', 'type': 'utf8'}",
                "{'name': 'climate', 'layout': 'one', 'sample': true}");
    value_of("2909 01 220a");
    assert_string_equal(line(0), "\"sample\",\"family\":\"toy\",\"received_at\":2.5,\"sensor\":\"climate\","
                                 "\"temperature_c\":23.45,\"mode\":\"so-called \xC3\xA4\",\"note\":\"\\\"\\u000a\"}");
    assert_string_equal(line(1), "");
    value_of("ff7f 05");
    event.received_at = 0;
    assert_string_equal(line(0), "\"sample\",\"family\":\"toy\",\"sensor\":\"climate\",\"temperature_c\":327.67,"
                                 "\"mode\":5,\"note\":\"\"}");
}

static void two_events_of_a_value(void **state) {
    (void)state;
    device_with("{'name': 'level_percent', 'type': 'u8', 'unknown': 255}, {'name': 'rest', 'type': 'bytes'}",
                "{'name': 'battery', 'layout': 'one', 'members': ['level_percent']}, {'name': 'raw', 'layout': 'one', "
                "'members': ['rest']}");
    value_of("64 00ab");
    assert_string_equal(line(0), "\"battery\",\"family\":\"toy\",\"received_at\":2.5,\"level_percent\":100}");
    assert_string_equal(line(1), "\"raw\",\"family\":\"toy\",\"received_at\":2.5,\"rest\":\"00ab\"}");
    assert_string_equal(line(2), "");
    value_of("ff");
    assert_string_equal(line(0), "\"battery\",\"family\":\"toy\",\"received_at\":2.5,\"level_percent\":null}");
}

/* A button that is pressed is no temperature, and the other way round. */
static void events_of_the_cases_of_a_switch(void **state) {
    (void)state;
    device_with("{'name': 'kind', 'type': 'u8', 'hidden': true}, {'switch': 'kind', 'cases': {'1': [{'name': "
                "'temperature_c', 'type': 'i8'}], '2': [{'name': 'button', 'type': 'u8'}]}}",
                "{'name': 'climate', 'layout': 'one', 'members': ['temperature_c']}, {'name': 'pressed', 'layout': "
                "'one', 'members': ['button']}, {'name': 'report', 'layout': 'one'}");
    value_of("01 15");
    assert_string_equal(line(0), "\"climate\",\"family\":\"toy\",\"received_at\":2.5,\"temperature_c\":21}");
    assert_string_equal(line(1), "\"report\",\"family\":\"toy\",\"received_at\":2.5,\"temperature_c\":21}");
    assert_string_equal(line(2), "");
    value_of("02 03");
    assert_string_equal(line(0), "\"pressed\",\"family\":\"toy\",\"received_at\":2.5,\"button\":3}");
    assert_string_equal(line(1), "\"report\",\"family\":\"toy\",\"received_at\":2.5,\"button\":3}");
    assert_string_equal(line(2), "");
    value_of("02");
    assert_non_null(strstr(line(0), "\"malformed\""));
    assert_string_equal(line(1), "");
}

static void lists(void **state) {
    (void)state;
    device_with(
        "{'name': 'n', 'type': 'u8', 'hidden': true}, {'name': 'items', 'count': 'n', 'records': [{'name': 'a', "
        "'type': 'u8'}, {'name': 'flags', 'type': 'u8', 'hidden': true, 'bits': [{'name': 'on', 'bit': 7}]}]}, "
        "{'name': 'rest', 'records': [{'name': 'c', 'type': 'u8'}]}",
        "{'name': 'list', 'layout': 'one'}");
    value_of("02 0180 0200 0506");
    assert_string_equal(line(0), "\"list\",\"family\":\"toy\",\"received_at\":2.5,\"items\":[{\"a\":1,\"on\":true},"
                                 "{\"a\":2,\"on\":false}],\"rest\":[5,6]}");
    value_of("00");
    assert_string_equal(line(0), "\"list\",\"family\":\"toy\",\"received_at\":2.5,\"items\":[],\"rest\":[]}");
}

static void large_numbers(void **state) {
    (void)state;
    device_with(
        "{'name': 'a', 'type': 'u64'}, {'name': 'b', 'type': 'i64'}, {'name': 'c', 'type': 'u64', 'divisor': 2}",
        "{'name': 'x', 'layout': 'one'}");
    value_of("ffffffffffffffff 0000000000000080 0000000000000080");
    assert_string_equal(line(0), "\"x\",\"family\":\"toy\",\"received_at\":2.5,\"a\":18446744073709551615,"
                                 "\"b\":-9223372036854775808,\"c\":4.611686018427388e+18}");
}

/* A line of a serial port, in pieces; text that zeros fill. */
static void texts(void **state) {
    (void)state;
    device_with("{'name': 'label', 'type': 'utf8', 'length': 4}, {'name': 'text', 'type': 'utf8'}",
                "{'name': 'x', 'layout': 'one'}");
    value_of("41420000 412c312e350d0a");
    assert_string_equal(line(0), "\"x\",\"family\":\"toy\",\"received_at\":2.5,\"label\":\"AB\","
                                 "\"text\":\"A,1.5\\u000d\\u000a\"}");
    value_of("00000000 00410042ff00");
    assert_string_equal(line(0), "\"x\",\"family\":\"toy\",\"received_at\":2.5,\"label\":\"\","
                                 "\"text\":\"\\u0000A\\u0000B\xEF\xBF\xBD\"}");
}

static void mistakes(void **state) {
    (void)state;
    device_with("{'name': 'a', 'type': 'u8'}, {'name': 'b', 'type': 'u16'}",
                "{'name': 'x', 'layout': 'one'}, {'name': 'y', 'layout': 'one'}");
    value_of("01 02");
    assert_string_equal(line(0), "\"malformed\",\"family\":\"toy\",\"characteristic\":\"first\","
                                 "\"error\":\"ERROR_TRUNCATED\",\"error_offset\":1,"
                                 "\"text\":\"the input ends in the middle of a field\",\"bytes\":\"0102\"}");
    assert_string_equal(line(1), "");
}

static void other_events(void **state) {
    (void)state;
    device_with("{'name': 'a', 'type': 'u8'}", "{'name': 'x', 'layout': 'one'}");
    event = (tendon_defined_event){.kind = TENDON_DEFINED_EVENT_REFUSED, .status = TENDON_ATT_ERROR(0x02)};
    assert_string_equal(line(0), "\"refused\",\"family\":\"toy\",\"request\":\"first\",\"text\":\"the attribute cannot "
                                 "be read\",\"error\":\"ATT_READ_NOT_PERMITTED\",\"error_number\":2}");
    assert_string_equal(line(1), "");
    event.status = TENDON_ERROR_NOT_FOUND;
    assert_string_equal(line(0), "\"refused\",\"family\":\"toy\",\"request\":\"first\",\"text\":\"the device has no "
                                 "characteristic 0000fff1-0000-1000-8000-00805f9b34fb in a service "
                                 "0000fff0-0000-1000-8000-00805f9b34fb\"}");
    static const tendon_defined_event_kind none[] = {TENDON_DEFINED_EVENT_OPEN, TENDON_DEFINED_EVENT_WRITTEN,
                                                     TENDON_DEFINED_EVENT_CLOSED};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        event.kind = none[i];
        assert_string_equal(line(0), "");
        assert_int_equal(tendon_defined_event_at(toy, &event, 0), toy->event_count);
    }
}

static int release(void **state) {
    (void)state;
    free(value.data);
    value = (block){0};
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(two_events_of_a_value),
        cmocka_unit_test(events_of_the_cases_of_a_switch),
        cmocka_unit_test(lists),
        cmocka_unit_test(texts),
        cmocka_unit_test(large_numbers),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(other_events),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
