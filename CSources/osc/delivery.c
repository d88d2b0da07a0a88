/* SPDX-License-Identifier: MIT */
#include "tendon/osc/delivery.h"

/** The notice, if it is to be reported now. */
static tendon_osc_notice noticed(tendon_osc_delivery *delivery, tendon_osc_notice notice, uint64_t now) {
    if (delivery->notices[notice].is_reported ||
        (delivery->notices[notice].was_reported && now < delivery->notices[notice].at + TENDON_OSC_QUIET_MS)) {
        return TENDON_OSC_NOTICE_NONE;
    }
    delivery->notices[notice].is_reported = true;
    delivery->notices[notice].was_reported = true;
    delivery->notices[notice].at = now;
    return notice;
}

bool tendon_osc_delivery_wants_socket(const tendon_osc_delivery *delivery, uint64_t now) {
    return !delivery->is_open && now >= delivery->retry_at;
}

tendon_osc_notice tendon_osc_delivery_opened(tendon_osc_delivery *delivery, bool is_open, uint64_t now) {
    delivery->is_open = is_open;
    delivery->retry_at = now + TENDON_OSC_PAUSE_MS;
    if (!is_open) {
        return noticed(delivery, TENDON_OSC_NOTICE_FAILED, now);
    }
    delivery->notices[TENDON_OSC_NOTICE_REFUSED].is_reported = false;
    delivery->notices[TENDON_OSC_NOTICE_FAILED].is_reported = false;
    return TENDON_OSC_NOTICE_NONE;
}

tendon_osc_notice tendon_osc_delivery_took(tendon_osc_delivery *delivery, tendon_osc_outcome outcome, uint64_t now) {
    switch (outcome) {
    case TENDON_OSC_SENT:
        delivery->sent++;
        return TENDON_OSC_NOTICE_NONE;
    case TENDON_OSC_REFUSED:
        delivery->refused++;
        return noticed(delivery, TENDON_OSC_NOTICE_REFUSED, now);
    case TENDON_OSC_DROPPED:
        delivery->dropped++;
        return TENDON_OSC_NOTICE_NONE;
    case TENDON_OSC_FAILED:
        break;
    }
    delivery->dropped++;
    delivery->is_open = false;
    /* The first failure of a socket that worked is no news: another one may work. */
    return now < delivery->retry_at ? noticed(delivery, TENDON_OSC_NOTICE_FAILED, now) : TENDON_OSC_NOTICE_NONE;
}

/* ---- sentences ---- */

static size_t add(char *out, size_t length, const char *text) {
    while (*text != 0 && length + 1 < TENDON_OSC_SENTENCE_SIZE) {
        out[length++] = *text++;
    }
    out[length] = '\0';
    return length;
}

const char *tendon_osc_notice_format(tendon_osc_notice notice, const char *endpoint, const char *reason,
                                     char out[TENDON_OSC_SENTENCE_SIZE]) {
    size_t length = add(out, 0, notice == TENDON_OSC_NOTICE_REFUSED ? "no program listens at " : "");
    length = add(out, length, endpoint);
    switch (notice) {
    case TENDON_OSC_NOTICE_REFUSED:
        (void)add(out, length, "; it is sent there all the same");
        break;
    case TENDON_OSC_NOTICE_FAILED:
        length = add(out, length, ": ");
        length = add(out, length, reason);
        (void)add(out, length, "; it is tried again");
        break;
    case TENDON_OSC_NOTICE_UNUSED:
        (void)add(out, length,
                  " takes orientations, and none will be sent: they are those of Bose wearables, of the sensors "
                  "rotation and game_rotation");
        break;
    default:
        break;
    }
    return out;
}
