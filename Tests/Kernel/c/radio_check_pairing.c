/* SPDX-License-Identifier: MIT */
/* Pairing over the kernel's radio: a simulated device that asks for encryption, and a client that pairs with it. */
#include "radio_check.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

bool use_bonds(check *c, tendon_bonds *bonds, const char *path) {
    tendon_status status = TENDON_OK;
    if (strcmp(path, "-") == 0) {
        tendon_bonds_init(bonds);
    } else {
        status = tendon_bonds_open(bonds, path);
    }
    if (status >= 0) {
        status = tendon_radio_use_bonds(&c->radio.radio, bonds);
    }
    printf("bonds: %s, %zu keys\n", tendon_status_name(status), bonds->count);
    fflush(stdout);
    return status >= 0;
}

void check_on_central(void *context, tendon_peripheral_link *link, uint64_t now) {
    char text[TENDON_ADDRESS_STRING_SIZE];
    (void)context;
    (void)now;
    printf("central %s\n", tendon_address_format(&link->link.peer, text));
    fflush(stdout);
}

static bool use_agent(check *c, int argc, char **argv);

/** wearable ADAPTER MS BONDS pairable|closed [AGENT...]: a Bose wearable whose characteristics want encryption. */
int run_wearable(check *c, int argc, char **argv) {
    static tendon_simulated_bose device;
    static tendon_peripheral peripheral;
    static tendon_bonds bonds;
    tendon_simulated_bose_options options = tendon_simulated_bose_frames();
    if (argc < 2 || !use_bonds(c, &bonds, argv[0])) {
        return 2;
    }
    if (!use_agent(c, argc - 2, argv + 2)) {
        return 2;
    }
    options.pairing_required = true;
    options.pairing_enabled = strcmp(argv[1], "pairable") == 0;
    if (tendon_simulated_bose_init(&device, &options) < 0) {
        return 1;
    }
    tendon_peripheral_device served = tendon_simulated_bose_device(&device);
    tendon_peripheral_init(&peripheral, &c->radio.radio, &served,
                           &(tendon_peripheral_callbacks){.connected = check_on_central});
    tendon_status status = tendon_peripheral_open(&peripheral, 30);
    printf("serving: %s\n", tendon_status_name(status));
    fflush(stdout);
    if (status == TENDON_OK) {
        tendon_loop_run(&c->loop, c->until);
    }
    return status != TENDON_OK || c->failure != TENDON_OK;
}

/* ---- client: reads a characteristic that wants encryption; refused, it pairs and reads again ---- */

typedef struct pairer {
    check *c;
    tendon_connection connection;
    tendon_session_link link;
    tendon_gatt_client *client;
    tendon_gatt_service service;
    tendon_gatt_characteristic characteristics[8];
    bool may_pair, paired, good;
    uint16_t handle;
    uint64_t begun; /**< when it began to pair */
} pairer;

/** Microseconds from the beginning of the pairing on, after which this process is killed; UINT64_MAX: never. */
static uint64_t killed_after = UINT64_MAX;

static void arm(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    const uint64_t ns = killed_after * 1000 + 1; /* 0 would be no time at all */
    const struct itimerspec at = {
        .it_value = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)}};
    timer_t timer;
    if (killed_after != UINT64_MAX &&
        (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &at, NULL) != 0)) {
        perror("timer");
        exit(1);
    }
}

static void end(pairer *p, const char *what, tendon_status status) {
    printf("%s: %s\n", what, tendon_status_name(status));
    p->good = p->good && status >= 0;
    p->link.disconnect(p->link.context);
}

static void read_value(pairer *p, uint64_t now);

static void on_value(void *context, const tendon_gatt_result *result) {
    pairer *p = context;
    bool refused = result->status == TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_AUTHENTICATION) ||
                   result->status == TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_ENCRYPTION);
    printf("read: %s, %zu bytes, %s\n", tendon_status_name(result->status), result->length,
           p->connection.link.encrypted ? "encrypted" : "not encrypted");
    if (refused && p->may_pair && !p->paired) {
        p->begun = tendon_monotonic_ms();
        arm();
        tendon_status status = p->link.pair(p->link.context);
        if (status < 0) {
            end(p, "pair", status);
        }
        return;
    }
    p->good = result->status >= 0 && result->length > 0;
    end(p, "done", result->status);
}

static void read_value(pairer *p, uint64_t now) {
    tendon_status status = tendon_gatt_read(p->client, p->handle, on_value, p, now);
    if (status < 0) {
        end(p, "read", status);
    }
}

static void on_characteristics(void *context, const tendon_gatt_result *result) {
    pairer *p = context;
    if (result->status < 0 || result->count < 2) {
        end(p, "characteristics", result->status);
        return;
    }
    p->handle = p->characteristics[1].value_handle;
    read_value(p, tendon_monotonic_ms());
}

static void on_services(void *context, const tendon_gatt_result *result) {
    pairer *p = context;
    if (result->status < 0 || result->count != 1) {
        end(p, "service", result->status < 0 ? result->status : TENDON_ERROR_NOT_FOUND);
        return;
    }
    tendon_gatt_discover_characteristics(p->client, p->service.start_handle, p->service.end_handle, p->characteristics,
                                         8, on_characteristics, p, tendon_monotonic_ms());
}

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    pairer *p = context;
    tendon_uuid wanted = tendon_uuid_from_u16(0xFDD2);
    p->client = client;
    printf("connected, %s, bonded %d\n", p->connection.link.encrypted ? "encrypted" : "not encrypted",
           p->link.bonded(p->link.context));
    tendon_gatt_discover_services_by_uuid(client, &wanted, &p->service, 1, on_services, p, now);
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    pairer *p = context;
    (void)now;
    printf("disconnected: %s\n", tendon_status_name(reason));
    fflush(stdout);
    tendon_loop_stop(&p->c->loop);
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    pairer *p = context;
    printf("paired: %s, bonded %d\n", tendon_status_name(status), p->link.bonded(p->link.context));
    printf("pairing took %" PRIu64 " ms\n", now - p->begun);
    p->paired = true;
    if (status < 0) {
        end(p, "pair", status);
    } else {
        read_value(p, now);
    }
}

static const tendon_session_inputs inputs = {.connected = on_connected,
                                             .disconnected = on_disconnected,
                                             .paired = on_paired,
                                             .tick = check_on_tick,
                                             .deadline = check_no_deadline,
                                             .pairs = true};

/* ---- the agent: what the user of the test does ---- */

/** A file with the passkey that the peer shows, or the output of this program at the other end, when there is one. */
static uint32_t read_passkey(const char *path) {
    unsigned passkey = 0;
    char line[128];
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "question: show %u", &passkey) != 1) {
            (void)sscanf(line, "%u", &passkey);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return passkey;
}

typedef struct test_user {
    check *c;
    bool accepts;
    const char *passkey_path; /**< NULL: none */
    uint32_t wrong;           /**< added to what is entered */
} test_user;

static void on_question(void *context, const tendon_address *peer, tendon_pairing_question question, uint32_t passkey,
                        uint64_t now) {
    static const char *const names[] = {"nothing", "compare", "enter", "show"};
    test_user *user = context;
    uint64_t limit = tendon_monotonic_ms() + 5000;
    printf("question: %s %06" PRIu32 "\n", names[question], passkey);
    fflush(stdout);
    while (question == TENDON_PAIRING_ENTER && user->passkey_path != NULL && passkey == 0 &&
           tendon_monotonic_ms() < limit) {
        passkey = read_passkey(user->passkey_path); /* the peer's event loop runs in another process */
    }
    if (question == TENDON_PAIRING_ENTER) {
        passkey = (passkey + user->wrong) % (TENDON_PASSKEY_MAX + 1);
    }
    if (question != TENDON_PAIRING_SHOW) {
        tendon_status status = tendon_radio_answer_pairing(&user->c->radio.radio, peer, user->accepts, passkey, now);
        printf("answered: %s\n", tendon_status_name(status));
    }
}

/**
 * Words of an agent: io=N, passkey=N, file=PATH, ask=yes, ask=no, from=PATH (the passkey that the peer shows), wrong=N,
 * authenticated, secure, size=N, killed=US (so long after the pairing began), required=N: the tendon_security that the
 * connection must have.
 */
static bool use_agent(check *c, int argc, char **argv) {
    static test_user user;
    tendon_pairing_agent agent = tendon_pairing_agent_accept();
    user.c = c;
    for (int i = 0; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        value = value != NULL ? value + 1 : "";
        const size_t length = strcspn(argv[i], "=");
        if (strncmp(argv[i], "io", length) == 0) {
            agent.io = (uint8_t)atoi(value);
        } else if (strncmp(argv[i], "passkey", length) == 0) {
            agent.has_passkey = true;
            agent.passkey = (uint32_t)atoi(value);
        } else if (strncmp(argv[i], "file", length) == 0) {
            agent.passkey_file = value;
        } else if (strncmp(argv[i], "from", length) == 0) {
            user.passkey_path = value;
        } else if (strncmp(argv[i], "wrong", length) == 0) {
            user.wrong = (uint32_t)atoi(value);
        } else if (strncmp(argv[i], "ask", length) == 0) {
            agent.ask = on_question;
            agent.context = &user;
            user.accepts = strcmp(value, "yes") == 0;
        } else if (strncmp(argv[i], "required", length) == 0) {
            (void)tendon_radio_set_security(&c->radio.radio, (tendon_security)atoi(value));
        } else if (strcmp(argv[i], "authenticated") == 0) {
            agent.authenticated = true;
        } else if (strcmp(argv[i], "secure") == 0) {
            agent.secure_connections_only = true;
        } else if (strncmp(argv[i], "killed", length) == 0) {
            killed_after = strtoull(value, NULL, 10);
        } else if (strncmp(argv[i], "size", length) == 0) {
            agent.key_size_min = (uint8_t)atoi(value);
        } else {
            return false;
        }
    }
    tendon_status status = argc > 0 ? tendon_radio_set_pairing_agent(&c->radio.radio, &agent) : TENDON_OK;
    printf("agent: %s\n", tendon_status_name(status));
    return status >= 0;
}

/** pair ADAPTER MS ADDRESS BONDS pair|read|request|forget [AGENT...]; request: the connection pairs if that is
 * needed. */
int run_pair(check *c, int argc, char **argv) {
    static pairer p;
    static tendon_bonds bonds;
    tendon_address peer;
    if (argc < 3 || tendon_address_parse(argv[0], strlen(argv[0]), &peer, NULL) < 0 || !use_bonds(c, &bonds, argv[1])) {
        return 2;
    }
    if (strcmp(argv[2], "forget") == 0) {
        tendon_status status = tendon_radio_forget(&c->radio.radio, &peer);
        printf("forget: %s, %zu keys left\n", tendon_status_name(status), bonds.count);
        tendon_loop_run(&c->loop, tendon_monotonic_ms() + 200);
        return status < 0;
    }
    if (!use_agent(c, argc - 3, argv + 3)) {
        return 2;
    }
    p.c = c;
    p.may_pair = strcmp(argv[2], "pair") == 0;
    tendon_connection_init(&p.connection, &c->radio.radio, &peer, tendon_radio_pairing(&c->radio.radio), NULL);
    static tendon_session_inputs used;
    used = inputs;
    used.pairs = strcmp(argv[2], "request") != 0;
    tendon_connection_attach(&p.connection, &used, &p);
    p.link = tendon_connection_session_link(&p.connection);
    tendon_status status = p.link.connect(p.link.context);
    if (status >= 0) {
        tendon_loop_run(&c->loop, c->until);
    }
    return !p.good;
}
