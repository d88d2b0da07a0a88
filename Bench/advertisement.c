/* SPDX-License-Identifier: MIT */
/* How long does it take to walk the AD structures of a legacy advertisement? Limit: summing the same bytes. */
#include "bench.h"

#include <tendon/host/advertisement.h>

/* Flags, a list of two 16-bit UUIDs, a local name, manufacturer data: 31 bytes. */
static const uint8_t data[31] = {0x02, 0x01, 0x06, 0x05, 0x03, 0xD2, 0xFD, 0xBE, 0xFE, 0x0E, 0x09,
                                 'L',  'E',  '-',  'B',  'o',  's',  'e',  ' ',  'F',  'r',  'a',
                                 'm',  'e',  0x06, 0xFF, 0x9E, 0x00, 0x01, 0x02, 0x03};

static void iterate(void *context, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *input = bench_hide(data);
        tendon_ad_iterator iterator = tendon_ad_begin(input, sizeof data);
        tendon_ad_structure structure;
        unsigned sum = 0;
        while (tendon_ad_next(&iterator, &structure)) {
            sum += structure.type + (unsigned)structure.length;
        }
        bench_keep(&sum);
    }
}

static void touch(void *context, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *input = bench_hide(data);
        unsigned sum = 0;
        for (size_t at = 0; at < sizeof data; at += (size_t)input[at] + 1) {
            sum += input[at + 1] + input[at];
        }
        bench_keep(&sum);
    }
}

int main(int argc, char **argv) {
    static const bench_body bodies[] = {
        {"unchecked_walk", touch, NULL, sizeof data, 0},
        {"tendon_ad_next", iterate, NULL, sizeof data, 0},
    };
    return bench_main(argc, argv, "advertisement", bodies, 2, 0);
}
