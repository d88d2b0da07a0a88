/* SPDX-License-Identifier: MIT */
/*
 * ota_goodput [--quick] [OURS THEIRS]: how fast does a firmware image get to an Obvious device? Client and simulated
 * device in one loop, over real sockets: those of the virtual radio, or of two controllers of the kernel (hci0 hci1).
 * An upgrade is timed from its start on an open session to the device's answer to the request to restart: information,
 * manifest with its signature, requests, segments, acknowledgements, CRC, flash memory, SHA-256 of the image.
 * Limit: as many bytes in bare write commands of the same ATT MTU, over the same link, in turns with the upgrades.
 */
#include "bench.h"

#include "tendon/tendon.h"
#ifdef TENDON_HAVE_BLUEZ
#include "tendon/bluez.h"
#endif

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    IMAGE_MAX = 256 * 1024,
    PAGE = 4096,
    FLASH = TENDON_SIMULATED_OBVIOUS_FLASH_SIZE(PAGE, IMAGE_MAX),
    VERSION = 1004000,
    LIMIT_MS = 40000, /* of anything: a benchmark that hangs ends, and says where */
    BARE_TRIES = 5,   /* over the kernel's link: others work for it, and the best is what the link can do */
    MTUS = 2,
    FRAMES = 2
};

static const uint16_t mtus[MTUS] = {247, 517}, frames[FRAMES] = {512, 4096};
static uint8_t flash_memory[FLASH], image[IMAGE_MAX], manifest[136], image_sha256[32], device_memory[2 * 4096];
static size_t image_length = IMAGE_MAX;

typedef struct end {
    union {
        tendon_virtual_radio virtual_radio;
#ifdef TENDON_HAVE_BLUEZ
        tendon_bluez_radio bluez;
#endif
    } memory;
    tendon_radio *radio;
    tendon_bonds bonds;
} end;

static struct {
    tendon_loop loop;
    end ours, theirs;
    tendon_connection connection;
    tendon_peripheral peripheral;
    tendon_simulated_flash flash;
    tendon_simulated_obvious device;
    tendon_obvious_session session;
    tendon_obvious_manager manager;
    uint16_t mtu;
    bool real; /* the kernel's controllers */
    bool opened, restarts, done;
    int need, result;
    tendon_status status; /* of the first failure */
} w;

static bool verify(void *context, const uint8_t *key, const uint8_t *domain, size_t domain_length, const uint8_t *data,
                   size_t length, const uint8_t *signature) {
    static uint8_t message[256];
    (void)context;
    if (domain_length + length > sizeof message) {
        return false;
    }
    memcpy(message, domain, domain_length);
    memcpy(message + domain_length, data, length);
    return crypto_sign_ed25519_verify_detached(signature, message, domain_length + length, key) == 0;
}

static void sha256(void *context, const uint8_t *data, size_t length, uint8_t *out) {
    (void)context;
    crypto_hash_sha256(out, data, length);
}

static tendon_obvious_key key = {.id = 1};
static const tendon_obvious_key_ring ring = {&key, 1, {verify, sha256, NULL}};

static void fail(const char *what, tendon_status status) {
    fprintf(stderr, "ota_goodput: %s: %s\n", what, tendon_status_name(status));
    exit(1);
}

static void must(const char *what, tendon_status status) {
    if (status < 0) {
        fail(what, status);
    }
}

/* ---- the world ---- */

static void put_u32(uint8_t *out, uint32_t value) {
    for (size_t i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> 8 * i);
    }
}

static void make_image(void) {
    static const char domain[] = "OBVIOUS-OFM1"; /* its zero belongs to it */
    uint8_t seed[32] = {1}, secret[crypto_sign_SECRETKEYBYTES], message[sizeof domain + 72];
    crypto_sign_seed_keypair(key.bytes, secret, seed);
    for (size_t i = 0; i < image_length; i++) {
        image[i] = (uint8_t)(i * 11 + i / 1024);
    }
    crypto_hash_sha256(image_sha256, image, image_length);
    memcpy(manifest, "OFM1\x01\x01", 6);
    put_u32(manifest + 8, 1234);
    put_u32(manifest + 12, VERSION);
    put_u32(manifest + 20, 999999999);
    put_u32(manifest + 24, (uint32_t)image_length);
    put_u32(manifest + 28, tendon_crc32(0, image, image_length));
    memcpy(manifest + 32, image_sha256, sizeof image_sha256);
    memcpy(message, domain, sizeof domain);
    memcpy(message + sizeof domain, manifest, 72);
    crypto_sign_ed25519_detached(manifest + 72, NULL, message, sizeof message, secret);
}

static void open_end(end *e, const char *name, uint8_t number) {
    tendon_status status = TENDON_ERROR_UNSUPPORTED;
    if (strncmp(name, "hci", 3) == 0) {
#ifdef TENDON_HAVE_BLUEZ
        status = tendon_bluez_open(&e->memory.bluez, &w.loop, name);
        e->radio = &e->memory.bluez.radio;
#endif
    } else {
        const tendon_address address = {{0xC0, 0, 0, 0, 0, number}, TENDON_ADDRESS_TYPE_RANDOM};
        status = tendon_virtual_radio_open(&e->memory.virtual_radio, &w.loop, name, &address);
        e->radio = &e->memory.virtual_radio.radio;
    }
    must(name, status);
    tendon_bonds_init(&e->bonds);
    must("bonds", tendon_radio_use_bonds(e->radio, &e->bonds));
}

/* One turn of the loop, which both ends share. */
static void step(void) {
    tendon_connection_refresh(&w.connection);
    tendon_peripheral_refresh(&w.peripheral);
    must("loop", tendon_loop_step(&w.loop, tendon_monotonic_ms() + 20));
}

static void step_until(const bool *reached, const char *what) {
    uint64_t limit = tendon_monotonic_ms() + LIMIT_MS;
    while (!*reached) {
        if (tendon_monotonic_ms() > limit) {
            fail(what, TENDON_ERROR_TIMEOUT);
        }
        step();
    }
}

/* The device takes no longer PDUs than the round is about. */
static void on_central(void *context, tendon_peripheral_link *link, uint64_t now) {
    (void)context, (void)now;
    link->bearer.own_mtu = w.mtu;
}

static void on_session(void *context, const tendon_obvious_session_event *event, uint64_t now) {
    (void)context, (void)now;
    if (event->kind == TENDON_OBVIOUS_SESSION_EVENT_OPENED) {
        w.opened = true;
    } else if (event->kind == TENDON_OBVIOUS_SESSION_EVENT_UNUSABLE) {
        fail("session", event->status);
    }
}

static void on_event(void *context, const tendon_obvious_event *event, uint64_t now) {
    (void)context, (void)now;
    if (event->kind == TENDON_OBVIOUS_EVENT_NEED && event->code != TENDON_OBVIOUS_NEED_REPORT) {
        w.need = event->code;
    } else if (event->kind == TENDON_OBVIOUS_EVENT_PROGRESS && event->code == TENDON_OBVIOUS_PROGRESS_RESETTING) {
        w.restarts = true;
    } else if (event->kind == TENDON_OBVIOUS_EVENT_DONE) {
        w.done = true;
        w.result = event->code;
        w.status = event->status;
    }
}

static tendon_status read_image(void *context, uint32_t offset, uint8_t *buffer, size_t length) {
    (void)context;
    memcpy(buffer, image + offset, length);
    return TENDON_OK;
}

static void new_device(void) {
    const tendon_simulated_obvious_options options = {
        .flash = &w.flash, .image_max = IMAGE_MAX, .keys = &ring, .counter = 41, .seed = bench_now_ns() | 1};
    const tendon_peripheral_callbacks callbacks = {.connected = on_central};
    must("flash", tendon_simulated_flash_init(&w.flash, flash_memory, FLASH, PAGE));
    tendon_simulated_flash_blank(&w.flash);
    must("device", tendon_simulated_obvious_init(&w.device, &options));
    tendon_peripheral_device seam = tendon_simulated_obvious_device(&w.device);
    tendon_peripheral_init(&w.peripheral, w.theirs.radio, &seam, &callbacks);
    must("peripheral", tendon_peripheral_open(&w.peripheral, 30));
}

static void new_client(uint16_t frame_max) {
    tendon_connection_init(&w.connection, w.ours.radio, &w.theirs.radio->address, tendon_radio_pairing(w.ours.radio),
                           NULL);
    tendon_connection_attach(&w.connection, &tendon_obvious_manager_inputs, &w.manager);
    const tendon_obvious_session_config session = {.link = tendon_connection_session_link(&w.connection),
                                                   .memory = device_memory,
                                                   .frame_max = frame_max,
                                                   .window = 8,
                                                   .on_event = on_session};
    const tendon_obvious_manager_config manager = {.session = &w.session,
                                                   .ring = &ring,
                                                   .product = 1234,
                                                   .chunk_max = 4000,
                                                   .min_battery = 20,
                                                   .on_event = on_event,
                                                   .read = read_image};
    must("session", tendon_obvious_session_init(&w.session, &session));
    must("manager", tendon_obvious_manager_init(&w.manager, &manager));
}

/* A new device with the old firmware, and an open session with it. */
static void join(uint16_t mtu, uint16_t frame_max) {
    w.mtu = mtu;
    w.opened = false;
    new_device();
    new_client(frame_max);
    must("connect", tendon_obvious_session_connect(&w.session, tendon_monotonic_ms()));
    step_until(&w.opened, "the session opens");
    if (w.connection.bearer.mtu != mtu) {
        fail("ATT MTU", TENDON_ERROR_MALFORMED);
    }
}

static void part(void) {
    uint64_t limit = tendon_monotonic_ms() + LIMIT_MS;
    if (!w.done) {
        tendon_obvious_manager_cancel(&w.manager, tendon_monotonic_ms());
        step_until(&w.done, "the operation is cancelled");
    }
    tendon_obvious_session_disconnect(&w.session, tendon_monotonic_ms());
    /* Then their memory is free. */
    while (w.connection.state != TENDON_CONNECTION_IDLE || tendon_peripheral_count(&w.peripheral) > 0 ||
           tendon_obvious_manager_inputs.deadline(&w.manager) != UINT64_MAX) {
        if (tendon_monotonic_ms() > limit) {
            fail("the connection ends", TENDON_ERROR_TIMEOUT);
        }
        step();
    }
    tendon_peripheral_close(&w.peripheral);
}

/* ---- what is measured, in ns ---- */

/* Both ends of the virtual radio are this thread, which waits for nothing: its own time, in which other work of the
 * machine does not show. Over the kernel's controllers, others work for it. */
static uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(w.real ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t received(void) {
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        if (w.peripheral.links[i].used) {
            return w.peripheral.links[i].link.received;
        }
    }
    fail("the device's link", TENDON_ERROR_DISCONNECTED);
    return 0;
}

/* Write commands to a handle that the device does not have: it drops them when it has decoded them. */
static double bare(uint16_t mtu) {
    static uint8_t pdu[TENDON_ATT_MTU_MAX] = {0x52, 0xFF, 0xFF};
    uint64_t limit = tendon_monotonic_ms() + LIMIT_MS, last = received(), started = clock_ns();
    size_t left = image_length;
    for (uint64_t count = 0;; step()) {
        while (left > 0) {
            size_t part_length = left < mtu - 3u ? left : mtu - 3u;
            tendon_status status = tendon_link_send(&w.connection.link, pdu, part_length + 3);
            if (status == TENDON_ERROR_WOULD_BLOCK) {
                break;
            }
            must("send", status);
            left -= part_length;
            count++;
        }
        if (left == 0 && received() >= last + count) {
            return (double)(clock_ns() - started);
        }
        if (tendon_monotonic_ms() > limit) {
            fail("bare writes arrive", TENDON_ERROR_TIMEOUT);
        }
    }
}

static double link_limit(uint16_t mtu) {
    double least = bare(mtu);
    for (size_t i = 1; i < BARE_TRIES && w.real; i++) {
        double next = bare(mtu);
        least = next < least ? next : least;
    }
    return least;
}

static void give(void) {
    const tendon_obvious_answer answer = {.kind = TENDON_OBVIOUS_ANSWER_GIVEN,
                                          .data = manifest,
                                          .length = sizeof manifest,
                                          .image_length = image_length,
                                          .image_crc32 = tendon_crc32(0, image, image_length),
                                          .image_sha256 = image_sha256};
    w.need = -1;
    must("give", tendon_obvious_manager_give(&w.manager, &answer, tendon_monotonic_ms()));
}

static void run_upgrade(const bool *reached) {
    uint64_t limit = tendon_monotonic_ms() + LIMIT_MS;
    while (!*reached && !w.done) {
        if (w.need >= 0) {
            give();
        }
        if (tendon_monotonic_ms() > limit) {
            fail("the upgrade ends", TENDON_ERROR_TIMEOUT);
        }
        step();
    }
    if (w.done && w.result != TENDON_OBVIOUS_UPGRADE_SUCCESS) {
        fail("upgrade", w.status);
    }
}

/* @param confirmed not NULL: until the new firmware runs and is confirmed, too. */
static double upgrade(double *confirmed) {
    w.restarts = w.done = false;
    w.need = -1;
    uint64_t started = clock_ns();
    must("upgrade",
         tendon_obvious_manager_start(&w.manager, TENDON_OBVIOUS_UPGRADE_FIRMWARE, NULL, 0, tendon_monotonic_ms()));
    run_upgrade(&w.restarts);
    double ns = (double)(clock_ns() - started);
    if (confirmed != NULL) {
        run_upgrade(&w.done);
        *confirmed = (double)(clock_ns() - started);
    }
    return ns;
}

/* ---- rounds ---- */

typedef struct row {
    char name[32];
    double ns[BENCH_ROUNDS_MAX], ratios[BENCH_ROUNDS_MAX];
    uint64_t heap;
} row;

static void print(const char *question, const row *r, size_t rounds, const char *limit) {
    const bench_body body = {.name = r->name, .bytes = (double)image_length};
    bench_print(question, &body, r->ns, r->ratios, rounds, limit, 0, r->heap);
}

static void measure(const char *question, size_t rounds, bool confirms) {
    static row limits[MTUS], rows[MTUS][FRAMES], whole[MTUS][FRAMES];
    for (size_t round = 0; round < rounds; round++) {
        for (size_t m = 0; m < MTUS; m++) {
            for (size_t f = 0; f < FRAMES; f++) {
                join(mtus[m], frames[f]);
                double limit = link_limit(mtus[m]);
                uint64_t heap = bench_heap_calls();
                double ns = upgrade(confirms ? &whole[m][f].ns[round] : NULL);
                rows[m][f].heap += bench_heap_calls() - heap;
                rows[m][f].ns[round] = ns;
                rows[m][f].ratios[round] = ns / limit;
                whole[m][f].ratios[round] = whole[m][f].ns[round] / limit;
                limits[m].ns[round] = f == 0 || limit < limits[m].ns[round] ? limit : limits[m].ns[round];
                limits[m].ratios[round] = 1;
                part();
            }
        }
    }
    for (size_t m = 0; m < MTUS; m++) {
        (void)snprintf(limits[m].name, sizeof limits[m].name, "bare_%d", mtus[m]);
        print(question, &limits[m], rounds, limits[m].name);
        for (size_t f = 0; f < FRAMES; f++) {
            (void)snprintf(rows[m][f].name, sizeof rows[m][f].name, "upgrade_%d_%d", mtus[m], frames[f]);
            print(question, &rows[m][f], rounds, limits[m].name);
            if (confirms) {
                (void)snprintf(whole[m][f].name, sizeof whole[m][f].name, "confirmed_%d_%d", mtus[m], frames[f]);
                print(question, &whole[m][f], rounds, limits[m].name);
            }
        }
    }
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    argc -= quick ? 1 : 0;
    argv += quick ? 1 : 0;
    char directory[] = "/tmp/tendon-bench-XXXXXX";
    if ((argc != 1 && argc != 3) || sodium_init() < 0) {
        fprintf(stderr, "usage: ota_goodput [--quick] [hciN hciM]\n");
        return 2;
    }
    const bool real = argc == 3;
    w.real = real;
    image_length = real ? 32 * 1024 : IMAGE_MAX;
    make_image();
    must("loop", tendon_loop_init(&w.loop));
    if (!real && mkdtemp(directory) == NULL) {
        perror("mkdtemp");
        return 1;
    }
    open_end(&w.ours, real ? argv[1] : directory, 1);
    open_end(&w.theirs, real ? argv[2] : directory, 2);
    measure(real ? "ota_goodput_kernel" : "ota_goodput", quick || real ? 1 : BENCH_ROUNDS_MAX, real);
    tendon_radio_close(w.ours.radio);
    tendon_radio_close(w.theirs.radio);
    if (!real) {
        (void)rmdir(directory);
    }
    return 0;
}
