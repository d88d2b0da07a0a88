/* SPDX-License-Identifier: MIT */
#include "family.h"

#include <math.h>

#define POINTER(name) &tendon_##name##_replay,
static const tendon_replay_family *const families[] = {REPLAY_FAMILIES(POINTER)};

static const tendon_replay_family *family_of(const char *name, const tendon_definition *definition) {
    const tendon_family *known = tendon_family_find(name);
    for (size_t i = 0; definition == NULL && known != NULL && i < sizeof families / sizeof families[0]; i++) {
        if (families[i]->family == known) {
            return families[i];
        }
    }
    return definition != NULL ? &tendon_defined_replay : NULL;
}

void tendon_replay_init(tendon_replay *replay, const char *family, const tendon_definition *definition) {
    memset(replay, 0, sizeof *replay);
    replay->family = family_of(family, definition);
    replay->definition = definition;
    if (replay->family != NULL && replay->family->init != NULL) {
        replay->family->init(replay);
    }
}

bool tendon_replay_recognizes(const char *family, const tendon_definition *definition,
                              const tendon_uuid *characteristic) {
    const tendon_replay_family *found = family_of(family, definition);
    return found != NULL && found->recognizes(definition, characteristic);
}

uint16_t tendon_replay_number(const tendon_uuid *uuid) {
    uint16_t number = 0;
    return tendon_uuid_as_u16(uuid, &number) ? number : 0;
}

void tendon_replay_take(tendon_replay *replay, const tendon_replay_value *value, tendon_replay_report report,
                        void *context) {
    const replay_taking to = {replay, value, report, context};
    if (replay->family != NULL) {
        replay->taking = &to;
        replay->family->take(&to);
        replay->taking = NULL;
    }
}

/* ---- lines ---- */

tendon_status tendon_replay_write(const tendon_replay_line *one, tendon_line *line, const tendon_line_device *device,
                                  uint64_t wall_us) {
    return one->write(one, line, device, wall_us);
}

bool tendon_replay_view(const tendon_replay_line *one, tendon_replay_numbers *out) {
    out->device_time_ms = NAN;
    out->bose = NULL;
    return one->view != NULL && one->view(one, out);
}

void tendon_replay_emit(const replay_taking *to, tendon_replay_line one) {
    tendon_line head;
    tendon_line_init(&head, NULL, 0, false);
    one.replay = to->replay;
    one.value = to->value;
    if (to->report != NULL && one.write(&one, &head, NULL, 0) != 0) {
        one.event = head.event;
        to->report(to->context, &one);
    }
}

static tendon_status write_own(const tendon_replay_line *one, tendon_line *line, const tendon_line_device *device,
                               uint64_t wall_us) {
    tendon_line_begin(line, one->event, wall_us, device);
    if (one->members != NULL) {
        one->members(one, line);
    }
    return tendon_line_end(line);
}

void tendon_replay_tell(const replay_taking *to, const char *event,
                        void (*members)(const tendon_replay_line *one, tendon_line *line), const void *decoded) {
    tendon_replay_emit(
        to, (tendon_replay_line){.event = event, .write = write_own, .members = members, .decoded = decoded});
}

void tendon_replay_sample(const replay_taking *to, void (*members)(const tendon_replay_line *one, tendon_line *line),
                          bool (*view)(const tendon_replay_line *one, tendon_replay_numbers *out),
                          const void *decoded) {
    tendon_replay_emit(
        to, (tendon_replay_line){
                .event = "sample", .write = write_own, .members = members, .view = view, .decoded = decoded});
}

void tendon_replay_put_bytes(const tendon_replay_line *one, tendon_line *line) {
    if (one->key != NULL) {
        tendon_line_word(line, one->key, one->decoded);
    }
    tendon_line_bytes(line, "bytes", one->value->bytes, one->value->length);
}

void tendon_replay_tell_bytes(const replay_taking *to, const char *event, const char *key, const char *word) {
    tendon_replay_emit(
        to, (tendon_replay_line){
                .event = event, .write = write_own, .members = tendon_replay_put_bytes, .key = key, .decoded = word});
}

static void put_mistake(const tendon_replay_line *one, tendon_line *line) {
    tendon_line_error(line, one->status);
    tendon_line_reason(line, NULL, one->status);
    if (one->replay->family->put_malformed != NULL) {
        one->replay->family->put_malformed(one, line);
    }
}

void tendon_replay_malformed(const replay_taking *to, tendon_status status, size_t offset) {
    to->replay->malformed++;
    tendon_replay_emit(
        to, (tendon_replay_line){
                .event = "malformed", .write = write_own, .members = put_mistake, .status = status, .place = offset});
}
