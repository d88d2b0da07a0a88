/* SPDX-License-Identifier: MIT */
#include "virtual_fixture.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const tendon_address device_address = {{0xC1, 2, 3, 4, 5, 0xD0}, TENDON_ADDRESS_TYPE_RANDOM};
const tendon_address central_address = {{0xC1, 2, 3, 4, 5, 0xCE}, TENDON_ADDRESS_TYPE_PUBLIC};

int world_setup(void **state) {
    world *w = calloc(1, sizeof *w);
    strcpy(w->directory, "/tmp/tendon-test-XXXXXX");
    if (mkdtemp(w->directory) == NULL || tendon_loop_init(&w->loop) < 0) {
        free(w);
        return -1;
    }
    *state = w;
    return tendon_virtual_radio_open(&w->device, &w->loop, w->directory, &device_address) == TENDON_OK &&
                   tendon_virtual_radio_open(&w->central, &w->loop, w->directory, &central_address) == TENDON_OK
               ? 0
               : -1;
}

int entries(const char *directory) {
    DIR *d = opendir(directory);
    int count = 0;
    while (readdir(d) != NULL) {
        count++;
    }
    closedir(d);
    return count - 2;
}

int world_teardown(void **state) {
    world *w = *state;
    tendon_link_close(&w->end.link);
    for (int i = 0; i < 4; i++) {
        tendon_link_close(&w->ends[i].link);
    }
    for (int i = 0; i < 4; i++) {
        (void)tendon_loop_step(&w->loop, 0);
    }
    tendon_radio_close(&w->device.radio);
    tendon_radio_close(&w->device.radio);
    tendon_radio_close(&w->central.radio);
    tendon_loop_close(&w->loop);
    int left = entries(w->directory);
    int removed = rmdir(w->directory);
    free(w);
    return left == 0 && removed == 0 ? 0 : -1;
}

tendon_link *on_accept(void *context, const tendon_address *peer, uint64_t now) {
    world *w = context;
    (void)now;
    w->peer = *peer;
    if (w->refuse || w->accepted == 4) {
        return NULL;
    }
    link_end_init(&w->ends[w->accepted]);
    return &w->ends[w->accepted++].link;
}

void listen_on(world *w) {
    w->listener = (tendon_listener){.context = w, .accept = on_accept};
    assert_int_equal(tendon_radio_listen(&w->device.radio, &w->listener), TENDON_OK);
}

void connect_central(world *w, uint64_t timeout) {
    link_end_init(&w->end);
    assert_int_equal(
        tendon_radio_connect(&w->central.radio, &w->end.link, &device_address, tendon_monotonic_ms() + timeout),
        TENDON_OK);
}

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    world *w = context;
    (void)now;
    w->reports++;
    w->responses += (report->properties & TENDON_AD_SCAN_RESPONSE) != 0 ? 1 : 0;
    w->report = *report;
    memcpy(w->data, report->data, report->length);
    w->report.data = w->data;
}

void scan(world *w, bool active, bool filter) {
    w->central.radio.on_report = on_report;
    w->central.radio.report_context = w;
    assert_int_equal(tendon_radio_scan_start(&w->central.radio,
                                             &(tendon_scan_parameters){.active = active, .filter_duplicates = filter}),
                     TENDON_OK);
}

const uint8_t advertised_flags[3] = {0x02, 0x01, 0x06};
const uint8_t advertised_name[4] = {0x03, 0x09, 'A', 'b'};

tendon_status advertise(world *w, size_t length, size_t response_length) {
    static const uint8_t zeros[TENDON_AD_EXTENDED_MAX] = {0};
    return tendon_radio_advertise_start(
        &w->device.radio, &(tendon_advertise_parameters){
                              .data = length == sizeof advertised_flags ? advertised_flags : zeros,
                              .length = length,
                              .scan_response = response_length == sizeof advertised_name ? advertised_name : zeros,
                              .scan_response_length = response_length,
                              .interval_ms = 20});
}
