/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connectable advertising, with the extended command set where the controller
 * has it and with the legacy set otherwise. A controller ends an advertisement
 * when a central connects; it is started again at once, or, where the
 * controller refuses that, when a link ends.
 */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

/** The commands that lead to advertising, in order. */
enum { STEP_PARAMETERS = 0, STEP_ADDRESS, STEP_DATA, STEP_RESPONSE, STEP_ENABLE };

static bool is_enable(uint16_t opcode) {
    return opcode == TENDON_HCI_LE_SET_ADVERTISING_ENABLE || opcode == TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE;
}

/** Legacy PDUs, which every central understands, unless the data is longer than they hold. */
static bool legacy_pdus(const tendon_bluez_advertising *advertising) {
    return advertising->length <= TENDON_AD_LEGACY_MAX;
}

static void encode_parameters(const tendon_bluez_radio *radio, tendon_bluez_command *out) {
    const tendon_bluez_advertising *wanted = &radio->advertising;
    uint32_t interval = wanted->interval_ms * 8u / 5u;
    tendon_hci_advertising parameters = {.set = TENDON_BLUEZ_ADVERTISING_SET,
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
        legacy_pdus(wanted) ? TENDON_AD_CONNECTABLE | TENDON_AD_SCANNABLE | TENDON_AD_LEGACY : TENDON_AD_CONNECTABLE;
    out->length = tendon_hci_command_extended_advertising_parameters(&parameters, out->bytes, sizeof out->bytes);
}

static void encode_data(const tendon_bluez_radio *radio, bool response, tendon_bluez_command *out) {
    const tendon_bluez_advertising *wanted = &radio->advertising;
    const uint8_t *data = response ? wanted->response : wanted->data;
    size_t length = response ? wanted->response_length : wanted->length;
    out->length = radio->extended_advertising
                      ? tendon_hci_command_extended_advertising_data(
                            response ? TENDON_HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA
                                     : TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_DATA,
                            TENDON_BLUEZ_ADVERTISING_SET, data, length, out->bytes, sizeof out->bytes)
                      : tendon_hci_command_advertising_data(response ? TENDON_HCI_LE_SET_SCAN_RESPONSE_DATA
                                                                     : TENDON_HCI_LE_SET_ADVERTISING_DATA,
                                                            data, length, out->bytes, sizeof out->bytes);
}

static void encode_enable(const tendon_bluez_radio *radio, bool enable, tendon_bluez_command *out) {
    out->value = enable;
    out->length = radio->extended_advertising
                      ? tendon_hci_command_extended_advertising_enable(enable, TENDON_BLUEZ_ADVERTISING_SET, out->bytes,
                                                                       sizeof out->bytes)
                      : tendon_hci_command_advertising_enable(enable, out->bytes, sizeof out->bytes);
}

void tendon_bluez_advertise_disable(const tendon_bluez_radio *radio, tendon_bluez_command *out) {
    encode_enable(radio, false, out);
}

void tendon_bluez_advertise_next(tendon_bluez_radio *radio, tendon_bluez_command *out) {
    tendon_bluez_advertising *advertising = &radio->advertising;
    if (advertising->clearing || (advertising->on && !advertising->wanted)) {
        encode_enable(radio, false, out);
        return;
    }
    if (!advertising->wanted || advertising->on || advertising->waiting) {
        return;
    }
    /* A set has an address of its own, if it is a random one. */
    if (advertising->step == STEP_ADDRESS && !(radio->extended_advertising && tendon_bluez_address_is_random(radio))) {
        advertising->step = STEP_DATA;
    }
    /* An extended set that is not scannable has no scan response (Vol 4 Part E 7.8.55). */
    if (advertising->step == STEP_RESPONSE && radio->extended_advertising && !legacy_pdus(advertising)) {
        advertising->step = STEP_ENABLE;
    }
    switch (advertising->step) {
    case STEP_PARAMETERS:
        encode_parameters(radio, out);
        break;
    case STEP_ADDRESS:
        out->length = tendon_hci_command_advertising_set_random_address(
            TENDON_BLUEZ_ADVERTISING_SET, &radio->radio.address, out->bytes, sizeof out->bytes);
        break;
    case STEP_DATA:
    case STEP_RESPONSE:
        encode_data(radio, advertising->step == STEP_RESPONSE, out);
        break;
    default:
        encode_enable(radio, true, out);
        break;
    }
}

static void refused(tendon_bluez_radio *radio, uint8_t status) {
    tendon_bluez_advertising *advertising = &radio->advertising;
    if (!advertising->wanted) {
        return;
    }
    if (advertising->proven) {
        advertising->waiting = true; /* it worked before a central connected: as many links as the controller has */
        return;
    }
    if (status == HCI_COMMAND_DISALLOWED_ERROR && advertising->step == STEP_PARAMETERS && !advertising->cleared &&
        tendon_bluez_users(radio) == 0) {
        advertising->cleared = advertising->clearing = true; /* nobody else: a program that died left it on */
        return;
    }
    advertising->wanted = false;
    advertising->refusal = tendon_bluez_refusal(status);
    tendon_bluez_wake_at(radio, 0);
}

void tendon_bluez_advertise_done(tendon_bluez_radio *radio, uint16_t opcode, uint8_t status) {
    tendon_bluez_advertising *advertising = &radio->advertising;
    if (is_enable(opcode) && radio->command_value == 0) {
        advertising->on = advertising->clearing = false; /* refused: it was off already */
        advertising->step = STEP_PARAMETERS;
    } else if (status != 0) {
        refused(radio, status);
    } else if (is_enable(opcode)) {
        advertising->on = advertising->proven = true;
    } else if (advertising->step < STEP_ENABLE) {
        advertising->set_made = true;
        advertising->step++;
    }
    tendon_bluez_step(radio);
}

void tendon_bluez_advertise_connected(tendon_bluez_radio *radio) {
    if (radio->advertising.on) {
        radio->advertising.on = false;
        tendon_bluez_step(radio);
    }
}

void tendon_bluez_advertise_disconnected(tendon_bluez_radio *radio) {
    radio->advertising.waiting = false;
    tendon_bluez_step(radio);
}

void tendon_bluez_advertise_forget(tendon_bluez_radio *radio) {
    radio->advertising.on = radio->advertising.clearing = radio->advertising.waiting = false;
    radio->advertising.step = STEP_PARAMETERS;
}

tendon_status tendon_bluez_advertise_start(tendon_radio *base, const tendon_advertise_parameters *parameters) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    tendon_bluez_advertising *advertising = &radio->advertising;
    if (radio->failed || radio->unprivileged) {
        return radio->failed ? radio->failure : TENDON_RADIO_ERROR_NO_CAP_NET_RAW;
    }
    if (advertising->wanted) {
        return TENDON_RADIO_ERROR_ALREADY_STARTED;
    }
    bool fits = parameters->length <= TENDON_AD_LEGACY_MAX && parameters->scan_response_length <= TENDON_AD_LEGACY_MAX;
    bool fits_extended = radio->extended_advertising && parameters->length <= TENDON_BLUEZ_ADVERTISING_MAX &&
                         parameters->scan_response_length == 0;
    if (!fits && !fits_extended) {
        return TENDON_ERROR_INVALID_ARGUMENT;
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
    advertising->wanted = true;
    advertising->proven = advertising->waiting = false;
    advertising->cleared = false;
    advertising->refusal = TENDON_OK;
    advertising->step = STEP_PARAMETERS;
    tendon_bluez_step(radio);
    return radio->failed ? radio->failure : TENDON_OK;
}

tendon_status tendon_bluez_advertise_stop(tendon_radio *base) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    radio->advertising.wanted = false;
    tendon_bluez_step(radio);
    return TENDON_OK;
}

#else
typedef int tendon_bluez_advertise_nothing; /* ISO C wants a declaration in every file */
#endif
