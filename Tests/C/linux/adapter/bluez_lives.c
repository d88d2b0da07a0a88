/* SPDX-License-Identifier: MIT */
#include "bluez_lives.h"
#include "../open_files.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

const tendon_address world_peers[WORLD_LINKS] = {{{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM},
                                                 {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_PUBLIC},
                                                 {{0x4A, 1, 2, 3, 4, 6}, TENDON_ADDRESS_TYPE_RANDOM}};
const uint16_t world_handles[4] = {0x40, 0x41, 0x0EFF, 0xFFFF};
static world the_world;

/* ---- callbacks ---- */

static tendon_link *on_accept(void *context, const tendon_address *peer, uint64_t now) {
    world *w = context;
    note_bytes(w->r, "central", peer->bytes, 6);
    note(w->r, "type %d at %u", peer->type, (unsigned)now);
    for (int i = WORLD_LINKS; i < WORLD_ENDS; i++) {
        if (!w->ends[i].used) {
            tendon_link *link = noted_link_make(&w->ends[i]);
            noted_link_started(&w->ends[i]);
            return link;
        }
    }
    return NULL;
}

static void on_failure(void *context, tendon_status status, uint64_t now) {
    note(context, "failure %d at %u", status, (unsigned)now);
    the_world.ends_reported += the_world.b->radio.power.state == TENDON_BLUEZ_FAILED;
}

/* ---- notes ---- */

static void note_activity(world *w, const char *name, const tendon_bluez_activity *a) {
    note(w->r, "%s %d step %d: %d%d%d, retries %d, unanswered %d, failure %d, retry at %lld", name, a->state, a->step,
         a->requested, a->confirmed, a->cleared, a->retries, a->unanswered, a->failure, noted_time(a->retry_at));
}

static void note_radio(world *w) {
    const tendon_bluez_radio *radio = &w->b->radio;
    recording *r = w->r;
    note(r, "now %u; timer %lld, power %d until %lld, reset until %lld, status %d, reported %d", (unsigned)fake.now,
         noted_time(radio->timer.deadline), radio->power.state, noted_time(radio->power.deadline),
         noted_time(radio->power.reset_until), radio->power.status, radio->power.failure_reported);
    note(r, "queue %d: %d for %04x of %d, refused %d, unanswered %d, retry at %lld, response until %lld",
         radio->command.state, radio->command.request, radio->command.opcode,
         radio->command.activity == &radio->scan.activity, radio->command.refused, radio->command.unanswered,
         noted_time(radio->command.retry_at), noted_time(radio->hci.deadline));
    note_activity(w, "scan", &radio->scan.activity);
    note_activity(w, "advertising", &radio->advertising.activity);
    note(r, "scanning %d, of others %d%d%d %d, command %04x %d, discovery %d%d%d kinds %d; set %d, address %d",
         radio->radio.scanning, radio->kernel.scans, radio->kernel.filters, radio->scan.joined, radio->scan.unseen,
         radio->kernel.opcode, radio->kernel.value, radio->scan.has_scanned,
         radio->kernel.discovery != TENDON_BLUEZ_DISCOVERY_OFF,
         radio->kernel.discovery == TENDON_BLUEZ_DISCOVERY_STOPPING, radio->kernel.kinds, radio->advertising.set_made,
         radio->address_state);
    for (int i = 0; i < TENDON_BLUEZ_ATTEMPTS; i++) {
        const tendon_bluez_attempt *a = &radio->attempts[i];
        if (a->link != NULL) {
            note(r, "attempt %d: %d, old %d, failure %x, begun %lld, check %lld", i, tendon_bluez_attempt_stage(a),
                 a->old_connections, a->failure, noted_time(a->begun_at), noted_time(a->check_at));
        }
    }
    for (int i = 0; i < TENDON_BLUEZ_ENDINGS; i++) {
        if (radio->endings[i].reason != 0) {
            note(r, "%d: %x ended with %x", i, radio->endings[i].handle, radio->endings[i].reason);
        }
    }
    for (int i = 0; i < TENDON_BLUEZ_LEAVING; i++) {
        if (radio->leaving[i].until != 0) {
            note(r, "%d: %x leaves until %lld", i, radio->leaving[i].handle, noted_time(radio->leaving[i].until));
        }
    }
    note(r, "connects until %lld, connections %d; counted %u %u %u %u, %u %u",
         noted_time(radio->kernel.creating == TENDON_BLUEZ_CREATES    ? UINT64_MAX
                    : radio->kernel.creating == TENDON_BLUEZ_EXAMINES ? radio->kernel.examines_until
                                                                      : 0),
         radio->kernel.connections, (unsigned)radio->counters.commands, (unsigned)radio->counters.scan_pauses,
         (unsigned)radio->counters.connect_reissues, (unsigned)radio->counters.unanswered,
         (unsigned)radio->radio.reports, (unsigned)radio->radio.malformed);
}

static void note_packets(world *w, const char *name, int fd) {
    uint8_t packet[1024];
    for (ssize_t length = 0; (length = recv(fd, packet, sizeof packet, MSG_DONTWAIT)) >= 0 && length > 0;) {
        note_bytes(w->r, name, packet, (size_t)length);
    }
}

void world_note(world *w) {
    note_packets(w, "command", w->b->controller);
    note_packets(w, "request", w->b->kernel);
    note_radio(w);
    for (int i = 0; i < WORLD_ENDS; i++) {
        noted_link_note(&w->ends[i]);
        struct timeval limit = {0};
        socklen_t size = sizeof limit;
        (void)getsockopt(w->ends[i].link.source.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &size);
        note(w->r, "lost %u, limit %d", (unsigned)tendon_bluez_link_lost(&w->ends[i].link), (int)limit.tv_sec);
    }
    note(w->r, "connects %d, buffers %u of %d, %u, security %d, listens %d, bonds %d", fake.connects,
         fake.counts[FAKE_FORCE_BUFFER], fake.buffer, fake.counts[FAKE_SET_BUFFER], fake.security_level,
         (int)w->listener.source.interest, (int)w->bonds.count);
    note_bytes(w->r, "bound", fake.bound.l2_bdaddr.b, 6);
    note_bytes(w->r, "target", fake.target.l2_bdaddr.b, 6);
    note_bytes(w->r, "asked", fake.asked_peer.b, 6);
    note(w->r, "types %d %d %d, channels %d %d", fake.bound.l2_bdaddr_type, fake.target.l2_bdaddr_type, fake.asked_type,
         btohs(fake.bound.l2_cid), btohs(fake.target.l2_cid));
}

/* ---- the world ---- */

world *world_open(recording *r, bool extended, const tendon_address *own) {
    world *w = &the_world;
    memset(w, 0, sizeof *w);
    w->r = r;
    w->files = open_descriptors();
    for (int i = 0; i < WORLD_ENDS; i++) {
        noted_link_prepare(&w->ends[i], r, i);
    }
    w->b = bluez_open(extended, own);
    tendon_bonds_init(&w->bonds);
    assert_int_equal(tendon_radio_use_bonds(&w->b->radio.radio, &w->bonds), TENDON_OK);
    w->b->radio.radio.report_context = r;
    w->b->radio.radio.on_report = noted_report;
    w->b->radio.radio.on_failure = on_failure;
    w->b->radio.radio.on_peer_failure = noted_peer_failure;
    w->b->radio.radio.tap = noted_link_tap;
    fake.programs = 0;
    fake.unwatched = true;
    fake.made = 0;
    return w;
}

void world_close(world *w) {
    tendon_radio *radio = &w->b->radio.radio;
    fake.refuse_at = 0;
    for (int i = 0; i < WORLD_ENDS; i++) {
        if (w->ends[i].used) {
            tendon_link_close(&w->ends[i].link);
        }
    }
    world_pass(w, 0);
    if (radio->links != NULL) { /* held while the kernel may be about to connect */
        world_pass(w, 30000);   /* the longest time of the slowest controller */
    }
    world_note(w);
    assert_null(radio->links);
    assert_false(radio->pairing_timer.added);
    assert_int_equal(w->ends_reported, w->b->radio.power.state == TENDON_BLUEZ_FAILED);
    for (int i = 0; i < WORLD_ENDS; i++) {
        noted_link_expect_closed(&w->ends[i]);
    }
    for (int i = 0; i < TENDON_BLUEZ_ATTEMPTS; i++) {
        assert_null(w->b->radio.attempts[i].link);
    }
    tendon_radio_unlisten(radio, &w->listener);
    tendon_radio_close(radio);
    note_packets(w, "command", w->b->controller);
    note_packets(w, "request", w->b->kernel);
    bluez_close(w->b);
    assert_int_equal(open_descriptors(), w->files);
}

void world_pass(world *w, uint64_t ms) {
    uint64_t until = fake.now + ms;
    do { /* a step has one time; deadlines that it finds passed are not waited for */
        assert_int_equal(tendon_loop_step(&w->b->loop, until), TENDON_OK);
    } while (fake.now < until || tendon_loop_deadline(&w->b->loop) <= fake.now);
}

tendon_status world_connect(world *w, int i, uint64_t deadline) {
    return noted_link_connect(&w->ends[i], &w->b->radio.radio, &world_peers[i], deadline);
}

tendon_status world_pair(world *w, int i) {
    return noted_link_pair(&w->ends[i], &w->b->radio.radio, &world_peers[i], fake.now);
}

tendon_status world_listen(world *w) {
    tendon_status status = TENDON_OK;
    if (w->b->radio.radio.listener == NULL) {
        w->listener = (tendon_listener){.context = w, .accept = on_accept};
        status = tendon_radio_listen(&w->b->radio.radio, &w->listener);
    }
    return status;
}

void world_central(world *w) {
    if (w->b->radio.radio.listener == NULL || w->listener.source.interest == 0) {
        return;
    }
    fake.centrals = 1;
    w->listener.source.ready(w->listener.source.context, TENDON_READABLE, fake.now);
    fake.centrals = 0;
}

void world_ready(world *w, int i, uint32_t events) {
    tendon_link *link = &w->ends[i].link;
    bluez_read(w->b); /* the loop serves the radio's sockets first */
    if (w->ends[i].used && link->source.fd >= 0 &&
        (link->source.interest & events || (events & TENDON_HANGUP && link->source.interest != 0))) {
        link->source.ready(link->source.context, events, fake.now);
    }
    bluez_read(w->b);
}

int world_far_end(const world *w, int i) {
    return w->ends[i].used ? fake_far(w->ends[i].link.source.fd) : -1;
}

void world_respond(world *w, uint8_t status) {
    if (w->b->radio.command.opcode != 0) {
        bluez_answer_pending(w->b, status);
    }
}

void world_connected(world *w, int i, uint8_t status, uint8_t role) {
    uint8_t parameters[19] = {TENDON_HCI_LE_CONNECTION_COMPLETE,
                              status,
                              (uint8_t)fake.handle,
                              (uint8_t)(fake.handle >> 8),
                              role,
                              world_peers[i].type == TENDON_ADDRESS_TYPE_RANDOM,
                              [12] = 0x18,
                              [16] = 0x2A};
    tendon_address_to_wire(&world_peers[i], parameters + 6);
    bluez_event(w->b, TENDON_HCI_LE_META, parameters, sizeof parameters);
    bluez_read(w->b);
}

void world_kernel(world *w, uint8_t code, const uint8_t *data, size_t length) {
    uint8_t pdu[64] = {code, 0, 7, 0, (uint8_t)length, 0};
    assert_true(length <= sizeof pdu - 6);
    memcpy(pdu + 6, data, length);
    ssize_t sent = send(w->b->kernel, pdu, 6 + length, MSG_NOSIGNAL);
    assert_int_equal(sent, w->b->radio.management.fd < 0 ? -1 : (ssize_t)(6 + length));
    bluez_read(w->b);
}

void world_kernel_about(world *w, uint8_t code, int i, const uint8_t *data, size_t before, size_t length) {
    uint8_t all[64];
    assert_true(length <= sizeof all - 7);
    memcpy(all, data, before);
    tendon_address_to_wire(&world_peers[i], all + before);
    all[before + 6] = world_peers[i].type == TENDON_ADDRESS_TYPE_RANDOM ? 2 : 1;
    memcpy(all + before + 7, data + before, length - before);
    world_kernel(w, code, all, length + 7);
}

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

/* ---- acts of the owner ---- */

static void connects_in_background(world *w) {
    recording *r = w->r;
    int i = (int)choose(r, WORLD_LINKS);
    fake.handle = world_handles[choose(r, 4)];
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

/* ---- acts of the kernel and the controller ---- */

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
    uint16_t handle = choose(r, 4) == 0 ? world_handles[choose(r, 4)] : w->ends[some_link(w)].link.handle;
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
