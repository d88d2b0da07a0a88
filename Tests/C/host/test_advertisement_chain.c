/* SPDX-License-Identifier: MIT */
/* Extended reports in parts: group F08. */
#include "tendon/host/advertisement.h"
#include "test_bytes.h"

typedef struct setup {
    tendon_ad_reassembler reassembler;
    tendon_ad_chain chains[2];
    tendon_ad_report out;
    uint64_t now;
} setup;

static void start(setup *s) {
    memset(s, 0x5A, sizeof(*s));
    s->now = 100;
    assert_int_equal(tendon_ad_reassembler_init(&s->reassembler, s->chains, 2), TENDON_OK);
}

/* One part: who, set, status bits, `length` bytes of `fill`. */
static bool feed(setup *s, uint8_t who, uint8_t set, unsigned properties, uint8_t fill, size_t length) {
    block b = block_copy(NULL, 0);
    free(b.data);
    b.data = malloc(length > 0 ? length : 1);
    memset(b.data, fill, length > 0 ? length : 1);
    tendon_ad_report part = {.address = {{who}, TENDON_ADDRESS_TYPE_RANDOM},
                             .properties = (uint16_t)properties,
                             .set_id = set,
                             .rssi = -50,
                             .data = b.data,
                             .length = length};
    bool whole = tendon_ad_reassembler_feed(&s->reassembler, &part, s->now, &s->out);
    if (whole && s->out.data == b.data) {
        s->out.data = NULL; /* lent: gone with the part */
    }
    free(b.data);
    return whole;
}

static void init_needs_a_chain(void **state) {
    (void)state;
    tendon_ad_reassembler r;
    tendon_ad_chain chain;
    assert_int_equal(tendon_ad_reassembler_init(&r, NULL, 1), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_ad_reassembler_init(&r, &chain, 0), TENDON_ERROR_INVALID_ARGUMENT);
}

static void whole_reports_pass_untouched(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_true(feed(&s, 1, 0, TENDON_AD_CONNECTABLE, 0xAA, 200));
    assert_true(s.out.length == 200 && s.out.data == NULL && !s.out.truncated);
    assert_int_equal(s.out.properties, TENDON_AD_CONNECTABLE);
    assert_true(feed(&s, 1, 0, TENDON_AD_CONNECTABLE, 0xAA, 0));
    assert_true(s.out.length == 0);
    /* a legacy report has no data status: its bits 5 and 6 are reserved, and start no chain */
    assert_true(feed(&s, 1, 0xFF, TENDON_AD_LEGACY | TENDON_AD_DATA_MORE, 0xAA, 31));
    assert_false(s.out.truncated);
}

static void parts_become_one(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_false(feed(&s, 1, 3, TENDON_AD_DATA_MORE | TENDON_AD_CONNECTABLE, 0x11, 229));
    assert_false(feed(&s, 1, 3, TENDON_AD_DATA_MORE | TENDON_AD_CONNECTABLE, 0x22, 229));
    assert_true(feed(&s, 1, 3, TENDON_AD_CONNECTABLE, 0x33, 10));
    assert_int_equal(s.out.length, 468);
    assert_int_equal(s.out.properties, TENDON_AD_CONNECTABLE);
    assert_true(s.out.data[0] == 0x11 && s.out.data[229] == 0x22 && s.out.data[458] == 0x33 && !s.out.truncated);
    /* and the next one starts a new chain */
    assert_true(feed(&s, 1, 3, 0, 0x44, 5));
    assert_int_equal(s.out.length, 5);
}

static void mal_F08_truncated_and_reserved_status(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_false(feed(&s, 1, 3, TENDON_AD_DATA_MORE, 0x11, 100));
    assert_true(feed(&s, 1, 3, TENDON_AD_DATA_TRUNCATED, 0x22, 50));
    assert_true(s.out.length == 150 && s.out.truncated && s.out.properties == 0);
    assert_true(feed(&s, 1, 3, TENDON_AD_DATA_STATUS, 0x22, 50)); /* 3 is reserved: no more will come */
    assert_true(s.out.length == 50 && s.out.truncated);
}

static void mal_F08_interleaved_advertisers_and_sets(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_false(feed(&s, 1, 3, TENDON_AD_DATA_MORE, 0x11, 10));
    assert_false(feed(&s, 1, 4, TENDON_AD_DATA_MORE, 0x22, 20));
    assert_false(feed(&s, 1, 3, TENDON_AD_DATA_MORE, 0x11, 10));
    assert_true(feed(&s, 1, 4, 0, 0x22, 20));
    assert_int_equal(s.out.length, 40);
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(s.out.data[i], 0x22);
    }
    assert_false(feed(&s, 1, 3, TENDON_AD_DATA_MORE | TENDON_AD_SCAN_RESPONSE, 0x33, 1)); /* another chain */
    assert_true(feed(&s, 1, 3, 0, 0x11, 10));
    assert_int_equal(s.out.length, 30);
    assert_true(feed(&s, 1, 3, TENDON_AD_SCAN_RESPONSE, 0x33, 1));
    assert_int_equal(s.out.length, 2);
    assert_int_equal(s.reassembler.evicted, 0);
}

/* A chain that never ends: reported once, cut at 1,650 bytes; then silent, and memory stays bounded. */
static void mal_F08_never_ending_chain(void **state) {
    (void)state;
    setup s;
    start(&s);
    unsigned reports = 0;
    for (unsigned i = 0; i < 10000; i++) {
        s.now++;
        if (feed(&s, 1, 3, TENDON_AD_DATA_MORE, (uint8_t)i, 229)) {
            reports++;
            assert_int_equal(s.out.length, TENDON_AD_EXTENDED_MAX);
            assert_true(s.out.truncated);
        }
    }
    assert_int_equal(reports, 1);
    assert_int_equal(s.reassembler.overflowed, 1);
    assert_false(feed(&s, 1, 3, 0, 0, 229)); /* its end */
    assert_true(feed(&s, 1, 3, 0, 0, 9));    /* the set works again */
    assert_int_equal(s.out.length, 9);
}

static void exactly_the_longest(void **state) {
    (void)state;
    for (size_t last = 46; last <= 48; last++) { /* 7 * 229 = 1603; 47 more are 1,650 */
        setup s;
        start(&s);
        for (int i = 0; i < 7; i++) {
            assert_false(feed(&s, 1, 3, TENDON_AD_DATA_MORE, 1, 229));
        }
        assert_true(feed(&s, 1, 3, 0, 2, last));
        assert_int_equal(s.out.length, last == 46 ? 1649 : 1650);
        assert_int_equal(s.out.truncated, last == 48);
    }
}

static void mal_F08_full_table_gives_up_the_oldest(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_false(feed(&s, 1, 0, TENDON_AD_DATA_MORE, 1, 10));
    s.now++;
    assert_false(feed(&s, 2, 0, TENDON_AD_DATA_MORE, 2, 10));
    s.now++;
    assert_false(feed(&s, 3, 0, TENDON_AD_DATA_MORE, 3, 10));
    assert_int_equal(s.reassembler.evicted, 1);
    assert_true(feed(&s, 2, 0, 0, 2, 10));
    assert_int_equal(s.out.length, 20);
    assert_true(feed(&s, 1, 0, 0, 1, 10)); /* what is left of the evicted one stands alone */
    assert_int_equal(s.out.length, 10);
    assert_true(feed(&s, 3, 0, 0, 3, 10));
    assert_int_equal(s.out.length, 20);
}

static void mal_F08_broken_off_chain_is_not_joined_later(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_false(feed(&s, 1, 0, TENDON_AD_DATA_MORE, 1, 10));
    s.now += TENDON_AD_CHAIN_TIMEOUT_MS;
    assert_false(feed(&s, 1, 0, TENDON_AD_DATA_MORE, 1, 10));
    s.now += TENDON_AD_CHAIN_TIMEOUT_MS + 1;
    assert_true(feed(&s, 1, 0, 0, 1, 7));
    assert_int_equal(s.out.length, 7);
    assert_int_equal(s.reassembler.expired, 1);
    assert_true(feed(&s, 1, 0, 0, 1, 7)); /* given up once */
    assert_int_equal(s.reassembler.expired, 1);
}

/* Random parts from few senders into two chains: whatever comes out is bounded and holds one sender's bytes. */
/* The clock of another source may be behind: that is no age. */
static void a_clock_that_goes_back_expires_nothing(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_false(feed(&s, 1, 1, TENDON_AD_DATA_MORE, 0xA1, 3));
    s.now -= 50;
    assert_true(feed(&s, 1, 1, 0, 0xA2, 2));
    assert_int_equal(s.out.length, 5);
    assert_int_equal(s.reassembler.expired, 0);
    /* At the limit it is still one chain, behind it it is not. */
    for (unsigned over = 0; over < 2; over++) {
        assert_false(feed(&s, 1, 1, TENDON_AD_DATA_MORE, 0xA1, 3));
        s.now += TENDON_AD_CHAIN_TIMEOUT_MS + over;
        assert_true(feed(&s, 1, 1, 0, 0xA2, 2));
        assert_int_equal(s.out.length, over ? 2 : 5);
        assert_int_equal(s.reassembler.expired, over);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_needs_a_chain),
        cmocka_unit_test(whole_reports_pass_untouched),
        cmocka_unit_test(parts_become_one),
        cmocka_unit_test(mal_F08_truncated_and_reserved_status),
        cmocka_unit_test(mal_F08_interleaved_advertisers_and_sets),
        cmocka_unit_test(mal_F08_never_ending_chain),
        cmocka_unit_test(exactly_the_longest),
        cmocka_unit_test(mal_F08_full_table_gives_up_the_oldest),
        cmocka_unit_test(mal_F08_broken_off_chain_is_not_joined_later),
        cmocka_unit_test(a_clock_that_goes_back_expires_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
