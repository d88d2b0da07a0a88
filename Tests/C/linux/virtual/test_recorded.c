/* SPDX-License-Identifier: MIT */
/*
 * Recorded runs of the virtual radio in simulated time: two radios of one directory that scan, advertise, connect,
 * transfer, pair and disconnect in any order, and system calls that fail. Nothing is left, and owners are notified
 * exactly once.
 */
#include "../fake_clock.h"
#include "../noted_link.h"
#include "../open_files.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { RUNS = 16, LIVES = 30, STEPS = 100, OUTGOING = 3, ACCEPTED = 3, ENDS = OUTGOING + ACCEPTED };

static const tendon_address addresses[2] = {{{0xC1, 2, 3, 4, 5, 0xD0}, TENDON_ADDRESS_TYPE_RANDOM},
                                            {{0xC1, 2, 3, 4, 5, 0xCE}, TENDON_ADDRESS_TYPE_PUBLIC}};

typedef struct place {
    recording *r;
    char directory[64];
    tendon_loop loop;
    tendon_virtual_radio device, central;
    tendon_bonds bonds[2];
    tendon_listener listener;
    noted_link ends[ENDS];
    unsigned made, refuse_at; /**< system calls so far, and the one that fails */
    int number;               /**< its errno */
    uint8_t key;
} place;

static place p;

/* ---- in the place of the C library ---- */

static bool refused(void) {
    p.made++;
    errno = p.number;
    return p.made == p.refuse_at;
}

int socket(int domain, int type, int protocol) {
    return refused() ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}

int bind(int fd, __CONST_SOCKADDR_ARG name, socklen_t length) {
    return refused() ? -1 : (int)syscall(SYS_bind, fd, name.__sockaddr__, length);
}

int listen(int fd, int backlog) {
    return refused() ? -1 : (int)syscall(SYS_listen, fd, backlog);
}

int connect(int fd, __CONST_SOCKADDR_ARG name, socklen_t length) {
    return refused() ? -1 : (int)syscall(SYS_connect, fd, name.__sockaddr__, length);
}

int accept4(int fd, __SOCKADDR_ARG name, socklen_t *length, int flags) {
    return refused() ? -1 : (int)syscall(SYS_accept4, fd, name.__sockaddr__, length, flags);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
    return operation != EPOLL_CTL_DEL && refused() ? -1 : (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}

ssize_t recv(int fd, void *bytes, size_t length, int flags) {
    return refused() ? -1 : syscall(SYS_recvfrom, fd, bytes, length, flags, NULL, NULL);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    return refused() ? -1 : syscall(SYS_recvmsg, fd, message, flags);
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    return refused() ? -1 : (int)syscall(SYS_recvmmsg, fd, messages, count, flags, timeout);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    return refused() ? -1 : syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t sendto(int fd, const void *bytes, size_t length, int flags, __CONST_SOCKADDR_ARG name, socklen_t size) {
    return refused() ? -1 : syscall(SYS_sendto, fd, bytes, length, flags, name.__sockaddr__, size);
}

ssize_t getrandom(void *out, size_t length, unsigned flags) {
    (void)flags;
    if (refused()) {
        return -1;
    }
    memset(out, ++p.key, length);
    return (ssize_t)length;
}

/* ---- the two radios ---- */

static tendon_link *on_accept(void *context, const tendon_address *peer, uint64_t now) {
    (void)context;
    note_bytes(p.r, "central", peer->bytes, 6);
    note(p.r, "type %d at %u", peer->type, (unsigned)now);
    for (int i = OUTGOING; i < ENDS; i++) {
        if (!p.ends[i].used) {
            tendon_link *link = noted_link_make(&p.ends[i]);
            noted_link_started(&p.ends[i]);
            return link;
        }
    }
    return NULL;
}

static void open_radio(tendon_virtual_radio *radio, int which) {
    assert_int_equal(tendon_virtual_radio_open(radio, &p.loop, p.directory, &addresses[which]), TENDON_OK);
    tendon_bonds_init(&p.bonds[which]);
    assert_int_equal(tendon_radio_use_bonds(&radio->radio, &p.bonds[which]), TENDON_OK);
    radio->radio.report_context = p.r;
    radio->radio.on_report = noted_report;
    radio->radio.on_peer_failure = noted_peer_failure;
    radio->radio.tap = noted_link_tap;
}

static void pass(uint64_t ms) {
    uint64_t until = fake_clock_ms + ms;
    for (int idle = 0; idle < 2;
         idle = fake_clock_ms < until || tendon_loop_deadline(&p.loop) <= fake_clock_ms ? 0 : idle + 1) {
        assert_int_equal(tendon_loop_step(&p.loop, until), TENDON_OK);
    }
}

static void note_radio(const char *name, const tendon_virtual_radio *radio) {
    note(p.r, "%s: %d %u %u, links %d, duplicates %u, interval %u, due %lld, open %d%d, pairing until %lld, bonds %d",
         name, radio->radio.scanning, (unsigned)radio->radio.reports, (unsigned)radio->radio.malformed,
         radio->radio.links != NULL, (unsigned)radio->seen_count, (unsigned)radio->interval_ms,
         noted_time(radio->advertise_source.deadline), radio->advertise_fd >= 0, radio->scan_source.fd >= 0,
         radio->radio.pairing_timer.added ? noted_time(radio->radio.pairing_timer.deadline) : -2,
         (int)radio->radio.bonds->count);
}

static void note_all(void) {
    note(p.r, "now %u, listens %d %d until %lld", (unsigned)fake_clock_ms, p.device.radio.listener != NULL,
         (int)p.listener.source.interest, noted_time(p.listener.source.deadline));
    note_radio("device", &p.device);
    note_radio("central", &p.central);
    for (int i = 0; i < ENDS; i++) {
        noted_link_note(&p.ends[i]);
    }
}

static int some_link(int count) {
    int first = (int)choose(p.r, (unsigned)count);
    for (int i = 0; i < count; i++) {
        if (p.ends[(first + i) % count].used) {
            return (first + i) % count;
        }
    }
    return first;
}

/* ---- what they do ---- */

static void scans(void) {
    const tendon_scan_parameters parameters = {.active = choose(p.r, 2) == 0, .filter_duplicates = choose(p.r, 2) == 0};
    if (choose(p.r, 4) == 0) {
        note(p.r, "scan stop %d", tendon_radio_scan_stop(&p.central.radio));
    } else {
        note(p.r, "scan start %d", noted_status(tendon_radio_scan_start(&p.central.radio, &parameters)));
    }
}

static void advertises(void) {
    static const uint8_t data[80] = {2, 1, 6, 76, 0xFF};
    tendon_virtual_radio *radio = choose(p.r, 4) == 0 ? &p.central : &p.device;
    tendon_advertise_parameters parameters = {.data = data, .length = choose(p.r, 4) == 0 ? 80 : 3};
    parameters.scan_response = data;
    parameters.scan_response_length = choose(p.r, 3) * 3;
    parameters.interval_ms = (uint16_t)(choose(p.r, 3) * 30);
    if (choose(p.r, 3) == 0) {
        note(p.r, "advertise stop %d", tendon_radio_advertise_stop(&radio->radio));
    } else {
        note(p.r, "advertise start %d", noted_status(tendon_radio_advertise_start(&radio->radio, &parameters)));
    }
}

static void connects(void) {
    int i = (int)choose(p.r, OUTGOING);
    if (!p.ends[i].used) {
        uint64_t deadline = choose(p.r, 3) == 0 ? UINT64_MAX : fake_clock_ms + choose(p.r, 300);
        note(p.r, "connect %d: %d", i,
             noted_status(noted_link_connect(&p.ends[i], &p.central.radio, &addresses[0], deadline)));
    }
}

static void listens(void) {
    if (choose(p.r, 5) == 0) {
        tendon_radio_unlisten(&p.device.radio, &p.listener);
    } else if (p.device.radio.listener == NULL) {
        p.listener = (tendon_listener){.accept = on_accept};
        note(p.r, "listen %d", noted_status(tendon_radio_listen(&p.device.radio, &p.listener)));
    }
}

static void transfers(void) {
    static const uint8_t pdu[TENDON_ATT_MTU_MAX + 1] = {0x52, 3, 0, 7};
    int i = some_link(ENDS);
    p.ends[i].closes = choose(p.r, 20) == 0;
    p.ends[i].link.batch = choose(p.r, 4);
    for (unsigned count = p.ends[i].used ? choose(p.r, 6) : 0; count > 0 && p.ends[i].used; count--) {
        size_t length = choose(p.r, 16) == 0 ? TENDON_ATT_MTU_MAX + choose(p.r, 2) : choose(p.r, 5);
        note(p.r, "send %d: %d", i, noted_status(tendon_link_send(&p.ends[i].link, pdu, length)));
    }
}

static void closes(void) {
    int i = some_link(ENDS);
    if (p.ends[i].used) {
        tendon_link_close(&p.ends[i].link);
        note(p.r, "close %d", i);
    }
}

static void pairs(void) {
    int i = some_link(OUTGOING);
    if (p.ends[i].used) {
        note(p.r, "pair %d: %d", i,
             noted_status(noted_link_pair(&p.ends[i], &p.central.radio, &addresses[0], fake_clock_ms)));
    }
}

static void changes_pairing(void) {
    tendon_radio *device = &p.device.radio, *central = &p.central.radio;
    const tendon_pairing_service *service = tendon_radio_pairing(central);
    const tendon_pairing_policy policy = {.restricted = choose(p.r, 4) == 0,
                                          .allowed = addresses,
                                          .allowed_count = choose(p.r, 2),
                                          .window_until = choose(p.r, 2) == 0 ? 0 : fake_clock_ms + choose(p.r, 300)};
    switch (choose(p.r, 7)) {
    case 0:
        service->cancel(service->context, &addresses[0]);
        break;
    case 1:
        note(p.r, "forget %d", tendon_radio_forget(central, &addresses[0]));
        break;
    case 2:
        note(p.r, "forget all %d", tendon_radio_forget_all(device));
        break;
    case 3:
        tendon_radio_set_pairing_policy(central, &policy);
        break;
    case 4:
        p.bonds[choose(p.r, 2)].status = choose(p.r, 2) == 0 ? TENDON_ERROR_MALFORMED : TENDON_OK;
        break;
    default:
        note(p.r, "pairable %d", tendon_radio_set_pairable(device, choose(p.r, 3) != 0));
        break;
    }
}

/* A message of the other process that it must not send: unknown, cut, too long, of the other role. */
static void misbehaves(void) {
    int i = some_link(ENDS);
    uint8_t message[19] = {(uint8_t)choose(p.r, 3), (uint8_t)choose(p.r, 8)};
    if (p.ends[i].used && p.ends[i].link.source.fd >= 0 && p.ends[i].link.state == TENDON_LINK_OPEN) {
        size_t length = choose(p.r, 2) == 0 ? choose(p.r, sizeof message + 1) : 2 + 16 * choose(p.r, 2);
        (void)syscall(SYS_sendto, p.ends[i].link.source.fd, message, length, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
    }
}

/* A datagram that is no advertisement, or one of an unknown radio. */
static void sends_datagram(void) {
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    uint8_t datagram[20] = {'T', 'A', 1, 0xC0, 1, 2, 3, 4, 5, 1, 3, 0, 2, 1, 6, 2, 0, 1, 9};
    if (p.central.scan_source.fd < 0) {
        return;
    }
    if (choose(p.r, 2) == 0) {
        datagram[choose(p.r, sizeof datagram)] ^= (uint8_t)(1 + choose(p.r, 3));
    }
    size_t length = sizeof datagram - 1 - (choose(p.r, 3) == 0 ? choose(p.r, 20) : 0);
    snprintf(path.sun_path, sizeof path.sun_path, "%.60s/%.40s", p.directory, p.central.scan_name);
    int fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    (void)syscall(SYS_sendto, fd, datagram, length, MSG_DONTWAIT, (struct sockaddr *)&path, sizeof path);
    close(fd);
}

static void a_call_will_fail(void) {
    static const int numbers[] = {EINTR, EAGAIN, ENOMEM, ENOBUFS, EMFILE, EACCES, EPIPE, EIO, ECONNABORTED};
    p.refuse_at = p.made + 1 + choose(p.r, 6);
    p.number = numbers[choose(p.r, sizeof numbers / sizeof numbers[0])];
}

static void time_passes(void) {
    static const uint16_t times[] = {0, 1, 19, 20, 21, 30, 60, 99, 100, 101, 300, 499, 500, 1000};
    pass(choose(p.r, 30) == 0 ? 35000 : times[choose(p.r, sizeof times / sizeof times[0])]);
}

static void step(void) {
    static void (*const actors[])(void) = {scans,       advertises,  connects,        connects,        listens,
                                           listens,     transfers,   transfers,       transfers,       closes,
                                           pairs,       pairs,       changes_pairing, misbehaves,      sends_datagram,
                                           time_passes, time_passes, time_passes,     a_call_will_fail};
    unsigned actor = choose(p.r, sizeof actors / sizeof actors[0]);
    note(p.r, "actor %u", actor);
    actors[actor]();
    if (choose(p.r, 2) == 0) {
        pass(0);
    }
    note_all();
}

static void live(recording *r, unsigned number) {
    (void)number;
    int before = open_descriptors();
    fake_clock_ms = 100000;
    p = (place){.r = r};
    strcpy(p.directory, "/tmp/tendon-test-XXXXXX");
    assert_non_null(mkdtemp(p.directory));
    assert_int_equal(tendon_loop_init(&p.loop), TENDON_OK);
    open_radio(&p.device, 0);
    open_radio(&p.central, 1);
    for (int i = 0; i < ENDS; i++) {
        noted_link_prepare(&p.ends[i], r, i);
    }
    for (int i = 0; i < STEPS; i++) {
        step();
    }
    p.refuse_at = 0;
    for (int i = 0; i < ENDS; i++) {
        if (p.ends[i].used) {
            tendon_link_close(&p.ends[i].link);
        }
    }
    tendon_radio_unlisten(&p.device.radio, &p.listener);
    pass(0);
    for (int i = 0; i < ENDS; i++) {
        noted_link_expect_closed(&p.ends[i]);
    }
    assert_true(p.device.radio.links == NULL && p.central.radio.links == NULL);
    assert_false(p.device.radio.pairing_timer.added || p.central.radio.pairing_timer.added);
    tendon_radio_close(&p.device.radio);
    tendon_radio_close(&p.central.radio);
    tendon_loop_close(&p.loop);
    assert_int_equal(rmdir(p.directory), 0); /* no name is left in it */
    assert_int_equal(open_descriptors(), before);
}

static void play(recording *r, unsigned number) {
    play_lives(r, number, LIVES, live);
}

static void runs_are_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0xC2107864, 0xE9F8D7BE, 0x061D033D, 0x5FE8FC24, 0xE9D3BCEA, 0x23B048F1, 0x035B9FF0, 0xEBC91D85,
        0x5D1964C2, 0x461EBF2D, 0x579732BC, 0x886D6B01, 0xF168AEAF, 0x535A0847, 0x416E7BC0, 0xA13107FC,
    };
    compare_recordings(known, RUNS, play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
