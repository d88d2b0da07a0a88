/* SPDX-License-Identifier: MIT */
/* Activ5 text frames over notifications: every state with every kind of notification, cuts, time-outs. */
#include "test_bytes.h"

#include "tendon/devices/activ5.h"

static tendon_activ5_deframer deframer;
static char told[4096];

/* "iso:9@15 TRUNCATED@500 ": what was told, and when. */
static void on_text(void *context, tendon_status status, const tendon_activ5_message *message, uint64_t now) {
    size_t at = strlen(told);
    assert_ptr_equal(context, &deframer);
    assert_true((status == TENDON_OK) == (message != NULL));
    if (message == NULL) {
        snprintf(told + at, sizeof told - at, "%s@%u ", tendon_activ5_status_name(status), (unsigned)now);
    } else if (message->type == TENDON_ACTIV5_MESSAGE_ISOMETRIC) {
        snprintf(told + at, sizeof told - at, "iso:%g@%u ", message->raw, (unsigned)now);
    } else {
        snprintf(told + at, sizeof told - at, "%s:%.*s@%u ", tendon_activ5_message_type_name(message->type),
                 (int)message->text_length, (const char *)message->text, (unsigned)now);
    }
}

static void fresh(void) {
    memset(&deframer, 0, sizeof deframer);
    told[0] = 0;
}

static void feed_bytes(const uint8_t *bytes, size_t length, uint64_t now) {
    block b = block_copy(bytes, length);
    tendon_activ5_deframer_feed(&deframer, b.data, b.length, now, on_text, &deframer);
    free(b.data);
}

static void feed(const char *hex, uint64_t now) {
    block b = block_hex(hex);
    feed_bytes(b.data, b.length, now);
    free(b.data);
}

static void expect(const char *words) {
    assert_string_equal(told, words);
    told[0] = 0;
}

/* ---- the table ---- */

static const char *const before[] = {
    NULL,                /* idle */
    "12",                /* collecting nothing yet */
    "12 49 53 31 2F",    /* collecting a complete force: "IS1/" */
    "12 41 53 4E 31 58", /* collecting something else: "ASN1X" */
};
enum { STATES = sizeof before / sizeof before[0] };

typedef struct row {
    const char *notification;
    const char *expected[STATES];
    const char *collecting; /* "yyyy": afterwards, per state */
} row;

static const row rows[] = {
    {"", {"EMPTY@9 ", "EMPTY@9 ", "EMPTY@9 ", "EMPTY@9 "}, "nyyy"},
    /* no start, no end */
    {"49 53 37 2F", {"iso:7@9 ", "", "", ""}, "nyyy"},
    /* an end, no start */
    {"49 53 37 2F 13", {"iso:7@9 ", "iso:7@9 ", "iso:1@9 ", "sn1:XIS7/@9 "}, "nnnn"},
    {"13", {"EMPTY@9 ", "EMPTY@9 ", "iso:1@9 ", "sn1:X@9 "}, "nnnn"},
    {"37 13 49 53 38 2F", {"UNKNOWN", "UNKNOWN", "iso:1@9 ", "sn1:X7@9 "}, "nnnn"},
    /* a start, no end */
    {"12 49 53 37 2F", {"", "TRUNCATED@9 ", "iso:1@9 ", "TRUNCATED@9 "}, "yyyy"},
    {"FF FE 12 49", {"", "TRUNCATED@9 ", "iso:1@9 ", "TRUNCATED@9 "}, "yyyy"},
    /* a start before an end */
    {"12 49 53 37 2F 13", {"iso:7@9 ", "TRUNCATED@9 iso:7@9 ", "iso:1@9 iso:7@9 ", "TRUNCATED@9 iso:7@9 "}, "nnnn"},
    {"12 49 12 49 53 37 2F 13",
     {"TRUNCATED@9 iso:7@9 ", "TRUNCATED@9 TRUNCATED@9 iso:7@9 ", "iso:1@9 TRUNCATED@9 iso:7@9 ",
      "TRUNCATED@9 TRUNCATED@9 iso:7@9 "},
     "nnnn"},
    /* an end before a start */
    {"39 13 12 49 53 37 2F 13", {"iso:7@9 ", "UNKNOWN iso:7@9 ", "iso:1@9 iso:7@9 ", "sn1:X9@9 iso:7@9 "}, "nnnn"},
    {"39 13 30 31 12 49 53", {"", "UNKNOWN ", "iso:1@9 ", "sn1:X9@9 "}, "yyyy"},
    {"39 13 30 31", {"UNKNOWN", "UNKNOWN", "iso:1@9 ", "sn1:X9@9 "}, "nnnn"},
};

/* "UNKNOWN" stands for an unknown message at 9. */
static void spelled(const char *words, char *out, size_t size) {
    const char *found = strstr(words, "UNKNOWN");
    if (found == NULL) {
        snprintf(out, size, "%s", words);
    } else {
        snprintf(out, size, "%.*sunknown:@9 %s", (int)(found - words), words, found[7] == ' ' ? found + 8 : found + 7);
    }
}

static void every_state_with_every_kind_of_notification(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (size_t s = 0; s < STATES; s++) {
            char words[128];
            fresh();
            if (before[s] != NULL) {
                feed(before[s], 5);
                expect("");
            }
            feed(rows[r].notification, 9);
            spelled(rows[r].expected[s], words, sizeof words);
            if (strcmp(told, words) != 0 || deframer.collecting != (rows[r].collecting[s] == 'y')) {
                fail_msg("'%s' in state %zu: '%s', expected '%s', collecting %d", rows[r].notification, s, told, words,
                         deframer.collecting);
            }
        }
    }
}

static void every_state_with_time_and_disconnection(void **state) {
    (void)state;
    static const char *const flushed[STATES] = {"", "TRUNCATED@505 ", "iso:1@505 ", "TRUNCATED@505 "};
    for (size_t s = 0; s < STATES; s++) {
        fresh();
        if (before[s] != NULL) {
            feed(before[s], 5);
        }
        assert_true(tendon_activ5_deframer_deadline(&deframer) == (s == 0 ? UINT64_MAX : 505));
        tendon_activ5_deframer_tick(&deframer, 504, on_text, &deframer);
        expect("");
        tendon_activ5_deframer_tick(&deframer, 2000, on_text, &deframer); /* late, but with its own time */
        expect(flushed[s]);
        tendon_activ5_deframer_tick(&deframer, 3000, on_text, &deframer);
        expect("");
        fresh();
        if (before[s] != NULL) {
            feed(before[s], 5);
        }
        tendon_activ5_deframer_reset(&deframer);
        tendon_activ5_deframer_tick(&deframer, 2000, on_text, &deframer);
        feed("12 49 53 37 2F 13", 2001);
        expect("iso:7@2001 ");
    }
}

static void the_timeout_runs_from_the_last_fragment(void **state) {
    (void)state;
    fresh();
    feed("12 41 49 39 39", 0);
    feed("61 61", 499);
    feed("62 62 13", 998);
    expect("uuid2:99aabb@998 ");
    feed("12 41 49 39 39", 1000);
    feed("61 13", 1500); /* too late: what waited is told first, what comes is a text by itself */
    expect("TRUNCATED@1500 unknown:@1500 ");
    feed("12 41", 2000);
    feed("", 2499); /* nothing is no fragment */
    feed("69 37 13", 2500);
    expect("EMPTY@2499 TRUNCATED@2500 unknown:@2500 ");
}

/* ---- examples ---- */

static void example_03_stale_bytes_behind_the_end(void **state) {
    (void)state;
    fresh();
    feed("12 49 53 39 2F 49 53 13 30 31 3B 30 34 3B 42 41 54 4F 4B 13", 0);
    expect("iso:9@0 ");
    assert_false(deframer.collecting);
}

static void example_05_two_notifications(void **state) {
    (void)state;
    fresh();
    feed("12 49 53 31", 0);
    feed("30 30 2F 49 53 13", 15);
    expect("iso:100@15 ");
}

static void examples_09_and_10_errors_are_told_once(void **state) {
    (void)state;
    fresh();
    feed("12 49 53 78 2F 49 53 13", 0);
    feed("12 49 53 35 13", 1);
    feed("12 49 53 36 2F 13", 2);
    expect("MALFORMED@0 MALFORMED@1 iso:6@2 ");
}

/* ---- lengths ---- */

static void mal_I10_content_of_128_bytes_and_one_more(void **state) {
    (void)state;
    uint8_t bytes[TENDON_ACTIV5_CONTENT_MAX + 3];
    for (int more = 0; more <= 1; more++) {
        size_t content = TENDON_ACTIV5_CONTENT_MAX + (size_t)more;
        memset(bytes, 'Z', sizeof bytes);
        bytes[0] = 0x12;
        bytes[content + 1] = 0x13;
        const char *whole = more ? "OVERFLOW@1 " : "unknown:@1 ";
        fresh();
        feed_bytes(bytes, content + 2, 1); /* framed, in one piece */
        expect(whole);
        feed_bytes(bytes + 1, content, 1); /* bare */
        expect(whole);
        feed_bytes(bytes + 1, content + 1, 1);
        expect(whole);
        feed_bytes(bytes, content + 1, 1); /* without its end */
        expect(more ? "OVERFLOW@1 " : "");
        assert_int_equal(deframer.collecting, !more);
        for (size_t cut = 1; cut <= content; cut++) {
            fresh();
            feed_bytes(bytes, cut, 1);
            feed_bytes(bytes + cut, content + 2 - cut, 1);
            expect(whole);
            assert_false(deframer.collecting);
        }
    }
}

static void what_follows_an_overflow_in_the_same_notification_counts(void **state) {
    (void)state;
    uint8_t bytes[160];
    memset(bytes, 'Z', sizeof bytes);
    bytes[0] = 0x12;
    fresh();
    feed_bytes(bytes, 100, 1);
    memcpy(bytes + 140, "\x13\x12IS5/\x13", 7);
    feed_bytes(bytes + 100, 47, 2);
    expect("OVERFLOW@2 iso:5@2 ");
    feed_bytes(bytes, 100, 3);
    feed_bytes(bytes + 1, 40, 4);
    expect("OVERFLOW@4 ");
    assert_false(deframer.collecting);
}

/* ---- cuts ---- */

/* However a stream of frames is cut, its texts are the same. */
static void mal_I02_a_stream_cut_at_every_position(void **state) {
    (void)state;
    static const uint8_t stream[] = "\x12IS11/IS\x13\x12"
                                    "ASN1A5-1\x13\x12TC5k;1.0;04;OK\x13\x12IS-2.5/IS\x13";
    const size_t length = sizeof stream - 1;
    static const char whole[] = "iso:11@1 sn1:A5-1@1 initialMessage:TC5k;1.0;04;OK@1 iso:-2.5@1 ";
    fresh();
    feed_bytes(stream, length, 1);
    expect(whole);
    for (size_t cut = 1; cut < length; cut++) {
        fresh();
        feed_bytes(stream, cut, 1);
        feed_bytes(stream + cut, length - cut, 1);
        expect(whole);
        for (size_t second = cut + 1; second < length; second++) {
            fresh();
            feed_bytes(stream, cut, 1);
            feed_bytes(stream + cut, second - cut, 1);
            feed_bytes(stream + second, length - second, 1);
            expect(whole);
        }
    }
    fresh();
    for (size_t i = 0; i < length; i++) { /* byte by byte */
        feed_bytes(stream + i, 1, 1);
    }
    expect(whole);
}

static void random_notifications_never_harm(void **state) {
    (void)state;
    dice d = {0xACDC1234567};
    static const uint8_t alphabet[] = {0x12, 0x13, 'I', 'S', '/', '5', ';', 0xC2, 0x00, 'A'};
    uint64_t now = 0;
    fresh();
    for (int i = 0; i < 50000; i++) {
        uint8_t bytes[150];
        size_t length = (size_t)(roll(&d) % (roll(&d) % 8 == 0 ? sizeof bytes : 24));
        for (size_t k = 0; k < length; k++) {
            bytes[k] = alphabet[roll(&d) % sizeof alphabet];
        }
        now += roll(&d) % 300;
        told[0] = 0;
        feed_bytes(bytes, length, now);
        assert_true(deframer.length <= TENDON_ACTIV5_CONTENT_MAX);
        assert_true(tendon_activ5_deframer_deadline(&deframer) > now);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_with_every_kind_of_notification),
        cmocka_unit_test(every_state_with_time_and_disconnection),
        cmocka_unit_test(the_timeout_runs_from_the_last_fragment),
        cmocka_unit_test(example_03_stale_bytes_behind_the_end),
        cmocka_unit_test(example_05_two_notifications),
        cmocka_unit_test(examples_09_and_10_errors_are_told_once),
        cmocka_unit_test(mal_I10_content_of_128_bytes_and_one_more),
        cmocka_unit_test(what_follows_an_overflow_in_the_same_notification_counts),
        cmocka_unit_test(mal_I02_a_stream_cut_at_every_position),
        cmocka_unit_test(random_notifications_never_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
