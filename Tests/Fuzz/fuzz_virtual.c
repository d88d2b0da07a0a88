/* SPDX-License-Identifier: MIT */
/*
 * A virtual radio that scans, has a central and is connected to a device. The other ends of its three sockets are the
 * input: advertisements, and the messages of the pairing procedures of both sides. Time is simulated.
 */
#include "fuzz.h"

#include "../C/linux/fake_clock.h"
#include "tendon/linux.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { INPUTS_MAX = 200 };

typedef struct end {
    tendon_link link;
    int started, closed, paired, far;
} end;

static char directory[] = "/tmp/tendon-fuzz-XXXXXX";
static const tendon_address own = {{0xC1, 2, 3, 4, 5, 0xD0}, TENDON_ADDRESS_TYPE_RANDOM};
static const tendon_address peer = {{0xC1, 2, 3, 4, 5, 0xCE}, TENDON_ADDRESS_TYPE_RANDOM};
static struct {
    tendon_loop loop;
    tendon_virtual_radio radio;
    tendon_bonds bonds;
    tendon_listener listener;
    end central, device; /* links to them */
    int advertiser;
} world;

/* ---- the owner ---- */

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)context;
    (void)now;
    FUZZ_CHECK(report->length <= TENDON_AD_EXTENDED_MAX);
    FUZZ_CHECK((report->properties & TENDON_AD_LEGACY) == 0 || report->length <= TENDON_AD_LEGACY_MAX);
    FUZZ_CHECK(!tendon_address_equal(&report->address, &own));
    (void)fuzz_touch(report->data, report->length);
}

static void on_received(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    (void)context;
    (void)now;
    (void)fuzz_touch(pdu, length);
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    (void)reason;
    (void)now;
    ((end *)context)->closed++;
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    (void)status;
    (void)now;
    ((end *)context)->paired++;
}

static tendon_link *make(end *e) {
    tendon_link_init(&e->link, &(tendon_link_callbacks){.context = e, .received = on_received, .closed = on_closed});
    e->started++;
    return &e->link;
}

static tendon_link *on_accept(void *context, const tendon_address *from, uint64_t now) {
    (void)context;
    (void)now;
    FUZZ_CHECK(tendon_address_equal(from, &peer));
    return make(&world.central);
}

static void on_question(void *context, const tendon_address *from, tendon_pairing_question question, uint32_t passkey,
                        uint64_t now) {
    (void)context;
    FUZZ_CHECK(question != TENDON_PAIRING_NOTHING && passkey <= TENDON_PASSKEY_MAX);
    if (passkey % 2 != 0) { /* else later, or never */
        (void)tendon_radio_answer_pairing(&world.radio.radio, from, passkey % 3 != 0, passkey, now);
    }
}

/* ---- the world ---- */

static void step(int times) {
    for (int i = 0; i < times; i++) {
        FUZZ_CHECK(tendon_loop_step(&world.loop, fake_clock_ms) == TENDON_OK);
    }
}

static struct sockaddr_un path_of(const char *name) {
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    snprintf(path.sun_path, sizeof path.sun_path, "%s/%s", directory, name);
    return path;
}

static void remove_directory(void) {
    (void)rmdir(directory);
}

static void connect_central(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX}, path = path_of("dev-C102030405D0-01.sock");
    int length =
        snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "tendon-central-C102030405CE-01-%ld-0", (long)getpid());
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    FUZZ_CHECK(fd >= 0);
    FUZZ_CHECK(bind(fd, (struct sockaddr *)&name,
                    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0);
    FUZZ_CHECK(connect(fd, (struct sockaddr *)&path, sizeof path) == 0);
    world.central.far = fd;
    step(2);
    FUZZ_CHECK(world.central.started == 1);
}

static void connect_device(void) {
    struct sockaddr_un path = path_of("dev-C102030405CE-01.sock");
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    FUZZ_CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&path, sizeof path) == 0 && listen(fd, 1) == 0);
    FUZZ_CHECK(tendon_radio_connect(&world.radio.radio, make(&world.device), &peer, UINT64_MAX) >= 0);
    world.device.far = accept(fd, NULL, NULL);
    FUZZ_CHECK(world.device.far >= 0);
    close(fd);
    unlink(path.sun_path);
    step(2);
    FUZZ_CHECK(world.device.link.state == TENDON_LINK_OPEN);
}

static void begin(uint8_t choice) {
    static bool made;
    if (!made) {
        FUZZ_CHECK(mkdtemp(directory) != NULL && atexit(remove_directory) == 0);
        made = true;
    }
    memset(&world, 0, sizeof world);
    tendon_radio *radio = &world.radio.radio;
    FUZZ_CHECK(tendon_loop_init(&world.loop) == TENDON_OK);
    FUZZ_CHECK(tendon_virtual_radio_open(&world.radio, &world.loop, directory, &own) == TENDON_OK);
    radio->on_report = on_report;
    world.listener = (tendon_listener){.accept = on_accept};
    tendon_bonds_init(&world.bonds);
    FUZZ_CHECK(tendon_radio_use_bonds(radio, &world.bonds) == TENDON_OK);
    (void)tendon_radio_set_pairable(radio, (choice & 1) == 0);
    tendon_pairing_agent agent = {.io = choice >> 1 & 7, .ask = on_question, .authenticated = (choice & 0x10) != 0};
    if (tendon_radio_set_pairing_agent(radio, &agent) < 0) {
        agent = tendon_pairing_agent_ask(on_question, NULL);
        FUZZ_CHECK(tendon_radio_set_pairing_agent(radio, &agent) >= 0);
    }
    FUZZ_CHECK(tendon_radio_listen(radio, &world.listener) == TENDON_OK);
    connect_central();
    connect_device();
    const tendon_scan_parameters scan = {.active = (choice & 0x20) == 0, .filter_duplicates = (choice & 0x40) != 0};
    FUZZ_CHECK(tendon_radio_scan_start(radio, &scan) == TENDON_OK);
    world.advertiser = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    FUZZ_CHECK(world.advertiser >= 0);
}

static void finish(void) {
    tendon_link_close(&world.central.link);
    tendon_link_close(&world.device.link);
    step(3);
    FUZZ_CHECK(world.central.closed == world.central.started && world.device.closed == world.device.started);
    tendon_radio_close(&world.radio.radio);
    tendon_loop_close(&world.loop);
    close(world.central.far);
    close(world.device.far);
    close(world.advertiser);
}

/* ---- the input ---- */

static void advertise(fuzz_block data) {
    struct sockaddr_un path = path_of(world.radio.scan_name);
    (void)sendto(world.advertiser, data.data, data.length, MSG_DONTWAIT, (struct sockaddr *)&path, sizeof path);
}

/** 'T' 'A', version, address, type, perhaps the RSSI; the data and the scan response are of the input. */
static void advertise_framed(fuzz_input *input, uint8_t choice) {
    uint8_t bytes[600] = {'T', 'A', (choice & 0x40) ? 2 : 1, 0xC0, 1, 2, 3, 4, choice >> 3 & 7, 1};
    size_t length = 10 + ((choice & 0x40) != 0);
    for (int i = 0; i < 2; i++) {
        fuzz_block part = fuzz_take(input, fuzz_u8(input));
        bytes[length] = (uint8_t)part.length;
        if (part.length > 0) {
            memcpy(bytes + length + 2, part.data, part.length);
        }
        length += 2 + part.length;
        free(part.data);
    }
    advertise((fuzz_block){bytes, length - (choice >= 0xF8)});
}

static void act(fuzz_input *input) {
    uint8_t choice = fuzz_u8(input);
    end *e = choice & 0x80 ? &world.central : &world.device;
    tendon_radio *radio = &world.radio.radio;
    const tendon_pairing_service *service = tendon_radio_pairing(radio);
    fuzz_block data = {0};
    switch (choice % 6u) {
    case 0:
        data = fuzz_block_of(input);
        advertise(data);
        break;
    case 1:
        advertise_framed(input, choice);
        break;
    case 2:
    case 3:
        data = fuzz_block_of(input);
        (void)send(e->far, data.data, data.length, MSG_DONTWAIT | MSG_NOSIGNAL);
        break;
    case 4:
        if (world.device.closed == 0) {
            (void)service->start(service->context, &peer, on_paired, &world.device, fake_clock_ms);
        }
        break;
    default:
        (void)tendon_radio_answer_pairing(radio, &peer, choice & 0x40, fuzz_u8(input), fake_clock_ms);
        fake_clock_ms += choice & 0x20 ? 20000 : 10;
        break;
    }
    free(data.data);
    step(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    begin(fuzz_u8(&input));
    for (int i = 0; i < INPUTS_MAX && input.left > 0; i++) {
        act(&input);
    }
    finish();
    return 0;
}
