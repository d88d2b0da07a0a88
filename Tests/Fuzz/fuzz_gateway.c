/* SPDX-License-Identifier: MIT */
/* Actions of any words, and the lines and numbers of events with any content, of every family. */
#include "fuzz.h"
#include "json_line.h"
#include "tendon/gateway.h"

/* ---- actions ---- */

static const char file[] =
    "{\"name\":\"toy\",\"title\":\"T\",\"find\":{\"services\":[\"fff0\"]},\"characteristics\":[{\"name\":\"v\","
    "\"service\":"
    "\"fff0\",\"uuid\":\"fff1\",\"notify\":[{\"name\":\"n\",\"type\":\"u8\",\"hidden\":true,\"bits\":[{\"name\":\"on\","
    "\"bit\":7}]},{\"name\":\"k\",\"type\":\"i16\",\"factor\":0.01,\"values\":[[1,\"a\\\"b\"]]},{\"name\":\"l\","
    "\"count\":"
    "\"n\",\"records\":[{\"name\":\"a\",\"type\":\"f32\"},{\"name\":\"b\",\"type\":\"sfloat\"}]},{\"name\":\"t\","
    "\"type\":\"utf8\"}],\"write\":[{\"name\":\"m\",\"type\":\"u8\",\"values\":[[0,\"off\"],[5,\"on\"]]},{\"name\":"
    "\"rate\",\"type\":\"u16\",\"factor\":0.1},{\"name\":\"key\",\"type\":\"bytes\"}]}],\"events\":[{\"name\":\"e\","
    "\"layout\":\"v\"}],\"actions\":[{\"name\":\"go\",\"characteristic\":\"v\"}]}";

static const tendon_definition *toy(void) {
    static tendon_definition definition;
    static tendon_definition_scratch scratch;
    static bool is_parsed;
    tendon_definition_mistake mistake;
    if (!is_parsed) {
        FUZZ_CHECK(tendon_definition_parse(file, sizeof file - 1, &definition, &scratch, &mistake) == TENDON_OK);
        is_parsed = true;
    }
    return &definition;
}

static void action(fuzz_input *input) {
    static const char *const families[] = {"activ5", "bose", "feelspace", "fjorden", "obvious", "toy", "nothing"};
    uint8_t which = fuzz_u8(input) % 7;
    fuzz_block text = fuzz_block_of(input);
    tendon_act act;
    tendon_act_mistake mistake;
    tendon_status status = tendon_act_parse_text(families[which], which == 5 ? toy() : NULL, (const char *)text.data,
                                                 text.length, &act, &mistake);
    FUZZ_CHECK(status == TENDON_OK || status == TENDON_ERROR_NOT_FOUND || status == TENDON_ERROR_INVALID_ARGUMENT);
    if (status < 0) {
        FUZZ_CHECK(memchr(mistake.text, 0, sizeof mistake.text) != NULL && mistake.text[0] != '\0');
        FUZZ_CHECK(mistake.word <= text.length + 1);
    } else {
        FUZZ_CHECK(act.kind > TENDON_ACT_NONE && act.kind <= TENDON_ACT_DEFINED);
        FUZZ_CHECK(act.length <= TENDON_DEFINITION_VALUE);
    }
    free(text.data);
}

/* ---- events ---- */

/** A line whose buffer has a size of the input's choice. */
typedef struct out {
    tendon_line line;
    char *bytes;
    size_t capacity;
} out;

static const tendon_address peer = {.bytes = {1, 2, 3, 4, 5, 6}, .type = 1};

static void check(const out *o, tendon_status length) {
    FUZZ_CHECK(length >= 0 ? (size_t)length <= o->capacity : length == TENDON_ERROR_BUFFER_TOO_SMALL);
    fuzz_json_line(o->bytes, length);
}

/* Numbers of all kinds: those of a struct are not read as booleans, which other bits than 0 and 1 are not. */
static double number(fuzz_input *input) {
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++) {
        bits = bits << 16 | fuzz_u16(input);
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void bose(fuzz_input *input, out *o, const tendon_line_device *device) {
    static tendon_bose_session session;
    uint8_t bits = fuzz_u8(input);
    tendon_bose_sample sample = {.sensor_id = fuzz_u8(input) % 9,
                                 .has_vector = (bits & 1) != 0,
                                 .has_quaternion = (bits & 2) != 0,
                                 .has_accuracy = (bits & 4) != 0,
                                 .has_bias = (bits & 8) != 0,
                                 .accuracy_unknown = (bits & 16) != 0,
                                 .accuracy = fuzz_u8(input)};
    sample.quaternion = (tendon_quaternion){number(input), number(input), number(input), number(input)};
    sample.accuracy_rad = number(input);
    tendon_bose_event event = {.kind = (tendon_bose_event_kind)(fuzz_u8(input) % (TENDON_BOSE_EVENT_MALFORMED + 1)),
                               .status = -(tendon_status)fuzz_u16(input),
                               .received_at = fuzz_u16(input),
                               .sampled_at = fuzz_u16(input),
                               .reason = (tendon_bose_suspension_reason)fuzz_u8(input),
                               .sample = &sample,
                               .gesture.gesture_id = fuzz_u8(input)};
    session.has_sensor_configuration = session.has_gesture_configuration = true;
    session.sensor_configuration.count = session.gesture_configuration.count = fuzz_u8(input) % 17;
    for (size_t i = 0; i < session.sensor_configuration.count; i++) {
        session.sensor_configuration.settings[i] = (tendon_bose_sensor_setting){fuzz_u8(input), fuzz_u16(input)};
        session.gesture_configuration.entries[i].gesture_id = fuzz_u8(input);
        session.gesture_configuration.entries[i].enabled = (bits & 32) != 0;
    }
    check(o, tendon_bose_line(&o->line, device, fuzz_u16(input), &session, &event));
    tendon_view view;
    FUZZ_CHECK(!tendon_bose_view(&view, &event) || view.count <= TENDON_VIEW_CHANNELS);
}

static void activ5(fuzz_input *input, out *o, const tendon_line_device *device) {
    tendon_activ5_message message = {.newtons = number(input), .percent = fuzz_u8(input)};
    message.imu.timestamp = number(input);
    for (size_t i = 0; i < 3; i++) {
        message.imu.acceleration[i] = number(input);
        message.imu.gyro[i] = number(input);
    }
    tendon_activ5_request request = {.kind = (tendon_activ5_request_kind)(fuzz_u8(input) % 9),
                                     .characteristic = (tendon_activ5_characteristic)(fuzz_u8(input) % 16)};
    tendon_activ5_event event = {.kind = (tendon_activ5_event_kind)(fuzz_u8(input) % TENDON_ACTIV5_EVENT_COUNT),
                                 .status = -(tendon_status)fuzz_u16(input),
                                 .characteristic = request.characteristic,
                                 .message = &message,
                                 .request = &request};
    check(o, tendon_activ5_line(&o->line, device, 0, &event));
    tendon_view view;
    (void)tendon_activ5_view(&view, &event);
}

static void feelspace(fuzz_input *input, out *o, const tendon_line_device *device) {
    static tendon_feelspace_session session;
    session.mode = fuzz_u8(input);
    session.accuracy_state = (int8_t)fuzz_u8(input);
    session.battery.power_status = fuzz_u8(input);
    session.battery.level_percent = number(input);
    session.battery.tte_ttf_s = number(input);
    session.orientation.heading = (int16_t)fuzz_u16(input);
    tendon_feelspace_event event = {
        .kind = (tendon_feelspace_event_kind)(fuzz_u8(input) % (TENDON_FEELSPACE_EVENT_REJECTED + 1)),
        .status = -(tendon_status)fuzz_u16(input)};
    fuzz_block packet = fuzz_block_of(input);
    if (event.kind == TENDON_FEELSPACE_EVENT_BUTTON) {
        event.press = (tendon_feelspace_press){.button = fuzz_u8(input), .previous_mode = fuzz_u8(input)};
    } else {
        event.packet.data = packet.data;
        event.packet.length = packet.length;
    }
    check(o, tendon_feelspace_line(&o->line, device, 0, &session, &event));
    free(packet.data);
}

static void fjorden(fuzz_input *input, out *o, const tendon_line_device *device) {
    tendon_fjorden_record record = {.has_sequence = (fuzz_u8(input) & 1) != 0,
                                    .sequence = fuzz_u8(input),
                                    .code = fuzz_u8(input),
                                    .event = fuzz_u8(input),
                                    .value = (int8_t)fuzz_u8(input),
                                    .lost_before = fuzz_u8(input)};
    tendon_fjorden_output output = {.kind = (tendon_fjorden_output_kind)(fuzz_u8(input) % 15)};
    tendon_fjorden_session_event event = {.kind = (tendon_fjorden_session_event_kind)(fuzz_u8(input) % 8),
                                          .record = &record,
                                          .output = &output,
                                          .level = fuzz_u8(input),
                                          .synthesized = (fuzz_u8(input) & 1) != 0};
    check(o, tendon_fjorden_line(&o->line, device, 0, &event));
}

static void obvious(fuzz_input *input, out *o, const tendon_line_device *device) {
    tendon_obvious_feature features[64];
    size_t count = fuzz_u8(input) % 65;
    for (size_t i = 0; i < count; i++) {
        features[i] = (tendon_obvious_feature){fuzz_u16(input), fuzz_u8(input) % 3, fuzz_u8(input) % 4};
    }
    tendon_obvious_event event = {.kind = (tendon_obvious_event_kind)(fuzz_u8(input) % 6),
                                  .operation = (tendon_obvious_operation)fuzz_u8(input),
                                  .code = fuzz_u8(input),
                                  .features = features,
                                  .count = count};
    size_t index = 0;
    for (tendon_status length = 1; length > 0; index++) {
        length = tendon_obvious_line(&o->line, device, 0, &event, index);
        check(o, length);
    }
    FUZZ_CHECK(index <= count + 1);
}

static void defined(fuzz_input *input, out *o, const tendon_line_device *device) {
    static tendon_described_rates rates;
    tendon_defined_event event = {.kind = (tendon_defined_event_kind)(fuzz_u8(input) % 5),
                                  .status = -(tendon_status)fuzz_u16(input),
                                  .received_at = fuzz_u16(input)};
    fuzz_block value = fuzz_block_of(input);
    event.bytes = value.data;
    event.length = value.length;
    tendon_defined_take_rates(&rates, toy(), &event);
    for (size_t index = 0; index < 3; index++) {
        check(o, tendon_defined_line(&o->line, device, 0, toy(), &rates, &event, index));
    }
    tendon_view view;
    if (tendon_defined_view(&view, toy(), &rates, &event, 0)) {
        FUZZ_CHECK(view.count <= TENDON_VIEW_CHANNELS && view.channels == view.own);
    }
    free(value.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const events[])(fuzz_input *, out *, const tendon_line_device *) = {bose,    activ5,  feelspace,
                                                                                      fjorden, obvious, defined};
    fuzz_input input = {data, size};
    while (input.left > 0) {
        uint8_t choice = fuzz_u8(&input) % 7;
        if (choice == 6) {
            action(&input);
            continue;
        }
        out o = {.capacity = fuzz_u16(&input) % 2048};
        o.bytes = malloc(o.capacity > 0 ? o.capacity : 1);
        FUZZ_CHECK(o.bytes != NULL);
        tendon_line_init(&o.line, o.bytes, o.capacity, (fuzz_u8(&input) & 1) != 0);
        fuzz_block name = fuzz_block_of(&input);
        const tendon_line_device device = {
            .family = "family", .address = &peer, .name = (const char *)name.data, .name_length = name.length};
        events[choice](&input, &o, &device);
        free(name.data);
        free(o.bytes);
    }
    return 0;
}
