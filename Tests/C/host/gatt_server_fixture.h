/* SPDX-License-Identifier: MIT */
/*
 * GATT server tests: one database, one client whose PDUs are written as hex.
 *
 * Handles of the database:
 *   01 service 1801            02 declaration  03 2A05 indicate  04 CCCD
 *   05 service 180A            06 declaration  07 2A29 "Tendon"  08 declaration  09 2A24 "Model1"
 *   0A service 128-bit         0B include 180A
 *      0C declaration  0D value 128-bit, read write command notify, dynamic  0E CCCD  0F 2901 "abc"
 *      10 declaration  11 FF01 write only, dynamic
 *      12 declaration  13 FF02 encrypted, notify  14 CCCD
 *      15 declaration  16 FF03 authenticated
 *      17 declaration  18 FF04 authorised
 *   19 secondary service 180F  1A declaration  1B 2A19 static 64
 */
#ifndef GATT_SERVER_FIXTURE_H
#define GATT_SERVER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tendon/host.h"

#define LONG_UUID "11223344-5566-7788-99aa-bbccddeeff00"
#define LONG_VALUE_UUID "11223344-5566-7788-99aa-bbccddeeff01"

typedef struct fixture {
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[32];
    tendon_gatt_connection connection;
    tendon_att_bearer bearer;
    uint16_t cccds[4];
    tendon_gatt_prepared prepared[3];
    uint8_t value[512]; /* of handle 0D, and of the protected ones */
    size_t value_length;
    bool lend_nothing; /* a NULL value with a length */
    tendon_status read_result, write_result;
    uint16_t written_handle, written_offset;
    uint8_t written[512];
    size_t written_length;
    bool written_by_command;
    unsigned writes, subscriptions, confirmations;
    uint16_t subscribed_handle, subscribed_value;
    tendon_status confirmed;
    uint8_t sent[600]; /* the last PDU */
    size_t sent_length;
    unsigned sends;
    tendon_status link; /* what the link answers */
    uint64_t now;
} fixture;

/** Hex to bytes; blanks are skipped. Returns the length. */
static inline size_t from_hex(const char *hex, uint8_t *out, size_t capacity) {
    size_t length = 0;
    for (const char *c = hex; *c != 0;) {
        if (*c == ' ') {
            c++;
            continue;
        }
        char digits[3] = {c[0], c[1], 0};
        char *end;
        unsigned long byte = strtoul(digits, &end, 16);
        if (end != digits + 2 || length >= capacity) {
            fail_msg("bad hex \"%s\"", hex);
        }
        out[length++] = (uint8_t)byte;
        c += 2;
    }
    return length;
}

static inline void check_bytes(const uint8_t *bytes, size_t length, const char *hex) {
    uint8_t expected[1024];
    size_t count = from_hex(hex, expected, sizeof expected);
    if (count != length || memcmp(bytes, expected, count) != 0) {
        char text[3 * 600 + 1] = "";
        for (size_t i = 0; i < length && i < 600; i++) {
            snprintf(text + 3 * i, 4, "%02x ", bytes[i]);
        }
        fail_msg("got      %s\nexpected %s", text, hex);
    }
}

/** Gives bytes to the bearer in a buffer of exactly their length. */
static inline tendon_status receive_bytes(fixture *f, const uint8_t *bytes, size_t length) {
    uint8_t *exact = malloc(length != 0 ? length : 1);
    assert_non_null(exact);
    if (length != 0) {
        memcpy(exact, bytes, length);
    }
    tendon_status status = tendon_att_bearer_receive(&f->bearer, exact, length, f->now);
    free(exact);
    return status;
}

static inline tendon_status receive(fixture *f, const char *hex) {
    uint8_t bytes[1024];
    return receive_bytes(f, bytes, from_hex(hex, bytes, sizeof bytes));
}

/** One request must be answered by exactly this one PDU. */
static inline void exchange(fixture *f, const char *request, const char *response) {
    unsigned before = f->sends;
    receive(f, request);
    if (f->sends != before + 1) {
        fail_msg("%u PDUs after %s, expected %s", f->sends - before, request, response);
    }
    check_bytes(f->sent, f->sent_length, response);
}

int fixture_setup(void **state);
int fixture_teardown(void **state);

#define server_test(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
