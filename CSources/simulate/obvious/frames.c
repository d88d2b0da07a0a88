/* SPDX-License-Identifier: MIT */
/* Simulated Obvious device: frames around payloads, and events. */
#include "obvious_parts.h"

#include "tendon/base/crc.h"

/* Completes a frame around a payload that is in place. Returns its length. */
size_t tendon_simulated_obvious_seal(uint8_t *frame, uint8_t flags, uint16_t corr, uint8_t opcode, uint8_t status,
                                     size_t length) {
    tendon_writer writer = tendon_writer_make(frame, HEADER_SIZE);
    tendon_write_u8(&writer, 'O');
    tendon_write_u8(&writer, 'B');
    tendon_write_u8(&writer, FRAME_VERSION);
    tendon_write_u8(&writer, flags);
    tendon_write_u16le(&writer, corr);
    tendon_write_u8(&writer, opcode);
    tendon_write_u8(&writer, status);
    tendon_write_u16le(&writer, (uint16_t)length);
    tendon_writer end = tendon_writer_make(frame + HEADER_SIZE + length, CRC_SIZE);
    tendon_write_u32le(&end, tendon_crc32(0, frame, HEADER_SIZE + length));
    return HEADER_SIZE + length + CRC_SIZE;
}

void tendon_simulated_obvious_event(tendon_simulated_obvious *device, uint8_t opcode, const uint8_t *payload,
                                    size_t length, const tendon_simulated_obvious_link *but) {
    uint8_t frame[TENDON_SIMULATED_OBVIOUS_RESPONSE_MAX];
    memcpy(frame + HEADER_SIZE, payload, length);
    size_t size = tendon_simulated_obvious_seal(frame, FLAG_EVENT, 0, opcode, 0, length);
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        tendon_simulated_obvious_link *link = &device->links[i];
        if (device->centrals.places[i].used && link->ready && link != but && size <= link->frame_max) {
            tendon_simulated_obvious_link_queue(link, frame, size);
        }
    }
}
