/* SPDX-License-Identifier: MIT */
/* The journal on a disk where any one call fails: the record stays, nothing is left beside it, the next call works. */
#include "../open_files.h"
#include "bonds_fixture.h"
#include "failing_disk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const tendon_address device = {{0xC0, 0x01, 0x02, 0x03, 0x04, 0xFF}, TENDON_ADDRESS_TYPE_RANDOM};
static const uint8_t first[] = "first", second[] = "the second";
static tendon_journal journal;
static uint8_t out[TENDON_JOURNAL_RECORD_MAX];

static void given(const char *home) {
    char path[160];
    disk = (struct disk){.piece = 0};
    snprintf(path, sizeof path, "%s/journal", home);
    assert_int_equal(tendon_journal_open(&journal, path), TENDON_OK);
    assert_int_equal(tendon_journal_store(&journal, "obvious", &device, first, sizeof first), TENDON_OK);
}

static tendon_status load(void) {
    return tendon_journal_load(&journal, "obvious", &device, out, sizeof out);
}

enum { STORE, LOAD, REMOVE };

static void any_call_that_fails_keeps_the_record(void **state) {
    static const struct {
        refused *call;
        int number, after, action;
    } cases[] = {
        {&disk.open, ENFILE, 0, STORE},  {&disk.open, ENOSPC, 1, STORE},   {&disk.flock, ENOLCK, 0, STORE},
        {&disk.fchmod, EROFS, 0, STORE}, {&disk.write, ENOSPC, 0, STORE},  {&disk.write, EIO, 1, STORE},
        {&disk.fsync, EIO, 0, STORE},    {&disk.close, EDQUOT, 0, STORE},  {&disk.rename, EXDEV, 0, STORE},
        {&disk.open, EMFILE, 0, LOAD},   {&disk.fstat, ENOMEM, 0, LOAD},   {&disk.read, EIO, 0, LOAD},
        {&disk.open, ENFILE, 0, REMOVE}, {&disk.flock, ENOLCK, 0, REMOVE}, {&disk.unlink, EROFS, 0, REMOVE},
    };
    given(*state);
    int files = directory_entries(journal.directory), descriptors = open_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        *cases[i].call = (refused){cases[i].number, cases[i].after};
        disk.piece = cases[i].call == &disk.write ? 5 : 0;
        tendon_status status = cases[i].action == STORE
                                   ? tendon_journal_store(&journal, "obvious", &device, second, sizeof second)
                               : cases[i].action == LOAD ? load()
                                                         : tendon_journal_remove(&journal, "obvious", &device);
        if (status != TENDON_SYSTEM_ERROR(cases[i].number) || cases[i].call->number != 0) {
            fail_msg("case %zu: %d", i, status);
        }
        assert_int_equal(directory_entries(journal.directory), files);
        assert_int_equal(open_descriptors(), descriptors);
        assert_int_equal(load(), sizeof first);
        assert_memory_equal(out, first, sizeof first);
    }
    disk.piece = 3;
    disk.write = (refused){EINTR, 1}; /* a signal ends nothing */
    disk.read = (refused){EINTR, 0};
    assert_int_equal(tendon_journal_store(&journal, "obvious", &device, second, sizeof second), TENDON_OK);
    assert_int_equal(load(), sizeof second);
    assert_memory_equal(out, second, sizeof second);
    assert_int_equal(disk.write.number + disk.read.number, 0);
    disk.open = (refused){EACCES, 0};
    assert_int_equal(load(), TENDON_ERROR_FILE_PERMISSION);
}

/* The new name, and the name that is gone, are on the disk when the call returns. */
static void the_directory_is_synchronized(void **state) {
    given(*state);
    assert_string_equal(disk.directory, journal.directory);
    assert_int_equal(disk.synced, 1);
    assert_int_equal(tendon_journal_remove(&journal, "obvious", &device), TENDON_OK);
    assert_int_equal(disk.synced, 2);
    assert_int_equal(tendon_journal_remove(&journal, "obvious", &device), TENDON_OK); /* there is nothing to do */
    assert_int_equal(disk.synced, 2);
}

#define DISK_TEST(name) cmocka_unit_test_setup_teardown(name, bonds_setup, bonds_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        DISK_TEST(any_call_that_fails_keeps_the_record),
        DISK_TEST(the_directory_is_synchronized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
