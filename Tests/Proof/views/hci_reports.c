/* SPDX-License-Identifier: MIT */
#include "tendon/host/hci.h"
#include "view.h"

/* The first report of each kind of event; the next begins where the reader's position is, which is within the event. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    /* The two kinds of report, and one event that is none. Split into all 256 subevents, this takes 40 s. */
    static const uint8_t subevents[] = {TENDON_HCI_LE_ADVERTISING_REPORT, TENDON_HCI_LE_EXTENDED_ADVERTISING_REPORT,
                                        TENDON_HCI_LE_CONNECTION_COMPLETE};
    int kind = Frama_C_interval(0, 2);
    size_t at;
    //@ split kind;
    uint8_t subevent = subevents[kind];
    at = subevent == 0x0D ? 24 : 9; /* where the data length stands (Vol 4 Part E 7.7.65.2 and 7.7.65.13) */
    if (at < length) {
        input[at] = proof_pinned(length);
    }
    tendon_hci_event event = {0x3E, subevent, input, length};
    tendon_hci_reports reports = tendon_hci_reports_of(&event);
    tendon_ad_report report;
    if (tendon_hci_reports_next(&reports, &report)) {
        proof_view(report.data, report.length);
    }
    if (reports.reader.position > length) {
        proof_fail();
    }
    return 0;
}
