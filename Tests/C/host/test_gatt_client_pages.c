/* SPDX-License-Identifier: MIT */
/* Hostile discovery pages: B01 to B17. */
#include "gatt_client_peer.h"

#define WIRE_LONG "00 FF EE DD CC BB AA 99 88 77 66 55 44 33 22 11"
#define BAD TENDON_GATT_ERROR_BAD_RESPONSE
#define STUCK TENDON_GATT_ERROR_NO_PROGRESS

/* One bad page each: what completes, how many items are kept, counted once, and the client goes on. */
typedef struct bad_page {
    peer_operation op;
    const char *request, *page;
    tendon_status status;
    size_t items;
} bad_page;

static void check_bad_pages(const bad_page *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        peer *p = peer_open();
        tendon_status id = cases[i].op(p);
        peer_expect(p, cases[i].request);
        if (peer_send(p, cases[i].page) >= 0 || p->bearer.counters.malformed != 1) {
            fail_msg("page %s is not rejected", cases[i].page);
        }
        peer_done(p, id, cases[i].status);
        if (p->result.count != cases[i].items) {
            fail_msg("page %s: %zu items", cases[i].page, p->result.count);
        }
        peer_alive(p);
        assert_int_equal(p->bearer.counters.malformed, 1);
        peer_close(p);
    }
}

#define CHECK(cases) check_bad_pages(cases, sizeof(cases) / sizeof(cases[0]))
#define INFORMATION "04 04 00 10 00"
#define GROUPS "10 01 00 FF FF 00 28"
#define FIND "06 01 00 FF FF 00 28 0A 18"
#define DECLARATIONS "08 01 00 10 00 03 28"
#define INCLUDES "08 01 00 10 00 02 28"

static void mal_B01_find_information_without_format(void **state) {
    (void)state;
    static const bad_page cases[] = {{op_descriptors, INFORMATION, "05", BAD, 0}};
    CHECK(cases);
}

static void mal_B02_find_information_formats(void **state) {
    (void)state;
    static const bad_page cases[] = {
        {op_descriptors, INFORMATION, "05 00 04 00 02 29", BAD, 0},
        {op_descriptors, INFORMATION, "05 03 04 00 02 29", BAD, 0},
        {op_descriptors, INFORMATION, "05 FF 04 00 02 29", BAD, 0},
        {op_descriptors, INFORMATION, "05 01", BAD, 0},
        {op_descriptors, INFORMATION, "05 02 04 00 00 FF EE DD CC BB AA 99 88 77 66 55 44 33 22", BAD, 0},
    };
    CHECK(cases);
}

static void mal_B03_find_information_not_a_multiple(void **state) {
    (void)state;
    static const bad_page cases[] = {
        {op_descriptors, INFORMATION, "05 01 04", BAD, 0},
        {op_descriptors, INFORMATION, "05 01 04 00 02 29 05", BAD, 0},
        {op_descriptors, INFORMATION, "05 01 04 00 02 29 05 00 01", BAD, 0},
        {op_descriptors, INFORMATION, "05 02 04 00 " WIRE_LONG " 05", BAD, 0},
    };
    CHECK(cases);
}

static void mal_B04_handles_do_not_increase_or_leave_the_range(void **state) {
    (void)state;
    static const bad_page cases[] = {
        {op_descriptors, INFORMATION, "05 01 03 00 02 29", STUCK, 0},             /* below the start */
        {op_descriptors, INFORMATION, "05 01 00 00 02 29", STUCK, 0},             /* handle 0 */
        {op_descriptors, INFORMATION, "05 01 05 00 02 29 05 00 02 29", STUCK, 1}, /* twice */
        {op_descriptors, INFORMATION, "05 01 06 00 02 29 05 00 02 29", STUCK, 1}, /* backwards */
        {op_descriptors, INFORMATION, "05 01 05 00 02 29 11 00 02 29", BAD, 1},   /* above the end */
        {op_characteristics, DECLARATIONS, "09 07 11 00 02 12 00 00 2A", BAD, 0},
        {op_characteristics, DECLARATIONS, "09 07 04 00 02 05 00 00 2A 02 00 02 03 00 00 2A", STUCK, 1},
        {op_included, INCLUDES, "09 08 11 00 20 00 2F 00 0F 18", BAD, 0},
        {op_included, INCLUDES, "09 08 04 00 20 00 2F 00 0F 18 04 00 20 00 2F 00 0F 18", STUCK, 1},
        {op_services, GROUPS, "11 06 00 00 05 00 00 18", STUCK, 0},
    };
    CHECK(cases);
}

static void mal_B05_handle_ffff_ends(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id =
        tendon_gatt_discover_descriptors(&p->client, 0xFFFE, 0xFFFF, p->descriptors, 8, peer_on_done, p, p->now);
    peer_exchange(p, "04 FE FF FF FF", "05 01 FF FF 02 29");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 1);
    id = tendon_gatt_discover_characteristics(&p->client, 0xFFFE, 0xFFFF, p->characteristics, 8, peer_on_done, p,
                                              p->now);
    peer_exchange(p, "08 FE FF FF FF 03 28", "09 07 FE FF 02 FF FF 00 2A");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->characteristics[0].value_handle, 0xFFFF);
    assert_int_equal(p->characteristics[0].end_handle, 0xFFFF);
    /* A declaration at 0xFFFF has no place for its value. */
    id = tendon_gatt_discover_characteristics(&p->client, 0xFFFE, 0xFFFF, p->characteristics, 8, peer_on_done, p,
                                              p->now);
    peer_expect(p, "08 FE FF FF FF 03 28");
    assert_int_equal(peer_send(p, "09 07 FF FF 02 00 00 00 2A"), BAD);
    peer_done(p, id, BAD);
    peer_alive(p);
    peer_close(p);
}

static void mal_B06_read_by_type_item_length_0_and_1(void **state) {
    (void)state;
    static const bad_page cases[] = {
        {op_characteristics, DECLARATIONS, "09 00 02 00 02 03 00 00 2A", BAD, 0},
        {op_characteristics, DECLARATIONS, "09 01 02 00 02 03 00 00 2A", BAD, 0},
        {op_included, INCLUDES, "09 00", BAD, 0},
        {op_included, INCLUDES, "09 01 02", BAD, 0},
        {op_characteristics, DECLARATIONS, "09", BAD, 0},
    };
    CHECK(cases);
}

static void mal_B07_item_length_larger_than_the_data(void **state) {
    (void)state;
    static const bad_page cases[] = {
        {op_characteristics, DECLARATIONS, "09 07", BAD, 0},
        {op_characteristics, DECLARATIONS, "09 07 02 00 02 03 00 00", BAD, 0},
        {op_characteristics, DECLARATIONS, "09 07 02 00 02 03 00 00 2A 04", BAD, 0},
        {op_characteristics, DECLARATIONS, "09 FF 02 00 02 03 00 00 2A", BAD, 0},
    };
    CHECK(cases);
}

/* Every item length from 2 to 40; only 7 and 21 are declarations. */
static void mal_B08_characteristic_declarations_of_every_length(void **state) {
    (void)state;
    for (uint8_t size = 2; size <= 40; size++) {
        uint8_t page[64] = {0x09, size, 0x02, 0x00, 0x02, 0x03, 0x00, 0x00, 0x2A};
        peer *p = peer_open_mtu(64);
        tendon_status id = op_characteristics(p);
        peer_expect(p, DECLARATIONS);
        tendon_status status = peer_send_bytes(p, page, 2u + size);
        if (size == 7 || size == 21) {
            assert_int_equal(status, TENDON_OK);
            peer_exchange(p, "08 03 00 10 00 03 28", "01 08 03 00 0A");
            peer_done(p, id, TENDON_OK);
        } else {
            assert_int_equal(status, BAD);
            assert_int_equal(p->bearer.counters.malformed, 1);
            peer_done(p, id, BAD);
        }
        peer_alive(p);
        peer_close(p);
    }
}

/* Every item length from 2 to 40; only 6 and 8 are include declarations. */
static void mal_B09_include_declarations_of_every_length(void **state) {
    (void)state;
    for (uint8_t size = 2; size <= 40; size++) {
        uint8_t page[64] = {0x09, size, 0x10, 0x00, 0x20, 0x00, 0x2F, 0x00, 0x0F, 0x18};
        peer *p = peer_open_mtu(64);
        tendon_status id = op_included(p);
        peer_expect(p, INCLUDES);
        tendon_status status = peer_send_bytes(p, page, 2u + size);
        if (size == 6) {
            peer_exchange(p, "0A 20 00", "0B 0F 18");
        }
        if (size == 6 || size == 8) {
            assert_int_equal(status, TENDON_OK);
            peer_done(p, id, TENDON_OK);
        } else {
            assert_int_equal(status, BAD);
            assert_int_equal(p->bearer.counters.malformed, 1);
            peer_done(p, id, BAD);
        }
        peer_alive(p);
        peer_close(p);
    }
}

static void mal_B10_value_handle_out_of_place(void **state) {
    (void)state;
    static const bad_page cases[] = {
        {op_characteristics, DECLARATIONS, "09 07 02 00 02 00 00 00 2A", BAD, 0}, /* 0 */
        {op_characteristics, DECLARATIONS, "09 07 02 00 02 02 00 00 2A", BAD, 0}, /* the declaration itself */
        {op_characteristics, DECLARATIONS, "09 07 02 00 02 01 00 00 2A", BAD, 0}, /* before it */
        {op_characteristics, DECLARATIONS, "09 07 02 00 02 11 00 00 2A", BAD, 0}, /* beyond the end */
    };
    CHECK(cases);
}

static void mal_B11_two_characteristics_with_one_value(void **state) {
    (void)state;
    static const bad_page cases[] = {
        {op_characteristics, DECLARATIONS, "09 07 02 00 02 05 00 00 2A 04 00 02 05 00 01 2A", STUCK, 1},
        {op_characteristics, DECLARATIONS, "09 07 02 00 02 05 00 00 2A 05 00 02 06 00 01 2A", STUCK, 1},
    };
    CHECK(cases);
}

/* Every item length from 0 to 40; only 6 and 20 are service declarations. */
static void mal_B12_service_declarations_of_every_length(void **state) {
    (void)state;
    for (uint8_t size = 0; size <= 40; size++) {
        uint8_t page[64] = {0x11, size, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x18};
        peer *p = peer_open_mtu(64);
        tendon_status id = op_services(p);
        peer_expect(p, GROUPS);
        tendon_status status = peer_send_bytes(p, page, 2u + size);
        bool valid = size == 6 || size == 20;
        assert_true(valid ? status == TENDON_OK : status < 0);
        assert_int_equal(p->bearer.counters.malformed, valid ? 0 : 1);
        peer_done(p, id, valid ? TENDON_OK : BAD);
        peer_alive(p);
        peer_close(p);
    }
}

static void mal_B13_services_upside_down_or_overlapping(void **state) {
    (void)state;
    static const bad_page cases[] = {
        {op_services, GROUPS, "11 06 10 00 0F 00 00 18", BAD, 0},                     /* end < start */
        {op_services, GROUPS, "11 06 01 00 10 00 00 18 10 00 20 00 01 18", STUCK, 1}, /* overlap */
        {op_services, GROUPS, "11 06 20 00 30 00 00 18 01 00 10 00 01 18", STUCK, 1}, /* out of order */
        {op_included, INCLUDES, "09 08 02 00 20 00 1F 00 0F 18", BAD, 0},             /* end < start */
        {op_included, INCLUDES, "09 08 02 00 00 00 1F 00 0F 18", BAD, 0},             /* start 0 */
        {op_services_by_uuid, FIND, "07 01 00 10 00 05 00 20 00", STUCK, 1},          /* overlap */
    };
    CHECK(cases);
}

static void mal_B14_find_by_type_value_lists(void **state) {
    (void)state;
    static const bad_page cases[] = {
        {op_services_by_uuid, FIND, "07", BAD, 0},
        {op_services_by_uuid, FIND, "07 01", BAD, 0},
        {op_services_by_uuid, FIND, "07 01 00 10", BAD, 0},
        {op_services_by_uuid, FIND, "07 01 00 10 00 11", BAD, 0},
        {op_services_by_uuid, FIND, "07 11 00 10 00", BAD, 0},               /* end < start */
        {op_services_by_uuid, FIND, "07 01 00 FF FF 02 00 03 00", STUCK, 1}, /* more after 0xFFFF */
        {op_services_by_uuid, FIND, "07 00 00 10 00", STUCK, 0},             /* start 0 */
    };
    CHECK(cases);
}

static void mal_B15_more_than_the_table_holds(void **state) {
    (void)state;
    peer *p = peer_open();
    for (size_t capacity = 0; capacity < 3; capacity++) {
        /* Exactly sized tables: one item written beyond them shows. */
        tendon_gatt_service *services = malloc(capacity * sizeof(*services) + 1);
        tendon_gatt_characteristic *characteristics = malloc(capacity * sizeof(*characteristics) + 1);
        tendon_gatt_descriptor *descriptors = malloc(capacity * sizeof(*descriptors) + 1);
        tendon_status id = tendon_gatt_discover_services(&p->client, services, capacity, peer_on_done, p, p->now);
        peer_exchange(p, GROUPS, "11 06 01 00 05 00 00 18 06 00 08 00 01 18 09 00 0A 00 02 18");
        peer_done(p, id, TENDON_ERROR_TABLE_FULL);
        assert_int_equal(p->result.count, capacity);
        id = tendon_gatt_discover_characteristics(&p->client, 1, 0x10, characteristics, capacity, peer_on_done, p,
                                                  p->now);
        peer_exchange(p, DECLARATIONS, "09 07 02 00 02 03 00 00 2A 04 00 02 05 00 01 2A");
        if (capacity == 2) {
            peer_exchange(p, "08 05 00 10 00 03 28", "09 07 09 00 02 0A 00 02 2A");
        }
        peer_done(p, id, TENDON_ERROR_TABLE_FULL);
        assert_int_equal(p->result.count, capacity);
        if (capacity == 2) {
            assert_int_equal(characteristics[1].end_handle, 8); /* known from the one that found no place */
        }
        id = tendon_gatt_discover_descriptors(&p->client, 4, 0x10, descriptors, capacity, peer_on_done, p, p->now);
        peer_exchange(p, INFORMATION, "05 01 04 00 02 29 05 00 01 29 06 00 00 29");
        peer_done(p, id, TENDON_ERROR_TABLE_FULL);
        assert_int_equal(p->result.count, capacity);
        id = tendon_gatt_find_included(&p->client, 1, 0x10, services, capacity, peer_on_done, p, p->now);
        peer_exchange(p, INCLUDES, "09 06 02 00 20 00 2F 00 03 00 30 00 3F 00 04 00 40 00 4F 00");
        for (size_t i = 0; i < capacity; i++) {
            peer_exchange(p, i == 0 ? "0A 20 00" : "0A 30 00", "0B " WIRE_LONG);
        }
        peer_done(p, id, TENDON_ERROR_TABLE_FULL);
        assert_int_equal(p->result.count, capacity);
        peer_alive(p);
        free(services);
        free(characteristics);
        free(descriptors);
    }
    peer_close(p);
}

static void mal_B16_the_same_page_for_ever(void **state) {
    (void)state;
    static const struct {
        peer_operation op;
        const char *first, *second, *page;
        size_t items;
    } cases[] = {
        {op_services, GROUPS, "10 06 00 FF FF 00 28", "11 06 01 00 05 00 00 18", 1},
        {op_services_by_uuid, FIND, "06 06 00 FF FF 00 28 0A 18", "07 01 00 05 00", 1},
        {op_included, INCLUDES, "08 03 00 10 00 02 28", "09 08 02 00 20 00 2F 00 0F 18", 1},
        {op_characteristics, DECLARATIONS, "08 03 00 10 00 03 28", "09 07 02 00 02 03 00 00 2A", 1},
        {op_characteristics_by_uuid, DECLARATIONS, "08 03 00 10 00 03 28", "09 07 02 00 02 03 00 00 2A", 0},
        {op_descriptors, INFORMATION, "04 05 00 10 00", "05 01 04 00 02 29", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        peer *p = peer_open();
        tendon_status id = cases[i].op(p);
        peer_exchange(p, cases[i].first, cases[i].page);
        peer_expect(p, cases[i].second);
        assert_int_equal(peer_send(p, cases[i].page), STUCK);
        assert_int_equal(p->bearer.counters.malformed, 1);
        peer_done(p, id, STUCK);
        assert_int_equal(p->result.count, cases[i].items);
        peer_alive(p);
        peer_close(p);
    }
}

/* A peer that advances by the least it can, with items that the filter drops: the page counter ends it. */
static void mal_B16_endless_pages_that_advance(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_uuid uuid = tendon_uuid_from_u16(0x2A29);
    tendon_status id = tendon_gatt_discover_characteristics_by_uuid(&p->client, 1, 0xFFFF, &uuid, p->characteristics, 8,
                                                                    peer_on_done, p, p->now);
    unsigned pages = 0;
    while (p->completions == 0) {
        uint16_t handle = (uint16_t)(1 + 2 * pages);
        uint8_t page[] = {
            0x09, 7,   (uint8_t)handle, (uint8_t)(handle >> 8), 2, (uint8_t)(handle + 1), (uint8_t)((handle + 1) >> 8),
            0,    0x2A};
        peer_send_bytes(p, page, sizeof(page));
        assert_true(++pages <= TENDON_GATT_PAGES_MAX);
    }
    assert_int_equal(pages, TENDON_GATT_PAGES_MAX);
    assert_int_equal(p->sent, TENDON_GATT_PAGES_MAX);
    p->expected = p->sent;
    peer_done(p, id, STUCK);
    peer_alive(p);
    peer_close(p);
}

/* The client lists includes and does not follow them: a circle is two lists. */
static void mal_B17_included_service_that_includes_its_includer(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = tendon_gatt_find_included(&p->client, 1, 5, p->services, 8, peer_on_done, p, p->now);
    peer_exchange(p, "08 01 00 05 00 02 28", "09 08 02 00 06 00 09 00 0F 18");
    peer_exchange(p, "08 03 00 05 00 02 28", "01 08 03 00 0A");
    peer_done(p, id, TENDON_OK);
    id = tendon_gatt_find_included(&p->client, 6, 9, p->services, 8, peer_on_done, p, p->now);
    peer_exchange(p, "08 06 00 09 00 02 28", "09 08 07 00 01 00 05 00 0A 18");
    peer_exchange(p, "08 08 00 09 00 02 28", "01 08 08 00 0A");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 1);
    peer_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(mal_B01_find_information_without_format),
        RUN(mal_B02_find_information_formats),
        RUN(mal_B03_find_information_not_a_multiple),
        RUN(mal_B04_handles_do_not_increase_or_leave_the_range),
        RUN(mal_B05_handle_ffff_ends),
        RUN(mal_B06_read_by_type_item_length_0_and_1),
        RUN(mal_B07_item_length_larger_than_the_data),
        RUN(mal_B08_characteristic_declarations_of_every_length),
        RUN(mal_B09_include_declarations_of_every_length),
        RUN(mal_B10_value_handle_out_of_place),
        RUN(mal_B11_two_characteristics_with_one_value),
        RUN(mal_B12_service_declarations_of_every_length),
        RUN(mal_B13_services_upside_down_or_overlapping),
        RUN(mal_B14_find_by_type_value_lists),
        RUN(mal_B15_more_than_the_table_holds),
        RUN(mal_B16_the_same_page_for_ever),
        RUN(mal_B16_endless_pages_that_advance),
        RUN(mal_B17_included_service_that_includes_its_includer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
