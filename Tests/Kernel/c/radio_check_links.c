/* SPDX-License-Identifier: MIT */
/* A GATT server and a client of it, over links of the kernel's radio. */
#include "radio_check.h"

#include <inttypes.h>

#define LINKS 4

enum { SERVICE = 0xFFF0, CHARACTERISTIC = 0xFFF1, CCCD = 0x2902 };

/* ---- server: service FFF0 with FFF1, which can be read, written and notified ---- */

typedef struct server_link {
    struct server *server;
    tendon_link link;
    tendon_att_bearer bearer;
    tendon_gatt_connection connection;
    uint16_t cccds[2];
    bool used;
    uint32_t left; /**< notifications to be sent */
    uint32_t sent;
} server_link;

typedef struct server {
    check *c;
    tendon_gatt_server gatt;
    tendon_gatt_attribute attributes[8];
    tendon_listener listener;
    uint16_t value_handle;
    uint8_t value[64];
    size_t value_length;
    server_link links[LINKS];
    tendon_source pace; /**< with a period: a notification each time, instead of all at once */
    uint64_t period;    /**< milliseconds; 0: none */
} server;

static tendon_status on_read(void *context, struct tendon_gatt_connection *connection, uint16_t handle,
                             const uint8_t **value, size_t *length) {
    server *s = context;
    (void)connection;
    (void)handle;
    *value = s->value;
    *length = s->value_length;
    return TENDON_OK;
}

static tendon_status on_write(void *context, struct tendon_gatt_connection *connection, uint16_t handle,
                              uint16_t offset, const uint8_t *value, size_t length, bool command, uint64_t now) {
    server *s = context;
    (void)connection;
    (void)handle;
    (void)command;
    (void)now;
    if (offset != 0 || length > sizeof s->value) {
        return TENDON_ATT_ERROR(TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH);
    }
    memcpy(s->value, value, length);
    s->value_length = length;
    return TENDON_OK;
}

static void send_notifications(server_link *l, uint32_t most) {
    for (const uint32_t end = l->sent + most; l->left > 0 && l->sent != end;) {
        uint8_t value[4] = {(uint8_t)l->sent, (uint8_t)(l->sent >> 8), (uint8_t)(l->sent >> 16), 0x5A};
        if (tendon_gatt_notify(&l->connection, l->server->value_handle, value, sizeof value) != TENDON_OK) {
            return; /* goes on when the link is writable */
        }
        l->sent++;
        l->left--;
    }
}

static void send_all(server_link *l) {
    if (l->server->period == 0) {
        send_notifications(l, UINT32_MAX);
    }
}

/** Enabling notifications asks for as many as the value says (32 bits, little endian). */
static void on_subscribed(void *context, struct tendon_gatt_connection *connection, uint16_t handle, uint16_t value,
                          uint64_t now) {
    server *s = context;
    (void)handle;
    (void)now;
    server_link *l = connection->user;
    tendon_reader reader = tendon_reader_make(s->value, s->value_length);
    l->left = value == 1 ? tendon_read_u32le(&reader) : 0;
    l->link.source.deadline = UINT64_MAX;
}

static void server_received(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    server_link *l = context;
    tendon_att_bearer_receive(&l->bearer, pdu, length, now);
    send_all(l);
}

static void server_writable(void *context, uint64_t now) {
    server_link *l = context;
    tendon_att_bearer_writable(&l->bearer, now);
    send_all(l);
}

static void on_pace(void *context, uint64_t now) {
    server *s = context;
    s->pace.deadline = (s->pace.deadline > now - s->period ? s->pace.deadline : now) + s->period;
    for (size_t i = 0; i < LINKS; i++) {
        if (s->links[i].used) {
            send_notifications(&s->links[i], 1);
        }
    }
}

static void server_closed(void *context, tendon_status reason, uint64_t now) {
    server_link *l = context;
    printf("central gone: %s, %" PRIu32 " notifications sent\n", tendon_status_name(reason), l->sent);
    fflush(stdout);
    tendon_gatt_connection_closed(&l->connection, reason, now);
    l->used = false;
}

static tendon_link *server_accept(void *context, const tendon_address *peer, uint64_t now) {
    server *s = context;
    char text[TENDON_ADDRESS_STRING_SIZE];
    (void)now;
    for (size_t i = 0; i < LINKS; i++) {
        server_link *l = &s->links[i];
        if (l->used) {
            continue;
        }
        memset(l, 0, sizeof *l);
        l->used = true;
        l->server = s;
        tendon_link_callbacks callbacks = {
            .context = l, .received = server_received, .writable = server_writable, .closed = server_closed};
        tendon_link_init(&l->link, &callbacks);
        tendon_att_bearer_init(&l->bearer, tendon_link_io(&l->link), 517);
        tendon_gatt_connection_config config = {.bearer = &l->bearer, .cccds = l->cccds, .cccd_capacity = 2, .user = l};
        if (tendon_gatt_connection_init(&l->connection, &s->gatt, &config) < 0) {
            return NULL;
        }
        printf("central %s/%s\n", tendon_address_format(peer, text),
               peer->type == TENDON_ADDRESS_TYPE_PUBLIC ? "public" : "random");
        fflush(stdout);
        return &l->link;
    }
    return NULL;
}

/** serve ADAPTER MS NAME [PERIOD_MS] */
int run_serve(check *c, int argc, char **argv) {
    static server s;
    s.c = c;
    tendon_gatt_handlers handlers = {.context = &s, .read = on_read, .write = on_write, .subscribed = on_subscribed};
    tendon_uuid service = tendon_uuid_from_u16(SERVICE), characteristic = tendon_uuid_from_u16(CHARACTERISTIC);
    tendon_gatt_server_init(&s.gatt, s.attributes, 8, &handlers);
    tendon_gatt_add_service(&s.gatt, &service, true);
    tendon_status handle = tendon_gatt_add_characteristic(&s.gatt, &characteristic, 0x02 | 0x08 | 0x10,
                                                          TENDON_GATT_PERMIT_READ | TENDON_GATT_PERMIT_WRITE);
    s.value_handle = (uint16_t)handle;
    s.listener.context = &s;
    s.listener.accept = server_accept;
    tendon_status status = handle < 0 ? handle : tendon_radio_listen(&c->radio.radio, &s.listener);
    if (status == TENDON_OK) {
        status = check_advertise_start(c, argc > 0 ? argv[0] : "Tendon");
    }
    s.period = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    tendon_source_init(&s.pace, -1, &s, NULL, on_pace);
    if (s.period > 0) {
        s.pace.deadline = tendon_monotonic_ms() + s.period;
        tendon_loop_add(&c->loop, &s.pace);
    }
    printf("serving: %s\n", tendon_status_name(status));
    fflush(stdout);
    if (status == TENDON_OK) {
        tendon_loop_run(&c->loop, c->until);
    }
    return status != TENDON_OK || c->failure != TENDON_OK;
}

/* ---- client ---- */

typedef struct client {
    check *c;
    tendon_link link;
    tendon_att_bearer bearer;
    tendon_gatt_client gatt;
    tendon_gatt_request requests[4];
    tendon_gatt_subscription subscriptions[2];
    uint32_t wanted, got, wrong;
    uint8_t count[4]; /* lent to a queued write */
    uint64_t started, connected_after, first;
    unsigned reports_before, reports_while;
    bool opened, closed;
    bool discovers; /**< handles come from the server's table, not from what this file knows of it */
    tendon_gatt_service service;
    tendon_gatt_characteristic characteristic;
    tendon_gatt_descriptor descriptors[2];
    uint16_t value_handle, cccd_handle;
    tendon_status reason;
} client;

enum { VALUE_HANDLE = 3, CCCD_HANDLE = 4 }; /* service 1, declaration 2 */

static void on_notification(void *context, const tendon_gatt_value *value, uint64_t now) {
    client *k = context;
    const uint8_t *v = value->value;
    k->first = k->got == 0 ? now : k->first;
    uint32_t number = value->length == 4 ? (uint32_t)v[0] | (uint32_t)v[1] << 8 | (uint32_t)v[2] << 16 : UINT32_MAX;
    k->wrong += number != k->got || v[3] != 0x5A || value->handle != k->value_handle;
    k->got++;
    if (k->got == k->wanted) {
        printf("signal %d dBm\n", k->link.rssi);
        printf("lost in the kernel %" PRIu32 "\n", tendon_bluez_link_lost(&k->link));
        printf("notifications %" PRIu32 " in order, %" PRIu32 " wrong, %" PRIu64 " ms\n", k->got, k->wrong,
               now - k->first);
        tendon_link_close(&k->link);
    }
}

static void done(void *context, const tendon_gatt_result *result) {
    client *k = context;
    if (result->status < 0) {
        printf("gatt: %s\n", tendon_status_name(result->status));
        tendon_link_close(&k->link);
    }
}

/** Asks for the wanted number of notifications. */
static void stream(client *k, uint64_t now) {
    tendon_gatt_write(&k->gatt, k->value_handle, k->count, sizeof k->count, done, k, now);
    tendon_gatt_subscribe(&k->gatt, k->value_handle, k->cccd_handle, false, on_notification, k, done, k, now);
}

/** False when a discovery found nothing or failed, which ends the link. */
static bool found(client *k, const char *what, const tendon_gatt_result *result, bool good) {
    if (result->status < 0 || result->count == 0 || !good) {
        printf("%s: %s, %zu found\n", what, tendon_status_name(result->status), result->count);
        tendon_link_close(&k->link);
        return false;
    }
    return true;
}

static void on_descriptors(void *context, const tendon_gatt_result *result) {
    const tendon_uuid wanted = tendon_uuid_from_u16(CCCD);
    client *k = context;
    for (size_t i = 0; i < result->count; i++) {
        if (tendon_uuid_equal(&k->descriptors[i].uuid, &wanted)) {
            k->cccd_handle = k->descriptors[i].handle;
        }
    }
    if (found(k, "descriptors", result, k->cccd_handle != 0)) {
        stream(k, tendon_monotonic_ms());
    }
}

static void on_characteristics(void *context, const tendon_gatt_result *result) {
    client *k = context;
    if (found(k, "characteristics", result, true)) {
        k->value_handle = k->characteristic.value_handle;
        tendon_gatt_discover_descriptors(&k->gatt, (uint16_t)(k->value_handle + 1), k->characteristic.end_handle,
                                         k->descriptors, 2, on_descriptors, k, tendon_monotonic_ms());
    }
}

static void on_services(void *context, const tendon_gatt_result *result) {
    const tendon_uuid wanted = tendon_uuid_from_u16(CHARACTERISTIC);
    client *k = context;
    if (found(k, "services", result, true)) {
        tendon_gatt_discover_characteristics_by_uuid(&k->gatt, k->service.start_handle, k->service.end_handle, &wanted,
                                                     &k->characteristic, 1, on_characteristics, k,
                                                     tendon_monotonic_ms());
    }
}

static void client_connected(void *context, uint64_t now) {
    const tendon_uuid wanted = tendon_uuid_from_u16(SERVICE);
    client *k = context;
    k->opened = true;
    k->connected_after = now - k->started;
    k->reports_while = k->c->reports - k->reports_before;
    printf("connected after %" PRIu64 " ms, handle 0x%04x\n", k->connected_after, k->link.handle);
    fflush(stdout); /* a case looks at what happens meanwhile */
    if (k->wanted == 0) {
        tendon_link_close(&k->link);
        return;
    }
    if (k->wanted >= 1000) { /* time for an answer */
        (void)tendon_radio_ask_signals(k->link.radio);
    }
    for (int i = 0; i < 3; i++) {
        k->count[i] = (uint8_t)(k->wanted >> (8 * i));
    }
    tendon_gatt_exchange_mtu(&k->gatt, done, k, now);
    if (k->discovers) {
        tendon_gatt_discover_services_by_uuid(&k->gatt, &wanted, &k->service, 1, on_services, k, now);
    } else {
        k->value_handle = VALUE_HANDLE;
        k->cccd_handle = CCCD_HANDLE;
        stream(k, now);
    }
}

static void client_received(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    client *k = context;
    tendon_att_bearer_receive(&k->bearer, pdu, length, now);
}

static void client_writable(void *context, uint64_t now) {
    tendon_att_bearer_writable(&((client *)context)->bearer, now);
}

static void client_closed(void *context, tendon_status reason, uint64_t now) {
    client *k = context;
    k->closed = true;
    k->reason = reason;
    printf("closed: %s after %" PRIu64 " ms\n", tendon_status_name(reason), now - k->started);
    fflush(stdout);
    tendon_loop_stop(&k->c->loop);
}

static void prepare(client *k, check *c) {
    memset(k, 0, sizeof *k);
    k->c = c;
    tendon_link_callbacks callbacks = {.context = k,
                                       .connected = client_connected,
                                       .received = client_received,
                                       .writable = client_writable,
                                       .closed = client_closed};
    tendon_link_init(&k->link, &callbacks);
    tendon_att_bearer_init(&k->bearer, tendon_link_io(&k->link), 247);
    tendon_gatt_client_config config = {.bearer = &k->bearer,
                                        .requests = k->requests,
                                        .request_capacity = 4,
                                        .subscriptions = k->subscriptions,
                                        .subscription_capacity = 2};
    tendon_gatt_client_init(&k->gatt, &config);
}

/** Runs for @p ms, or until something stops the loop. */
static void run_for(check *c, uint64_t ms) {
    uint64_t until = tendon_monotonic_ms() + ms;
    tendon_loop_run(&c->loop, until < c->until ? until : c->until);
}

/**
 * connect ADAPTER MS ADDRESS DEADLINE_MS NOTIFICATIONS [scan] [cancel]
 * scan: an active scan runs before, must pause meanwhile, and must bring reports again after.
 * cancel: the owner cancels after 300 ms.
 */
int run_connect(check *c, int argc, char **argv) {
    static client k;
    tendon_address peer;
    bool scan = argc > 3 && strcmp(argv[3], "scan") == 0, cancel = argc > 3 && strcmp(argv[3], "cancel") == 0;
    if (argc < 3 || tendon_address_parse(argv[0], strlen(argv[0]), &peer, NULL) < 0) {
        return 2;
    }
    prepare(&k, c);
    k.wanted = (uint32_t)strtoul(argv[2], NULL, 10);
    if (scan) {
        if (check_scan_start(c) < 0) {
            return 1;
        }
        run_for(c, 1000);
        printf("scan before: %u reports\n", c->reports);
    }
    k.reports_before = c->reports;
    k.started = tendon_monotonic_ms();
    tendon_status status =
        tendon_radio_connect(&c->radio.radio, &k.link, &peer, k.started + strtoul(argv[1], NULL, 10));
    if (status < 0) {
        printf("connect: %s\n", tendon_status_name(status));
        return 1;
    }
    if (cancel) {
        run_for(c, 300);
        tendon_link_close(&k.link);
    }
    while (!k.closed && tendon_monotonic_ms() < c->until) {
        run_for(c, 60000);
    }
    printf("received %" PRIu32 " of %" PRIu32 "\n", k.got, k.wanted);
    bool good = k.closed && k.opened && k.got == k.wanted && k.wrong == 0 && k.reason == TENDON_ERROR_CANCELLED;
    if (scan) {
        unsigned before = c->reports;
        run_for(c, 2000);
        printf("scan after: %u reports, paused %lu times, %u reports before connected\n",
               c->reports - (k.opened ? k.reports_before + k.reports_while : before),
               (unsigned long)c->radio.counters.scan_pauses, k.reports_while);
        bool alive = c->radio.scan.activity.state == TENDON_BLUEZ_ON && c->radio.radio.scanning &&
                     c->reports > (k.opened ? k.reports_before + k.reports_while : before);
        return !(alive && c->radio.counters.scan_pauses == 1 && (good || k.reason == TENDON_ERROR_TIMEOUT));
    }
    return !good;
}

/**
 * background ADAPTER MS ADDRESS ABSENT_MS [scan]: waits for a device in the background, which must not be found within
 * ABSENT_MS; then prints "absent", and waits until it is connected. scan: an active scan runs, and must bring reports
 * both before and after the connection.
 */
int run_background(check *c, int argc, char **argv) {
    static client k;
    tendon_address peer;
    bool scan = argc > 2 && strcmp(argv[2], "scan") == 0;
    if (argc < 2 || tendon_address_parse(argv[0], strlen(argv[0]), &peer, NULL) < 0 ||
        (scan && check_scan_start(c) < 0)) {
        return 2;
    }
    prepare(&k, c);
    k.wanted = 10;
    k.started = tendon_monotonic_ms();
    tendon_status status = tendon_radio_connect_in_background(&c->radio.radio, &k.link, &peer);
    printf("background: %s\n", tendon_status_name(status));
    run_for(c, 2000);
    printf("settled\n");
    fflush(stdout);
    const tendon_bluez_counters *counters = &c->radio.counters;
    uint64_t commands = counters->commands, wakeups = c->loop.wakeups;
    unsigned before = c->reports;
    run_for(c, strtoul(argv[1], NULL, 10));
    bool rests = !k.closed && !k.opened && (scan ? c->reports > before : c->loop.wakeups - wakeups <= 2);
    printf("absent: %u reports, %" PRIu64 " commands, %" PRIu64 " wake-ups, %" PRIu64 " reissues, %" PRIu64
           " renewals\n",
           c->reports - before, counters->commands - commands, c->loop.wakeups - wakeups, counters->connect_reissues,
           counters->renewals);
    fflush(stdout);
    rests = rests && counters->commands == commands;
    while (!k.closed && tendon_monotonic_ms() < c->until) {
        run_for(c, 60000);
    }
    printf("received %" PRIu32 " of %" PRIu32 "\n", k.got, k.wanted);
    before = c->reports;
    run_for(c, scan ? 3000 : 0);
    printf("scan after: %u reports\n", c->reports - before);
    return !(rests && k.opened && k.got == k.wanted && k.wrong == 0 && (!scan || c->reports > before));
}

/**
 * One link: the handles are discovered, and all wanted notifications arrive, each right, before our side ends it.
 * @param ms for the connection; and as much for what comes after it, when a notification is lost.
 */
static bool cycle(check *c, client *k, const tendon_address *peer, uint32_t wanted, uint64_t ms) {
    prepare(k, c);
    k->wanted = wanted;
    k->discovers = true;
    k->started = tendon_monotonic_ms();
    tendon_status status = tendon_radio_connect(&c->radio.radio, &k->link, peer, k->started + ms);
    run_for(c, status == TENDON_OK ? 2 * ms : 0); /* until the link is closed */
    if (status == TENDON_OK && !k->closed) {
        tendon_link_close(&k->link);
    }
    while (status == TENDON_OK && !k->closed && tendon_monotonic_ms() < c->until) {
        run_for(c, ms);
    }
    bool good = k->opened && k->closed && k->got == wanted && k->wrong == 0 && k->reason == TENDON_ERROR_CANCELLED;
    if (!good) {
        printf("%s, %" PRIu32 " of %" PRIu32 " notifications, %" PRIu32 " wrong\n",
               tendon_status_name(status < 0 ? status : k->reason), k->got, wanted, k->wrong);
    }
    return good;
}

/**
 * cycles ADAPTER MS ADDRESS TIMES [NOTIFICATIONS]: connects, discovers, subscribes, receives and disconnects so many
 * times, 3 s at most for each connection, while a scan runs that pauses for each. After the first ten neither memory
 * nor descriptors grow.
 */
int run_cycles(check *c, int argc, char **argv) {
    static client k;
    tendon_address peer;
    if (argc < 2 || tendon_address_parse(argv[0], strlen(argv[0]), &peer, NULL) < 0 || check_scan_start(c) < 0) {
        return 2;
    }
    unsigned long times = strtoul(argv[1], NULL, 10), done = 0, failed = 0;
    const uint32_t wanted = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 3;
    check_holdings before = {0};
    for (; done < times && tendon_monotonic_ms() < c->until; done++) {
        if (!cycle(c, &k, &peer, wanted, 3000)) {
            failed++;
            printf("cycle %lu failed\n", done);
        }
        run_for(c, 20 + done % 7 * 10); /* the scan is restored, more or less */
        before = done == 9 ? check_count_holdings() : before;
    }
    const check_holdings after = times > 10 ? check_count_holdings() : before;
    printf("%lu pages and %u descriptors after ten cycles, %lu and %u at the end\n", before.pages, before.descriptors,
           after.pages, after.descriptors);
    bool grown = before.pages == 0 || after.pages > before.pages + 16 || after.descriptors != before.descriptors;
    printf("%lu cycles, %lu that failed, %" PRIu64 " connect_reissues\n", done, failed,
           c->radio.counters.connect_reissues);
    return done < times || failed != 0 || grown;
}
