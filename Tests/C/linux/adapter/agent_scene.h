/* SPDX-License-Identifier: MIT */
/* A radio with a pairing agent, the user behind it, and the kernel that asks. */
#ifndef AGENT_SCENE_H
#define AGENT_SCENE_H

#include "pairing_scene.h"

/* Parameters of the management interface: two's complement, little endian; see doc/mgmt-api.txt of BlueZ. */
enum {
    CONFIRM = 0x0F,
    PASSKEY_REQUEST = 0x10,
    NOTIFY = 0x17,
    YES = 0x1C,
    NO = 0x1D,
    ENTERED = 0x1E,
    NO_PASSKEY = 0x1F
};
enum { PASSKEY = 123456 }; /* 40 E2 01 00 */

typedef struct user {
    int asked;
    tendon_pairing_question question;
    uint32_t passkey;
    bool answers; /**< from within ask() */
    bool accepts;
    uint32_t says;
    tendon_radio *radio;
} user;
extern user me;

void ask(void *context, const tendon_address *peer, tendon_pairing_question question, uint32_t passkey, uint64_t now);
pairing_scene *scene_with(int links, const tendon_pairing_agent *agent);
void begin(pairing_scene *s, int peer, uint8_t io);
void kernel_confirms(pairing_scene *s, int peer, uint8_t hint);
void kernel_wants_passkey(pairing_scene *s, int peer);
void kernel_shows(pairing_scene *s, int peer, uint8_t entered);
void kernel_stores(pairing_scene *s, const tendon_address *peer, uint8_t type, uint8_t size);
void expect_passkey(pairing_scene *s, int peer, uint32_t passkey);

#endif
