/* SPDX-License-Identifier: MIT */
/*
 * session_walk FAMILY [OURS THEIRS]: walks the session table of a family between two controllers of the kernel, or of
 * the virtual radio.
 */
#include "walk.h"

#include <stdlib.h>
#include <unistd.h>

uint64_t walk_now(void) {
    return tendon_monotonic_ms();
}

/* ---- controllers ---- */

static tendon_status open_end(walk_end *end, tendon_loop *loop, const char *name, uint8_t number) {
    tendon_status status;
    if (strncmp(name, "hci", 3) == 0) {
#ifdef TENDON_HAVE_BLUEZ
        status = tendon_bluez_open(&end->memory.bluez, loop, name);
        end->radio = &end->memory.bluez.radio;
#else
        status = TENDON_ERROR_UNSUPPORTED;
#endif
    } else {
        const tendon_address address = {{0xC0, 0, 0, 0, 0, number}, TENDON_ADDRESS_TYPE_RANDOM};
        status = tendon_virtual_radio_open(&end->memory.virtual_radio, loop, name, &address);
        end->radio = &end->memory.virtual_radio.radio;
    }
    if (status >= 0) {
        tendon_bonds_init(&end->bonds);
        status = tendon_radio_use_bonds(end->radio, &end->bonds);
    }
    if (status < 0) {
        printf("not ok open %s: %s\n", name, tendon_status_name(status));
    }
    return status;
}

static void on_failure(void *context, tendon_status status, uint64_t now) {
    (void)context;
    (void)now;
    printf("not ok radio: %s\n", tendon_status_name(status));
    exit(1);
}

bool walk_open(walk *w, const char *ours, const char *theirs) {
    if (tendon_loop_init(&w->loop) < 0 || open_end(&w->ours, &w->loop, ours, 1) < 0 ||
        open_end(&w->theirs, &w->loop, theirs, 2) < 0) {
        return false;
    }
    w->settle_ms = strncmp(ours, "hci", 3) == 0 ? WALK_SETTLE_MS : 0;
    w->ours.radio->on_failure = w->theirs.radio->on_failure = on_failure;
    tendon_connection_init(&w->connection, w->ours.radio, &w->theirs.radio->address,
                           tendon_radio_pairing(w->ours.radio), NULL);
    return true;
}

/* ---- the device ---- */

static tendon_status gate_send(void *context, const uint8_t *pdu, size_t length) {
    struct walk_gate *gate = context;
    return gate->walk->shut ? TENDON_OK : gate->link.send(gate->link.context, pdu, length);
}

static tendon_bearer_io gate_wrap(void *context, tendon_bearer_io link) {
    struct walk_gate *gate = context;
    gate->link = link;
    return (tendon_bearer_io){.context = gate, .send = gate_send};
}

static void gate_writable(void *context, uint64_t now) {
    (void)now;
    ((struct walk_gate *)context)->writable = true;
}

static void gate_tick(void *context, uint64_t now) {
    (void)context;
    (void)now;
}

static uint64_t gate_deadline(const void *context) {
    return ((const struct walk_gate *)context)->writable ? 0 : UINT64_MAX;
}

static bool gate_take_writable(void *context) {
    struct walk_gate *gate = context;
    bool writable = gate->writable;
    gate->writable = false;
    return writable;
}

static bool gate_take_disconnect(void *context) {
    (void)context;
    return false;
}

static void linger(walk *w) {
    uint64_t until = walk_now() + WALK_LINGER_MS;
    while (w->lingers && w->settle_ms != 0 && walk_now() < until) {
        walk_step(w);
    }
    w->lingers = false;
}

void walk_set_present(walk *w, bool present) {
    if (present != w->peripheral.open) {
        tendon_status status = TENDON_OK;
        if (present) {
            status = tendon_peripheral_open(&w->peripheral, 30);
        } else {
            tendon_peripheral_close(&w->peripheral);
            linger(w);
        }
        if (status < 0) {
            printf("not ok serve: %s\n", tendon_status_name(status));
            w->wrong++;
        }
    }
}

void walk_serve(walk *w, tendon_peripheral_device device) {
    tendon_bearer_filter filters[TENDON_PERIPHERAL_LINKS];
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        w->gates[i].walk = w;
        filters[i] = (tendon_bearer_filter){&w->gates[i],  gate_wrap,          gate_writable,       gate_tick,
                                            gate_deadline, gate_take_writable, gate_take_disconnect};
    }
    tendon_peripheral_init(&w->peripheral, w->theirs.radio, &device, NULL);
    tendon_peripheral_set_filters(&w->peripheral, filters);
    walk_set_present(w, true);
}

void walk_hang_up(walk *w) {
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        if (w->peripheral.links[i].used) {
            tendon_link_close(&w->peripheral.links[i].link);
        }
    }
}

void walk_notify(walk *w, tendon_gatt_connection *connection, uint16_t handle, const void *value, size_t length) {
    bool shut = w->shut;
    w->shut = false;
    tendon_status status =
        connection != NULL ? tendon_gatt_notify(connection, handle, value, length) : TENDON_ERROR_DISCONNECTED;
    w->shut = shut;
    if (status < 0) {
        printf("not ok notify: %s\n", tendon_status_name(status));
        w->wrong++;
    }
}

/* ---- the session between its inputs and its link ---- */

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    walk *w = context;
    w->told_connected++;
    w->up_since = now;
    w->lingers = true;
    if (!w->resting) {
        w->session_inputs->connected(w->session, client, now);
    }
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    walk *w = context;
    w->told_disconnected++;
    w->reason = reason;
    if (!w->resting) {
        w->session_inputs->disconnected(w->session, reason, now);
    }
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    walk *w = context;
    w->told_paired++;
    w->reason = status;
    if (!w->resting) {
        w->session_inputs->paired(w->session, status, now);
    }
}

static void on_tick(void *context, uint64_t now) {
    walk *w = context;
    w->strikes += w->session_inputs->deadline(w->session) <= now;
    w->session_inputs->tick(w->session, now);
}

static uint64_t on_deadline(const void *context) {
    const walk *w = context;
    return w->resting ? UINT64_MAX : w->session_inputs->deadline(w->session);
}

static const tendon_session_inputs watched = {.connected = on_connected,
                                              .disconnected = on_disconnected,
                                              .paired = on_paired,
                                              .tick = on_tick,
                                              .deadline = on_deadline,
                                              .pairs = true};

void walk_attach(walk *w, const tendon_session_inputs *inputs, void *session) {
    w->session_inputs = inputs;
    w->session = session;
    tendon_connection_attach(&w->connection, &watched, w);
}

static tendon_status link_connect(void *context) {
    walk *w = context;
    w->connects++;
    tendon_session_link link = tendon_connection_session_link(&w->connection);
    return link.connect(link.context);
}

static void link_disconnect(void *context) {
    walk *w = context;
    w->disconnects++;
    tendon_connection_close(&w->connection);
}

static tendon_status link_pair(void *context) {
    walk *w = context;
    w->pairs++;
    tendon_session_link link = tendon_connection_session_link(&w->connection);
    return w->hold_pairing ? TENDON_OK : link.pair(link.context);
}

static bool link_bonded(void *context) {
    walk *w = context;
    tendon_session_link link = tendon_connection_session_link(&w->connection);
    return w->bonded || link.bonded(link.context);
}

static tendon_status link_forget(void *context) {
    walk *w = context;
    tendon_session_link link = tendon_connection_session_link(&w->connection);
    return link.forget(link.context);
}

tendon_session_link walk_link(walk *w) {
    return (tendon_session_link){w, link_connect, link_disconnect, link_pair, link_bonded, link_forget};
}

/* ---- time ---- */

void walk_step(walk *w) {
    tendon_connection_refresh(&w->connection);
    tendon_peripheral_refresh(&w->peripheral);
    (void)tendon_loop_step(&w->loop, walk_now() + 20);
}

/* What each end still has, for the log of a walk that goes nowhere. */
static void print_ends(const walk *w) {
    printf("#   ours: connection in state %d, link in state %d, handle 0x%04X\n", (int)w->connection.state,
           (int)w->connection.link.state, w->connection.link.handle);
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        const tendon_link *link = &w->peripheral.links[i].link;
        if (w->peripheral.links[i].used) {
            printf("#   theirs: link %zu in state %d, handle 0x%04X, received %u, sent %u\n", i, (int)link->state,
                   link->handle, (unsigned)link->received, (unsigned)link->sent);
        }
    }
}

bool walk_until(walk *w, bool (*reached)(const void *context), const void *context, const char *what) {
    uint64_t limit = walk_now() + WALK_LIMIT_MS;
    while (!reached(context)) {
        if (walk_now() > limit) {
            printf("not ok never: %s (%u links, %u ends, the last %s, paired %u of %u)\n", what, w->told_connected,
                   w->told_disconnected, tendon_status_name(w->reason), w->told_paired, w->pairs);
            print_ends(w);
            exit(1); /* now and then Linux 6.12 connects to nobody any more: each further pair would take the limit */
        }
        walk_step(w);
    }
    return true;
}

typedef struct change {
    const unsigned *counter;
    unsigned before;
} change;

static bool has_changed(const void *context) {
    const change *c = context;
    return *c->counter != c->before;
}

bool walk_until_told(walk *w, const unsigned *counter, unsigned before, const char *what) {
    const change c = {counter, before};
    return walk_until(w, has_changed, &c, what);
}

void walk_settle(walk *w) {
    while (w->connection.state == TENDON_CONNECTION_UP && walk_now() < w->up_since + w->settle_ms) {
        walk_step(w);
    }
}

static void on_mtu(void *context, const tendon_gatt_result *result) {
    (void)result;
    ((walk *)context)->exchanged++;
}

static bool is_settled(const void *context) {
    const walk *w = context;
    return w->connection.state == TENDON_CONNECTION_UP || w->connection.state == TENDON_CONNECTION_IDLE;
}

static bool at_rest(const void *context) {
    const walk *w = context;
    return w->connection.state == TENDON_CONNECTION_IDLE && tendon_peripheral_count(&w->peripheral) == 0;
}

void walk_rest(walk *w) {
    w->resting = true; /* or it might connect again */
    if (w->peripheral.open) {
        (void)walk_until(w, is_settled, w, "a link, or none");
    }
    unsigned before = w->exchanged;
    if (!w->shut && w->connection.state == TENDON_CONNECTION_UP &&
        tendon_gatt_exchange_mtu(&w->connection.client, on_mtu, w, walk_now()) >= 0) {
        (void)walk_until_told(w, &w->exchanged, before, "the link's first answer");
    }
    walk_settle(w);
    tendon_connection_close(&w->connection);
    (void)walk_until(w, at_rest, w, "no link is left");
    (void)tendon_radio_forget(w->ours.radio, &w->theirs.radio->address);
    (void)tendon_radio_forget_all(w->theirs.radio);
    (void)tendon_radio_scan_stop(w->ours.radio);
    w->connection.connect_timeout_ms = TENDON_CONNECTION_TIMEOUT_MS;
    w->resting = w->shut = w->hold_pairing = w->bonded = false;
}

/* ---- what came of it ---- */

void walk_pair(walk *w, const char *state, const char *input, bool good, const char *got) {
    w->walked++;
    w->wrong += good ? 0 : 1;
    printf("%s %s, %s: %s\n", good ? "#  " : "not ok", state, input, got);
    fflush(stdout);
}

void walk_cannot(walk *w, const char *state, const char *input, const char *why) {
    w->impossible++;
    printf("#   %s, %s: cannot be over a link: %s\n", state, input, why);
}

int walk_end_with(walk *w, const char *family, unsigned pairs) {
    bool all = w->walked + w->impossible == pairs;
    bool good = all && w->wrong == 0 && w->walked > 0;
    printf("%s %s: %u pairs of state and input: %u walked, %u wrong, %u cannot be over a link\n",
           good ? "ok" : "not ok", family, pairs, w->walked, w->wrong, w->impossible);
    return good ? 0 : 1;
}

/* Two virtual radios, in a directory of their own. */
static int walk_virtually(walk *w, int (*family)(walk *w)) {
    char directory[] = "/tmp/tendon-walk-XXXXXX";
    if (mkdtemp(directory) == NULL) {
        perror("mkdtemp");
        return 1;
    }
    int result = walk_open(w, directory, directory) ? family(w) : 1;
    walk_set_present(w, false);
    tendon_radio_close(w->ours.radio);
    tendon_radio_close(w->theirs.radio);
    (void)rmdir(directory);
    return result;
}

int main(int argc, char **argv) {
    static walk w;
    static const struct {
        const char *name;
        int (*walk)(walk *w);
    } families[] = {{"feelspace", walk_feelspace}, {"activ5", walk_activ5}, {"fjorden", walk_fjorden}};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (argc == 2 && strcmp(argv[1], families[i].name) == 0) {
            return walk_virtually(&w, families[i].walk);
        }
        if (argc == 4 && strcmp(argv[1], families[i].name) == 0) {
            return walk_open(&w, argv[2], argv[3]) ? families[i].walk(&w) : 1; /* the kernel closes what is open */
        }
    }
    fprintf(stderr, "usage: session_walk feelspace|activ5|fjorden [hciN hciM]\n");
    return 2;
}
