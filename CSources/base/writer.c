/* SPDX-License-Identifier: MIT */
/* External definitions of the inline functions, for calls that are not inlined. */
#include "tendon/base/writer.h"

extern inline tendon_writer tendon_writer_make(uint8_t *data, size_t capacity);
extern inline uint8_t *tendon_writer_reserve(tendon_writer *writer, size_t count);
extern inline void tendon_write_bytes(tendon_writer *writer, const void *bytes, size_t count);
extern inline void tendon_write_u8(tendon_writer *writer, uint8_t value);
extern inline void tendon_write_u16le(tendon_writer *writer, uint16_t value);
extern inline void tendon_write_u16be(tendon_writer *writer, uint16_t value);
extern inline void tendon_write_u24le(tendon_writer *writer, uint32_t value);
extern inline void tendon_write_u32le(tendon_writer *writer, uint32_t value);
extern inline void tendon_write_u32be(tendon_writer *writer, uint32_t value);
extern inline void tendon_write_u64le(tendon_writer *writer, uint64_t value);
extern inline void tendon_write_u64be(tendon_writer *writer, uint64_t value);
extern inline tendon_status tendon_writer_result(const tendon_writer *writer);
