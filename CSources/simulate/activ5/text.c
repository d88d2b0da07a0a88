/* SPDX-License-Identifier: MIT */
/* Simulated Activ5 trainer: texts of 5A01, good and bad. */
#include "activ5_parts.h"

enum { START = 0x12, END = 0x13, BUFFER = 20 };

uint8_t tendon_simulated_activ5_noise(tendon_simulated_activ5 *device) {
    uint32_t state = device->noise;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    device->noise = state;
    return (uint8_t)(state >> 24);
}

/** Appends a notification of up to 20 bytes to what a central has to get. */
static void put(tendon_simulated_activ5 *device, size_t central, uint8_t kind, const uint8_t *bytes, size_t length) {
    tendon_simulated_activ5_central *outbox = &device->outboxes[central];
    if (outbox->text_count == TENDON_SIMULATED_ACTIV5_TEXTS) {
        device->counters.texts_lost++;
        return;
    }
    tendon_simulated_activ5_text *text = &outbox->texts[outbox->text_count++];
    text->kind = kind;
    text->length = (uint8_t)length;
    memcpy(text->bytes, bytes, length);
}

/** The same from the fixed buffer, when the device is of that kind: the end of a longer previous text is sent as well.
 */
static void put_framed(tendon_simulated_activ5 *device, size_t central, uint8_t kind, const uint8_t *bytes,
                       size_t length) {
    uint8_t *buffer = device->outboxes[central].buffer;
    memcpy(buffer, bytes, length);
    put(device, central, kind, buffer, device->options.stale_tails ? BUFFER : length);
}

void tendon_simulated_activ5_reply(tendon_simulated_activ5 *device, size_t central, const char *head,
                                   const void *content, size_t length) {
    uint8_t bytes[BUFFER];
    tendon_writer out = tendon_writer_make(bytes, sizeof bytes);
    tendon_write_u8(&out, START);
    tendon_write_bytes(&out, head, tendon_simulated_text_length(head, 4));
    size_t room = sizeof bytes - out.length - 1;
    tendon_write_bytes(&out, content, length < room ? length : room);
    tendon_write_u8(&out, END);
    put_framed(device, central, ACTIV5_REPLY, bytes, out.length);
}

static void write_decimal(tendon_writer *out, int32_t value) {
    uint8_t digits[6];
    size_t count = 0;
    uint32_t rest = (uint32_t)(value < 0 ? -value : value);
    do {
        digits[count++] = (uint8_t)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0 && count < sizeof digits);
    if (value < 0) {
        tendon_write_u8(out, '-');
    }
    while (count > 0) {
        tendon_write_u8(out, digits[--count]);
    }
}

static void put_malformed(tendon_simulated_activ5 *device, size_t central) {
    static const struct {
        uint8_t length, bytes[8];
    } texts[] = {[TENDON_ACTIV5_MALFORM_EMPTY] = {0, {0}},
                 [TENDON_ACTIV5_MALFORM_SHORT] = {4, {START, 'I', 'S', '1'}},
                 [TENDON_ACTIV5_MALFORM_NO_SLASH] = {5, {START, 'I', 'S', '5', END}},
                 [TENDON_ACTIV5_MALFORM_BAD_NUMBER] = {8, {START, 'I', 'S', 'x', '/', 'I', 'S', END}},
                 [TENDON_ACTIV5_MALFORM_BAD_ENCODING] = {8, {START, 'I', 'S', 0xFF, '/', 'I', 'S', END}},
                 [TENDON_ACTIV5_MALFORM_LONG] = {0, {0}},
                 [TENDON_ACTIV5_MALFORM_UNKNOWN] = {7, {START, 'h', 'e', 'l', 'l', 'o', END}}};
    uint32_t kind = device->malformed_kind;
    uint8_t bytes[BUFFER];
    if (kind == TENDON_ACTIV5_MALFORM_LONG) { /* 19 bytes and 6 times 20: more than 128 */
        memset(bytes, '5', sizeof bytes);
        bytes[0] = START;
        put(device, central, ACTIV5_PART, bytes, sizeof bytes);
        bytes[0] = '5';
        for (int i = 0; i < 5; i++) {
            put(device, central, ACTIV5_PART, bytes, sizeof bytes);
        }
        put(device, central, ACTIV5_MALFORMED, bytes, sizeof bytes);
    } else if (kind < sizeof texts / sizeof texts[0]) {
        put(device, central, ACTIV5_MALFORMED, texts[kind].bytes, texts[kind].length);
    } else {
        for (size_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = tendon_simulated_activ5_noise(device);
        }
        put(device, central, ACTIV5_MALFORMED, bytes, sizeof bytes);
    }
}

void tendon_simulated_activ5_force_text(tendon_simulated_activ5 *device, size_t central, int32_t raw) {
    if (device->sample_malformed) {
        put_malformed(device, central);
        return;
    }
    uint8_t bytes[BUFFER];
    tendon_writer out = tendon_writer_make(bytes, sizeof bytes);
    tendon_write_u8(&out, START);
    tendon_write_bytes(&out, "IS", 2);
    write_decimal(&out, raw / 4); /* one legacy unit is four of the binary protocol */
    tendon_write_bytes(&out, "/IS", 3);
    tendon_write_u8(&out, END);
    if (device->options.split_frames) {
        put(device, central, ACTIV5_PART, bytes, 4);
        put(device, central, ACTIV5_FORCE_TEXT, bytes + 4, out.length - 4);
    } else {
        put_framed(device, central, ACTIV5_FORCE_TEXT, bytes, out.length);
    }
}
