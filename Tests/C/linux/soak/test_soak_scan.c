/* SPDX-License-Identifier: MIT */
/*
 * 400 advertisers on the virtual radio, heard again and again: what listens has tables of a fixed size, counts what
 * has no room in them, and takes no more memory. TENDON_SOAK=1: two million reports.
 */
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EACH = 100, FAMILIES = 4, TRAINERS = 4, GRIPS = 8, WARM_UP = 3 };

typedef struct listeners {
    tendon_feelspace_session belts;
    tendon_activ5_manager trainers;
    tendon_activ5_device trainer_table[TRAINERS];
    tendon_fjorden_session grips;
    tendon_fjorden_profile profile;
    tendon_fjorden_grip grip_table[GRIPS];
    unsigned reports;
} listeners;

static void on_belt(void *context, const tendon_feelspace_event *event, uint64_t now) {
    (void)context;
    (void)event;
    (void)now;
}

static void on_trainer(void *context, const tendon_activ5_event *event, uint64_t now) {
    (void)context;
    (void)event;
    (void)now;
}

static tendon_status on_request(void *context, const tendon_activ5_request *request, uint64_t now) {
    (void)context;
    (void)request;
    (void)now;
    return TENDON_OK;
}

static void on_grip(void *context, const tendon_fjorden_session_event *notice, uint64_t now) {
    (void)context;
    (void)notice;
    (void)now;
}

static tendon_status scans(void *context, bool on) {
    (void)context;
    (void)on;
    return TENDON_OK;
}

static tendon_status connects(void *context) {
    (void)context;
    return TENDON_OK;
}

static void disconnects(void *context) {
    (void)context;
}

static void call_grips(listeners *l, tendon_fjorden_input_kind kind) {
    const tendon_fjorden_input input = {.kind = kind};
    assert_int_equal(tendon_fjorden_session_input(&l->grips, &input, 0), TENDON_OK);
}

static void start_to_listen(listeners *l) {
    const tendon_session_link link = {.connect = connects, .disconnect = disconnects};
    const tendon_feelspace_session_config belts = {.link = link, .scan = scans, .on_event = on_belt};
    assert_int_equal(tendon_feelspace_session_init(&l->belts, &belts), TENDON_OK);
    assert_int_equal(tendon_feelspace_session_scan(&l->belts, UINT32_MAX, 0), TENDON_OK);
    tendon_activ5_manager_init(&l->trainers, l->trainer_table, TRAINERS, on_trainer, on_request, NULL);
    l->trainers.options.search_timeout_ms = UINT32_MAX;
    assert_int_equal(tendon_activ5_manager_scan(&l->trainers, 0), TENDON_OK);
    tendon_fjorden_profile_init(&l->profile);
    const tendon_fjorden_session_config grips = {
        .link = link, .profile = &l->profile, .grips = l->grip_table, .grip_capacity = GRIPS, .on_event = on_grip};
    assert_int_equal(tendon_fjorden_session_init(&l->grips, &grips), TENDON_OK);
    call_grips(l, TENDON_FJORDEN_CALL_CONFIGURE);
    tendon_fjorden_manager_set_environment(&l->grips.manager, TENDON_FJORDEN_AUTHORIZATION_ALLOWED, true);
    call_grips(l, TENDON_FJORDEN_CALL_START);
    call_grips(l, TENDON_FJORDEN_CALL_SCAN);
}

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    listeners *l = context;
    l->reports++;
    tendon_feelspace_session_advertised(&l->belts, report, now);
    (void)tendon_fjorden_session_on_advertisement(&l->grips, report, now);
    (void)tendon_activ5_manager_on_advertisement(&l->trainers, report, now);
}

/* ---- those who are heard ---- */

typedef struct advertiser {
    uint8_t data[TENDON_AD_LEGACY_MAX], response[TENDON_AD_LEGACY_MAX];
    size_t length, response_length;
} advertiser;

static advertiser *make_advertisers(void) {
    static union {
        tendon_simulated_bose bose;
        tendon_simulated_feelspace feelspace;
        tendon_simulated_activ5 activ5;
        tendon_simulated_fjorden fjorden;
    } memory;
    advertiser *all = calloc(FAMILIES * EACH, sizeof *all);
    assert_non_null(all);
    for (unsigned i = 0; i < FAMILIES * EACH; i++) {
        char name[32];
        static const char *const names[FAMILIES] = {"LE-Bose %u", "naviGuertel %u", "ACTIV5-AC-%04u",
                                                    "Fjorden Grip %u"};
        tendon_peripheral_device device;
        unsigned family = i % FAMILIES;
        snprintf(name, sizeof name, names[family], i);
        tendon_simulated_bose_options frames = tendon_simulated_bose_frames();
        frames.name = name;
        const tendon_simulated_feelspace_options belt = {.name = name};
        const tendon_simulated_activ5_options trainer = {.name = name};
        const tendon_simulated_fjorden_options grip = {.name = name};
        if (family == 0) {
            (void)tendon_simulated_bose_init(&memory.bose, &frames);
            device = tendon_simulated_bose_device(&memory.bose);
        } else if (family == 1) {
            (void)tendon_simulated_feelspace_init(&memory.feelspace, &belt);
            device = tendon_simulated_feelspace_device(&memory.feelspace);
        } else if (family == 2) {
            (void)tendon_simulated_activ5_init(&memory.activ5, &trainer);
            device = tendon_simulated_activ5_device(&memory.activ5);
        } else {
            (void)tendon_simulated_fjorden_init(&memory.fjorden, &grip);
            device = tendon_simulated_fjorden_device(&memory.fjorden);
        }
        tendon_status length = device.ops->advertisement(device.context, all[i].data, sizeof all[i].data);
        tendon_status response = device.ops->scan_response(device.context, all[i].response, sizeof all[i].response);
        assert_true(length > 0 && response > 0);
        all[i].length = (size_t)length;
        all[i].response_length = (size_t)response;
    }
    return all;
}

/* One after the other, each under its own address; every one of them is heard. */
static void let_all_advertise(tendon_loop *loop, tendon_virtual_radio *air, const advertiser *all, listeners *l) {
    for (unsigned i = 0; i < FAMILIES * EACH; i++) {
        unsigned before = l->reports;
        air->radio.address.bytes[0] = (uint8_t)i;
        air->radio.address.bytes[1] = (uint8_t)(i >> 8);
        const tendon_advertise_parameters parameters = {.data = all[i].data,
                                                        .length = all[i].length,
                                                        .scan_response = all[i].response,
                                                        .scan_response_length = all[i].response_length,
                                                        .interval_ms = 10000};
        assert_int_equal(tendon_radio_advertise_start(&air->radio, &parameters), TENDON_OK);
        STEP_UNTIL(loop, l->reports == before + 2); /* its advertisement and its scan response */
        assert_int_equal(tendon_radio_advertise_stop(&air->radio), TENDON_OK);
    }
}

/* ---- what it takes ---- */

/* The address sanitizer keeps what was freed, for a while: only builds without it tell. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

static long resident_pages(void) {
    FILE *statm = fopen("/proc/self/statm", "r");
    long size = 0, resident = 0;
    assert_non_null(statm);
    assert_int_equal(fscanf(statm, "%ld %ld", &size, &resident), 2);
    fclose(statm);
    return resident;
}

typedef struct left_out {
    uint64_t belts, trainers, grips;
} left_out;

static left_out counted(const listeners *l) {
    return (left_out){l->belts.counters.advertisers_left_out, l->trainers.left_out, l->grips.manager.grips_replaced};
}

static void scanning_among_400_advertisers_takes_no_memory(void **state) {
    (void)state;
    static const tendon_address here = {{1, 0, 0, 0, 0, 0xC0}, TENDON_ADDRESS_TYPE_RANDOM};
    static const tendon_address there = {{0, 0, 0, 0, 0, 0xD0}, TENDON_ADDRESS_TYPE_RANDOM};
    unsigned rounds = WARM_UP + (getenv("TENDON_SOAK") != NULL ? 2500 : 5);
    char directory[] = "/tmp/tendon-soak-XXXXXX";
    tendon_loop loop;
    tendon_virtual_radio ours, air;
    listeners *l = calloc(1, sizeof *l);
    advertiser *all = make_advertisers();
    assert_non_null(mkdtemp(directory));
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    assert_int_equal(tendon_virtual_radio_open(&ours, &loop, directory, &here), TENDON_OK);
    assert_int_equal(tendon_virtual_radio_open(&air, &loop, directory, &there), TENDON_OK);
    start_to_listen(l);
    ours.radio.on_report = on_report;
    ours.radio.report_context = l;
    assert_int_equal(tendon_radio_scan_start(&ours.radio, &(tendon_scan_parameters){.active = true}), TENDON_OK);
    long pages = 0;
    size_t files = 0;
    for (unsigned round = 0; round < rounds; round++) {
        left_out before = counted(l);
        let_all_advertise(&loop, &air, all, l);
        left_out after = counted(l);
        if (round > 0) { /* the tables are full, and what has no room is counted, each time as often */
            assert_int_equal(after.belts - before.belts, 2 * (EACH - TENDON_FEELSPACE_ADVERTISERS_MAX));
            assert_int_equal(after.trainers - before.trainers, EACH - TRAINERS);
            assert_int_equal(after.grips - before.grips, EACH); /* the longest unseen is replaced */
        }
        assert_int_equal(l->grips.manager.grip_count, GRIPS);
        if (round + 1 == WARM_UP) {
            pages = resident_pages();
            files = soak_open_files();
        }
    }
    assert_int_equal(l->reports, 2u * FAMILIES * EACH * rounds);
    assert_int_equal(soak_open_files(), files);
    long grown = resident_pages() - pages;
    print_message("%u reports of %u advertisers: %ld pages more\n", l->reports, (unsigned)FAMILIES * EACH, grown);
    assert_true(grown <= 64 || SANITIZED); /* the kernel counts in steps */
    assert_int_equal(tendon_radio_scan_stop(&ours.radio), TENDON_OK);
    tendon_radio_close(&ours.radio);
    tendon_radio_close(&air.radio);
    tendon_loop_close(&loop);
    assert_int_equal(rmdir(directory), 0);
    free(all);
    free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scanning_among_400_advertisers_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
