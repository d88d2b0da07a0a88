/* SPDX-License-Identifier: MIT */
/* GATT server: reads, writes, permissions, prepare queue (Vol 3 Part F 3.4.4 to 3.4.6). See the fixture. */
#include "gatt_server_fixture.h"

static void gatt_sr_gar_bv_01_c_read(void **state) {
    fixture *f = *state;
    exchange(f, "0a 07 00", "0b 54 65 6e 64 6f 6e");
    exchange(f, "0a 0d 00", "0b 30 31 32 33 34 35 36 37 38 39");
    exchange(f, "0a 05 00", "0b 0a 18");
    f->value_length = 0;
    exchange(f, "0a 0d 00", "0b");
}

static void gatt_sr_gar_bi_01_to_05_c_read_refusals(void **state) {
    fixture *f = *state;
    exchange(f, "0a 00 00", "01 0a 00 00 01"); /* BI-01 invalid handle */
    exchange(f, "0a 1c 00", "01 0a 1c 00 01");
    exchange(f, "0a ff ff", "01 0a ff ff 01");
    exchange(f, "0a 11 00", "01 0a 11 00 02"); /* BI-02 read not permitted */
    exchange(f, "0a 18 00", "01 0a 18 00 08"); /* BI-03 authorisation */
    exchange(f, "0a 16 00", "01 0a 16 00 05"); /* BI-04 authentication */
    f->connection.security = TENDON_GATT_SECURITY_AUTHENTICATED;
    f->connection.key_size = 6;
    exchange(f, "0a 16 00", "01 0a 16 00 0c"); /* BI-05 key size */
    f->connection.key_size = 7;
    exchange(f, "0a 16 00", "0b 30 31 32 33 34 35 36 37 38 39");
    f->connection.authorized = true;
    exchange(f, "0a 18 00", "0b 30 31 32 33 34 35 36 37 38 39");
    assert_int_equal(f->connection.counters.errors, 7);
    assert_int_equal(f->connection.counters.requests, 9);
}

static void encryption_is_asked_for_by_pairing_or_by_key(void **state) {
    fixture *f = *state;
    exchange(f, "0a 13 00", "01 0a 13 00 05"); /* no key: pair (Vol 3 Part C 10.3.1) */
    f->connection.bonded = true;
    exchange(f, "0a 13 00", "01 0a 13 00 0f"); /* a key: start encryption */
    f->connection.security = TENDON_GATT_SECURITY_ENCRYPTED;
    exchange(f, "0a 13 00", "0b 30 31 32 33 34 35 36 37 38 39");
    exchange(f, "0a 16 00", "01 0a 16 00 05"); /* encrypted is not authenticated */
}

static void mal_H08_each_permission_bit_counts_alone(void **state) {
    fixture *f = *state;
    const uint8_t bits[] = {TENDON_GATT_READ_ENCRYPTED, TENDON_GATT_READ_AUTHENTICATED, TENDON_GATT_READ_AUTHORIZED};
    const char *refusals[] = {"01 0a 0d 00 05", "01 0a 0d 00 05", "01 0a 0d 00 08"};
    for (size_t i = 0; i < 3; i++) {
        f->attributes[0x0C].permissions = bits[i]; /* without PERMIT_READ: refused first of all */
        exchange(f, "0a 0d 00", "01 0a 0d 00 02");
        f->attributes[0x0C].permissions = (uint8_t)(bits[i] | TENDON_GATT_PERMIT_READ);
        exchange(f, "0a 0d 00", refusals[i]);
    }
    f->attributes[0x0C].permissions = TENDON_GATT_PERMIT_READ; /* whatever its properties say */
    f->attributes[0x0C].properties = TENDON_GATT_READ | TENDON_GATT_WRITE;
    exchange(f, "12 0d 00 01", "01 12 0d 00 03");
    f->attributes[0x0C].permissions = TENDON_GATT_PERMIT_READ | TENDON_GATT_PERMIT_WRITE;
    exchange(f, "12 0d 00 01", "13");
}

static void gatt_sr_gar_bv_04_c_read_long(void **state) {
    fixture *f = *state;
    for (size_t i = 0; i < 44; i++) {
        f->value[i] = (uint8_t)i;
    }
    f->value_length = 44;
    exchange(f, "0a 0d 00", "0b 000102030405060708090a0b0c0d0e0f101112131415");
    exchange(f, "0c 0d 00 16 00", "0d 161718191a1b1c1d1e1f202122232425262728292a2b");
    exchange(f, "0c 0d 00 2c 00", "0d");             /* at the end: empty */
    exchange(f, "0c 0d 00 2d 00", "01 0c 0d 00 07"); /* GAR/BI-13 invalid offset */
    exchange(f, "0c 0d 00 ff ff", "01 0c 0d 00 07");
    exchange(f, "0c 07 00 02 00", "0d 6e 64 6f 6e"); /* a short value too */
    exchange(f, "0c 04 00 01 00", "0d 00");
}

static void gatt_sr_gar_bi_12_to_17_c_read_long_refusals(void **state) {
    fixture *f = *state;
    exchange(f, "0c 11 00 00 00", "01 0c 11 00 02");
    exchange(f, "0c 00 00 00 00", "01 0c 00 00 01");
    exchange(f, "0c 18 00 ff ff", "01 0c 18 00 08"); /* authorisation comes before offset */
    exchange(f, "0c 16 00 ff ff", "01 0c 16 00 05");
}

static void gatt_sr_gar_bv_05_c_read_multiple(void **state) {
    fixture *f = *state;
    exchange(f, "0e 07 00 05 00 04 00", "0f 54 65 6e 64 6f 6e 0a 18 00 00");
    /* cut at the MTU: 6 + 10 + 6 of 10 */
    exchange(f, "0e 07 00 0d 00 0d 00", "0f 54656e646f6e 30313233343536373839 303132333435");
}

static void gatt_sr_gar_bi_18_to_22_c_read_multiple_refusals(void **state) {
    fixture *f = *state;
    exchange(f, "0e 07 00 11 00", "01 0e 11 00 02");
    exchange(f, "0e 07 00 1c 00 11 00", "01 0e 1c 00 01");
    exchange(f, "0e 07 00 18 00", "01 0e 18 00 08");
    exchange(f, "0e 16 00 07 00", "01 0e 16 00 05");
    /* also one that would not have fitted */
    exchange(f, "0e 0d 00 0d 00 0d 00 11 00", "01 0e 11 00 02");
}

static void read_multiple_variable(void **state) {
    fixture *f = *state;
    exchange(f, "20 07 00 05 00", "21 06 00 54 65 6e 64 6f 6e 02 00 0a 18");
    /* the last value is cut, its stated length is whole: 2+10, 2+8 of 10 */
    exchange(f, "20 0d 00 0d 00", "21 0a 00 30313233343536373839 0a 00 3031323334353637");
    /* a length that does not fit is left out altogether: 1+2+6+2+6+2+3 = 22, one byte is left */
    exchange(f, "20 07 00 09 00 0f 00 05 00", "21 06 00 54656e646f6e 06 00 4d6f64656c31 03 00 616263");
    exchange(f, "20 07 00 1c 00", "01 20 1c 00 01");
}

static void gatt_sr_gaw_bv_03_c_write(void **state) {
    fixture *f = *state;
    exchange(f, "12 0d 00 01 02 03", "13");
    assert_int_equal(f->writes, 1);
    assert_int_equal(f->written_handle, 0x0D);
    assert_int_equal(f->written_offset, 0);
    assert_false(f->written_by_command);
    check_bytes(f->written, f->written_length, "01 02 03");
    exchange(f, "12 0d 00", "13"); /* an empty value is a value */
    assert_int_equal(f->written_length, 0);
}

static void gatt_sr_gaw_bi_02_to_06_c_write_refusals(void **state) {
    fixture *f = *state;
    exchange(f, "12 00 00 01", "01 12 00 00 01");
    exchange(f, "12 1c 00 01", "01 12 1c 00 01");
    exchange(f, "12 07 00 01", "01 12 07 00 03");
    exchange(f, "12 06 00 01", "01 12 06 00 03"); /* a declaration */
    exchange(f, "12 18 00 01", "01 12 18 00 08");
    exchange(f, "12 16 00 01", "01 12 16 00 05");
    f->connection.security = TENDON_GATT_SECURITY_AUTHENTICATED;
    f->connection.key_size = 6;
    exchange(f, "12 16 00 01", "01 12 16 00 0c");
    assert_int_equal(f->writes, 0);
}

static void gatt_sr_gaw_write_without_the_property(void **state) {
    fixture *f = *state;
    receive(f, "52 11 00 01"); /* FF01 has WRITE only */
    assert_int_equal(f->writes, 0);
    assert_int_equal(f->connection.counters.refused_commands, 1);
    f->attributes[0x10].properties = TENDON_GATT_WRITE_WITHOUT_RESPONSE;
    exchange(f, "12 11 00 01", "01 12 11 00 03");
    receive(f, "52 11 00 01");
    assert_int_equal(f->writes, 1);
}

static void application_errors_pass_through(void **state) {
    fixture *f = *state;
    f->write_result = TENDON_ATT_ERROR(0x81);
    exchange(f, "12 0d 00 01", "01 12 0d 00 81");
    f->write_result = TENDON_ERROR_BUFFER_TOO_SMALL; /* of another layer: Unlikely Error */
    exchange(f, "12 0d 00 01", "01 12 0d 00 0e");
    f->read_result = TENDON_ATT_ERROR(0x80);
    exchange(f, "0a 0d 00", "01 0a 0d 00 80"); /* GAR/BI-34 */
    f->read_result = TENDON_ATT_ERROR(0);      /* no code at all */
    exchange(f, "0a 0d 00", "01 0a 0d 00 0e");
    f->read_result = TENDON_OK;
    f->value_length = 513; /* a device that lends too much */
    exchange(f, "0a 0d 00", "01 0a 0d 00 0e");
    f->value_length = 3;
    f->lend_nothing = true;
    exchange(f, "0a 0d 00", "01 0a 0d 00 0e");
    f->value_length = 0;
    exchange(f, "0a 0d 00", "0b"); /* NULL is a fine empty value */
    exchange(f, "0c 0d 00 00 00", "0d");
}

static void gatt_sr_gaw_bv_01_c_write_command(void **state) {
    fixture *f = *state;
    assert_int_equal(receive(f, "52 0d 00 01 02"), TENDON_OK);
    assert_true(f->written_by_command);
    assert_int_equal(f->connection.counters.commands, 1);
    check_bytes(f->written, f->written_length, "01 02");
    f->write_result = TENDON_ATT_ERROR(0x80);
    receive(f, "52 0d 00 01 02"); /* refused by the device: still silent */
    receive(f, "52 1c 00 01");
    receive(f, "52 13 00 01");
    assert_int_equal(f->sends, 0);
    assert_int_equal(f->connection.counters.commands, 1);
    assert_int_equal(f->connection.counters.refused_commands, 3);
}

static void gatt_sr_gaw_bv_02_c_signed_write_is_ignored_and_counted(void **state) {
    fixture *f = *state;
    assert_int_equal(receive(f, "d2 0d 00 01 000102030405060708090a0b"), TENDON_OK);
    assert_int_equal(f->writes, 0);
    assert_int_equal(f->sends, 0);
    assert_int_equal(f->connection.counters.signed_writes, 1);
}

static void gatt_sr_gaw_bv_08_c_cccd(void **state) {
    fixture *f = *state;
    exchange(f, "12 0e 00 01 00", "13");
    assert_int_equal(f->subscribed_handle, 0x0D);
    assert_int_equal(f->subscribed_value, 1);
    assert_int_equal(tendon_gatt_connection_cccd(&f->connection, 0x0D), 1);
    exchange(f, "0a 0e 00", "0b 01 00");
    exchange(f, "12 0e 00 01 00", "13"); /* no change, no event */
    assert_int_equal(f->subscriptions, 1);
    exchange(f, "12 0e 00 02 00", "01 12 0e 00 13"); /* it cannot indicate */
    exchange(f, "12 0e 00 05 00", "01 12 0e 00 13"); /* reserved bit */
    exchange(f, "12 0e 00 01", "01 12 0e 00 0d");    /* GAW/BI-33: wrong length */
    exchange(f, "12 0e 00 00 00 00", "01 12 0e 00 0d");
    exchange(f, "12 04 00 02 00", "13");
    exchange(f, "12 0e 00 00 00", "13");
    assert_int_equal(f->subscriptions, 3);
    assert_int_equal(tendon_gatt_connection_cccd(&f->connection, 0x0D), 0);
    assert_int_equal(tendon_gatt_connection_cccd(&f->connection, 0x07), 0);
    assert_int_equal(tendon_gatt_connection_cccd(&f->connection, 0xFFFF), 0);
}

static void gatt_sr_gaw_cccds_are_per_connection(void **state) {
    fixture *f = *state;
    tendon_gatt_connection other;
    tendon_att_bearer bearer;
    uint16_t cccds[4] = {9, 9, 9, 9};
    tendon_att_bearer_init(&bearer, f->bearer.io, 23);
    const tendon_gatt_connection_config config = {&bearer, cccds, 4, NULL, 0, NULL};
    assert_int_equal(tendon_gatt_connection_init(&other, &f->server, &config), TENDON_OK);
    exchange(f, "12 0e 00 01 00", "13");
    assert_int_equal(tendon_gatt_connection_cccd(&other, 0x0D), 0);
    tendon_gatt_connection_closed(&f->connection, TENDON_ERROR_DISCONNECTED, 0);
    assert_int_equal(tendon_gatt_connection_cccd(&f->connection, 0x0D), 0);
}

static void a_cccd_asks_for_the_security_of_its_value(void **state) {
    fixture *f = *state;
    exchange(f, "12 14 00 01 00", "01 12 14 00 05");
    exchange(f, "0a 14 00", "0b 00 00");
    f->connection.security = TENDON_GATT_SECURITY_ENCRYPTED;
    exchange(f, "12 14 00 01 00", "13");
}

static void gatt_sr_gaw_bv_05_c_write_long(void **state) {
    fixture *f = *state;
    exchange(f, "16 0d 00 00 00 01 02 03", "17 0d 00 00 00 01 02 03");
    exchange(f, "16 0d 00 03 00 04 05", "17 0d 00 03 00 04 05");
    assert_int_equal(f->writes, 0);
    exchange(f, "18 01", "19");
    assert_int_equal(f->writes, 1); /* the two parts continue each other */
    check_bytes(f->written, f->written_length, "01 02 03 04 05");
    assert_false(f->written_by_command);
    exchange(f, "18 01", "19"); /* an empty queue is no error */
    assert_int_equal(f->writes, 1);
}

static void gatt_sr_gaw_bv_06_c_reliable_writes_in_order(void **state) {
    fixture *f = *state;
    exchange(f, "16 11 00 00 00 01", "17 11 00 00 00 01");
    exchange(f, "16 0d 00 05 00 02", "17 0d 00 05 00 02");
    exchange(f, "16 0d 00 00 00 03", "17 0d 00 00 00 03"); /* does not continue: a write of its own */
    exchange(f, "18 01", "19");
    assert_int_equal(f->writes, 3);
    assert_int_equal(f->written_handle, 0x0D);
    assert_int_equal(f->written_offset, 0);
}

static void gatt_sr_gaw_bv_10_c_cancel(void **state) {
    fixture *f = *state;
    exchange(f, "16 0d 00 00 00 01", "17 0d 00 00 00 01");
    exchange(f, "18 00", "19");
    exchange(f, "18 01", "19");
    assert_int_equal(f->writes, 0);
}

static void gatt_sr_gaw_bi_07_to_13_c_write_long_refusals(void **state) {
    fixture *f = *state;
    exchange(f, "16 1c 00 00 00 01", "01 16 1c 00 01");
    exchange(f, "16 07 00 00 00 01", "01 16 07 00 03");
    exchange(f, "16 18 00 00 00 01", "01 16 18 00 08");
    exchange(f, "16 16 00 00 00 01", "01 16 16 00 05");
    assert_int_equal(f->connection.prepared_count, 0);
    exchange(f, "16 0d 00 01 02 01", "17 0d 00 01 02 01"); /* offset 513: only execute looks at it */
    exchange(f, "18 01", "01 18 0d 00 07");                /* BI-09 */
    exchange(f, "16 0d 00 00 02 01", "17 0d 00 00 02 01"); /* 512 + 1 */
    exchange(f, "18 01", "01 18 0d 00 0d");
    assert_int_equal(f->writes, 0);
    assert_int_equal(f->connection.prepared_count, 0);
}

static void mal_C09_prepare_queue_full(void **state) {
    fixture *f = *state;
    for (int i = 0; i < 3; i++) {
        exchange(f, "16 0d 00 00 00 01", "17 0d 00 00 00 01");
    }
    exchange(f, "16 0d 00 00 00 01", "01 16 0d 00 09");
    exchange(f, "18 01", "19"); /* what was accepted is still written */
    assert_int_equal(f->writes, 3);
}

static void execute_stops_at_the_first_refusal(void **state) {
    fixture *f = *state;
    f->write_result = TENDON_ATT_ERROR(0x80);
    exchange(f, "16 11 00 00 00 01", "17 11 00 00 00 01");
    exchange(f, "16 0d 00 00 00 01", "17 0d 00 00 00 01");
    exchange(f, "18 01", "01 18 11 00 80");
    assert_int_equal(f->writes, 1);
    f->write_result = TENDON_OK;
    exchange(f, "18 01", "19"); /* the queue is empty */
    assert_int_equal(f->writes, 1);
}

static void execute_checks_security_again(void **state) {
    fixture *f = *state;
    f->connection.security = TENDON_GATT_SECURITY_ENCRYPTED;
    exchange(f, "16 13 00 00 00 01", "17 13 00 00 00 01");
    f->connection.security = TENDON_GATT_SECURITY_NONE;
    exchange(f, "18 01", "01 18 13 00 05");
    assert_int_equal(f->writes, 0);
}

static void a_cccd_can_be_written_by_parts(void **state) {
    fixture *f = *state;
    exchange(f, "16 0e 00 00 00 01", "17 0e 00 00 00 01");
    exchange(f, "16 0e 00 01 00 00", "17 0e 00 01 00 00");
    exchange(f, "18 01", "19");
    assert_int_equal(f->subscribed_value, 1);
    exchange(f, "16 0e 00 01 00 00", "17 0e 00 01 00 00");
    exchange(f, "18 01", "01 18 0e 00 0d");
    exchange(f, "16 0e 00 02 00 00", "17 0e 00 02 00 00");
    exchange(f, "18 01", "01 18 0e 00 0d");
    exchange(f, "16 0e 00 03 00 00", "17 0e 00 03 00 00");
    exchange(f, "18 01", "01 18 0e 00 07");
    assert_int_equal(tendon_gatt_connection_cccd(&f->connection, 0x0D), 1);
}

static void execute_flags_other_than_0_and_1(void **state) {
    fixture *f = *state;
    exchange(f, "16 0d 00 00 00 01", "17 0d 00 00 00 01");
    for (unsigned flags = 2; flags < 256; flags++) {
        uint8_t pdu[2] = {0x18, (uint8_t)flags};
        receive_bytes(f, pdu, 2);
        check_bytes(f->sent, f->sent_length, "01 18 00 00 04");
    }
    assert_int_equal(f->connection.prepared_count, 1); /* no state change */
}

static void without_a_queue_prepare_is_not_supported(void **state) {
    fixture *f = *state;
    f->connection.config.prepared_capacity = 0;
    exchange(f, "16 0d 00 00 00 01", "01 16 0d 00 06");
    exchange(f, "18 00", "01 18 00 00 06");
}

static void mal_C13_the_queue_ends_with_the_link(void **state) {
    fixture *f = *state;
    exchange(f, "16 0d 00 00 00 01", "17 0d 00 00 00 01");
    tendon_gatt_connection_closed(&f->connection, TENDON_ERROR_DISCONNECTED, 0);
    assert_int_equal(f->connection.prepared_count, 0);
    assert_null(f->bearer.server);
    assert_int_equal(f->writes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        server_test(gatt_sr_gar_bv_01_c_read),
        server_test(gatt_sr_gar_bi_01_to_05_c_read_refusals),
        server_test(encryption_is_asked_for_by_pairing_or_by_key),
        server_test(mal_H08_each_permission_bit_counts_alone),
        server_test(gatt_sr_gar_bv_04_c_read_long),
        server_test(gatt_sr_gar_bi_12_to_17_c_read_long_refusals),
        server_test(gatt_sr_gar_bv_05_c_read_multiple),
        server_test(gatt_sr_gar_bi_18_to_22_c_read_multiple_refusals),
        server_test(read_multiple_variable),
        server_test(gatt_sr_gaw_bv_03_c_write),
        server_test(gatt_sr_gaw_bi_02_to_06_c_write_refusals),
        server_test(gatt_sr_gaw_write_without_the_property),
        server_test(application_errors_pass_through),
        server_test(gatt_sr_gaw_bv_01_c_write_command),
        server_test(gatt_sr_gaw_bv_02_c_signed_write_is_ignored_and_counted),
        server_test(gatt_sr_gaw_bv_08_c_cccd),
        server_test(gatt_sr_gaw_cccds_are_per_connection),
        server_test(a_cccd_asks_for_the_security_of_its_value),
        server_test(gatt_sr_gaw_bv_05_c_write_long),
        server_test(gatt_sr_gaw_bv_06_c_reliable_writes_in_order),
        server_test(gatt_sr_gaw_bv_10_c_cancel),
        server_test(gatt_sr_gaw_bi_07_to_13_c_write_long_refusals),
        server_test(mal_C09_prepare_queue_full),
        server_test(execute_stops_at_the_first_refusal),
        server_test(execute_checks_security_again),
        server_test(a_cccd_can_be_written_by_parts),
        server_test(execute_flags_other_than_0_and_1),
        server_test(without_a_queue_prepare_is_not_supported),
        server_test(mal_C13_the_queue_ends_with_the_link),
    };
    return cmocka_run_group_tests_name("host_gatt_server_access", tests, NULL, NULL);
}
