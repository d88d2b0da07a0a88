/* SPDX-License-Identifier: MIT */
/* Places of segments within a frame; inside the Obvious family only. */
#ifndef OBVIOUS_SEGMENT_H
#define OBVIOUS_SEGMENT_H

#include <stddef.h>

enum { FIRST_HEADER = 6, OTHER_HEADER = 4 };

/* Place in the frame of the first byte of segment @p index. */
static inline size_t segment_start(size_t index, size_t size) {
    return index == 0 ? 0 : size - FIRST_HEADER + (index - 1) * (size - OTHER_HEADER);
}

#endif
