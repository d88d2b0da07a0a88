/* SPDX-License-Identifier: MIT */
#include "bluez_acts.h"

static const uint16_t handles[] = {0x40, 0x41, 0x0EFF, 0xFFFF};

/* A link that pairs, or else one that is open, if there is one. */
static int some_link(world *w) {
    int best = (int)choose(w->r, WORLD_LINKS);
    for (int i = 0; i < WORLD_LINKS; i++) {
        const tendon_link *link = &w->ends[i].link;
        if (w->ends[i].used && link->pairing.state != TENDON_PAIRING_NONE) {
            return i;
        }
        best = w->ends[i].used && link->state == TENDON_LINK_OPEN ? i : best;
    }
    return best;
}

/* ---- the owner ---- */

static void connects_in_background(world *w) {
    recording *r = w->r;
    int i = (int)choose(r, WORLD_LINKS);
    fake.handle = handles[choose(r, 4)];
    if (!w->ends[i].used) {
        tendon_status status =
            tendon_radio_connect_in_background(&w->b->radio.radio, noted_link_make(&w->ends[i]), &world_peers[i]);
        if (status >= 0) {
            noted_link_started(&w->ends[i]);
        }
        note(r, "in background %d: %d", i, status);
    }
}

static void sets_parameters(world *w) {
    recording *r = w->r;
    static const tendon_connection_parameters all[] = {
        {.min_interval = 6, .max_interval = 12, .latency = 0, .timeout = 400},
        {.min_interval = 80, .max_interval = 100, .latency = 2, .timeout = 600, .phy = TENDON_PHY_2M},
        {.min_interval = 24, .max_interval = 40, .timeout = 400, .phy = TENDON_PHY_CODED, .tx_octets = 251},
        {.min_interval = 24, .max_interval = 40, .timeout = 400, .tx_octets = 100},
        {.min_interval = 5, .max_interval = 12, .timeout = 400}};
    unsigned which = choose(r, 6);
    note(r, "parameters %u: %d", which,
         tendon_radio_set_connection_parameters(&w->b->radio.radio, which < 5 ? &all[which] : NULL));
    if (choose(r, 3) == 0) {
        note(r, "signals %d", noted_status(tendon_radio_ask_signals(&w->b->radio.radio)));
    }
}

static void on_question(void *context, const tendon_address *peer, tendon_pairing_question question, uint32_t passkey,
                        uint64_t now) {
    world *w = context;
    recording *r = w->r;
    note(r, "asks %d: %u at %u", question, (unsigned)passkey, (unsigned)now);
    note_bytes(r, "peer", peer->bytes, sizeof peer->bytes);
    if (choose(r, 3) == 0) {
        bool accepted = choose(r, 3) != 0;
        note(r, "answers %d", tendon_radio_answer_pairing(&w->b->radio.radio, peer, accepted, 123456, now));
    }
}

static void sets_agent(world *w) {
    recording *r = w->r;
    tendon_pairing_agent agent = tendon_pairing_agent_accept();
    unsigned which = choose(r, 4);
    if (which == 0) {
        agent = tendon_pairing_agent_passkey(choose(r, 2) * 654321);
    } else if (which == 1) {
        agent = tendon_pairing_agent_ask(on_question, w);
    } else if (which == 2) {
        agent.io = (uint8_t)choose(r, 6);
        agent.ask = on_question;
        agent.context = w;
    }
    agent.key_size_min = (uint8_t)(choose(r, 3) == 0 ? 6 + choose(r, 12) : 0);
    agent.authenticated = choose(r, 4) == 0 || agent.authenticated;
    agent.secure_connections_only = choose(r, 6) == 0;
    note(r, "agent %u: %d", which, noted_status(tendon_radio_set_pairing_agent(&w->b->radio.radio, &agent)));
}

static void answers(world *w) {
    recording *r = w->r;
    tendon_radio *radio = &w->b->radio.radio;
    int i = some_link(w);
    bool accepted = choose(r, 3) != 0;
    note(r, "answer %d: %d", i,
         tendon_radio_answer_pairing(radio, &world_peers[i], accepted, choose(r, 4) == 0 ? 1000000 : 42, fake.now));
}

static void requires_security(world *w) {
    tendon_security level = (tendon_security)choose(w->r, 3);
    note(w->r, "security %d: %d", level, tendon_radio_set_security(&w->b->radio.radio, level));
}

/* A link is open, its device pairs, and the user may be asked. */
static void pairs_with_a_user(world *w) {
    recording *r = w->r;
    int i = some_link(w);
    const tendon_pairing_agent agent = tendon_pairing_agent_ask(on_question, w);
    if (w->ends[i].used && w->ends[i].link.state == TENDON_LINK_OPEN) {
        note(r, "agent: %d", noted_status(tendon_radio_set_pairing_agent(&w->b->radio.radio, &agent)));
        note(r, "pair %d: %d", i, world_pair(w, i));
    }
}

/* ---- the kernel and the controller ---- */

static void kernel_asks(world *w) {
    recording *r = w->r;
    int i = choose(r, 8) == 0 ? (int)choose(r, WORLD_LINKS) : some_link(w);
    const uint8_t more[] = {0x40, 0xE2, 0x01, 0x00, (uint8_t)choose(r, 3)};
    const uint8_t confirm[] = {choose(r, 2) == 0, 0x40, 0xE2, 0x01, 0};
    switch (choose(r, 4)) {
    case 0:
        world_kernel_about(w, TENDON_MANAGEMENT_USER_CONFIRM_REQUEST, i, confirm, 0, sizeof confirm);
        break;
    case 1:
        world_kernel_about(w, TENDON_MANAGEMENT_USER_PASSKEY_REQUEST, i, more, 0, 0);
        break;
    default:
        world_kernel_about(w, TENDON_MANAGEMENT_PASSKEY_NOTIFY, i, more, 0, choose(r, 8) == 0 ? 4 : 5);
        break;
    }
}

static void kernel_tells(world *w) {
    recording *r = w->r;
    int i = (int)choose(r, WORLD_LINKS);
    static const uint8_t statuses[] = {0x00, 0x04, 0x05, 0x07, 0x0A};
    const uint8_t status = statuses[choose(r, sizeof statuses)], reason = (uint8_t)choose(r, 6);
    const uint8_t connected[] = {0, 0, 0, 0, 0, 0};
    switch (choose(r, 4)) {
    case 0:
        world_kernel_about(w, TENDON_MANAGEMENT_AUTHENTICATION_FAILED_EVENT, i, &status, 0, 1);
        break;
    case 1:
        world_kernel_about(w, TENDON_MANAGEMENT_DEVICE_CONNECTED, i, connected, 0, sizeof connected);
        break;
    case 2:
        world_kernel_about(w, TENDON_MANAGEMENT_DEVICE_DISCONNECTED, i, &reason, 0, 1);
        break;
    default:
        world_kernel_about(w, TENDON_MANAGEMENT_CONNECT_FAILED, i, &status, 0, 1);
        break;
    }
}

/* Core Spec Vol 4 Part E 7.7.65.3, .7, .10, .12. */
static void connections_change(world *w) {
    recording *r = w->r;
    uint16_t handle = choose(r, 4) == 0 ? handles[choose(r, 4)] : w->ends[some_link(w)].link.handle;
    const uint8_t status = choose(r, 5) == 0 ? 0x3A : 0, low = (uint8_t)handle, high = (uint8_t)(handle >> 8);
    const uint8_t phy = (uint8_t)choose(r, 5), octets = (uint8_t)(27 + choose(r, 3) * 112);
    const uint8_t update[] = {0x03, status, low, high, (uint8_t)(6 + choose(r, 60)), 0, phy, 0, 0x90, 1};
    const uint8_t length[] = {0x07, low, high, octets, 0, 0x48, 8, 27, 0, 0x48, 1};
    const uint8_t phys[] = {0x0C, status, low, high, phy, (uint8_t)choose(r, 5)};
    const uint8_t rssi[] = {1, 0x05, 0x14, status, low, high, (uint8_t)choose(r, 256)};
    const uint8_t read_phy[] = {1, 0x30, 0x20, status, low, high, phy, 1};
    unsigned cut = choose(r, 8) == 0;
    switch (choose(r, 5)) {
    case 0:
        bluez_event(w->b, TENDON_HCI_LE_META, update, sizeof update - cut);
        break;
    case 1:
        bluez_event(w->b, TENDON_HCI_LE_META, length, sizeof length - cut);
        break;
    case 2:
        bluez_event(w->b, TENDON_HCI_LE_META, phys, sizeof phys - cut);
        break;
    case 3:
        bluez_event(w->b, TENDON_HCI_COMMAND_COMPLETE, rssi, sizeof rssi - cut);
        break;
    default:
        bluez_event(w->b, TENDON_HCI_COMMAND_COMPLETE, read_phy, sizeof read_phy - cut);
        break;
    }
    bluez_read(w->b);
}

void (*const bluez_acts[BLUEZ_ACTS])(world *) = {connects_in_background,
                                                 connects_in_background,
                                                 sets_parameters,
                                                 sets_agent,
                                                 pairs_with_a_user,
                                                 answers,
                                                 requires_security,
                                                 kernel_asks,
                                                 kernel_asks,
                                                 kernel_asks,
                                                 kernel_tells,
                                                 connections_change,
                                                 connections_change};

void bluez_acts_note(world *w) {
    const tendon_bluez_radio *radio = &w->b->radio;
    recording *r = w->r;
    for (int i = TENDON_BLUEZ_ATTEMPTS; i < TENDON_BLUEZ_SLOTS; i++) {
        const tendon_bluez_attempt *a = &radio->attempts[i];
        if (a->link != NULL) {
            note(r, "background %d: %d, parked %d, failure %x, begun %lld, check %lld", i,
                 tendon_bluez_attempt_stage(a), a->parked, a->failure, noted_time(a->begun_at),
                 noted_time(a->check_at));
        }
    }
    for (int i = 0; i < WORLD_ENDS; i++) {
        const tendon_link *link = &w->ends[i].link;
        const tendon_connection_timing *t = &link->timing;
        if (w->ends[i].used) {
            note(r, "timing %d: %d %d %d, phy %d %d, octets %d %d; rssi %d, question %d, secure %d %d", i, t->interval,
                 t->latency, t->timeout, t->tx_phy, t->rx_phy, t->tx_octets, t->rx_octets, link->rssi, link->question,
                 tendon_link_has_security(link, TENDON_SECURITY_ENCRYPTED),
                 tendon_link_has_security(link, TENDON_SECURITY_AUTHENTICATED));
        }
    }
}
