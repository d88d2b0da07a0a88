/* SPDX-License-Identifier: MIT */
#include "tendon/osc/orientation.h"
#include "tendon/osc/preset.h"

#include "text.h"

typedef struct term_name {
    const char *name;
    uint8_t term;
} term_name;

static const term_name names[] = {
    {"w", TENDON_OSC_TERM_W},       {"x", TENDON_OSC_TERM_X},     {"y", TENDON_OSC_TERM_Y},
    {"z", TENDON_OSC_TERM_Z},       {"yaw", TENDON_OSC_TERM_YAW}, {"pitch", TENDON_OSC_TERM_PITCH},
    {"roll", TENDON_OSC_TERM_ROLL}, {"0", TENDON_OSC_TERM_ZERO},
};

#define SCENE "scene:"

/* The text up to position `end`. */
typedef struct text {
    const char *bytes;
    size_t position, end;
} text;

static void skip_blanks(text *t) {
    while (t->position < t->end && t->bytes[t->position] == ' ') {
        t->position++;
    }
}

static bool take_word(text *t, const char *word) {
    size_t length = tendon_osc_length_of(word);
    if (length > t->end - t->position || memcmp(t->bytes + t->position, word, length) != 0) {
        return false;
    }
    t->position += length;
    return true;
}

/* One term, with its sign. A name counts if a comma, a blank or the end follows: "y" is the beginning of "yaw". */
static bool take_term(text *t, tendon_osc_map *out) {
    skip_blanks(t);
    size_t start = t->position;
    out->terms[out->count].is_negative = take_word(t, "-");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t at = t->position;
        if (take_word(t, names[i].name)) {
            if (t->position == t->end || t->bytes[t->position] == ',' || t->bytes[t->position] == ' ') {
                out->terms[out->count].term = names[i].term;
                out->count++;
                skip_blanks(t);
                return true;
            }
            t->position = at;
        }
    }
    t->position = start;
    return false;
}

tendon_status tendon_osc_map_parse(const char *bytes, size_t length, tendon_osc_map *out, size_t *offset) {
    text t = {bytes, 0, length};
    tendon_status status = TENDON_OK;
    *out = (tendon_osc_map){0};
    skip_blanks(&t);
    out->is_inverse = take_word(&t, SCENE);
    for (;;) {
        if (out->count == TENDON_OSC_TERMS) {
            status = TENDON_ERROR_TABLE_FULL;
        } else if (!take_term(&t, out)) {
            status = TENDON_ERROR_MALFORMED;
        } else if (t.position == t.end) {
            return out->count;
        } else if (!take_word(&t, ",")) {
            status = TENDON_ERROR_MALFORMED;
        } else {
            continue;
        }
        if (offset != NULL) {
            *offset = t.position;
        }
        return status;
    }
}

void tendon_osc_map_values(const tendon_osc_map *map, tendon_quaternion head, double out[TENDON_OSC_TERMS]) {
    tendon_quaternion q = map->is_inverse ? tendon_quaternion_conjugate(head) : head;
    tendon_head_angles angles = tendon_head_angles_of(q);
    const double values[] = {q.w, q.x, q.y, q.z, angles.yaw, angles.pitch, angles.roll, 0};
    for (size_t i = 0; i < map->count && i < TENDON_OSC_TERMS; i++) {
        double value = map->terms[i].term <= TENDON_OSC_TERM_ZERO ? values[map->terms[i].term] : 0;
        /* No -0: it is no number that anybody expects. */
        out[i] = map->terms[i].is_negative && value != 0 ? -value : value + 0.0;
    }
}

tendon_status tendon_osc_orientation(tendon_osc_format format, const char *address, const tendon_osc_map *map,
                                     tendon_quaternion head, uint8_t *out, size_t capacity) {
    double values[TENDON_OSC_TERMS] = {0};
    tendon_osc_map_values(map, head, values);
    if (format == TENDON_OSC_ORIENTATION) {
        return tendon_osc_sample(address, values, map->count, out, capacity);
    }
    if (format != TENDON_OSC_OPENTRACK || map->count != 3) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (capacity < TENDON_OPENTRACK_SIZE) {
        return TENDON_ERROR_BUFFER_TOO_SMALL;
    }
    const double pose[6] = {0, 0, 0, values[0], values[1], values[2]};
    tendon_opentrack_encode(pose, out);
    return TENDON_OPENTRACK_SIZE;
}
