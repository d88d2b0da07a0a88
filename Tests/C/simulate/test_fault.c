/* SPDX-License-Identifier: MIT */
/* Faults: settings as text, each fault on the way, order, full links, determinism. */
#include "test_bytes.h"

#include "tendon/simulate.h"

typedef struct wire {
    int room; /* PDUs it takes; -1: no limit */
    size_t count;
    struct {
        size_t length;
        uint8_t bytes[TENDON_ATT_MTU_MAX];
    } pdus[1024];
} wire;

typedef struct faulty {
    tendon_fault fault;
    tendon_bearer_filter filter;
    tendon_bearer_io io;
    wire wire;
} faulty;

static tendon_status take(void *context, const uint8_t *pdu, size_t length) {
    wire *w = context;
    if (w->room == 0) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    w->room -= w->room > 0 ? 1 : 0;
    assert_true(w->count < 1024);
    w->pdus[w->count].length = length;
    memcpy(w->pdus[w->count].bytes, pdu, length);
    w->count++;
    return TENDON_OK;
}

static void prepare(faulty *f, const char *settings) {
    tendon_fault_options options = {0};
    memset(f, 0, sizeof *f);
    assert_int_equal(tendon_fault_parse(&options, settings, strlen(settings), NULL), TENDON_OK);
    tendon_fault_init(&f->fault, &options);
    f->filter = tendon_fault_filter(&f->fault);
    f->wire.room = -1;
    f->io = f->filter.wrap(f->filter.context, (tendon_bearer_io){&f->wire, take});
}

static int setup(void **state) {
    *state = calloc(1, sizeof(faulty));
    return *state == NULL ? -1 : 0;
}

static int teardown(void **state) {
    free(*state);
    return 0;
}

static tendon_status send_hex(faulty *f, const char *hex) {
    block pdu = block_hex(hex);
    tendon_status status = f->io.send(f->io.context, pdu.data, pdu.length);
    free(pdu.data);
    return status;
}

static void settings_are_parsed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t ppm[TENDON_FAULT_COUNT];
        uint32_t delay_ms, seed;
        bool notifications_only;
    } cases[] = {
        {"drop=0.01", {10000}, 0, 0, false},
        {"drop=1", {1000000}, 0, 0, false},
        {"drop=100%", {1000000}, 0, 0, false},
        {"drop=0", {0}, 0, 0, false},
        {"drop=1.000000", {1000000}, 0, 0, false},
        {"delay=5%,delay_ms=250,seed=7", {0, 50000}, 250, 7, false},
        {"duplicate=0.5%,truncate=0.000001,garbage=0.0000019,disconnect=.0%", {0}, 0, 0, false},
        {"duplicate=0.5%,truncate=0.000001,garbage=0.0000019,disconnect=2.5%", {0, 0, 5000, 1, 1, 25000}, 0, 0, false},
        {"notifications_only,drop=0.2", {200000}, 0, 0, true},
        {"seed=4294967295", {0}, 0, 4294967295u, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_fault_options options = {0};
        block text = block_copy(cases[i].text, strlen(cases[i].text));
        tendon_status status = tendon_fault_parse(&options, (const char *)text.data, text.length, NULL);
        free(text.data);
        if (i == 6) { /* a digit must stand before the point */
            assert_int_equal(status, TENDON_ERROR_MALFORMED);
            assert_int_equal(options.rate_ppm[TENDON_FAULT_DUPLICATE], 0); /* unchanged altogether */
            continue;
        }
        assert_int_equal(status, TENDON_OK);
        assert_memory_equal(options.rate_ppm, cases[i].ppm, sizeof options.rate_ppm);
        assert_int_equal(options.delay_ms, cases[i].delay_ms);
        assert_int_equal(options.seed, cases[i].seed);
        assert_int_equal(options.notifications_only, cases[i].notifications_only);
    }
}

/* The rates of all kinds count together, whichever they are. */
static void rates_of_any_two_kinds_fit_together(void **state) {
    (void)state;
    static const char *const kinds[] = {"drop", "delay", "duplicate", "truncate", "garbage", "disconnect"};
    for (int first = 0; first < 6; first++) {
        for (int second = 0; second < 6; second++) {
            tendon_fault_options options = {0};
            char text[64];
            int length = snprintf(text, sizeof text, "%s=60%%,%s=41%%", kinds[first], kinds[second]);
            assert_int_equal(tendon_fault_parse(&options, text, (size_t)length, NULL),
                             first == second ? TENDON_OK : TENDON_ERROR_OVERFLOW);
            length = snprintf(text, sizeof text, "%s=60%%,%s=40%%", kinds[first], kinds[second]);
            assert_int_equal(tendon_fault_parse(&options, text, (size_t)length, NULL), TENDON_OK);
        }
    }
}

static void wrong_settings_tell_where(void **state) {
    (void)state;
    static const struct {
        const char *text;
        tendon_status status;
        size_t offset;
    } cases[] = {
        {"", TENDON_ERROR_MALFORMED, 0},
        {"drip=0.1", TENDON_ERROR_MALFORMED, 0},
        {"drops=0.1", TENDON_ERROR_MALFORMED, 0},
        {"drop", TENDON_ERROR_MALFORMED, 4},
        {"drop=", TENDON_ERROR_MALFORMED, 5},
        {"drop=x", TENDON_ERROR_MALFORMED, 5},
        {"drop=0.", TENDON_ERROR_MALFORMED, 7},
        {"drop=-1", TENDON_ERROR_MALFORMED, 5},
        {"drop=0.1 ", TENDON_ERROR_MALFORMED, 8},
        {"drop=0.1,", TENDON_ERROR_MALFORMED, 9},
        {"drop=0.1,,seed=1", TENDON_ERROR_MALFORMED, 9},
        {"drop=1.1", TENDON_ERROR_OVERFLOW, 5},
        {"drop=101%", TENDON_ERROR_OVERFLOW, 5},
        {"drop=0.6,delay=0.6", TENDON_ERROR_OVERFLOW, 9},
        {"seed=4294967296", TENDON_ERROR_OVERFLOW, 14},
        {"seed", TENDON_ERROR_MALFORMED, 4},
        {"notifications_only=1", TENDON_ERROR_MALFORMED, 18},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_fault_options options = {.seed = 99};
        size_t offset = 77;
        block text = block_copy(cases[i].text, strlen(cases[i].text));
        assert_int_equal(tendon_fault_parse(&options, (const char *)text.data, text.length, &offset), cases[i].status);
        if (offset != cases[i].offset) {
            fail_msg("\"%s\": offset %zu, expected %zu", cases[i].text, offset, cases[i].offset);
        }
        assert_int_equal(options.seed, 99);
        free(text.data);
    }
    assert_string_equal(tendon_fault_name(TENDON_FAULT_TRUNCATE), "truncate");
    assert_string_equal(tendon_fault_name(TENDON_FAULT_COUNT), "unknown");
}

static void without_faults_all_passes(void **state) {
    faulty *f = *state;
    prepare(f, "drop=0");
    for (unsigned i = 0; i < 1000; i++) {
        const uint8_t pdu[4] = {0x1B, 0x23, 0, (uint8_t)i};
        assert_int_equal(f->io.send(f->io.context, pdu, 4), TENDON_OK);
        assert_int_equal(f->wire.count, i + 1);
        assert_memory_equal(f->wire.pdus[i].bytes, pdu, 4);
    }
    assert_int_equal(f->fault.passed, 1000);
    assert_int_equal(f->filter.deadline(f->filter.context), UINT64_MAX);
}

static void drop_and_disconnect(void **state) {
    faulty *f = *state;
    prepare(f, "drop=1");
    assert_int_equal(send_hex(f, "1b 23 00 01"), TENDON_OK);
    assert_int_equal(f->wire.count, 0);
    assert_int_equal(f->fault.struck[TENDON_FAULT_DROP], 1);
    assert_false(f->filter.take_disconnect(f->filter.context));
    prepare(f, "disconnect=1");
    assert_int_equal(send_hex(f, "1b 23 00 01"), TENDON_OK);
    assert_int_equal(f->wire.count, 0);
    assert_true(f->filter.take_disconnect(f->filter.context));
    assert_false(f->filter.take_disconnect(f->filter.context));
    assert_int_equal(send_hex(f, "1b 23 00 01"), TENDON_OK);
    assert_int_equal(tendon_fault_parse(&f->fault.options, "disconnect=0,drop=1", 19, NULL), TENDON_OK);
    assert_int_equal(send_hex(f, "1b 23 00 02"), TENDON_OK); /* before anybody has asked */
    assert_int_equal(f->fault.struck[TENDON_FAULT_DROP], 1);
    assert_true(f->filter.take_disconnect(f->filter.context));
}

static void delay_keeps_the_order(void **state) {
    faulty *f = *state;
    prepare(f, "delay=1,delay_ms=50");
    f->filter.tick(f->filter.context, 1000);
    send_hex(f, "1b 23 00 01");
    f->fault.options.rate_ppm[TENDON_FAULT_DELAY] = 0;
    send_hex(f, "1b 23 00 02"); /* itself without fault, but behind the late one */
    assert_int_equal(f->wire.count, 0);
    assert_int_equal(f->filter.deadline(f->filter.context), 1050);
    f->filter.tick(f->filter.context, 1049);
    assert_int_equal(f->wire.count, 0);
    f->filter.tick(f->filter.context, 1050);
    assert_int_equal(f->wire.count, 2);
    assert_hex(f->wire.pdus[0].bytes, f->wire.pdus[0].length, "1b 23 00 01");
    assert_hex(f->wire.pdus[1].bytes, f->wire.pdus[1].length, "1b 23 00 02");
    assert_int_equal(f->filter.deadline(f->filter.context), UINT64_MAX);
    prepare(f, "delay=1"); /* 100 ms by default */
    send_hex(f, "1b 23 00 01");
    assert_int_equal(f->filter.deadline(f->filter.context), 100);
}

static void duplicate_truncate_garbage(void **state) {
    faulty *f = *state;
    prepare(f, "duplicate=1");
    send_hex(f, "1b 23 00 01");
    assert_int_equal(f->wire.count, 2);
    assert_hex(f->wire.pdus[1].bytes, f->wire.pdus[1].length, "1b 23 00 01");
    prepare(f, "truncate=1");
    bool seen[5] = {false};
    for (int i = 0; i < 200; i++) {
        send_hex(f, "1b 23 00 01 02");
        size_t length = f->wire.pdus[i].length;
        assert_true(length >= 1 && length <= 4);
        assert_memory_equal(f->wire.pdus[i].bytes, "\x1b\x23\x00\x01", length);
        seen[length] = true;
    }
    assert_true(seen[1] && seen[2] && seen[3] && seen[4]);
    send_hex(f, "13"); /* nothing to cut */
    assert_int_equal(f->wire.pdus[200].length, 1);
    prepare(f, "garbage=1");
    send_hex(f, "1b 23 00 01 02 03 04 05");
    assert_int_equal(f->wire.pdus[0].length, 8);
    assert_int_equal(f->wire.pdus[0].bytes[0], 0x1B);
    assert_memory_not_equal(f->wire.pdus[0].bytes + 1, "\x23\x00\x01\x02\x03\x04\x05", 7);
}

static void a_full_link_and_a_full_queue(void **state) {
    faulty *f = *state;
    prepare(f, "drop=0");
    f->wire.room = 0;
    unsigned accepted = 0;
    uint8_t pdu[2] = {0x1B, 0};
    while (f->io.send(f->io.context, pdu, 2) == TENDON_OK) {
        accepted++;
        pdu[1]++;
        assert_true(accepted <= TENDON_FAULT_QUEUE);
    }
    assert_int_equal(accepted, TENDON_FAULT_QUEUE - 1); /* one place is kept for a duplicate */
    assert_false(f->filter.take_writable(f->filter.context));
    assert_int_equal(f->filter.deadline(f->filter.context), UINT64_MAX); /* waits for writable(), not for time */
    f->filter.tick(f->filter.context, 99999);
    assert_int_equal(f->wire.count, 0);
    f->wire.room = 1; /* then one PDU fits, and its duplicate */
    f->filter.writable(f->filter.context, 5);
    assert_int_equal(f->wire.count, 1);
    assert_true(f->filter.take_writable(f->filter.context));
    assert_false(f->filter.take_writable(f->filter.context));
    f->wire.room = -1;
    f->filter.writable(f->filter.context, 6);
    for (unsigned i = 0; i < accepted; i++) {
        assert_int_equal(f->wire.pdus[i].bytes[1], i);
    }
    assert_int_equal(f->wire.count, accepted);
    assert_int_equal(f->fault.passed, accepted); /* the refused one was not counted */
}

static void responses_can_be_spared(void **state) {
    faulty *f = *state;
    prepare(f, "drop=1,notifications_only");
    assert_int_equal(send_hex(f, "0b 01"), TENDON_OK);
    assert_int_equal(send_hex(f, "1b 23 00 01"), TENDON_OK);
    assert_int_equal(send_hex(f, "1d 23 00 01"), TENDON_OK);
    assert_int_equal(send_hex(f, "13"), TENDON_OK);
    assert_int_equal(f->wire.count, 2);
    assert_int_equal(f->wire.pdus[0].bytes[0], 0x0B);
    assert_int_equal(f->wire.pdus[1].bytes[0], 0x13);
}

static void rates_hold_and_seeds_repeat(void **state) {
    faulty *f = *state;
    uint32_t struck[3][TENDON_FAULT_COUNT];
    static const char *const settings[3] = {
        "drop=0.1,delay=5%,duplicate=0.02,truncate=0.03,garbage=0.04,disconnect=1%,seed=11",
        "drop=0.1,delay=5%,duplicate=0.02,truncate=0.03,garbage=0.04,disconnect=1%,seed=11",
        "drop=0.1,delay=5%,duplicate=0.02,truncate=0.03,garbage=0.04,disconnect=1%,seed=12"};
    static const uint32_t percent[TENDON_FAULT_COUNT] = {10, 5, 2, 3, 4, 1};
    for (int run = 0; run < 3; run++) {
        prepare(f, settings[run]);
        for (uint64_t i = 0; i < 100000; i++) {
            f->filter.tick(f->filter.context, i * 1000);
            f->wire.count = 0;
            assert_int_equal(send_hex(f, "1b 23 00 01 02 03"), TENDON_OK);
        }
        memcpy(struck[run], f->fault.struck, sizeof struck[run]);
    }
    assert_memory_equal(struck[0], struck[1], sizeof struck[0]);
    assert_memory_not_equal(struck[0], struck[2], sizeof struck[0]);
    for (int kind = 0; kind < TENDON_FAULT_COUNT; kind++) {
        assert_in_range(struck[0][kind], percent[kind] * 900, percent[kind] * 1100);
    }
}

static void a_new_link_starts_clean(void **state) {
    faulty *f = *state;
    prepare(f, "delay=1");
    send_hex(f, "1b 23 00 01");
    f->io = f->filter.wrap(f->filter.context, (tendon_bearer_io){&f->wire, take});
    f->filter.tick(f->filter.context, 100000);
    assert_int_equal(f->wire.count, 0);
    assert_int_equal(f->io.send(f->io.context, NULL, 0), TENDON_ERROR_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_parsed),
        cmocka_unit_test(wrong_settings_tell_where),
        cmocka_unit_test(rates_of_any_two_kinds_fit_together),
        cmocka_unit_test_setup_teardown(without_faults_all_passes, setup, teardown),
        cmocka_unit_test_setup_teardown(drop_and_disconnect, setup, teardown),
        cmocka_unit_test_setup_teardown(delay_keeps_the_order, setup, teardown),
        cmocka_unit_test_setup_teardown(duplicate_truncate_garbage, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_link_and_a_full_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(responses_can_be_spared, setup, teardown),
        cmocka_unit_test_setup_teardown(rates_hold_and_seeds_repeat, setup, teardown),
        cmocka_unit_test_setup_teardown(a_new_link_starts_clean, setup, teardown),
    };
    return cmocka_run_group_tests_name("simulate_fault", tests, NULL, NULL);
}
