/* SPDX-License-Identifier: MIT */
/* Reads: modelled on test purposes GATT/CL/GAR, and hostile values C01 to C06. */
#include "gatt_client_peer.h"

/* 22 bytes: fill a response at MTU 23. */
#define FULL "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15"

/* X(name, operation, request, Error Response, code): the peer refuses the first request. */
#define REFUSALS(X)                                                                                                    \
    X(gatt_cl_gar_bi_01_c, op_read, "0A 03 00", "01 0A 03 00 01", 0x01)                                                \
    X(gatt_cl_gar_bi_02_c, op_read, "0A 03 00", "01 0A 03 00 02", 0x02)                                                \
    X(gatt_cl_gar_bi_03_c, op_read, "0A 03 00", "01 0A 03 00 08", 0x08)                                                \
    X(gatt_cl_gar_bi_04_c, op_read, "0A 03 00", "01 0A 03 00 05", 0x05)                                                \
    X(gatt_cl_gar_bi_05_c, op_read, "0A 03 00", "01 0A 03 00 0C", 0x0C)                                                \
    X(gatt_cl_gar_bi_06_c, op_read_by_uuid, "08 01 00 10 00 29 2A", "01 08 03 00 02", 0x02)                            \
    X(gatt_cl_gar_bi_07_c, op_read_by_uuid, "08 01 00 10 00 29 2A", "01 08 01 00 0A", 0x0A)                            \
    X(gatt_cl_gar_bi_09_c, op_read_by_uuid, "08 01 00 10 00 29 2A", "01 08 03 00 08", 0x08)                            \
    X(gatt_cl_gar_bi_10_c, op_read_by_uuid, "08 01 00 10 00 29 2A", "01 08 03 00 05", 0x05)                            \
    X(gatt_cl_gar_bi_11_c, op_read_by_uuid, "08 01 00 10 00 29 2A", "01 08 03 00 0C", 0x0C)                            \
    X(gatt_cl_gar_bi_12_c, op_read_long, "0A 03 00", "01 0A 03 00 02", 0x02)                                           \
    X(gatt_cl_gar_bi_13_c, op_read_long_from_100, "0C 03 00 64 00", "01 0C 03 00 07", 0x07)                            \
    X(gatt_cl_gar_bi_14_c, op_read_long, "0A 03 00", "01 0A 03 00 01", 0x01)                                           \
    X(gatt_cl_gar_bi_15_c, op_read_long, "0A 03 00", "01 0A 03 00 08", 0x08)                                           \
    X(gatt_cl_gar_bi_16_c, op_read_long, "0A 03 00", "01 0A 03 00 05", 0x05)                                           \
    X(gatt_cl_gar_bi_17_c, op_read_long, "0A 03 00", "01 0A 03 00 0C", 0x0C)                                           \
    X(gatt_cl_gar_bi_23_c, op_read, "0A 03 00", "01 0A 03 00 02", 0x02)                                                \
    X(gatt_cl_gar_bi_24_c, op_read, "0A 03 00", "01 0A 03 00 01", 0x01)                                                \
    X(gatt_cl_gar_bi_25_c, op_read, "0A 03 00", "01 0A 03 00 08", 0x08)                                                \
    X(gatt_cl_gar_bi_26_c, op_read, "0A 03 00", "01 0A 03 00 05", 0x05)                                                \
    X(gatt_cl_gar_bi_27_c, op_read, "0A 03 00", "01 0A 03 00 0C", 0x0C)                                                \
    X(gatt_cl_gar_bi_28_c, op_read_long, "0A 03 00", "01 0A 03 00 02", 0x02)                                           \
    X(gatt_cl_gar_bi_29_c, op_read_long_from_100, "0C 03 00 64 00", "01 0C 03 00 07", 0x07)                            \
    X(gatt_cl_gar_bi_30_c, op_read_long, "0A 03 00", "01 0A 03 00 01", 0x01)                                           \
    X(gatt_cl_gar_bi_31_c, op_read_long, "0A 03 00", "01 0A 03 00 08", 0x08)                                           \
    X(gatt_cl_gar_bi_32_c, op_read_long, "0A 03 00", "01 0A 03 00 05", 0x05)                                           \
    X(gatt_cl_gar_bi_33_c, op_read_long, "0A 03 00", "01 0A 03 00 0C", 0x0C)                                           \
    X(gatt_cl_gar_bi_34_c, op_read, "0A 03 00", "01 0A 03 00 80", 0x80)                                                \
    X(gatt_cl_gar_bi_35_c, op_read_by_uuid, "08 01 00 10 00 29 2A", "01 08 03 00 80", 0x80)

static void check_refusal(peer_operation op, const char *out, const char *in, uint8_t code) {
    uint8_t error[5];
    peer *p = peer_open();
    tendon_status id = op(p);
    peer_exchange(p, out, in);
    peer_done(p, id, ATT(code));
    peer_hex(in, error, sizeof(error));
    assert_int_equal(p->result.handle, error[2]); /* the handle that the peer named */
    assert_int_equal(p->result.length, 0);
    peer_alive(p);
    peer_close(p);
}

#define DEFINE(name, op, out, in, code)                                                                                \
    static void name(void **state) {                                                                                   \
        (void)state;                                                                                                   \
        check_refusal(op, out, in, code);                                                                              \
    }
REFUSALS(DEFINE)

/* The same codes of the long procedures when they come for a later part. */
static void gatt_cl_gar_bi_12_to_17_c_in_mid_read(void **state) {
    (void)state;
    static const struct {
        const char *in;
        uint8_t code;
    } cases[] = {{"01 0C 03 00 02", 0x02}, {"01 0C 03 00 07", 0x07}, {"01 0C 03 00 01", 0x01},
                 {"01 0C 03 00 08", 0x08}, {"01 0C 03 00 05", 0x05}, {"01 0C 03 00 0C", 0x0C}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        peer *p = peer_open();
        tendon_status id = op_read_long(p);
        peer_exchange(p, "0A 03 00", "0B " FULL);
        peer_exchange(p, "0C 03 00 16 00", cases[i].in);
        peer_done(p, id, ATT(cases[i].code));
        assert_int_equal(p->result.length, 22); /* what was read before */
        assert_int_equal(p->result_value[21], 0x15);
        peer_alive(p);
        peer_close(p);
    }
}

static void gatt_cl_gar_bv_01_c_read(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_read(p);
    peer_exchange(p, "0A 03 00", "0B 01 02 03");
    peer_done_value(p, id, "01 02 03");
    assert_int_equal(p->result.handle, 3);
    id = op_read(p);
    peer_exchange(p, "0A 03 00", "0B"); /* an empty value is a value */
    peer_done_value(p, id, "");
    peer_close(p);
}

static void gatt_cl_gar_bv_03_c_read_by_uuid(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_read_by_uuid(p);
    peer_exchange(p, "08 01 00 10 00 29 2A", "09 05 09 00 01 02 03 0B 00 04 05 06");
    peer_done_value(p, id, "01 02 03");
    assert_int_equal(p->result.handle, 9);
    tendon_uuid uuid;
    assert_int_equal(tendon_uuid_parse("11223344-5566-7788-99aa-bbccddeeff00", 36, &uuid, NULL), TENDON_OK);
    id = tendon_gatt_read_by_uuid(&p->client, 2, 0x1234, &uuid, peer_on_done, p, p->now);
    peer_exchange(p, "08 02 00 34 12 00 FF EE DD CC BB AA 99 88 77 66 55 44 33 22 11", "09 02 34 12");
    peer_done_value(p, id, "");
    assert_int_equal(p->result.handle, 0x1234);
    peer_close(p);
}

static void read_by_uuid_of_a_handle_outside_the_range(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_read_by_uuid(p);
    peer_expect(p, "08 01 00 10 00 29 2A");
    assert_int_equal(peer_send(p, "09 03 11 00 01"), TENDON_GATT_ERROR_BAD_RESPONSE);
    peer_done(p, id, TENDON_GATT_ERROR_BAD_RESPONSE);
    assert_int_equal(p->bearer.counters.malformed, 1);
    peer_alive(p);
    peer_close(p);
}

static void gatt_cl_gar_bv_04_c_read_long(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_read_long(p);
    peer_exchange(p, "0A 03 00", "0B " FULL);
    peer_exchange(p, "0C 03 00 16 00", "0D " FULL);
    peer_exchange(p, "0C 03 00 2C 00", "0D AA BB");
    peer_done_value(p, id, FULL FULL "AA BB");
    assert_true(memcmp(p->buffer, p->result_value, 46) == 0);
    id = op_read_long(p); /* a value that ends with a full part */
    peer_exchange(p, "0A 03 00", "0B " FULL);
    peer_exchange(p, "0C 03 00 16 00", "0D");
    peer_done_value(p, id, FULL);
    id = op_read_long_from_100(p);
    peer_exchange(p, "0C 03 00 64 00", "0D " FULL);
    peer_exchange(p, "0C 03 00 7A 00", "0D 77");
    peer_done_value(p, id, FULL "77");
    peer_close(p);
}

static void gatt_cl_gar_bv_06_c_read_descriptor(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = tendon_gatt_read(&p->client, 0x0004, peer_on_done, p, p->now);
    peer_exchange(p, "0A 04 00", "0B 01 00");
    peer_done_value(p, id, "01 00");
    peer_close(p);
}

static void gatt_cl_gar_bv_07_c_read_long_descriptor(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = tendon_gatt_read_long(&p->client, 0x0004, 0, p->buffer, 64, peer_on_done, p, p->now);
    peer_exchange(p, "0A 04 00", "0B " FULL);
    peer_exchange(p, "0C 04 00 16 00", "0D 16 17");
    peer_done_value(p, id, FULL "16 17");
    peer_close(p);
}

static void mal_C01_value_that_never_ends(void **state) {
    (void)state;
    uint8_t part[23] = {0x0B};
    peer *p = peer_open();
    tendon_status id = op_read_long(p);
    unsigned parts = 0;
    tendon_status status = TENDON_OK;
    while (p->completions == 0) {
        status = peer_send_bytes(p, part, sizeof(part));
        part[0] = 0x0D;
        assert_true(++parts <= 24);
    }
    assert_int_equal(parts, 24); /* 23 x 22 = 506 bytes are kept, the 24th part goes beyond 512 */
    assert_int_equal(status, TENDON_GATT_ERROR_VALUE_TOO_LONG);
    assert_int_equal(p->bearer.counters.malformed, 1);
    peer_done(p, id, TENDON_GATT_ERROR_VALUE_TOO_LONG);
    assert_int_equal(p->result.length, 506);
    p->expected = p->sent;
    peer_alive(p);
    peer_close(p);
}

/* 512 bytes are a whole value: there is nothing more to ask for. At MTU 65 every part has 64 bytes. */
static void mal_C01_value_of_exactly_512_bytes(void **state) {
    (void)state;
    uint8_t part[65] = {0x0B};
    peer *p = peer_open_mtu(65);
    tendon_status id = op_read_long(p);
    for (int i = 0; i < 8; i++) {
        peer_not_done(p);
        assert_int_equal(peer_send_bytes(p, part, sizeof(part)), TENDON_OK);
        part[0] = 0x0D;
    }
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.length, 512);
    assert_int_equal(p->sent, 8);
    p->expected = p->sent;
    peer_close(p);
}

static void read_long_into_a_small_buffer(void **state) {
    (void)state;
    peer *p = peer_open();
    for (size_t capacity = 0; capacity < 30; capacity++) {
        uint8_t *exact = malloc(capacity + (capacity == 0));
        tendon_status id = tendon_gatt_read_long(&p->client, 3, 0, exact, capacity, peer_on_done, p, p->now);
        peer_exchange(p, "0A 03 00", "0B " FULL);
        if (capacity >= 22) {
            peer_exchange(p, "0C 03 00 16 00", "0D 16 17");
        }
        peer_done(p, id, capacity < 24 ? TENDON_ERROR_BUFFER_TOO_SMALL : TENDON_OK);
        assert_int_equal(p->result.length, capacity < 24 ? capacity : 24);
        free(exact);
    }
    peer_close(p);
}

static void mal_C02_blob_longer_than_asked(void **state) {
    (void)state;
    peer *p = peer_open(); /* MTU 23, and the link takes up to 64 */
    tendon_status id = op_read_long(p);
    peer_exchange(p, "0A 03 00", "0B " FULL);
    peer_expect(p, "0C 03 00 16 00");
    assert_int_equal(peer_send(p, "0D " FULL "16"), TENDON_GATT_ERROR_BAD_RESPONSE);
    assert_int_equal(p->bearer.counters.malformed, 1);
    peer_done(p, id, TENDON_GATT_ERROR_BAD_RESPONSE);
    assert_int_equal(p->result.length, 22);
    peer_alive(p);
    peer_close(p);
}

static void mal_C02_empty_blob_at_offset_0(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_read_long(p);
    peer_exchange(p, "0A 03 00", "0B");
    peer_done_value(p, id, "");
    id = op_read_long_from_100(p);
    peer_exchange(p, "0C 03 00 64 00", "0D");
    peer_done_value(p, id, "");
    peer_close(p);
}

static void mal_C03_value_shrinks_in_mid_read(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_read_long(p);
    peer_exchange(p, "0A 03 00", "0B " FULL);
    peer_exchange(p, "0C 03 00 16 00", "0D " FULL);
    peer_exchange(p, "0C 03 00 2C 00", "01 0C 03 00 07");
    peer_done(p, id, ATT(0x07)); /* the parts may be of two values: the caller decides */
    assert_int_equal(p->result.length, 44);
    peer_alive(p);
    peer_close(p);
}

static void mal_C04_attribute_not_long_after_the_first_part(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_read_long(p);
    peer_exchange(p, "0A 03 00", "0B " FULL);
    peer_exchange(p, "0C 03 00 16 00", "01 0C 03 00 0B");
    peer_done_value(p, id, FULL);
    id = op_read_long_from_100(p); /* with nothing read it is an error */
    peer_exchange(p, "0C 03 00 64 00", "01 0C 03 00 0B");
    peer_done(p, id, ATT(0x0B));
    peer_close(p);
}

/* The client requests no list of values: such a response is never one to its request, whatever its lengths say. */
static void response_of_many_values(const char *in) {
    peer *p = peer_open();
    tendon_status id = op_read(p);
    peer_expect(p, "0A 03 00");
    assert_int_equal(peer_send(p, in), TENDON_GATT_ERROR_UNEXPECTED_RESPONSE);
    assert_int_equal(p->bearer.counters.unexpected_response, 1);
    peer_not_done(p);
    peer_exchange(p, NULL, "0B 01");
    peer_done_value(p, id, "01");
    peer_close(p);
}

static void mal_C05_read_multiple_response(void **state) {
    (void)state;
    response_of_many_values("0F 01 02 03 04");
    response_of_many_values("0F 01");
    response_of_many_values("0F");
}

static void mal_C06_read_multiple_variable_response(void **state) {
    (void)state;
    static const char *const lists[] = {
        "21 02 00 AA BB 01 00 CC", "21 FF 00 AA BB", "21 01 00 AA 04 00 BB", "21 00 00 00 00", "21 01 00 AA 04", "21",
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        response_of_many_values(lists[i]);
    }
}

static void mal_B20_database_hash(void **state) {
    (void)state;
    static const struct {
        const char *in;
        tendon_status status;
    } cases[] = {
        {"09 12 05 00 00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF", TENDON_OK},
        {"09 02 05 00", TENDON_GATT_ERROR_BAD_RESPONSE},
        {"09 11 05 00 00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE", TENDON_GATT_ERROR_BAD_RESPONSE},
        {"09 13 05 00 00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF 00", TENDON_GATT_ERROR_BAD_RESPONSE},
    };
    peer *p = peer_open();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tendon_status id = tendon_gatt_read_database_hash(&p->client, peer_on_done, p, p->now);
        peer_expect(p, "08 01 00 FF FF 2A 2B");
        assert_int_equal(peer_send(p, cases[i].in) >= 0, cases[i].status >= 0);
        assert_int_equal(p->bearer.counters.malformed, i);
        peer_done(p, id, cases[i].status);
        assert_int_equal(p->result.length, i == 0 ? 16 : 0);
    }
    peer_alive(p);
    peer_close(p);
}

/* Two reads of one discovery that differ are two values for the caller to compare: the client keeps none. */
static void mal_B20_database_hash_changes_between_two_reads(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status first = tendon_gatt_read_database_hash(&p->client, peer_on_done, p, p->now);
    tendon_status pages = op_descriptors(p);
    tendon_status second = tendon_gatt_read_database_hash(&p->client, peer_on_done, p, p->now);
    peer_exchange(p, "08 01 00 FF FF 2A 2B", "09 12 05 00 00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF");
    peer_done_value(p, first, "00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF");
    peer_exchange(p, NULL, NULL);
    peer_expect(p, "04 04 00 10 00");
    assert_int_equal(peer_send(p, "05 01 10 00 02 29"), TENDON_OK);
    peer_done(p, pages, TENDON_OK);
    peer_exchange(p, "08 01 00 FF FF 2A 2B", "09 12 05 00 01 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF");
    peer_done_value(p, second, "01 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF");
    peer_close(p);
}

#define LIST(name, op, out, in, code) RUN(name),

int main(void) {
    const struct CMUnitTest tests[] = {
        REFUSALS(LIST) RUN(gatt_cl_gar_bi_12_to_17_c_in_mid_read),
        RUN(gatt_cl_gar_bv_01_c_read),
        RUN(gatt_cl_gar_bv_03_c_read_by_uuid),
        RUN(read_by_uuid_of_a_handle_outside_the_range),
        RUN(gatt_cl_gar_bv_04_c_read_long),
        RUN(gatt_cl_gar_bv_06_c_read_descriptor),
        RUN(gatt_cl_gar_bv_07_c_read_long_descriptor),
        RUN(mal_C01_value_that_never_ends),
        RUN(mal_C01_value_of_exactly_512_bytes),
        RUN(read_long_into_a_small_buffer),
        RUN(mal_C02_blob_longer_than_asked),
        RUN(mal_C02_empty_blob_at_offset_0),
        RUN(mal_C03_value_shrinks_in_mid_read),
        RUN(mal_C04_attribute_not_long_after_the_first_part),
        RUN(mal_C05_read_multiple_response),
        RUN(mal_C06_read_multiple_variable_response),
        RUN(mal_B20_database_hash),
        RUN(mal_B20_database_hash_changes_between_two_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
