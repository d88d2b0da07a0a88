/* SPDX-License-Identifier: MIT */
/* capget() in the C library's place: the process has the capabilities that a test says. */
#include "privileges.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

privileges bluez_privileges = {.effective = 1u << CAP_NET_ADMIN | 1u << CAP_NET_RAW};

static long capget_of_tests(const struct __user_cap_header_struct *header, struct __user_cap_data_struct *data) {
    assert_int_equal(header->version, _LINUX_CAPABILITY_VERSION_3);
    assert_int_equal(header->pid, 0); /* of this process */
    if (bluez_privileges.error != 0) {
        errno = bluez_privileges.error;
        return -1;
    }
    data[0] =
        (struct __user_cap_data_struct){.effective = bluez_privileges.effective, .permitted = ~0u, .inheritable = ~0u};
    data[1] = (struct __user_cap_data_struct){.effective = ~0u};
    return 0;
}

/* Of a call with fewer arguments the others are read from where they would be: what is there is not used. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...) {
    static long (*real)(long, ...);
    long a[6];
    va_list arguments;
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    }
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(arguments, long);
    }
    va_end(arguments);
    return number == SYS_capget ? capget_of_tests((const void *)a[0], (void *)a[1])
                                : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
