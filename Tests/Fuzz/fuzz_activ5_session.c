/* SPDX-License-Identifier: MIT */
/*
 * An Activ5 session over a real GATT client, against the simulated trainer, through a connection in memory that changes
 * the trainer's PDUs as the input says. In between: calls of the application, also from within events, time, lost
 * connections, squeezes, malformed values, a trainer that is switched off. Its motion goes through the orientation
 * filter.
 */
#include "fuzz_air.h"
#include "tendon/devices.h"
#include "tendon/simulate.h"

static struct {
    tendon_activ5_device device;
    tendon_activ5_options options;
    tendon_activ5_session session;
    tendon_simulated_activ5 trainer;
    tendon_memory_radio air;
    tendon_memory_radio_device in_air;
    tendon_activ5_orientation orientation;
    fuzz_input *input;
    uint64_t now;
    unsigned depth, calls;
} world;

static void call(fuzz_input *input, uint8_t choice, uint64_t now) {
    tendon_activ5_device *device = &world.device;
    switch (choice % 14u) {
    case 0:
        (void)tendon_activ5_device_connect(device, now);
        break;
    case 1:
        (void)tendon_activ5_device_open(device, now);
        break;
    case 2:
        (void)tendon_activ5_device_disconnect(device, now);
        break;
    case 3:
        (void)tendon_activ5_device_start_isometric_when_ready(device, now);
        break;
    case 4:
        (void)tendon_activ5_device_start_isometric(device, now);
        break;
    case 5:
        (void)tendon_activ5_device_stop(device, now);
        break;
    case 6:
        (void)tendon_activ5_device_start_imu(device, now);
        break;
    case 7:
        (void)tendon_activ5_device_stop_imu(device, now);
        break;
    case 8:
        (void)tendon_activ5_device_tare(device, now);
        break;
    case 9:
        (void)tendon_activ5_device_set_sample_rate(device, (int64_t)fuzz_u16(input) - 1000, now);
        break;
    case 10:
        (void)tendon_activ5_device_send(device, (tendon_activ5_command)fuzz_u8(input), now);
        break;
    case 11: {
        fuzz_block text = fuzz_block_of(input);
        (void)tendon_activ5_device_send_text(device, (const char *)text.data, text.length, now);
        free(text.data);
        break;
    }
    case 12:
        tendon_activ5_device_set_evergreen(device, (choice & 0x80u) != 0, now);
        break;
    default: {
        uint8_t uuid[2 * TENDON_ACTIV5_KEPT_SIZE];
        FUZZ_CHECK(tendon_activ5_device_get_battery(device, now) <= 100);
        FUZZ_CHECK(tendon_activ5_device_get_serial_number(device) <= TENDON_ACTIV5_KEPT_SIZE);
        FUZZ_CHECK(tendon_activ5_device_get_uuid(device, uuid, sizeof uuid) <= (tendon_status)sizeof uuid);
        break;
    }
    }
}

static void on_event(void *context, const tendon_activ5_event *event, uint64_t now) {
    (void)context;
    FUZZ_CHECK((unsigned)event->kind < TENDON_ACTIV5_EVENT_COUNT && world.depth < 2);
    if (event->message != NULL) {
        (void)fuzz_touch(event->message->text, event->message->text_length);
    }
    if (event->kind == TENDON_ACTIV5_EVENT_IMU) {
        (void)tendon_activ5_orientation_update(&world.orientation, &event->message->imu);
        tendon_quaternion q = world.orientation.q;
        double norm = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
        FUZZ_CHECK(norm > 0.999 && norm < 1.001);
    }
    if (event->kind == TENDON_ACTIV5_EVENT_DISCONNECTED || event->kind == TENDON_ACTIV5_EVENT_CONNECT_FAILED) {
        FUZZ_CHECK(event->device->link == TENDON_ACTIV5_LINK_NONE && !event->device->opening);
    }
    world.depth++;
    if (world.depth == 1 && world.calls < 64 && fuzz_u8(world.input) >= 0xE0) {
        world.calls++;
        call(world.input, fuzz_u8(world.input), now);
    }
    world.depth--;
}

static void trainer(fuzz_input *input, uint8_t choice) {
    switch (choice % 8u) {
    case 0:
        tendon_simulated_activ5_inject(
            &world.trainer, (tendon_simulated_activ5_malformation)(fuzz_u8(input) % TENDON_ACTIV5_MALFORM_COUNT),
            1u + (choice >> 5));
        break;
    case 1:
        tendon_simulated_activ5_double_squeeze(&world.trainer, world.now);
        break;
    case 2:
        tendon_simulated_activ5_squeeze(&world.trainer, fuzz_u16(input), (int32_t)fuzz_u16(input) - 1000, world.now);
        break;
    case 3:
        tendon_simulated_activ5_load(&world.trainer, (int32_t)fuzz_u16(input) - 30000);
        break;
    case 4:
        tendon_simulated_activ5_set_battery(&world.trainer, fuzz_u8(input));
        break;
    case 5:
        tendon_simulated_activ5_power(&world.trainer, (choice & 0x40u) != 0);
        break;
    case 6:
        tendon_activ5_orientation_tare(&world.orientation, (double)fuzz_u16(input) / 1000.0);
        break;
    default:
        tendon_activ5_orientation_reset(&world.orientation);
        break;
    }
}

static void act(fuzz_input *input) {
    uint8_t choice = fuzz_u8(input);
    switch (choice >> 5) {
    case 0:
    case 1:
    case 2:
        call(input, choice, world.now);
        break;
    case 3:
        trainer(input, choice);
        break;
    case 4:
        tendon_memory_radio_set_present(&world.air, &world.in_air, (choice & 1u) != 0, world.now);
        break;
    case 5: /* much time: timeouts, evergreen, the end of the seven minutes */
        world.now = fuzz_air_pass(input, &world.air, world.now, (uint64_t)fuzz_u16(input) * 8u, 400);
        break;
    default:
        world.now = fuzz_air_pass(input, &world.air, world.now, 1u + fuzz_u8(input), 200);
        break;
    }
    FUZZ_CHECK(world.session.waiting <= TENDON_ACTIV5_QUEUE_SIZE);
    FUZZ_CHECK((unsigned)world.device.state < TENDON_ACTIV5_STATE_COUNT);
    FUZZ_CHECK(world.device.link == TENDON_ACTIV5_LINK_UP || world.device.characteristics == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    memset(&world, 0, sizeof world);
    world.input = &input;
    world.now = 1000;
    world.options = tendon_activ5_options_defaults();
    uint8_t traits = fuzz_u8(&input), ours = fuzz_u8(&input);
    const tendon_simulated_activ5_options options = {
        .legacy = (traits & 1u) != 0,
        .silent = (traits & 2u) != 0,
        .stale_tails = (traits & 4u) != 0,
        .split_frames = (traits & 8u) != 0,
        .accepts_early = (traits & 16u) != 0,
        .force_is_f0f1 = (traits & 32u) != 0,
        .no_script = (traits & 64u) != 0,
        .lacks = (traits & 128u) != 0 ? fuzz_u16(&input) : 0,
        .notification_limit = 500,
    };
    world.options.auto_handshake = (ours & 1u) == 0;
    world.options.accept_f0f1 = (ours & 2u) != 0;
    world.options.squeeze.release_on_reset = (ours & 4u) != 0;
    FUZZ_CHECK(tendon_simulated_activ5_init(&world.trainer, &options) == TENDON_OK);
    tendon_activ5_orientation_init(&world.orientation);
    tendon_activ5_device_init(&world.device, &world.options, on_event, NULL, NULL, NULL);
    world.in_air = (tendon_memory_radio_device){.device = tendon_simulated_activ5_device(&world.trainer),
                                                .address = {{0xC5, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM},
                                                .rssi = -50,
                                                .present = true};
    tendon_memory_radio_init(&world.air, &world.in_air, 1);
    tendon_memory_radio_set_target(&world.air, &world.in_air.address);
    const tendon_session_link link = tendon_memory_radio_link(&world.air);
    FUZZ_CHECK(tendon_activ5_session_init(&world.session, &link, &world.device) == TENDON_OK);
    tendon_memory_radio_attach(&world.air, &tendon_activ5_session_inputs, &world.session);
    for (unsigned steps = 0; steps < 200 && input.left > 0; steps++) {
        act(&input);
    }
    return 0;
}
