/* SPDX-License-Identifier: MIT */
/*
 * For targets in which a simulated device is in the air (simulate/memory_radio.h): what it has sent and we have not got
 * yet is changed, cut, replaced or made a PDU of another kind, as the input says.
 */
#ifndef FUZZ_AIR_H
#define FUZZ_AIR_H

#include "fuzz.h"
#include "tendon/simulate/memory_radio.h"

static inline void fuzz_air_replace(fuzz_input *input, uint8_t *bytes, uint16_t *length) {
    fuzz_block block = fuzz_take(input, fuzz_u8(input) % TENDON_MEMORY_RADIO_MTU);
    if (block.length > 0) {
        memcpy(bytes, block.data, block.length);
        *length = (uint16_t)block.length;
    }
    free(block.data);
}

static inline void fuzz_air_spoil(fuzz_input *input, tendon_memory_radio_queue *queue) {
    for (uint16_t i = 0; i < queue->count; i++) {
        uint8_t choice = fuzz_u8(input);
        uint16_t place = (uint16_t)((queue->first + i) % TENDON_MEMORY_RADIO_QUEUE);
        uint8_t *bytes = queue->pdus[place].bytes;
        uint16_t *length = &queue->pdus[place].length;
        if (choice < 0xC0 || *length == 0) {
            continue;
        }
        switch (choice & 3u) {
        case 0:
            bytes[fuzz_u8(input) % *length] = fuzz_u8(input);
            break;
        case 1:
            *length = (uint16_t)(fuzz_u8(input) % *length);
            break;
        case 2:
            fuzz_air_replace(input, bytes, length);
            break;
        default: /* a notification becomes an indication, and others what they may */
            bytes[0] = (uint8_t)(bytes[0] ^ 0x06);
            break;
        }
    }
}

/* Time goes on, at most by so many steps. @return how far */
static inline uint64_t fuzz_air_pass(fuzz_input *input, tendon_memory_radio *air, uint64_t now, uint64_t ms,
                                     int steps) {
    uint64_t end = now + ms;
    for (; steps > 0 && tendon_memory_radio_deadline(air) <= end; steps--) {
        uint64_t due = tendon_memory_radio_deadline(air);
        now = due > now ? due : now;
        fuzz_air_spoil(input, &air->to_us);
        tendon_memory_radio_tick(air, now);
    }
    return end > now ? end : now;
}

#endif
