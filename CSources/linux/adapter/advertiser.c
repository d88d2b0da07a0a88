/* SPDX-License-Identifier: MIT */
/*
 * Connectable advertising, with the extended command set if the controller has it and with the legacy set otherwise. A
 * controller stops advertising when a central connects. Advertising is then enabled again immediately. If the
 * controller rejects that (it cannot advertise while it has a connection), it is retried, and whenever a connection
 * ends.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

/** The commands that configure advertising, in order. */
enum { STEP_PARAMETERS = 0, STEP_ADDRESS, STEP_DATA, STEP_RESPONSE };
/** Pause between attempts while connections exist, which can be the reason of the rejection. */
#define CONNECTED_RETRY_MS 5000u
/** Between the end of our advertising by another program and the next start, in ms: the kernel is about to connect. */
#define YIELD_MS 1000u

/**
 * The handle of our set. The kernel knows the own address of a connection by the set that it was advertised with: of a
 * set that is none of its own it assumes zeros, with which a pairing fails (hci_le_ext_adv_term_evt() of Linux), except
 * for 0, which has the adapter's random address. Another program may advertise with that.
 */
static uint8_t choose_set(const tendon_bluez_radio *radio) {
    bool is_alone = tendon_bluez_address_is_random(radio) && tendon_bluez_users(radio) == 0;
    return is_alone ? 0 : TENDON_BLUEZ_ADVERTISING_SET;
}

/** Legacy PDUs, which every central understands, unless the data is longer than they hold. */
static bool legacy_pdus(const tendon_bluez_advertising *advertising) {
    return advertising->length <= TENDON_AD_LEGACY_MAX;
}

static void encode_parameters(const tendon_bluez_radio *radio, tendon_bluez_command *out) {
    const tendon_bluez_advertising *set = &radio->advertising;
    uint32_t interval = set->interval_ms * 8u / 5u;
    tendon_hci_advertising parameters = {.set = radio->advertising.set,
                                         .interval_min = interval,
                                         .interval_max = interval,
                                         .own_address = tendon_bluez_address_is_random(radio),
                                         .tx_power = TENDON_RSSI_UNKNOWN,
                                         .peer = {.type = TENDON_ADDRESS_TYPE_PUBLIC}};
    if (!radio->extended_advertising) {
        out->length = tendon_hci_command_advertising_parameters(&parameters, out->bytes, sizeof out->bytes);
        return;
    }
    parameters.properties =
        legacy_pdus(set) ? TENDON_AD_CONNECTABLE | TENDON_AD_SCANNABLE | TENDON_AD_LEGACY : TENDON_AD_CONNECTABLE;
    out->length = tendon_hci_command_extended_advertising_parameters(&parameters, out->bytes, sizeof out->bytes);
}

static void encode_data(const tendon_bluez_radio *radio, bool response, tendon_bluez_command *out) {
    const tendon_bluez_advertising *set = &radio->advertising;
    const uint8_t *data = response ? set->response : set->data;
    size_t length = response ? set->response_length : set->length;
    out->length = radio->extended_advertising
                      ? tendon_hci_command_extended_advertising_data(
                            response ? TENDON_HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA
                                     : TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_DATA,
                            radio->advertising.set, data, length, out->bytes, sizeof out->bytes)
                      : tendon_hci_command_advertising_data(response ? TENDON_HCI_LE_SET_SCAN_RESPONSE_DATA
                                                                     : TENDON_HCI_LE_SET_ADVERTISING_DATA,
                                                            data, length, out->bytes, sizeof out->bytes);
}

static void encode_enable(const tendon_bluez_radio *radio, bool enable, tendon_bluez_command *out) {
    out->length = radio->extended_advertising
                      ? tendon_hci_command_extended_advertising_enable(enable, radio->advertising.set, out->bytes,
                                                                       sizeof out->bytes)
                      : tendon_hci_command_advertising_enable(enable, out->bytes, sizeof out->bytes);
}

void tendon_bluez_advertise_disable(const tendon_bluez_radio *radio, tendon_bluez_command *out) {
    encode_enable(radio, false, out);
}

/** Whether the configuration has this command. */
static bool has_step(const tendon_bluez_radio *radio, uint8_t step) {
    switch (step) {
    case STEP_ADDRESS: /* a set has its own address if the address is random */
        return radio->extended_advertising && tendon_bluez_address_is_random(radio);
    case STEP_RESPONSE: /* an extended set that is not scannable has no scan response (Vol 4 Part E 7.8.55) */
        return legacy_pdus(&radio->advertising);
    default:
        return true;
    }
}

static void encode_step(const tendon_bluez_radio *radio, uint8_t step, tendon_bluez_command *out) {
    switch (step) {
    case STEP_PARAMETERS:
        encode_parameters(radio, out);
        break;
    case STEP_ADDRESS:
        out->length = tendon_hci_command_advertising_set_random_address(radio->advertising.set, &radio->radio.address,
                                                                        out->bytes, sizeof out->bytes);
        break;
    default:
        encode_data(radio, step == STEP_RESPONSE, out);
        break;
    }
}

static tendon_bluez_demand demand_of(tendon_bluez_radio *radio, uint64_t now) {
    const tendon_bluez_activity *activity = &radio->advertising.activity;
    if (!activity->requested) {
        return TENDON_BLUEZ_HALT;
    }
    if (now < activity->retry_at) {
        tendon_bluez_wake_at(radio, activity->retry_at);
        return TENDON_BLUEZ_WAIT;
    }
    return TENDON_BLUEZ_RUN;
}

tendon_bluez_request tendon_bluez_advertise_next(tendon_bluez_radio *radio, uint64_t now, tendon_bluez_command *out) {
    tendon_bluez_activity *activity = &radio->advertising.activity;
    tendon_bluez_request request = tendon_bluez_activity_request(activity, demand_of(radio, now));
    if (request == TENDON_BLUEZ_SEND_CONFIGURATION) {
        while (!has_step(radio, activity->step)) {
            activity->step++;
        }
        encode_step(radio, activity->step, out);
    } else if (request != TENDON_BLUEZ_SEND_NOTHING) {
        encode_enable(radio, request == TENDON_BLUEZ_SEND_ENABLE, out);
    }
    return request;
}

/** Whether the configuration has a further command after this one. */
static bool has_more(const tendon_bluez_radio *radio, uint8_t step) {
    bool more = false;
    while (step < STEP_RESPONSE && !more) {
        step++;
        more = has_step(radio, step);
    }
    return more;
}

static void rejected(tendon_bluez_radio *radio, uint8_t status, uint64_t now) {
    tendon_bluez_activity *activity = &radio->advertising.activity;
    if (activity->requested && activity->confirmed && radio->kernel.connections > 0) {
        tendon_bluez_activity_retry(radio, activity, now + CONNECTED_RETRY_MS);
    } else {
        tendon_bluez_activity_rejected(radio, activity, status, false, now);
    }
}

void tendon_bluez_advertise_done(tendon_bluez_radio *radio, tendon_bluez_request request, uint8_t status,
                                 uint64_t now) {
    tendon_bluez_activity *activity = &radio->advertising.activity;
    if (tendon_bluez_activity_changes_set(activity, &radio->extended_advertising, &status,
                                          legacy_pdus(&radio->advertising))) {
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_REJECTED);
        return;
    }
    if (request == TENDON_BLUEZ_SEND_DISABLE) {
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_DISABLED); /* rejected: it was off already */
    } else if (status != 0) {
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_REJECTED);
        if (activity->state == TENDON_BLUEZ_OFF) {
            rejected(radio, status, now);
        }
    } else if (request == TENDON_BLUEZ_SEND_ENABLE) {
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_ENABLED);
    } else {
        radio->advertising.set_made = true;
        tendon_bluez_activity_input(activity, has_more(radio, activity->step) ? TENDON_BLUEZ_CONFIGURED
                                                                              : TENDON_BLUEZ_CONFIGURED_ALL);
    }
}

void tendon_bluez_advertise_ended(tendon_bluez_radio *radio) {
    tendon_bluez_activity_input(&radio->advertising.activity, TENDON_BLUEZ_STOPPED);
}

/** Whether these parameters of LE Set (Extended) Advertising Enable end what this radio advertises. */
static bool ends_ours(const tendon_bluez_radio *radio, uint16_t opcode, tendon_reader *parameters) {
    enum { ENTRY_REST = 3 }; /* duration (2), events (1) */
    bool extended = opcode == TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE;
    bool off = tendon_read_u8(parameters) == 0;
    if (!off || extended != radio->extended_advertising) {
        return false;
    }
    uint8_t sets = extended ? tendon_read_u8(parameters) : 0; /* 0: all */
    bool ours = sets == 0;
    for (uint8_t i = 0; i < sets; i++) {
        const bool is_it = tendon_read_u8(parameters) == radio->advertising.set;
        ours = ours || is_it;
        (void)tendon_read_bytes(parameters, ENTRY_REST);
    }
    return ours && tendon_reader_ok(parameters);
}

/*
 * The kernel disables all advertising before it connects, before a discovery and at suspend, and enables only its own
 * again (hci_pause_advertising_sync() of Linux); another program can disable the only set that the legacy commands
 * have.
 */
void tendon_bluez_advertise_other_sent(tendon_bluez_radio *radio, uint16_t opcode, tendon_reader *parameters) {
    tendon_bluez_activity *activity = &radio->advertising.activity;
    bool enable =
        opcode == TENDON_HCI_LE_SET_ADVERTISING_ENABLE || opcode == TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE;
    if (enable && activity->state == TENDON_BLUEZ_ON && ends_ours(radio, opcode, parameters)) {
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_STOPPED);
        tendon_bluez_activity_retry(radio, activity, tendon_monotonic_ms() + YIELD_MS);
    }
}

void tendon_bluez_advertise_disconnected(tendon_bluez_radio *radio) {
    radio->advertising.activity.retry_at = 0;
}

tendon_status tendon_bluez_advertise_start(tendon_radio *base, const tendon_advertise_parameters *parameters) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    tendon_bluez_advertising *advertising = &radio->advertising;
    if (tendon_bluez_failed(radio)) {
        return radio->power.status;
    }
    if (radio->unprivileged) {
        return TENDON_RADIO_ERROR_NO_CAP_NET_RAW;
    }
    if (advertising->activity.requested) {
        return TENDON_RADIO_ERROR_ALREADY_STARTED;
    }
    bool fits = parameters->length <= TENDON_AD_LEGACY_MAX && parameters->scan_response_length <= TENDON_AD_LEGACY_MAX;
    bool fits_extended = radio->extended_advertising && parameters->length <= TENDON_BLUEZ_ADVERTISING_MAX &&
                         parameters->scan_response_length == 0;
    if (!fits && !fits_extended) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (!advertising->set_made) {
        advertising->set = choose_set(radio);
    }
    advertising->interval_ms = parameters->interval_ms;
    advertising->length = (uint16_t)parameters->length;
    advertising->response_length = (uint16_t)parameters->scan_response_length;
    if (parameters->length > 0) {
        memcpy(advertising->data, parameters->data, parameters->length);
    }
    if (parameters->scan_response_length > 0) {
        memcpy(advertising->response, parameters->scan_response, parameters->scan_response_length);
    }
    tendon_bluez_activity_start(radio, &advertising->activity);
    return TENDON_OK;
}

#endif
