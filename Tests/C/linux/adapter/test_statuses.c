/* SPDX-License-Identifier: MIT */
/* What a program is told when the kernel refuses a system call of opening an adapter: a status for each reason. */
#include "adapter_fixture.h"

#include <errno.h>

/** One call of this kind is refused, after so many that are not. @return false: there is no such call. */
static bool is_refused(int kind, fake_call call, int after, int number, tendon_status *status) {
    fake_add(7, kind == ADAPTER_EXTENDED);
    fake_power(7, kind == ADAPTER_UNPRIVILEGED || kind == ADAPTER_OBSERVER);
    fake.refuse[call] = (fake_refusal){.number = number, .after = after, .times = 1};
    *status = adapter_open_as(kind);
    bool refused = fake.refuse[call].number == 0;
    fake.refuse[call] = (fake_refusal){0};
    tendon_radio_close(&own.radio.radio);
    fake_pass(&own.loop, 10);
    fake_remove(7);
    return refused;
}

/** Without its sockets, and without an answer to its first question, nothing can be opened. */
static void each_reason_has_its_status(void **state) {
    static const struct {
        int number;
        tendon_status status;
    } rows[] = {
        {EPERM, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
        {EACCES, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
        {EAFNOSUPPORT, TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT},
        {EPROTONOSUPPORT, TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT},
        {ESOCKTNOSUPPORT, TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT},
        {ENODEV, TENDON_RADIO_ERROR_NO_ADAPTER},
        {EPIPE, TENDON_RADIO_ERROR_NO_ADAPTER},
        {EBUSY, TENDON_RADIO_ERROR_ADAPTER_BUSY},
        {EUSERS, TENDON_RADIO_ERROR_ADAPTER_BUSY},
        {ENETDOWN, TENDON_RADIO_ERROR_ADAPTER_DOWN},
        {ERFKILL, TENDON_RADIO_ERROR_RFKILL},
        {EMFILE, TENDON_SYSTEM_ERROR(EMFILE)},
        {ENFILE, TENDON_SYSTEM_ERROR(ENFILE)},
        {ENOMEM, TENDON_SYSTEM_ERROR(ENOMEM)},
        {EIO, TENDON_SYSTEM_ERROR(EIO)},
    };
    static const fake_call calls[] = {FAKE_SOCKET, FAKE_BIND, FAKE_SEND};
    (void)state;
    for (int kind = 0; kind < ADAPTER_KINDS; kind++) {
        for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
            for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
                int after = 0;
                tendon_status status;
                while (is_refused(kind, calls[c], after, rows[row].number, &status)) {
                    if (status != rows[row].status) {
                        fail_msg("kind %d, call %d, number %d, errno %d: %s, not %s", kind, calls[c], after,
                                 rows[row].number, tendon_status_name(status), tendon_status_name(rows[row].status));
                    }
                    if (calls[c] == FAKE_SEND) {
                        break; /* most of the others are asked again, or are not needed */
                    }
                    after++;
                }
                assert_int_equal(after, calls[c] == FAKE_SEND ? 0 : 2);
            }
        }
    }
}

/** Files say what is better known, but an adapter that nobody else uses must be known to be one. */
static void files_that_cannot_be_read(void **state) {
    static const int numbers[] = {EPERM, EACCES, ENOENT, EMFILE, EIO};
    (void)state;
    for (int kind = 0; kind < ADAPTER_KINDS; kind++) {
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
            tendon_status status;
            int unsupported = 0, after = 0;
            for (; is_refused(kind, FAKE_OPEN, after, numbers[i], &status); after++) {
                unsupported += status == TENDON_ERROR_UNSUPPORTED;
                assert_true(status == TENDON_OK || status == TENDON_ERROR_UNSUPPORTED);
            }
            assert_true(after >= 1);
            assert_int_equal(unsupported, kind == ADAPTER_SOLE ? 3 : 0); /* the names, the sockets, the names again */
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ADAPTER_TEST(each_reason_has_its_status),
        ADAPTER_TEST(files_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
