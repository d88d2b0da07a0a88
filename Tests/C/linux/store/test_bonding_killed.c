/* SPDX-License-Identifier: MIT */
/*
 * A process that pairs is killed: two virtual radios of one process, each with a bond store in a file, in the place of
 * any of its calls to the file system or to the connection's sockets. Both stores are whole then, and the next process
 * is encrypted with the key that both have, or pairs. 200 seeded lives.
 */
#include "../fake_clock.h"
#include "../open_files.h"
#include "bonds_fixture.h"
#include "failing_disk.h"
#include "test_bytes.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEVICE, CENTRAL, SIDES, KEY_SIZE = 16, ATTEMPTS = 3 };

static const tendon_address addresses[SIDES] = {{{0xC1, 2, 3, 4, 5, 0xD0}, TENDON_ADDRESS_TYPE_RANDOM},
                                                {{0xC1, 2, 3, 4, 5, 0xCE}, TENDON_ADDRESS_TYPE_RANDOM}};

/* ---- in the place of the C library ---- */

static void pass_by(void) {
    if (++disk.calls == disk.killed_at) {
        raise(SIGKILL);
    }
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    pass_by();
    return syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t recv(int fd, void *bytes, size_t length, int flags) {
    pass_by();
    return syscall(SYS_recvfrom, fd, bytes, length, flags, NULL, NULL);
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    pass_by();
    return (int)syscall(SYS_recvmmsg, fd, messages, count, flags, timeout);
}

int accept4(int fd, __SOCKADDR_ARG name, socklen_t *length, int flags) {
    pass_by();
    return (int)syscall(SYS_accept4, fd, name.__sockaddr__, length, flags);
}

int connect(int fd, __CONST_SOCKADDR_ARG name, socklen_t length) {
    pass_by();
    return (int)syscall(SYS_connect, fd, name.__sockaddr__, length);
}

/* ---- one life ---- */

typedef struct place {
    char radios[128], stores[SIDES][160];
} place;

/* What a life tells, also one that was killed. */
typedef struct told {
    unsigned calls, pairings;
} told;
static told *life_told;

typedef struct side {
    tendon_virtual_radio radio;
    tendon_bonds bonds;
    tendon_link link;
    bool connected, encrypted, closed;
    tendon_status reason;
} side;

static struct {
    tendon_loop loop;
    side sides[SIDES];
    tendon_listener listener;
    unsigned paired;
    tendon_status status;
} life;

static void on_connected(void *context, uint64_t now) {
    (void)now;
    ((side *)context)->connected = true;
}

static void on_encrypted(void *context, uint64_t now) {
    (void)now;
    ((side *)context)->encrypted = true;
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    side *s = context;
    (void)now;
    s->closed = true;
    s->reason = reason;
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    (void)context;
    (void)now;
    life.paired++;
    life.status = status;
}

static tendon_link *make_link(side *s) {
    s->connected = s->encrypted = s->closed = false;
    tendon_link_init(&s->link,
                     &(tendon_link_callbacks){
                         .context = s, .connected = on_connected, .encrypted = on_encrypted, .closed = on_closed});
    return &s->link;
}

static tendon_link *on_accept(void *context, const tendon_address *peer, uint64_t now) {
    (void)context;
    (void)peer;
    (void)now;
    return make_link(&life.sides[DEVICE]);
}

static bool open_sides(const place *p) {
    bool good = tendon_loop_init(&life.loop) == TENDON_OK;
    for (int i = 0; i < SIDES && good; i++) {
        side *s = &life.sides[i];
        good = tendon_virtual_radio_open(&s->radio, &life.loop, p->radios, &addresses[i]) == TENDON_OK &&
               tendon_bonds_open(&s->bonds, p->stores[i]) == TENDON_OK &&
               tendon_radio_use_bonds(&s->radio.radio, &s->bonds) == TENDON_OK;
    }
    tendon_radio *device = &life.sides[DEVICE].radio.radio;
    life.listener = (tendon_listener){.accept = on_accept};
    return good && tendon_radio_set_pairable(device, true) == TENDON_OK &&
           tendon_radio_listen(device, &life.listener) == TENDON_OK;
}

/* The only bond of a store; NULL: there is none. */
static const tendon_bond *bond_of(const tendon_bonds *bonds, int peer) {
    const tendon_bond *bond = bonds->count > 0 ? &bonds->items[0] : NULL;
    return bond != NULL && tendon_address_equal(&bond->peer, &addresses[peer]) ? bond : NULL;
}

/* Until the central's connection is encrypted, or has ended, or a pairing has. */
static void run(bool to_connect) {
    const side *central = &life.sides[CENTRAL];
    for (int i = 0;
         i < 1000 && !central->closed && !central->encrypted && life.paired == 0 && !(to_connect && central->connected);
         i++) {
        (void)tendon_loop_step(&life.loop, fake_clock_ms + 20);
    }
}

/* As a program does: with the key if there is one; a device that has lost it is forgotten, and paired again. */
static bool attempt(void) {
    side *central = &life.sides[CENTRAL];
    tendon_radio *radio = &central->radio.radio;
    const tendon_pairing_service *service = tendon_radio_pairing(radio);
    const bool bonded = bond_of(&central->bonds, DEVICE) != NULL;
    life.paired = 0;
    if (tendon_radio_connect(radio, make_link(central), &addresses[DEVICE], UINT64_MAX) < 0) {
        return false;
    }
    run(!bonded);
    if (bonded && central->closed && central->reason == TENDON_RADIO_ERROR_PAIRING_FAILED) {
        return tendon_radio_forget(radio, &addresses[DEVICE]) == TENDON_OK && false; /* once more */
    }
    if (!bonded && central->connected) {
        life_told->pairings++;
        (void)service->start(service->context, &addresses[DEVICE], on_paired, NULL, fake_clock_ms);
        run(false);
    }
    return central->encrypted;
}

static bool pair_or_encrypt(const void *context) {
    bool done = open_sides(context);
    for (int i = 0; done && i < ATTEMPTS && !attempt(); i++) {
        done = i + 1 < ATTEMPTS;
        for (int step = 0; step < 5; step++) {
            (void)tendon_loop_step(&life.loop, fake_clock_ms + 20);
        }
    }
    for (int step = 0; step < 5; step++) { /* what a device answers last */
        (void)tendon_loop_step(&life.loop, fake_clock_ms + 20);
    }
    done = done && life.sides[DEVICE].encrypted;
    for (int i = 0; i < SIDES; i++) {
        tendon_link_close(&life.sides[i].link);
    }
    (void)tendon_loop_step(&life.loop, fake_clock_ms + 20);
    tendon_radio_close(&life.sides[CENTRAL].radio.radio);
    tendon_radio_close(&life.sides[DEVICE].radio.radio);
    life_told->calls = disk.calls;
    return done;
}

/* ---- what is left ---- */

typedef struct keys {
    bool present[SIDES];
    uint8_t bytes[SIDES][KEY_SIZE];
} keys;

/* Both stores; they must be whole. */
static keys read_keys(const place *p) {
    keys found = {0};
    for (int i = 0; i < SIDES; i++) {
        tendon_bonds bonds;
        assert_int_equal(tendon_bonds_open(&bonds, p->stores[i]), TENDON_OK);
        assert_true(bonds.count <= 1);
        const tendon_bond *bond = bond_of(&bonds, !i);
        assert_true((bond != NULL) == (bonds.count == 1));
        if (bond != NULL) {
            found.present[i] = true;
            memcpy(found.bytes[i], bond->key, KEY_SIZE);
        }
    }
    return found;
}

static bool same_key(const keys *a, int i, const keys *b, int k) {
    return a->present[i] && b->present[k] && memcmp(a->bytes[i], b->bytes[k], KEY_SIZE) == 0;
}

static bool is_as_before(const keys *before, const keys *after, int i) {
    return same_key(before, i, after, i) || (!before->present[i] && !after->present[i]);
}

/* The device stores a key first, the central with the device's answer. A key that the device does not have goes. */
static void check_killed(const keys *before, const keys *after) {
    const bool agreed = same_key(before, DEVICE, before, CENTRAL);
    bool new_device = !is_as_before(before, after, DEVICE), new_central = !is_as_before(before, after, CENTRAL);
    assert_true(!new_device || after->present[DEVICE]);
    assert_true(!agreed || (!new_device && !new_central)); /* with a key that both have nothing changes */
    if (new_central && after->present[CENTRAL]) {
        assert_true(new_device && same_key(after, DEVICE, after, CENTRAL));
    } else if (new_central) {
        assert_true(before->present[CENTRAL]);
    }
}

static bool live(const place *p, unsigned killed_at) {
    *life_told = (told){0};
    return live_until(pair_or_encrypt, p, killed_at);
}

static void two_hundred_lives_that_pair(void **state) {
    place p;
    dice d = {21};
    unsigned killed = 0, between = 0, stored = 0, by_key = 0, paired = 0, calls;
    life_told = mmap(NULL, sizeof *life_told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(life_told != MAP_FAILED);
    disk = (struct disk){.unsynced = true};
    snprintf(p.radios, sizeof p.radios, "%s/radios", (char *)*state);
    snprintf(p.stores[DEVICE], sizeof p.stores[DEVICE], "%s/device/bonds", (char *)*state);
    snprintf(p.stores[CENTRAL], sizeof p.stores[CENTRAL], "%s/central/bonds", (char *)*state);
    assert_true(live(&p, 0));
    assert_int_equal(life_told->pairings, 1);
    calls = life_told->calls;
    const unsigned lives = whole_or_part(200, 60);
    for (unsigned i = 0; i < lives; i++) {
        unsigned lot =
            (unsigned)(roll(&d) >> 20) % 5; /* 0: both have the key; the device, the central, both have lost it */
        if (lot == 1 || lot >= 3) {
            unlink(p.stores[DEVICE]);
        }
        if (lot >= 2) {
            unlink(p.stores[CENTRAL]);
        }
        const keys before = read_keys(&p);
        disk.piece = roll(&d) >> 20 & 1 ? 0 : 1 + (size_t)(roll(&d) >> 20) % 90;
        bool whole = live(&p, 1 + (unsigned)(roll(&d) >> 20) % (calls + calls / 4));
        const keys after = read_keys(&p);
        const bool agreed = same_key(&after, DEVICE, &after, CENTRAL);
        if (whole) {
            assert_true(agreed);
        } else {
            check_killed(&before, &after);
        }
        killed += !whole;
        between += !whole && !is_as_before(&before, &after, DEVICE) && !agreed;
        stored += !whole && !is_as_before(&before, &after, DEVICE) && agreed;
        /* What the process left behind, sockets, locks and temporary files, is in nobody's way. */
        assert_true(live(&p, 0));
        const keys now = read_keys(&p);
        assert_true(same_key(&now, DEVICE, &now, CENTRAL));
        assert_int_equal(life_told->pairings, agreed ? 0 : 1);
        assert_int_equal(same_key(&after, CENTRAL, &now, CENTRAL), agreed);
        by_key += agreed;
        paired += !agreed;
    }
    print_message("# %u of %u processes killed, %u of them with one key of two stored, %u with both; then %u encrypted "
                  "with the stored key, %u paired\n",
                  killed, lives, between, stored, by_key, paired);
    assert_true(killed > lives / 2 && between > 0 && stored > 0 && by_key > lives / 8 && paired > lives / 8);
    for (int i = 0; i < SIDES; i++) {
        char folder[128];
        folder_of(p.stores[i], folder);
        assert_true(directory_entries(folder) <= 5); /* . .. bonds, its lock, a temporary file */
    }
    munmap(life_told, sizeof *life_told);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_hundred_lives_that_pair, bonds_setup, bonds_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
