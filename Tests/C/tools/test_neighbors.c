/* SPDX-License-Identifier: MIT */
/* Neighbors: what a capture of the kernel's monitor channel tells about the programs that use an adapter. */
#include "../test_bytes.h"

#include "tendon/tools/neighbors.h"

static tendon_neighbors found;

static void feed(uint8_t type, uint16_t opcode, uint16_t adapter, const char *hex) {
    block b = block_hex(hex);
    tendon_neighbors_feed(&found,
                          &(tendon_capture_record){
                              .type = type, .opcode = opcode, .adapter = adapter, .data = b.data, .length = b.length});
    free(b.data);
}

/* Cookie, format, version 1.22, not trusted, 16 bytes of the name. */
#define OPEN(cookie, format, name) cookie " 00 00 00 " format " 00 01 16 00 00 00 00 00 10 " name
#define BLUETOOTHD "62 6c 75 65 74 6f 6f 74 68 64 00 00 00 00 00 00"
#define TENDON "74 65 6e 64 6f 6e 00 00 00 00 00 00 00 00 00 00"
#define NONE 0xFFFF

static int start(void **state) {
    (void)state;
    memset(&found, 0x5A, sizeof found);
    tendon_neighbors_init(&found, 0);
    return 0;
}

static void programs_and_what_they_do(void **state) {
    (void)state;
    feed(0, 14, NONE, OPEN("01", "02", BLUETOOTHD));
    feed(0, 14, NONE, OPEN("02", "02", TENDON));
    feed(0, 14, 0, OPEN("03", "00", TENDON));
    assert_int_equal(found.count, 2);
    assert_string_equal(found.programs[0].program, "bluetoothd");
    assert_string_equal(found.programs[1].program, "tendon");
    assert_int_equal(found.programs[0].sockets, 1);
    assert_int_equal(found.programs[1].sockets, 2);
    assert_false(found.programs[0].raw || found.programs[0].exclusive || found.programs[1].exclusive);
    assert_true(found.programs[1].raw);
    assert_false(tendon_neighbors_interfere(&found)); /* nobody has done anything */

    static const struct {
        const char *command;
        int action; /* -1: changes nothing */
    } rows[] = {{"05 00 01", TENDON_NEIGHBOR_POWER},
                {"23 00 06", TENDON_NEIGHBOR_SCAN},
                {"24 00 06", TENDON_NEIGHBOR_SCAN},
                {"3a 00 06", TENDON_NEIGHBOR_SCAN},
                {"41 00 06", TENDON_NEIGHBOR_SCAN},
                {"29 00 01", TENDON_NEIGHBOR_ADVERTISE},
                {"3e 00", TENDON_NEIGHBOR_ADVERTISE},
                {"3f 00", TENDON_NEIGHBOR_ADVERTISE},
                {"54 00", TENDON_NEIGHBOR_ADVERTISE},
                {"14 00", TENDON_NEIGHBOR_CONNECT},
                {"33 00", TENDON_NEIGHBOR_CONNECT},
                {"34 00", TENDON_NEIGHBOR_CONNECT},
                {"35 00", TENDON_NEIGHBOR_CONNECT},
                {"13 00", TENDON_NEIGHBOR_KEYS},
                {"30 00", TENDON_NEIGHBOR_KEYS},
                {"18 00 03", TENDON_NEIGHBOR_KEYS},
                {"21 00", TENDON_NEIGHBOR_KEYS},
                {"3b 00 06", TENDON_NEIGHBOR_KEYS},
                {"19 00", TENDON_NEIGHBOR_KEYS},
                {"1b 00", TENDON_NEIGHBOR_KEYS},
                {"07 00 01", TENDON_NEIGHBOR_SETTINGS},
                {"09 00 01", TENDON_NEIGHBOR_SETTINGS},
                {"0d 00 01", TENDON_NEIGHBOR_SETTINGS},
                {"2a 00 01", TENDON_NEIGHBOR_SETTINGS},
                {"2b 00", TENDON_NEIGHBOR_SETTINGS},
                {"2f 00", TENDON_NEIGHBOR_SETTINGS},
                {"04 00", -1},
                {"03 00", -1},
                {"ff ff", -1}};
    uint32_t expected[TENDON_NEIGHBOR_ACTIONS] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char hex[64];
        snprintf(hex, sizeof hex, "01 00 00 00 %s", rows[i].command);
        feed(0, 16, 0, hex);
        if (rows[i].action >= 0) {
            expected[rows[i].action]++;
        }
        assert_memory_equal(found.programs[0].actions, expected, sizeof expected);
    }
    static const uint32_t nothing[TENDON_NEIGHBOR_ACTIONS] = {0};
    assert_memory_equal(found.programs[1].actions, nothing, sizeof nothing);
    assert_true(tendon_neighbors_interfere(&found)); /* tendon could send commands, and bluetoothd did something */
    assert_int_equal(found.malformed, 0);
}

/* What a cookie says ends with its socket; the cookie of a later one is another program's. */
static void a_closed_socket_says_nothing(void **state) {
    (void)state;
    feed(0, 14, NONE, OPEN("01", "02", BLUETOOTHD));
    feed(0, 15, NONE, "02 00 00 00"); /* not known */
    feed(0, 15, NONE, "01 00 00 00");
    feed(0, 16, 0, "01 00 00 00 05 00 01");
    assert_int_equal(found.programs[0].actions[TENDON_NEIGHBOR_POWER], 0);
    feed(0, 14, NONE, OPEN("01", "02", TENDON));
    feed(0, 16, 0, "01 00 00 00 05 00 01");
    feed(0, 16, 0, "09 00 00 00 05 00 01"); /* nobody's */
    assert_int_equal(found.programs[0].actions[TENDON_NEIGHBOR_POWER], 0);
    assert_int_equal(found.programs[1].actions[TENDON_NEIGHBOR_POWER], 1);
    assert_false(tendon_neighbors_interfere(&found)); /* one of them did nothing, and cannot */
}

static void commands_that_a_controller_rejects(void **state) {
    (void)state;
    static const char *const opcodes[] = {"06 20", "08 20", "0a 20", "0b 20", "0c 20", "0d 20",
                                          "36 20", "39 20", "41 20", "42 20", "43 20"};
    uint32_t rejected = 0;
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        char hex[64];
        snprintf(hex, sizeof hex, "0e 04 01 %s 0c", opcodes[i]);
        feed(TENDON_HCI_PACKET_EVENT, 3, 0, hex);
        assert_int_equal(found.rejected, ++rejected);
        snprintf(hex, sizeof hex, "0f 04 0c 01 %s", opcodes[i]);
        feed(TENDON_HCI_PACKET_EVENT, 3, 0, hex);
        assert_int_equal(found.rejected, ++rejected);
        snprintf(hex, sizeof hex, "0e 04 01 %s 00", opcodes[i]);
        feed(TENDON_HCI_PACKET_EVENT, 3, 0, hex);
        snprintf(hex, sizeof hex, "0e 04 01 %s 12", opcodes[i]);
        feed(TENDON_HCI_PACKET_EVENT, 3, 0, hex);
        snprintf(hex, sizeof hex, "0e 04 01 %s 0c", opcodes[i]);
        feed(TENDON_HCI_PACKET_EVENT, 3, 1, hex); /* another adapter */
        assert_int_equal(found.rejected, rejected);
    }
    assert_int_equal(found.rejected_opcode, 0x2043);
    feed(TENDON_HCI_PACKET_EVENT, 3, 0, "0e 04 01 02 20 0c"); /* another command */
    feed(TENDON_HCI_PACKET_EVENT, 3, 0, "0e 03 01 0c 20");    /* no status */
    feed(TENDON_HCI_PACKET_EVENT, 3, 0, "05 04 0c 01 0c 20");
    assert_int_equal(found.rejected, rejected);
    assert_true(tendon_neighbors_interfere(&found));
}

static void resets_are_counted(void **state) {
    (void)state;
    feed(TENDON_HCI_PACKET_COMMAND, 2, 0, "03 0c 00");
    feed(TENDON_HCI_PACKET_COMMAND, 2, 0, "03");
    feed(TENDON_HCI_PACKET_COMMAND, 2, 0, "0c 20 02 01 00");
    feed(TENDON_HCI_PACKET_COMMAND, 2, 1, "03 0c 00");
    assert_int_equal(found.resets, 1);
    tendon_neighbors_init(&found, TENDON_NEIGHBORS_ALL);
    feed(TENDON_HCI_PACKET_COMMAND, 2, 1, "03 0c 00");
    assert_int_equal(found.resets, 1);
}

/* Who interferes: what each of two programs does, and can do. */
static void interference(void **state) {
    static const struct {
        const char *first, *second; /* formats */
        bool first_acts, second_acts, expected;
    } rows[] = {{"02", "02", false, false, false}, {"02", "02", true, false, false}, {"02", "02", true, true, true},
                {"02", "00", true, false, true},   {"00", "02", true, false, false}, {"00", "00", false, false, false},
                {"01", "02", false, false, true},  {"02", "01", false, false, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char hex[128];
        (void)start(state);
        snprintf(hex, sizeof hex, OPEN("01", "%s", BLUETOOTHD), rows[i].first);
        feed(0, 14, NONE, hex);
        if (rows[i].first_acts) {
            feed(0, 16, 0, "01 00 00 00 23 00 06");
        }
        assert_false(tendon_neighbors_interfere(&found)); /* alone */
        snprintf(hex, sizeof hex, OPEN("02", "%s", TENDON), rows[i].second);
        feed(0, 14, NONE, hex);
        if (rows[i].second_acts) {
            feed(0, 16, 0, "02 00 00 00 05 00 01");
        }
        assert_int_equal(tendon_neighbors_interfere(&found), rows[i].expected);
    }
}

/* Cut at every position: counted, and nothing else changes. A name of any bytes is printable, of any length bounded. */
static void malformed_records_change_nothing(void **state) {
    static const struct {
        uint16_t opcode;
        const char *hex;
        size_t whole;
    } rows[] = {{14, OPEN("01", "02", BLUETOOTHD), 30}, {15, "01 00 00 00", 4}, {16, "01 00 00 00 05 00", 6}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        block b = block_hex(rows[i].hex);
        for (size_t cut = 0; cut <= b.length; cut++) {
            (void)start(state);
            uint8_t *copy = malloc(cut + 1);
            assert_non_null(copy);
            memcpy(copy, b.data, cut);
            tendon_neighbors_feed(&found,
                                  &(tendon_capture_record){.opcode = rows[i].opcode, .data = copy, .length = cut});
            assert_int_equal(found.malformed, cut < rows[i].whole);
            assert_int_equal(found.count, rows[i].opcode == 14 && cut == rows[i].whole);
            free(copy);
        }
        free(b.data);
    }
    (void)start(state);
    feed(0, 14, NONE,
         "01 00 00 00 02 00 01 16 00 00 00 00 00 14 1b 5b 32 4a ff 61 61 61 61 61 61 61 61 61 61 61 61 61 61 61");
    assert_string_equal(found.programs[0].program, "?[2J?aaaaaaaaaaa");
    feed(0, 14, NONE, "02 00 00 00 02 00 01 16 00 00 00 00 00 00");
    assert_string_equal(found.programs[1].program, "");
}

/* More programs and sockets than there is room for: counted, bounded, the known ones go on. */
static void tables_are_bounded(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2 * TENDON_NEIGHBORS_MAX; i++) {
        char hex[64];
        snprintf(hex, sizeof hex, "%02x 00 00 00 02 00 01 16 00 00 00 00 00 02 61 %02x", i, 'a' + i);
        feed(0, 14, NONE, hex);
    }
    assert_int_equal(found.count, TENDON_NEIGHBORS_MAX);
    assert_int_equal(found.left_out, TENDON_NEIGHBORS_MAX);
    feed(0, 16, 0, "0f 00 00 00 05 00 01");
    feed(0, 16, 0, "10 00 00 00 05 00 01"); /* of a program that was left out */
    assert_int_equal(found.programs[15].actions[TENDON_NEIGHBOR_POWER], 1);
    for (unsigned i = 0; i < 300; i++) { /* sockets of one program that are never closed */
        char hex[64];
        snprintf(hex, sizeof hex, "%02x %02x 01 00 02 00 01 16 00 00 00 00 00 02 61 61", i & 0xFF, i >> 8);
        feed(0, 14, NONE, hex);
    }
    assert_int_equal(found.programs[0].sockets, 301);
    feed(0, 16, 0, "2b 01 01 00 05 00 01"); /* the newest */
    assert_int_equal(found.programs[0].actions[TENDON_NEIGHBOR_POWER], 1);
    feed(0, 16, 0, "0f 00 00 00 05 00 01"); /* forgotten for it */
    assert_int_equal(found.programs[15].actions[TENDON_NEIGHBOR_POWER], 1);
    found.programs[0].sockets = found.left_out = found.rejected = found.resets = found.malformed = UINT32_MAX;
    feed(0, 14, NONE, "01 00 01 00 02 00 01 16 00 00 00 00 00 02 61 61");
    feed(0, 14, NONE, "01 00 01 00 02 00 01 16 00 00 00 00 00 02 7a 7a");
    feed(0, 14, NONE, "01");
    feed(TENDON_HCI_PACKET_EVENT, 3, 0, "0e 04 01 0c 20 0c");
    feed(TENDON_HCI_PACKET_COMMAND, 2, 0, "03 0c 00");
    assert_int_equal(found.programs[0].sockets, UINT32_MAX);
    assert_int_equal(found.left_out, UINT32_MAX);
    assert_int_equal(found.rejected, UINT32_MAX);
    assert_int_equal(found.resets, UINT32_MAX);
    assert_int_equal(found.malformed, UINT32_MAX);
}

static void other_records_change_nothing(void **state) {
    (void)state;
    feed(0, 14, NONE, OPEN("03", "02", BLUETOOTHD));
    tendon_neighbors before = found;
    for (unsigned opcode = 0; opcode < 64; opcode++) {
        if (opcode < 14 || opcode > 16) {
            feed(0, (uint16_t)opcode, 0, OPEN("01", "02", BLUETOOTHD));
            feed(0, (uint16_t)opcode, 0, "03 00 00 00 05 00 01");
        }
    }
    for (uint16_t opcode = 14; opcode <= 16; opcode++) {
        feed(TENDON_HCI_PACKET_ACL, opcode, 0, OPEN("01", "02", BLUETOOTHD));
        feed(TENDON_HCI_PACKET_ACL, opcode, 0, "03 00 00 00 05 00 01");
    }
    feed(TENDON_HCI_PACKET_ACL, 5, 0, "03 0c 00");
    feed(0, 14, 3, OPEN("01", "00", BLUETOOTHD)); /* a raw socket of another adapter */
    assert_memory_equal(&found, &before, sizeof found);
}

static void names(void **state) {
    (void)state;
    static const char *const expected[] = {"power", "scan", "advertise", "connect", "keys", "settings", "unknown"};
    for (int i = 0; i <= TENDON_NEIGHBOR_ACTIONS; i++) {
        assert_string_equal(tendon_neighbor_action_name((tendon_neighbor_action)i), expected[i]);
    }
    assert_string_equal(tendon_neighbor_action_name((tendon_neighbor_action)-1), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(programs_and_what_they_do, start),
        cmocka_unit_test_setup(a_closed_socket_says_nothing, start),
        cmocka_unit_test_setup(commands_that_a_controller_rejects, start),
        cmocka_unit_test_setup(resets_are_counted, start),
        cmocka_unit_test_setup(interference, start),
        cmocka_unit_test_setup(malformed_records_change_nothing, start),
        cmocka_unit_test_setup(tables_are_bounded, start),
        cmocka_unit_test_setup(other_records_change_nothing, start),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
