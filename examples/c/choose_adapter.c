/* SPDX-License-Identifier: MIT */
/* Lists the Bluetooth adapters of this machine, opens one, and prints the devices that advertise for three seconds.
 * Usage: choose_adapter [hciN]. Without an argument it opens the adapter with the lowest index. */
#include <stdio.h>
#include <tendon/tendon.h>

#if !defined(TENDON_HAVE_BLUEZ)
#error "this build of Tendon has no adapters: meson setup -Dbluez=enabled, or -Dbluez=kernel"
#endif

#define ADAPTERS_MAX 8

static tendon_loop loop;
static tendon_bluez_radio radio;
static unsigned reports;
static tendon_status failure; /* of the adapter, while it scans */

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    char address[TENDON_ADDRESS_STRING_SIZE];
    const tendon_family *family = tendon_family_from_advertisement(report->data, report->length);
    (void)context;
    (void)now;
    tendon_address_format(&report->address, address);
    printf("%s %4d dBm %s\n", address, report->rssi, family != NULL ? family->title : "");
    reports++;
}

static void on_failure(void *context, tendon_status status, uint64_t now) {
    (void)context;
    (void)now;
    failure = status;
    tendon_loop_stop(&loop);
}

/* Requires no capability, and switches nothing on. */
static void list_adapters(void) {
    tendon_bluez_adapter adapters[ADAPTERS_MAX];
    tendon_status count = tendon_bluez_list(adapters, ADAPTERS_MAX);
    for (int i = 0; i < count && i < ADAPTERS_MAX; i++) {
        fprintf(stderr, "%s: %s%s%s\n", adapters[i].name, adapters[i].powered ? "on" : "off",
                adapters[i].blocked ? ", blocked by rfkill" : "", adapters[i].low_energy ? "" : ", no Bluetooth LE");
    }
}

int main(int count, char **words) {
    const char *name = count > 1 ? words[1] : NULL;
    tendon_status status = tendon_loop_init(&loop);
    if (status < 0) {
        fprintf(stderr, "no event loop: %s\n", tendon_status_text(status));
        return 3;
    }
    list_adapters();
    status = tendon_bluez_open(&radio, &loop, name);
    if (status < 0) {
        fprintf(stderr, "%s: %s\n", name != NULL ? name : "no adapter", tendon_status_text(status));
        tendon_loop_close(&loop);
        return 3;
    }
    radio.radio.on_report = on_report;
    radio.radio.on_failure = on_failure;
    status = tendon_radio_scan_start(&radio.radio, &(tendon_scan_parameters){.active = true});
    if (status >= 0) {
        status = tendon_loop_run(&loop, tendon_monotonic_ms() + 3000);
        tendon_radio_scan_stop(&radio.radio);
        status = status < 0 ? status : failure;
    }
    if (status < 0) {
        fprintf(stderr, "no scan: %s\n", tendon_status_text(status));
    }
    tendon_radio_close(&radio.radio);
    tendon_loop_close(&loop);
    if (status >= 0 && reports == 0) {
        fprintf(stderr, "no device advertises\n");
        return 4;
    }
    return status < 0 ? 1 : 0;
}
