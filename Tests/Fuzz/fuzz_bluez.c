/* SPDX-License-Identifier: MIT */
/*
 * A radio of the kernel's stack that scans, has a connection and pairs with its peer, on the scripted kernel of the C
 * tests (Tests/C/linux/adapter/bluez_lives.h), in simulated time. The input is what comes out of the two sockets:
 * packets of the controller and of the management interface, commands of other programs, replies to blocking commands,
 * packets of the monitor; in between the owner acts and time passes. world_close() checks that nothing is left, and
 * that each owner was notified exactly once.
 */
#include "fuzz.h"

#include "../C/linux/adapter/bluez_lives.h"
#include "tendon/tools/monitor.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { INPUTS_MAX = 300 };

static fuzz_block on_open[6]; /* for a radio that opens */

/* What fails in the scripted kernel is a crash, not the end of a test. Addresses are stored nowhere. */
__attribute__((constructor)) static void prepare(void) {
    (void)setenv("CMOCKA_TEST_ABORT", "1", 1);
    (void)setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
}

/* ---- what every input begins with ---- */

static void answer_all(world *w) {
    for (int i = 0; i < 40 && w->b->radio.command.opcode != 0; i++) {
        world_respond(w, 0);
    }
}

static world *begin(recording *r, uint8_t choice) {
    world *w = world_open(r, choice & 1, choice & 2 ? &bluez_random_address : &bluez_public_address);
    w->b->radio.limits.features = choice & 4 ? UINT64_MAX : 0;
    const tendon_scan_parameters parameters = {.active = true, .coded = (choice & 5) == 5};
    FUZZ_CHECK(tendon_radio_scan_start(&w->b->radio.radio, &parameters) == TENDON_OK);
    answer_all(w);
    if (choice & 8) {
        (void)tendon_radio_set_pairing_agent(&w->b->radio.radio, &(tendon_pairing_agent){.io = choice >> 4 & 7});
    }
    FUZZ_CHECK(world_connect(w, 0, fake.now + 60000) >= 0);
    answer_all(w);
    world_connected(w, 0, 0, 0);
    world_ready(w, 0, TENDON_WRITABLE);
    FUZZ_CHECK(w->ends[0].link.state == TENDON_LINK_OPEN);
    FUZZ_CHECK(world_pair(w, 0) >= 0);
    answer_all(w);
    return w;
}

/* ---- packets ---- */

static void put(int fd, const uint8_t *packet, size_t length) {
    (void)send(fd, packet, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/** @return so many bytes, @p room at most. */
static size_t copy(uint8_t *to, size_t room, fuzz_block taken) {
    size_t length = taken.length < room ? taken.length : room;
    if (length > 0) {
        memcpy(to, taken.data, length);
    }
    return length;
}

/** A packet with @p head before the block, whose length stands in its last byte, or in the last two. */
static void put_framed(int fd, uint8_t *head, size_t size, bool two, fuzz_block taken) {
    uint8_t packet[600];
    size_t length = copy(packet + size, two ? sizeof packet - size : 250, taken);
    head[size - 1 - two] = (uint8_t)length;
    if (two) {
        head[size - 1] = (uint8_t)(length >> 8);
    }
    memcpy(packet, head, size);
    put(fd, packet, size + length);
}

static void put_event(int fd, uint8_t code, fuzz_block taken) {
    uint8_t head[] = {HCI_EVENT_PKT, code, 0};
    put_framed(fd, head, sizeof head, false, taken);
}

/** Command Complete, perhaps without a status. */
static void put_complete(int fd, uint16_t opcode, fuzz_block taken) {
    uint8_t bytes[250] = {1, (uint8_t)opcode, (uint8_t)(opcode >> 8)};
    size_t length = 3 + copy(bytes + 3, sizeof bytes - 3, taken);
    put_event(fd, TENDON_HCI_COMMAND_COMPLETE, (fuzz_block){bytes, length});
}

static void put_management(int fd, uint8_t code, uint8_t index, fuzz_block taken) {
    uint8_t head[] = {code, 0, index, 0, 0, 0};
    put_framed(fd, head, sizeof head, true, taken);
}

/** Command Complete of the management interface. */
static void put_reply(int fd, uint16_t opcode, uint16_t index, uint8_t status, fuzz_block taken) {
    uint8_t reply[9 + 512] = {
        1, 0, (uint8_t)index, (uint8_t)(index >> 8), 0, 0, (uint8_t)opcode, (uint8_t)(opcode >> 8), status};
    size_t length = copy(reply + 9, 512, taken);
    reply[4] = (uint8_t)(length + 3);
    reply[5] = (uint8_t)((length + 3) >> 8);
    put(fd, reply, 9 + length);
}

static void from_management(world *w, fuzz_input *input, uint8_t choice) {
    fuzz_block taken;
    uint8_t code;
    switch (choice % 4u) {
    case 0:
        taken = fuzz_block_of(input);
        put(w->b->kernel, taken.data, taken.length);
        break;
    case 1:
        code = fuzz_u8(input);
        taken = fuzz_block_of(input);
        put_management(w->b->kernel, code, choice & 0x80 ? 8 : 7, taken);
        break;
    case 2: /* Command Complete for a command of ours, or of another program's */
        code = fuzz_u8(input);
        uint8_t status = fuzz_u8(input);
        taken = fuzz_block_of(input);
        put_reply(w->b->kernel, code, 7, status, taken);
        break;
    default: { /* about one of the peers; up to 7 bytes before it, and more after it */
        uint8_t bytes[64] = {0};
        code = fuzz_u8(input);
        int peer = fuzz_u8(input) % WORLD_LINKS;
        fuzz_block before = fuzz_take(input, choice >> 2 & 7);
        taken = fuzz_block_of(input);
        size_t size = copy(bytes, 7, before);
        world_kernel_about(w, code, peer, bytes, size, size + copy(bytes + size, 40, taken));
        free(before.data);
        break;
    }
    }
    free(taken.data);
    bluez_read(w->b);
}

static void from_controller(world *w, fuzz_input *input, uint8_t choice) {
    uint8_t head[] = {HCI_COMMAND_PKT, 0, 0, 0};
    uint16_t opcode;
    fuzz_block taken;
    uint8_t code;
    switch (choice % 4u) {
    case 0:
        taken = fuzz_block_of(input);
        put(w->b->controller, taken.data, taken.length);
        break;
    case 1:
        code = fuzz_u8(input);
        taken = fuzz_block_of(input);
        put_event(w->b->controller, code, taken);
        break;
    case 2: /* a command of the kernel or of another program, as it is sent */
        opcode = fuzz_u16(input);
        taken = fuzz_block_of(input);
        head[1] = (uint8_t)opcode;
        head[2] = (uint8_t)(opcode >> 8);
        put_framed(w->b->controller, head, sizeof head, false, taken);
        break;
    default: /* the response to ours, which may lack its status */
        taken = fuzz_block_of(input);
        put_complete(w->b->controller, w->b->radio.command.opcode, taken);
        break;
    }
    free(taken.data);
    if (choice & 0x40) { /* else several are read in one wake-up */
        bluez_read(w->b);
    }
}

/* ---- blocking commands: the reply is there already ---- */

static void limits_are_read(world *w, fuzz_input *input) {
    static const uint16_t opcodes[] = {
        TENDON_HCI_LE_READ_LOCAL_FEATURES, TENDON_HCI_LE_READ_BUFFER_SIZE, 0x200F, 0x201C, 0x202A, 0x203A, 0x203B};
    tendon_bluez_limits limits = {0};
    if (w->b->radio.hci.fd < 0) {
        return;
    }
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        fuzz_block taken = fuzz_block_of(input);
        put_complete(w->b->controller, opcodes[i], taken);
        free(taken.data);
    }
    if (tendon_bluez_fetch_features(w->b->radio.hci.fd, &limits.features) >= 0) {
        uint8_t all[64];
        memset(all, 0xFF, sizeof all);
        tendon_bluez_fetch_limits(w->b->radio.hci.fd, all, &limits);
    }
    (void)fuzz_touch(&limits, sizeof limits);
}

static void adapters_are_read(world *w, fuzz_input *input) {
    tendon_bluez_adapter adapters[3];
    int fd = w->b->radio.management.fd;
    if (fd < 0) {
        return;
    }
    fuzz_block list = fuzz_block_of(input), information = fuzz_block_of(input);
    put_reply(w->b->kernel, TENDON_MANAGEMENT_READ_INDEX_LIST, TENDON_MANAGEMENT_NO_INDEX, 0, list);
    for (uint16_t index = 0; index < 3; index++) {
        put_reply(w->b->kernel, TENDON_MANAGEMENT_READ_INFORMATION, index, 0, information);
    }
    tendon_status count = tendon_bluez_read_adapters(fd, adapters, 3);
    FUZZ_CHECK(count <= 64);
    for (tendon_status i = 0; i < count && i < 3; i++) {
        FUZZ_CHECK(strlen(adapters[i].name) < sizeof adapters[i].name);
    }
    uint32_t settings = 0;
    put_reply(w->b->kernel, TENDON_MANAGEMENT_SET_LOW_ENERGY, 7, fuzz_u8(input), list);
    (void)tendon_bluez_manage_mode(fd, TENDON_MANAGEMENT_SET_LOW_ENERGY, 7, 1, &settings);
    free(list.data);
    free(information.data);
}

/* Each command is answered before it is sent. */
static bool a_radio_opens(int fd, uint16_t opcode, const uint8_t *packet, size_t length) {
    static const uint16_t modes[] = {TENDON_MANAGEMENT_SET_LOW_ENERGY, TENDON_MANAGEMENT_SET_POWERED,
                                     TENDON_MANAGEMENT_SET_SECURE_SIMPLE_PAIRING,
                                     TENDON_MANAGEMENT_SET_SECURE_CONNECTIONS, TENDON_MANAGEMENT_SET_STATIC_ADDRESS};
    static const uint16_t reads[] = {TENDON_HCI_READ_LOCAL_COMMANDS, TENDON_HCI_LE_READ_LOCAL_FEATURES,
                                     TENDON_HCI_LE_READ_BUFFER_SIZE, 0x203A};
    static uint8_t list[] = {1, 0, 8, 0};
    (void)packet;
    (void)length;
    if (opcode == TENDON_MANAGEMENT_READ_INDEX_LIST) {
        put_reply(fake_far(fd), opcode, TENDON_MANAGEMENT_NO_INDEX, 0, (fuzz_block){list, 4});
    } else if (opcode == TENDON_MANAGEMENT_READ_INFORMATION) {
        put_reply(fake_far(fd), opcode, 8, 0, on_open[0]);
    }
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (opcode == modes[i]) {
            put_reply(fake_far(fd), opcode, 8, 0, on_open[1]);
        }
    }
    for (size_t i = 0; i < 4; i++) {
        if (opcode == reads[i]) {
            put_complete(fake_far(fd), opcode, on_open[2 + i]);
        }
    }
    return true;
}

static void another_radio_opens(world *w, fuzz_input *input) {
    static tendon_bluez_radio other;
    for (size_t i = 0; i < 6; i++) {
        on_open[i] = fuzz_block_of(input);
    }
    fake.on_send = a_radio_opens;
    if (tendon_bluez_open(&other, &w->b->loop, "hci8") >= 0) {
        FUZZ_CHECK(other.index == 8 && other.hci.fd >= 0);
        tendon_radio_close(&other.radio);
    }
    fake.on_send = NULL;
    for (size_t i = 0; i < 6; i++) {
        free(on_open[i].data);
    }
}

static void monitor_is_read(world *w, fuzz_input *input, uint8_t choice) {
    tendon_capture capture;
    tendon_bluez_monitor monitor;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    FUZZ_CHECK(null >= 0);
    FUZZ_CHECK(tendon_capture_attach(&capture, null, choice & 0x10 ? TENDON_CAPTURE_H4 : TENDON_CAPTURE_MONITOR) >= 0);
    if (tendon_bluez_monitor_open(&monitor, &w->b->loop, &capture, choice & 0x20 ? "hci7" : NULL) >= 0) {
        for (int i = 0; i < 3; i++) {
            fuzz_block taken = fuzz_block_of(input);
            put(fake_far(monitor.source.fd), taken.data, taken.length);
            free(taken.data);
        }
        monitor.source.ready(monitor.source.context, TENDON_READABLE, fake.now);
        tendon_bluez_monitor_close(&monitor);
    }
    (void)tendon_capture_close(&capture);
    close(null);
}

static void on_adapter(void *context, tendon_status status, uint64_t now) {
    (void)now;
    *(int *)context += status == TENDON_OK ? 1 : 2;
}

static void adapter_is_awaited(world *w, fuzz_input *input, uint8_t choice) {
    tendon_bluez_arrival arrival;
    int ends = 0;
    const char *name = choice & 0x20 ? "hci7" : NULL;
    if (tendon_bluez_await_adapter(&arrival, &w->b->loop, name, &ends, on_adapter) < 0) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        fuzz_block taken = fuzz_block_of(input);
        put(fake_far(arrival.source.fd), taken.data, taken.length);
        free(taken.data);
    }
    arrival.source.ready(arrival.source.context, TENDON_READABLE, fake.now);
    FUZZ_CHECK(ends <= 2 && (ends == 0) == (arrival.source.fd >= 0));
    tendon_bluez_arrival_close(&arrival);
}

/* ---- the owner, the peers, time ---- */

static void owner_acts(world *w, fuzz_input *input, uint8_t choice) {
    tendon_radio *radio = &w->b->radio.radio;
    int i = choice >> 6 == 3 ? 0 : choice >> 6;
    noted_link *end = &w->ends[i];
    const tendon_scan_parameters scan = {.active = true, .coded = (choice & 0x20) != 0};
    fake.handle = choice & 0x20 ? 0x41 : 0x40;
    switch (choice >> 2 & 7) {
    case 0:
        if (!end->used) {
            (void)world_connect(w, i, fake.now + 1000u * fuzz_u8(input));
        }
        break;
    case 1:
        if (end->used && end->link.state == TENDON_LINK_OPEN) {
            (void)world_pair(w, i);
        }
        break;
    case 2:
        if (end->used) {
            tendon_link_close(&end->link);
        }
        break;
    case 3:
        (void)(radio->scanning ? tendon_radio_scan_stop(radio) : tendon_radio_scan_start(radio, &scan));
        break;
    case 4:
        bluez_request_advertising(w->b);
        break;
    case 5:
        (void)world_listen(w);
        world_central(w);
        break;
    case 6:
        (void)tendon_radio_ask_signals(radio);
        break;
    default:
        bluez_acts[fuzz_u8(input) % BLUEZ_ACTS](w);
        break;
    }
}

static void peer_acts(world *w, fuzz_input *input, uint8_t choice) {
    int i = (choice >> 2 & 7) % WORLD_ENDS, fd = world_far_end(w, i);
    fuzz_block taken = fuzz_block_of(input);
    if (fd >= 0 && taken.length > 0) {
        put(fd, taken.data, taken.length);
    } else if (fd >= 0) {
        (void)shutdown(fd, SHUT_RDWR);
    }
    world_ready(w, i, taken.length > 0 ? TENDON_READABLE | TENDON_WRITABLE : TENDON_READABLE | TENDON_HANGUP);
    free(taken.data);
}

static void time_passes(world *w, fuzz_input *input, uint8_t choice) {
    if (choice & 0x40) {
        answer_all(w);
    }
    bluez_read(w->b);
    bluez_read(w->b);
    world_pass(w, fuzz_u8(input) * (choice & 0x80 ? 100u : 4u));
}

static void blocking_commands(world *w, fuzz_input *input, uint8_t choice) {
    switch ((choice >> 2 & 7) % 5) {
    case 0:
        limits_are_read(w, input);
        break;
    case 1:
        adapters_are_read(w, input);
        break;
    case 2:
        monitor_is_read(w, input, choice);
        break;
    case 3:
        another_radio_opens(w, input);
        break;
    default:
        adapter_is_awaited(w, input, choice);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    recording r = {.d = {0x9E3779B97F4A7C15u + fuzz_u8(&input)}};
    world *w = begin(&r, fuzz_u8(&input));
    for (int i = 0; i < INPUTS_MAX && input.left > 0; i++) {
        uint8_t what = fuzz_u8(&input), choice = fuzz_u8(&input);
        switch (what % 8u) {
        case 0:
        case 1:
            from_management(w, &input, choice);
            break;
        case 2:
        case 3:
            from_controller(w, &input, choice);
            break;
        case 4:
            owner_acts(w, &input, choice);
            break;
        case 5:
            peer_acts(w, &input, choice);
            break;
        case 6:
            time_passes(w, &input, choice);
            break;
        default:
            blocking_commands(w, &input, choice);
            break;
        }
        world_note(w);
    }
    bluez_read(w->b);
    bluez_read(w->b);
    world_close(w);
    return 0;
}
