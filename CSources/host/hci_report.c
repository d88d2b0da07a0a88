/* SPDX-License-Identifier: MIT */
#include "tendon/host/hci.h"

tendon_hci_reports tendon_hci_reports_of(const tendon_hci_event *event) {
    tendon_hci_reports reports = {tendon_reader_make(event->data, event->length), 0, false, TENDON_OK, 0};
    reports.extended = event->subevent == TENDON_HCI_LE_EXTENDED_ADVERTISING_REPORT;
    if (event->code != TENDON_HCI_LE_META ||
        (event->subevent != TENDON_HCI_LE_ADVERTISING_REPORT && !reports.extended)) {
        reports.status = TENDON_ERROR_UNSUPPORTED;
        return reports;
    }
    reports.left = tendon_read_u8(&reports.reader);
    if (!tendon_reader_ok(&reports.reader)) {
        reports.status = TENDON_ERROR_TRUNCATED;
    } else if (reports.left == 0) {
        reports.status = TENDON_ERROR_MALFORMED;
    }
    return reports;
}

/* ADV_IND, ADV_DIRECT_IND, ADV_SCAN_IND, ADV_NONCONN_IND, SCAN_RSP as bits of the extended form. */
static uint16_t legacy_properties(uint8_t type) {
    static const uint8_t bits[] = {
        TENDON_AD_LEGACY | TENDON_AD_CONNECTABLE | TENDON_AD_SCANNABLE,
        TENDON_AD_LEGACY | TENDON_AD_CONNECTABLE | TENDON_AD_DIRECTED,
        TENDON_AD_LEGACY | TENDON_AD_SCANNABLE,
        TENDON_AD_LEGACY,
        TENDON_AD_LEGACY | TENDON_AD_SCANNABLE | TENDON_AD_SCAN_RESPONSE,
    };
    return type < sizeof(bits) ? bits[type] : (uint16_t)(TENDON_AD_LEGACY | (unsigned)type << 8);
}

static tendon_address take_address(tendon_reader *reader) {
    static const uint8_t none[6] = {0};
    uint8_t kind = tendon_read_u8(reader);
    const uint8_t *wire = tendon_read_bytes(reader, sizeof(none));
    return tendon_address_from_wire(wire != NULL ? wire : none, kind);
}

static void take_data(tendon_reader *reader, tendon_ad_report *out) {
    size_t where = reader->position;
    out->length = tendon_read_u8(reader);
    if (tendon_reader_ok(reader) && (out->properties & TENDON_AD_LEGACY) != 0 && out->length > TENDON_AD_LEGACY_MAX) {
        reader->status = TENDON_ERROR_MALFORMED;
        reader->error_offset = where;
    }
    out->data = tendon_read_bytes(reader, out->length);
}

/* Vol 4 Part E 7.7.65.2 */
static void take_legacy(tendon_reader *reader, tendon_ad_report *out) {
    out->properties = legacy_properties(tendon_read_u8(reader));
    out->address = take_address(reader);
    take_data(reader, out);
    out->rssi = tendon_read_i8(reader);
    out->tx_power = TENDON_RSSI_UNKNOWN;
    out->primary_phy = 1;
    out->set_id = 0xFF;
}

/* Vol 4 Part E 7.7.65.13 */
static void take_extended(tendon_reader *reader, tendon_ad_report *out) {
    out->properties = tendon_read_u16le(reader);
    out->address = take_address(reader);
    out->primary_phy = tendon_read_u8(reader);
    out->secondary_phy = tendon_read_u8(reader);
    out->set_id = tendon_read_u8(reader);
    out->tx_power = tendon_read_i8(reader);
    out->rssi = tendon_read_i8(reader);
    (void)tendon_read_u16le(reader); /* interval of periodic advertising */
    (void)take_address(reader);      /* the target of a directed advertisement */
    take_data(reader, out);
}

bool tendon_hci_reports_next(tendon_hci_reports *reports, tendon_ad_report *out) {
    if (reports->status != TENDON_OK) {
        return false;
    }
    if (reports->left == 0) {
        if (tendon_reader_remaining(&reports->reader) > 0) {
            reports->status = TENDON_ERROR_MALFORMED;
            reports->error_offset = reports->reader.position;
        }
        return false;
    }
    reports->left--;
    *out = (tendon_ad_report){0};
    if (reports->extended) {
        take_extended(&reports->reader, out);
    } else {
        take_legacy(&reports->reader, out);
    }
    if (!tendon_reader_ok(&reports->reader)) {
        reports->status = reports->reader.status;
        reports->error_offset = reports->reader.error_offset;
        return false;
    }
    return true;
}
