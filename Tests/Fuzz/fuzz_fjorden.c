/* SPDX-License-Identifier: MIT */
/*
 * Fjorden grip. First byte 0x80 and above: decoders, each with a block of the input. Below: a session and a simulated
 * grip in the air; what the grip sends is changed, cut, doubled or dropped on its way, as the input says. In between:
 * calls, time, a grip that comes and goes, loss, power.
 */
#include "fuzz_air.h"
#include "tendon/devices/fjorden.h"
#include "tendon/simulate/fjorden.h"
#include "tendon/simulate/fjorden_services.h"

static struct {
    tendon_fjorden_profile profile;
    tendon_fjorden_session session;
    tendon_fjorden_grip grips[2];
    tendon_simulated_fjorden grip;
    tendon_memory_radio air;
    tendon_memory_radio_device device;
    uint64_t now;
    unsigned requests, responses;
    bool inside;
} world;

/* ---- decoders ---- */

static void walk_records(fuzz_block block, bool code8) {
    tendon_fjorden_profile profile;
    tendon_fjorden_stream stream = {0};
    tendon_fjorden_records records;
    tendon_fjorden_record record;
    tendon_fjorden_profile_init(&profile);
    profile.format = code8 ? TENDON_FJORDEN_CODE8 : TENDON_FJORDEN_RECORD5;
    size_t count = 0;
    uint64_t time = 0;
    for (int twice = 0; twice < 2; twice++) {
        (void)tendon_fjorden_stream_begin(&stream, &records, &profile, block.data, block.length);
        while (tendon_fjorden_stream_next(&stream, &records, &record)) {
            FUZZ_CHECK(record.time_ms >= time || code8);
            FUZZ_CHECK(record.count >= 1 || record.status < 0);
            time = record.time_ms;
            count++;
        }
    }
    FUZZ_CHECK(count <= 2 * block.length);
}

static void version(fuzz_block block) {
    tendon_fjorden_version parsed, again;
    char text[512];
    if (!tendon_fjorden_version_parse((const char *)block.data, block.length, &parsed)) {
        return;
    }
    FUZZ_CHECK(tendon_fjorden_version_compare(&parsed, &parsed) == 0);
    tendon_status length = tendon_fjorden_version_format(&parsed, text, sizeof text);
    if (length >= 0) { /* what was written reads the same */
        FUZZ_CHECK(tendon_fjorden_version_parse(text, (size_t)length, &again));
        FUZZ_CHECK(tendon_fjorden_version_compare(&parsed, &again) == 0);
    }
}

static void decode(fuzz_input *input, uint8_t kind) {
    fuzz_block block = fuzz_take(input, input->left);
    tendon_fjorden_control_state state;
    tendon_fjorden_response response;
    tendon_fjorden_smp smp;
    switch (kind % 8) {
    case 0:
        if (tendon_fjorden_decode_control_state(block.data, block.length, &state) >= 0) {
            FUZZ_CHECK(state.lever >= -1 && state.lever <= 1 && state.shutter <= 2);
        }
        break;
    case 1:
        if (tendon_fjorden_decode_response(block.data, block.length, &response) >= 0) {
            (void)fuzz_touch(response.payload, response.payload_length);
        }
        break;
    case 2:
        FUZZ_CHECK(tendon_fjorden_decode_battery(block.data, block.length) <= 100);
        break;
    case 3:
        FUZZ_CHECK(tendon_fjorden_decode_hid_report(block.data, block.length) <= 0x029C);
        break;
    case 4:
        if (tendon_fjorden_decode_smp(block.data, block.length, &smp) >= 0) {
            (void)fuzz_touch(smp.payload, smp.length);
        }
        break;
    case 5:
        version(block);
        break;
    case 6:
        (void)tendon_fjorden_recognize(NULL, block.data, block.length);
        break;
    default:
        walk_records(block, (kind & 8u) != 0);
        break;
    }
    free(block.data);
}

/* ---- the session ---- */

static void on_event(void *context, const tendon_fjorden_session_event *notice, uint64_t now) {
    (void)context, (void)now;
    FUZZ_CHECK(!world.inside);
    world.inside = true;
    if (notice->kind == TENDON_FJORDEN_SESSION_EVENT_TARGET) {
        tendon_memory_radio_set_target(&world.air, &world.device.address);
    } else if (notice->kind == TENDON_FJORDEN_SESSION_EVENT_OUTPUT) {
        tendon_fjorden_output_kind kind = notice->output->kind;
        if (kind == TENDON_FJORDEN_OUT_SCAN_START || kind == TENDON_FJORDEN_OUT_SCAN_STOP) {
            tendon_memory_radio_scan(&world.air, kind == TENDON_FJORDEN_OUT_SCAN_START);
        }
    } else if (notice->kind == TENDON_FJORDEN_SESSION_EVENT_RESPONSE) {
        world.responses++;
        if (notice->response != NULL) {
            (void)fuzz_touch(notice->response->payload, notice->response->payload_length);
        }
    }
    world.inside = false;
}

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)context;
    (void)tendon_fjorden_session_on_advertisement(&world.session, report, now);
}

static void pass_time(fuzz_input *input, uint64_t ms) {
    world.now = fuzz_air_pass(input, &world.air, world.now, ms, 200);
    FUZZ_CHECK(world.session.manager.state < TENDON_FJORDEN_STATE_COUNT);
}

static void call(uint8_t choice) {
    tendon_fjorden_input input = {.kind = (tendon_fjorden_input_kind)(choice % (TENDON_FJORDEN_ON_ADVERTISEMENT + 1)),
                                  .ok = (choice & 0x80u) != 0};
    tendon_fjorden_identifier(&world.device.address, input.grip.identifier);
    FUZZ_CHECK(tendon_fjorden_session_input(&world.session, &input, world.now) == TENDON_OK);
}

static void act(fuzz_input *input) {
    uint8_t choice = fuzz_u8(input);
    tendon_fjorden_command command = {.opcode = (tendon_fjorden_opcode)(choice >> 4), .config = {500, 400, 1}};
    switch (choice % 10) {
    case 0:
        call(fuzz_u8(input));
        break;
    case 1:
        world.requests += tendon_fjorden_session_request(&world.session, &command, world.now) == TENDON_OK;
        break;
    case 2:
        (void)tendon_fjorden_session_read_info(&world.session, world.now);
        (void)tendon_fjorden_session_read_battery(&world.session, world.now);
        break;
    case 3:
        (void)tendon_simulated_fjorden_move(&world.grip, (tendon_fjorden_control)(choice >> 4),
                                            (int8_t)fuzz_u8(input) % 3, world.now);
        break;
    case 4:
        tendon_simulated_fjorden_lose(&world.grip, choice >> 4);
        break;
    case 5:
        tendon_memory_radio_set_present(&world.air, &world.device, (choice & 0x10u) != 0, world.now);
        break;
    case 6:
        tendon_simulated_fjorden_inject(
            &world.grip, (tendon_simulated_fjorden_malformation)((choice >> 4) % TENDON_FJORDEN_MALFORM_COUNT), 1,
            world.now);
        break;
    case 7:
        pass_time(input, 3000);
        break;
    case 8:
        (void)tendon_fjorden_session_disconnect(&world.session, world.now);
        break;
    default:
        if (choice == 0xFF) { /* a response to a request that has ended */
            world.requests -= world.session.work.requested;
            tendon_fjorden_session_cancel_request(&world.session);
        }
        pass_time(input, 50);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    uint8_t kind = fuzz_u8(&input);
    if (kind >= 0x80) {
        decode(&input, kind);
        return 0;
    }
    memset(&world, 0, sizeof world);
    world.now = 1000;
    tendon_simulated_fjorden_options options = {.lacks = kind & 1u ? 1u << (kind >> 4) : 0, .open = (kind & 2u) != 0};
    FUZZ_CHECK(tendon_simulated_fjorden_init(&world.grip, &options) >= 0);
    world.device = (tendon_memory_radio_device){.device = tendon_simulated_fjorden_device(&world.grip),
                                                .address = {{0xC1, 2, 3, 4, 5, 6}, TENDON_ADDRESS_TYPE_RANDOM},
                                                .present = true,
                                                .rejects_pairing = (kind & 4u) != 0};
    tendon_memory_radio_init(&world.air, &world.device, 1);
    tendon_fjorden_profile_init(&world.profile);
    world.profile.format = (kind & 8u) != 0 ? TENDON_FJORDEN_CODE8 : TENDON_FJORDEN_RECORD5;
    const tendon_fjorden_session_config config = {.link = tendon_memory_radio_link(&world.air),
                                                  .profile = &world.profile,
                                                  .grips = world.grips,
                                                  .grip_capacity = 2,
                                                  .on_event = on_event};
    FUZZ_CHECK(tendon_fjorden_session_init(&world.session, &config) >= 0);
    tendon_memory_radio_attach(&world.air, &tendon_fjorden_session_inputs, &world.session);
    world.air.on_report = on_report;
    tendon_fjorden_manager_set_environment(&world.session.manager, TENDON_FJORDEN_AUTHORIZATION_ALLOWED, true);
    call(TENDON_FJORDEN_CALL_CONFIGURE);
    call(TENDON_FJORDEN_CALL_START);
    call(TENDON_FJORDEN_CALL_CONNECT);
    pass_time(&input, 500);
    for (unsigned steps = 0; steps < 300 && input.left > 0; steps++) {
        act(&input);
    }
    (void)tendon_fjorden_session_disconnect(&world.session, world.now);
    input.left = 0;
    pass_time(&input, 100);
    /* A link that goes takes what waited for it along. */
    FUZZ_CHECK(world.air.peer == NULL && world.session.engine.state == TENDON_ENGINE_AWAY);
    FUZZ_CHECK(world.responses == world.requests);
    return 0;
}
