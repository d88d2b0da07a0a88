/* SPDX-License-Identifier: MIT */
#include "bluez_world.h"
#include "open_files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

enum { SOCKETS = 1024 };

const tendon_address world_peers[WORLD_LINKS] = {{{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM},
                                                 {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_PUBLIC},
                                                 {{0x4A, 1, 2, 3, 4, 6}, TENDON_ADDRESS_TYPE_RANDOM}};
static world the_world;
static int far_ends[SOCKETS]; /* of the Bluetooth socket with this descriptor; 0: none */
void (*world_opens_socket)(int far_end);

/* ---- in the place of the C library ---- */

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_MONOTONIC) {
        return (int)syscall(SYS_clock_gettime, clock, time);
    }
    time->tv_sec = (time_t)(the_world.now / 1000);
    time->tv_nsec = (long)(the_world.now % 1000) * 1000000;
    return 0;
}

/* Time passes while nothing comes. */
int poll(struct pollfd *fds, nfds_t count, int timeout) {
    struct timespec none = {0};
    if (bluez_call_refused()) {
        return -1;
    }
    int ready = (int)syscall(SYS_ppoll, fds, count, &none, NULL, 0);
    the_world.now += ready == 0 && timeout > 0 ? (uint64_t)timeout : 0;
    return ready;
}

/* Sockets are read when the test says so. */
int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout) {
    (void)epoll;
    (void)events;
    (void)count;
    the_world.now += timeout > 0 ? (uint64_t)timeout : 0;
    return 0;
}

ssize_t recv(int fd, void *bytes, size_t length, int flags) {
    bool ours = fd != the_world.b->controller && fd != the_world.b->kernel;
    return ours && bluez_call_refused() ? -1 : syscall(SYS_recvfrom, fd, bytes, length, flags, NULL, NULL);
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    return bluez_call_refused() ? -1 : (int)syscall(SYS_recvmmsg, fd, messages, count, flags, timeout);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    return bluez_call_refused() ? -1 : syscall(SYS_sendmsg, fd, message, flags);
}

/* Not of the test's own packets. */
ssize_t send(int fd, const void *bytes, size_t length, int flags) {
    if (fd == the_world.b->radio.management.fd && bluez_call_refused()) {
        return -1;
    }
    return syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
}

int socket(int domain, int type, int protocol) {
    int pair[2];
    if (domain != AF_BLUETOOTH) {
        return (int)syscall(SYS_socket, domain, type, protocol);
    }
    if (bluez_call_refused()) {
        return -1;
    }
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    assert_true(pair[0] < SOCKETS);
    if (far_ends[pair[0]] > 0) {
        close(far_ends[pair[0]]);
    }
    far_ends[pair[0]] = pair[1];
    if (world_opens_socket != NULL) {
        world_opens_socket(pair[1]);
    }
    return calls.fd = pair[0];
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    if (strcmp(path, "/proc/self/net/hci") != 0) {
        return bluez_open_file(path, flags, mode);
    }
    if (bluez_call_refused()) {
        return -1;
    }
    static const char text[] = "sk RefCnt Rmem Wmem User Inode Parent\n0 2 0 0 0 1 0\n0 2 0 0 0 2 0\n";
    static const size_t lengths[] = {38, 38 + 15, sizeof text - 1};
    int fd = memfd_create("hci", MFD_CLOEXEC);
    assert_int_equal(write(fd, text, lengths[the_world.others]), (ssize_t)lengths[the_world.others]);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

int sysinfo(struct sysinfo *info) {
    *info = (struct sysinfo){.totalram = 16384, .mem_unit = 4096};
    return bluez_call_refused() ? -1 : 0;
}

int hci_devinfo(int index, struct hci_dev_info *info) {
    (void)index;
    memset(info, 0, sizeof *info);
    errno = ENODEV;
    return the_world.removed ? -1 : 0;
}

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
    note(r, "now %u; timer %lld, power %d until %lld, reset until %lld, status %d, reported %d", (unsigned)w->now,
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
        note(w->r, "lost %u", (unsigned)tendon_bluez_link_lost(&w->ends[i].link));
    }
    note(w->r, "connects %d, buffers %d of %d by %d, limit %d, security %d, listens %d, bonds %d", calls.connects,
         calls.buffers_set, calls.buffer, calls.buffer_option == SO_RCVBUF, (int)calls.send_limit.tv_sec,
         calls.security_level, (int)w->listener.source.interest, (int)w->bonds.count);
    note_bytes(w->r, "bound", calls.bound.l2_bdaddr.b, 6);
    note_bytes(w->r, "target", calls.target.l2_bdaddr.b, 6);
    note_bytes(w->r, "asked", calls.asked_peer.b, 6);
    note(w->r, "types %d %d %d, channels %d %d", calls.bound.l2_bdaddr_type, calls.target.l2_bdaddr_type,
         calls.asked_type, btohs(calls.bound.l2_cid), btohs(calls.target.l2_cid));
}

/* ---- the world ---- */

world *world_open(recording *r, bool extended, const tendon_address *own) {
    world *w = &the_world;
    memset(w, 0, sizeof *w);
    w->r = r;
    w->now = 100000;
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
    calls.made = 0;
    return w;
}

void world_close(world *w) {
    tendon_radio *radio = &w->b->radio.radio;
    calls.refuse_at = 0;
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
    calls.central = -1;
    for (int fd = 0; fd < SOCKETS; fd++) {
        if (far_ends[fd] > 0) {
            close(far_ends[fd]);
            far_ends[fd] = 0;
        }
    }
    assert_int_equal(open_descriptors(), w->files);
}

void world_pass(world *w, uint64_t ms) {
    uint64_t until = w->now + ms;
    do { /* a step has one time; deadlines that it finds passed are not waited for */
        assert_int_equal(tendon_loop_step(&w->b->loop, until), TENDON_OK);
    } while (w->now < until || tendon_loop_deadline(&w->b->loop) <= w->now);
}

tendon_status world_connect(world *w, int i, uint64_t deadline) {
    return noted_link_connect(&w->ends[i], &w->b->radio.radio, &world_peers[i], deadline);
}

tendon_status world_pair(world *w, int i) {
    return noted_link_pair(&w->ends[i], &w->b->radio.radio, &world_peers[i], w->now);
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
    calls.centrals = 1;
    calls.central = -1;
    w->listener.source.ready(w->listener.source.context, TENDON_READABLE, w->now);
    calls.centrals = 0;
    if (calls.central >= 0) {
        for (int i = WORLD_LINKS; i < WORLD_ENDS; i++) {
            int fd = w->ends[i].link.source.fd;
            if (w->ends[i].used && fd >= 0 && far_ends[fd] == 0) {
                far_ends[fd] = calls.central;
                calls.central = -1;
            }
        }
    }
    if (calls.central >= 0) {
        close(calls.central);
        calls.central = -1;
    }
}

void world_ready(world *w, int i, uint32_t events) {
    tendon_link *link = &w->ends[i].link;
    bluez_read(w->b); /* the loop serves the radio's sockets first */
    if (w->ends[i].used && link->source.fd >= 0 &&
        (link->source.interest & events || (events & TENDON_HANGUP && link->source.interest != 0))) {
        link->source.ready(link->source.context, events, w->now);
    }
    bluez_read(w->b);
}

int world_far_end(const world *w, int i) {
    return w->ends[i].used ? world_far_end_of(w->ends[i].link.source.fd) : -1;
}

int world_far_end_of(int fd) {
    return fd >= 0 && far_ends[fd] > 0 ? far_ends[fd] : -1;
}

void world_respond(world *w, uint8_t status) {
    if (w->b->radio.command.opcode != 0) {
        bluez_answer_pending(w->b, status);
    }
}

void world_connected(world *w, int i, uint8_t status, uint8_t role) {
    uint8_t parameters[19] = {TENDON_HCI_LE_CONNECTION_COMPLETE,
                              status,
                              (uint8_t)calls.handle,
                              (uint8_t)(calls.handle >> 8),
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
