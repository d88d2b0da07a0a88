/* SPDX-License-Identifier: MIT */
/* HCI events: header, parameters, reports; and management packets. */
#include "fuzz.h"
#include "tendon/host/hci.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tendon_hci_event event;
    size_t offset = 0;
    if (tendon_hci_event_decode(data, size, &event, &offset) != TENDON_OK) {
        FUZZ_CHECK(offset <= size);
        return 0;
    }
    tendon_hci_parameters parameters;
    if (tendon_hci_decode(&event, &parameters, &offset) == TENDON_OK) {
        (void)fuzz_touch(parameters.data, parameters.length);
        if (event.code == TENDON_HCI_NUMBER_OF_COMPLETED_PACKETS) {
            FUZZ_CHECK(parameters.length == (size_t)parameters.count * 4);
        }
    }
    tendon_hci_reports reports = tendon_hci_reports_of(&event);
    tendon_ad_report report;
    size_t count = 0;
    while (tendon_hci_reports_next(&reports, &report)) {
        (void)fuzz_touch(report.data, report.length);
        FUZZ_CHECK(++count <= 255);
        FUZZ_CHECK((report.properties & TENDON_AD_LEGACY) == 0 || report.length <= TENDON_AD_LEGACY_MAX);
    }
    FUZZ_CHECK(reports.error_offset <= event.length);
    return 0;
}
