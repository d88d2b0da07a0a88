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
