/* SPDX-License-Identifier: MIT */
#include "noted_link.h"

#include <errno.h>

long long noted_time(uint64_t time) {
    return time == UINT64_MAX ? -1 : (long long)time;
}

int noted_status(tendon_status status) {
    static const int numbers[] = {ENOBUFS, ENETDOWN, ECONNABORTED, EADDRINUSE, ENOTCONN, EMSGSIZE, EHOSTUNREACH};
    for (int i = 0; i < (int)(sizeof numbers / sizeof numbers[0]); i++) {
        if (status == TENDON_SYSTEM_ERROR(numbers[i])) {
            return -90000 - i;
        }
    }
    return status;
}

static void act(noted_link *end) {
    if (end->closes && end->used) {
        end->closes = false;
        tendon_link_close(&end->link);
    }
}

static void on_connected(void *context, uint64_t now) {
    noted_link *end = context;
    assert_int_equal(end->link.state, TENDON_LINK_OPEN);
    note(end->r, "link %d connected at %u, handle %x", end->number, (unsigned)now, end->link.handle);
    act(end);
}

static void on_received(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    noted_link *end = context;
    note(end->r, "link %d received at %u", end->number, (unsigned)now);
    note_bytes(end->r, "pdu", pdu, length);
    act(end);
}

static void on_writable(void *context, uint64_t now) {
    noted_link *end = context;
    note(end->r, "link %d writable at %u", end->number, (unsigned)now);
    act(end);
}

static void on_encrypted(void *context, uint64_t now) {
    noted_link *end = context;
    note(end->r, "link %d encrypted at %u", end->number, (unsigned)now);
    act(end);
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    noted_link *end = context;
    note(end->r, "link %d closed at %u: %d", end->number, (unsigned)now, noted_status(reason));
    assert_true(end->used);
    assert_true(reason < 0);
    end->used = false;
    end->ended++;
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    noted_link *end = context;
    note(end->r, "link %d paired at %u: %d", end->number, (unsigned)now, noted_status(status));
    end->paired++;
}

void noted_link_prepare(noted_link *end, recording *r, int number) {
    *end = (noted_link){.r = r, .number = number};
    tendon_link_init(&end->link, NULL);
}

tendon_link *noted_link_make(noted_link *end) {
    assert_false(end->used);
    tendon_link_init(&end->link, &(tendon_link_callbacks){.context = end,
                                                          .connected = on_connected,
                                                          .received = on_received,
                                                          .writable = on_writable,
                                                          .encrypted = on_encrypted,
                                                          .closed = on_closed});
    return &end->link;
}

void noted_link_started(noted_link *end) {
    end->used = true;
    end->started++;
}

tendon_status noted_link_connect(noted_link *end, tendon_radio *radio, const tendon_address *peer, uint64_t deadline) {
    tendon_status status = tendon_radio_connect(radio, noted_link_make(end), peer, deadline);
    if (status >= 0) {
        noted_link_started(end);
    }
    return status;
}

tendon_status noted_link_pair(noted_link *end, tendon_radio *radio, const tendon_address *peer, uint64_t now) {
    const tendon_pairing_service *service = tendon_radio_pairing(radio);
    end->pair_asked++;
    return service->start(service->context, peer, on_paired, end, now);
}

void noted_link_note(const noted_link *end) {
    const tendon_link *link = &end->link;
    const tendon_pairing_attempt *p = &link->pairing;
    if (!end->used) {
        return;
    }
    note(end->r, "link %d: %d %d%d%d%d, interest %u until %lld, %u %u", end->number, link->state, link->accepted,
         link->blocked, link->encrypting, link->encrypted, (unsigned)link->source.interest,
         noted_time(link->source.deadline), (unsigned)link->received, (unsigned)link->sent);
    note(end->r, "pairing %d%d%d %d until %lld, %lld", p->state, p->due, p->key_removed, noted_status(p->kept),
         noted_time(p->deadline), noted_time(p->retry_at));
}

void noted_link_expect_closed(const noted_link *end) {
    assert_int_equal(end->started, end->ended);
    assert_true(end->paired <= end->pair_asked);
    assert_int_equal(end->link.source.fd, -1);
}

void noted_link_tap(void *context, const tendon_link *link, tendon_tap_kind kind, const uint8_t *pdu, size_t length) {
    const noted_link *end = link->callbacks.context;
    (void)context;
    (void)pdu;
    note(end->r, "tap %d of %d, %d bytes", kind, end->number, (int)length);
}

void noted_report(void *context, const tendon_ad_report *report, uint64_t now) {
    recording *r = context;
    note(r, "report at %u: %d %d %x, %d bytes, type %d", (unsigned)now, report->rssi, report->tx_power,
         (unsigned)report->properties, (int)report->length, report->address.type);
    note_bytes(r, "from", report->address.bytes, 6);
    note_bytes(r, "data", report->data, report->length);
}

void noted_peer_failure(void *context, const tendon_address *peer, tendon_status reason, uint64_t now) {
    note(context, "peer %02x.. fails: %d at %u", peer->bytes[0], noted_status(reason), (unsigned)now);
}
