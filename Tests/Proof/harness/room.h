/* SPDX-License-Identifier: MIT */
/*
 * What the server may take for granted of tendon_writer, instead of its code: a write reads all its bytes, and either
 * fails for good or leaves any length up to the capacity. Where the next byte stands is a relation that merged states
 * lose. The unit
 * test writer_is_sticky_at_every_capacity tries the code. Comes before each source (-include).
 */
#ifndef TENDON_PROOF_ROOM_H
#define TENDON_PROOF_ROOM_H

#include "__fc_builtin.h"
#include "tendon/base/writer.h"

static inline void proof_write_bytes(tendon_writer *writer, const void *bytes, size_t count) {
    static volatile uint8_t sink;
    if (count == 0 || writer->status != TENDON_OK) {
        return;
    }
    if (count > writer->capacity - writer->length) {
        writer->status = TENDON_ERROR_BUFFER_TOO_SMALL;
        return;
    }
    sink = ((const uint8_t *)bytes)[0];
    sink = ((const uint8_t *)bytes)[count - 1];
    Frama_C_make_unknown((char *)writer->data, writer->capacity);
    writer->length = (size_t)Frama_C_interval(1, (int)writer->capacity);
}

static inline void proof_write_u8(tendon_writer *writer, uint8_t value) {
    proof_write_bytes(writer, &value, 1);
}

static inline void proof_write_u16le(tendon_writer *writer, uint16_t value) {
    proof_write_bytes(writer, &value, 2);
}

#define tendon_write_bytes proof_write_bytes
#define tendon_write_u8 proof_write_u8
#define tendon_write_u16le proof_write_u16le

#endif
