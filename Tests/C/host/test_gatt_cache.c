/* SPDX-License-Identifier: MIT */
/* The GATT cache of one device: its codec, its states, and what drops it. */
#include "gatt_client_peer.h"
#include "test_bytes.h"

static const tendon_address device = {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM};
static const uint8_t hash[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const uint8_t other_hash[16] = {9};
static const tendon_gatt_handles rows[2] = {{1, 4, 3, 4, 0x20}, {0x10, 0x1F, 0x12, 0x13, 0x10}};

/* Its CRC-32 (zlib's) is that of all bytes before it. */
static const char encoded[] = "54474143 01 02 0504030201C0 01 00 0102030405060708090A0B0C0D0E0F10 EFBEADDE"
                              "0100 0400 0300 0400 20 1000 1F00 1200 1300 10";

typedef struct shelf {
    uint8_t bytes[TENDON_GATT_CACHE_RECORD_MAX];
    size_t length;
    bool is_empty; /**< a record of no bytes, instead of none */
    unsigned loads, saves, removes;
    tendon_status refuses;
    tendon_address device;
} shelf;

static tendon_status load(void *context, const tendon_address *of, uint8_t *out, size_t capacity) {
    shelf *s = context;
    s->loads++;
    s->device = *of;
    if (s->length == 0) {
        return s->is_empty ? 0 : TENDON_ERROR_NOT_FOUND;
    }
    assert_true(s->length <= capacity);
    memcpy(out, s->bytes, s->length);
    return (tendon_status)s->length;
}

static tendon_status save(void *context, const tendon_address *of, const uint8_t *bytes, size_t length) {
    shelf *s = context;
    s->saves++;
    s->device = *of;
    if (s->refuses < 0) {
        return s->refuses;
    }
    memcpy(s->bytes, bytes, length);
    s->length = length;
    return TENDON_OK;
}

static tendon_status take_away(void *context, const tendon_address *of) {
    shelf *s = context;
    s->removes++;
    s->device = *of;
    s->length = s->refuses < 0 ? s->length : 0;
    return s->refuses;
}

static tendon_gatt_cache_store store_on(shelf *s) {
    *s = (shelf){.refuses = TENDON_OK};
    return (tendon_gatt_cache_store){s, load, save, take_away};
}

static tendon_gatt_cache_record record(void) {
    tendon_gatt_cache_record r = {.device = device, .profile = 0xDEADBEEF, .count = 2};
    memcpy(r.hash, hash, sizeof hash);
    memcpy(r.rows, rows, sizeof rows);
    return r;
}

static size_t encode(uint8_t out[TENDON_GATT_CACHE_RECORD_MAX]) {
    const tendon_gatt_cache_record r = record();
    tendon_status length = tendon_gatt_cache_encode(&r, out, TENDON_GATT_CACHE_RECORD_MAX);
    assert_int_equal(length, 56);
    return (size_t)length;
}

static void a_record_is_these_bytes(void **state) {
    (void)state;
    uint8_t bytes[TENDON_GATT_CACHE_RECORD_MAX], expected[64];
    size_t length = encode(bytes);
    assert_int_equal(peer_hex(encoded, expected, sizeof expected), length - 4);
    assert_memory_equal(bytes, expected, length - 4);
    uint32_t crc = 0xFFFFFFFFu; /* bit by bit, as ISO 3309 has it */
    for (size_t i = 0; i < length - 4; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1u)));
        }
    }
    crc = ~crc;
    const uint8_t end[] = {(uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16), (uint8_t)(crc >> 24)};
    assert_memory_equal(bytes + length - 4, end, 4);
    tendon_gatt_cache_record found;
    assert_int_equal(tendon_gatt_cache_decode(bytes, length, &found, NULL), TENDON_OK);
    const tendon_gatt_cache_record same = record();
    assert_true(tendon_address_equal(&found.device, &device));
    assert_memory_equal(found.hash, hash, sizeof hash);
    assert_int_equal(found.profile, 0xDEADBEEF);
    assert_int_equal(found.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(found.rows[i].service, same.rows[i].service);
        assert_int_equal(found.rows[i].service_end, same.rows[i].service_end);
        assert_int_equal(found.rows[i].value, same.rows[i].value);
        assert_int_equal(found.rows[i].cccd, same.rows[i].cccd);
        assert_int_equal(found.rows[i].properties, same.rows[i].properties);
    }
    for (size_t capacity = 0; capacity < length; capacity++) {
        assert_int_equal(tendon_gatt_cache_encode(&same, bytes, capacity), TENDON_ERROR_BUFFER_TOO_SMALL);
    }
    tendon_gatt_cache_record many = record();
    many.count = TENDON_GATT_CACHE_ROWS + 1;
    assert_int_equal(tendon_gatt_cache_encode(&many, bytes, sizeof bytes), TENDON_ERROR_OVERFLOW);
    many.count = TENDON_GATT_CACHE_ROWS;
    assert_int_equal(tendon_gatt_cache_encode(&many, bytes, sizeof bytes), TENDON_GATT_CACHE_RECORD_MAX);
}

static void a_truncated_record_is_refused_at_its_end(void **state) {
    (void)state;
    uint8_t bytes[TENDON_GATT_CACHE_RECORD_MAX];
    size_t whole = encode(bytes);
    for (size_t length = 0; length < whole; length++) {
        block cut = block_copy(bytes, length);
        tendon_gatt_cache_record out = {.count = 0x77};
        size_t offset = 999;
        assert_int_equal(tendon_gatt_cache_decode(cut.data, length, &out, &offset), TENDON_ERROR_TRUNCATED);
        assert_int_equal(offset, length < 4 ? 0 : length);
        assert_int_equal(out.count, 0x77);
        free(cut.data);
    }
    bytes[whole] = 0;
    size_t offset = 0;
    tendon_gatt_cache_record out;
    assert_int_equal(tendon_gatt_cache_decode(bytes, whole + 1, &out, &offset), TENDON_ERROR_MALFORMED);
    assert_int_equal(offset, whole);
}

static void any_changed_byte_is_noticed(void **state) {
    (void)state;
    uint8_t bytes[TENDON_GATT_CACHE_RECORD_MAX];
    size_t whole = encode(bytes);
    for (size_t i = 0; i < whole; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            tendon_gatt_cache_record out;
            bytes[i] ^= (uint8_t)(1u << bit);
            assert_true(tendon_gatt_cache_decode(bytes, whole, &out, NULL) < 0);
            bytes[i] ^= (uint8_t)(1u << bit);
        }
    }
}

/* A file whose checksum is right is not believed either. */
/* A device need not have every characteristic. */
static void a_row_may_be_absent(void **state) {
    (void)state;
    uint8_t bytes[TENDON_GATT_CACHE_RECORD_MAX];
    tendon_gatt_cache_record r = record(), out;
    r.rows[0] = (tendon_gatt_handles){.service = 1, .service_end = 4};
    r.rows[1] = (tendon_gatt_handles){0};
    tendon_status length = tendon_gatt_cache_encode(&r, bytes, sizeof bytes);
    assert_int_equal(tendon_gatt_cache_decode(bytes, (size_t)length, &out, NULL), TENDON_OK);
    assert_int_equal(out.rows[0].service_end, 4);
    assert_int_equal(out.rows[1].service_end, 0);
}

static void what_cannot_be_is_refused_with_its_offset(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
        tendon_status status;
        size_t offset;
    } cases[] = {
        {0, 'X', TENDON_ERROR_MALFORMED, 0}, {4, 2, TENDON_ERROR_UNSUPPORTED, 4},
        {5, 25, TENDON_ERROR_MALFORMED, 5},  {12, 2, TENDON_ERROR_MALFORMED, 12},
        {13, 1, TENDON_ERROR_MALFORMED, 13}, {34, 0, TENDON_ERROR_MALFORMED, 34}, /* no service */
        {34, 3, TENDON_ERROR_MALFORMED, 34}, {36, 2, TENDON_ERROR_MALFORMED, 34}, /* the value is outside */
        {40, 3, TENDON_ERROR_MALFORMED, 34}, {40, 5, TENDON_ERROR_MALFORMED, 34}, /* the CCCD is */
        {47, 0, TENDON_ERROR_MALFORMED, 43}, {47, 0x20, TENDON_ERROR_MALFORMED, 43},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[TENDON_GATT_CACHE_RECORD_MAX];
        size_t whole = encode(bytes), offset = 999;
        tendon_gatt_cache_record out;
        bytes[cases[i].at] = cases[i].value;
        uint32_t crc = tendon_crc32(0, bytes, whole - 4);
        tendon_writer writer = tendon_writer_make(bytes + whole - 4, 4);
        tendon_write_u32le(&writer, crc);
        tendon_status status = tendon_gatt_cache_decode(bytes, whole, &out, &offset);
        if (status != cases[i].status || offset != cases[i].offset) {
            fail_msg("case %zu: %d at %zu", i, status, offset);
        }
    }
}

static void only_an_identity_is_kept(void **state) {
    (void)state;
    static const struct {
        tendon_address address;
        bool identity;
    } cases[] = {
        {{{0x00, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_PUBLIC}, true},
        {{{0x40, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_PUBLIC_IDENTITY}, true},
        {{{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM}, true},
        {{{0xFF, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM_IDENTITY}, true},
        {{{0x40, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM}, false}, /* resolvable */
        {{{0x3F, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM}, false}, /* not resolvable */
        {{{0x80, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM}, false}, /* reserved */
        {{{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_ANONYMOUS}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        shelf s;
        tendon_gatt_cache_store store = store_on(&s);
        tendon_gatt_cache cache;
        tendon_gatt_cache_init(&cache, &cases[i].address, &store);
        assert_int_equal(cache.identity, cases[i].identity);
        assert_int_equal(s.loads, cases[i].identity);
    }
}

static tendon_gatt_cache filled(const tendon_gatt_cache_store *store) {
    tendon_gatt_cache cache;
    tendon_gatt_cache_init(&cache, &device, store);
    assert_false(tendon_gatt_cache_check(&cache, hash, 7, 2));
    tendon_gatt_cache_put(&cache, rows, 2);
    assert_int_equal(cache.state, TENDON_GATT_CACHE_VALID);
    assert_int_equal(cache.counters.misses, 1);
    return cache;
}

static void hash_and_profile_decide(void **state) {
    (void)state;
    static const struct {
        const uint8_t *hash;
        uint32_t profile;
        size_t count;
        bool valid;
        uint32_t mismatches;
    } cases[] = {{hash, 7, 2, true, 0}, {other_hash, 7, 2, false, 1}, {hash, 8, 2, false, 0}, {hash, 7, 3, false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        shelf s;
        tendon_gatt_cache_store store = store_on(&s);
        tendon_gatt_cache cache = filled(&store);
        assert_int_equal(s.saves, 1);
        assert_int_equal(tendon_gatt_cache_check(&cache, cases[i].hash, cases[i].profile, cases[i].count),
                         cases[i].valid);
        assert_int_equal(cache.counters.hits, cases[i].valid);
        assert_int_equal(cache.counters.mismatches, cases[i].mismatches);
        assert_int_equal(s.removes, !cases[i].valid);
        assert_int_equal(cache.state, cases[i].valid ? TENDON_GATT_CACHE_VALID : TENDON_GATT_CACHE_FILLING);
    }
}

static void a_drop_forgets_in_memory_and_in_the_store(void **state) {
    (void)state;
    shelf s;
    tendon_gatt_cache_store store = store_on(&s);
    tendon_gatt_cache cache = filled(&store), later;
    tendon_gatt_cache_init(&later, &device, &store); /* the next process */
    assert_int_equal(later.state, TENDON_GATT_CACHE_VALID);
    assert_true(tendon_gatt_cache_check(&later, hash, 7, 2));
    tendon_gatt_cache_drop(&cache);
    assert_int_equal(cache.state, TENDON_GATT_CACHE_STALE);
    assert_int_equal(s.removes, 1);
    assert_true(tendon_address_equal(&s.device, &device));
    assert_false(tendon_gatt_cache_check(&cache, hash, 7, 2));
    /* A drop during the discovery: its result is a mixture, which nobody keeps. */
    tendon_gatt_cache_drop(&cache);
    tendon_gatt_cache_put(&cache, rows, 2);
    assert_int_equal(cache.state, TENDON_GATT_CACHE_STALE);
    assert_int_equal(s.saves, 1);
    assert_int_equal(cache.counters.drops, 2);
    tendon_gatt_cache_begin(&cache);
    assert_int_equal(cache.state, TENDON_GATT_CACHE_EMPTY);
    tendon_gatt_cache_init(&later, &device, &store);
    assert_int_equal(later.state, TENDON_GATT_CACHE_EMPTY);
}

static void a_store_that_fails_costs_the_record_only(void **state) {
    (void)state;
    shelf s;
    tendon_gatt_cache_store store = store_on(&s);
    s.refuses = TENDON_ERROR_BUSY;
    tendon_gatt_cache cache = filled(&store);
    assert_int_equal(cache.store_status, TENDON_ERROR_BUSY);
    assert_true(tendon_gatt_cache_check(&cache, hash, 7, 2));
    tendon_gatt_cache_drop(&cache);
    assert_int_equal(cache.store_status, TENDON_ERROR_BUSY);
    assert_int_equal(cache.state, TENDON_GATT_CACHE_STALE);
    /* A record that is not one, and one of another device. */
    s = (shelf){.bytes = "nonsense", .length = 8};
    tendon_gatt_cache_init(&cache, &device, &store);
    assert_int_equal(cache.store_status, TENDON_ERROR_MALFORMED);
    assert_int_equal(cache.state, TENDON_GATT_CACHE_EMPTY);
    s = (shelf){.is_empty = true};
    tendon_gatt_cache_init(&cache, &device, &store);
    assert_int_equal(cache.store_status, TENDON_ERROR_TRUNCATED);
    assert_int_equal(cache.state, TENDON_GATT_CACHE_EMPTY);
    tendon_gatt_cache_without_hash(&cache);
    assert_int_equal(cache.counters.misses, 1);
    assert_true(cache.without_hash);
    tendon_gatt_cache_drop(&cache); /* the next table may have one */
    assert_false(cache.without_hash);
    tendon_gatt_cache_record foreign = record();
    foreign.device.bytes[5]++;
    s.length = (size_t)tendon_gatt_cache_encode(&foreign, s.bytes, sizeof s.bytes);
    tendon_gatt_cache_init(&cache, &device, &store);
    assert_int_equal(cache.state, TENDON_GATT_CACHE_EMPTY);
}

static void too_many_rows_are_not_kept(void **state) {
    (void)state;
    tendon_gatt_cache cache;
    const tendon_gatt_handles many[TENDON_GATT_CACHE_ROWS + 1] = {{0}};
    tendon_gatt_cache_init(&cache, &device, NULL);
    assert_false(tendon_gatt_cache_check(&cache, hash, 7, TENDON_GATT_CACHE_ROWS + 1));
    tendon_gatt_cache_put(&cache, many, TENDON_GATT_CACHE_ROWS + 1);
    assert_int_equal(cache.state, TENDON_GATT_CACHE_FILLING);
    tendon_gatt_cache_put(&cache, many, TENDON_GATT_CACHE_ROWS);
    assert_int_equal(cache.state, TENDON_GATT_CACHE_VALID);
}

/* ---- the client ---- */

static peer *peer_with(tendon_gatt_cache *cache) {
    peer *p = peer_open();
    tendon_gatt_client_config config = p->client.config;
    config.cache = cache;
    assert_int_equal(tendon_gatt_client_init(&p->client, &config), TENDON_OK);
    return p;
}

static void service_changed_and_out_of_sync_drop_it(void **state) {
    (void)state;
    tendon_gatt_cache cache = filled(NULL);
    peer *p = peer_with(&cache);
    tendon_gatt_client_set_service_changed(&p->client, 9);
    assert_int_equal(peer_send(p, "1D 09 00 02 00 01 00"), TENDON_ERROR_MALFORMED); /* no range: nothing changes */
    peer_expect(p, "1E");
    assert_int_equal(cache.state, TENDON_GATT_CACHE_VALID);
    assert_int_equal(peer_send(p, "1D 09 00 01 00 FF FF"), TENDON_OK);
    peer_expect(p, "1E");
    assert_int_equal(cache.state, TENDON_GATT_CACHE_STALE);
    peer_close(p);
    cache = filled(NULL);
    p = peer_with(&cache);
    tendon_status id = op_read(p);
    peer_exchange(p, "0A 03 00", "01 0A 03 00 0A"); /* another error */
    peer_done(p, id, ATT(0x0A));
    assert_int_equal(cache.state, TENDON_GATT_CACHE_VALID);
    id = op_read(p);
    peer_exchange(p, "0A 03 00", "01 0A 03 00 12");
    peer_done(p, id, ATT(0x12));
    assert_int_equal(cache.state, TENDON_GATT_CACHE_STALE);
    peer_close(p);
}

/* The CCCD of Service Changed is written when nobody else has anything to send. */
static void service_changed_is_enabled_when_nothing_waits(void **state) {
    (void)state;
    peer *p = peer_open();
    assert_int_equal(tendon_gatt_enable_service_changed(&p->client, 0, 4, p->now), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_gatt_enable_service_changed(&p->client, 3, 0, p->now), TENDON_ERROR_INVALID_ARGUMENT);
    tendon_status first = op_read(p);
    peer_expect(p, "0A 03 00");
    assert_true(tendon_gatt_enable_service_changed(&p->client, 9, 10, p->now) > 0);
    tendon_status second = op_write(p);
    assert_int_equal(peer_send(p, "0B 01"), TENDON_OK);
    peer_done_value(p, first, "01");
    peer_exchange(p, "12 07 00 01 02 03", "13");
    peer_done(p, second, TENDON_OK);
    assert_int_equal(peer_send(p, "1D 09 00 01 00 FF FF"), TENDON_OK); /* reported although the write is outstanding */
    peer_expect(p, "12 0A 00 02 00");
    peer_expect(p, "1E");
    assert_int_equal(p->changes, 1);
    assert_int_equal(peer_send(p, "01 12 0A 00 05"), TENDON_OK); /* a device that rejects it is as before */
    peer_alive(p);
    peer_close(p);
}

/* With Database Out Of Sync nothing further would come, not even values (2.5.2.1): the connection ends, once. */
static void service_changed_that_is_out_of_sync_closes(void **state) {
    (void)state;
    tendon_gatt_cache cache = filled(NULL);
    peer *p = peer_with(&cache);
    assert_true(tendon_gatt_enable_service_changed(&p->client, 9, 10, p->now) > 0);
    peer_expect(p, "12 0A 00 02 00");
    tendon_status id = op_read(p);
    assert_int_equal(peer_send(p, "01 12 0A 00 12"), TENDON_OK);
    assert_int_equal(cache.state, TENDON_GATT_CACHE_STALE);
    assert_true(p->bearer.closed);
    assert_int_equal(p->deaths, 1);
    peer_done(p, id, TENDON_ERROR_DISCONNECTED); /* queued behind it */
    peer_close(p);
}

/* Client Supported Features, octet 0, bit 0 (Vol 3 Part G 7.2): behind the other own write, in the same way. */
static void robust_caching_is_enabled_when_nothing_waits(void **state) {
    (void)state;
    peer *p = peer_open();
    assert_int_equal(tendon_gatt_enable_robust_caching(&p->client, 0, p->now), TENDON_ERROR_INVALID_ARGUMENT);
    assert_true(tendon_gatt_enable_service_changed(&p->client, 9, 10, p->now) > 0);
    assert_true(tendon_gatt_enable_robust_caching(&p->client, 12, p->now) > 0);
    peer_expect(p, "12 0A 00 02 00");
    tendon_status id = op_read(p);
    peer_exchange(p, NULL, "13");
    peer_exchange(p, "0A 03 00", "0B 01");
    peer_done_value(p, id, "01");
    peer_exchange(p, "12 0C 00 01", "01 12 0C 00 03"); /* a device that rejects it is as before */
    peer_alive(p);
    tendon_status pending[PEER_REQUESTS];
    for (size_t i = 0; i < PEER_REQUESTS; i++) {
        pending[i] = op_read(p);
    }
    assert_int_equal(tendon_gatt_enable_robust_caching(&p->client, 12, p->now), TENDON_GATT_ERROR_QUEUE_FULL);
    tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_DISCONNECTED, p->now);
    assert_int_equal(p->completions, PEER_REQUESTS);
    assert_true(pending[0] > 0);
    assert_int_equal(tendon_gatt_enable_robust_caching(&p->client, 12, p->now), TENDON_ERROR_DISCONNECTED);
    peer_expect(p, "0A 03 00");
    free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(a_record_is_these_bytes),
        RUN(a_truncated_record_is_refused_at_its_end),
        RUN(any_changed_byte_is_noticed),
        RUN(a_row_may_be_absent),
        RUN(what_cannot_be_is_refused_with_its_offset),
        RUN(only_an_identity_is_kept),
        RUN(hash_and_profile_decide),
        RUN(a_drop_forgets_in_memory_and_in_the_store),
        RUN(a_store_that_fails_costs_the_record_only),
        RUN(too_many_rows_are_not_kept),
        RUN(service_changed_and_out_of_sync_drop_it),
        RUN(robust_caching_is_enabled_when_nothing_waits),
        RUN(service_changed_is_enabled_when_nothing_waits),
        RUN(service_changed_that_is_out_of_sync_closes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
