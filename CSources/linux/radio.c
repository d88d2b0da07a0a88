/* SPDX-License-Identifier: MIT */
/* Thin calls through tendon_radio_ops: arguments are checked here once, for every kind of radio. */
#include "pairing/pairing.h"
#include "socket_link.h"

enum { ADVERTISE_MIN_MS = 20, ADVERTISE_MAX_MS = 10240 };

void tendon_radio_pause_scan(tendon_radio *radio) {
    radio->scan_pauses++;
    if (radio->ops->scan_paused != NULL && radio->scan_pauses == 1) {
        radio->ops->scan_paused(radio);
    }
}

void tendon_radio_resume_scan(tendon_radio *radio) {
    radio->scan_pauses--;
    if (radio->ops->scan_paused != NULL && radio->scan_pauses == 0) {
        radio->ops->scan_paused(radio);
    }
}

tendon_status tendon_radio_advertise_start(tendon_radio *radio, const tendon_advertise_parameters *parameters) {
    tendon_advertise_parameters checked = *parameters;
    checked.interval_ms = checked.interval_ms == 0 ? 100 : checked.interval_ms;
    if (checked.interval_ms < ADVERTISE_MIN_MS || checked.interval_ms > ADVERTISE_MAX_MS ||
        checked.length > TENDON_AD_EXTENDED_MAX || checked.scan_response_length > TENDON_AD_EXTENDED_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    return radio->ops->advertise_start != NULL ? radio->ops->advertise_start(radio, &checked)
                                               : TENDON_ERROR_UNSUPPORTED;
}

tendon_status tendon_radio_advertise_stop(tendon_radio *radio) {
    return radio->ops->advertise_stop != NULL ? radio->ops->advertise_stop(radio) : TENDON_OK;
}

static tendon_status start_connect(tendon_radio *radio, tendon_link *link, const tendon_address *peer,
                                   uint64_t deadline, bool background) {
    if (link->state != TENDON_LINK_CLOSED) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (radio->ops->connect == NULL) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    link->background = background;
    /* A bonded device may have another private address by now. */
    const tendon_address *identity = tendon_radio_identity_of(radio, peer, tendon_monotonic_ms());
    const tendon_address target = identity != NULL ? *identity : *peer;
    tendon_status status = identity != NULL && radio->ops->resolves != NULL ? radio->ops->resolves(radio) : TENDON_OK;
    return status < 0 ? status : radio->ops->connect(radio, link, &target, deadline);
}

tendon_status tendon_radio_connect(tendon_radio *radio, tendon_link *link, const tendon_address *peer,
                                   uint64_t deadline) {
    return start_connect(radio, link, peer, deadline, false);
}

tendon_status tendon_radio_connect_in_background(tendon_radio *radio, tendon_link *link, const tendon_address *peer) {
    return start_connect(radio, link, peer, UINT64_MAX, true);
}

tendon_status tendon_radio_set_connection_parameters(tendon_radio *radio,
                                                     const tendon_connection_parameters *parameters) {
    if (parameters != NULL && !tendon_connection_parameters_valid(parameters)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    radio->connection = parameters != NULL ? *parameters : (tendon_connection_parameters){0};
    return TENDON_OK;
}

tendon_status tendon_link_set_parameters(tendon_link *link, const tendon_connection_parameters *parameters) {
    if (!tendon_connection_parameters_valid(parameters)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (link->state != TENDON_LINK_OPEN || link->accepted) {
        return TENDON_ERROR_WRONG_STATE;
    }
    return link->radio->ops->set_parameters != NULL ? link->radio->ops->set_parameters(link, parameters)
                                                    : TENDON_ERROR_UNSUPPORTED;
}

tendon_status tendon_radio_listen(tendon_radio *radio, tendon_listener *listener) {
    if (listener->accept == NULL) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    return radio->ops->listen != NULL ? radio->ops->listen(radio, listener) : TENDON_ERROR_UNSUPPORTED;
}

void tendon_radio_unlisten(tendon_radio *radio, tendon_listener *listener) {
    if (radio->ops->unlisten != NULL) {
        radio->ops->unlisten(radio, listener);
    }
}

tendon_status tendon_radio_ask_signals(tendon_radio *radio) {
    if (radio->ops->ask_signal == NULL) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    tendon_status first = TENDON_OK;
    for (tendon_link *link = radio->links; link != NULL; link = link->next) {
        if (link->state == TENDON_LINK_OPEN) {
            tendon_status status = radio->ops->ask_signal(radio, link);
            first = first < 0 ? first : status;
        }
    }
    return first;
}

void tendon_radio_close(tendon_radio *radio) {
    if (radio->ops != NULL) {
        radio->ops->close(radio); /* the ops stay: a link that is still open must not fall through NULL */
    }
}

void tendon_link_init(tendon_link *link, const tendon_link_callbacks *callbacks) {
    *link = (tendon_link){
        .state = TENDON_LINK_CLOSED, .rssi = TENDON_RSSI_UNKNOWN, .handle = 0xFFFF, .deadline = UINT64_MAX};
    if (callbacks != NULL) {
        link->callbacks = *callbacks;
    }
    tendon_source_init(&link->source, -1, link, NULL, NULL);
}

tendon_status tendon_link_send(tendon_link *link, const uint8_t *pdu, size_t length) {
    if (link->state != TENDON_LINK_OPEN) {
        return TENDON_ERROR_DISCONNECTED;
    }
    return tendon_socket_link_send(link, pdu, length);
}

void tendon_link_close(tendon_link *link) {
    if (link->state != TENDON_LINK_CLOSED && !tendon_link_ends(link)) {
        link->radio->ops->link_close(link);
    }
}

static tendon_status send_from_bearer(void *context, const uint8_t *pdu, size_t length) {
    return tendon_link_send(context, pdu, length);
}

tendon_bearer_io tendon_link_io(tendon_link *link) {
    return (tendon_bearer_io){.context = link, .send = send_from_bearer};
}
