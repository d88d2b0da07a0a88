/* SPDX-License-Identifier: MIT */
#include "tendon/osc/message.h"
#include "tendon/osc/preset.h"

#include "text.h"

_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "IEEE 754");

/* IEEE 754 of 2008, 6.2.1: a quiet one. MIPS has the other form in its registers, which receivers take for a signal. */
#define NOT_A_NUMBER UINT64_C(0x7FF8000000000000)
#define NOT_A_FLOAT UINT32_C(0x7FC00000)

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? NOT_A_NUMBER : bits;
}

static bool is_address(const char *address, size_t length) {
    if (length == 0 || length > TENDON_OSC_ADDRESS_MAX || address[0] != '/') {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (address[i] <= ' ' || address[i] > '~' || address[i] == '#' || address[i] == ',') {
            return false;
        }
    }
    return true;
}

/* A terminator, and more bytes 0 up to a multiple of 4. */
static void end_string(tendon_writer *writer) {
    do {
        tendon_write_u8(writer, 0);
    } while (writer->status == TENDON_OK && writer->length % 4 != 0);
}

static bool has_no_bytes(char tag) {
    return tag == 'T' || tag == 'F' || tag == 'N' || tag == 'I' || tag == '[' || tag == ']';
}

/* Takes the next tag that has bytes, if it is one of those. */
static bool take(tendon_osc_encoder *encoder, const char *tags) {
    if (encoder->status < 0) {
        return false;
    }
    while (has_no_bytes(*encoder->tags)) {
        encoder->tags++;
    }
    if (!tendon_osc_is_one_of(*encoder->tags, tags)) {
        encoder->status = TENDON_ERROR_INVALID_ARGUMENT;
        return false;
    }
    encoder->tags++;
    return true;
}

tendon_osc_encoder tendon_osc_begin(uint8_t *out, size_t capacity, const char *address, const char *tags) {
    tendon_osc_encoder encoder = {tendon_writer_make(out, capacity), tags, TENDON_OK};
    size_t length = tendon_osc_length_of(address);
    if (!is_address(address, length)) {
        encoder.status = TENDON_ERROR_INVALID_ARGUMENT;
        return encoder;
    }
    tendon_write_bytes(&encoder.writer, address, length);
    end_string(&encoder.writer);
    tendon_write_u8(&encoder.writer, ',');
    tendon_write_bytes(&encoder.writer, tags, tendon_osc_length_of(tags));
    end_string(&encoder.writer);
    return encoder;
}

void tendon_osc_int32(tendon_osc_encoder *encoder, int32_t value) {
    if (take(encoder, "icr")) {
        tendon_write_u32be(&encoder->writer, (uint32_t)value);
    }
}

void tendon_osc_float(tendon_osc_encoder *encoder, double value) {
    if (take(encoder, "f")) {
        float rounded = (float)value;
        uint32_t bits;
        memcpy(&bits, &rounded, sizeof bits);
        tendon_write_u32be(&encoder->writer, value != value ? NOT_A_FLOAT : bits);
    }
}

void tendon_osc_double(tendon_osc_encoder *encoder, double value) {
    if (take(encoder, "d")) {
        tendon_write_u64be(&encoder->writer, bits_of(value));
    }
}

void tendon_osc_int64(tendon_osc_encoder *encoder, int64_t value) {
    if (take(encoder, "h")) {
        tendon_write_u64be(&encoder->writer, (uint64_t)value);
    }
}

void tendon_osc_time(tendon_osc_encoder *encoder, uint64_t value) {
    if (take(encoder, "t")) {
        tendon_write_u64be(&encoder->writer, value);
    }
}

void tendon_osc_string(tendon_osc_encoder *encoder, const char *text, size_t length) {
    if (!take(encoder, "sS")) {
        return;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] == 0) {
            encoder->status = TENDON_ERROR_INVALID_ARGUMENT;
            return;
        }
    }
    tendon_write_bytes(&encoder->writer, text, length);
    end_string(&encoder->writer);
}

void tendon_osc_blob(tendon_osc_encoder *encoder, const uint8_t *bytes, size_t length) {
    if (!take(encoder, "b")) {
        return;
    }
    if (length > INT32_MAX) {
        encoder->status = TENDON_ERROR_INVALID_ARGUMENT;
        return;
    }
    tendon_write_u32be(&encoder->writer, (uint32_t)length);
    tendon_write_bytes(&encoder->writer, bytes, length);
    while (encoder->writer.status == TENDON_OK && encoder->writer.length % 4 != 0) {
        tendon_write_u8(&encoder->writer, 0);
    }
}

tendon_status tendon_osc_end(const tendon_osc_encoder *encoder) {
    if (encoder->status < 0) {
        return encoder->status;
    }
    const char *left = encoder->tags;
    while (has_no_bytes(*left)) {
        left++;
    }
    return *left != 0 ? TENDON_ERROR_INVALID_ARGUMENT : tendon_writer_result(&encoder->writer);
}

tendon_status tendon_osc_sample(const char *address, const double *values, size_t count, uint8_t *out,
                                size_t capacity) {
    char tags[TENDON_OSC_SAMPLE_MAX + 1];
    if (count > TENDON_OSC_SAMPLE_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    memset(tags, 'f', count);
    tags[count] = 0;
    tendon_osc_encoder encoder = tendon_osc_begin(out, capacity, address, tags);
    for (size_t i = 0; i < count; i++) {
        tendon_osc_float(&encoder, values[i]);
    }
    return tendon_osc_end(&encoder);
}

void tendon_opentrack_encode(const double pose[6], uint8_t out[TENDON_OPENTRACK_SIZE]) {
    tendon_writer writer = tendon_writer_make(out, TENDON_OPENTRACK_SIZE);
    for (size_t i = 0; i < 6; i++) {
        tendon_write_u64le(&writer, bits_of(pose[i]));
    }
}

/* The characters of a name: those of patterns and of the protocol would mean something else to a receiver. */
static bool is_of_a_name(char c) {
    return c > ' ' && c <= '~' && !tendon_osc_is_one_of(c, "#*,/?[]{}");
}

tendon_status tendon_osc_append_level(char *address, size_t length, size_t capacity, const char *text,
                                      size_t text_length) {
    /* Compared so that no sum overflows. */
    if (length >= capacity || capacity - length < 2 || text_length > capacity - length - 2) {
        return TENDON_ERROR_BUFFER_TOO_SMALL;
    }
    address[length++] = '/';
    for (size_t i = 0; i < text_length; i++) {
        address[length++] = is_of_a_name(text[i]) ? text[i] : '_';
    }
    address[length] = 0;
    return (tendon_status)length;
}
