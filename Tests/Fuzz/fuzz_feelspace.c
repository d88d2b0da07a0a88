/* SPDX-License-Identifier: MIT */
/*
 * feelSpace belt. First byte 0xF0 and above: the encoders of signals and tones, whose packets a belt must accept. 0x80
 * and above: decoders, each with a block of the input. Below: navigation, session and
 * a simulated belt in the air; what the belt sends is changed, cut or replaced on its way, as the input says. In
 * between: calls, commands, buttons, time, a belt that comes and goes.
 */
#include "fuzz_air.h"
#include "tendon/devices/feelspace.h"
#include "tendon/simulate/feelspace.h"
#include "tendon/simulate/feelspace_usb.h"

static struct {
    tendon_feelspace_session session;
    tendon_feelspace_navigation navigation;
    tendon_simulated_feelspace belt;
    tendon_memory_radio air;
    tendon_memory_radio_device device;
    uint64_t now;
    unsigned queued, ended;
} world;

/* ---- decoders ---- */

static void vibrations(fuzz_block block) {
    tendon_feelspace_channel channel;
    tendon_feelspace_pulse pulse;
    uint8_t again[TENDON_FEELSPACE_PACKET_MAX];
    /* What a belt understands, a client may send: and it is the same packet, but for its spellings of "for ever". */
    if (tendon_feelspace_decode_channel(block.data, block.length, &channel, NULL) >= 0 &&
        tendon_feelspace_encode_channel(&channel, TENDON_FEELSPACE_CHANNELS_EXTENDED, again, sizeof again) >= 0) {
        FUZZ_CHECK(again[0] == block.data[0] && again[1] == block.data[1] && again[12] == block.data[12]);
    }
    if (tendon_feelspace_decode_pulse(block.data, block.length, &pulse, NULL) >= 0 &&
        tendon_feelspace_encode_pulse(&pulse, again, sizeof again) >= 0) {
        FUZZ_CHECK(memcmp(again + 10, block.data + 10, 5) == 0);
    }
    for (uint8_t mode = 0; mode < 8; mode++) { /* app mode takes what the others do */
        FUZZ_CHECK(!tendon_feelspace_belt_accepts(mode, block.data, block.length) ||
                   tendon_feelspace_belt_accepts(TENDON_FEELSPACE_MODE_APP, block.data, block.length));
    }
}

static void parameters(fuzz_block block) {
    tendon_feelspace_parameter p;
    size_t offset = 0;
    tendon_status status = tendon_feelspace_decode_parameter(block.data, block.length, &p, &offset);
    FUZZ_CHECK(status >= 0 || offset <= block.length);
    if (status >= 0 && p.kind == TENDON_FEELSPACE_PARAMETER_NAME) {
        (void)fuzz_touch(p.name.text, p.name.length);
    } else if (status >= 0 && p.kind == TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET) {
        FUZZ_CHECK(p.degrees < 360);
    }
}

static void notifications(fuzz_block block) {
    uint8_t mode;
    tendon_feelspace_press press;
    tendon_feelspace_battery battery;
    tendon_feelspace_orientation orientation;
    tendon_feelspace_firmware firmware;
    FUZZ_CHECK(tendon_feelspace_decode_keep_alive(block.data, block.length, &mode, NULL) < 0 || mode <= 6);
    FUZZ_CHECK(tendon_feelspace_decode_button(block.data, block.length, &press, NULL) < 0 || press.new_mode <= 6);
    FUZZ_CHECK(tendon_feelspace_decode_battery(block.data, block.length, &battery, NULL) < 0 ||
               battery.level_percent <= 100.0);
    FUZZ_CHECK(tendon_feelspace_decode_orientation(block.data, block.length, &orientation, NULL) < 0 ||
               orientation.heading_360 < 360);
    (void)tendon_feelspace_decode_firmware(block.data, block.length, &firmware, NULL);
}

static void development(fuzz_block block) {
    tendon_feelspace_debug debug;
    tendon_feelspace_usb_frame frame;
    (void)tendon_feelspace_decode_debug(block.data, block.length, &debug, NULL);
    if (tendon_feelspace_decode_usb_frame(block.data, block.length, &frame, NULL) >= 0) {
        (void)fuzz_touch(frame.payload, frame.length);
    }
}

static void decode(fuzz_input *input, uint8_t kind) {
    static void (*const decoders[])(fuzz_block) = {vibrations, parameters, notifications, development};
    fuzz_block block = fuzz_take(input, input->left);
    decoders[kind % 4](block);
    free(block.data);
}

/* ---- encoders: into blocks of exactly their size ---- */

static int32_t i32(fuzz_input *input) {
    uint32_t low = fuzz_u16(input);
    return (int32_t)(low | (uint32_t)fuzz_u16(input) << 16);
}

/* A result is an error, or the length of a packet that fits and that a belt in app mode accepts. */
static void accepted(tendon_status length, const uint8_t *packet, size_t capacity) {
    FUZZ_CHECK(length < 0 || (length > 0 && (size_t)length <= capacity));
    FUZZ_CHECK(length < 0 || tendon_feelspace_belt_accepts(TENDON_FEELSPACE_MODE_APP, packet, (size_t)length));
}

static void vibrate(fuzz_input *input, uint8_t *out, size_t capacity) {
    tendon_feelspace_vibration vibration = {.signal = fuzz_u8(input), .is_bearing = (fuzz_u8(input) & 1u) != 0};
    fuzz_block degrees = fuzz_take(input, sizeof vibration.direction);
    memcpy(&vibration.direction, degrees.data, degrees.length); /* any double, NaN and infinity included */
    free(degrees.data);
    vibration.intensity = (int32_t)fuzz_u8(input) - 2;
    vibration.channel = (int32_t)fuzz_u8(input) % 9 - 1;
    vibration.stop_others = (fuzz_u8(input) & 1u) != 0;
    accepted(tendon_feelspace_encode_vibration(&vibration, TENDON_FEELSPACE_CHANNELS_EXTENDED, out, capacity), out,
             capacity);
    uint16_t whole = 0;
    FUZZ_CHECK(!tendon_feelspace_degrees(vibration.direction, &whole) || whole < 360);
}

static void guide(fuzz_input *input, uint8_t *out, size_t capacity) {
    int32_t signal = (int32_t)fuzz_u8(input) % 20 - 2, direction = i32(input);
    bool is_bearing = (fuzz_u8(input) & 1u) != 0;
    tendon_status length = tendon_feelspace_encode_navigation(signal, direction, is_bearing, out, capacity);
    accepted(length, out, capacity);
    FUZZ_CHECK(length < 0 || tendon_feelspace_navigation_signal_repeated(signal));
    (void)tendon_feelspace_navigation_signal_directional(signal);
    length = tendon_feelspace_encode_direction_notice(direction, is_bearing, out, capacity);
    accepted(length, out, capacity);
    /* Notices work in every mode. */
    FUZZ_CHECK(length < 0 || tendon_feelspace_belt_accepts(TENDON_FEELSPACE_MODE_WAIT, out, (size_t)length));
    length = tendon_feelspace_encode_warning_notice(is_bearing, out, capacity);
    accepted(length, out, capacity);
    FUZZ_CHECK(length < 0 || tendon_feelspace_belt_accepts(TENDON_FEELSPACE_MODE_WAIT, out, (size_t)length));
}

static void tones(fuzz_input *input, uint8_t *out, size_t capacity) {
    float seconds[12] = {0}, hertz[12] = {0};
    size_t count = fuzz_u8(input) % 12u;
    fuzz_block first = fuzz_take(input, count * sizeof(float)), second = fuzz_take(input, count * sizeof(float));
    memcpy(seconds, first.data, first.length);
    memcpy(hertz, second.data, second.length);
    free(first.data);
    free(second.data);
    tendon_status length = tendon_feelspace_encode_tone(seconds, hertz, count, out, capacity);
    FUZZ_CHECK(length < 0 || ((size_t)length == 2 + 2 * count && (size_t)length <= capacity && out[1] == count));
}

static void encode(fuzz_input *input, uint8_t kind) {
    static void (*const encoders[])(fuzz_input *, uint8_t *, size_t) = {vibrate, guide, tones};
    size_t capacity = fuzz_u8(input) % 21u;
    uint8_t *out = malloc(capacity > 0 ? capacity : 1);
    FUZZ_CHECK(out != NULL);
    encoders[kind % 3](input, out, capacity);
    free(out);
}

/* ---- navigation and session ---- */

static void on_told(void *context, const tendon_feelspace_navigation_event *event, uint64_t now) {
    (void)context, (void)now;
    FUZZ_CHECK(world.navigation.state < TENDON_FEELSPACE_NAVIGATION_STATE_COUNT);
    if (event->found != NULL) {
        (void)fuzz_touch(event->found->found.name, event->found->found.name_length);
    }
}

static void on_event(void *context, const tendon_feelspace_event *event, uint64_t now) {
    (void)context;
    FUZZ_CHECK(world.session.state < TENDON_FEELSPACE_STATE_COUNT);
    if (event->kind == TENDON_FEELSPACE_EVENT_COMMAND) {
        world.ended++;
    } else if (event->kind == TENDON_FEELSPACE_EVENT_DEBUG || event->kind == TENDON_FEELSPACE_EVENT_REJECTED) {
        (void)fuzz_touch(event->packet.data, event->packet.length);
        FUZZ_CHECK(event->packet.offset <= event->packet.length);
    }
    tendon_feelspace_navigation_on_event(&world.navigation, event, now);
}

static tendon_status on_scan(void *context, bool on) {
    tendon_memory_radio_scan(context, on);
    return TENDON_OK;
}

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)context;
    tendon_feelspace_session_advertised(&world.session, report, now);
}

static void pass_time(fuzz_input *input, uint64_t ms) {
    world.now = fuzz_air_pass(input, &world.air, world.now, ms, 400);
}

static void command(fuzz_input *input) {
    tendon_feelspace_session *s = &world.session;
    uint8_t choice = fuzz_u8(input), value = fuzz_u8(input);
    uint32_t before = s->last_command;
    fuzz_block block;
    switch (choice % 8) {
    case 0:
        (void)tendon_feelspace_session_set_mode(s, value % 8, world.now);
        break;
    case 1:
        (void)tendon_feelspace_session_set_default_intensity(s, value, false, world.now);
        break;
    case 2:
        (void)tendon_feelspace_session_start_orientation(s, value * 10u, value, world.now);
        break;
    case 3:
        (void)tendon_feelspace_session_stop_orientation(s, world.now);
        break;
    case 4:
        (void)tendon_feelspace_session_set_orientation_period(s, value * 10, world.now);
        break;
    case 5:
        (void)tendon_feelspace_session_request_log(s, world.now);
        break;
    case 6:
        (void)tendon_feelspace_session_signal(s, value % 4, world.now);
        break;
    default:
        block = fuzz_take(input, value % 24u);
        (void)tendon_feelspace_session_send(s, (tendon_feelspace_characteristic)(0xFE03 + (choice >> 4) * 2),
                                            block.data, (tendon_status)block.length, world.now);
        free(block.data);
        break;
    }
    world.queued += s->last_command != before;
}

static void act(fuzz_input *input) {
    uint8_t choice = fuzz_u8(input), high = choice >> 4;
    tendon_feelspace_navigation *n = &world.navigation;
    uint32_t before = world.session.last_command;
    switch (choice % 12) {
    case 0:
        command(input);
        return;
    case 1:
        (void)tendon_feelspace_navigation_search_and_connect(n, world.now);
        break;
    case 2:
        (void)tendon_feelspace_navigation_start(n, high * 30, (choice & 0x10u) != 0, high, world.now);
        break;
    case 3:
        (void)tendon_feelspace_navigation_update(n, high * 30, (choice & 0x10u) != 0, high, world.now);
        break;
    case 4:
        tendon_feelspace_navigation_pause(n, world.now);
        break;
    case 5:
        (void)tendon_feelspace_navigation_notify_destination(n, (choice & 0x10u) != 0, world.now);
        break;
    case 6:
        tendon_simulated_feelspace_press_button(&world.belt, high % 5,
                                                (tendon_simulated_feelspace_press)(fuzz_u8(input) % 3), world.now);
        break;
    case 7:
        tendon_simulated_feelspace_change_mode(&world.belt, high % 8, world.now);
        break;
    case 8:
        tendon_memory_radio_set_present(&world.air, &world.device, high != 0, world.now);
        break;
    case 9:
        pass_time(input, high * 500u);
        break;
    case 10:
        if (high < 4) {
            tendon_feelspace_navigation_disconnect(n, world.now);
        } else if (high < 8) {
            tendon_feelspace_session_adapter(&world.session, (tendon_feelspace_adapter)(high - 4), world.now);
        } else {
            tendon_simulated_feelspace_inject(&world.belt, (tendon_simulated_feelspace_malformation)(high % 4), 1);
        }
        break;
    default:
        pass_time(input, 40);
        break;
    }
    world.queued += world.session.last_command != before; /* at least one */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    uint8_t kind = fuzz_u8(&input);
    if (kind >= 0xF0) {
        encode(&input, kind);
        return 0;
    }
    if (kind >= 0x80) {
        decode(&input, kind);
        return 0;
    }
    memset(&world, 0, sizeof world);
    world.now = 1000;
    const tendon_simulated_feelspace_options options = {.generation = (uint8_t)(1 + (kind & 1u))};
    FUZZ_CHECK(tendon_simulated_feelspace_init(&world.belt, &options) >= 0);
    world.device = (tendon_memory_radio_device){.device = tendon_simulated_feelspace_device(&world.belt),
                                                .address = {{0xC2, 2, 3, 4, 5, 6}, TENDON_ADDRESS_TYPE_RANDOM},
                                                .present = true,
                                                .rejects_pairing = (kind & 2u) != 0};
    tendon_memory_radio_init(&world.air, &world.device, 1);
    const tendon_feelspace_session_config config = {.link = tendon_memory_radio_link(&world.air),
                                                    .scan = on_scan,
                                                    .on_event = on_event,
                                                    .reconnect = (kind & 4u) != 0,
                                                    .strict = (kind & 8u) != 0,
                                                    .skip_pairing = (kind & 16u) != 0};
    const tendon_feelspace_navigation_config layer = {.session = &world.session, .on_event = on_told};
    FUZZ_CHECK(tendon_feelspace_session_init(&world.session, &config) >= 0);
    FUZZ_CHECK(tendon_feelspace_navigation_init(&world.navigation, &layer) >= 0);
    tendon_memory_radio_attach(&world.air, &tendon_feelspace_navigation_inputs, &world.navigation);
    tendon_memory_radio_set_target(&world.air, &world.device.address);
    world.air.on_report = on_report;
    (void)tendon_feelspace_navigation_search_and_connect(&world.navigation, world.now);
    pass_time(&input, 1500);
    for (unsigned steps = 0; steps < 300 && input.left > 0; steps++) {
        act(&input);
    }
    tendon_feelspace_navigation_disconnect(&world.navigation, world.now);
    input.left = 0;
    pass_time(&input, 3000);
    /* A connection that ends takes its commands along. */
    FUZZ_CHECK(world.session.state == TENDON_FEELSPACE_NOT_CONNECTED && world.session.op.client == NULL);
    FUZZ_CHECK(tendon_feelspace_session_idle(&world.session) && world.ended >= world.queued);
    return 0;
}
