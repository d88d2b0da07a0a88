/* SPDX-License-Identifier: MIT */
#include "link_fixture.h"

#include <string.h>

static void on_connected(void *context, uint64_t now) {
    link_end *end = context;
    (void)now;
    assert_false(end->inside);
    assert_int_equal(end->link.state, TENDON_LINK_OPEN);
    end->connected++;
    if (end->on_connected == LINK_CLOSE) {
        link_end_close(end);
    }
}

static void on_received(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    link_end *end = context;
    (void)now;
    assert_false(end->inside);
    assert_true(length <= sizeof end->last);
    end->received++;
    end->last_length = length;
    memcpy(end->last, pdu, length);
    if (length == 4) {
        uint32_t number = (uint32_t)pdu[0] | (uint32_t)pdu[1] << 8 | (uint32_t)pdu[2] << 16 | (uint32_t)pdu[3] << 24;
        end->misordered += number != end->next ? 1 : 0;
        end->next = number + 1;
    }
    if (end->on_received == LINK_CLOSE) {
        link_end_close(end);
    }
}

static void on_writable(void *context, uint64_t now) {
    link_end *end = context;
    (void)now;
    assert_false(end->inside);
    end->writable++;
}

static void on_bonded(void *context, uint64_t now) {
    link_end *end = context;
    (void)now;
    assert_false(end->inside);
    end->bonded++;
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    link_end *end = context;
    assert_false(end->inside);
    assert_int_equal(end->link.state, TENDON_LINK_CLOSED);
    end->closed++;
    end->reason = reason;
    tendon_radio *radio = end->reconnect;
    tendon_address peer = end->link.peer;
    int connected = end->connected, closed = end->closed;
    if (radio != NULL) {
        link_end_init(end); /* the memory is ours again */
        end->connected = connected;
        end->closed = closed;
        assert_int_equal(tendon_radio_connect(radio, &end->link, &peer, now + 1000), TENDON_OK);
    } else {
        memset(&end->link, 0xA5, sizeof end->link); /* its memory must not be used any more */
        tendon_link_init(&end->link, NULL);
    }
}

void link_end_init(link_end *end) {
    memset(end, 0, sizeof *end);
    tendon_link_init(&end->link, &(tendon_link_callbacks){.context = end,
                                                          .connected = on_connected,
                                                          .received = on_received,
                                                          .writable = on_writable,
                                                          .bonded = on_bonded,
                                                          .closed = on_closed});
}

tendon_status link_end_send(link_end *end, const void *bytes, size_t length) {
    end->inside = true;
    tendon_status status = tendon_link_send(&end->link, bytes, length);
    end->inside = false;
    return status;
}

void link_end_close(link_end *end) {
    end->inside = true;
    tendon_link_close(&end->link);
    end->inside = false;
}
