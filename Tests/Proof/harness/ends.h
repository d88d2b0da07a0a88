/* SPDX-License-Identifier: MIT */
/*
 * Every length at once: each reader starts anywhere in its bytes instead of at
 * their start. What a reader gives depends on the bytes from its position to
 * its end alone, so reading the last L bytes of a long input is reading an
 * input of L bytes. Comes before each source (-include).
 */
#ifndef TENDON_PROOF_ENDS_H
#define TENDON_PROOF_ENDS_H

#include "__fc_builtin.h"
#include "tendon/base/reader.h"

static inline tendon_reader proof_reader_anywhere(const uint8_t *data, size_t length) {
    tendon_reader reader = tendon_reader_make(data, length);
    size_t position;
    Frama_C_make_unknown((char *)&position, sizeof position);
    reader.position = position < length ? position : length;
    return reader;
}

#define tendon_reader_make proof_reader_anywhere

#endif
