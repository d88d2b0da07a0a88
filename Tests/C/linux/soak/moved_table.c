/* SPDX-License-Identifier: MIT */
#include "moved_table.h"

#include <string.h>

#define INCLUDE 0x2802
#define CHARACTERISTIC 0x2803
#define DATABASE_HASH 0x2B2A

void moved_table_change(moved_table *table, uint16_t by) {
    table->by = by;
    table->changed = true;
    table->unaware = true;
    table->noticing = false;
}

static uint16_t get(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static void put(uint8_t *bytes, uint16_t handle) {
    bytes[0] = (uint8_t)(handle & 0xFFu);
    bytes[1] = (uint8_t)(handle >> 8);
}

/* 0 and 0xFFFF are no handles of an attribute of the simulated devices. */
static void up(const moved_table *table, uint8_t *bytes) {
    uint16_t handle = get(bytes);
    put(bytes, handle != 0 && handle != UINT16_MAX ? (uint16_t)(handle + table->by) : handle);
}

static void down(const moved_table *table, uint8_t *bytes) {
    uint16_t handle = get(bytes);
    put(bytes, handle == UINT16_MAX ? handle : handle > table->by ? (uint16_t)(handle - table->by) : 0);
}

static size_t error(uint8_t opcode, uint16_t handle, uint8_t code, uint8_t *answer) {
    answer[0] = TENDON_ATT_ERROR_RESPONSE;
    answer[1] = opcode;
    put(answer + 2, handle);
    answer[4] = code;
    return 5;
}

static bool has_range(uint8_t opcode) {
    return opcode == TENDON_ATT_FIND_INFORMATION_REQUEST || opcode == TENDON_ATT_FIND_BY_TYPE_VALUE_REQUEST ||
           opcode == TENDON_ATT_READ_BY_TYPE_REQUEST || opcode == TENDON_ATT_READ_BY_GROUP_TYPE_REQUEST;
}

/* What a change-unaware client must not be served. */
static bool is_refused(const moved_table *table, const uint8_t *pdu) {
    if (pdu[0] == TENDON_ATT_READ_BY_TYPE_REQUEST) {
        bool whole = get(pdu + 1) == 1 && get(pdu + 3) == UINT16_MAX;
        return !whole && table->type != INCLUDE && table->type != CHARACTERISTIC;
    }
    return !has_range(pdu[0]) && pdu[0] != TENDON_ATT_EXCHANGE_MTU_REQUEST;
}

static size_t receive_range(const moved_table *table, uint8_t *pdu, uint8_t *answer) {
    uint16_t start = get(pdu + 1), end = get(pdu + 3);
    if (end <= table->by && end >= start) {
        return error(pdu[0], start, TENDON_ATT_ATTRIBUTE_NOT_FOUND, answer);
    }
    down(table, pdu + 1);
    down(table, pdu + 3);
    if (start != 0 && get(pdu + 1) == 0) {
        put(pdu + 1, 1);
    }
    return 1;
}

size_t moved_table_receive(moved_table *table, uint8_t *pdu, size_t length, uint8_t *answer) {
    if (tendon_att_opcode_class(pdu[0]) == TENDON_ATT_CLASS_COMMAND) {
        table->discarded += table->unaware;
        down(table, pdu + 1);
        return table->unaware ? 0 : 1;
    }
    if (tendon_att_opcode_class(pdu[0]) != TENDON_ATT_CLASS_REQUEST) {
        return 1; /* a confirmation */
    }
    if (table->noticing) {
        table->noticing = table->unaware = false;
    }
    table->opcode = pdu[0];
    table->type = pdu[0] == TENDON_ATT_READ_BY_TYPE_REQUEST && length == 7 ? get(pdu + 5) : 0;
    if (table->unaware && is_refused(table, pdu)) {
        table->refused++;
        table->refused_handle = get(pdu + 1);
        table->noticing = true;
        return error(pdu[0], get(pdu + 1), TENDON_ATT_DATABASE_OUT_OF_SYNC, answer);
    }
    if (has_range(pdu[0])) {
        return receive_range(table, pdu, answer);
    }
    if (pdu[0] != TENDON_ATT_EXCHANGE_MTU_REQUEST && pdu[0] != TENDON_ATT_EXECUTE_WRITE_REQUEST) {
        down(table, pdu + 1);
    }
    return 1;
}

/* Items of Read By Type, of one length: handle, value. */
static void send_values(moved_table *table, uint8_t *pdu, size_t length) {
    for (size_t at = 2; pdu[1] >= 2 && at + pdu[1] <= length; at += pdu[1]) {
        up(table, pdu + at);
        if (table->type == CHARACTERISTIC) {
            up(table, pdu + at + 3); /* properties, value handle, UUID */
        } else if (table->type == INCLUDE) {
            up(table, pdu + at + 2);
            up(table, pdu + at + 4);
        } else if (table->type == DATABASE_HASH && table->changed) {
            pdu[at + 2] = (uint8_t)(pdu[at + 2] ^ 0xFFu);
            pdu[at + 3] = (uint8_t)(pdu[at + 3] ^ table->by);
            table->noticing = table->unaware;
        }
    }
}

bool moved_table_send(moved_table *table, uint8_t *pdu, size_t length) {
    switch (pdu[0]) {
    case TENDON_ATT_ERROR_RESPONSE:
        up(table, pdu + 2);
        break;
    case TENDON_ATT_FIND_INFORMATION_RESPONSE:
        for (size_t at = 2, item = pdu[1] == 1 ? 4 : 18; at + item <= length; at += item) {
            up(table, pdu + at);
        }
        break;
    case TENDON_ATT_FIND_BY_TYPE_VALUE_RESPONSE:
        for (size_t at = 1; at + 4 <= length; at += 4) {
            up(table, pdu + at);
            up(table, pdu + at + 2);
        }
        break;
    case TENDON_ATT_READ_BY_TYPE_RESPONSE:
        send_values(table, pdu, length);
        break;
    case TENDON_ATT_READ_BY_GROUP_TYPE_RESPONSE:
        for (size_t at = 2; pdu[1] >= 4 && at + pdu[1] <= length; at += pdu[1]) {
            up(table, pdu + at);
            up(table, pdu + at + 2);
        }
        break;
    case TENDON_ATT_PREPARE_WRITE_RESPONSE:
        up(table, pdu + 1);
        break;
    case TENDON_ATT_HANDLE_VALUE_NOTIFICATION:
    case TENDON_ATT_HANDLE_VALUE_INDICATION:
        up(table, pdu + 1);
        table->withheld += table->unaware;
        return !table->unaware;
    default:
        break;
    }
    return true;
}
