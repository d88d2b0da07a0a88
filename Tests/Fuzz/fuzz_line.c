/* SPDX-License-Identifier: MIT */
/* Lines of JSON from any members in any buffer: what ends is one line, JSON, in printable UTF-8; a number reads back.
 */
#include "fuzz.h"
#include "json_line.h"
#include "tendon/gateway.h"

#include <math.h>

static double double_of(fuzz_input *input) {
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++) {
        bits = bits << 16 | fuzz_u16(input);
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void shortest(double value) {
    char out[TENDON_LINE_NUMBER_SIZE + 1];
    if (isfinite(value)) {
        size_t length = tendon_line_shortest(value, out);
        FUZZ_CHECK(length <= TENDON_LINE_NUMBER_SIZE);
        out[length] = '\0';
        FUZZ_CHECK(strtod(out, NULL) == value);
    }
}

/* One member; arrays and objects are kept in *open as bits, the innermost lowest. */
static void member(tendon_line *line, fuzz_input *input, uint32_t *open, unsigned *depth) {
    const char *key = *depth > 0 && (*open & 1) != 0 ? NULL : "key";
    uint8_t choice = fuzz_u8(input);
    if (choice % 10 == 0 && *depth < 30) {
        bool is_array = (choice & 0x80) != 0;
        is_array ? tendon_line_open_array(line, key) : tendon_line_open_object(line, key);
        *open = *open << 1 | (is_array ? 1 : 0);
        ++*depth;
    } else if (choice % 10 == 1 && *depth > 0) {
        (*open & 1) != 0 ? tendon_line_close_array(line) : tendon_line_close_object(line);
        *open >>= 1;
        --*depth;
    } else if (choice % 10 < 5) {
        double value = double_of(input);
        shortest(value);
        tendon_line_number(line, key, value, choice >> 4);
    } else if (choice % 10 < 7) {
        fuzz_block block = fuzz_block_of(input);
        tendon_line_text(line, key, (const char *)block.data, block.length);
        free(block.data);
    } else if (choice % 10 == 7) {
        fuzz_block block = fuzz_block_of(input);
        tendon_line_bytes(line, key, block.data, block.length);
        free(block.data);
    } else if (choice % 10 == 8) {
        tendon_line_integer(line, key, (int64_t)fuzz_u16(input) - 0x8000);
    } else {
        tendon_line_bool(line, key, (choice & 0x80) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    size_t capacity = fuzz_u16(&input) % 3000;
    char *out = malloc(capacity > 0 ? capacity : 1);
    FUZZ_CHECK(out != NULL);
    tendon_line line;
    tendon_line_init(&line, out, capacity, (fuzz_u8(&input) & 1) != 0);
    uint64_t wall_us = (uint64_t)fuzz_u16(&input) << 48 | (uint64_t)fuzz_u16(&input) << 32 | fuzz_u16(&input);
    tendon_line_begin(&line, "event", wall_us, NULL);
    uint32_t open = 0;
    unsigned depth = 0;
    while (input.left > 0) {
        member(&line, &input, &open, &depth);
    }
    for (; depth > 0; depth--, open >>= 1) {
        (open & 1) != 0 ? tendon_line_close_array(&line) : tendon_line_close_object(&line);
    }
    tendon_status length = tendon_line_end(&line);
    FUZZ_CHECK(length == TENDON_ERROR_BUFFER_TOO_SMALL || (length > 2 && (size_t)length <= capacity));
    fuzz_json_line(out, length);
    free(out);
    return 0;
}
