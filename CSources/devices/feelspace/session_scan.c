/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

/* Beside the bits of tendon_feelspace_advertised: this advertiser was reported. */
enum { SEEN_TOLD = 0x08 };

/* ---- start and end ---- */

static void tell_finished(tendon_feelspace_session *session, tendon_feelspace_scan_cause cause,
                          tendon_feelspace_connection_error error) {
    tendon_feelspace_event event;
    tendon_feelspace_event_init(&event, TENDON_FEELSPACE_EVENT_SCAN_FINISHED, TENDON_OK);
    event.scan.cause = cause;
    event.scan.error = error;
    tendon_feelspace_emit(session, &event);
}

static tendon_feelspace_scan_cause cause_of(tendon_feelspace_connection_error error) {
    return error == TENDON_FEELSPACE_BT_POWERED_OFF ? TENDON_FEELSPACE_SCAN_CAUSE_BT_NOT_ACTIVE
                                                    : TENDON_FEELSPACE_SCAN_CAUSE_BT_NOT_AVAILABLE;
}

static tendon_status radio_on(tendon_feelspace_session *session) {
    tendon_status status = session->config.scan == NULL ? TENDON_ERROR_UNSUPPORTED
                                                        : session->config.scan(session->config.link.context, true);
    session->work.scan_on = status >= 0;
    return status;
}

void tendon_feelspace_scan_end(tendon_feelspace_session *session, tendon_feelspace_scan_cause cause,
                               tendon_feelspace_connection_event event, tendon_feelspace_connection_error error) {
    if (session->work.scan_on) {
        session->work.scan_on = false;
        (void)session->config.scan(session->config.link.context, false);
    }
    session->state = TENDON_FEELSPACE_NOT_CONNECTED;
    tell_finished(session, cause, error);
    if (event != TENDON_FEELSPACE_CONNECTION_STARTED && session->state == TENDON_FEELSPACE_NOT_CONNECTED) {
        tendon_feelspace_event told;
        tendon_feelspace_event_init(&told, TENDON_FEELSPACE_EVENT_STATE, TENDON_OK);
        told.connection.previous = TENDON_FEELSPACE_SCANNING; /* to NOT_CONNECTED, which is 0 */
        told.connection.event = event;
        told.connection.error = error;
        tendon_feelspace_emit(session, &told);
    }
}

tendon_status tendon_feelspace_session_scan(tendon_feelspace_session *session, uint64_t timeout_ms, uint64_t now) {
    session->op.now = now;
    if (session->state >= TENDON_FEELSPACE_CONNECTING) {
        tell_finished(session, TENDON_FEELSPACE_SCAN_CAUSE_ALREADY_CONNECTED, TENDON_FEELSPACE_NO_ERROR);
    }
    if (session->state != TENDON_FEELSPACE_NOT_CONNECTED || session->work.ending) {
        return TENDON_ERROR_WRONG_STATE;
    }
    tendon_feelspace_adapter adapter = (tendon_feelspace_adapter)session->work.adapter;
    tendon_feelspace_connection_error error = tendon_feelspace_adapter_error(adapter);
    tendon_status status = TENDON_RADIO_ERROR_ADAPTER_DOWN;
    if (error == TENDON_FEELSPACE_NO_ERROR) {
        status = adapter == TENDON_FEELSPACE_ADAPTER_ON ? radio_on(session) : TENDON_OK;
        error = tendon_feelspace_radio_error(status);
    }
    if (status < 0) {
        tell_finished(session, cause_of(error), error);
        return status;
    }
    memset(session->kept.advertisers, 0, sizeof session->kept.advertisers);
    session->kept.deadline = feelspace_after(now, timeout_ms > 0 ? timeout_ms : TENDON_FEELSPACE_SCAN_TIMEOUT_MS);
    tendon_feelspace_go(session, TENDON_FEELSPACE_SCANNING, TENDON_FEELSPACE_SCAN_STARTED);
    return TENDON_OK;
}

void tendon_feelspace_session_stop_scan(tendon_feelspace_session *session, uint64_t now) {
    session->op.now = now;
    if (session->state == TENDON_FEELSPACE_SCANNING) {
        tendon_feelspace_scan_end(session, TENDON_FEELSPACE_SCAN_CAUSE_CANCELED, TENDON_FEELSPACE_SCAN_CANCELED,
                                  TENDON_FEELSPACE_NO_ERROR);
    }
}

void tendon_feelspace_scan_adapter(tendon_feelspace_session *session, tendon_feelspace_adapter adapter) {
    tendon_feelspace_connection_error error = tendon_feelspace_adapter_error(adapter);
    if (adapter == TENDON_FEELSPACE_ADAPTER_ON && !session->work.scan_on) {
        tendon_status status = radio_on(session);
        error = status < 0 ? tendon_feelspace_radio_error(status) : TENDON_FEELSPACE_NO_ERROR;
    }
    if (error != TENDON_FEELSPACE_NO_ERROR) {
        tendon_feelspace_scan_end(session, cause_of(error), TENDON_FEELSPACE_SCAN_FAILED, error);
    }
}

/* ---- advertisers ---- */

/* Of this address; else the one of which least is known. NULL: all are belts. */
static tendon_feelspace_advertiser *advertiser_of(tendon_feelspace_session *session, const tendon_address *address) {
    tendon_feelspace_advertiser *all = session->kept.advertisers, *spare = all;
    for (size_t i = 0; i < TENDON_FEELSPACE_ADVERTISERS_MAX; i++) {
        if (all[i].seen != 0 && tendon_address_equal(&all[i].address, address)) {
            return &all[i];
        }
        if (all[i].seen < spare->seen) {
            spare = &all[i];
        }
    }
    if ((spare->seen & SEEN_TOLD) != 0) {
        return NULL;
    }
    memset(spare, 0, sizeof *spare);
    spare->address = *address;
    return spare;
}

void tendon_feelspace_session_advertised(tendon_feelspace_session *session, const tendon_ad_report *report,
                                         uint64_t now) {
    tendon_ad_structure name;
    session->op.now = now;
    unsigned seen =
        session->state == TENDON_FEELSPACE_SCANNING ? tendon_feelspace_recognize(report->data, report->length) : 0;
    if (seen == 0) {
        return;
    }
    tendon_feelspace_advertiser *advertiser = advertiser_of(session, &report->address);
    if (advertiser == NULL) {
        session->counters.advertisers_left_out++;
        return;
    }
    if ((seen & TENDON_FEELSPACE_ADVERTISED_NAME) != 0 && tendon_ad_find_name(report->data, report->length, &name)) {
        advertiser->name_length =
            (uint8_t)(name.length < sizeof advertiser->name ? name.length : sizeof advertiser->name);
        memcpy(advertiser->name, name.data, advertiser->name_length);
    }
    advertiser->seen |= (uint8_t)seen;
    seen = advertiser->seen;
    if (tendon_feelspace_is_belt(seen) && (seen & SEEN_TOLD) == 0) {
        advertiser->seen |= SEEN_TOLD;
        tendon_feelspace_event event;
        tendon_feelspace_event_init(&event, TENDON_FEELSPACE_EVENT_FOUND, TENDON_OK);
        event.found.address = &advertiser->address;
        event.found.name = advertiser->name;
        event.found.name_length = advertiser->name_length;
        event.found.rssi = report->rssi;
        event.found.newer_hardware = (seen & TENDON_FEELSPACE_ADVERTISED_NEWER) != 0;
        tendon_feelspace_emit(session, &event);
    }
}

/* ---- belts that were connected ---- */

static size_t place_of(const tendon_feelspace_known *known, const tendon_address *belt) {
    size_t i = 0;
    while (i < known->count && !tendon_address_equal(&known->belts[i], belt)) {
        i++;
    }
    return i;
}

bool tendon_feelspace_known_has(const tendon_feelspace_known *known, const tendon_address *belt) {
    return place_of(known, belt) < known->count;
}

void tendon_feelspace_known_add(tendon_feelspace_known *known, const tendon_address *belt) {
    size_t place = place_of(known, belt);
    if (place == known->count) {
        if (known->count < TENDON_FEELSPACE_KNOWN_MAX) {
            known->count++;
        } else {
            place--;
        }
    }
    for (; place > 0; place--) {
        known->belts[place] = known->belts[place - 1];
    }
    known->belts[0] = *belt;
}
