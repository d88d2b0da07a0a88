/* SPDX-License-Identifier: MIT */
/* Random lives of the kernel's radio: owners that do anything, a controller, a kernel, peers and other programs that do
 * anything, and system calls that fail. world_close() has the assertions; scripts/compare_radio.py compares the notes
 * of two commits. */
#include "bluez_lives.h"

#include <errno.h>
#include <sys/socket.h>

enum { RUNS = 16, LIVES = 40, STEPS = 130 };

static const uint8_t hci_codes[] = {0,    0x02, 0x04, 0x05, 0x07, 0x08, 0x09, 0x0B, 0x0C, 0x0D,
                                    0x12, 0x13, 0x14, 0x15, 0x16, 0x1F, 0x3A, 0x3C, 0x3D, 0x3E};

static uint8_t code(recording *r, unsigned good) {
    return choose(r, 10) < good ? 0 : hci_codes[choose(r, sizeof hci_codes)];
}

/* A link that exists, if there is one. */
static int some_link(world *w, int count) {
    int first = (int)choose(w->r, (unsigned)count);
    for (int i = 0; i < count; i++) {
        if (w->ends[(first + i) % count].used) {
            return (first + i) % count;
        }
    }
    return first;
}

static bool is_failed(const world *w) {
    return w->b->radio.power.state == TENDON_BLUEZ_FAILED;
}

/* ---- the owner ---- */

static void owner_scans(world *w) {
    recording *r = w->r;
    tendon_radio *radio = &w->b->radio.radio;
    const tendon_scan_parameters parameters = {.active = choose(r, 2) == 0,
                                               .filter_duplicates = choose(r, 2) == 0,
                                               .interval_ms = (uint16_t)(choose(r, 3) * 50),
                                               .window_ms = (uint16_t)(choose(r, 3) * 25)};
    switch (choose(r, 5)) {
    case 0:
        note(r, "scan stop %d", tendon_radio_scan_stop(radio));
        break;
    case 1:
        if (w->pauses > 0) {
            w->pauses--;
            tendon_radio_resume_scan(radio);
        } else {
            w->pauses++;
            tendon_radio_pause_scan(radio);
        }
        note(r, "pauses %d", w->pauses);
        break;
    default:
        note(r, "scan start %d", tendon_radio_scan_start(radio, &parameters));
        break;
    }
}

static void owner_advertises(world *w) {
    recording *r = w->r;
    static const uint8_t data[60] = {2, 1, 6, 56, 0xFF};
    tendon_advertise_parameters parameters = {.data = data, .length = choose(r, 4) == 0 ? 60 : 3};
    parameters.scan_response = data;
    parameters.scan_response_length = choose(r, 2) * 3;
    parameters.interval_ms = (uint16_t)(choose(r, 3) * 30);
    if (choose(r, 3) == 0) {
        note(r, "advertise stop %d", tendon_radio_advertise_stop(&w->b->radio.radio));
    } else {
        note(r, "advertise start %d", tendon_radio_advertise_start(&w->b->radio.radio, &parameters));
    }
}

static void owner_connects(world *w) {
    recording *r = w->r;
    int i = (int)choose(r, WORLD_LINKS);
    fake.handle = world_handles[choose(r, 4)];
    fake.old_connections = choose(r, 8) == 0 ? (int)choose(r, 4) : 0;
    if (!w->ends[i].used) {
        uint64_t deadline = choose(r, 3) == 0 ? UINT64_MAX : fake.now + choose(r, 20000);
        note(r, "connect %d: %d", i, world_connect(w, i, deadline));
    }
}

static void owner_acts_on_link(world *w) {
    recording *r = w->r;
    static const uint8_t pdu[] = {0x52, 3, 0, 7};
    int i = some_link(w, WORLD_ENDS);
    noted_link *end = &w->ends[i];
    end->closes = choose(r, 20) == 0;
    if (!end->used) {
        return;
    }
    switch (choose(r, 10)) {
    case 0:
        tendon_link_close(&end->link);
        note(r, "close %d", i);
        break;
    case 1:
    case 2:
    case 3:
        note(r, "send %d: %d", i, tendon_link_send(&end->link, pdu, 1 + choose(r, sizeof pdu)));
        break;
    default:
        if (i < WORLD_LINKS) {
            note(r, "pair %d: %d", i, world_pair(w, i));
        }
        break;
    }
}

static void owner_pairs(world *w) {
    recording *r = w->r;
    tendon_radio *radio = &w->b->radio.radio;
    const tendon_pairing_service *service = tendon_radio_pairing(radio);
    const tendon_address *peer = &world_peers[choose(r, WORLD_LINKS)];
    const tendon_pairing_policy policy = {.restricted = choose(r, 3) == 0,
                                          .allowed = world_peers,
                                          .allowed_count = choose(r, 3),
                                          .window_until = choose(r, 2) == 0 ? 0 : fake.now + choose(r, 3000)};
    switch (choose(r, 6)) {
    case 0:
        service->cancel(service->context, peer);
        note(r, "cancelled");
        break;
    case 1:
        note(r, "forget %d", tendon_radio_forget(radio, peer));
        break;
    case 2:
        if (choose(r, 4) == 0) {
            note(r, "forget all %d", tendon_radio_forget_all(radio));
        }
        break;
    case 3:
        note(r, "pairable %d", tendon_radio_set_pairable(radio, choose(r, 2) == 0));
        break;
    case 4:
        tendon_radio_set_pairing_policy(radio, &policy);
        break;
    default:
        note(r, "bonded %d", service->bonded(service->context, peer));
        break;
    }
}

static void owner_listens(world *w) {
    if (choose(w->r, 4) == 0) {
        tendon_radio_unlisten(&w->b->radio.radio, &w->listener);
    } else {
        note(w->r, "listen %d", world_listen(w));
    }
}

/* ---- the controller, the kernel, the peers, other programs ---- */

static void controller_acts(world *w) {
    recording *r = w->r;
    int i = some_link(w, WORLD_LINKS);
    switch (choose(r, 12)) {
    case 0: {
        fake.handle = world_handles[choose(r, 4)];
        uint8_t status = code(r, 5);
        world_connected(w, i, status, choose(r, 4) == 0);
        break;
    }
    case 1: {
        uint16_t handle = world_handles[choose(r, 4)];
        const uint8_t parameters[] = {code(r, 8), (uint8_t)handle, (uint8_t)(handle >> 8), code(r, 0)};
        bluez_event(w->b, TENDON_HCI_DISCONNECTION_COMPLETE, parameters, sizeof parameters);
        bluez_read(w->b);
        break;
    }
    case 2: {
        uint16_t handle = world_handles[choose(r, 4)];
        const uint8_t parameters[] = {code(r, 8), (uint8_t)handle, (uint8_t)(handle >> 8), choose(r, 3) != 0};
        bluez_event(w->b, TENDON_HCI_ENCRYPTION_CHANGE, parameters, sizeof parameters);
        bluez_read(w->b);
        break;
    }
    case 3:
        if (choose(r, 6) == 0) {
            bluez_hardware_error(w->b);
        }
        break;
    case 4: { /* legacy report; Core Spec Vol 4 Part E 7.7.65.2 */
        uint8_t report[] = {2, 1, (uint8_t)choose(r, 5),  (uint8_t)choose(r, 2), 1, 2, 3, 4, 5, 0xC0, 3, 2,
                            1, 6, (uint8_t)choose(r, 256)};
        bluez_event(w->b, TENDON_HCI_LE_META, report, sizeof report - (choose(r, 8) == 0));
        bluez_read(w->b);
        break;
    }
    case 5: { /* extended report; 7.7.65.13 */
        uint8_t report[2 + 24 + 3] = {0x0D, 1, 0, 0, (uint8_t)choose(r, 2), 1, 2, 3, 4, 5, 0xC0, 1, 0, 1, 0x7F, 0xC4};
        static const uint8_t types[] = {0x13, 0x1B, 0x01, 0x21, 0x41};
        report[2] = types[choose(r, 5)];
        report[25] = 3;
        report[26] = 2;
        report[27] = 1;
        report[28] = (uint8_t)choose(r, 256);
        bluez_event(w->b, TENDON_HCI_LE_META, report, sizeof report - (choose(r, 8) == 0));
        bluez_read(w->b);
        break;
    }
    case 6: { /* Command Status, or a response that is empty or another command's */
        uint16_t opcode = choose(r, 3) == 0 ? 0x200D : w->b->radio.command.opcode;
        const uint8_t parameters[] = {code(r, 3), 1, (uint8_t)opcode, (uint8_t)(opcode >> 8)};
        bool complete = choose(r, 3) == 0;
        bluez_event(w->b, complete ? TENDON_HCI_COMMAND_COMPLETE : TENDON_HCI_COMMAND_STATUS, parameters + complete,
                    sizeof parameters - complete);
        bluez_read(w->b);
        break;
    }
    default:
        world_respond(w, code(r, 9));
        break;
    }
}

/* As most controllers do most of the time. */
static void controller_accepts_all(world *w) {
    for (unsigned i = 0; i < 8; i++) {
        world_respond(w, 0);
    }
}

static void kernel_acts(world *w) {
    recording *r = w->r;
    int i = choose(r, 4) == 0 ? (int)choose(r, WORLD_LINKS) : some_link(w, WORLD_LINKS);
    uint8_t key[31] = {1, (uint8_t)choose(r, 4), 1, 16};
    static const uint8_t results[] = {0, 0, 0, 2, 3, 4, 5, 8, 0x0A, 0x0A, 0x0B, 0x0E, 0x0F, 0x10, 0x13, 0x13};
    switch (choose(r, 9)) {
    case 0:
        if (w->b->radio.power.state != TENDON_BLUEZ_POWERED || choose(r, 16) == 0) {
            bluez_power(w->b, choose(r, 2) == 0);
        }
        break;
    case 1:
        bluez_discovering(w->b, choose(r, 2) == 0);
        bluez_read(w->b);
        break;
    case 2: {
        const uint8_t head[] = {TENDON_MANAGEMENT_STOP_DISCOVERY, 0, results[choose(r, sizeof results)], 6};
        world_kernel(w, 1 + (uint8_t)choose(r, 2), head, sizeof head);
        break;
    }
    case 3:
    case 4: { /* Command Complete of Pair Device, or Command Status, which has no peer */
        const uint8_t head[] = {TENDON_MANAGEMENT_PAIR_DEVICE, 0, results[choose(r, sizeof results)]};
        if (choose(r, 6) == 0) {
            world_kernel(w, TENDON_MANAGEMENT_COMMAND_STATUS, head, 3);
        } else {
            world_kernel_about(w, TENDON_MANAGEMENT_COMMAND_COMPLETE, i, head, 3, 3);
        }
        break;
    }
    case 5:
    case 6:
        w->bonds.status = choose(r, 8) == 0 ? TENDON_ERROR_MALFORMED : TENDON_OK; /* the store takes no more */
        key[0] = choose(r, 6) != 0;
        memset(key + 14 + 1, (int)choose(r, 256), 16);
        world_kernel_about(w, TENDON_MANAGEMENT_NEW_LONG_TERM_KEY, i, key, 1, sizeof key - (choose(r, 8) == 0));
        break;
    case 7: {
        uint8_t identity[30] = {choose(r, 2) == 0};
        tendon_address_to_wire(&world_peers[choose(r, WORLD_LINKS)], identity + 1);
        world_kernel_about(w, TENDON_MANAGEMENT_NEW_IDENTITY_KEY, i, identity, 7, choose(r, 8) == 0 ? 7 : 23);
        break;
    }
    default: {
        const uint8_t confirm[] = {choose(r, 3) != 0, 1, 2, 3, 4};
        world_kernel_about(w, TENDON_MANAGEMENT_USER_CONFIRM_REQUEST, i, confirm, 0, choose(r, 8) == 0 ? 0 : 5);
        break;
    }
    }
}

static void peer_acts(world *w) {
    recording *r = w->r;
    static const uint8_t pdu[] = {0x1B, 3, 0, 1, 2, 3};
    int i = some_link(w, WORLD_ENDS), fd = world_far_end(w, i);
    static const int results[] = {ETIMEDOUT, ECONNREFUSED, ENOTCONN, ENOSYS, EACCES, EALREADY, EMLINK, EHOSTUNREACH};
    const uint8_t state = w->ends[i].link.state;
    bool connecting = state != TENDON_LINK_CLOSED && state != TENDON_LINK_OPEN && state != TENDON_LINK_ENDING;
    switch (connecting ? choose(r, 3) : choose(r, 8)) {
    case 0:
        fake.refuse[FAKE_SOCKET_ERROR] = (fake_refusal){.number = choose(r, 5) == 0 ? results[choose(r, 8)] : 0};
        world_ready(w, i, TENDON_WRITABLE);
        fake.refuse[FAKE_SOCKET_ERROR].number = 0;
        break;
    case 1:
        if (fd >= 0 && choose(r, 3) == 0) {
            shutdown(fd, SHUT_RDWR);
            world_ready(w, i, TENDON_READABLE | TENDON_HANGUP);
        }
        break;
    case 2:
        world_central(w);
        break;
    case 3:
        fake.security_level = (uint8_t)choose(r, 4);
        break;
    default:
        if (fd >= 0) {
            (void)send(fd, pdu, choose(r, sizeof pdu + 1), MSG_DONTWAIT | MSG_NOSIGNAL);
        }
        world_ready(w, i, choose(r, 2) == 0 ? TENDON_READABLE : TENDON_READABLE | TENDON_WRITABLE);
        break;
    }
}

static void others_act(world *w) {
    recording *r = w->r;
    const tendon_address *peer = &world_peers[choose(r, WORLD_LINKS)];
    static const uint16_t opcodes[] = {TENDON_HCI_LE_SET_SCAN_ENABLE, TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE,
                                       TENDON_HCI_LE_SET_SCAN_PARAMETERS, TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS};
    uint8_t connect[4 + 12] = {HCI_COMMAND_PKT, 0x0D, 0x20, 12};
    uint16_t opcode = opcodes[choose(r, 4)];
    switch (choose(r, 6)) {
    case 0:
        bluez_other_sends(w->b, opcode, (uint8_t)choose(r, 2));
        break;
    case 1:
        bluez_complete(w->b, opcode, code(r, 7));
        bluez_read(w->b);
        break;
    case 2:
    case 3: /* the kernel connects */
        connect[9] = peer->type == TENDON_ADDRESS_TYPE_RANDOM;
        tendon_address_to_wire(peer, connect + 10);
        if (choose(r, 3) == 0) {
            connect[1] = 0x43;
            memmove(connect + 6, connect + 9, 7);
        }
        (void)send(w->b->controller, connect, sizeof connect, 0);
        bluez_read(w->b);
        break;
    case 4:
        fake.programs = (int)choose(r, 3);
        fake.connection.handle = world_handles[choose(r, 3)];
        fake.connection.state = choose(r, 2) == 0 ? 5 : 1; /* BT_CONNECT, BT_CONNECTED */
        fake.connection.link_mode = choose(r, 2) == 0 ? HCI_LM_ENCRYPT : 0;
        fake.drops = choose(r, 3);
        break;
    default:
        bluez_other_command(w->b, opcode, (uint8_t)choose(r, 2));
        break;
    }
}

/* Anything: cut, unknown, wrong. */
static void sockets_have_garbage(world *w) {
    recording *r = w->r;
    static const uint8_t events[] = {0x05, 0x08, 0x0E, 0x0F, 0x3E, 0x3E, 0x13, 0x30};
    static const uint8_t management[] = {0x01, 0x02, 0x06, 0x0A, 0x0F, 0x13, 0x18, 0x0B};
    uint8_t bytes[24];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)choose(r, choose(r, 2) == 0 ? 3 : 256);
    }
    bool whole = choose(r, 2) == 0;
    if (choose(r, 2) == 0) {
        bytes[0] = HCI_EVENT_PKT;
        bytes[1] = events[choose(r, sizeof events)];
        bytes[2] = whole ? sizeof bytes - 3 : (uint8_t)choose(r, 24);
        if (bytes[1] == 0x3E) {
            bytes[3] = (uint8_t)choose(r, 16);
        }
        (void)send(w->b->controller, bytes, whole ? sizeof bytes : choose(r, sizeof bytes) + 1, 0);
        bluez_read(w->b);
    } else {
        bytes[0] = management[choose(r, sizeof management)];
        bytes[1] = 0;
        bytes[2] = 7;
        bytes[3] = 0;
        bytes[4] = whole ? sizeof bytes - 6 : (uint8_t)choose(r, 20);
        bytes[5] = 0;
        (void)send(w->b->kernel, bytes, whole ? sizeof bytes : choose(r, sizeof bytes) + 1, 0);
        bluez_read(w->b);
    }
}

static void a_call_will_fail(world *w) {
    static const int numbers[] = {EINTR,        EAGAIN, ENETDOWN, ENETDOWN, ENOMEM,       ENOBUFS,  EMFILE,    EBUSY,
                                  EHOSTUNREACH, EACCES, EPIPE,    EMSGSIZE, ECONNABORTED, ENOTCONN, EADDRINUSE};
    if (choose(w->r, 3) != 0) {
        return;
    }
    fake.refuse_at = fake.made + 1 + choose(w->r, 4);
    fake.refuse_number = numbers[choose(w->r, sizeof numbers / sizeof numbers[0])];
    note(w->r, "a call fails");
}

static void time_passes(world *w) {
    static const uint16_t times[] = {0,   1,   19,  20,  30,  49,   50,   100,  200,
                                     249, 250, 300, 499, 500, 1000, 2000, 3000, 5000};
    world_pass(w, choose(w->r, 12) == 0 ? 10000 : times[choose(w->r, sizeof times / sizeof times[0])]);
}

static void step(world *w) {
    static void (*const actors[])(world *) = {controller_accepts_all,
                                              controller_accepts_all,
                                              owner_scans,
                                              owner_scans,
                                              owner_advertises,
                                              owner_connects,
                                              owner_connects,
                                              owner_acts_on_link,
                                              owner_acts_on_link,
                                              owner_pairs,
                                              owner_listens,
                                              peer_acts,
                                              peer_acts,
                                              controller_acts,
                                              controller_acts,
                                              controller_acts,
                                              controller_acts,
                                              controller_acts,
                                              kernel_acts,
                                              kernel_acts,
                                              peer_acts,
                                              peer_acts,
                                              peer_acts,
                                              others_act,
                                              time_passes,
                                              time_passes,
                                              a_call_will_fail,
                                              sockets_have_garbage};
    enum { ACTORS = sizeof actors / sizeof actors[0] };
    unsigned actor = choose(w->r, ACTORS + BLUEZ_ACTS);
    note(w->r, "actor %u", actor);
    (actor < ACTORS ? actors[actor] : bluez_acts[actor - ACTORS])(w);
    world_pass(w, 0); /* the loop is idle before the next one acts */
    world_note(w);
    bluez_acts_note(w);
}

static void live(recording *r, unsigned number) {
    r->d = (dice){0x9E3779B97F4A7C15u * (number + 1u)}; /* whatever the lives before it were like */
    world *w = world_open(r, number % 2 != 0, number / 2 % 2 != 0 ? &bluez_random_address : &bluez_public_address);
    w->b->radio.unprivileged = number % 16 == 15;
    for (int i = 0; i < STEPS && !(is_failed(w) && i > STEPS / 2); i++) {
        step(w);
    }
    world_close(w);
}

static void play(recording *r, unsigned number) {
    play_lives(r, number, LIVES, live);
}

static void whatever_happens_all_of_it_ends(void **state) {
    (void)state;
    play_recordings(RUNS, play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_happens_all_of_it_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
