/* SPDX-License-Identifier: MIT */
/* External definitions of the inline functions, for calls that are not inlined. */
#include "tendon/base/reader.h"

extern inline tendon_reader tendon_reader_make(const uint8_t *data, size_t length);
extern inline size_t tendon_reader_remaining(const tendon_reader *reader);
extern inline bool tendon_reader_ok(const tendon_reader *reader);
extern inline const uint8_t *tendon_read_bytes(tendon_reader *reader, size_t count);
extern inline uint8_t tendon_read_u8(tendon_reader *reader);
extern inline uint16_t tendon_read_u16le(tendon_reader *reader);
extern inline uint16_t tendon_read_u16be(tendon_reader *reader);
extern inline uint32_t tendon_read_u32le(tendon_reader *reader);
extern inline uint32_t tendon_read_u32be(tendon_reader *reader);
extern inline uint64_t tendon_read_u64le(tendon_reader *reader);
extern inline uint64_t tendon_read_u64be(tendon_reader *reader);
extern inline int16_t tendon_i16_from_u16(uint16_t value);
extern inline int8_t tendon_read_i8(tendon_reader *reader);
extern inline int16_t tendon_read_i16le(tendon_reader *reader);
extern inline int16_t tendon_read_i16be(tendon_reader *reader);
