/* SPDX-License-Identifier: MIT */
/*
 * Firmware upgrades of 1 MiB whose gateway is killed and whose device loses its power at random points: the client with
 * the simulated device, under simulated time. A killed gateway keeps nothing but the bytes of its journal, which has
 * the record before or the new one if it was killed while it stored. TENDON_SOAK=1: 1,000 runs.
 *
 * After each boot a valid image runs; every upgrade ends; what is sent again after an interruption is at most the chunk
 * that was in progress, beside the page of flash memory that was not complete. With chunks of 4,000 bytes, the usual
 * ones; of 1,000, which are shorter than a page; of 490, what a frame of 512 bytes holds.
 */
#include "obvious_fixture.h"

#include "tendon/devices/obvious_manager.h"

enum {
    IMAGE = 1 << 20,
    OLD_IMAGE = 5000,
    PAGE = 1024,
    FLASH = TENDON_SIMULATED_OBVIOUS_FLASH_SIZE(PAGE, IMAGE),
    FRAME_MAX = TENDON_OBVIOUS_FRAME_MAX,
    CHUNK = 4000,
    FAULTS_MAX = 12,   /* of one run; then it ends without faults */
    STEPS = 800,       /* of the loop in a transfer */
    LATE_STEPS = 12,   /* and from its end to the confirmation */
    LATE_BYTES = 1200, /* that the device programs then */
    LATE_FAULTS_MAX = 6,
    STARTS_MAX = 60, /* of gateways in one run */
    NEW_VERSION = 1004000
};

static const tendon_address address = {{0xC0, 0, 0, 0, 0, 6}, TENDON_ADDRESS_TYPE_RANDOM};
static uint16_t chunk;
static uint8_t flash_memory[FLASH], image[IMAGE], old_image[OLD_IMAGE], manifest[136], image_sha256[32];

/* What outlives a gateway. */
static struct {
    tendon_simulated_flash flash;
    tendon_simulated_obvious device;
    tendon_peripheral_device seam;
    tendon_memory_radio_device in_range;
    uint64_t now;
    uint8_t journal[TENDON_OBVIOUS_RECORD_SIZE];
    size_t journal_length;
    uint64_t random;
    unsigned faults, late_faults; /* that are left, in the transfer and behind it */
    uint32_t boot_id, high;       /* high: end of what was sent */
    bool interrupted;
} world;

/* One gateway process. */
static struct {
    tendon_memory_radio radio;
    tendon_obvious_session session;
    tendon_obvious_manager manager;
    uint8_t memory[TENDON_OBVIOUS_SESSION_MEMORY(FRAME_MAX)];
    unsigned kill_in, kill_in_store; /* so many steps, stores; 0: not */
    bool killed, done;
    int need, result;
} gateway_process;
#define g gateway_process

static struct {
    unsigned kills, kills_in_store, power_cuts, rollbacks, starts, failures, from_the_beginning;
    uint64_t sent, repeated, most_repeated;
} total;

static uint32_t draw(uint32_t sides) {
    world.random ^= world.random << 13;
    world.random ^= world.random >> 7;
    world.random ^= world.random << 17;
    return (uint32_t)(world.random >> 20) % sides;
}

/* ---- faults ---- */

/* Arms one of the faults that are left, in the transfer or in what follows it. */
static void arm_next(uint8_t state) {
    bool late = state >= TENDON_OBVIOUS_JOURNAL_ACTIVATE;
    unsigned *left = late ? &world.late_faults : &world.faults;
    g.kill_in = 0;
    g.kill_in_store = 0;
    world.flash.cut_after = UINT64_MAX;
    if (*left == 0) {
        return;
    }
    (*left)--;
    switch (draw(3)) {
    case 0:
        g.kill_in = 1 + draw(late ? LATE_STEPS : STEPS);
        break;
    case 1:
        g.kill_in_store = late ? 1 + draw(3) : 1; /* until its activation an upgrade has one record */
        break;
    default:
        world.flash.cut_after = draw(late ? LATE_BYTES : IMAGE);
        break;
    }
}

/* ---- the gateway's callbacks ---- */

static tendon_status read_image(void *context, uint32_t offset, uint8_t *buffer, size_t length) {
    (void)context;
    assert_true(offset <= IMAGE && length <= IMAGE - offset);
    memcpy(buffer, image + offset, length);
    if (!g.killed && offset == g.manager.offset) { /* a chunk; the check of a prefix reads what is below */
        uint32_t end = offset + (uint32_t)length, repeated = offset < world.high ? world.high - offset : 0;
        repeated = repeated < length ? repeated : (uint32_t)length;
        if (offset < world.high && !world.interrupted) {
            fail_msg("bytes from %u are sent again without an interruption", offset);
        }
        if (world.interrupted && offset < world.high) {
            uint32_t back = world.high - offset;
            total.most_repeated = back > total.most_repeated ? back : total.most_repeated;
            if (back > chunk + PAGE - 1u) {
                fail_msg("%u bytes are sent again", back);
            }
        }
        world.interrupted = world.interrupted && end < world.high;
        world.high = end > world.high ? end : world.high;
        total.sent += length;
        total.repeated += repeated;
    }
    return TENDON_OK;
}

static tendon_status store(void *context, const tendon_obvious_record *record) {
    (void)context;
    if (g.killed) {
        return TENDON_OK;
    }
    bool last = g.kill_in_store == 1;
    g.kill_in_store -= g.kill_in_store > 0;
    if (!last || draw(2) == 0) { /* killed before or after the file was renamed */
        tendon_obvious_encode_record(record, world.journal);
        world.journal_length = sizeof world.journal;
    }
    if (last) {
        g.killed = true;
        total.kills_in_store++;
    } else if (record->state >= TENDON_OBVIOUS_JOURNAL_ACTIVATE) {
        arm_next(record->state);
    }
    return TENDON_OK;
}

static void on_event(void *context, const tendon_obvious_event *event, uint64_t now) {
    (void)context, (void)now;
    if (g.killed) {
        return;
    }
    if (event->kind == TENDON_OBVIOUS_EVENT_NEED) {
        g.need = event->code != TENDON_OBVIOUS_NEED_REPORT ? event->code : g.need;
    } else if (event->kind == TENDON_OBVIOUS_EVENT_DONE) {
        g.done = true;
        g.result = event->code;
    }
}

static void on_session(void *context, const tendon_obvious_session_event *event, uint64_t now) {
    (void)context, (void)now;
    world.interrupted = world.interrupted || event->kind == TENDON_OBVIOUS_SESSION_EVENT_CLOSED;
}

static void answer(void) {
    const tendon_obvious_answer given = {.kind = g.manager.active == NEW_VERSION ? TENDON_OBVIOUS_ANSWER_NOTHING
                                                                                 : TENDON_OBVIOUS_ANSWER_GIVEN,
                                         .data = manifest,
                                         .length = sizeof manifest,
                                         .image_length = IMAGE,
                                         .image_crc32 = tendon_crc32(0, image, IMAGE),
                                         .image_sha256 = image_sha256};
    g.need = -1;
    assert_int_equal(tendon_obvious_manager_give(&g.manager, &given, world.now), TENDON_OK);
}

/* ---- the device ---- */

static void check_image(unsigned seed) {
    const tendon_simulated_obvious *d = &world.device;
    if (!d->running || d->boot_id == world.boot_id) {
        return;
    }
    world.boot_id = d->boot_id;
    if (world.flash.cut_after == UINT64_MAX) {
        arm_next(g.manager.record.state);
    }
    const uint8_t *slot = flash_memory + (size_t)d->slot_page[d->slot] * PAGE;
    bool new = d->boot.slots[d->slot].version == NEW_VERSION;
    if (d->recovery || memcmp(slot, new ? image : old_image, new ? IMAGE : OLD_IMAGE) != 0) {
        fail_msg("seed %u: no valid image runs", seed);
    }
}

static void new_device(unsigned seed) {
    static const tendon_simulated_obvious_feature features[] = {{16, 1, 1, 0}};
    const tendon_simulated_obvious_options options = {.flash = &world.flash,
                                                      .image_max = IMAGE,
                                                      .keys = &obvious_ring,
                                                      .features = features,
                                                      .feature_count = 1,
                                                      .counter = 41,
                                                      .image = old_image,
                                                      .image_length = OLD_IMAGE,
                                                      .open = true,
                                                      .seed = seed + 1};
    memset(&world, 0, sizeof world);
    world.now = 5000;
    world.random = 0x9E3779B97F4A7C15u * (seed + 1u);
    world.faults = 1 + draw(FAULTS_MAX);
    world.late_faults = draw(LATE_FAULTS_MAX + 1);
    assert_int_equal(tendon_simulated_flash_init(&world.flash, flash_memory, FLASH, PAGE), TENDON_OK);
    tendon_simulated_flash_blank(&world.flash);
    world.flash.random = seed + 1;
    assert_int_equal(tendon_simulated_obvious_init(&world.device, &options), TENDON_OK);
    world.seam = tendon_simulated_obvious_device(&world.device);
    world.seam.ops->tick(world.seam.context, world.now);
}

/* ---- a process ---- */

static void load(void *context, tendon_obvious_record *record) {
    (void)context;
    if (world.journal_length > 0) {
        assert_int_equal(tendon_obvious_decode_record(world.journal, world.journal_length, record), TENDON_OK);
    }
}

static void start_gateway(void) {
    tendon_obvious_record record;
    memset(&g, 0xA5, sizeof g); /* nothing of the process before is left */
    g.kill_in = g.kill_in_store = 0;
    g.killed = g.done = false;
    g.need = -1;
    world.in_range =
        (tendon_memory_radio_device){.device = world.seam, .address = address, .rssi = -40, .present = true};
    tendon_memory_radio_init(&g.radio, &world.in_range, 1);
    tendon_memory_radio_attach(&g.radio, &tendon_obvious_manager_inputs, &g.manager);
    tendon_memory_radio_set_target(&g.radio, &address);
    const tendon_obvious_session_config session = {.link = tendon_memory_radio_link(&g.radio),
                                                   .memory = g.memory,
                                                   .frame_max = FRAME_MAX,
                                                   .window = 8,
                                                   .on_event = on_session};
    const tendon_obvious_manager_config manager = {.session = &g.session,
                                                   .ring = &obvious_ring,
                                                   .product = 1234,
                                                   .chunk_max = chunk,
                                                   .min_battery = 20,
                                                   .on_event = on_event,
                                                   .read = read_image,
                                                   .store = store,
                                                   .load = load};
    assert_int_equal(tendon_obvious_session_init(&g.session, &session), TENDON_OK);
    assert_int_equal(tendon_obvious_manager_init(&g.manager, &manager), TENDON_OK);
    bool kept = world.journal_length > 0;
    if (kept) {
        assert_int_equal(tendon_obvious_decode_record(world.journal, world.journal_length, &record), TENDON_OK);
    }
    if (!kept || record.state == TENDON_OBVIOUS_JOURNAL_NONE) { /* a new upgrade, from the beginning */
        total.from_the_beginning += world.high > 0;
        world.high = 0;
    }
    arm_next(kept ? record.state : TENDON_OBVIOUS_JOURNAL_NONE);
    assert_int_equal(tendon_obvious_manager_start(&g.manager, TENDON_OBVIOUS_UPGRADE_FIRMWARE, NULL, 0, world.now),
                     TENDON_OK);
    total.starts++;
}

/* Until the operation is done, or the process is killed. */
static void run_gateway(unsigned seed) {
    const uint64_t limit = world.now + 4000000; /* more than the 30 min of an upgrade */
    while (!g.done && !g.killed) {
        if (g.radio.peer == NULL) { /* in range when it runs */
            world.seam.ops->tick(world.seam.context, world.now);
            world.in_range.present = world.device.running;
        }
        tendon_memory_radio_tick(&g.radio, world.now);
        check_image(seed);
        if (g.need >= 0 && !g.killed) {
            answer();
        }
        if (g.kill_in > 0 && --g.kill_in == 0) {
            g.killed = true;
            total.kills++;
        }
        uint64_t due = tendon_memory_radio_deadline(&g.radio), device = world.seam.ops->deadline(world.seam.context);
        due = device < due ? device : due;
        world.now = due > world.now && due != UINT64_MAX ? due : world.now + (g.radio.peer == NULL);
        if (world.now >= limit) {
            fail_msg("seed %u: the upgrade does not end", seed);
        }
    }
    /* The process ends: the kernel ends its connection, and it sees nothing of it. */
    world.interrupted = world.interrupted || g.killed;
    tendon_memory_radio_set_present(&g.radio, &world.in_range, false, world.now);
}

static void run(unsigned seed) {
    new_device(seed);
    unsigned starts = 0;
    for (bool ended = false; !ended;) {
        if (++starts > STARTS_MAX) {
            fail_msg("seed %u: not upgraded after %u starts", seed, starts);
        }
        start_gateway();
        run_gateway(seed);
        if (g.killed) {
            /* Until it is back: longer than a trial, too. */
            world.now += draw(2) == 0 ? draw(600000) : draw(3000);
            continue;
        }
        ended = g.result == TENDON_OBVIOUS_UPGRADE_SUCCESS ||
                (g.result == TENDON_OBVIOUS_UPGRADE_UNAVAILABLE && g.manager.active == NEW_VERSION);
        if (!ended) {
            total.failures++;
            world.now += 1000 + draw(400000);
        }
    }
    const tendon_simulated_obvious *d = &world.device;
    assert_int_equal(d->slot, d->boot.active); /* confirmed */
    assert_int_equal(d->boot.slots[d->slot].version, NEW_VERSION);
    assert_int_equal(d->counter, 41);
    total.power_cuts += (unsigned)d->counters.power_cuts;
    total.rollbacks += (unsigned)d->counters.rollbacks;
}

static void upgrade_in_chunks(uint16_t of, unsigned runs) {
    chunk = of;
    memset(&total, 0, sizeof total);
    for (size_t i = 0; i < IMAGE; i++) {
        image[i] = (uint8_t)(11 * i + 3 + (i >> 10));
    }
    for (size_t i = 0; i < OLD_IMAGE; i++) {
        old_image[i] = (uint8_t)(7 * i + 1);
    }
    signer_sha256(NULL, image, IMAGE, image_sha256);
    obvious_manifest(manifest, NEW_VERSION, 0, image, IMAGE);
    for (unsigned seed = 0; seed < runs; seed++) {
        run(seed);
    }
    printf("# chunks of %u bytes, %u runs: %u kills, %u of them in a store, %u power cuts, %u rollbacks, %u starts of "
           "gateways\n",
           chunk, runs, total.kills + total.kills_in_store, total.kills_in_store, total.power_cuts, total.rollbacks,
           total.starts);
    printf("# %u operations failed and were started again; %u starts with a closed record, from the beginning\n",
           total.failures, total.from_the_beginning);
    printf("# %llu bytes sent, %llu of them twice: %.3f %%; at most %llu after an interruption\n",
           (unsigned long long)total.sent, (unsigned long long)total.repeated,
           100.0 * (double)total.repeated / (double)total.sent, (unsigned long long)total.most_repeated);
    assert_true(total.kills > runs / 2 && total.kills_in_store > runs / 4 && total.power_cuts > runs / 2 &&
                (runs < 100 || total.rollbacks > 0));
    assert_true(total.repeated > 0 && total.repeated < total.sent / 50);
}

static void every_upgrade_ends_with_a_valid_image(void **state) {
    (void)state;
    upgrade_in_chunks(CHUNK, getenv("TENDON_SOAK") != NULL ? 1000 : whole_or_part(100, 25));
}

static void and_in_chunks_shorter_than_a_page(void **state) {
    (void)state;
    upgrade_in_chunks(1000, getenv("TENDON_SOAK") != NULL ? 1000 : 25);
}

static void and_in_chunks_of_the_shortest_frames(void **state) {
    (void)state;
    upgrade_in_chunks(490, getenv("TENDON_SOAK") != NULL ? 1000 : 25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_upgrade_ends_with_a_valid_image),
        cmocka_unit_test(and_in_chunks_shorter_than_a_page),
        cmocka_unit_test(and_in_chunks_of_the_shortest_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
