/* SPDX-License-Identifier: MIT */
/* The file as a whole: what a device is, its characteristics, events and actions. */
#include "parser.h"
#include "tendon/base/packed.h"

#include <string.h>

enum { EVERY_MS = 1000, READ_EVERY_LEAST_MS = 1000, READ_EVERY_MOST_MS = 24 * 60 * 60 * 1000 };

/* How a device is recognized */

static bool read_services(parser *p, json_at at, tendon_definition_find *find) {
    json_at one = tendon_json_first(&p->j, at);
    for (size_t i = tendon_json_count(&p->j, at); i > 0; i--, one = tendon_json_next(&p->j, one)) {
        if (find->service_count == TENDON_DEFINITION_SERVICES) {
            return tendon_parse_full(p, one, "services");
        }
        if (tendon_json_type_of(&p->j, one) != JSON_STRING) {
            return tendon_parse_wrong(p, one, "a UUID in quotes is expected here");
        }
        if (!tendon_parse_uuid(p, one, &find->services[find->service_count++])) {
            return false;
        }
    }
    return true;
}

static bool read_find(parser *p, json_at at) {
    enum { SERVICES, NAME_, COMPANY, MEMBERS };
    static const member members[MEMBERS] = {{"services", ARRAY}, {"name", STRING}, {"company", INTEGER}};
    tendon_definition_find *find = &p->out->find;
    json_at found[MEMBERS];
    int64_t company = 0;
    if (!tendon_parse_members(p, at, "'find'", members, MEMBERS, found)) {
        return false;
    }
    if ((found[SERVICES] == 0 || tendon_json_count(&p->j, found[SERVICES]) == 0) && found[NAME_] == 0) {
        return tendon_parse_wrong(p, at, "'find' needs 'services' or 'name': every device would be meant");
    }
    if ((found[SERVICES] != 0 && !read_services(p, found[SERVICES], find)) ||
        (found[NAME_] != 0 && !tendon_parse_text(p, found[NAME_], &find->name)) ||
        (found[COMPANY] != 0 && !tendon_parse_integer(p, found[COMPANY], 0, 0xFFFF, &company))) {
        return false;
    }
    find->has_company = found[COMPANY] != 0;
    find->company = (uint16_t)company;
    return found[NAME_] == 0 || !tendon_json_equals(&p->j, found[NAME_], "*") ||
           tendon_parse_wrong(p, found[NAME_], "the name '*' means every device");
}

/* Characteristics */

/* Hexadecimal digits, with spaces between bytes. */
static bool read_example(parser *p, json_at at, tendon_definition_example *out) {
    char text[2 * 512 + 1];
    tendon_definition *d = p->out;
    size_t length = tendon_json_string(&p->j, at, text, sizeof text), used = d->text_length, i = 0;
    while (i < length && length < sizeof text) {
        if (text[i] == ' ') {
            i++;
            continue;
        }
        int high = tendon_json_hex(text[i]), low = i + 1 < length ? tendon_json_hex(text[i + 1]) : -1;
        if (high < 0 || low < 0) {
            return tendon_parse_wrong_value(p, at, "", at, " is no value: two hexadecimal digits a byte");
        }
        if (used + 1 >= TENDON_DEFINITION_TEXT) {
            return tendon_parse_full(p, at, "examples");
        }
        d->text[used++] = (char)(high << 4 | low);
        i += 2;
    }
    if (length == sizeof text) {
        return tendon_parse_wrong(p, at, "an example is longer than a value can be: 512 bytes");
    }
    *out = (tendon_definition_example){d->text_length, (uint16_t)(used - d->text_length)};
    d->text[used++] = 0;
    d->text_length = (uint16_t)used;
    return true;
}

static bool read_examples(parser *p, json_at at, tendon_definition_row *row) {
    tendon_definition *d = p->out;
    row->first_example = d->example_count;
    json_at one = tendon_json_first(&p->j, at);
    for (size_t i = tendon_json_count(&p->j, at); i > 0; i--, one = tendon_json_next(&p->j, one)) {
        if (d->example_count == TENDON_DEFINITION_EXAMPLES) {
            return tendon_parse_full(p, one, "examples");
        }
        if (tendon_json_type_of(&p->j, one) != JSON_STRING) {
            return tendon_parse_wrong(p, one, "an example is a string of hexadecimal digits");
        }
        p->example_tokens[d->example_count] = one;
        if (!read_example(p, one, &d->examples[d->example_count])) {
            return false;
        }
        d->example_count++;
        row->example_count++;
    }
    return true;
}

enum {
    R_NAME,
    R_SERVICE,
    R_UUID,
    R_VALUE,
    R_NOTIFY,
    R_READ,
    R_WRITE,
    R_REQUIRED,
    R_EXAMPLES,
    R_EVERY,
    R_READ_EVERY,
    R_MEMBERS
};
static const member row_members[R_MEMBERS] = {{"name", NAME},        {"service", STRING},       {"uuid", STRING},
                                              {"value", REFERENCE},  {"notify", REFERENCE},     {"read", REFERENCE},
                                              {"write", REFERENCE},  {"required", BOOLEAN},     {"examples", ARRAY},
                                              {"every_ms", INTEGER}, {"read_every_ms", INTEGER}};

static bool read_directions(parser *p, const json_at *found, tendon_definition_row *row) {
    uint16_t value = TENDON_DEFINITION_NONE;
    row->notified = row->read = row->written = TENDON_DEFINITION_NONE;
    if (found[R_VALUE] != 0) {
        if (found[R_NOTIFY] != 0 || found[R_READ] != 0) {
            return tendon_parse_wrong(p, found[R_VALUE], "'value' stands for 'read' and 'notify': give it alone");
        }
        if (!tendon_parse_layout_reference(p, found[R_VALUE], row->name, &value)) {
            return false;
        }
        row->notified = row->read = value;
    }
    if (found[R_NOTIFY] != 0 && found[R_READ] != 0) {
        return tendon_parse_wrong(p, found[R_READ], "a value that is read and notified has one layout: write 'value'");
    }
    return (found[R_NOTIFY] == 0 || tendon_parse_layout_reference(p, found[R_NOTIFY], row->name, &row->notified)) &&
           (found[R_READ] == 0 || tendon_parse_layout_reference(p, found[R_READ], row->name, &row->read)) &&
           (found[R_WRITE] == 0 || tendon_parse_layout_reference(p, found[R_WRITE], row->name, &row->written));
}

static bool read_row(parser *p, json_at at) {
    tendon_definition *d = p->out;
    json_at found[R_MEMBERS];
    int64_t every = EVERY_MS, read_every = 0;
    if (d->row_count == TENDON_DEFINITION_ROWS) {
        return tendon_parse_full(p, at, "characteristics");
    }
    tendon_definition_row *row = &d->rows[d->row_count];
    bool is_whole = tendon_parse_members(p, at, "a characteristic", row_members, R_MEMBERS, found);
    for (size_t i = R_NAME; is_whole && i <= R_UUID; i++) {
        is_whole = tendon_parse_require(p, at, "a characteristic", row_members, found, i);
    }
    if (!is_whole || !tendon_parse_name(p, found[R_NAME], &row->name) ||
        !tendon_parse_uuid(p, found[R_SERVICE], &row->service) || !tendon_parse_uuid(p, found[R_UUID], &row->uuid)) {
        return false;
    }
    p->row_names[d->row_count] = found[R_NAME];
    for (uint16_t i = 0; i < d->row_count; i++) {
        if (d->rows[i].name == row->name) {
            return tendon_parse_wrong_value(p, found[R_NAME], "the characteristic ", found[R_NAME], " is there twice");
        }
        if (tendon_uuid_equal(&d->rows[i].uuid, &row->uuid) && tendon_uuid_equal(&d->rows[i].service, &row->service)) {
            return tendon_parse_wrong_value(p, found[R_UUID], "an earlier characteristic of this service has the UUID ",
                                            found[R_UUID], "");
        }
    }
    if (!read_directions(p, found, row) || (found[R_EXAMPLES] != 0 && !read_examples(p, found[R_EXAMPLES], row)) ||
        (found[R_EVERY] != 0 && !tendon_parse_integer(p, found[R_EVERY], 5, 3600000, &every)) ||
        (found[R_READ_EVERY] != 0 &&
         !tendon_parse_integer(p, found[R_READ_EVERY], READ_EVERY_LEAST_MS, READ_EVERY_MOST_MS, &read_every))) {
        return false;
    }
    if (read_every != 0 && row->read == TENDON_DEFINITION_NONE) {
        return tendon_parse_wrong(p, found[R_READ_EVERY], "'read_every_ms' needs 'read' or 'value'");
    }
    row->every_ms = (uint32_t)every;
    row->read_every_ms = (uint32_t)read_every;
    row->flags |= found[R_REQUIRED] != 0 && tendon_json_is_true(&p->j, found[R_REQUIRED]) ? TENDON_ROW_REQUIRED : 0;
    d->row_count++;
    return true;
}

/* Events */

/** Refuses the names of the events of all devices. */
static bool is_free(parser *p, json_at at, uint16_t name) {
    enum { EVENTS = 48 };
    static const char events[] =
        "found\0connected\0connection_parameters\0disconnected\0connect_failed\0pairing\0paired\0bond\0missing\0"
        "malformed\0refused\0rule\0action\0action_failed\0publish\0executed\0execution_failed\0"
        "configuration_failed\0summary\0ready\0command\0encoded\0passkey\0forgotten\0decision\0att\0undecoded\0"
        "difference\0cache_dropped\0exported\0neighbor\0interference\0finding\0adapter\0mistake\0"
        "configuration_file\0setting\0reloaded\0reload_failed\0radio_waiting\0radio_lost\0radio_restored\0"
        "sample\0grip\0feature\0progress\0update\0write\0";
    const char *text = p->out->text + name;
    return tendon_packed_index(events, EVENTS, text, tendon_string_length(text)) < 0 ||
           tendon_parse_wrong_value(p, at, "", at, " is an event of all devices; call it otherwise");
}

static tendon_definition_event *add_event(parser *p, json_at at) {
    tendon_definition *d = p->out;
    if (d->event_count == TENDON_DEFINITION_EVENTS) {
        tendon_parse_full(p, at, "events");
        return NULL;
    }
    p->event_tokens[d->event_count] = at;
    d->events[d->event_count] = (tendon_definition_event){.flags = TENDON_EVENT_STATE};
    return &d->events[d->event_count];
}

static bool read_event_members(parser *p, json_at at, tendon_definition_event *event) {
    tendon_definition *d = p->out;
    event->first_member = d->member_count;
    json_at one = tendon_json_first(&p->j, at);
    for (size_t i = tendon_json_count(&p->j, at); i > 0; i--, one = tendon_json_next(&p->j, one)) {
        if (d->member_count == TENDON_DEFINITION_MEMBERS) {
            return tendon_parse_full(p, one, "members of events");
        }
        if (tendon_json_type_of(&p->j, one) != JSON_STRING) {
            return tendon_parse_wrong(p, one, "the name of a field in quotes is expected here");
        }
        if (!tendon_parse_name(p, one, &d->members[d->member_count])) {
            return false;
        }
        d->member_count++;
        event->member_count++;
    }
    return true;
}

static bool read_event(parser *p, json_at at) {
    enum { NAME_, LAYOUT, MEMBERS_, SAMPLE, STATE, COUNT };
    static const member members[COUNT] = {
        {"name", NAME}, {"layout", NAME}, {"members", ARRAY}, {"sample", BOOLEAN}, {"state", BOOLEAN}};
    json_at found[COUNT];
    if (!tendon_parse_members(p, at, "an event", members, COUNT, found) ||
        !tendon_parse_require(p, at, "an event", members, found, NAME_)) {
        return false;
    }
    tendon_definition_event *event = add_event(p, at);
    json_at layout = found[LAYOUT] != 0 ? found[LAYOUT] : found[NAME_];
    if (event == NULL || !tendon_parse_name(p, found[NAME_], &event->name) ||
        !tendon_parse_layout_reference(p, layout, 0, &event->layout) ||
        (found[MEMBERS_] != 0 && !read_event_members(p, found[MEMBERS_], event))) {
        return false;
    }
    if (!is_free(p, found[NAME_], event->name)) {
        return false;
    }
    for (uint16_t i = 0; i < p->out->event_count; i++) {
        if (p->out->events[i].name == event->name) {
            return tendon_parse_wrong_value(p, found[NAME_], "the event ", found[NAME_], " is there twice");
        }
    }
    bool is_sample = found[SAMPLE] != 0 && tendon_json_is_true(&p->j, found[SAMPLE]);
    bool is_state = found[STATE] != 0 ? tendon_json_is_true(&p->j, found[STATE]) : !is_sample;
    event->flags = (uint8_t)((is_sample ? TENDON_EVENT_SAMPLE : 0) | (is_state ? TENDON_EVENT_STATE : 0));
    p->out->event_count++;
    return true;
}

/* A layout of a value without an event of its own has one with its name. */
static bool add_own_event(parser *p, uint16_t layout, size_t row) {
    tendon_definition *d = p->out;
    if (layout == TENDON_DEFINITION_NONE) {
        return true;
    }
    for (uint16_t i = 0; i < d->event_count; i++) {
        if (d->events[i].layout == layout) {
            return true;
        }
    }
    tendon_definition_event *event = add_event(p, p->layout_tokens[layout]);
    if (event == NULL) {
        return false;
    }
    event->name = d->layouts[layout].name;
    event->layout = layout;
    json_at name = p->row_names[row];
    for (uint16_t i = 0; i < d->event_count; i++) {
        if (d->events[i].name == event->name) {
            return tendon_parse_wrong_value(p, name, "two layouts have events of one name: ", name, "");
        }
    }
    d->event_count++;
    return is_free(p, name, event->name);
}

static bool add_own_events(parser *p) {
    for (size_t row = 0; row < p->out->row_count; row++) {
        if (!add_own_event(p, p->out->rows[row].notified, row) || !add_own_event(p, p->out->rows[row].read, row)) {
            return false;
        }
    }
    return true;
}

/* Actions */

static bool find_row(parser *p, json_at at, uint16_t *out) {
    uint16_t name = 0;
    if (!tendon_parse_name(p, at, &name)) {
        return false;
    }
    for (uint16_t i = 0; i < p->out->row_count; i++) {
        if (p->out->rows[i].name == name) {
            *out = i;
            return true;
        }
    }
    nearest n = tendon_parse_nearest(p, at);
    for (uint16_t i = 0; i < p->out->row_count; i++) {
        tendon_parse_offer(&n, p->out->text + p->out->rows[i].name);
    }
    return tendon_parse_wrong_word(p, at, "no characteristic is called ", "", &n, "");
}

static bool read_action(parser *p, json_at at) {
    enum { NAME_, TITLE, CHARACTERISTIC, WRITE, START, MEMBERS };
    static const member members[MEMBERS] = {
        {"name", NAME}, {"title", STRING}, {"characteristic", NAME}, {"write", REFERENCE}, {"at_start", BOOLEAN}};
    tendon_definition *d = p->out;
    json_at found[MEMBERS];
    if (!tendon_parse_members(p, at, "an action", members, MEMBERS, found) ||
        !tendon_parse_require(p, at, "an action", members, found, NAME_) ||
        !tendon_parse_require(p, at, "an action", members, found, CHARACTERISTIC)) {
        return false;
    }
    if (d->action_count == TENDON_DEFINITION_ACTIONS) {
        return tendon_parse_full(p, at, "actions");
    }
    tendon_definition_action *action = &d->actions[d->action_count];
    if (!tendon_parse_name(p, found[NAME_], &action->name) || !find_row(p, found[CHARACTERISTIC], &action->row) ||
        (found[TITLE] != 0 && !tendon_parse_text(p, found[TITLE], &action->title))) {
        return false;
    }
    if (tendon_definition_action_named(d, d->text + action->name) < d->action_count) {
        return tendon_parse_wrong_value(p, found[NAME_], "the action ", found[NAME_], " is there twice");
    }
    action->layout = d->rows[action->row].written;
    if (found[WRITE] != 0 && !tendon_parse_layout_reference(p, found[WRITE], action->name, &action->layout)) {
        return false;
    }
    if (action->layout == TENDON_DEFINITION_NONE) {
        return tendon_parse_wrong(p, at, "an action needs 'write', or a characteristic that has it");
    }
    action->at_start = found[START] != 0 && tendon_json_is_true(&p->j, found[START]);
    d->action_count++;
    return true;
}

/* The file */

static bool each(parser *p, json_at array, bool (*read)(parser *p, json_at at)) {
    if (array == 0) {
        return true;
    }
    json_at one = tendon_json_first(&p->j, array);
    for (size_t i = tendon_json_count(&p->j, array); i > 0; i--, one = tendon_json_next(&p->j, one)) {
        if (!read(p, one)) {
            return false;
        }
    }
    return true;
}

enum {
    D_NAME,
    D_TITLE,
    D_SUMMARY,
    D_ENDIAN,
    D_FIND,
    D_CHARACTERISTICS,
    D_LAYOUTS,
    D_EVENTS,
    D_ACTIONS,
    D_NOTE,
    D_SCHEMA,
    D_MEMBERS
};
static const member file_members[D_MEMBERS] = {{"name", NAME},      {"title", STRING},  {"summary", STRING},
                                               {"endian", STRING},  {"find", OBJECT},   {"characteristics", ARRAY},
                                               {"layouts", OBJECT}, {"events", ARRAY},  {"actions", ARRAY},
                                               {"note", ANY},       {"$schema", STRING}};

static bool read_head(parser *p, const json_at *found) {
    static const int required[] = {D_NAME, D_TITLE, D_FIND, D_CHARACTERISTICS};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        if (!tendon_parse_require(p, 0, "the file", file_members, found, (size_t)required[i])) {
            return false;
        }
    }
    if (found[D_ENDIAN] != 0) {
        p->is_big_endian = tendon_json_equals(&p->j, found[D_ENDIAN], "big");
        if (!p->is_big_endian && !tendon_json_equals(&p->j, found[D_ENDIAN], "little")) {
            return tendon_parse_wrong_value(p, found[D_ENDIAN], "", found[D_ENDIAN], " is neither big nor little");
        }
    }
    return tendon_parse_name(p, found[D_NAME], &p->out->name) && tendon_parse_text(p, found[D_TITLE], &p->out->title) &&
           (found[D_SUMMARY] == 0 || tendon_parse_text(p, found[D_SUMMARY], &p->out->summary)) &&
           read_find(p, found[D_FIND]);
}

static bool read_file(parser *p) {
    json_at found[D_MEMBERS];
    if (!tendon_parse_members(p, 0, "the file", file_members, D_MEMBERS, found) || !read_head(p, found)) {
        return false;
    }
    if (tendon_json_count(&p->j, found[D_CHARACTERISTICS]) == 0) {
        return tendon_parse_wrong(p, found[D_CHARACTERISTICS], "'characteristics' is empty");
    }
    return (found[D_LAYOUTS] == 0 || tendon_parse_layout_names(p, found[D_LAYOUTS])) &&
           each(p, found[D_CHARACTERISTICS], read_row) && each(p, found[D_EVENTS], read_event) && add_own_events(p) &&
           each(p, found[D_ACTIONS], read_action) && tendon_parse_layouts(p) && tendon_parse_check(p);
}

size_t tendon_definition_size(void) {
    return sizeof(tendon_definition);
}

size_t tendon_definition_scratch_size(void) {
    return sizeof(tendon_definition_scratch);
}

tendon_status tendon_definition_parse(const char *text, size_t length, tendon_definition *out,
                                      tendon_definition_scratch *scratch, tendon_definition_mistake *mistake) {
    parser p = {.j = {.text = text, .length = length, .scratch = scratch, .mistake = mistake},
                .out = out,
                .inside = TENDON_DEFINITION_NONE};
    memset(out, 0, sizeof *out);
    memset(mistake, 0, sizeof *mistake);
    out->text_length = 1;
    scratch->tokens[0].start = 0;
    if (length > TENDON_DEFINITION_FILE_MAX) {
        tendon_parse_wrong(&p, 0, "the file is longer than 64 KiB");
        return TENDON_ERROR_TABLE_FULL;
    }
    if (tendon_json_read(&p.j) == TENDON_OK && read_file(&p)) {
        return TENDON_OK;
    }
    return p.is_full ? TENDON_ERROR_TABLE_FULL : TENDON_ERROR_MALFORMED;
}
