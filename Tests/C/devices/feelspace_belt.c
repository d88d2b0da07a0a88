/* SPDX-License-Identifier: MIT */
/* The scripted belt: answers one request from its attribute table, and parameter requests as belts do. */
#include "feelspace_fixture.h"

static uint16_t u16(const uint8_t *b) {
    return (uint16_t)(b[0] | b[1] << 8);
}

static void put16(uint8_t *b, unsigned v) {
    b[0] = (uint8_t)(v & 0xFF);
    b[1] = (uint8_t)(v >> 8);
}

belt_attribute *belt_attribute_of(belt *b, uint16_t handle) {
    for (size_t i = 0; i < b->attribute_count; i++) {
        if (b->attributes[i].handle == handle) {
            return &b->attributes[i];
        }
    }
    return NULL;
}

static size_t error(uint8_t *out, const uint8_t *pdu, uint8_t code) {
    out[0] = 0x01;
    out[1] = pdu[0];
    memcpy(out + 2, pdu + 1, 2);
    out[4] = code;
    return 5;
}

/* Read By Group Type and Read By Type: items of one size. */
static size_t read_by(belt *b, const uint8_t *pdu, bool groups, uint8_t *out) {
    size_t n = 2;
    out[0] = groups ? 0x11 : 0x09;
    out[1] = 0;
    for (size_t i = 0; i < b->attribute_count; i++) {
        const belt_attribute *a = &b->attributes[i];
        size_t head = groups ? 4 : 2;
        if (a->handle < u16(pdu + 1) || a->handle > u16(pdu + 3) || a->type != u16(pdu + 5)) {
            continue;
        }
        if ((out[1] != 0 && out[1] != a->length + head) || n + head + a->length > b->bearer.mtu) {
            break;
        }
        out[1] = (uint8_t)(a->length + head);
        put16(out + n, a->handle);
        if (groups) {
            size_t last = i + 1;
            while (last < b->attribute_count && b->attributes[last].type != 0x2800) {
                last++;
            }
            put16(out + n + 2, b->attributes[last - 1].handle);
        }
        memcpy(out + n + head, a->value, a->length);
        n += head + a->length;
    }
    return n > 2 ? n : error(out, pdu, 0x0A);
}

static size_t find_information(belt *b, const uint8_t *pdu, uint8_t *out) {
    size_t n = 2;
    out[0] = 0x05;
    out[1] = 1;
    for (size_t i = 0; i < b->attribute_count && n + 4 <= b->bearer.mtu; i++) {
        const belt_attribute *a = &b->attributes[i];
        if (a->handle >= u16(pdu + 1) && a->handle <= u16(pdu + 3)) {
            put16(out + n, a->handle);
            put16(out + n + 2, a->type);
            n += 4;
        }
    }
    return n > 2 ? n : error(out, pdu, 0x0A);
}

/* ---- parameters ---- */

static void notice(belt *b, const uint8_t *bytes, size_t length) {
    assert_true(b->notice_count < BELT_NOTICES_MAX);
    b->notices[b->notice_count].handle = H_PARAMETER;
    memcpy(b->notices[b->notice_count].value, bytes, length);
    b->notices[b->notice_count++].length = length;
}

static void request(belt *b, const uint8_t *v, size_t length) {
    uint8_t out[24] = {v[0], 0};
    if (b->silent || length < 2) {
        return;
    }
    if (v[0] == 0x01 && length >= 3 && v[1] == 0x81) {
        b->mode = v[2];
    } else if (v[0] == 0x01 && length >= 3 && v[1] == 0x82) {
        b->intensity = v[2] < 5 ? 5 : v[2];
    } else if (v[0] == 0x11 && length >= 4 && v[1] == 0x03) {
        b->accuracy = v[3];
    }
    if (v[0] == 0x01) {
        out[1] = v[1] & 0x7F;
        if (out[1] == 3) {
            out[2] = v[1] == 0x83 ? v[2] : 0x2D;
            notice(b, out, 4);
        } else if (out[1] <= 2) {
            out[2] = out[1] == 1 ? b->mode : b->intensity;
            notice(b, out, 3);
        }
        return;
    }
    uint8_t id = v[0] == 0x10 && length >= 3 ? v[2] : v[1];
    out[0] = 0x10;
    out[1] = id;
    if (id == 0x03) {
        out[2] = b->accuracy;
        notice(b, out, 3);
    } else if (id == 0x0A) {
        const belt_attribute *front =
            belt_attribute_of(b, 0xFF00); /* no attribute: where a test keeps its front range */
        if (front != NULL) {
            memcpy(out + 2, front->value, front->length);
            notice(b, out, 2 + front->length);
        }
    } else if (id == 0x0F || id == 0x25) {
        memcpy(out + 2, v + 3, length > 3 ? length - 3 : 1);
        notice(b, out, id == 0x0F ? 4 : 3);
    }
}

static void notify_all(belt *b) {
    size_t count = b->notice_count;
    b->notice_count = 0;
    for (size_t i = 0; i < count; i++) {
        belt_notify_bytes(b, b->notices[i].handle, b->notices[i].value, b->notices[i].length);
    }
}

/* ---- one request ---- */

static size_t answer(belt *b, const uint8_t *pdu, size_t length, uint8_t *out) {
    const belt_attribute *a = belt_attribute_of(b, u16(pdu + 1));
    switch (pdu[0]) {
    case 0x04:
        return find_information(b, pdu, out);
    case 0x08:
        return read_by(b, pdu, false, out);
    case 0x10:
        return read_by(b, pdu, true, out);
    case 0x0A:
        if (a == NULL) {
            return error(out, pdu, 0x01);
        }
        out[0] = 0x0B;
        memcpy(out + 1, a->value, a->length);
        return 1 + a->length;
    case 0x12:
        if (a == NULL) {
            return error(out, pdu, 0x01);
        }
        if (a->handle == H_REQUEST) {
            request(b, pdu + 3, length - 3);
        }
        out[0] = 0x13;
        return 1;
    default:
        return error(out, pdu, 0x06);
    }
}

bool belt_answer_one(belt *b) {
    if (!b->up || b->mute || b->pending_length == 0 || b->answer_limit == 0) {
        return false;
    }
    if (b->answer_limit > 0) {
        b->answer_limit--;
    }
    uint8_t pdu[64], out[64];
    size_t length = b->pending_length;
    memcpy(pdu, b->pending, length);
    b->pending_length = 0;
    bool fails = b->fail_at >= 0 && b->log_count == (size_t)b->fail_at + 1;
    size_t n = fails ? error(out, pdu, b->fail_code) : answer(b, pdu, length, out);
    if (b->answers_early) {
        notify_all(b);
    }
    if (b->up) {
        block exact = block_copy(out, n);
        (void)tendon_att_bearer_receive(&b->bearer, exact.data, exact.length, b->now);
        free(exact.data);
    }
    notify_all(b);
    return true;
}
