/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What a test has planned for calls of one function. */
struct plan {
    const char *name; /* NULL: nothing */
    int first;
    bool all;
    bool once; /* the plan ends with the call that fails */
    int error;
    int calls;
};

enum { PLANS = 4 };
static _Thread_local struct plan plans[PLANS];

static struct plan *plan_of(const char *name) {
    for (struct plan *plan = plans; plan < plans + PLANS; plan++) {
        if (plan->name != NULL && strcmp(plan->name, name) == 0) {
            return plan;
        }
    }
    return NULL;
}

/* The error of this call; 0: the library's function is called. */
static int planned(const char *name) {
    struct plan *plan = plan_of(name);
    if (plan == NULL) {
        return 0;
    }
    int call = plan->calls++;
    if (call < plan->first || (call > plan->first && !plan->all)) {
        return 0;
    }
    if (plan->once) {
        plan->name = NULL;
    }
    return plan->error;
}

static bool fails(const char *name) {
    int error = planned(name);
    if (error != 0) {
        errno = error;
    }
    return error != 0;
}

/* The function of this name in the libraries behind the test program. */
static void *behind(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) {
        abort();
    }
    return function;
}

/* As CALL, for a function that returns the error. */
#define CALL_STATUS(name, parameters, arguments)                                                                       \
    int name parameters;                                                                                               \
    int name parameters {                                                                                              \
        static int(*real) parameters;                                                                                  \
        int error = planned(#name);                                                                                    \
        if (error != 0) {                                                                                              \
            return error;                                                                                              \
        }                                                                                                              \
        if (real == NULL) {                                                                                            \
            *(void **)&real = behind(#name);                                                                           \
        }                                                                                                              \
        return real arguments;                                                                                         \
    }

/* The function, with its types as its library has them; in a failed call it returns `failed`. */
#define CALL(result, name, parameters, arguments, failed)                                                              \
    result name parameters;                                                                                            \
    result name parameters {                                                                                           \
        static result(*real) parameters;                                                                               \
        if (fails(#name)) {                                                                                            \
            return failed;                                                                                             \
        }                                                                                                              \
        if (real == NULL) {                                                                                            \
            *(void **)&real = behind(#name);                                                                           \
        }                                                                                                              \
        return real arguments;                                                                                         \
    }

/* The same for a function without a result: a failed call does nothing. */
#define CALL_VOID(name, parameters, arguments)                                                                         \
    void name parameters;                                                                                              \
    void name parameters {                                                                                             \
        static void(*real) parameters;                                                                                 \
        if (fails(#name)) {                                                                                            \
            return;                                                                                                    \
        }                                                                                                              \
        if (real == NULL) {                                                                                            \
            *(void **)&real = behind(#name);                                                                           \
        }                                                                                                              \
        real arguments;                                                                                                \
    }

/* Clocks */

static _Thread_local time_t suspended;

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL) {
        *(void **)&real = behind("clock_gettime");
    }
    int result = real(clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME)) {
        time->tv_sec += suspended;
    }
    return result;
}

void tendon_calls_suspend(unsigned seconds) {
    suspended += seconds;
}

/* Threads */

CALL_STATUS(pthread_create,
            (pthread_t * thread, const pthread_attr_t *attributes, void *(*body)(void *), void *context),
            (thread, attributes, body, context))

CALL_STATUS(pthread_detach, (pthread_t thread), (thread))
CALL_STATUS(pthread_mutex_destroy, (pthread_mutex_t * mutex), (mutex))
CALL_STATUS(pthread_cond_destroy, (pthread_cond_t * condition), (condition))

/* Files */

int open(const char *path, int flags, ...) {
    static int (*real)(const char *, int, ...);
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
        va_list more;
        va_start(more, flags);
        mode = va_arg(more, mode_t);
        va_end(more);
    }
    if (fails("open")) {
        return -1;
    }
    if (real == NULL) {
        *(void **)&real = behind("open");
    }
    return real(path, flags, mode);
}

CALL(int, close, (int file), (file), -1)
CALL(ssize_t, write, (int file, const void *bytes, size_t count), (file, bytes, count), -1)
CALL(ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t offset), (file, bytes, count, offset), -1)
CALL(ssize_t, pwrite64, (int file, const void *bytes, size_t count, off64_t offset), (file, bytes, count, offset), -1)
CALL(ssize_t, pread, (int file, void *bytes, size_t count, off_t offset), (file, bytes, count, offset), -1)
CALL(int, fstat, (int file, struct stat *status), (file, status), -1)
CALL(int, fsync, (int file), (file), -1)
CALL(int, fdatasync, (int file), (file), -1)
CALL(int, ftruncate, (int file, off_t length), (file, length), -1)
CALL(int, rename, (const char *from, const char *to), (from, to), -1)
CALL(int, unlink, (const char *path), (path), -1)
CALL(uid_t, geteuid, (void), (), (uid_t)-1) /* "fails": another user */

/* Memory */

/* The C library's own name: looking the function up would call it. */
void __libc_free(void *memory);
void free(void *memory);
void free(void *memory) {
    if (!fails("free")) {
        __libc_free(memory);
    }
}

CALL(void *, mmap, (void *at, size_t size, int protection, int flags, int file, off_t offset),
     (at, size, protection, flags, file, offset), MAP_FAILED)
CALL(int, munmap, (void *at, size_t size), (at, size), -1)
CALL(int, munlock, (const void *at, size_t size), (at, size), -1)
CALL(int, madvise, (void *at, size_t size, int advice), (at, size, advice), -1)
CALL_VOID(explicit_bzero, (void *at, size_t size), (at, size))

/* The loop */

CALL(int, epoll_create1, (int flags), (flags), -1)
CALL(int, eventfd, (unsigned value, int flags), (value, flags), -1)

/* Sockets */

CALL(int, socket, (int family, int type, int protocol), (family, type, protocol), -1)

/* SQLite */

CALL_STATUS(sqlite3_open_v2, (const char *path, void **database, int flags, const char *system),
            (path, database, flags, system))
CALL_STATUS(sqlite3_close_v2, (void *database), (database))
CALL_STATUS(sqlite3_finalize, (void *statement), (statement))
CALL_STATUS(sqlite3_reset, (void *statement), (statement))
CALL_STATUS(sqlite3_clear_bindings, (void *statement), (statement))

/* libcurl */

CALL(void *, curl_multi_init, (void), (), NULL)
CALL_STATUS(curl_multi_cleanup, (void *multi), (multi))
CALL(void *, curl_easy_init, (void), (), NULL)

/* libmicrohttpd: a connection may be a number that a test made up, if all calls fail. */

CALL_VOID(MHD_suspend_connection, (void *connection), (connection))
CALL_VOID(MHD_resume_connection, (void *connection), (connection))

/* libmosquitto */

CALL(void *, mosquitto_new, (const char *name, bool is_clean, void *context), (name, is_clean, context), NULL)
CALL_VOID(mosquitto_destroy, (void *client), (client))
CALL_STATUS(mosquitto_int_option, (void *client, int option, int value), (client, option, value))
CALL_STATUS(mosquitto_threaded_set, (void *client, bool is_on), (client, is_on))
CALL_STATUS(mosquitto_will_set,
            (void *client, const char *topic, int count, const void *bytes, int quality, bool is_kept),
            (client, topic, count, bytes, quality, is_kept))
CALL_STATUS(mosquitto_username_pw_set, (void *client, const char *user, const char *password), (client, user, password))
CALL_STATUS(mosquitto_tls_opts_set, (void *client, int verify, const char *version, const char *ciphers),
            (client, verify, version, ciphers))

static const char *const names[] = {
    "pthread_create",
    "pthread_detach",
    "pthread_mutex_destroy",
    "pthread_cond_destroy",
    "open",
    "close",
    "write",
    "pwrite",
    "pwrite64",
    "pread",
    "fstat",
    "fsync",
    "fdatasync",
    "ftruncate",
    "rename",
    "unlink",
    "geteuid",
    "free",
    "mmap",
    "munmap",
    "munlock",
    "madvise",
    "explicit_bzero",
    "epoll_create1",
    "eventfd",
    "socket",
    "sqlite3_open_v2",
    "sqlite3_close_v2",
    "sqlite3_finalize",
    "sqlite3_reset",
    "sqlite3_clear_bindings",
    "curl_multi_init",
    "curl_multi_cleanup",
    "curl_easy_init",
    "MHD_suspend_connection",
    "MHD_resume_connection",
    "mosquitto_new",
    "mosquitto_destroy",
    "mosquitto_int_option",
    "mosquitto_threaded_set",
    "mosquitto_will_set",
    "mosquitto_username_pw_set",
    "mosquitto_tls_opts_set",
};

bool tendon_calls_plan(const char *name, int first, bool all, bool once, int error) {
    const char *known = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        known = strcmp(names[i], name) == 0 ? names[i] : known;
    }
    struct plan *plan = plan_of(name);
    for (size_t i = 0; plan == NULL && i < PLANS; i++) {
        plan = plans[i].name == NULL ? &plans[i] : NULL;
    }
    if (known == NULL || plan == NULL) {
        return false;
    }
    *plan = (struct plan){known, first, all, once, error, 0};
    return true;
}

int tendon_calls_end(const char *name) {
    struct plan *plan = plan_of(name);
    if (plan == NULL) {
        return 0;
    }
    plan->name = NULL;
    return plan->calls;
}
