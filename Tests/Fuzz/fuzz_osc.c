/* SPDX-License-Identifier: MIT */
/* A packet of Open Sound Control: its messages stay inside of it, and what is read is written as it was. Then maps,
 * addresses and destinations from any text. */
#include "fuzz.h"
#include "tendon/osc.h"

typedef struct seen {
    const uint8_t *packet;
    size_t length;
    unsigned messages;
} seen;

/* A view of no bytes may be anywhere. */
static void check_inside(const seen *s, const void *view, size_t length) {
    const uint8_t *start = view;
    FUZZ_CHECK(length == 0 ||
               (start >= s->packet && length <= s->length && (size_t)(start - s->packet) <= s->length - length));
    (void)fuzz_touch(view, length);
}

static void take(void *context, const tendon_osc_message *message) {
    seen *s = context;
    s->messages++;
    check_inside(s, message->address, message->address_length + 1);
    check_inside(s, message->arguments, message->arguments_length);
    FUZZ_CHECK(strlen(message->tags) == message->tag_count);
    tendon_osc_arguments arguments = tendon_osc_arguments_of(message);
    tendon_osc_argument a;
    double values[TENDON_OSC_SAMPLE_MAX];
    size_t taken = 0, floats = 0;
    bool is_nan = false;
    while (tendon_osc_next(&arguments, &a)) {
        if (a.tag == 'f' && floats < TENDON_OSC_SAMPLE_MAX) {
            values[floats++] = a.number;
        }
        taken++;
        is_nan |= a.number != a.number; /* its bits may change */
        if (a.bytes != NULL) {
            check_inside(s, a.bytes, a.length);
        }
        (void)tendon_osc_is_number(&a);
    }
    FUZZ_CHECK(taken == message->tag_count && tendon_reader_remaining(&arguments.values) == 0);
    uint8_t out[TENDON_OSC_ADDRESS_MAX + 16 + 8 * TENDON_OSC_SAMPLE_MAX];
    tendon_status length = tendon_osc_sample(message->address, values, floats, out, sizeof out);
    if (length >= 0 && !is_nan && floats == taken && floats > 0) {
        FUZZ_CHECK(memcmp(out + (size_t)length - message->arguments_length, message->arguments,
                          message->arguments_length) == 0);
    }
}

static void texts(const uint8_t *data, size_t length) {
    tendon_osc_map map;
    size_t offset = 0;
    tendon_status count = tendon_osc_map_parse((const char *)data, length, &map, &offset);
    FUZZ_CHECK(count < 0 ? offset <= length : count == map.count && count <= TENDON_OSC_TERMS);
    double values[TENDON_OSC_TERMS] = {0};
    tendon_osc_map_values(&map, (tendon_quaternion){0.5, -0.5, 0.5, 0.5}, values);
    char address[64] = "";
    tendon_status level = tendon_osc_append_level(address, 0, sizeof address, (const char *)data, length);
    if (level >= 0) {
        uint8_t out[128];
        FUZZ_CHECK(strlen(address) == (size_t)level && tendon_osc_sample(address, NULL, 0, out, sizeof out) > 0);
    }
    (void)tendon_osc_preset_named((const char *)data, length);
}

/* What is read as a destination is the same after it was written; a name means itself. */
static void destinations(const char *text, size_t length) {
    tendon_osc_destination to, again;
    char endpoint[TENDON_OSC_ENDPOINT_SIZE], address[TENDON_OSC_ADDRESS_MAX + 1];
    tendon_status status = tendon_osc_destination_parse(text, length, &to);
    FUZZ_CHECK(to.preset_at <= length && to.preset_length <= length - to.preset_at);
    if (status >= 0) {
        tendon_osc_endpoint_format(&to.endpoint, endpoint);
        FUZZ_CHECK(tendon_osc_destination_parse(endpoint, strlen(endpoint), &again) == TENDON_OK &&
                   again.endpoint.port == to.endpoint.port && strcmp(again.endpoint.host, to.endpoint.host) == 0);
        size_t device = strlen(to.device);
        FUZZ_CHECK(device == 0 || tendon_osc_means(to.device, device, to.device, device, "C0:00:00:00:00:01"));
    }
    (void)tendon_osc_means(text, length, "left ear", strlen("left ear"), "C0:00:00:00:00:01");
    tendon_osc_sample_address(text, length, "C0:00:00:00:00:01", text, length / 2, address);
    FUZZ_CHECK(tendon_osc_is_address(address));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    fuzz_block packet = fuzz_take(&input, size);
    seen s = {packet.data, packet.length, 0};
    size_t offset = 0;
    tendon_status status = tendon_osc_decode(packet.data, packet.length, take, &s, &offset);
    FUZZ_CHECK(status >= 0 ? s.messages == (unsigned)status : s.messages == 0 && offset <= packet.length);
    if (packet.length > 0) {
        texts(packet.data, packet.length);
        destinations((const char *)packet.data, packet.length);
    }
    free(packet.data);
    return 0;
}
