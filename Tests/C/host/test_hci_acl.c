/* SPDX-License-Identifier: MIT */
/* ACL packets and L2CAP frames: group E01 to E05. */
#include "tendon/host/hci.h"
#include "test_bytes.h"

typedef struct setup {
    tendon_l2cap_reassembler reassembler;
    tendon_l2cap_stream streams[2];
    tendon_l2cap_frame frame;
} setup;

static void start(setup *s) {
    memset(s, 0x5A, sizeof(*s));
    assert_int_equal(tendon_l2cap_reassembler_init(&s->reassembler, s->streams, 2), TENDON_OK);
}

static tendon_status feed(setup *s, const char *hex, bool incoming) {
    block b = block_hex(hex);
    tendon_acl acl;
    tendon_status status = tendon_acl_decode(b.data, b.length, &acl, NULL);
    if (status == TENDON_OK) {
        status = tendon_l2cap_feed(&s->reassembler, &acl, incoming, &s->frame);
    }
    free(b.data);
    return status;
}

static void init_needs_a_stream(void **state) {
    (void)state;
    tendon_l2cap_reassembler r;
    tendon_l2cap_stream stream;
    assert_int_equal(tendon_l2cap_reassembler_init(&r, NULL, 1), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_l2cap_reassembler_init(&r, &stream, 0), TENDON_ERROR_INVALID_ARGUMENT);
}

static void header_members(void **state) {
    (void)state;
    block b = block_hex("4060 0300 aabbcc");
    tendon_acl acl;
    assert_int_equal(tendon_acl_decode(b.data, b.length, &acl, NULL), TENDON_OK);
    assert_true(acl.handle == 0x040 && acl.boundary == TENDON_ACL_START_CONTROLLER && acl.broadcast == 1);
    assert_hex(acl.data, acl.length, "aabbcc");
    free(b.data);
}

static void mal_E01_length_of_the_packet(void **state) {
    (void)state;
    block whole = block_hex("4020 0800 04000400 0a030000");
    for (size_t length = 0; length < whole.length; length++) {
        block b = block_copy(whole.data, length);
        tendon_acl acl;
        size_t offset = 99;
        assert_int_equal(tendon_acl_decode(b.data, length, &acl, &offset), TENDON_ERROR_TRUNCATED);
        assert_int_equal(offset, length < 2 ? 0 : length < 4 ? 2 : 4);
        free(b.data);
    }
    free(whole.data);
    block b = block_hex("4020 0100 aa bb");
    tendon_acl acl;
    size_t offset = 99;
    assert_int_equal(tendon_acl_decode(b.data, b.length, &acl, &offset), TENDON_ERROR_MALFORMED);
    assert_int_equal(offset, 5);
    free(b.data);
}

static void frame_in_one_packet(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_int_equal(feed(&s, "4020 0700 0300 0400 0a0300", true), TENDON_OK);
    assert_true(s.frame.handle == 0x40 && s.frame.incoming && s.frame.cid == TENDON_L2CAP_CID_ATT);
    assert_hex(s.frame.data, s.frame.length, "0a0300");
    assert_int_equal(feed(&s, "4000 0700 0300 0400 0b4142", false), TENDON_OK);
    assert_false(s.frame.incoming);
    assert_int_equal(s.reassembler.frames, 2);
}

/* A frame in two packets, divided at each byte, the header included (E02: a first part below 4 bytes). */
static void mal_E02_frame_divided_at_each_byte(void **state) {
    (void)state;
    static const uint8_t frame[] = {5, 0, 4, 0, 0x1B, 3, 0, 0xAA, 0xBB};
    for (size_t cut = 1; cut < sizeof(frame); cut++) {
        setup s;
        start(&s);
        block first = block_copy(frame, cut), second = block_copy(frame + cut, sizeof(frame) - cut);
        tendon_acl a = {0x40, TENDON_ACL_START_CONTROLLER, 0, first.data, first.length};
        tendon_acl b = {0x40, TENDON_ACL_CONTINUE, 0, second.data, second.length};
        assert_int_equal(tendon_l2cap_feed(&s.reassembler, &a, true, &s.frame), TENDON_ERROR_INCOMPLETE);
        assert_int_equal(tendon_l2cap_feed(&s.reassembler, &b, true, &s.frame), TENDON_OK);
        assert_hex(s.frame.data, s.frame.length, "1b0300aabb");
        free(first.data);
        free(second.data);
    }
    setup s;
    start(&s);
    assert_int_equal(feed(&s, "4020 0000", true), TENDON_ERROR_MALFORMED); /* a start with nothing in it */
    assert_int_equal(s.reassembler.malformed, 1);
}

static void mal_E03_fragments_out_of_order(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_int_equal(feed(&s, "4010 0300 0a0300", true), TENDON_ERROR_MALFORMED); /* continuation without start */
    assert_int_equal(feed(&s, "4020 0500 0300 0400 0a", true), TENDON_ERROR_INCOMPLETE);
    assert_int_equal(feed(&s, "4110 0200 0300", true), TENDON_ERROR_MALFORMED);  /* unknown handle */
    assert_int_equal(feed(&s, "4010 0200 0300", false), TENDON_ERROR_MALFORMED); /* the other direction */
    assert_int_equal(s.reassembler.malformed, 3);
    assert_int_equal(feed(&s, "4020 0500 0300 0400 0b", true), TENDON_ERROR_INCOMPLETE); /* start in mid-frame */
    assert_int_equal(s.reassembler.malformed, 4);
    assert_int_equal(feed(&s, "4010 0200 0708", true), TENDON_OK);
    assert_hex(s.frame.data, s.frame.length, "0b0708");
    assert_int_equal(feed(&s, "4030 0700 0300 0400 0a0300", true), TENDON_ERROR_MALFORMED); /* flag 3: not on LE */
}

static void mal_E04_declared_lengths(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_int_equal(feed(&s, "4020 0400 0000 0400", true), TENDON_OK); /* 0: an empty frame */
    assert_int_equal(s.frame.length, 0);
    assert_int_equal(feed(&s, "4020 0500 ffff 0400 0a", true), TENDON_ERROR_OVERFLOW);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(feed(&s, "4010 0300 0a0b0c", true), TENDON_ERROR_INCOMPLETE); /* passed over */
    }
    assert_int_equal(s.reassembler.malformed, 1);
    assert_int_equal(feed(&s, "4020 0400 0104 0400", true), TENDON_ERROR_OVERFLOW);   /* 1025 */
    assert_int_equal(feed(&s, "4020 0400 0004 0400", true), TENDON_ERROR_INCOMPLETE); /* 1024 is taken */
    assert_int_equal(s.reassembler.malformed, 2);
    assert_int_equal(feed(&s, "4020 0600 0300 0400 0a03", true), TENDON_ERROR_INCOMPLETE);
    assert_int_equal(feed(&s, "4010 0200 0000", true), TENDON_ERROR_MALFORMED); /* one byte more than declared */
    assert_int_equal(feed(&s, "4020 0800 0300 0400 0a030000", true), TENDON_ERROR_MALFORMED);
    assert_int_equal(feed(&s, "4020 0700 0300 0400 0a0300", true), TENDON_OK); /* the next valid one is accepted */
}

static void longest_frame(void **state) {
    (void)state;
    setup s;
    start(&s);
    uint8_t bytes[TENDON_L2CAP_PAYLOAD_MAX + 4] = {0x00, 0x04, 4, 0};
    block b = block_copy(bytes, sizeof(bytes));
    tendon_acl acl = {0x40, TENDON_ACL_START_CONTROLLER, 0, b.data, b.length};
    assert_int_equal(tendon_l2cap_feed(&s.reassembler, &acl, true, &s.frame), TENDON_OK);
    assert_int_equal(s.frame.length, TENDON_L2CAP_PAYLOAD_MAX);
    free(b.data);
    b = block_copy(bytes, sizeof(bytes));
    b.data = realloc(b.data, 60000);
    memset(b.data + sizeof(bytes), 0, 60000 - sizeof(bytes));
    acl.data = b.data, acl.length = 60000;
    assert_int_equal(tendon_l2cap_feed(&s.reassembler, &acl, true, &s.frame), TENDON_ERROR_MALFORMED);
    free(b.data);
}

/* E05: which channel a frame is for is the reader's to judge. */
static void mal_E05_any_channel(void **state) {
    (void)state;
    setup s;
    start(&s);
    for (unsigned cid = 0; cid < 0x10000; cid += 37) {
        uint8_t bytes[] = {1, 0, (uint8_t)cid, (uint8_t)(cid >> 8), 0x42};
        tendon_acl acl = {0x40, TENDON_ACL_START_HOST, 0, bytes, sizeof(bytes)};
        assert_int_equal(tendon_l2cap_feed(&s.reassembler, &acl, false, &s.frame), TENDON_OK);
        assert_int_equal(s.frame.cid, cid);
    }
}

static void full_table_gives_up_the_oldest(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_int_equal(feed(&s, "4020 0500 0300 0400 0a", true), TENDON_ERROR_INCOMPLETE);
    assert_int_equal(feed(&s, "4120 0500 0300 0400 0a", true), TENDON_ERROR_INCOMPLETE);
    assert_int_equal(feed(&s, "4220 0500 0300 0400 0a", true), TENDON_ERROR_INCOMPLETE);
    assert_int_equal(s.reassembler.evicted, 1);
    assert_int_equal(feed(&s, "4010 0200 0300", true), TENDON_ERROR_MALFORMED);
    assert_int_equal(feed(&s, "4110 0200 0300", true), TENDON_OK);
    tendon_l2cap_forget(&s.reassembler, 0x42);
    assert_int_equal(feed(&s, "4210 0200 0300", true), TENDON_ERROR_MALFORMED);
}

/* The oldest is the one that no packet has continued for the longest time, not the one that began first. */
static void a_continued_frame_is_not_the_oldest(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_int_equal(feed(&s, "4020 0500 0300 0400 0a", true), TENDON_ERROR_INCOMPLETE);
    assert_int_equal(feed(&s, "4120 0500 0300 0400 0a", true), TENDON_ERROR_INCOMPLETE);
    assert_int_equal(feed(&s, "4010 0100 02", true), TENDON_ERROR_INCOMPLETE);
    assert_int_equal(feed(&s, "4220 0500 0300 0400 0a", true), TENDON_ERROR_INCOMPLETE);
    assert_int_equal(s.reassembler.evicted, 1);
    assert_int_equal(feed(&s, "4110 0200 0300", true), TENDON_ERROR_MALFORMED);
    assert_int_equal(feed(&s, "4010 0100 03", true), TENDON_OK);
    assert_int_equal(feed(&s, "4210 0200 0300", true), TENDON_OK);
}

/* Only streams of the reassembler's own are forgotten, the last one too. */
static void one_handle_is_forgotten(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_int_equal(tendon_l2cap_reassembler_init(&s.reassembler, s.streams, 1), TENDON_OK);
    s.streams[1] = (tendon_l2cap_stream){.handle = 0x40, .used = true};
    assert_int_equal(feed(&s, "4020 0500 0300 0400 0a", true), TENDON_ERROR_INCOMPLETE);
    tendon_l2cap_forget(&s.reassembler, 0x40);
    assert_int_equal(feed(&s, "4010 0200 0300", true), TENDON_ERROR_MALFORMED);
    assert_true(s.streams[1].used);
}

/* A frame with more bytes than it declares is gone with them: what follows continues nothing. */
static void a_frame_that_is_too_long_is_not_continued(void **state) {
    (void)state;
    setup s;
    start(&s);
    assert_int_equal(feed(&s, "4020 0500 0400 0400 aa", true), TENDON_ERROR_INCOMPLETE);
    assert_int_equal(feed(&s, "4010 0400 bb cc dd ee", true), TENDON_ERROR_MALFORMED);
    assert_int_equal(s.reassembler.malformed, 1);
    assert_int_equal(feed(&s, "4010 0300 bb cc dd", true), TENDON_ERROR_MALFORMED);
    assert_int_equal(s.reassembler.malformed, 2);
    assert_int_equal(s.reassembler.frames, 0);
    assert_int_equal(feed(&s, "4020 0500 0100 0400 aa", true), TENDON_OK); /* the next one is whole */
    assert_int_equal(s.reassembler.malformed, 2);                          /* and interrupts none */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_handle_is_forgotten),
        cmocka_unit_test(a_frame_that_is_too_long_is_not_continued),
        cmocka_unit_test(init_needs_a_stream),
        cmocka_unit_test(header_members),
        cmocka_unit_test(mal_E01_length_of_the_packet),
        cmocka_unit_test(frame_in_one_packet),
        cmocka_unit_test(mal_E02_frame_divided_at_each_byte),
        cmocka_unit_test(mal_E03_fragments_out_of_order),
        cmocka_unit_test(mal_E04_declared_lengths),
        cmocka_unit_test(longest_frame),
        cmocka_unit_test(mal_E05_any_channel),
        cmocka_unit_test(full_table_gives_up_the_oldest),
        cmocka_unit_test(a_continued_frame_is_not_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
