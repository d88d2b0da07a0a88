/* SPDX-License-Identifier: MIT */
/*
 * The Activ5 device manager with its devices under any order of calls, link changes, values and time; its handler calls
 * back as the input says.
 */
#include "fuzz.h"
#include "tendon/devices.h"

enum { DEVICES = 3 };

static struct {
    tendon_activ5_manager manager;
    tendon_activ5_device devices[DEVICES];
    fuzz_input *input;
    uint64_t now, last;
    unsigned depth, calls;
} world;

static void on_event(void *context, const tendon_activ5_event *event, uint64_t now) {
    (void)context;
    FUZZ_CHECK((unsigned)event->kind < TENDON_ACTIV5_EVENT_COUNT);
    FUZZ_CHECK(now <= world.now && world.depth == 0);
    if (event->message != NULL) {
        (void)fuzz_touch(event->message->text, event->message->text_length);
    }
    world.depth++; /* a handler is never called from within itself, whatever it calls */
    if (world.calls < 64 && fuzz_u8(world.input) >= 0xC0) {
        world.calls++;
        uint8_t choice = fuzz_u8(world.input);
        tendon_activ5_device *device = &world.devices[choice % DEVICES];
        switch (choice >> 2 & 7u) {
        case 0:
            (void)tendon_activ5_manager_scan(&world.manager, now);
            break;
        case 1:
            (void)tendon_activ5_device_connect(device, now);
            break;
        case 2:
            (void)tendon_activ5_device_disconnect(device, now);
            break;
        case 3:
            (void)tendon_activ5_device_start_isometric_when_ready(device, now);
            break;
        case 4:
            tendon_activ5_manager_disconnect_all(&world.manager, now);
            break;
        case 5:
            if ((choice & 0x80u) != 0) {
                tendon_activ5_manager_remove(&world.manager, device);
            } else {
                tendon_activ5_manager_stop_scanning(&world.manager, now);
            }
            break;
        case 6:
            tendon_activ5_device_set_evergreen(device, (choice & 0x80u) != 0, now);
            break;
        default:
            (void)tendon_activ5_device_send(device, (tendon_activ5_command)(choice >> 4), now);
            break;
        }
    }
    world.depth--;
}

static tendon_status on_request(void *context, const tendon_activ5_request *request, uint64_t now) {
    (void)context;
    FUZZ_CHECK((unsigned)request->kind <= TENDON_ACTIV5_REQUEST_WRITE && now <= world.now);
    (void)fuzz_touch(request->value, request->length);
    return fuzz_u8(world.input) >= 0xF0 ? TENDON_GATT_ERROR_QUEUE_FULL : TENDON_OK;
}

static void discovered(fuzz_input *input, tendon_activ5_device *device) {
    tendon_activ5_characteristic found[12];
    size_t count = fuzz_u8(input) % 13u;
    for (size_t i = 0; i < count; i++) {
        found[i] = (tendon_activ5_characteristic)(fuzz_u8(input) % (TENDON_ACTIV5_CHARACTERISTIC_COUNT + 2u));
    }
    tendon_activ5_device_discovered(device, (count & 1u) != 0, found, count, world.now);
}

static void link_input(fuzz_input *input, uint8_t choice, tendon_activ5_device *device) {
    fuzz_block block = {NULL, 0};
    switch (choice % 6u) {
    case 0:
        tendon_activ5_device_link_up(device, world.now);
        break;
    case 1:
        tendon_activ5_device_link_failed(device, TENDON_ERROR_TIMEOUT, world.now);
        break;
    case 2:
        tendon_activ5_device_link_down(device, TENDON_RADIO_ERROR_PEER_CLOSED, world.now);
        break;
    case 3:
        discovered(input, device);
        break;
    default:
        choice = fuzz_u8(input);
        block = fuzz_block_of(input);
        tendon_activ5_device_value(device, (tendon_activ5_characteristic)(choice % 14u), block.data, block.length,
                                   world.now);
        free(block.data);
        break;
    }
}

/* From one of 256 addresses of either type. */
static void report(fuzz_input *input, uint8_t choice) {
    tendon_ad_report report = {.address = {{fuzz_u8(input), 1, 2, 3, 4, 0xC5}, (uint8_t)(choice & 1u)},
                               .rssi = (int8_t)fuzz_u8(input)};
    fuzz_block block = fuzz_block_of(input);
    report.data = block.data;
    report.length = block.length;
    (void)tendon_activ5_manager_on_advertisement(&world.manager, &report, world.now);
    free(block.data);
}

static void act(fuzz_input *input) {
    uint8_t choice = fuzz_u8(input);
    tendon_activ5_device *device = &world.devices[choice % DEVICES];
    fuzz_block block = {NULL, 0};
    switch (choice >> 4) {
    case 0:
        (void)tendon_activ5_manager_scan(&world.manager, world.now);
        break;
    case 1:
        block = fuzz_block_of(input);
        (void)tendon_activ5_manager_advertised(&world.manager, (const char *)block.data, block.length, NULL, -60,
                                               world.now);
        free(block.data);
        break;
    case 2:
        if ((choice & 8u) != 0) {
            (void)tendon_activ5_device_open(device, world.now);
        } else {
            (void)tendon_activ5_device_connect(device, world.now);
        }
        break;
    case 7:
        report(input, choice);
        break;
    case 3:
        tendon_activ5_manager_set_radio(&world.manager,
                                        (choice & 8u) != 0 ? TENDON_OK : TENDON_RADIO_ERROR_ADAPTER_DOWN, world.now);
        break;
    case 4:
        world.manager.options.reconnect = (tendon_activ5_reconnect)(choice & 1u);
        world.manager.options.squeeze.release_on_reset = (choice & 2u) != 0;
        world.manager.options.accept_f0f1 = (choice & 4u) != 0;
        break;
    case 5:
        world.now += (uint64_t)fuzz_u16(input) << (choice & 15u);
        tendon_activ5_manager_tick(&world.manager, world.now);
        FUZZ_CHECK(tendon_activ5_manager_deadline(&world.manager) > world.now);
        break;
    case 6:
        (void)tendon_activ5_device_disconnect(device, world.now);
        break;
    default:
        link_input(input, (uint8_t)(choice >> 2), device);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    memset(&world, 0, sizeof world);
    world.input = &input;
    world.now = 1000;
    tendon_activ5_manager_init(&world.manager, world.devices, DEVICES, on_event, on_request, NULL);
    for (unsigned steps = 0; steps < 500 && input.left > 0; steps++) {
        act(&input);
        for (size_t i = 0; i < DEVICES; i++) {
            FUZZ_CHECK((unsigned)world.devices[i].state < TENDON_ACTIV5_STATE_COUNT);
            FUZZ_CHECK(world.devices[i].link != TENDON_ACTIV5_LINK_NONE || world.devices[i].characteristics == 0);
        }
    }
    return 0;
}
