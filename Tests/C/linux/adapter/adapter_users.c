/* SPDX-License-Identifier: MIT */
#include "adapter_users.h"

#include <string.h>

adapter_user users[USERS];
fake_adapter *adapter;
tendon_loop users_loop;

static bool count(int fd, uint16_t opcode, const uint8_t *p, size_t length) {
    (void)length;
    for (int i = 0; i < USERS; i++) {
        sent_counts *sent = &users[i].sent;
        if (!users[i].open || fd != users[i].radio.hci.fd) {
            continue;
        }
        sent->commands++;
        if (opcode == 0x200C || opcode == 0x2042) {
            *(p[0] != 0 ? &sent->enables : &sent->disables) += 1;
        } else if (opcode == 0x200B || opcode == 0x2041) {
            p += opcode == 0x2041 ? 3 : 0;
            sent->active = p[0];
            sent->interval = (uint16_t)(p[1] | p[2] << 8);
        }
    }
    return true;
}

void users_start(bool extended, bool strict) {
    memset(users, 0, sizeof users);
    fake_start();
    fake.on_send = count;
    adapter = fake_add(ADAPTER_INDEX, extended);
    adapter->lenient = !strict;
    fake_power(ADAPTER_INDEX, true);
    users_advertiser(true);
    assert_int_equal(tendon_loop_init(&users_loop), TENDON_OK);
}

void users_end(void) {
    for (int i = 0; i < USERS; i++) {
        if (users[i].open) {
            tendon_radio_close(&users[i].radio.radio);
        }
    }
    tendon_loop_close(&users_loop);
    fake_end();
}

void users_pass(uint64_t ms) {
    fake_pass(&users_loop, ms);
}

void users_advertiser(bool on) {
    (void)fake_advertiser(1, on ? 100 : 0);
}

static void on_failure(void *context, tendon_status status, uint64_t now) {
    adapter_user *user = context;
    (void)now;
    user->failures++;
    user->failure = status;
}

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)report;
    (void)now;
    ((adapter_user *)context)->reports++;
}

void user_open(int index) {
    adapter_user *user = &users[index];
    memset(user, 0, sizeof *user);
    assert_int_equal(tendon_bluez_open(&user->radio, &users_loop, "hci7"), TENDON_OK);
    user->radio.radio.report_context = user;
    user->radio.radio.on_failure = on_failure;
    user->radio.radio.on_report = on_report;
    user->open = true;
    users_pass(5);
    user->sent = (sent_counts){0};
}

void user_kill(int index) {
    adapter_user *user = &users[index];
    if (scan_owner() == index) {
        adapter->scanner = FAKE_OTHER;
    }
    tendon_bluez_fail(&user->radio, TENDON_RADIO_ERROR_NO_ADAPTER); /* nothing is sent */
    tendon_radio_close(&user->radio.radio);
    user->open = false;
}

tendon_bluez_radio *user_radio(int user) {
    return &users[user].radio;
}

void user_scan(int user, bool active, uint16_t interval_ms) {
    const tendon_scan_parameters parameters = {.active = active, .interval_ms = interval_ms};
    assert_int_equal(tendon_radio_scan_start(&users[user].radio.radio, &parameters), TENDON_OK);
}

void user_stop(int user) {
    assert_int_equal(tendon_radio_scan_stop(&users[user].radio.radio), TENDON_OK);
}

bool user_heard(int user) {
    bool heard = users[user].reports > 0;
    users[user].reports = 0;
    return heard;
}

int scan_owner(void) {
    for (int i = 0; i < USERS; i++) {
        if (users[i].open && adapter->scanner == users[i].radio.hci.fd) {
            return i;
        }
    }
    return -1;
}

static void other_sends(uint16_t opcode, const uint8_t *parameters, uint8_t length) {
    fake_other(ADAPTER_INDEX, opcode, parameters, length);
    users_pass(2);
}

void other_scans(void) {
    static const uint8_t legacy[7] = {0, 0x60, 0, 0x60, 0, 0, 0}, later[8] = {0, 0, 1, 0, 0x60, 0, 0x60, 0};
    static const uint8_t on[6] = {1};
    bool extended = adapter->extended;
    other_sends(extended ? 0x2041 : 0x200B, extended ? later : legacy, extended ? sizeof later : sizeof legacy);
    other_sends(extended ? 0x2042 : 0x200C, on, extended ? 6 : 2);
}

void other_stops(void) {
    static const uint8_t off[6] = {0};
    other_sends(adapter->extended ? 0x2042 : 0x200C, off, adapter->extended ? 6 : 2);
}
