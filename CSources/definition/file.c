/* SPDX-License-Identifier: MIT */
/* The file as a whole: what a device is, its characteristics, events and actions. */
#include "parser.h"
#include "tendon/base/packed.h"

#include <string.h>

enum { EVERY_MS = 1000, READ_EVERY_LEAST_MS = 1000, READ_EVERY_MOST_MS = 24 * 60 * 60 * 1000 };

/* Reads each value of an array, none if it is absent. @param are_strings they have to be. */
static bool each(parser *p, json_at array, bool are_strings, bool (*read)(parser *p, json_at at)) {
    for (json_at one = tendon_json_first(array); array != 0 && one != tendon_json_next(&p->j, array);
         one = tendon_json_next(&p->j, one)) {
        if (are_strings && tendon_json_type_of(&p->j, one) != JSON_STRING) {
            return tendon_parse_wrong(p, one, "a string is expected here: text in quotes");
        }
        if (!read(p, one)) {
            return false;
        }
    }
    return true;
}

/* How a device is recognized */

static bool read_service(parser *p, json_at at) {
    tendon_definition_find *find = &p->out->find;
    if (find->service_count == TENDON_DEFINITION_SERVICES) {
        return tendon_parse_full(p, at, "services");
    }
    return tendon_parse_uuid(p, at, &find->services[find->service_count++]);
}

static bool read_find(parser *p, json_at at) {
    static const char shape[] = "'find'\0" ARRAY "services\0" STRING "name\0" INTEGER "company\0";
    enum { SERVICES, NAME_, COMPANY, MEMBERS };
    tendon_definition_find *find = &p->out->find;
    json_at found[MEMBERS];
    int64_t company = 0;
    if (!tendon_parse_members(p, at, shape, found) || !each(p, found[SERVICES], true, read_service)) {
        return false;
    }
    if (find->service_count == 0 && found[NAME_] == 0) {
        return tendon_parse_wrong(p, at, "'find' needs 'services' or 'name': every device would be meant");
    }
    if (!tendon_parse_text(p, found[NAME_], &find->name) ||
        !tendon_parse_integer(p, found[COMPANY], 0, 0xFFFF, &company)) {
        return false;
    }
    find->has_company = found[COMPANY] != 0;
    find->company = (uint16_t)company;
    const char *name = p->out->text + find->name, *star = name;
    while (*star != 0 && *star != '*') {
        star++;
    }
    return *star == 0 || (star != name && star[1] == 0) ||
           tendon_parse_wrong(p, found[NAME_], "a '*' stands behind a name, for any rest");
}

/* Characteristics */

/* Hexadecimal digits, with spaces between bytes. */
static bool read_example(parser *p, json_at at, tendon_definition_example *out) {
    enum { VALUE_MAX = 512 };
    tendon_definition *d = p->out;
    size_t length, used = d->text_length, i = 0;
    const char *text = tendon_json_raw(&p->j, at, &length);
    for (;;) {
        if (used + 1 >= TENDON_DEFINITION_TEXT) { /* with a terminator, for which there is room at the end, too */
            return tendon_parse_full(p, at, "examples");
        }
        if (i >= length) {
            break;
        }
        if (text[i] == ' ') {
            i++;
            continue;
        }
        int high = tendon_json_hex(text[i]), low = i + 1 < length ? tendon_json_hex(text[i + 1]) : -1;
        if (high < 0 || low < 0) {
            return tendon_parse_wrong_this(p, at, " is no value: two hexadecimal digits a byte");
        }
        d->text[used++] = (char)(high << 4 | low);
        i += 2;
    }
    if (used - d->text_length > VALUE_MAX) {
        return tendon_parse_wrong(p, at, "an example is longer than 512 bytes");
    }
    *out = (tendon_definition_example){d->text_length, (uint16_t)(used - d->text_length)};
    d->text[used++] = 0;
    d->text_length = (uint16_t)used;
    return true;
}

/* Of the row that comes next. */
static bool read_row_example(parser *p, json_at at) {
    tendon_definition *d = p->out;
    if (d->example_count == TENDON_DEFINITION_EXAMPLES) {
        return tendon_parse_full(p, at, "examples");
    }
    p->example_tokens[d->example_count] = at;
    if (!read_example(p, at, &d->examples[d->example_count])) {
        return false;
    }
    d->example_count++;
    d->rows[d->row_count].example_count++;
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
static const char row_shape[] =
    "a characteristic\0" MUST NAME "name\0" MUST STRING "service\0" MUST STRING "uuid\0" REFERENCE "value\0" REFERENCE
    "notify\0" REFERENCE "read\0" REFERENCE "write\0" BOOLEAN "required\0" ARRAY "examples\0" INTEGER
    "every_ms\0" INTEGER "read_every_ms\0";

static bool read_directions(parser *p, const json_at *found, tendon_definition_row *row) {
    row->notified = row->read = row->written = TENDON_DEFINITION_NONE;
    bool has_read = found[R_READ] != 0, has_notify = found[R_NOTIFY] != 0;
    json_at both = found[R_VALUE] != 0 ? found[R_VALUE] : found[R_READ];
    if (both != 0 && (has_notify || (has_read && both != found[R_READ]))) {
        return tendon_parse_wrong(p, both, "what is read and notified has one layout: write 'value' alone");
    }
    if (!tendon_parse_layout_reference(p, found[R_VALUE], row->name, &row->notified)) {
        return false;
    }
    row->read = row->notified;
    return tendon_parse_layout_reference(p, found[R_NOTIFY], row->name, &row->notified) &&
           tendon_parse_layout_reference(p, found[R_READ], row->name, &row->read) &&
           tendon_parse_layout_reference(p, found[R_WRITE], row->name, &row->written);
}

static bool read_row(parser *p, json_at at) {
    tendon_definition *d = p->out;
    json_at found[R_MEMBERS];
    int64_t every = EVERY_MS, read_every = 0;
    tendon_definition_row *row = &d->rows[d->row_count];
    if (!tendon_parse_members(p, at, row_shape, found) || !tendon_parse_new(p, found[R_NAME], ROWS, &row->name) ||
        !tendon_parse_uuid(p, found[R_SERVICE], &row->service) || !tendon_parse_uuid(p, found[R_UUID], &row->uuid)) {
        return false;
    }
    p->row_names[d->row_count] = found[R_NAME];
    if (tendon_definition_row_in(d, &row->service, &row->uuid) < d->row_count) {
        return tendon_parse_wrong_this(p, found[R_UUID], " is there twice: a service has each UUID once");
    }
    row->first_example = d->example_count;
    if (!read_directions(p, found, row) || !each(p, found[R_EXAMPLES], true, read_row_example) ||
        !tendon_parse_integer(p, found[R_EVERY], 5, 3600000, &every) ||
        !tendon_parse_integer(p, found[R_READ_EVERY], READ_EVERY_LEAST_MS, READ_EVERY_MOST_MS, &read_every)) {
        return false;
    }
    if (read_every != 0 && row->read == TENDON_DEFINITION_NONE) {
        return tendon_parse_wrong(p, found[R_READ_EVERY], "'read_every_ms' needs 'read' or 'value'");
    }
    row->every_ms = (uint32_t)every;
    row->read_every_ms = (uint32_t)read_every;
    row->flags |= tendon_json_is_true(&p->j, found[R_REQUIRED]) ? TENDON_ROW_REQUIRED : 0;
    d->row_count++;
    return true;
}

/* Events */

/* Refuses the names of other events: of all devices, of commands, and of families in C, in rules and schemas. */
static bool is_free(parser *p, json_at at, uint16_t name) {
    enum { TAKEN = 48 };
    static const char events[] =
        "found\0connected\0connection_parameters\0disconnected\0connect_failed\0pairing\0paired\0bond\0missing\0"
        "malformed\0refused\0rule\0action\0action_failed\0publish\0executed\0execution_failed\0"
        "configuration_failed\0summary\0ready\0command\0encoded\0passkey\0forgotten\0decision\0att\0undecoded\0"
        "difference\0cache_dropped\0exported\0neighbor\0interference\0finding\0adapter\0mistake\0"
        "configuration_file\0setting\0reloaded\0reload_failed\0radio_waiting\0radio_lost\0radio_restored\0"
        "sample\0grip\0feature\0progress\0update\0write\0";
    return tendon_parse_free(p, at, name, events, TAKEN, " is an event that Tendon has");
}

/* Of the event that comes next. */
static bool read_event_member(parser *p, json_at at) {
    tendon_definition *d = p->out;
    if (d->member_count == TENDON_DEFINITION_MEMBERS) {
        return tendon_parse_full(p, at, "members of events");
    }
    p->member_tokens[d->member_count] = at;
    d->events[d->event_count].member_count++;
    return tendon_parse_name(p, at, &d->members[d->member_count++]);
}

static bool is_of_value(const tendon_definition *d, uint16_t layout) {
    for (uint16_t i = 0; i < d->row_count; i++) {
        if (d->rows[i].notified == layout || d->rows[i].read == layout) {
            return true;
        }
    }
    return false;
}

static bool read_event(parser *p, json_at at) {
    static const char shape[] =
        "an event\0" MUST NAME "name\0" NAME "layout\0" ARRAY "members\0" BOOLEAN "sample\0" BOOLEAN "state\0";
    enum { NAME_, LAYOUT, MEMBERS_, SAMPLE, STATE, COUNT };
    tendon_definition *d = p->out;
    json_at found[COUNT];
    tendon_definition_event *event = &d->events[d->event_count];
    if (!tendon_parse_members(p, at, shape, found)) {
        return false;
    }
    json_at layout = found[found[LAYOUT] != 0 ? LAYOUT : NAME_];
    if (!tendon_parse_new(p, found[NAME_], EVENTS, &event->name) || !is_free(p, found[NAME_], event->name) ||
        !tendon_parse_known(p, layout, LAYOUTS, &event->layout)) {
        return false;
    }
    if (!is_of_value(d, event->layout)) {
        return tendon_parse_wrong_this(p, layout, " is no layout of a 'notify', 'read' or 'value'");
    }
    event->first_member = d->member_count;
    if (!each(p, found[MEMBERS_], true, read_event_member)) {
        return false;
    }
    bool is_sample = tendon_json_is_true(&p->j, found[SAMPLE]);
    bool is_state = found[STATE] != 0 ? tendon_json_is_true(&p->j, found[STATE]) : !is_sample;
    event->flags = (uint8_t)((is_sample ? TENDON_EVENT_SAMPLE : 0) | (is_state ? TENDON_EVENT_STATE : 0));
    d->event_count++;
    return true;
}

/* A layout of a value without an event of its own has one with its name. */
static bool add_own_event(parser *p, uint16_t layout, json_at name) {
    tendon_definition *d = p->out;
    for (uint16_t i = 0; i < d->event_count; i++) {
        if (d->events[i].layout == layout) {
            return true;
        }
    }
    tendon_definition_event *event = &d->events[d->event_count];
    if (layout == TENDON_DEFINITION_NONE || !tendon_parse_has_room(p, name, EVENTS)) {
        return layout == TENDON_DEFINITION_NONE;
    }
    *event = (tendon_definition_event){.name = d->layouts[layout].name, .layout = layout, .flags = TENDON_EVENT_STATE};
    if (tendon_parse_find(d, EVENTS, event->name) != TENDON_DEFINITION_NONE) {
        return tendon_parse_wrong_this(p, name, " is the name of another event");
    }
    d->event_count++;
    return is_free(p, name, event->name);
}

static bool add_own_events(parser *p) {
    for (size_t row = 0; row < p->out->row_count; row++) {
        if (!add_own_event(p, p->out->rows[row].notified, p->row_names[row]) ||
            !add_own_event(p, p->out->rows[row].read, p->row_names[row])) {
            return false;
        }
    }
    return true;
}

/* Actions */

static bool read_action(parser *p, json_at at) {
    static const char shape[] = "an action\0" MUST NAME "name\0" STRING "title\0" MUST NAME "characteristic\0" REFERENCE
                                "write\0" BOOLEAN "at_start\0";
    enum { NAME_, TITLE, CHARACTERISTIC, WRITE, START, MEMBERS };
    tendon_definition *d = p->out;
    json_at found[MEMBERS];
    tendon_definition_action *action = &d->actions[d->action_count];
    if (!tendon_parse_members(p, at, shape, found) || !tendon_parse_new(p, found[NAME_], ACTIONS, &action->name) ||
        !tendon_parse_free(p, found[NAME_], action->name, "transaction\0recenter", 2,
                           " is a word of MQTT; call it otherwise") ||
        !tendon_parse_known(p, found[CHARACTERISTIC], ROWS, &action->row) ||
        !tendon_parse_text(p, found[TITLE], &action->title)) {
        return false;
    }
    action->layout = d->rows[action->row].written;
    if (!tendon_parse_layout_reference(p, found[WRITE], action->name, &action->layout)) {
        return false;
    }
    if (action->layout == TENDON_DEFINITION_NONE) {
        return tendon_parse_wrong(p, at, "an action needs 'write', or a characteristic that has it");
    }
    action->at_start = tendon_json_is_true(&p->j, found[START]);
    d->action_count++;
    return true;
}

/* The file */

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
static const char file_shape[] = "the file\0" MUST NAME "name\0" MUST STRING "title\0" STRING "summary\0" STRING
                                 "endian\0" MUST OBJECT "find\0" MUST ARRAY "characteristics\0" OBJECT "layouts\0" ARRAY
                                 "events\0" ARRAY "actions\0" ANY "note\0" STRING "$schema\0";

static bool read_file(parser *p) {
    json_at found[D_MEMBERS];
    if (!tendon_parse_members(p, 0, file_shape, found) || !tendon_parse_endian(p, found[D_ENDIAN], &p->is_big_endian) ||
        !tendon_parse_name(p, found[D_NAME], &p->out->name) || !tendon_parse_text(p, found[D_TITLE], &p->out->title) ||
        !tendon_parse_text(p, found[D_SUMMARY], &p->out->summary) || !read_find(p, found[D_FIND])) {
        return false;
    }
    if (tendon_json_next(&p->j, found[D_CHARACTERISTICS]) == tendon_json_first(found[D_CHARACTERISTICS])) {
        return tendon_parse_wrong(p, found[D_CHARACTERISTICS], "'characteristics' is empty");
    }
    return tendon_parse_layout_names(p, found[D_LAYOUTS]) && each(p, found[D_CHARACTERISTICS], false, read_row) &&
           each(p, found[D_EVENTS], false, read_event) && add_own_events(p) &&
           each(p, found[D_ACTIONS], false, read_action) && tendon_parse_layouts(p) && tendon_parse_check(p);
}

size_t tendon_definition_size(void) {
    return sizeof(tendon_definition);
}

size_t tendon_definition_scratch_size(void) {
    return sizeof(tendon_definition_scratch);
}

tendon_status tendon_definition_parse(const char *text, size_t length, tendon_definition *out,
                                      tendon_definition_scratch *scratch, tendon_definition_mistake *mistake) {
    parser p = {.j = {.text = text,
                      .length = length,
                      .tokens = scratch->tokens,
                      .capacity = TENDON_DEFINITION_TOKENS,
                      .mistake = mistake},
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
