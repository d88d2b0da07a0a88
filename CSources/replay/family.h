/* SPDX-License-Identifier: MIT */
/* What each family has for replay.c, and what it uses of it. */
#ifndef TENDON_REPLAY_FAMILY_H
#define TENDON_REPLAY_FAMILY_H

#include "tendon/replay.h"

/** A value that is being taken, and who gets its lines. */
typedef struct replay_taking {
    tendon_replay *replay;
    const tendon_replay_value *value;
    tendon_replay_report report;
    void *context;
} replay_taking;

struct tendon_replay_family {
    const tendon_family *family; /**< NULL: device files */
    bool (*recognizes)(const tendon_definition *definition, const tendon_uuid *characteristic);
    void (*init)(tendon_replay *replay); /**< NULL: zeros will do */
    void (*take)(const replay_taking *to);
    /** Members of a malformed value beside the reason. NULL: none. */
    void (*put_malformed)(const tendon_replay_line *one, tendon_line *line);
};

/* Beside device files. */
#define REPLAY_FAMILIES(ROW)                                                                                           \
    ROW(activ5)                                                                                                        \
    ROW(bose)                                                                                                          \
    ROW(feelspace)                                                                                                     \
    ROW(fjorden)                                                                                                       \
    ROW(obvious)

#define REPLAY_DECLARATION(name) extern const tendon_replay_family tendon_##name##_replay;
REPLAY_FAMILIES(REPLAY_DECLARATION)
REPLAY_DECLARATION(defined)
#undef REPLAY_DECLARATION

/** Tells a line that gateway/lines_*.c writes, with its `write`. */
void tendon_replay_emit(const replay_taking *to, tendon_replay_line one);
/** Tells a line of its own. @param members NULL: it has none. @param decoded what they are of. */
void tendon_replay_tell(const replay_taking *to, const char *event,
                        void (*members)(const tendon_replay_line *one, tendon_line *line), const void *decoded);
/** Tells a sample, which has numbers too. */
void tendon_replay_sample(const replay_taking *to, void (*members)(const tendon_replay_line *one, tendon_line *line),
                          bool (*view)(const tendon_replay_line *one, tendon_replay_numbers *out), const void *decoded);
/** Tells a line of bytes. @param key, word the member before them; NULL: none. */
void tendon_replay_tell_bytes(const replay_taking *to, const char *event, const char *key, const char *word);
/** The bytes of a value. */
void tendon_replay_put_bytes(const tendon_replay_line *one, tendon_line *line);
/** Counts and tells a value that is malformed. @param offset of the mistake, the `place` of the line. */
void tendon_replay_malformed(const replay_taking *to, tendon_status status, size_t offset);

/** The 16 bits of a UUID; 0: it has more. */
uint16_t tendon_replay_number(const tendon_uuid *uuid);

enum { REPLAY_BATTERY_LEVEL = 0x2A19 };

#endif
