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

static void write_float(tendon_writer *writer, double value) {
    float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    tendon_write_u32be(writer, value != value ? NOT_A_FLOAT : bits);
}

tendon_status tendon_osc_sample(const char *address, const double *values, size_t count, uint8_t *out,
                                size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    size_t length = tendon_osc_length_of(address);
    if (count > TENDON_OSC_SAMPLE_MAX || !is_address(address, length)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_write_bytes(&writer, address, length);
    end_string(&writer);
    tendon_write_u8(&writer, ',');
    for (size_t i = 0; i < count; i++) {
        tendon_write_u8(&writer, 'f');
    }
    end_string(&writer);
    for (size_t i = 0; i < count; i++) {
        write_float(&writer, values[i]);
    }
    return tendon_writer_result(&writer);
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
