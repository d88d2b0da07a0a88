/* SPDX-License-Identifier: MIT */
/*
 * Activ5 values: text contents, binary characteristics, frames over notifications with time between them, squeezes,
 * commands.
 */
#include "fuzz.h"
#include "tendon/devices.h"

static void check_message(const tendon_activ5_message *message) {
    FUZZ_CHECK((unsigned)message->type < TENDON_ACTIV5_MESSAGE_TYPE_COUNT);
    FUZZ_CHECK(message->text_length <= TENDON_ACTIV5_TEXT_MAX);
    (void)fuzz_touch(message->text, message->text_length);
    const tendon_activ5_field fields[] = {message->version, message->field2, message->battery_status};
    for (size_t i = 0; i < 3; i++) {
        FUZZ_CHECK(!fields[i].present || fields[i].offset + fields[i].length <= message->text_length);
    }
    FUZZ_CHECK(message->percent <= 100);
    FUZZ_CHECK(message->newtons == message->newtons);
}

typedef struct heard {
    tendon_activ5_squeeze squeeze;
    uint64_t last;
} heard;

static void on_text(void *context, tendon_status status, const tendon_activ5_message *message, uint64_t now) {
    heard *h = context;
    FUZZ_CHECK((status == TENDON_OK) == (message != NULL) && now >= h->last);
    h->last = now;
    if (message == NULL) {
        FUZZ_CHECK(TENDON_STATUS_LAYER(status) == TENDON_LAYER_ACTIV5);
        return;
    }
    check_message(message);
    if (message->type == TENDON_ACTIV5_MESSAGE_ISOMETRIC) {
        tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
        bool before = h->squeeze.squeezed;
        unsigned what = tendon_activ5_squeeze_sample(&h->squeeze, &config, message->newtons, now);
        FUZZ_CHECK((what & TENDON_ACTIV5_SQUEEZE_SQUEEZED) == 0 || !before);
        FUZZ_CHECK((what & TENDON_ACTIV5_SQUEEZE_DEPRESSED) == 0 || before);
        FUZZ_CHECK((unsigned)h->squeeze.press < TENDON_ACTIV5_PRESS_COUNT);
    }
}

static void frames(fuzz_input *input) {
    tendon_activ5_deframer deframer = {0};
    heard h = {0};
    uint64_t now = 0;
    while (input->left > 0) {
        now += fuzz_u8(input) * 4u;
        fuzz_block block = fuzz_block_of(input);
        tendon_activ5_deframer_feed(&deframer, block.data, block.length, now, on_text, &h);
        free(block.data);
        FUZZ_CHECK(deframer.length <= TENDON_ACTIV5_CONTENT_MAX);
        FUZZ_CHECK(tendon_activ5_deframer_deadline(&deframer) > now);
    }
    tendon_activ5_deframer_tick(&deframer, now + 500, on_text, &h);
    FUZZ_CHECK(!deframer.collecting);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    tendon_activ5_message message;
    uint8_t kind = fuzz_u8(&input);
    if (kind >= 0x80) {
        frames(&input);
        return 0;
    }
    fuzz_block block = fuzz_take(&input, input.left);
    if (kind == TENDON_ACTIV5_TEXT_OUTPUT) {
        tendon_status status = tendon_activ5_parse_text(block.data, block.length, &message);
        FUZZ_CHECK(status == TENDON_OK || message.type == TENDON_ACTIV5_MESSAGE_UNKNOWN);
    } else {
        tendon_status status =
            tendon_activ5_parse_value((tendon_activ5_characteristic)kind, block.data, block.length, &message);
        FUZZ_CHECK(status == TENDON_OK || message.type == TENDON_ACTIV5_MESSAGE_UNKNOWN);
    }
    check_message(&message);
    if (block.length <= TENDON_ACTIV5_TEXT_MAX - 2) {
        uint8_t framed[TENDON_ACTIV5_TEXT_MAX];
        tendon_status length =
            tendon_activ5_encode_text((const char *)block.data, block.length, kind, framed, sizeof framed);
        FUZZ_CHECK(length == (tendon_status)block.length + 2);
    }
    free(block.data);
    return 0;
}
