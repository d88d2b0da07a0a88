/* SPDX-License-Identifier: MIT */
/*
 * Faults: the input up to the first zero byte is a setting (tendon_fault_parse); PDUs of the rest pass the filter, in
 * time steps and over connections that are full now and then.
 */
#include "fuzz.h"
#include "tendon/simulate/fault.h"

static struct {
    unsigned taken;
    bool full;
} peer;

static tendon_status take(void *context, const uint8_t *pdu, size_t length) {
    (void)context;
    (void)fuzz_touch(pdu, length);
    FUZZ_CHECK(length >= 1 && length <= TENDON_ATT_MTU_MAX);
    if (peer.full) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    peer.taken++;
    return TENDON_OK;
}

static void parse(fuzz_block text, tendon_fault_options *options) {
    size_t offset = SIZE_MAX;
    tendon_fault_options before = *options;
    tendon_status status = tendon_fault_parse(options, (const char *)text.data, text.length, &offset);
    uint64_t sum = 0;
    for (unsigned kind = 0; kind < TENDON_FAULT_COUNT; kind++) {
        FUZZ_CHECK(tendon_fault_name((tendon_fault_kind)kind)[0] != '\0');
        sum += options->rate_ppm[kind];
    }
    FUZZ_CHECK(sum <= 1000000);
    if (status < 0) {
        FUZZ_CHECK(memcmp(&before, options, sizeof before) == 0);
        FUZZ_CHECK(offset <= text.length);
    }
}

static void step(fuzz_input *input, tendon_bearer_io io, tendon_bearer_filter filter, uint64_t *now, unsigned *sent) {
    uint8_t choice = fuzz_u8(input);
    peer.full = (choice & 0x80u) != 0;
    *now += choice & 0x3Fu;
    filter.tick(filter.context, *now);
    if (!peer.full) {
        filter.writable(filter.context, *now);
    }
    (void)filter.take_writable(filter.context);
    (void)filter.deadline(filter.context);
    if ((choice & 0x40u) == 0) {
        fuzz_block pdu = fuzz_take(input, 1u + fuzz_u8(input) % 40u);
        if (pdu.length > 0) {
            *sent += io.send(io.context, pdu.data, pdu.length) == TENDON_OK;
        }
        free(pdu.data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tendon_fault fault;
    fuzz_input input = {data, size};
    tendon_fault_options options;
    memset(&options, 0, sizeof options);
    size_t length = 0;
    while (length < size && data[length] != 0) {
        length++;
    }
    fuzz_block text = fuzz_take(&input, length);
    (void)fuzz_u8(&input);
    parse(text, &options);
    parse(text, &options); /* the same twice: added, or too much */
    free(text.data);

    tendon_fault_init(&fault, &options);
    tendon_bearer_filter filter = tendon_fault_filter(&fault);
    peer.taken = 0;
    tendon_bearer_io io = filter.wrap(filter.context, (tendon_bearer_io){NULL, take});
    uint64_t now = 1;
    unsigned sent = 0;
    while (input.left > 0) {
        step(&input, io, filter, &now, &sent);
        if (filter.take_disconnect(filter.context)) {
            io = filter.wrap(filter.context, (tendon_bearer_io){NULL, take});
        }
    }
    peer.full = false;
    for (int i = 0; i < 2 * TENDON_FAULT_QUEUE && filter.deadline(filter.context) != UINT64_MAX; i++) {
        now = filter.deadline(filter.context) > now ? filter.deadline(filter.context) : now;
        filter.tick(filter.context, now);
        filter.writable(filter.context, now);
    }
    /* Nothing comes out that did not go in, but for duplicates. */
    FUZZ_CHECK(peer.taken <= sent + fault.struck[TENDON_FAULT_DUPLICATE]);
    return 0;
}
