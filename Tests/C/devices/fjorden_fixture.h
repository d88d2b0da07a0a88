/* SPDX-License-Identifier: MIT */
/* A Fjorden session and simulated grips in the air; time moves from deadline to deadline. What was told is kept. */
#ifndef FJORDEN_FIXTURE_H
#define FJORDEN_FIXTURE_H

#include "test_bytes.h"

#include "tendon/devices/fjorden.h"
#include "tendon/simulate/fjorden.h"
#include "tendon/simulate/memory_radio.h"

enum { FJORDEN_KEPT = 512, FJORDEN_GRIPS = 2 };

/* One notice, copied out of the callback. */
typedef struct fjorden_seen {
    tendon_fjorden_session_event_kind kind;
    tendon_status status, cause;
    uint64_t at;
    tendon_fjorden_output output;
    tendon_fjorden_grip grip;
    tendon_fjorden_record record;
    bool synthesized;
    tendon_fjorden_response response;
    uint8_t payload[32];
    uint8_t level;
    tendon_fjorden_characteristic characteristic;
} fjorden_seen;

typedef struct fjorden_fixture {
    uint64_t now;
    tendon_fjorden_profile profile;
    tendon_fjorden_session session;
    tendon_fjorden_grip list[4];
    tendon_memory_radio air;
    tendon_memory_radio_device devices[FJORDEN_GRIPS];
    tendon_simulated_fjorden grips[FJORDEN_GRIPS];
    bool pair_calls_back;
    bool uncounted; /* what does not fit into seen is not kept */
    tendon_fjorden_configuration configuration;
    size_t count;
    fjorden_seen seen[FJORDEN_KEPT];
    void (*hook)(struct fjorden_fixture *f, const tendon_fjorden_session_event *notice);
} fjorden_fixture;

/* Two grips, the second out of reach. Configured and allowed, not started. NULL: defaults. free() it. */
fjorden_fixture *fjorden_new(const tendon_simulated_fjorden_options *options);
/* The same, with a bond with the first grip on both sides. */
fjorden_fixture *fjorden_new_bonded(const tendon_simulated_fjorden_options *options);
/* A call without arguments; start: may ask. */
tendon_status fjorden_call(fjorden_fixture *f, tendon_fjorden_input_kind kind);
/* connect(toGrip:) */
tendon_status fjorden_connect(fjorden_fixture *f, size_t grip);
/* Everything that is due up to so many ms from now. */
void fjorden_run(fjorden_fixture *f, uint64_t ms);
/* Started and connected with the first grip; what was told up to then is forgotten. */
void fjorden_reach_connected(fjorden_fixture *f);
void fjorden_forget(fjorden_fixture *f);
/* A PDU of the grip, literally, as if it had sent it. */
void fjorden_inject(fjorden_fixture *f, const char *hex);
/* The same, a notification or indication (opcode) of a characteristic of the grip. */
void fjorden_tell(fjorden_fixture *f, uint8_t opcode, uint16_t handle, const char *hex);

size_t fjorden_told(const fjorden_fixture *f, tendon_fjorden_session_event_kind kind);
/* The last of its kind; fails when there is none. */
const fjorden_seen *fjorden_last(const fjorden_fixture *f, tendon_fjorden_session_event_kind kind);
/* Outputs of the manager from the first kept notice on, as words with blanks: "state:connecting discover ...". */
void fjorden_assert_outputs(const fjorden_fixture *f, const char *words);
/* Events as hex codes with blanks; made-up ones with a star. */
void fjorden_assert_events(const fjorden_fixture *f, const char *codes);
/* The last result of a call. */
void fjorden_assert_result(const fjorden_fixture *f, tendon_fjorden_input_kind call, tendon_status status);

#endif
