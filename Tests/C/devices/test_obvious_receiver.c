/* SPDX-License-Identifier: MIT */
/*
 * Obvious: the receiver, step by step, from literal segments.
 * The trace: one word per call of the handler
 */
#include "obvious_trace.h"

#include "tendon/devices/obvious.h"

static tendon_obvious_receiver receiver;
static uint8_t memory[16384];
static bool accept_messages;

static bool on_message(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    (void)context, (void)now;
    note("message:");
    for (size_t i = 0; i < length; i++) {
        note("%02x", frame[i]);
    }
    note(" ");
    return accept_messages;
}

static void on_error(void *context, tendon_status status) {
    (void)context;
    note("%s ", tendon_obvious_status_name(status));
}

static void on_control(void *context, const tendon_obvious_control *control, uint64_t now) {
    (void)context, (void)now;
    note("control:%u ", control->type);
}

static void send_control(void *context, const uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE]) {
    (void)context;
    note("send:");
    for (int i = 0; i < TENDON_OBVIOUS_CONTROL_SIZE; i++) {
        note("%02x", control[i]);
    }
    note(" ");
}

static const tendon_obvious_receiver_handler handler = {on_message, on_error, on_control, send_control};

static void start(size_t mtu, size_t window, size_t frame_max) {
    memset(&receiver, 0xA5, sizeof receiver); /* what the memory held before */
    tendon_obvious_receiver_init(&receiver, memory, sizeof memory, &handler, NULL);
    tendon_obvious_receiver_set_mtu(&receiver, mtu);
    tendon_obvious_receiver_set_limits(&receiver, window, frame_max);
    trace[0] = '\0';
    accept_messages = true;
}

static void feed(const char *hex, uint64_t now) {
    block bytes = block_hex(hex);
    tendon_obvious_receiver_segment(&receiver, bytes.data, bytes.length, now);
    free(bytes.data);
}

/* 8.6: 54 bytes at MTU 23. */
static const char *const parts[] = {"6001000036004f420101020002002800d2040000",
                                    "400101008877665544332211f84d0f0042420f00",
                                    "4001020069915b0050690f002900000000000000", "58010300015702017ec6def6"};
#define WHOLE                                                                                                          \
    "message:4f420101020002002800d20400008877665544332211f84d0f0042420f0069915b0050690f002900000000000000015702017ec6" \
    "def6 send:440101000400000000000800 "

static void in_every_order(void **state) {
    (void)state;
    unsigned order[4];
    for (unsigned code = 0; code < 256; code++) {
        unsigned used = 0;
        for (unsigned i = 0; i < 4; i++) {
            order[i] = code >> 2 * i & 3u;
            used |= 1u << order[i];
        }
        if (used != 15) {
            continue;
        }
        start(23, 8, 4096);
        for (unsigned i = 0; i < 4; i++) {
            trace[0] = '\0';
            feed(parts[order[i]], 10 * i);
        }
        char *message = strstr(trace, "message");
        assert_non_null(message);
        assert_string_equal(message, WHOLE);
    }
}

static void a_hole_is_reported_and_repaired(void **state) {
    (void)state;
    start(23, 8, 4096);
    feed(parts[0], 0);
    feed(parts[1], 5);
    expect("");
    feed(parts[3], 10); /* the last one requests an ACK */
    expect("send:440101000200010000000800 ");
    tendon_obvious_control ack;
    assert_true(tendon_obvious_receiver_pending_ack(&receiver, &ack));
    assert_true(ack.next == 2 && ack.bitmap == 1 && ack.credit == 8 && ack.msgseq == 1);
    feed(parts[2], 200);
    expect(WHOLE);
    assert_false(tendon_obvious_receiver_pending_ack(&receiver, &ack));
    feed(parts[1], 201); /* of the message that is done */
    expect("SEG_DUP send:440101000400000000000800 ");
}

static void a_conflict_drops_the_message(void **state) {
    (void)state;
    start(23, 8, 4096);
    feed(parts[0], 0);
    feed(parts[1], 1);
    feed(parts[1], 2);
    expect("SEG_DUP ");
    feed("400101008877665544332211f84d0f0042420f40", 3);
    expect("SEG_CONFLICT send:440102040000000000000800 ");
    feed(parts[2], 4);
    feed(parts[3], 5);
    expect("SEG_STALE SEG_STALE ");
    for (unsigned i = 0; i < 4; i++) {
        feed(parts[i], 6 + i);
    }
    expect(WHOLE);
}

static void a_repeat_is_compared_wherever_it_waits(void **state) {
    (void)state;
    start(23, 8, 4096);
    feed(parts[1], 0); /* in a slot */
    expect("send:440101000000010000000800 ");
    feed("480101008877665544332211f84d0f0042420f00", 0); /* the same but for ACKREQ */
    expect("SEG_DUP send:440101000000010000000800 ");
    feed("400101008877665544332211f84d0f0042420f", 1); /* shorter */
    expect("SEG_CONFLICT send:440102040000000000000800 ");
    start(23, 8, 4096);
    feed(parts[1], 0);
    feed("500101008877665544332211f84d0f0042420f00", 1); /* LAST */
    expect("send:440101000000010000000800 SEG_CONFLICT send:440102040000000000000800 ");
    start(23, 8, 4096);
    feed(parts[0], 0);
    feed(parts[1], 0);                                 /* in its place */
    feed("400101008877665544332211f84d0f0042420f", 1); /* shorter */
    expect("SEG_CONFLICT send:440102040000000000000800 ");
    start(23, 8, 4096);
    feed(parts[0], 0);
    feed("6001000037004f420101020002002800d2040000", 1); /* another total length */
    expect("SEG_CONFLICT send:440102040000000000000800 ");
    start(23, 8, 4096);
    feed(parts[0], 0);
    feed("7001000036004f420101020002002800d2040000", 1); /* LAST */
    expect("SEG_CONFLICT send:440102040000000000000800 ");
}

static void headers(void **state) {
    (void)state;
    static const struct {
        const char *hex, *expected;
    } rows[] = {
        {"", "SEG_SHORT "},
        {"600100", "SEG_SHORT "},
        {"60010000", "SEG_SHORT send:440102020000000000000800 "},
        {"6001000036", "SEG_SHORT send:440102020000000000000800 "},
        {"6001000036004f420101020002002800d204000000", "SEG_OVERSIZE "},
        {"2001000036004f420101020002002800d2040000", "SEG_BAD_VERSION "},
        {"e001000036004f420101020002002800d2040000", "SEG_BAD_VERSION "},
        {"6101000036004f420101020002002800d2040000", "SEG_RESERVED "},
        {"44010100", "CTL_BAD_LENGTH "},
        {"4c0101000400000000000800", "CTL_BAD_FLAGS "},
        {"440105000400000000000800", "CTL_BAD_TYPE "},
        {"440101000400000000000800", "control:1 "},
        {"4001000036004f420101020002002800d2040000", "SEG_BAD_INDEX send:440102010000000000000800 "},
        {"6001010036004f420101020002002800d2040000", "SEG_BAD_INDEX send:440102010000000000000800 "},
        {"400108008877665544332211f84d0f0042420f00", "SEG_WINDOW "},
        {"600100000d004f420101020002002800d2040000", "SEG_BAD_LEN send:440102030000000000000800 "},
        {"6001000001104f420101020002002800d2040000", "SEG_BAD_LEN send:440102030000000000000800 "},
        {"6001000036004f420101020002002800d20400", "SEG_BAD_SIZE send:440102020000000000000800 "},
        {"600100000e004f420101020002002800d2040000", "SEG_BAD_INDEX send:440102010000000000000800 "}, /* N = 1 */
        {"7001000036004f420101020002002800d2040000", "SEG_BAD_SIZE send:440102020000000000000800 "},
        {"700100000e004f420100020002000000c4763457",
         "message:4f420100020002000000c4763457 send:440101000100000000000800 "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        start(23, 8, 4096);
        feed(rows[i].hex, 0);
        expect(rows[i].expected);
    }
}

static void segments_must_fit_the_first_one(void **state) {
    (void)state;
    static const struct {
        const char *hex, *expected;
    } rows[] = {
        {"400104008877665544332211f84d0f0042420f00", "SEG_BAD_INDEX send:440102010000000000000800 "}, /* beyond N */
        {"500101008877665544332211f84d0f0042420f00",
         "SEG_BAD_INDEX send:440102010000000000000800 "},                             /* LAST too soon */
        {"48010300015702017ec6def6", "SEG_BAD_INDEX send:440102010000000000000800 "}, /* the last one without LAST */
        {"400101008877665544332211f84d0f0042420f", "SEG_BAD_SIZE send:440102020000000000000800 "},
        {"58010300015702017ec6def600", "SEG_BAD_SIZE send:440102020000000000000800 "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        start(23, 8, 4096);
        feed(parts[0], 0);
        feed(rows[i].hex, 1);
        expect(rows[i].expected);
        /* The same when the first one comes last. */
        start(23, 8, 4096);
        feed(rows[i].hex, 0);
        trace[0] = '\0';
        feed(parts[0], 1);
        expect(rows[i].expected);
    }
}

static void numbers_of_messages(void **state) {
    (void)state;
    start(23, 8, 4096);
    feed("700500000e004f420100020002000000c4763457", 0);
    trace[0] = '\0';
    feed("600500000e004f420100020002000000c4763457", 1); /* 5 is done, whatever it says */
    expect("SEG_DUP send:440501000100000000000800 ");
    feed("6004000036004f420101020002002800d2040000", 2); /* 255 ahead */
    expect("SEG_STALE ");
    feed("6085000036004f420101020002002800d2040000", 3); /* 128 ahead */
    expect("SEG_STALE ");
    feed("6084000036004f420101020002002800d2040000", 4); /* 127 ahead */
    expect("");
    feed("6084000036004f420101020002002800d2040000", 4);
    expect("SEG_DUP ");
    feed("4085080036004f420101020002002800d2040000", 5); /* drops 0x84, but is beyond the window itself */
    expect("SEG_SUPERSEDED SEG_WINDOW ");
    feed("4084010036004f420101020002002800d2040000", 6); /* dead */
    expect("SEG_STALE ");
    feed("44000300000000000000 0800", 7); /* RESET */
    expect("control:3 ");
    feed("4084010036004f420101020002002800d2040000", 8); /* forgotten: a new context */
    expect("send:448401000000010000000800 ");
}

/* A message that was dropped may be sent again after an older one is complete, whatever arrives first. */
static void completion_forgets_what_was_dropped(void **state) {
    (void)state;
    start(23, 8, 4096);
    feed("6005000036004f420101020002002800d2040000", 0);
    feed("6005000036004f420101020002002800d2040001", 1);
    expect("SEG_CONFLICT send:440502040000000000000800 ");
    feed("700400000e004f420100020002000000c4763457", 2);
    expect("message:4f420100020002000000c4763457 send:440401000100000000000800 ");
    feed("400501008877665544332211f84d0f0042420f00", 3);
    expect("send:440501000000010000000800 ");
}

/* Only segments of the message that was dropped are stale; those of the next one open a context in any order. */
static void what_was_dropped_is_one_message(void **state) {
    (void)state;
    start(23, 8, 4096);
    feed("6005000036004f420101020002002800d2040000", 0);
    feed("6005000036004f420101020002002800d2040001", 1);
    expect("SEG_CONFLICT send:440502040000000000000800 ");
    assert_true(tendon_obvious_receiver_deadline(&receiver) == UINT64_MAX);
    feed("400501008877665544332211f84d0f0042420f00", 2);
    expect("SEG_STALE ");
    feed("400601008877665544332211f84d0f0042420f00", 3);
    expect("send:440601000000010000000800 ");
    /* Another one is open: a segment of the one that was dropped, which may be sent again, ends it. */
    start(23, 8, 4096);
    feed("6006000036004f420101020002002800d2040000", 0);
    feed("6006000036004f420101020002002800d2040001", 1);
    expect("SEG_CONFLICT send:440602040000000000000800 ");
    feed("6005000036004f420101020002002800d2040000", 2);
    feed("400601008877665544332211f84d0f0042420f00", 3);
    expect("SEG_SUPERSEDED send:440601000000010000000800 ");
}

static void time_limits(void **state) {
    (void)state;
    start(23, 8, 4096);
    assert_true(tendon_obvious_receiver_deadline(&receiver) == UINT64_MAX);
    feed(parts[0], 1000);
    assert_true(tendon_obvious_receiver_deadline(&receiver) == 4001);
    tendon_obvious_receiver_tick(&receiver, 4000);
    expect("");
    tendon_obvious_receiver_tick(&receiver, 4001);
    expect("SEG_TIMEOUT send:440102050000000000000800 ");
    assert_true(tendon_obvious_receiver_deadline(&receiver) == UINT64_MAX); /* it has been dropped */
    tendon_obvious_receiver_tick(&receiver, 9000);
    expect("");
    /* A segment that comes too late finds the same, and is then taken by itself. */
    feed(parts[0], 5000);
    feed(parts[1], 8001);
    expect("SEG_TIMEOUT send:440102050000000000000800 SEG_STALE ");
    /* Ten seconds for a whole message, however often something arrives. */
    start(23, 32, 4096);
    feed("6001000000044f420101020002002800d2040000", 0);
    for (unsigned i = 1; i <= 5; i++) {
        char hex[64];
        snprintf(hex, sizeof hex, "4001%02x008877665544332211f84d0f0042420f00", i);
        feed(hex, i * 1990);
    }
    expect("");
    assert_true(tendon_obvious_receiver_deadline(&receiver) == 10001);
    feed("400106008877665544332211f84d0f0042420f00", 10001);
    expect("SEG_TIMEOUT send:440102050000000000002000 SEG_STALE ");
}

static void acks(void **state) {
    (void)state;
    /* After half a window, and with a hole at most every 100 ms. */
    start(23, 8, 4096);
    char hex[64];
    feed("6001000000044f420101020002002800d2040000", 0);
    for (unsigned i = 1; i < 8; i++) {
        snprintf(hex, sizeof hex, "4001%02x008877665544332211f84d0f0042420f00", i);
        feed(hex, i);
    }
    expect("send:440101000400000000000800 send:440101000800000000000800 ");
    feed("40010a008877665544332211f84d0f0042420f00", 10);
    expect("send:440101000800020000000800 ");
    feed("40010c008877665544332211f84d0f0042420f00", 109); /* the next hole, too early */
    expect("");
    feed("40010e008877665544332211f84d0f0042420f00", 110);
    expect("send:4401010008002a0000000800 ");
    feed("400110008877665544332211f84d0f0042420f00", 111); /* next + window */
    expect("SEG_WINDOW ");
    /* A window of 1: every segment. */
    start(23, 1, 4096);
    feed(parts[0], 0);
    expect("send:440101000100000000000100 ");
}

/* The next segment behind a hole that was reported is no other hole. */
static void a_hole_is_reported_once(void **state) {
    (void)state;
    start(23, 8, 4096);
    feed(parts[1], 0);
    expect("send:440101000000010000000800 ");
    feed(parts[2], 200);
    expect("");
}

static void an_invalid_frame_is_rejected(void **state) {
    (void)state;
    start(23, 8, 4096);
    accept_messages = false;
    feed("700100000e004f420100020002000000c4763457", 0);
    expect("message:4f420100020002000000c4763457 send:440102070000000000000800 ");
}

static void limits(void **state) {
    (void)state;
    /* A window of 32 at the largest segments: 31 slots before the first one, at its bounds. */
    start(517, 32, 4096);
    static uint8_t message[4096];
    dice d = {9};
    for (size_t i = 0; i < sizeof message; i++) {
        message[i] = (uint8_t)roll(&d);
    }
    size_t count = tendon_obvious_segment_count(4096, 512);
    for (size_t i = count; i-- > 0;) {
        uint8_t out[512];
        tendon_status length = tendon_obvious_encode_segment(message, 4096, 512, 7, i, false, out);
        block exact = block_copy(out, (size_t)length);
        trace[0] = '\0';
        accept_messages = true;
        tendon_obvious_receiver_segment(&receiver, exact.data, exact.length, 1);
        free(exact.data);
    }
    assert_memory_equal(memory, message, 4096);
    assert_non_null(strstr(trace, "message:"));
    /* Less memory: what has no slot is ignored, and a frame is not longer than the memory. */
    uint8_t *little = malloc(512);
    assert_non_null(little);
    tendon_obvious_receiver_init(&receiver, little, 512, &handler, NULL);
    tendon_obvious_receiver_set_mtu(&receiver, 259);
    trace[0] = '\0';
    feed("400101008877665544332211f84d0f0042420f00", 0);
    expect("send:440101000000010000000800 ");
    feed("400102008877665544332211f84d0f0042420f00", 0);
    expect("SEG_WINDOW ");
    feed("6001000001024f420101020002002800d2040000", 0);
    expect("SEG_BAD_LEN send:440102030000000000000800 ");
    free(little);
    /* An open message keeps its segment size. */
    start(23, 8, 4096);
    feed(parts[0], 0);
    tendon_obvious_receiver_set_mtu(&receiver, 517);
    feed("400101008877665544332211f84d0f0042420f0000", 1);
    expect("SEG_OVERSIZE ");
    for (unsigned i = 1; i < 4; i++) {
        feed(parts[i], 1);
    }
    expect(WHOLE);
    feed("400201008877665544332211f84d0f0042420f0000", 1);
    expect("send:440201000000010000000800 ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_every_order),
        cmocka_unit_test(a_hole_is_reported_and_repaired),
        cmocka_unit_test(a_conflict_drops_the_message),
        cmocka_unit_test(a_repeat_is_compared_wherever_it_waits),
        cmocka_unit_test(headers),
        cmocka_unit_test(segments_must_fit_the_first_one),
        cmocka_unit_test(numbers_of_messages),
        cmocka_unit_test(completion_forgets_what_was_dropped),
        cmocka_unit_test(what_was_dropped_is_one_message),
        cmocka_unit_test(time_limits),
        cmocka_unit_test(acks),
        cmocka_unit_test(a_hole_is_reported_once),
        cmocka_unit_test(an_invalid_frame_is_rejected),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
