/* SPDX-License-Identifier: MIT */
#include "tendon/devices/toy.h"
#include "family.h"

static bool recognizes(const tendon_definition *definition, const tendon_uuid *characteristic) {
    (void)definition;
    return tendon_replay_number(characteristic) == TENDON_TOY_LEVEL;
}

static void put_level(const tendon_replay_line *one, tendon_line *line) {
    const tendon_toy_level *level = one->decoded;
    tendon_line_integer(line, "sequence", level->sequence);
    tendon_line_integer(line, "percent", level->percent);
}

static void take(const replay_taking *to) {
    tendon_toy_level level;
    tendon_status status = tendon_toy_decode_level(to->value->bytes, to->value->length, &level);
    if (status < 0) {
        tendon_replay_malformed(to, status, 0);
        return;
    }
    to->replay->notifications++;
    to->replay->samples++;
    tendon_replay_tell(to, "level", put_level, &level);
}

const tendon_replay_family tendon_toy_replay = {&tendon_toy_family, recognizes, NULL, take, NULL};
