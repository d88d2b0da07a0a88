/* SPDX-License-Identifier: MIT */
/*
 * Simulated Obvious device: the power is cut at random bytes of packages, toggles, images, activation, boot and
 * confirmation. Each run has its seed. After every boot: a valid image runs, the features are the old or the new ones
 * with their counter, an image that is not confirmed runs at most three times and 300 s.
 */
#include "obvious_fixture.h"

enum { RUNS_OF_PACKAGES = 2000, RUNS_OF_FIRMWARE = 1500, TRIAL_MS = 300000 };

static uint64_t state;

static uint32_t draw(uint32_t sides) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % sides;
}

static void given(unsigned seed) {
    const tendon_simulated_obvious_options options = {.counter = 41, .seed = seed + 1, .epoch = 1};
    state = 0x9E3779B97F4A7C15u * (seed + 1);
    obvious_new(&options);
    o.flash.random = seed + 1;
}

/* The power may be cut again while it boots. */
static void wait_for_boot(void) {
    do {
        obvious_run(o.now + 400);
    } while (!o.device.running);
}

static void reconnect(void) {
    if (!o.gateways[0].connected) {
        wait_for_boot();
        obvious_connect(0, 247);
    }
    obvious_hello(0);
}

/* What a feature is, as the device answers. */
typedef struct table {
    uint64_t counter;
    uint8_t enable[3], toggle[3];
} table;

static const uint16_t ids[3] = {16, 17, 18};

static table read_table(void) {
    table t = {.counter = o.device.counter};
    for (size_t i = 0; i < 3; i++) {
        tendon_simulated_obvious_feature feature;
        (void)tendon_simulated_obvious_get(&o.device, ids[i], &feature);
        t.enable[i] = feature.enable;
        t.toggle[i] = feature.toggle;
    }
    return t;
}

static bool is_same(const table *a, const table *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static void a_package_is_applied_whole_or_not_at_all(void **unused) {
    (void)unused;
    unsigned olds = 0, news = 0, cuts = 0;
    for (unsigned seed = 0; seed < RUNS_OF_PACKAGES; seed++) {
        given(seed);
        reconnect();
        for (uint64_t counter = 42; counter < 46; counter++) {
            uint8_t package[200], entries[24] = {0};
            table before = read_table(), after = {.counter = counter};
            for (size_t i = 0; i < 3; i++) { /* all listed in a full set */
                entries[8 * i] = (uint8_t)ids[i];
                after.enable[i] = entries[8 * i + 2] = (uint8_t)draw(2);
                after.toggle[i] = entries[8 * i + 3] = (uint8_t)draw(3);
            }
            size_t length = obvious_package(package, 1, 0, counter, entries, 3);
            bool armed = draw(3) != 0;
            if (armed) {
                o.flash.cut_after = draw(3000);
            }
            int status = obvious_transfer(0, 1, package, length, 1 + draw(124), NULL);
            if (status == 0) {
                o.flash.cut_after = UINT64_MAX;
            }
            cuts += status != 0;
            if (status != 0) {
                assert_int_equal(status, -1);
                reconnect();
            }
            table found = read_table();
            bool is_new = is_same(&found, &after);
            if (!is_new && !is_same(&found, &before)) {
                fail_msg("seed %u: neither the old nor the new features", seed);
            }
            assert_true(is_new || status != 0);
            olds += !is_new;
            news += is_new;
            /* The transfer ends, wherever it was cut. */
            assert_int_equal(obvious_transfer(0, 1, package, length, 50, NULL), 0);
            found = read_table();
            assert_true(is_same(&found, &after));
        }
    }
    assert_true(cuts > RUNS_OF_PACKAGES && olds > 100 && news > 100);
}

/* ---- firmware ---- */

static uint8_t image[2][OBVIOUS_IMAGE_MAX];
static size_t image_length[2];
static unsigned trial_boots;
static uint64_t trial_since;
static uint32_t seen_boot_id;

/* After each boot, and whenever time has passed. */
static void check_image(unsigned seed, const uint8_t *old, size_t old_length, const uint8_t *new, size_t new_length) {
    const tendon_simulated_obvious *d = &o.device;
    if (!d->running) {
        return;
    }
    const uint8_t *slot = o.memory + d->slot_page[d->slot] * OBVIOUS_PAGE;
    bool trial = d->slot != d->boot.active;
    const uint8_t *expected = trial || d->boot.slots[d->slot].version == 1004000 ? new : old;
    size_t length = expected == new ? new_length : old_length;
    if (d->recovery || memcmp(slot, expected, length) != 0) {
        fail_msg("seed %u: no valid image runs", seed);
    }
    if (trial && d->boot_id != seen_boot_id) {
        trial_since = trial_boots == 0 ? o.now : trial_since;
        trial_boots++;
    }
    seen_boot_id = d->boot_id;
    if (trial && (trial_boots > 3 || o.now - trial_since > TRIAL_MS + 1000)) {
        fail_msg("seed %u: %u boots and %u ms without confirmation", seed, trial_boots,
                 (unsigned)(o.now - trial_since));
    }
}

/* One attempt to upgrade, which any cut may end. True if the new firmware is confirmed. */
static bool upgrade(unsigned seed, const uint8_t *manifest) {
    size_t chunk = 100 + draw(900), got;
    if (!o.gateways[0].connected) {
        wait_for_boot();
        check_image(seed, image[0], image_length[0], image[1], image_length[1]);
        obvious_connect(0, 247);
    }
    if (obvious_ask_hex(0, 0x01, "01 01 00 10 08 00 01 02 03 04 05 06 07 08") != 0 ||
        obvious_ask(0, 0x32, "", 0) != 0) {
        return false;
    }
    const uint8_t *answer = obvious_payload(0, &got);
    if (obvious_u32(answer) == 1004000) {
        if (answer[4] == 1) {
            return true;
        }
        unsigned what = draw(8);
        if (what == 0) { /* the gateway forgets it */
            obvious_run(o.now + draw(400000));
        } else if (what == 1) {
            tendon_simulated_obvious_watchdog(&o.device, o.now);
        } else if (what == 2) {
            tendon_simulated_obvious_power_cut(&o.device, o.now);
        } else {
            return obvious_ask_hex(0, 0x31, "e0 51 0f 00 01") == 0;
        }
        return false;
    }
    if (answer[9] != 2) {
        (void)obvious_transfer(0, 2, image[1], image_length[1], chunk, manifest);
        return false;
    }
    trial_boots = 0;
    if (obvious_ask_hex(0, 0x30, "e0 51 0f 00 01 00") == 0) {
        obvious_run(o.now + 500);
    }
    return false;
}

static void a_valid_image_boots_wherever_the_power_is_cut(void **unused) {
    (void)unused;
    unsigned cuts = 0, rollbacks = 0, attempts = 0;
    for (unsigned seed = 0; seed < RUNS_OF_FIRMWARE; seed++) {
        uint8_t manifest[136];
        given(seed);
        tendon_simulated_obvious_options options = o.device.options;
        for (size_t i = 0; i < 2; i++) {
            image_length[i] = 1 + draw(i == 0 ? 600 : 1500);
            for (size_t j = 0; j < image_length[i]; j++) {
                image[i][j] = (uint8_t)draw(256);
            }
        }
        options.image = image[0];
        options.image_length = (uint32_t)image_length[0];
        obvious_new(&options);
        o.flash.random = seed + 1;
        obvious_manifest(manifest, 1004000, 1 + draw(2), image[1], image_length[1]);
        const table before = read_table();
        trial_boots = 0;
        seen_boot_id = o.device.boot_id;
        unsigned tries = 0;
        bool done = false;
        while (!done) {
            if (tries < 12 && draw(3) != 0) {
                o.flash.cut_after = draw(4) != 0 ? draw(600) : draw(6000);
            }
            done = upgrade(seed, manifest);
            obvious_run(o.now + draw(3));
            check_image(seed, image[0], image_length[0], image[1], image_length[1]);
            const table now = read_table();
            assert_true(!o.device.running || is_same(&now, &before));
            if (++tries > 200) {
                fail_msg("seed %u: the upgrade does not end", seed);
            }
        }
        o.flash.cut_after = UINT64_MAX;
        attempts += tries;
        cuts += (unsigned)o.device.counters.power_cuts;
        rollbacks += (unsigned)o.device.counters.rollbacks;
        assert_int_equal(o.device.boot.epoch, manifest[64]);
        assert_int_equal(o.wear[o.device.slot_page[0]], 1); /* it was never taken for a new device */
    }
    assert_true(cuts > RUNS_OF_FIRMWARE && rollbacks > 50);
    print_message("# %u attempts, %u power cuts, %u rollbacks\n", attempts, cuts, rollbacks);
}

/* A new device whose power is cut while it gets its first firmware. */
static void a_new_device_is_completed(void **unused) {
    (void)unused;
    for (unsigned at = 0; at < 2000; at += 7) {
        static tendon_simulated_obvious device;
        given(at);
        tendon_simulated_obvious_options options = o.device.options;
        tendon_simulated_flash_blank(&o.flash);
        o.flash.cut_after = at;
        assert_int_equal(tendon_simulated_obvious_init(&device, &options), TENDON_OK);
        tendon_peripheral_device seam = tendon_simulated_obvious_device(&device);
        seam.ops->tick(seam.context, 1000);
        if (!device.running) {
            assert_int_equal(seam.ops->deadline(seam.context), 1300);
            seam.ops->tick(seam.context, 1300);
        }
        assert_true(device.running);
        assert_false(device.recovery);
        assert_int_equal(device.boot.slots[0].version, 1003000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_package_is_applied_whole_or_not_at_all),
        cmocka_unit_test(a_valid_image_boots_wherever_the_power_is_cut),
        cmocka_unit_test(a_new_device_is_completed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
