/* SPDX-License-Identifier: MIT */
/* The pairing agents of two radios, on the virtual radio: every pair of IO capabilities, right and wrong passkeys. */
#include "../../../../CSources/linux/socket_link.h"
#include "../link_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tendon_address addresses[2] = {{{0xC1, 2, 3, 4, 5, 0xD0}, TENDON_ADDRESS_TYPE_RANDOM},
                                            {{0xC1, 2, 3, 4, 5, 0xCE}, TENDON_ADDRESS_TYPE_RANDOM}};
enum { DEVICE, CENTRAL };

/** A radio and its user. */
typedef struct side {
    tendon_virtual_radio radio;
    tendon_bonds bonds;
    link_end end;
    int asked;
    tendon_pairing_question question;
    uint32_t passkey;
} side;

typedef struct world {
    char directory[64];
    tendon_loop loop;
    side sides[2];
    tendon_listener listener;
    int paired;
    tendon_status status;
} world;

static void ask(void *context, const tendon_address *peer, tendon_pairing_question question, uint32_t passkey,
                uint64_t now) {
    side *s = context;
    (void)peer;
    (void)now;
    s->asked++;
    s->question = question;
    s->passkey = passkey;
}

static tendon_link *accept_central(void *context, const tendon_address *peer, uint64_t now) {
    world *w = context;
    (void)peer;
    (void)now;
    return &w->sides[DEVICE].end.link;
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    world *w = context;
    (void)now;
    w->paired++;
    w->status = status;
}

static void connect_sides(world *w) {
    side *device = &w->sides[DEVICE], *central = &w->sides[CENTRAL];
    link_end_init(&device->end);
    link_end_init(&central->end);
    assert_int_equal(tendon_radio_connect(&central->radio.radio, &central->end.link, &addresses[DEVICE], UINT64_MAX),
                     TENDON_OK);
    STEP_UNTIL(&w->loop, central->end.connected == 1 && device->end.connected == 1);
}

static void disconnect_sides(world *w) {
    tendon_link_close(&w->sides[CENTRAL].end.link);
    STEP_UNTIL(&w->loop, w->sides[CENTRAL].end.closed == 1 && w->sides[DEVICE].end.closed == 1);
}

static world *open_world(void) {
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    strcpy(w->directory, "/tmp/tendon-test-XXXXXX");
    assert_non_null(mkdtemp(w->directory));
    assert_int_equal(tendon_loop_init(&w->loop), TENDON_OK);
    for (int i = 0; i < 2; i++) {
        side *s = &w->sides[i];
        assert_int_equal(tendon_virtual_radio_open(&s->radio, &w->loop, w->directory, &addresses[i]), TENDON_OK);
        assert_int_equal(tendon_radio_set_pairing_agent(&s->radio.radio, NULL), TENDON_RADIO_ERROR_NO_PAIRING_SERVICE);
        tendon_bonds_init(&s->bonds);
        assert_int_equal(tendon_radio_use_bonds(&s->radio.radio, &s->bonds), TENDON_OK);
    }
    w->listener = (tendon_listener){.context = w, .accept = accept_central};
    assert_int_equal(tendon_radio_listen(&w->sides[DEVICE].radio.radio, &w->listener), TENDON_OK);
    assert_int_equal(tendon_radio_set_pairable(&w->sides[DEVICE].radio.radio, true), TENDON_OK);
    return w;
}

static void close_world(world *w) {
    tendon_radio_close(&w->sides[CENTRAL].radio.radio);
    tendon_radio_close(&w->sides[DEVICE].radio.radio);
    tendon_loop_close(&w->loop);
    assert_int_equal(rmdir(w->directory), 0);
    free(w);
}

/** Forgets the last pairing, and begins one between these agents. */
static void begin(world *w, const tendon_pairing_agent *device, const tendon_pairing_agent *central) {
    const tendon_pairing_agent *agents[2] = {device, central};
    for (int i = 0; i < 2; i++) {
        side *s = &w->sides[i];
        s->asked = 0;
        s->question = TENDON_PAIRING_NOTHING;
        tendon_bonds_init(&s->bonds);
        tendon_pairing_agent agent = *agents[i];
        agent.context = s;
        assert_int_equal(tendon_radio_set_pairing_agent(&s->radio.radio, &agent), TENDON_OK);
    }
    connect_sides(w);
    w->paired = 0;
    const tendon_pairing_service *service = tendon_radio_pairing(&w->sides[CENTRAL].radio.radio);
    assert_int_equal(service->start(service->context, &addresses[DEVICE], on_paired, w, tendon_monotonic_ms()),
                     TENDON_OK);
}

static tendon_status say(world *w, int who, bool accepted, uint32_t passkey) {
    side *s = &w->sides[who];
    s->end.inside = true;
    tendon_status status = tendon_radio_answer_pairing(&s->radio.radio, &addresses[!who], accepted, passkey, 0);
    s->end.inside = false;
    return status;
}

/* The device shows a passkey if it has a display, and the central has a keyboard; all others pair with Just Works. */
static void every_pair_of_capabilities(void **state) {
    (void)state;
    static const bool shows[5] = {true, true, false, false, true}, enters[5] = {false, false, true, false, true};
    world *w = open_world();
    for (uint8_t d = 0; d < 5; d++) {
        for (uint8_t c = 0; c < 5; c++) {
            const tendon_pairing_agent device = {.io = d, .ask = ask}, central = {.io = c, .ask = ask};
            bool passkey = shows[d] && enters[c];
            begin(w, &device, &central);
            STEP_UNTIL(&w->loop, w->paired == 1 || (w->sides[0].asked == 1 && w->sides[1].asked == 1));
            assert_int_equal(w->sides[DEVICE].question, passkey ? TENDON_PAIRING_SHOW : TENDON_PAIRING_NOTHING);
            assert_int_equal(w->sides[CENTRAL].question, passkey ? TENDON_PAIRING_ENTER : TENDON_PAIRING_NOTHING);
            assert_int_equal(w->paired, !passkey);
            assert_int_equal(say(w, DEVICE, true, 0), TENDON_ERROR_WRONG_STATE);
            assert_int_equal(say(w, CENTRAL, true, w->sides[DEVICE].passkey),
                             passkey ? TENDON_OK : TENDON_ERROR_WRONG_STATE);
            STEP_UNTIL(&w->loop, w->paired == 1);
            assert_int_equal(w->status, TENDON_OK);
            for (int i = 0; i < 2; i++) { /* 2: Just Works, 3: authenticated */
                assert_int_equal(w->sides[i].end.bonded, 1);
                assert_int_equal(w->sides[i].bonds.count, 1);
                assert_int_equal(w->sides[i].bonds.items[0].type, passkey ? 3 : 2);
                assert_true(w->sides[i].end.link.encrypted);
            }
            assert_memory_equal(w->sides[0].bonds.items[0].key, w->sides[1].bonds.items[0].key, 16);
            disconnect_sides(w);
        }
    }
    close_world(w);
}

static const tendon_pairing_agent entering = {.io = TENDON_PAIRING_KEYBOARD_ONLY, .ask = ask};
static const tendon_pairing_agent showing = {.io = TENDON_PAIRING_DISPLAY_ONLY, .ask = ask};

static void expect_no_bond(world *w, tendon_status status) {
    STEP_UNTIL(&w->loop, w->paired == 1);
    assert_int_equal(w->status, status);
    assert_int_equal(w->sides[0].bonds.count + w->sides[1].bonds.count, 0);
    assert_false(w->sides[0].end.link.encrypted || w->sides[1].end.link.encrypted);
}

static void wrong_and_refused_answers_fail(void **state) {
    (void)state;
    world *w = open_world();
    for (int accepts = 0; accepts < 2; accepts++) {
        begin(w, &showing, &entering);
        STEP_UNTIL(&w->loop, w->sides[0].asked == 1 && w->sides[1].asked == 1);
        uint32_t shown = w->sides[DEVICE].passkey;
        assert_int_equal(say(w, CENTRAL, accepts, accepts ? (shown + 1) % 1000000 : shown), TENDON_OK);
        expect_no_bond(w, TENDON_RADIO_ERROR_PAIRING_FAILED);
        disconnect_sides(w);
    }
    close_world(w);
}

/* Either side may insist on a passkey: nothing is stored then on both. */
static void mal_H06_just_works_where_more_is_wanted(void **state) {
    (void)state;
    const tendon_pairing_agent plain = tendon_pairing_agent_accept(), display = {.io = TENDON_PAIRING_DISPLAY_ONLY},
                               strict = {.io = TENDON_PAIRING_DISPLAY_ONLY, .authenticated = true};
    const struct {
        const tendon_pairing_agent *device, *central;
    } cases[] = {{&strict, &plain}, {&plain, &strict}, {&strict, &display}, {&display, &strict}};
    world *w = open_world();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(w, cases[i].device, cases[i].central);
        expect_no_bond(w, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
        disconnect_sides(w);
    }
    /* A device that calls it paired without a question. */
    static const uint8_t paired[1] = {2};
    const tendon_pairing_agent insists = {.io = TENDON_PAIRING_KEYBOARD_ONLY, .authenticated = true, .ask = ask};
    begin(w, &showing, &insists);
    assert_int_equal(tendon_socket_link_control(&w->sides[DEVICE].end.link, paired, sizeof paired), TENDON_OK);
    expect_no_bond(w, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
    disconnect_sides(w);
    close_world(w);
}

/** A central's message with a passkey. */
static void enter(world *w, uint32_t passkey) {
    const uint8_t message[5] = {8, (uint8_t)passkey, (uint8_t)(passkey >> 8), (uint8_t)(passkey >> 16), 0};
    assert_int_equal(tendon_socket_link_control(&w->sides[CENTRAL].end.link, message, sizeof message), TENDON_OK);
}

static void pass(world *w) {
    for (int i = 0; i < 20; i++) {
        assert_int_equal(tendon_loop_step(&w->loop, 1), TENDON_OK);
    }
}

/* One passkey for each request: the first one counts, and one that nobody asked for pairs nothing. */
static void a_passkey_is_entered_once(void **state) {
    (void)state;
    world *w = open_world();
    begin(w, &showing, &entering);
    STEP_UNTIL(&w->loop, w->sides[0].asked == 1 && w->sides[1].asked == 1);
    disconnect_sides(w);
    connect_sides(w);
    enter(w, w->sides[DEVICE].passkey); /* of the connection before */
    pass(w);
    assert_int_equal(w->sides[0].bonds.count + w->sides[1].bonds.count, 0);
    disconnect_sides(w);
    begin(w, &showing, &entering);
    STEP_UNTIL(&w->loop, w->sides[0].asked == 1 && w->sides[1].asked == 1);
    uint32_t shown = w->sides[DEVICE].passkey;
    enter(w, (shown + 1) % 1000000);
    enter(w, shown);
    expect_no_bond(w, TENDON_RADIO_ERROR_PAIRING_FAILED);
    enter(w, shown);
    pass(w);
    assert_int_equal(w->sides[0].bonds.count + w->sides[1].bonds.count, 0);
    disconnect_sides(w);
    close_world(w);
}

/* Another request of the central, which arrives before the answer, has another passkey and another key. */
static void the_answer_belongs_to_its_request(void **state) {
    (void)state;
    uint8_t again[18] = {1, [17] = 1}; /* it can enter a passkey */
    world *w = open_world();
    begin(w, &showing, &entering);
    STEP_UNTIL(&w->loop, w->sides[0].asked == 1 && w->sides[1].asked == 1);
    uint32_t shown = w->sides[DEVICE].passkey;
    memset(again + 1, 0xEE, 16);
    do { /* one in a million has the same */
        int asked = w->sides[DEVICE].asked;
        assert_int_equal(tendon_socket_link_control(&w->sides[CENTRAL].end.link, again, sizeof again), TENDON_OK);
        STEP_UNTIL(&w->loop, w->sides[DEVICE].asked == asked + 1);
    } while (w->sides[DEVICE].passkey == shown);
    enter(w, shown);
    expect_no_bond(w, TENDON_RADIO_ERROR_PAIRING_FAILED);
    disconnect_sides(w);
    close_world(w);
}

/* The central's owner answers, and closes the connection: neither side has a key. */
static void an_answer_and_the_end(void **state) {
    (void)state;
    world *w = open_world();
    begin(w, &showing, &entering);
    STEP_UNTIL(&w->loop, w->sides[0].asked == 1 && w->sides[1].asked == 1);
    assert_int_equal(say(w, CENTRAL, true, w->sides[DEVICE].passkey), TENDON_OK);
    tendon_link_close(&w->sides[DEVICE].end.link);
    STEP_UNTIL(&w->loop, w->sides[CENTRAL].end.closed == 1 && w->sides[DEVICE].end.closed == 1);
    assert_int_equal(w->sides[0].bonds.count + w->sides[1].bonds.count, 0);
    assert_false(w->sides[DEVICE].radio.radio.pairing_timer.added);
    close_world(w);
}

/* A bond that was made with Just Works is not used by an agent that wants more. */
static void a_weak_bond_is_not_encrypted_with(void **state) {
    (void)state;
    const tendon_pairing_agent plain = tendon_pairing_agent_accept();
    const tendon_pairing_agent strict = {.io = TENDON_PAIRING_KEYBOARD_ONLY, .authenticated = true, .ask = ask};
    world *w = open_world();
    begin(w, &plain, &plain);
    STEP_UNTIL(&w->loop, w->paired == 1);
    disconnect_sides(w);
    connect_sides(w);
    STEP_UNTIL(&w->loop, w->sides[CENTRAL].end.link.encrypted);
    disconnect_sides(w);
    assert_int_equal(tendon_radio_set_pairing_agent(&w->sides[CENTRAL].radio.radio, &strict), TENDON_OK);
    connect_sides(w);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(tendon_loop_step(&w->loop, 1), TENDON_OK);
    }
    assert_false(w->sides[CENTRAL].end.link.encrypted);
    disconnect_sides(w);
    close_world(w);
}

/* A bond of Just Works where the central requires an authenticated key: not used, and replaced by a better one. */
static void a_required_level_pairs_again(void **state) {
    (void)state;
    const tendon_pairing_agent plain = tendon_pairing_agent_accept();
    world *w = open_world();
    tendon_radio *central = &w->sides[CENTRAL].radio.radio;
    for (uint32_t wrong = 0; wrong < 2; wrong++) {
        begin(w, &plain, &plain);
        STEP_UNTIL(&w->loop, w->paired == 1);
        disconnect_sides(w);
        assert_int_equal(tendon_radio_set_security(central, TENDON_SECURITY_AUTHENTICATED), TENDON_OK);
        connect_sides(w);
        const tendon_pairing_service *service = tendon_radio_pairing(central);
        assert_false(service->bonded(service->context, &addresses[DEVICE]));
        w->paired = 0; /* an agent that can do no better asks nothing of the device */
        assert_int_equal(service->start(service->context, &addresses[DEVICE], on_paired, w, tendon_monotonic_ms()),
                         TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
        const tendon_pairing_agent *agents[2] = {&showing, &entering};
        for (int i = 0; i < 2; i++) {
            tendon_pairing_agent agent = *agents[i];
            agent.context = &w->sides[i];
            assert_int_equal(tendon_radio_set_pairing_agent(&w->sides[i].radio.radio, &agent), TENDON_OK);
        }
        assert_int_equal(service->start(service->context, &addresses[DEVICE], on_paired, w, tendon_monotonic_ms()),
                         TENDON_OK);
        STEP_UNTIL(&w->loop, w->sides[0].asked == 1 && w->sides[1].asked == 1);
        assert_int_equal(say(w, CENTRAL, true, (w->sides[DEVICE].passkey + wrong) % 1000000), TENDON_OK);
        STEP_UNTIL(&w->loop, w->paired == 1);
        assert_int_equal(w->status, wrong ? TENDON_RADIO_ERROR_PAIRING_FAILED : TENDON_OK);
        for (int i = 0; i < 2; i++) { /* the same bond, with a better key or as it was */
            assert_int_equal(w->sides[i].bonds.count, 1);
            assert_int_equal(w->sides[i].bonds.items[0].type, wrong ? 2 : 3);
            assert_int_equal(w->sides[i].end.link.encrypted, !wrong);
        }
        disconnect_sides(w);
        assert_int_equal(tendon_radio_set_security(central, TENDON_SECURITY_NONE), TENDON_OK);
        connect_sides(w); /* what is left of a bond encrypts where no level is required */
        STEP_UNTIL(&w->loop, w->sides[CENTRAL].end.link.encrypted);
        disconnect_sides(w);
    }
    close_world(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_capabilities),
        cmocka_unit_test(wrong_and_refused_answers_fail),
        cmocka_unit_test(mal_H06_just_works_where_more_is_wanted),
        cmocka_unit_test(a_passkey_is_entered_once),
        cmocka_unit_test(the_answer_belongs_to_its_request),
        cmocka_unit_test(an_answer_and_the_end),
        cmocka_unit_test(a_weak_bond_is_not_encrypted_with),
        cmocka_unit_test(a_required_level_pairs_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
