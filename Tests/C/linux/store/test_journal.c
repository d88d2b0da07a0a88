/* SPDX-License-Identifier: MIT */
/* The journal: one record for each device, in files of their owner, whole at any moment. */
#include "../../../../CSources/linux/store/directory.h"
#include "bonds_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const tendon_address device = {{0xC0, 0x01, 0x02, 0x03, 0x04, 0xFF}, TENDON_ADDRESS_TYPE_RANDOM};
static const uint8_t first[] = "first", other[] = "another";
static tendon_journal journal;
static uint8_t out[TENDON_JOURNAL_RECORD_MAX];

static void given(const char *home) {
    char path[160];
    snprintf(path, sizeof path, "%s/state/journal", home);
    assert_int_equal(tendon_journal_open(&journal, path), TENDON_OK);
}

static tendon_status store(const tendon_address *whose, const uint8_t *bytes, size_t length) {
    return tendon_journal_store(&journal, "obvious", whose, bytes, length);
}

static tendon_status load(const tendon_address *whose) {
    memset(out, 0xEE, sizeof out);
    return tendon_journal_load(&journal, "obvious", whose, out, sizeof out);
}

static void each_device_has_its_record(void **state) {
    given(*state);
    tendon_address public = device, next = device, identity = device;
    public.type = TENDON_ADDRESS_TYPE_PUBLIC;
    next.bytes[5] = 0xFE;
    identity.type = TENDON_ADDRESS_TYPE_RANDOM_IDENTITY;
    assert_int_equal(load(&device), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(tendon_journal_remove(&journal, "obvious", &device), TENDON_OK);
    assert_int_equal(store(&device, first, sizeof first), TENDON_OK);
    assert_int_equal(store(&public, other, sizeof other), TENDON_OK);
    assert_int_equal(load(&device), sizeof first);
    assert_memory_equal(out, first, sizeof first);
    assert_int_equal(out[sizeof first], 0xEE);
    assert_int_equal(load(&identity), sizeof first);
    assert_int_equal(load(&public), sizeof other);
    assert_int_equal(load(&next), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(tendon_journal_load(&journal, "bose", &device, out, sizeof out), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(store(&device, other, sizeof other), TENDON_OK); /* longer, then shorter */
    assert_int_equal(store(&device, first, sizeof first), TENDON_OK);
    assert_int_equal(load(&device), sizeof first);
    assert_int_equal(tendon_journal_remove(&journal, "obvious", &device), TENDON_OK);
    assert_int_equal(load(&device), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(load(&public), sizeof other);
}

/* A service may run without standard input: then the lock has descriptor 0. */
static void descriptor_zero_is_one_as_others(void **state) {
    given(*state);
    int kept = dup(STDIN_FILENO);
    assert_true(kept > 0);
    close(STDIN_FILENO);
    tendon_status stored = store(&device, first, sizeof first), loaded = load(&device);
    tendon_status removed = tendon_journal_remove(&journal, "obvious", &device), after = load(&device);
    bool is_open = fcntl(STDIN_FILENO, F_GETFD) >= 0;
    dup2(kept, STDIN_FILENO);
    close(kept);
    assert_int_equal(stored, TENDON_OK);
    assert_int_equal(loaded, sizeof first);
    assert_int_equal(removed, TENDON_OK);
    assert_int_equal(after, TENDON_ERROR_NOT_FOUND);
    assert_false(is_open);
}

static void arguments_and_lengths(void **state) {
    static const char *const names[] = {"", "Obvious", "../x", "a/b", "a.b", "abcdefghijklmnopq"};
    static uint8_t bytes[TENDON_JOURNAL_RECORD_MAX + 1];
    char path[TENDON_JOURNAL_PATH_SIZE + 1];
    given(*state);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(tendon_journal_store(&journal, names[i], &device, first, 1), TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(tendon_journal_load(&journal, names[i], &device, out, 9), TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(tendon_journal_remove(&journal, names[i], &device), TENDON_ERROR_INVALID_ARGUMENT);
    }
    assert_int_equal(tendon_journal_store(&journal, "x", &device, first, 1), TENDON_OK); /* the shortest name */
    assert_int_equal(tendon_journal_store(&journal, "y", &device, first, 1), TENDON_OK);
    static const char *const others[] = {"x-notes.txt", "x-c001020304ff", "x-c001020304ff-2", "x-c001020304ff-1.old",
                                         "x-c0010203o4ff-1"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", journal.directory, others[i]);
        assert_return_code(close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), errno);
    }
    assert_int_equal(tendon_journal_clear(&journal, "x"), 1); /* not those of another family, however long its name */
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", journal.directory, others[i]);
        assert_return_code(unlink(path), errno); /* nor other files */
    }
    assert_int_equal(tendon_journal_load(&journal, "y", &device, out, 9), 1);
    assert_int_equal(tendon_journal_remove(&journal, "y", &device), TENDON_OK);
    const tendon_address anonymous = {{0}, TENDON_ADDRESS_TYPE_ANONYMOUS};
    assert_int_equal(store(&anonymous, first, 1), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(store(&device, first, 0), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(store(&device, bytes, sizeof bytes), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(store(&device, bytes, sizeof bytes - 1), TENDON_OK);
    assert_int_equal(load(&device), sizeof bytes - 1);
    assert_int_equal(tendon_journal_load(&journal, "obvious", &device, out, sizeof bytes - 2),
                     TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(tendon_journal_open(&journal, ""), TENDON_ERROR_INVALID_ARGUMENT);
    memset(path, 'x', sizeof path);
    path[TENDON_JOURNAL_PATH_SIZE] = '\0';
    assert_int_equal(tendon_journal_open(&journal, path), TENDON_ERROR_OVERFLOW);
    assert_int_equal(tendon_journal_open(&journal, path + 1), TENDON_OK);
    assert_int_equal(tendon_journal_load(&journal, "obvious", &device, out, 9), TENDON_ERROR_NOT_FOUND);
}

static void the_usual_directory(void **state) {
    char expected[TENDON_JOURNAL_PATH_SIZE];
    setenv("XDG_STATE_HOME", *state, 1);
    assert_int_equal(tendon_journal_open(&journal, NULL), TENDON_OK);
    snprintf(expected, sizeof expected, "%s/tendon/journal", (char *)*state);
    assert_string_equal(journal.directory, expected);
    unsetenv("XDG_STATE_HOME");
}

/* What others may access is refused, as is what is no file of ours; the directory and the file are the owner's. */
static void only_for_its_owner(void **state) {
    static const mode_t modes[] = {0640, 0604, 0620, 0601};
    char path[TENDON_JOURNAL_PATH_SIZE + 64], target[TENDON_JOURNAL_PATH_SIZE + 64];
    struct stat found;
    given(*state);
    (void)umask(0);
    assert_int_equal(store(&device, first, sizeof first), TENDON_OK);
    (void)umask(022);
    snprintf(path, sizeof path, "%s/obvious-c001020304ff-1", journal.directory);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 07777, 0600);
    assert_int_equal(stat(journal.directory, &found), 0);
    assert_int_equal(found.st_mode & 07777, 0700);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(load(&device), TENDON_ERROR_FILE_PERMISSION);
    }
    assert_int_equal(store(&device, other, sizeof other), TENDON_OK); /* a new file */
    assert_int_equal(load(&device), sizeof other);
    snprintf(target, sizeof target, "%s/target", journal.directory);
    assert_int_equal(rename(path, target), 0);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(load(&device), TENDON_SYSTEM_ERROR(ELOOP));
    assert_int_equal(store(&device, first, sizeof first), TENDON_OK); /* replaces the link, not its target */
    assert_int_equal(load(&device), sizeof first);
    assert_int_equal(stat(target, &found), 0);
    assert_int_equal(found.st_size, sizeof other);
}

static void a_lock_that_another_program_holds(void **state) {
    char path[TENDON_JOURNAL_PATH_SIZE + 8];
    given(*state);
    assert_int_equal(store(&device, first, sizeof first), TENDON_OK);
    snprintf(path, sizeof path, "%s/lock", journal.directory);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(store(&device, other, sizeof other), TENDON_ERROR_BUSY);
    assert_int_equal(tendon_journal_remove(&journal, "obvious", &device), TENDON_ERROR_BUSY);
    assert_int_equal(load(&device), sizeof first); /* reading takes no lock */
    close(fd);
    assert_int_equal(store(&device, other, sizeof other), TENDON_OK);
}

/* ---- claims ---- */

static tendon_status claim(const char *family, const tendon_address *of) {
    return tendon_journal_claim(&journal, family, of);
}

static void a_claim_is_of_one_device_and_one_family(void **state) {
    const tendon_address next = {{0, 0, 0, 0, 0, 1}, TENDON_ADDRESS_TYPE_PUBLIC};
    tendon_address same = {{0}, TENDON_ADDRESS_TYPE_PUBLIC}, random = same;
    random.type = TENDON_ADDRESS_TYPE_RANDOM;
    given(*state);
    tendon_status first_claim = claim("payment", &same);
    assert_true(first_claim >= 0);
    assert_int_equal(claim("payment", &same), TENDON_ERROR_BUSY); /* also within one process */
    tendon_status others[] = {claim("payment", &next), claim("payment", &random), claim("obvious", &same)};
    for (size_t i = 0; i < 3; i++) {
        assert_true(others[i] >= 0);
        close(others[i]);
    }
    assert_int_equal(claim("payment", &same), TENDON_ERROR_BUSY); /* what another one closed */
    close(first_claim);
    first_claim = claim("payment", &same);
    assert_true(first_claim >= 0);
    close(first_claim);
    assert_int_equal(claim("Payment", &same), TENDON_ERROR_INVALID_ARGUMENT);
}

/** A program that forks while it has a claim: the child has the descriptor until it executes another program. */
static void a_claim_that_a_child_has_too_is_given_back(void **state) {
    given(*state);
    tendon_status taken = claim("payment", &device);
    assert_true(taken >= 0);
    int child = dup(taken); /* the same open file, as after fork() */
    tendon_journal_release(taken);
    taken = claim("payment", &device);
    assert_true(taken >= 0);
    tendon_journal_release(taken);
    close(child);
}

static void a_claim_ends_with_its_process(void **state) {
    given(*state);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
        char byte = claim("payment", &device) >= 0;
        (void)!write(ready[1], &byte, 1);
        (void)pause();
        _exit(1);
    }
    char byte = 0;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    assert_int_equal(claim("payment", &device), TENDON_ERROR_BUSY);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    tendon_status taken = claim("payment", &device);
    assert_true(taken >= 0);
    close(taken);
    close(ready[0]);
    close(ready[1]);
}

/* ---- SIGKILL ---- */

/* A record that tells whether it is whole: each byte follows from its number. */
static size_t fill(uint32_t number, uint8_t bytes[TENDON_JOURNAL_RECORD_MAX]) {
    size_t length = 40 + number * 7 % 200;
    for (size_t i = 0; i < length; i++) {
        bytes[i] = (uint8_t)(i < 4 ? number >> 8 * i : number * 31 + i);
    }
    return length;
}

static void write_for_ever(int report, uint32_t number) {
    uint8_t bytes[TENDON_JOURNAL_RECORD_MAX];
    for (;; number++) {
        size_t length = fill(number, bytes);
        if (store(&device, bytes, length) != TENDON_OK || write(report, &number, sizeof number) != sizeof number) {
            _exit(1);
        }
    }
}

/* A writer is killed at a random moment: the record is the last one it was told of, or the next one. */
static void killed_at_any_moment(void **state) {
    const unsigned kills = getenv("TENDON_SOAK") != NULL ? 2000 : 100;
    uint64_t dice = 0x9E3779B97F4A7C15u;
    uint32_t last = 0;
    unsigned ahead = 0, begun = 0;
    given(*state);
    for (unsigned i = 0; i < kills; i++) {
        int report[2];
        assert_int_equal(pipe2(report, O_CLOEXEC), 0);
        pid_t writer = fork();
        assert_true(writer >= 0);
        if (writer == 0) {
            close(report[0]);
            write_for_ever(report[1], last + 1);
        }
        close(report[1]);
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        const struct timespec moment = {.tv_nsec = (long)(dice >> 33) % 10000000};
        (void)nanosleep(&moment, NULL);
        assert_int_equal(kill(writer, SIGKILL), 0);
        int status = 0;
        assert_int_equal(waitpid(writer, &status, 0), writer);
        assert_true(WIFSIGNALED(status)); /* no call of its failed */
        uint32_t number = 0;
        while (read(report[0], &number, sizeof number) == sizeof number) {
            last = number;
        }
        close(report[0]);
        tendon_status length = load(&device);
        if (length == TENDON_ERROR_NOT_FOUND) {
            assert_int_equal(last, 0);
            continue;
        }
        assert_true(length > 4);
        uint8_t expected[TENDON_JOURNAL_RECORD_MAX];
        number = (uint32_t)out[0] | (uint32_t)out[1] << 8 | (uint32_t)out[2] << 16 | (uint32_t)out[3] << 24;
        assert_true(number == last || number == last + 1);
        assert_int_equal(length, fill(number, expected));
        assert_memory_equal(out, expected, (size_t)length);
        ahead += number == last + 1;
        begun += last > 0;
        last = number;
    }
    assert_true(begun > 0);
    print_message("# %u kills, %u records, %u times the record was ahead of the report\n", kills, (unsigned)last,
                  ahead);
}

#define JOURNAL_TEST(name) cmocka_unit_test_setup_teardown(name, bonds_setup, bonds_teardown)

typedef struct visits {
    unsigned count, limit, files;
} visits;

static bool visit(void *context, const char *name) {
    visits *v = context;
    v->count++;
    v->files += strncmp(name, "file", 4) == 0;
    return v->count < v->limit;
}

static void walk_through(char *directory) {
    char path[64];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/file%d", directory, i);
        int made = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        assert_true(made >= 0);
        close(made);
    }
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (int walk = 0; walk < 3; walk++) {
        visits all = {.limit = 100}, few = {.limit = 100}, one = {.limit = 1};
        tendon_directory_each(fd, 100, visit, &all);
        assert_int_equal(all.count, 5);
        assert_int_equal(all.files, 3);
        tendon_directory_each(fd, 2, visit, &few);
        assert_int_equal(few.count, 2);
        tendon_directory_each(fd, 100, visit, &one);
        assert_int_equal(one.count, 1);
    }
    close(fd);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/file%d", directory, i);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(directory), 0);
}

/* All entries, "." and ".." among them, each time from the first one on. In file systems of two kinds: the positions
 * are hashes on a disk, and numbers in memory. */
static void each_walk_through_a_directory_is_whole(void **state) {
    (void)state;
    char on_disk[] = "/tmp/tendon-test-XXXXXX", in_memory[] = "/dev/shm/tendon-test-XXXXXX";
    assert_non_null(mkdtemp(on_disk));
    walk_through(on_disk);
    if (mkdtemp(in_memory) != NULL) {
        walk_through(in_memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JOURNAL_TEST(each_device_has_its_record),
        JOURNAL_TEST(descriptor_zero_is_one_as_others),
        JOURNAL_TEST(arguments_and_lengths),
        JOURNAL_TEST(the_usual_directory),
        JOURNAL_TEST(only_for_its_owner),
        JOURNAL_TEST(a_lock_that_another_program_holds),
        JOURNAL_TEST(a_claim_is_of_one_device_and_one_family),
        JOURNAL_TEST(a_claim_that_a_child_has_too_is_given_back),
        JOURNAL_TEST(a_claim_ends_with_its_process),
        JOURNAL_TEST(killed_at_any_moment),
        cmocka_unit_test(each_walk_through_a_directory_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
