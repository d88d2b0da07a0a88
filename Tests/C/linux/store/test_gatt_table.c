/* SPDX-License-Identifier: MIT */
/* The answers of discoveries that a program does by itself: which are kept, which are used, what removes them. */
#include "../../host/gatt_client_peer.h"
#include "test_bytes.h"

#include "tendon/devices/profile.h"
#include "tendon/linux/gatt_table.h"

static const tendon_address device = {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM};

/* Read By Type of 2B2A, and what a device answers. */
#define ASK_HASH "08 0100 FFFF 2A2B"
#define HASH_A "09 12 0600 000102030405060708090A0B0C0D0E0F"
#define HASH_B "09 12 0600 F00102030405060708090A0B0C0D0E0F"

/* A file in memory. */
typedef struct shelf {
    uint8_t bytes[TENDON_GATT_TABLE_RECORD_MAX];
    size_t length;
    unsigned saves, removes;
    tendon_status refuses;
} shelf;

static tendon_status load(void *context, const tendon_address *of, uint8_t *out, size_t capacity) {
    const shelf *s = context;
    assert_true(tendon_address_equal(of, &device));
    assert_true(s->length <= capacity);
    memcpy(out, s->bytes, s->length);
    return s->length == 0 ? TENDON_ERROR_NOT_FOUND : (tendon_status)s->length;
}

static tendon_status save(void *context, const tendon_address *of, const uint8_t *bytes, size_t length) {
    shelf *s = context;
    assert_true(tendon_address_equal(of, &device));
    s->saves++;
    if (s->refuses == 0) {
        memcpy(s->bytes, bytes, length);
        s->length = length;
    }
    return s->refuses;
}

static tendon_status removed(void *context, const tendon_address *of) {
    shelf *s = context;
    assert_true(tendon_address_equal(of, &device));
    s->removes++;
    s->length = 0;
    return TENDON_OK;
}

typedef struct world {
    shelf shelf;
    tendon_gatt_table table;
    tendon_profile profile;
    tendon_profile_found no_rows;
    peer *p;
    unsigned checks;
    tendon_status checked;
} world;

static void on_checked(void *context, tendon_status status, size_t row, uint64_t now) {
    world *w = context;
    (void)now;
    assert_int_equal(row, 0);
    w->checks++;
    w->checked = tendon_gatt_table_checked(&w->table, status);
}

static void connect(world *w) {
    w->p = peer_open();
    tendon_gatt_client_config config = w->p->client.config;
    config.cache = &w->table.cache;
    tendon_gatt_table_begin(&w->table);
    assert_int_equal(tendon_gatt_client_init(&w->p->client, &config), TENDON_OK);
}

static void check(world *w) {
    w->checks = 0;
    assert_true(tendon_gatt_table_needs_check(&w->table));
    assert_int_equal(tendon_profile_start(&w->profile, &w->p->client, NULL, &w->no_rows, 0, on_checked, w, w->p->now),
                     TENDON_OK);
}

/* What a check asks a device that has another table: where Service Changed is. */
static void finds_service_changed(world *w) {
    peer_exchange(w->p, "10 0100 FFFF 0028", "11 06 0100 0600 0118 1000 1700 0050");
    peer_exchange(w->p, "10 1800 FFFF 0028", "01 10 1800 0A");
    peer_exchange(w->p, "08 0100 0600 0328", "09 07 0200 20 0300 052A 0500 02 0600 2A2B");
    peer_exchange(w->p, "04 0400 0400", "05 01 0400 0229");
    assert_int_equal(w->checks, 1);
    assert_int_equal(w->checked, TENDON_OK);
    assert_false(tendon_gatt_table_needs_check(&w->table));
    peer_exchange(w->p, "12 0400 0200", "13");
}

static const tendon_gatt_table_question all_services = {TENDON_GATT_TABLE_SERVICES, 1, 0xFFFF, {{0}}};
static const tendon_gatt_table_question all_characteristics = {TENDON_GATT_TABLE_CHARACTERISTICS, 0x10, 0x17, {{0}}};

static tendon_gatt_service service_of(uint16_t uuid, uint16_t start, uint16_t end) {
    return (tendon_gatt_service){tendon_uuid_from_u16(uuid), start, end, 0};
}

static tendon_gatt_characteristic notified(void) {
    return (tendon_gatt_characteristic){tendon_uuid_from_u16(0x5A01), 0x11, 0x12, 0x13, TENDON_GATT_NOTIFY};
}

static void keep_services(world *w) {
    const tendon_gatt_service found[] = {service_of(0x1801, 1, 6), service_of(0x5000, 0x10, 0x17)};
    tendon_gatt_table_keep(&w->table, w->table.generation, &all_services, found, 2);
}

static bool has_services(const world *w) {
    tendon_gatt_service found[4];
    tendon_status count = tendon_gatt_table_find(&w->table, &all_services, found, 4);
    if (count == TENDON_ERROR_NOT_FOUND) {
        return false;
    }
    assert_int_equal(count, 2);
    assert_int_equal(found[1].start_handle, 0x10);
    assert_int_equal(found[1].end_handle, 0x17);
    assert_int_equal(found[1].declaration, 0);
    const tendon_uuid uuid = tendon_uuid_from_u16(0x5000);
    assert_true(tendon_uuid_equal(&found[1].uuid, &uuid));
    return true;
}

static world *open_world(void) {
    world *w = calloc(1, sizeof *w);
    const tendon_gatt_cache_store store = {.context = &w->shelf, .load = load, .save = save, .remove = removed};
    tendon_gatt_table_init(&w->table, &device, &store);
    connect(w);
    return w;
}

/* A first connection, on which the services were discovered. */
static world *filled(void) {
    world *w = open_world();
    check(w);
    peer_exchange(w->p, ASK_HASH, HASH_A);
    finds_service_changed(w);
    assert_false(has_services(w));
    keep_services(w);
    assert_true(has_services(w));
    assert_int_equal(w->shelf.saves, 2); /* the cache, and the answer */
    return w;
}

static void again(world *w) {
    peer_close(w->p);
    connect(w);
    assert_false(has_services(w)); /* not before the hash is known */
}

static void close_world(world *w) {
    peer_close(w->p);
    free(w);
}

static void the_next_connection_reads_the_hash(void **state) {
    (void)state;
    world *w = filled();
    again(w);
    check(w);
    peer_exchange(w->p, ASK_HASH, HASH_A);
    assert_int_equal(w->checks, 1);
    assert_true(has_services(w));
    peer_exchange(w->p, "12 0400 0200", "13"); /* Service Changed, and nothing else */
    peer_quiet(w->p);
    assert_int_equal(w->table.cache.counters.hits, 1);
    assert_int_equal(w->shelf.saves, 2);
    close_world(w);
}

static void another_hash_removes_the_answers(void **state) {
    (void)state;
    world *w = filled();
    again(w);
    check(w);
    peer_exchange(w->p, ASK_HASH, HASH_B);
    finds_service_changed(w);
    assert_false(has_services(w));
    assert_int_equal(w->table.cache.counters.mismatches, 1);
    assert_int_equal(w->shelf.removes, 1);
    close_world(w);
}

/* An indication, an error, a call, and the record of the store: each before the next discovery, or connection. */
static void what_drops_the_answers(void **state) {
    (void)state;
    for (int how = 0; how < 4; how++) {
        world *w = filled();
        if (how == 0) {
            assert_int_equal(peer_send(w->p, "1D 0300 0100 FFFF"), TENDON_OK);
            peer_expect(w->p, "1E");
        } else if (how == 1) {
            tendon_status id = op_read(w->p);
            peer_exchange(w->p, "0A 0300", "01 0A 0300 12");
            peer_done(w->p, id, ATT(0x12));
        } else if (how == 2) {
            tendon_gatt_cache_drop(&w->table.cache);
        } else {
            w->shelf.length = 0; /* by another process */
            assert_true(has_services(w));
            again(w);
        }
        assert_false(has_services(w));
        assert_true(tendon_gatt_table_needs_check(&w->table));
        assert_int_equal(w->shelf.length, 0);
        assert_true(tendon_gatt_table_repeats(&w->table, ATT(0x12)));
        assert_false(tendon_gatt_table_repeats(&w->table, ATT(0x0A)));
        check(w);
        peer_exchange(w->p, ASK_HASH, HASH_A);
        finds_service_changed(w);
        assert_false(tendon_gatt_table_repeats(&w->table, ATT(0x12)));
        keep_services(w);
        assert_true(has_services(w));
        close_world(w);
    }
}

/* A discovery that began before the change is not kept, even if the new table was checked meanwhile. */
static void an_answer_of_before_a_drop_is_not_kept(void **state) {
    (void)state;
    world *w = filled();
    uint32_t generation = w->table.generation;
    const tendon_gatt_characteristic found = notified();
    assert_int_equal(peer_send(w->p, "1D 0300 0100 FFFF"), TENDON_OK);
    peer_expect(w->p, "1E");
    tendon_gatt_table_keep(&w->table, generation, &all_characteristics, &found, 1);
    assert_int_equal(w->table.content.answer_count, 0);
    check(w);
    peer_exchange(w->p, ASK_HASH, HASH_B);
    finds_service_changed(w);
    tendon_gatt_table_keep(&w->table, generation, &all_characteristics, &found, 1);
    assert_int_equal(w->table.content.answer_count, 0);
    close_world(w);
}

/* The indications are off: the hash is read once more on this connection. */
static void without_service_changed_the_hash_is_read_again(void **state) {
    (void)state;
    world *w = filled();
    tendon_gatt_table_recheck(&w->table);
    assert_false(has_services(w));
    check(w);
    peer_exchange(w->p, ASK_HASH, HASH_A);
    assert_true(has_services(w));
    peer_exchange(w->p, "12 0400 0200", "13");
    close_world(w);
}

/* One request, on the first connection only. */
static void a_device_without_a_hash_is_not_kept(void **state) {
    (void)state;
    static const char *const answers[] = {"01 08 0100 0A", "01 08 0600 02", "01 08 0600 05"};
    for (size_t i = 0; i < 3; i++) {
        world *w = open_world();
        check(w);
        peer_exchange(w->p, ASK_HASH, answers[i]);
        assert_int_equal(w->checks, 1);
        assert_int_equal(w->checked, TENDON_OK);
        for (int connection = 0; connection < 2; connection++) {
            assert_false(tendon_gatt_table_needs_check(&w->table));
            keep_services(w);
            assert_false(has_services(w));
            assert_int_equal(w->shelf.saves, 0);
            peer_quiet(w->p);
            again(w);
        }
        close_world(w);
    }
}

/* A private address is no identity (Core Spec Vol 6 Part B 1.3.2.2). */
static void an_address_that_changes_is_not_kept(void **state) {
    (void)state;
    static tendon_gatt_table table;
    const tendon_address private = {{0x40, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM};
    tendon_gatt_table_init(&table, &private, NULL);
    assert_false(tendon_gatt_table_needs_check(&table));
    tendon_gatt_table_begin(&table);
    assert_false(tendon_gatt_table_needs_check(&table));
}

/* Errors of the device leave a discovery without a cache; a lost connection, a limit and a cancel end it. */
static void a_check_that_fails(void **state) {
    (void)state;
    world *w = open_world();
    check(w);
    peer_exchange(w->p, ASK_HASH, HASH_A);
    peer_exchange(w->p, "10 0100 FFFF 0028", "01 10 0100 0E");
    assert_int_equal(w->checks, 1);
    assert_int_equal(w->checked, TENDON_OK);
    keep_services(w);
    assert_false(has_services(w));
    check(w);
    tendon_profile_limit(&w->profile, 100, w->p->now);
    peer_expect(w->p, ASK_HASH);
    tendon_att_bearer_tick(&w->p->bearer, w->p->now + 100);
    assert_int_equal(w->checked, TENDON_ERROR_TIMEOUT);
    (void)peer_send(w->p, HASH_A);
    check(w);
    peer_expect(w->p, ASK_HASH);
    tendon_profile_cancel(&w->profile, w->p->now);
    (void)peer_send(w->p, HASH_A);
    assert_int_equal(w->checks, 0);
    check(w);
    peer_expect(w->p, ASK_HASH);
    tendon_gatt_client_disconnected(&w->p->client, TENDON_RADIO_ERROR_PEER_CLOSED, w->p->now);
    assert_int_equal(w->checked, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_true(tendon_gatt_table_needs_check(&w->table));
    /* What the device answers wrongly is discovered as well. */
    assert_int_equal(tendon_gatt_table_checked(&w->table, TENDON_GATT_ERROR_UNEXPECTED_RESPONSE), TENDON_OK);
    assert_true(tendon_gatt_table_needs_check(&w->table));
    close_world(w);
}

/* ---- questions ---- */

static void a_question_for_one_uuid(void **state) {
    (void)state;
    world *w = filled();
    tendon_gatt_service found[2];
    tendon_gatt_table_question question = all_services;
    question.uuid = tendon_uuid_from_u16(0x5000);
    assert_int_equal(tendon_gatt_table_find(&w->table, &question, found, 2), 1);
    assert_int_equal(found[0].start_handle, 0x10);
    question.uuid = tendon_uuid_from_u16(0x5001);
    assert_int_equal(tendon_gatt_table_find(&w->table, &question, found, 2), 0); /* the answer for all is whole */
    assert_int_equal(tendon_gatt_table_find(&w->table, &all_services, found, 1), TENDON_ERROR_BUFFER_TOO_SMALL);
    question.kind = TENDON_GATT_TABLE_INCLUDED;
    assert_int_equal(tendon_gatt_table_find(&w->table, &question, found, 2), TENDON_ERROR_NOT_FOUND);

    tendon_gatt_characteristic characteristic = notified(), other[2];
    question = all_characteristics;
    question.uuid = characteristic.uuid;
    tendon_gatt_table_keep(&w->table, w->table.generation, &question, &characteristic, 1);
    assert_int_equal(tendon_gatt_table_find(&w->table, &all_characteristics, other, 2), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(tendon_gatt_table_find(&w->table, &question, other, 2), 1);
    assert_int_equal(other[0].declaration, 0x11);
    assert_int_equal(other[0].value_handle, 0x12);
    assert_int_equal(other[0].end_handle, 0x13);
    assert_int_equal(other[0].properties, TENDON_GATT_NOTIFY);
    question.uuid = tendon_uuid_from_u16(0x5A02);
    assert_int_equal(tendon_gatt_table_find(&w->table, &question, other, 2), TENDON_ERROR_NOT_FOUND);
    question = all_characteristics;
    question.end++;
    assert_int_equal(tendon_gatt_table_find(&w->table, &question, other, 2), TENDON_ERROR_NOT_FOUND);

    tendon_gatt_service included = {{{0}}, 0x20, 0x2F, 0x11};
    question = (tendon_gatt_table_question){TENDON_GATT_TABLE_INCLUDED, 0x10, 0x17, {{0}}};
    tendon_gatt_table_keep(&w->table, w->table.generation, &question, &included, 1);
    assert_int_equal(tendon_gatt_table_find(&w->table, &question, found, 2), 1);
    assert_int_equal(found[0].declaration, 0x11);
    close_world(w);
}

static void what_does_not_fit_is_discovered_again(void **state) {
    (void)state;
    world *w = filled();
    static tendon_gatt_descriptor many[TENDON_GATT_TABLE_ITEMS];
    tendon_gatt_descriptor out[1];
    for (size_t i = 0; i < TENDON_GATT_TABLE_ITEMS; i++) {
        many[i] = (tendon_gatt_descriptor){tendon_uuid_from_u16(0x2902), (uint16_t)(i + 1)};
    }
    tendon_gatt_table_question question = {TENDON_GATT_TABLE_DESCRIPTORS, 1, 0xFFFF, {{0}}};
    tendon_gatt_table_keep(&w->table, w->table.generation, &question, many, TENDON_GATT_TABLE_ITEMS - 1);
    assert_int_equal(tendon_gatt_table_find(&w->table, &question, out, 1), TENDON_ERROR_NOT_FOUND);
    for (uint16_t i = 1; i <= TENDON_GATT_TABLE_ANSWERS; i++) {
        question.start = i;
        tendon_gatt_table_keep(&w->table, w->table.generation, &question, many, 1);
        tendon_gatt_table_keep(&w->table, w->table.generation, &question, many, 1); /* known already */
        bool fits = i < TENDON_GATT_TABLE_ANSWERS;                                  /* one is that of the services */
        assert_int_equal(tendon_gatt_table_find(&w->table, &question, out, 1), fits ? 1 : TENDON_ERROR_NOT_FOUND);
    }
    assert_true(w->shelf.length <= TENDON_GATT_TABLE_RECORD_MAX);
    again(w);
    assert_int_equal(w->table.content.answer_count, TENDON_GATT_TABLE_ANSWERS);
    close_world(w);
}

static void subscribe(world *w) {
    const tendon_gatt_characteristic characteristic = notified();
    uint32_t generation = w->table.generation;
    tendon_status id = tendon_gatt_table_subscribe(&w->table, &w->p->client, &characteristic, false, peer_on_value,
                                                   w->p, peer_on_done, w->p, w->p->now);
    assert_true(id > 0);
    if (w->p->sent == w->p->expected + 1 && w->p->out[w->p->expected].bytes[0] == 0x04) {
        peer_exchange(w->p, "04 1300 1300", "05 01 1300 0229");
    }
    peer_exchange(w->p, "12 1300 0100", "13");
    peer_done(w->p, id, TENDON_OK);
    tendon_gatt_table_subscribed(&w->table, generation, &w->p->client, &characteristic);
    assert_int_equal(peer_send(w->p, "1B 1200 AA"), TENDON_OK);
    peer_value(w->p, 0x12, "AA", false);
}

static void the_descriptor_of_a_subscription(void **state) {
    (void)state;
    world *w = filled();
    tendon_status other =
        tendon_gatt_subscribe(&w->p->client, 0x20, 0x21, false, peer_on_value, w->p, peer_on_done, w->p, w->p->now);
    peer_exchange(w->p, "12 2100 0100", "13"); /* of another characteristic, before it in the table */
    peer_done(w->p, other, TENDON_OK);
    size_t sent = w->p->sent;
    subscribe(w);
    assert_int_equal(w->p->sent - sent, 2);
    again(w);
    sent = w->p->sent;
    subscribe(w); /* before the check: discovered, and not kept twice */
    assert_int_equal(w->p->sent - sent, 2);
    assert_int_equal(w->table.content.answer_count, 2);
    check(w);
    peer_exchange(w->p, ASK_HASH, HASH_A);
    peer_exchange(w->p, "12 0400 0200", "13");
    sent = w->p->sent;
    subscribe(w);
    assert_int_equal(w->p->sent - sent, 1);
    close_world(w);
}

/* ---- the record ---- */

/* The CRC-32 is zlib's of all bytes before it. */
static const char encoded[] = "02 AABB 01 02 02 01 01 0100 FFFF 00 04 01 1300 1300 02 0229"
                              "0100 0000 0600 00 02 0118"
                              "1300 0000 0000 00 10 FBB434800000 8000 0010 0000 02290000";

static void the_bytes_of_a_record(void **state) {
    (void)state;
    static tendon_gatt_table_content content;
    uint8_t bytes[128], again_bytes[128];
    const uint8_t *cache;
    size_t cache_length, length = peer_hex(encoded, bytes, sizeof bytes);
    tendon_writer writer = tendon_writer_make(bytes + length, 4);
    tendon_write_u32le(&writer, tendon_crc32(0, bytes, length));
    assert_int_equal(tendon_gatt_table_decode(bytes, length + 4, &content, &cache, &cache_length), TENDON_OK);
    assert_int_equal(cache_length, 2);
    assert_memory_equal(cache, "\xAA\xBB", 2);
    assert_int_equal(content.answer_count, 2);
    assert_int_equal(content.item_count, 2);
    assert_int_equal(content.answers[1].question.kind, TENDON_GATT_TABLE_DESCRIPTORS);
    assert_int_equal(content.items[0].end, 6);
    assert_int_equal(content.items[1].uuid.bytes[1], 0x00);
    assert_int_equal(content.items[1].uuid.bytes[15], 0xFB);
    assert_int_equal(tendon_gatt_table_encode(&content, cache, 2, again_bytes, sizeof again_bytes), length + 4);
    assert_memory_equal(bytes, again_bytes, length + 4);
    for (size_t capacity = 0; capacity < length + 4; capacity++) {
        assert_int_equal(tendon_gatt_table_encode(&content, cache, 2, again_bytes, capacity),
                         TENDON_ERROR_BUFFER_TOO_SMALL);
    }
    assert_int_equal(tendon_gatt_table_encode(&content, bytes, 256, again_bytes, sizeof again_bytes),
                     TENDON_ERROR_BUFFER_TOO_SMALL);
}

/* @p hex and its checksum, in a block of exactly that size. */
static tendon_status decoded(const char *hex, size_t length) {
    static tendon_gatt_table_content content;
    uint8_t bytes[256];
    const uint8_t *cache;
    size_t cache_length, whole = peer_hex(hex, bytes, sizeof bytes);
    length = length < whole ? length : whole;
    tendon_writer writer = tendon_writer_make(bytes + length, 4);
    tendon_write_u32le(&writer, tendon_crc32(0, bytes, length));
    block b = block_copy(bytes, length + 4);
    tendon_status status = tendon_gatt_table_decode(b.data, b.length, &content, &cache, &cache_length);
    free(b.data);
    return status;
}

static void a_record_that_is_none(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        tendon_status status;
    } cases[] = {
        {"00 02 00 00", TENDON_ERROR_UNSUPPORTED},                                       /* version */
        {"00 01 29 00", TENDON_ERROR_MALFORMED},                                         /* 41 answers */
        {"00 01 00 79", TENDON_ERROR_MALFORMED},                                         /* 121 items */
        {"00 01 00 00 00", TENDON_ERROR_MALFORMED},                                      /* a byte behind the end */
        {"00 01 01 00 00 00 0100 FFFF 00", TENDON_ERROR_MALFORMED},                      /* kind 0 */
        {"00 01 01 00 05 00 0100 FFFF 00", TENDON_ERROR_MALFORMED},                      /* kind 5 */
        {"00 01 01 00 01 00 0000 FFFF 00", TENDON_ERROR_MALFORMED},                      /* handle 0 */
        {"00 01 01 00 01 00 0200 0100 00", TENDON_ERROR_MALFORMED},                      /* end before start */
        {"00 01 01 00 01 00 0100 FFFF 03 010203", TENDON_ERROR_MALFORMED},               /* UUID of 3 bytes */
        {"00 01 01 00 01 01 0100 FFFF 00", TENDON_ERROR_MALFORMED},                      /* an item that is not there */
        {"00 01 01 01 01 00 0100 FFFF 00 0100 0000 0600 00 00", TENDON_ERROR_MALFORMED}, /* nobody's item */
        {"00 01 01 01 01 01 0100 FFFF 00 0000 0000 0600 00 00", TENDON_ERROR_MALFORMED}, /* its handle 0 */
        {"00 01 01 00 01 00 0100 FFFF 00", TENDON_OK},                                   /* an empty answer */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(decoded(cases[i].hex, SIZE_MAX), cases[i].status);
    }
    uint8_t bytes[128];
    size_t length = peer_hex(encoded, bytes, sizeof bytes);
    for (size_t cut = 0; cut < length; cut++) {
        assert_true(decoded(encoded, cut) < 0);
    }
    assert_int_equal(decoded(encoded, SIZE_MAX), TENDON_OK);
    static tendon_gatt_table_content content;
    const uint8_t *cache;
    size_t cache_length;
    assert_int_equal(tendon_gatt_table_decode(bytes, 4, &content, &cache, &cache_length), TENDON_ERROR_TRUNCATED);
    assert_int_equal(tendon_gatt_table_decode(bytes, length, &content, &cache, &cache_length), TENDON_ERROR_MALFORMED);
}

/* A file that is none, and a disk that does not store: the connection works, and discovers. */
static void a_store_that_fails(void **state) {
    (void)state;
    world *w = filled();
    w->shelf.bytes[w->shelf.length - 1] ^= 1;
    again(w);
    assert_int_equal(w->table.cache.store_status, TENDON_ERROR_MALFORMED);
    assert_int_equal(w->table.content.answer_count, 0);
    w->shelf.refuses = TENDON_SYSTEM_ERROR(28);
    check(w);
    peer_exchange(w->p, ASK_HASH, HASH_A);
    finds_service_changed(w);
    assert_int_equal(w->table.cache.store_status, TENDON_SYSTEM_ERROR(28));
    w->table.cache.store_status = TENDON_OK;
    keep_services(w);
    assert_int_equal(w->table.cache.store_status, TENDON_SYSTEM_ERROR(28));
    assert_true(has_services(w));
    /* Answers beside a record that is not the cache's. */
    w->shelf.length = (size_t)tendon_gatt_table_encode(&w->table.content, (const uint8_t *)"x", 1, w->shelf.bytes,
                                                       sizeof w->shelf.bytes);
    again(w);
    assert_int_equal(w->table.cache.state, TENDON_GATT_CACHE_EMPTY);
    assert_int_equal(w->table.content.answer_count, 0);
    close_world(w);
}

/* Without a store the table lasts as long as its memory. */
static void a_table_in_memory(void **state) {
    (void)state;
    world *w = calloc(1, sizeof *w);
    tendon_gatt_table_init(&w->table, &device, NULL);
    connect(w);
    check(w);
    peer_exchange(w->p, ASK_HASH, HASH_A);
    finds_service_changed(w);
    keep_services(w);
    again(w);
    check(w);
    peer_exchange(w->p, ASK_HASH, HASH_A);
    peer_exchange(w->p, "12 0400 0200", "13");
    assert_true(has_services(w));
    tendon_gatt_cache_drop(&w->table.cache);
    assert_false(has_services(w));
    close_world(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(the_next_connection_reads_the_hash),
        RUN(another_hash_removes_the_answers),
        RUN(what_drops_the_answers),
        RUN(an_answer_of_before_a_drop_is_not_kept),
        RUN(without_service_changed_the_hash_is_read_again),
        RUN(a_device_without_a_hash_is_not_kept),
        RUN(an_address_that_changes_is_not_kept),
        RUN(a_check_that_fails),
        RUN(a_question_for_one_uuid),
        RUN(what_does_not_fit_is_discovered_again),
        RUN(the_descriptor_of_a_subscription),
        RUN(the_bytes_of_a_record),
        RUN(a_record_that_is_none),
        RUN(a_store_that_fails),
        RUN(a_table_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
