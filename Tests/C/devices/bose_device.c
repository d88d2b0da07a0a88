/* SPDX-License-Identifier: MIT */
/* The scripted device: answers one request from its attribute table. */
#include "bose_fixture.h"

#include <string.h>

static uint16_t u16(const uint8_t *b) {
    return (uint16_t)(b[0] | b[1] << 8);
}

static void put16(uint8_t *b, unsigned v) {
    b[0] = (uint8_t)(v & 0xFF);
    b[1] = (uint8_t)(v >> 8);
}

attribute *fixture_attribute(fixture *f, uint16_t handle) {
    for (size_t i = 0; i < f->attribute_count; i++) {
        if (f->attributes[i].handle == handle) {
            return &f->attributes[i];
        }
    }
    return NULL;
}

static bool is_type(const attribute *a, uint16_t number) {
    return a->type_length == 2 && u16(a->type) == number;
}

static size_t error(uint8_t *out, uint8_t opcode, uint16_t handle, uint8_t code) {
    out[0] = 0x01;
    out[1] = opcode;
    put16(out + 2, handle);
    out[4] = code;
    return 5;
}

/* Last handle of the service that begins at an index. */
static uint16_t group_end(const fixture *f, size_t index) {
    size_t i = index + 1;
    while (i < f->attribute_count && !is_type(&f->attributes[i], 0x2800)) {
        i++;
    }
    return f->attributes[i - 1].handle;
}

/* Read By Type, and Read By Group Type, whose items have the group's end too. */
static size_t read_by_type(fixture *f, const uint8_t *pdu, uint8_t *out) {
    bool group = pdu[0] == 0x10;
    size_t n = 2, extra = group ? 4 : 2;
    out[0] = (uint8_t)(pdu[0] + 1);
    out[1] = 0;
    for (size_t i = 0; i < f->attribute_count; i++) {
        attribute *a = &f->attributes[i];
        if (a->handle < u16(pdu + 1) || a->handle > u16(pdu + 3) || !is_type(a, u16(pdu + 5))) {
            continue;
        }
        if ((out[1] != 0 && out[1] != a->length + extra) || n + extra + a->length > f->bearer.mtu) {
            break;
        }
        out[1] = (uint8_t)(a->length + extra);
        put16(out + n, a->handle);
        if (group) {
            put16(out + n + 2, group_end(f, i));
        }
        memcpy(out + n + extra, a->value, a->length);
        n += extra + a->length;
    }
    return n > 2 ? n : error(out, pdu[0], u16(pdu + 1), 0x0A);
}

static size_t find_information(fixture *f, const uint8_t *pdu, uint8_t *out) {
    size_t n = 2, size = 0;
    out[0] = 0x05;
    for (size_t i = 0; i < f->attribute_count; i++) {
        attribute *a = &f->attributes[i];
        if (a->handle < u16(pdu + 1) || a->handle > u16(pdu + 3)) {
            continue;
        }
        if ((size != 0 && size != a->type_length) || n + 2 + a->type_length > f->bearer.mtu) {
            break;
        }
        size = a->type_length;
        put16(out + n, a->handle);
        memcpy(out + n + 2, a->type, size);
        n += 2 + size;
    }
    out[1] = size == 2 ? 1 : 2;
    return n > 2 ? n : error(out, pdu[0], u16(pdu + 1), 0x0A);
}

static size_t read_from(fixture *f, const uint8_t *pdu, size_t offset, uint8_t *out) {
    attribute *a = fixture_attribute(f, u16(pdu + 1));
    if (a == NULL || offset > a->length) {
        return error(out, pdu[0], u16(pdu + 1), a == NULL ? 0x01 : 0x07);
    }
    size_t n = a->length - offset;
    if (n > f->bearer.mtu - 1u) {
        n = f->bearer.mtu - 1u;
    }
    out[0] = (uint8_t)(pdu[0] + 1);
    memcpy(out + 1, a->value + offset, n);
    return n + 1;
}

static void store(fixture *f, uint16_t handle, const uint8_t *value, size_t length) {
    attribute *a = fixture_attribute(f, handle);
    bool configuration = handle == H_SENSOR_CONFIG || handle == H_GESTURE_CONFIG;
    if (a != NULL && (f->keeps_written || !configuration)) {
        memcpy(a->value, value, length);
        a->length = length;
    }
}

static size_t execute(fixture *f, const uint8_t *pdu, uint8_t *out) {
    if (pdu[1] == 1) {
        store(f, f->prepared_handle, f->prepared, f->prepared_length);
    }
    f->prepared_length = 0;
    out[0] = 0x19;
    return 1;
}

static size_t prepare(fixture *f, const uint8_t *pdu, size_t length, uint8_t *out) {
    f->prepared_handle = u16(pdu + 1);
    memcpy(f->prepared + u16(pdu + 3), pdu + 5, length - 5);
    f->prepared_length = u16(pdu + 3) + length - 5;
    memcpy(out, pdu, length);
    out[0] = 0x17;
    return length;
}

static size_t exchange_mtu(fixture *f, uint8_t *out) {
    if (f->mtu == 0) {
        return error(out, 0x02, 0, 0x06);
    }
    out[0] = 0x03;
    put16(out + 1, f->mtu);
    return 3;
}

size_t fixture_answer(fixture *f, const uint8_t *pdu, size_t length, uint8_t *out) {
    uint16_t handle = length >= 3 ? u16(pdu + 1) : 0;
    if (f->failure.opcode == pdu[0] && f->failure.handle == handle) {
        return error(out, pdu[0], handle, f->failure.code);
    }
    if (f->fail_at >= 0 && f->log_count == (size_t)f->fail_at + 1) {
        return error(out, pdu[0], handle, f->fail_at_code);
    }
    switch (pdu[0]) {
    case 0x02:
        return exchange_mtu(f, out);
    case 0x04:
        return find_information(f, pdu, out);
    case 0x08:
    case 0x10:
        return read_by_type(f, pdu, out);
    case 0x0A:
        return read_from(f, pdu, 0, out);
    case 0x0C:
        return read_from(f, pdu, u16(pdu + 3), out);
    case 0x12:
        store(f, handle, pdu + 3, length - 3);
        out[0] = 0x13;
        return 1;
    case 0x16:
        return prepare(f, pdu, length, out);
    case 0x18:
        return execute(f, pdu, out);
    default:
        return error(out, pdu[0], handle, 0x06);
    }
}
