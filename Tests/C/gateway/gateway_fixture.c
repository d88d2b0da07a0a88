/* SPDX-License-Identifier: MIT */
#include "gateway_fixture.h"

static const char *beginning = "{\"time\":\"1970-01-01T00:00:00.000000Z\",\"event\":";

static tendon_status written(writes_line write, void *context, char *out, size_t capacity, bool is_exact) {
    tendon_line line;
    tendon_line_init(&line, out, capacity, is_exact);
    return write(&line, context);
}

const char *whole_line(writes_line write, void *context, bool is_exact) {
    static char text[TENDON_LINE_SIZE + 1];
    tendon_status length = written(write, context, text, TENDON_LINE_SIZE, is_exact);
    assert_in_range(length, 0, TENDON_LINE_SIZE);
    text[length] = '\0';
    for (tendon_status capacity = 0; capacity <= length; capacity++) {
        block small = block_copy(text, (size_t)capacity);
        memset(small.data, 0, small.length);
        tendon_status result = written(write, context, (char *)small.data, small.length, is_exact);
        assert_int_equal(result, capacity < length ? TENDON_ERROR_BUFFER_TOO_SMALL : length);
        if (capacity == length && length > 0) {
            assert_memory_equal(small.data, text, small.length);
        }
        free(small.data);
    }
    if (length > 0) {
        assert_int_equal(text[length - 1], '\n');
        text[length - 1] = '\0';
        assert_null(strchr(text, '\n'));
    }
    return text;
}

const char *line_of(writes_line write, void *context) {
    const char *text = whole_line(write, context, false);
    if (text[0] == '\0') {
        return text;
    }
    assert_memory_equal(text, beginning, strlen(beginning));
    return text + strlen(beginning);
}
