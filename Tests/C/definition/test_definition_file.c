/* SPDX-License-Identifier: MIT */
/* What a definition takes from its file, and which devices it is for. */
#include "definition_fixture.h"

static const char *word(const tendon_definition *d, uint16_t text) {
    return tendon_definition_text(d, text);
}

static void everything(void **state) {
    (void)state;
    const tendon_definition *d = parsed(
        "\xEF\xBB\xBF{'name': 'toy', 'title': 'T\\u00f6y \\ud83d\\ude00', 'summary': '\\ud800\\ue000\\u0800a\\/b', "
        "'note': [1, null], "
        "'find': {'services': ['fff0', '0000fff1-0000-1000-8000-00805f9b34fb'], 'name': 'Toy*', 'company': "
        "'0x000000000000059'}, "
        "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff2', 'value': [{'name': 'x', 'type': 'u8', "
        "'title': 'Ex', 'unit': 'V', 'class': 'voltage'}], 'required': true, 'every_ms': 20, 'examples': ['01', '02 "
        "'], 'read_every_ms': 86400000}, "
        "{'name': 'b', 'service': '6e400001-b5a3-f393-e0a9-e50e24dcca9e', 'uuid': 'fff3', 'notify': 'n'}], "
        "'layouts': {'n': []}}");
    assert_string_equal(word(d, d->name), "toy");
    assert_string_equal(word(d, d->title), "T\xC3\xB6y \xF0\x9F\x98\x80");
    assert_string_equal(word(d, d->summary), "\xEF\xBF\xBD\xEE\x80\x80\xE0\xA0\x80"
                                             "a/b");
    assert_string_equal(word(d, 0), "");
    assert_int_equal(d->find.service_count, 2);
    assert_true(d->find.has_company);
    assert_int_equal(d->find.company, 0x59);
    assert_int_equal(d->row_count, 2);
    assert_int_equal(d->rows[0].flags, TENDON_ROW_REQUIRED);
    assert_int_equal(d->rows[0].every_ms, 20);
    assert_int_equal(d->rows[0].notified, d->rows[0].read);
    assert_int_equal(d->rows[0].written, TENDON_DEFINITION_NONE);
    assert_int_equal(d->rows[0].example_count, 2);
    assert_int_equal(d->rows[0].read_every_ms, 86400000);
    assert_int_equal(d->rows[1].every_ms, 1000);
    assert_int_equal(d->rows[1].read_every_ms, 0);
    assert_int_equal(d->rows[1].read, TENDON_DEFINITION_NONE);
    /* Each layout of a value has an event of its name. */
    assert_int_equal(d->event_count, 2);
    assert_string_equal(word(d, d->events[0].name), "a");
    assert_string_equal(word(d, d->events[1].name), "n");
    const tendon_field *x = &d->fields[d->layouts[d->rows[0].read].first];
    assert_string_equal(word(d, x->unit), "V");
    assert_string_equal(word(d, x->title), "Ex");
    assert_string_equal(word(d, x->kind), "voltage");
    const tendon_uuid second = tendon_uuid_from_u16(0xfff3), none = tendon_uuid_from_u16(0xfff4);
    const tendon_uuid service = d->rows[1].service;
    assert_int_equal(tendon_definition_row_of(d, &second), 1);
    assert_int_equal(tendon_definition_row_in(d, &service, &second), 1);
    assert_int_equal(tendon_definition_row_of(d, &none), 2);
    assert_int_equal(tendon_definition_row_in(d, &none, &second), 2);
}

/* As the measurement period of each sensor of Adafruit's Bluefruit. */
static void one_uuid_in_two_services(void **state) {
    (void)state;
    const tendon_definition *d =
        parsed("{'name': 'toy', 'title': 'Toy', 'find': {'name': 'Toy'}, 'characteristics': ["
               "{'name': 'a', 'service': 'fff0', 'uuid': 'ffff', 'notify': [{'name': 'x', 'type': 'u8'}]},"
               "{'name': 'b', 'service': 'fff1', 'uuid': '0000ffff-0000-1000-8000-00805f9b34fb', "
               "'notify': [{'name': 'x', 'type': 'u8'}]}]}");
    const tendon_uuid first = tendon_uuid_from_u16(0xfff0), second = tendon_uuid_from_u16(0xfff1),
                      uuid = tendon_uuid_from_u16(0xffff);
    assert_int_equal(d->row_count, 2);
    assert_int_equal(tendon_definition_row_in(d, &first, &uuid), 0);
    assert_int_equal(tendon_definition_row_in(d, &second, &uuid), 1);
    assert_int_equal(tendon_definition_row_of(d, &uuid), 0);
    assert_int_equal(tendon_definition_row_in(d, &uuid, &uuid), 2);
}

static const tendon_definition *finds(const char *find) {
    char text[512];
    snprintf(text, sizeof text,
             "{'name': 'toy', 'title': 'Toy', 'find': {%s}, 'characteristics': [{'name': 'v', 'service': 'fff0', "
             "'uuid': 'fff1', 'notify': []}]}",
             find);
    return parsed(text);
}

static bool is(const tendon_definition *d, const char *hex) {
    block b = block_hex(hex);
    bool found = tendon_definition_means(d, b.data, b.length) == TENDON_MEANT;
    free(b.data);
    return found;
}

static bool awaits(const tendon_definition *d, const char *hex) {
    block b = block_hex(hex);
    bool found = tendon_definition_means(d, b.data, b.length) == TENDON_PERHAPS_MEANT;
    free(b.data);
    return found;
}

static void recognition(void **state) {
    (void)state;
    static const char service[] = "0303f0ff", other[] = "0303f1ff", named[] = "0303f0ff 0409546f79" /* Toy */;
    const tendon_definition *d = finds("'services': ['fff0']");
    assert_true(is(d, service));
    assert_true(is(d, named));
    assert_false(is(d, other));
    assert_false(is(d, ""));
    assert_false(is(d, "0303f0")); /* cut */
    assert_false(awaits(d, service));
    d = finds("'services': ['fff0', 'fff1']");
    assert_true(is(d, other));
    d = finds("'services': ['fff0'], 'name': 'Toy'");
    assert_false(is(d, service));
    assert_true(awaits(d, service));
    assert_true(is(d, named));
    assert_false(awaits(d, named));
    assert_false(is(d, "0303f0ff 0509546f7931")); /* Toy1 */
    assert_false(is(d, "0303f0ff 0309546f"));     /* To */
    assert_false(awaits(d, other));
    d = finds("'services': ['fff0'], 'name': 'Toy*'");
    assert_true(is(d, "0303f0ff 0509546f7931"));
    assert_true(is(d, "0303f0ff 0409546f79"));
    assert_true(is(d, "0303f0ff 0508546f7931")); /* shortened */
    /* What a scan response may add: the end of a shortened name; a service or a company to the right name. */
    assert_true(awaits(d, "0303f0ff 0308546f"));
    assert_false(awaits(d, "0303f0ff 0309546f"));
    assert_false(awaits(d, "0303f0ff 03085462"));
    assert_false(awaits(d, "0308546f"));
    assert_true(awaits(d, "0409546f79"));
    assert_true(awaits(d, "0303f1ff 0409546f79"));
    assert_false(awaits(d, "0303f1ff 0309546f"));
    d = finds("'name': 'Toy', 'company': 89");
    assert_true(awaits(d, "0409546f79") && awaits(d, "03ff5900") && !awaits(d, "03ff5a00") && !awaits(d, ""));
    assert_true(is(d, "0409546f79 03ff5900"));
    d = finds("'name': 'Toy'");
    assert_true(is(d, "0409546f79"));
    assert_false(is(d, service));
    assert_true(awaits(d, service));
    d = finds("'services': ['fff0'], 'company': 89");
    assert_false(is(d, service));
    assert_true(is(d, "0303f0ff 03ff5900"));
    assert_true(is(d, "04ff590001 0303f0ff"));
    assert_false(is(d, "0303f0ff 03ff5a00"));
    assert_false(is(d, "0303f0ff 02ff59"));
}

static bool meet(const char *a, const char *b) {
    static tendon_definition first;
    first = *finds(a);
    const tendon_definition *second = finds(b);
    bool overlaps = tendon_definition_overlaps(&first, second);
    assert_int_equal(tendon_definition_overlaps(second, &first), overlaps);
    return overlaps;
}

static void overlaps(void **state) {
    (void)state;
    assert_true(meet("'services': ['fff0']", "'services': ['fff1', 'fff0']"));
    assert_false(meet("'services': ['fff0']", "'services': ['fff1']"));
    assert_false(meet("'services': ['fff0'], 'company': 1", "'services': ['fff0'], 'company': 2"));
    assert_true(meet("'services': ['fff0'], 'company': 1", "'services': ['fff0']"));
    assert_false(meet("'services': ['fff0'], 'name': 'a'", "'services': ['fff0'], 'name': 'b*'"));
    assert_true(meet("'services': ['fff0'], 'name': 'ab*'", "'services': ['fff0'], 'name': 'a*'"));
    assert_true(meet("'name': 'abc'", "'name': 'ab*'"));
    assert_false(meet("'name': 'a'", "'name': 'ab*'"));
    assert_false(meet("'name': 'abc'", "'services': ['fff0']"));
    assert_false(meet("'services': ['fff0'], 'name': 'abc'", "'services': ['fff0']"));
    assert_true(meet("'services': ['fff0'], 'name': 'abc'", "'name': 'abc'"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_uuid_in_two_services), cmocka_unit_test(everything),
                                       cmocka_unit_test(recognition), cmocka_unit_test(overlaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
