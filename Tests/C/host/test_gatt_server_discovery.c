/* SPDX-License-Identifier: MIT */
/* GATT server: MTU and discovery (Vol 3 Part F 3.4.2, 3.4.3, 3.4.4.1, 3.4.4.9). See the fixture for the handles. */
#include "gatt_server_fixture.h"

static void gatt_sr_gac_bv_01_c_exchange_mtu(void **state) {
    fixture *f = *state;
    exchange(f, "02 00 02", "03 b9 00"); /* client 512, server 185 */
    assert_int_equal(f->bearer.mtu, 185);
}

static void exchange_mtu_takes_the_smaller(void **state) {
    fixture *f = *state;
    exchange(f, "02 40 00", "03 b9 00");
    assert_int_equal(f->bearer.mtu, 64);
}

static void mal_A14_mtu_below_23_is_refused(void **state) {
    fixture *f = *state;
    exchange(f, "02 16 00", "01 02 00 00 04");
    exchange(f, "02 00 00", "01 02 00 00 04");
    assert_int_equal(f->bearer.mtu, 23);
    exchange(f, "02 17 00", "03 b9 00"); /* and a good one still works */
    assert_int_equal(f->bearer.mtu, 23);
}

static void mal_A15_second_mtu_request_changes_nothing(void **state) {
    fixture *f = *state;
    exchange(f, "02 40 00", "03 b9 00");
    exchange(f, "02 00 02", "01 02 00 00 06");
    assert_int_equal(f->bearer.mtu, 64);
}

static void mal_A15_mtu_request_amid_a_long_read(void **state) {
    fixture *f = *state;
    memset(f->value, 0x55, 40);
    f->value_length = 40;
    exchange(f, "0a 0d 00", "0b 55555555555555555555555555555555555555555555"); /* 22 bytes: there is more */
    exchange(f, "02 40 00", "03 b9 00");
    exchange(f, "0c 0d 00 16 00", "0d 555555555555555555555555555555555555"); /* the other 18 */
}

static void gatt_sr_gad_bv_01_c_all_primary_services(void **state) {
    fixture *f = *state;
    exchange(f, "10 01 00 ff ff 00 28", "11 06 01 00 04 00 01 18 05 00 09 00 0a 18");
    /* the 128-bit service is alone: its item is longer; at MTU 23 it fits exactly: 2 + 20 */
    exchange(f, "10 0a 00 ff ff 00 28", "11 14 0a 00 18 00 00 ff ee dd cc bb aa 99 88 77 66 55 44 33 22 11");
    exchange(f, "10 19 00 ff ff 00 28", "01 10 19 00 0a");
}

static void read_by_group_type_secondary_services(void **state) {
    exchange(*state, "10 01 00 ff ff 01 28", "11 06 19 00 1b 00 0f 18");
}

static void read_by_group_type_cut_to_the_mtu(void **state) {
    fixture *f = *state;
    /* a 128-bit type asks as well as a 16-bit one */
    exchange(f, "10 01 00 04 00 fb 34 9b 5f 80 00 00 80 00 10 00 00 00 28 00 00", "11 06 01 00 04 00 01 18");
}

static void read_by_group_type_unsupported_types(void **state) {
    fixture *f = *state;
    exchange(f, "10 01 00 ff ff 03 28", "01 10 01 00 10");
    exchange(f, "10 02 00 ff ff 02 28", "01 10 02 00 10");
    exchange(f, "10 01 00 ff ff 01 ff ee dd cc bb aa 99 88 77 66 55 44 33 22 11", "01 10 01 00 10");
}

static void ranges_are_checked_by_all_four(void **state) {
    fixture *f = *state;
    exchange(f, "10 00 00 ff ff 00 28", "01 10 00 00 01");
    exchange(f, "10 05 00 04 00 00 28", "01 10 05 00 01");
    exchange(f, "08 00 00 ff ff 03 28", "01 08 00 00 01");
    exchange(f, "08 05 00 04 00 03 28", "01 08 05 00 01");
    exchange(f, "04 00 00 ff ff", "01 04 00 00 01");
    exchange(f, "04 05 00 04 00", "01 04 05 00 01");
    exchange(f, "06 00 00 ff ff 00 28 0a 18", "01 06 00 00 01");
    exchange(f, "06 05 00 04 00 00 28 0a 18", "01 06 05 00 01");
    /* the last handle there can be, past the end of the table */
    exchange(f, "10 ff ff ff ff 00 28", "01 10 ff ff 0a");
    exchange(f, "08 ff ff ff ff 03 28", "01 08 ff ff 0a");
    exchange(f, "04 ff ff ff ff", "01 04 ff ff 0a");
    exchange(f, "06 ff ff ff ff 00 28 0a 18", "01 06 ff ff 0a");
}

static void gatt_sr_gad_bv_02_c_primary_service_by_uuid(void **state) {
    fixture *f = *state;
    exchange(f, "06 01 00 ff ff 00 28 0a 18", "07 05 00 09 00");
    exchange(f, "06 06 00 ff ff 00 28 0a 18", "01 06 06 00 0a");
    /* 23 bytes: just the MTU */
    exchange(f, "06 01 00 ff ff 00 28 00 ff ee dd cc bb aa 99 88 77 66 55 44 33 22 11", "07 0a 00 18 00");
    exchange(f, "06 01 00 ff ff 00 28", "01 06 01 00 0a"); /* empty value: no such service */
}

static void find_by_type_value_of_a_plain_attribute_ends_at_itself(void **state) {
    fixture *f = *state;
    exchange(f, "06 01 00 ff ff 29 2a 54 65 6e 64 6f 6e", "07 07 00 07 00");
    exchange(f, "06 01 00 ff ff 02 29 00 00", "07 04 00 04 00 0e 00 0e 00 14 00 14 00"); /* all three CCCDs */
}

static void find_by_type_value_does_not_compare_what_may_not_be_read(void **state) {
    fixture *f = *state;
    /* FF02 holds "0123456789" and asks for encryption */
    exchange(f, "06 01 00 ff ff 02 ff 30 31 32 33 34 35 36 37 38 39", "01 06 01 00 0a");
    f->connection.security = TENDON_GATT_SECURITY_ENCRYPTED;
    exchange(f, "06 01 00 ff ff 02 ff 30 31 32 33 34 35 36 37 38 39", "07 13 00 13 00");
}

static void gatt_sr_gad_bv_03_c_included_services(void **state) {
    fixture *f = *state;
    exchange(f, "08 0a 00 18 00 02 28", "09 08 0b 00 05 00 09 00 0a 18");
    exchange(f, "08 0c 00 18 00 02 28", "01 08 0c 00 0a");
}

static void gatt_sr_gad_bv_04_c_characteristics_of_a_service(void **state) {
    fixture *f = *state;
    exchange(f, "08 05 00 09 00 03 28", "09 07 06 00 02 07 00 29 2a 08 00 02 09 00 24 2a");
    /* the 128-bit one first, alone: 2 + 19 = 21 bytes an item */
    exchange(f, "08 0a 00 18 00 03 28", "09 15 0c 00 1e 0d 00 01 ff ee dd cc bb aa 99 88 77 66 55 44 33 22 11");
    /* at MTU 23 three items of 7 fit: 2 + 21 */
    exchange(f, "08 0d 00 18 00 03 28", "09 07 10 00 08 11 00 01 ff 12 00 1a 13 00 02 ff 15 00 0a 16 00 03 ff");
    exchange(f, "08 16 00 18 00 03 28", "09 07 17 00 0a 18 00 04 ff");
    exchange(f, "08 18 00 18 00 03 28", "01 08 18 00 0a");
}

static void gatt_sr_gad_bv_05_c_characteristics_by_uuid(void **state) {
    fixture *f = *state;
    f->bearer.mtu = 185;
    exchange(f, "08 01 00 ff ff 03 28",
             "09 07 02 00 20 03 00 05 2a 06 00 02 07 00 29 2a 08 00 02 09 00 24 2a"); /* ends before the 128-bit one */
}

static void gatt_sr_gad_bv_06_c_descriptors(void **state) {
    fixture *f = *state;
    exchange(f, "04 0e 00 0f 00", "05 01 0e 00 02 29 0f 00 01 29");
    /* formats do not mix: 0D is 128-bit */
    exchange(f, "04 0c 00 0f 00", "05 01 0c 00 03 28");
    exchange(f, "04 0d 00 0f 00", "05 02 0d 00 01 ff ee dd cc bb aa 99 88 77 66 55 44 33 22 11");
    /* MTU 23: five pairs of four bytes */
    exchange(f, "04 0e 00 ff ff", "05 01 0e 00 02 29 0f 00 01 29 10 00 03 28 11 00 01 ff 12 00 03 28");
    exchange(f, "04 1c 00 ff ff", "01 04 1c 00 0a");
}

static void read_by_type_lists_values_of_one_length(void **state) {
    fixture *f = *state;
    exchange(f, "08 01 00 ff ff 29 2a", "09 08 07 00 54 65 6e 64 6f 6e");
    exchange(f, "08 01 00 ff ff 02 29", "09 04 04 00 00 00 0e 00 00 00 14 00 00 00");
}

static void gatt_sr_gar_bi_read_by_type_errors_name_the_attribute(void **state) {
    fixture *f = *state;
    exchange(f, "08 01 00 ff ff 01 ff", "01 08 11 00 02"); /* GAR/BI-06 read not permitted */
    exchange(f, "08 01 00 ff ff 99 99", "01 08 01 00 0a"); /* BI-07 not found */
    exchange(f, "08 01 00 ff ff 04 ff", "01 08 18 00 08"); /* BI-09 authorisation */
    exchange(f, "08 01 00 ff ff 02 ff", "01 08 13 00 05"); /* BI-10 authentication */
    f->connection.security = TENDON_GATT_SECURITY_ENCRYPTED;
    f->connection.key_size = 6;
    exchange(f, "08 01 00 ff ff 02 ff", "01 08 13 00 0c"); /* BI-11 key size */
}

static void read_by_type_value_is_cut_to_the_mtu_and_to_255(void **state) {
    fixture *f = *state;
    const char *ask = "08 01 00 ff ff 01 ff ee dd cc bb aa 99 88 77 66 55 44 33 22 11";
    memset(f->value, 0x41, 512);
    f->value_length = 512;
    receive(f, ask);
    assert_int_equal(f->sent_length, 23);
    assert_int_equal(f->sent[1], 21);
    f->bearer.own_mtu = f->bearer.mtu = 517;
    receive(f, ask);
    assert_int_equal(f->sent_length, 257);
    assert_int_equal(f->sent[1], 255);
}

static void read_by_type_ends_before_a_later_error(void **state) {
    fixture *f = *state;
    tendon_uuid type = tendon_uuid_from_u16(0x2A19);
    assert_true(tendon_gatt_add_characteristic(&f->server, &type, TENDON_GATT_READ, 0) > 0);
    exchange(f, "08 01 00 ff ff 19 2a", "09 03 1b 00 64"); /* 1D is unreadable: the list just ends */
    exchange(f, "08 1c 00 ff ff 19 2a", "01 08 1d 00 02");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        server_test(gatt_sr_gac_bv_01_c_exchange_mtu),
        server_test(exchange_mtu_takes_the_smaller),
        server_test(mal_A14_mtu_below_23_is_refused),
        server_test(mal_A15_second_mtu_request_changes_nothing),
        server_test(mal_A15_mtu_request_amid_a_long_read),
        server_test(gatt_sr_gad_bv_01_c_all_primary_services),
        server_test(read_by_group_type_secondary_services),
        server_test(read_by_group_type_cut_to_the_mtu),
        server_test(read_by_group_type_unsupported_types),
        server_test(ranges_are_checked_by_all_four),
        server_test(gatt_sr_gad_bv_02_c_primary_service_by_uuid),
        server_test(find_by_type_value_of_a_plain_attribute_ends_at_itself),
        server_test(find_by_type_value_does_not_compare_what_may_not_be_read),
        server_test(gatt_sr_gad_bv_03_c_included_services),
        server_test(gatt_sr_gad_bv_04_c_characteristics_of_a_service),
        server_test(gatt_sr_gad_bv_05_c_characteristics_by_uuid),
        server_test(gatt_sr_gad_bv_06_c_descriptors),
        server_test(read_by_type_lists_values_of_one_length),
        server_test(gatt_sr_gar_bi_read_by_type_errors_name_the_attribute),
        server_test(read_by_type_value_is_cut_to_the_mtu_and_to_255),
        server_test(read_by_type_ends_before_a_later_error),
    };
    return cmocka_run_group_tests_name("host_gatt_server_discovery", tests, NULL, NULL);
}
