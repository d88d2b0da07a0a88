/* SPDX-License-Identifier: MIT */
/* Simulated flash memory and its store of records; a power cut at every byte. */
#include "test_bytes.h"

#include "tendon/simulate.h"

enum { PAGE = 64, PAGES = 6 };

static uint8_t memory[PAGE * PAGES], copy[PAGE * PAGES];
static uint32_t wear[PAGES];
static tendon_simulated_flash flash;

static void on_changed(void *context, uint32_t at, const uint8_t *bytes, uint32_t length) {
    memcpy((uint8_t *)context + at, bytes, length);
}

static void blank(void) {
    assert_int_equal(tendon_simulated_flash_init(&flash, memory, sizeof memory, PAGE), TENDON_OK);
    flash.wear = wear;
    memset(wear, 0, sizeof wear);
    memset(copy, 0, sizeof copy);
    flash.changed = on_changed;
    flash.context = copy;
    tendon_simulated_flash_blank(&flash);
}

static void bits_are_only_cleared_until_a_page_is_erased(void **state) {
    (void)state;
    blank();
    assert_int_equal(memory[0], 0xFF);
    assert_int_equal(tendon_simulated_flash_program(&flash, 10, (const uint8_t *)"\x0F\x55", 2), TENDON_OK);
    assert_int_equal(tendon_simulated_flash_program(&flash, 10, (const uint8_t *)"\x0F", 1), TENDON_OK);
    assert_int_equal(tendon_simulated_flash_program(&flash, 10, (const uint8_t *)"\xF1", 1), TENDON_ERROR_MALFORMED);
    assert_int_equal(memory[10], 0x01);
    assert_int_equal(memory[11], 0x55);
    assert_int_equal(tendon_simulated_flash_erase(&flash, 0), TENDON_OK);
    assert_int_equal(memory[10], 0xFF);
    assert_int_equal(wear[0], 1);
    assert_int_equal(wear[1], 0);
    assert_int_equal(flash.erased, 1);
    assert_int_equal(flash.programmed, 4);
    assert_memory_equal(memory, copy, sizeof memory);
}

static void arguments_are_checked(void **state) {
    (void)state;
    tendon_simulated_flash other;
    assert_int_equal(tendon_simulated_flash_init(&other, memory, 96, 96), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_simulated_flash_init(&other, memory, 32, 32), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_simulated_flash_init(&other, memory, 131072, 131072), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_simulated_flash_init(&other, memory, 100, 64), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_simulated_flash_init(&other, memory, 64, 0), TENDON_ERROR_INVALID_ARGUMENT);
    blank();
    assert_int_equal(tendon_simulated_flash_erase(&flash, PAGES), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_simulated_flash_program(&flash, sizeof memory, memory, 1), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_simulated_flash_program(&flash, 1, memory, sizeof memory), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_simulated_flash_program(&flash, UINT32_MAX, memory, 2), TENDON_ERROR_INVALID_ARGUMENT);
    flash.fail_next = 2;
    assert_int_equal(tendon_simulated_flash_program(&flash, 0, (const uint8_t *)"x", 1), TENDON_ERROR_MALFORMED);
    assert_int_equal(tendon_simulated_flash_erase(&flash, 0), TENDON_ERROR_MALFORMED);
    assert_int_equal(memory[0], 0xFF);
    assert_int_equal(flash.erased, 0);
    assert_int_equal(tendon_simulated_flash_program(&flash, 0, (const uint8_t *)"x", 1), TENDON_OK);
}

static void a_power_cut_leaves_a_part(void **state) {
    (void)state;
    static const uint8_t zeros[8];
    for (uint32_t at = 0; at < 8; at++) {
        blank();
        flash.cut_after = at;
        assert_int_equal(tendon_simulated_flash_program(&flash, 8, zeros, 8), TENDON_ERROR_WRONG_STATE);
        for (uint32_t i = 0; i < 8; i++) {
            assert_true(i < at ? memory[8 + i] == 0 : i == at || memory[8 + i] == 0xFF);
        }
        assert_true(flash.off);
        assert_int_equal(tendon_simulated_flash_program(&flash, 0, zeros, 1), TENDON_ERROR_WRONG_STATE);
        assert_int_equal(tendon_simulated_flash_erase(&flash, 0), TENDON_ERROR_WRONG_STATE);
        assert_int_equal(memory[0], 0xFF);
        assert_memory_equal(memory, copy, sizeof memory);
    }
    blank();
    flash.cut_after = 8;
    assert_int_equal(tendon_simulated_flash_program(&flash, 8, zeros, 8), TENDON_OK);
    assert_false(flash.off); /* not before the next byte */
    assert_int_equal(tendon_simulated_flash_program(&flash, 16, zeros, 1), TENDON_ERROR_WRONG_STATE);
    flash.off = false;
    assert_int_equal(tendon_simulated_flash_program(&flash, 24, zeros, 8), TENDON_OK); /* one cut */
    memset(memory, 0, PAGE);
    flash.cut_after = 32;
    assert_int_equal(tendon_simulated_flash_erase(&flash, 0), TENDON_ERROR_WRONG_STATE);
    unsigned erased = 0;
    for (uint32_t i = 0; i < PAGE; i++) {
        erased += memory[i] == 0xFF;
        assert_true(i >= 32 || memory[i] == 0xFF);
    }
    assert_true(erased < PAGE);
}

/* ---- records ---- */

static void expect(const tendon_simulated_store *store, const char *text) {
    size_t length;
    const uint8_t *content = tendon_simulated_store_read(store, &length);
    if (text == NULL) {
        assert_null(content);
        return;
    }
    assert_int_equal(length, strlen(text));
    assert_memory_equal(content, text, length);
}

static tendon_status put(tendon_simulated_store *store, const char *text) {
    return tendon_simulated_store_write(store, (const uint8_t *)text, (uint32_t)strlen(text));
}

static void the_last_version_is_read(void **state) {
    (void)state;
    tendon_simulated_store store;
    char text[40];
    blank();
    tendon_simulated_store_mount(&store, &flash, 1, 2);
    expect(&store, NULL);
    for (unsigned i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "version %u%s", i, i % 3 == 0 ? " with a longer text" : "");
        assert_int_equal(put(&store, text), TENDON_OK);
        expect(&store, text);
        tendon_simulated_store_mount(&store, &flash, 1, 2);
        expect(&store, text);
    }
    assert_int_equal(wear[0], 0); /* only its own pages, all alike */
    assert_int_equal(wear[5], 0);
    assert_true(wear[1] > 5 && wear[1] - wear[3] <= 1);
    char big[2 * PAGE - 12 + 2];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    assert_int_equal(put(&store, big), TENDON_ERROR_OVERFLOW);
    expect(&store, text);
    /* its padding goes beyond 32 bits */
    assert_int_equal(tendon_simulated_store_write(&store, (const uint8_t *)big, UINT32_MAX), TENDON_ERROR_OVERFLOW);
    expect(&store, text);
    big[sizeof big - 2] = 0;
    assert_int_equal(put(&store, big), TENDON_OK);
    expect(&store, big);
    assert_int_equal(put(&store, ""), TENDON_OK);
    expect(&store, "");
}

/* Header and content are 12 + 52 bytes: two versions in a bank of two pages, without an erasure between them. */
static void a_version_may_end_with_its_bank(void **state) {
    (void)state;
    tendon_simulated_store store;
    char text[PAGE - 12 + 1];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    blank();
    tendon_simulated_store_mount(&store, &flash, 1, 2);
    assert_int_equal(put(&store, text), TENDON_OK);
    uint64_t erased = flash.erased;
    text[0] = '2';
    assert_int_equal(put(&store, text), TENDON_OK);
    assert_int_equal(flash.erased, erased);
    expect(&store, text);
    tendon_simulated_store_mount(&store, &flash, 1, 2);
    expect(&store, text);
    text[0] = '3';
    assert_int_equal(put(&store, text), TENDON_OK);
    assert_int_equal(flash.erased, erased + 2);
    expect(&store, text);
}

/* The last 12 bytes of a bank are a header without content: an empty version, which is read as any other. */
static void an_empty_version_may_end_a_bank(void **state) {
    (void)state;
    tendon_simulated_store store;
    char text[2 * PAGE - 2 * 12 + 1];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    blank();
    tendon_simulated_store_mount(&store, &flash, 1, 2);
    assert_int_equal(put(&store, text), TENDON_OK);
    uint64_t erased = flash.erased;
    assert_int_equal(put(&store, ""), TENDON_OK);
    assert_int_equal(flash.erased, erased);
    tendon_simulated_store_mount(&store, &flash, 1, 2);
    expect(&store, "");
}

/* A sequence of versions with one cut at each byte that it changes: the store has the version before the cut or the one
 * that was written, also when it is mounted again, and the versions after it are written. */
static void a_cut_leaves_the_old_or_the_new_version(void **state) {
    (void)state;
    tendon_simulated_store store;
    bool was_cut = true;
    unsigned olds = 0, news = 0;
    for (uint64_t at = 0; was_cut; at++) {
        char before[40] = "", text[40];
        blank();
        tendon_simulated_store_mount(&store, &flash, 1, 1);
        flash.cut_after = at;
        flash.random = (uint32_t)at + 1;
        was_cut = false;
        for (unsigned i = 0; i < 12; i++) {
            snprintf(text, sizeof text, "%u: %.*s", i, (int)(i * 2), "abcdefghijklmnopqrstuvwxyz");
            tendon_status status = put(&store, text);
            if (status == TENDON_OK) {
                strcpy(before, text);
                continue;
            }
            assert_true(flash.off && !was_cut);
            was_cut = true;
            flash.off = false;
            tendon_simulated_store_mount(&store, &flash, 1, 1);
            size_t length;
            const uint8_t *content = tendon_simulated_store_read(&store, &length);
            bool is_new = content != NULL && length == strlen(text) && memcmp(content, text, length) == 0;
            if (!is_new) {
                expect(&store, before[0] != 0 ? before : NULL);
            }
            olds += !is_new;
            news += is_new;
            strcpy(before, "after the cut");
            assert_int_equal(put(&store, before), TENDON_OK);
            expect(&store, before);
            strcpy(text, before);
        }
        expect(&store, text);
    }
    assert_true(olds > 500);
    assert_true(news < 20); /* only in the last byte */
}

static void a_failed_write_keeps_the_version(void **state) {
    (void)state;
    tendon_simulated_store store;
    blank();
    tendon_simulated_store_mount(&store, &flash, 1, 1);
    assert_int_equal(put(&store, "one"), TENDON_OK);
    for (unsigned i = 0; i < 3; i++) {
        flash.fail_next = 1;
        flash.fail_after = i; /* of erasure, content, header */
        char text[2] = {(char)('a' + i), 0};
        assert_int_equal(put(&store, text), TENDON_ERROR_MALFORMED);
        expect(&store, "one");
    }
    assert_int_equal(put(&store, "two"), TENDON_OK);
    expect(&store, "two");
    tendon_simulated_store_mount(&store, &flash, 1, 1);
    expect(&store, "two");
}

/* Memory that nothing was written to, whatever it contains. */
static void garbage_is_no_record(void **state) {
    (void)state;
    tendon_simulated_store store;
    blank();
    for (unsigned value = 0; value < 256; value++) {
        memset(memory, (int)value, sizeof memory);
        tendon_simulated_store_mount(&store, &flash, 0, 3);
        expect(&store, NULL);
        assert_int_equal(put(&store, "first"), TENDON_OK);
        expect(&store, "first");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_only_cleared_until_a_page_is_erased),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(a_power_cut_leaves_a_part),
        cmocka_unit_test(the_last_version_is_read),
        cmocka_unit_test(a_version_may_end_with_its_bank),
        cmocka_unit_test(an_empty_version_may_end_a_bank),
        cmocka_unit_test(a_cut_leaves_the_old_or_the_new_version),
        cmocka_unit_test(a_failed_write_keeps_the_version),
        cmocka_unit_test(garbage_is_no_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
