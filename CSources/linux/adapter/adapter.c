/* SPDX-License-Identifier: MIT */
/* Opening and closing an adapter, and the events of the management socket about it. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* Casts rely on it. */
_Static_assert(offsetof(tendon_bluez_radio, radio) == 0, "the radio is the first member");

/** How long an adapter that has just appeared may take to be set up by the kernel. */
#define SETUP_LIMIT_MS 2000u
#define SETUP_PAUSE_MS 20

/** The first of these adapters that has the name and opens, or the status of the first that has it. */
static tendon_status choose(const tendon_bluez_name *name, const tendon_bluez_adapter *adapters, int count,
                            tendon_bluez_adapter *out) {
    tendon_status status = TENDON_RADIO_ERROR_NO_ADAPTER;
    count = count < TENDON_BLUEZ_ADAPTERS_MAX ? count : TENDON_BLUEZ_ADAPTERS_MAX;
    for (int i = 0; i < count && status < 0; i++) {
        if (tendon_bluez_is_named(name, &adapters[i])) {
            *out = adapters[i];
            status = adapters[i].status;
        }
    }
    return status;
}

/** Reads the lists once. TENDON_ERROR_INCOMPLETE: the adapter exists, but is not (or no longer) in them. */
static tendon_status look_up(int fd, const tendon_bluez_name *name, tendon_bluez_adapter *out) {
    tendon_bluez_adapter adapters[TENDON_BLUEZ_ADAPTERS_MAX];
    tendon_status count = tendon_bluez_read_adapters(fd, adapters, TENDON_BLUEZ_ADAPTERS_MAX);
    if (count < 0) {
        return count;
    }
    const bool looked_at_all = count <= TENDON_BLUEZ_ADAPTERS_MAX;
    tendon_status status = choose(name, adapters, count, out);
    if (status == TENDON_RADIO_ERROR_NO_ADAPTER) {
        count = tendon_bluez_append_unconfigured(fd, 0, adapters, TENDON_BLUEZ_ADAPTERS_MAX);
        status = choose(name, adapters, count, out);
    }
    struct hci_dev_info info;
    bool exists = status == TENDON_RADIO_ERROR_NO_ADAPTER && looked_at_all && name->index >= 0 &&
                  hci_devinfo(name->index, &info) == 0;
    return exists ? TENDON_ERROR_INCOMPLETE : status;
}

static tendon_status find_adapter(int fd, const char *text, tendon_bluez_adapter *out) {
    tendon_bluez_name name;
    tendon_status status = tendon_bluez_parse_name(text, &name);
    uint64_t until = tendon_monotonic_ms() + SETUP_LIMIT_MS;
    while (status >= 0 && (status = look_up(fd, &name, out)) == TENDON_ERROR_INCOMPLETE) {
        if (tendon_monotonic_ms() >= until) {
            return TENDON_RADIO_ERROR_ADAPTER_BUSY; /* used exclusively by another program */
        }
        usleep(SETUP_PAUSE_MS * 1000);
        status = TENDON_OK;
    }
    return status;
}

/**
 * On an adapter with BR/EDR the kernel permits Secure Connections, of LE as well, only after Secure Simple Pairing (of
 * BR/EDR); without it, pairing is LE Legacy Pairing, which a listener can decrypt. Each waits for the kernel, because
 * pairing uses what is on when it starts. An old controller rejects them.
 */
static void permit_secure_connections(int fd, const tendon_bluez_adapter *adapter, uint32_t *settings) {
    if ((*settings & TENDON_MANAGEMENT_BREDR) == 0) {
        return; /* the pairing switches them on */
    }
    if ((*settings & TENDON_MANAGEMENT_SECURE_SIMPLE_PAIRING) == 0) {
        (void)tendon_bluez_manage_mode(fd, TENDON_MANAGEMENT_SET_SECURE_SIMPLE_PAIRING, adapter->index, 1, settings);
    }
    if ((*settings & TENDON_MANAGEMENT_SECURE_CONNECTIONS) == 0) {
        (void)tendon_bluez_manage_mode(fd, TENDON_MANAGEMENT_SET_SECURE_CONNECTIONS, adapter->index, 1, settings);
    }
}

/** Enables LE, then powers on, as far as @p settings report that they are off. */
static tendon_status switch_on(int fd, const tendon_bluez_adapter *adapter, uint32_t *settings) {
    tendon_status status = TENDON_OK;
    if ((*settings & TENDON_MANAGEMENT_LOW_ENERGY) == 0) {
        status = tendon_bluez_manage_mode(fd, TENDON_MANAGEMENT_SET_LOW_ENERGY, adapter->index, 1, settings);
    }
    if (status == TENDON_OK && (*settings & TENDON_MANAGEMENT_POWERED) == 0) {
        status = adapter->blocked
                     ? TENDON_RADIO_ERROR_RFKILL
                     : tendon_bluez_manage_mode(fd, TENDON_MANAGEMENT_SET_POWERED, adapter->index, 1, settings);
    }
    bool management = TENDON_STATUS_LAYER(status) == TENDON_LAYER_MANAGEMENT;
    if (management || (status == TENDON_OK && (*settings & TENDON_MANAGEMENT_POWERED) == 0)) {
        return TENDON_RADIO_ERROR_ADAPTER_DOWN;
    }
    if (status == TENDON_OK) {
        permit_secure_connections(fd, adapter, settings);
    }
    return status;
}

/** Chooses the command sets with the tests of the kernel, so that both use the same one; its list of controllers that
 * reject the extended commands cannot be read: tendon_bluez_activity_changes_set(). */
static tendon_status choose_commands(tendon_bluez_radio *radio) {
    uint8_t commands[64] = {0};
    tendon_status status =
        tendon_bluez_exchange(radio->hci.fd, TENDON_HCI_READ_LOCAL_COMMANDS, commands, sizeof commands);
    if (status < 0) {
        return status;
    }
    status = tendon_bluez_fetch_features(radio->hci.fd, &radio->limits.features);
    if (status < 0) {
        return status;
    }
    radio->extended_advertising = (radio->limits.features & TENDON_BLUEZ_FEATURE_EXTENDED_ADVERTISING) != 0;
    radio->extended_scan = tendon_hci_supports(commands, TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS) &&
                           tendon_hci_supports(commands, TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE);
    tendon_bluez_fetch_limits(radio->hci.fd, commands, &radio->limits);
    return TENDON_OK;
}

/* ---- what the owner calls: the next command is sent within the call ---- */

/** @param status of what was requested. */
static tendon_status stepped(tendon_bluez_radio *radio, tendon_status status) {
    if (status < 0) {
        return status;
    }
    tendon_bluez_step(radio);
    return tendon_bluez_failed(radio) ? radio->power.status : TENDON_OK;
}

static tendon_status scan_start(tendon_radio *base, const tendon_scan_parameters *parameters) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    return stepped(radio, tendon_bluez_scan_start(base, parameters));
}

static tendon_status stop(tendon_bluez_radio *radio, tendon_bluez_activity *activity) {
    activity->requested = false;
    tendon_bluez_step(radio);
    return TENDON_OK;
}

static tendon_status scan_stop(tendon_radio *base) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    return stop(radio, &radio->scan.activity);
}

static void scan_paused(tendon_radio *base) {
    tendon_bluez_step((tendon_bluez_radio *)base);
}

static tendon_status advertise_start(tendon_radio *base, const tendon_advertise_parameters *parameters) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    return stepped(radio, tendon_bluez_advertise_start(base, parameters));
}

static tendon_status advertise_stop(tendon_radio *base) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    return stop(radio, &radio->advertising.activity);
}

static tendon_status connect_to(tendon_radio *base, tendon_link *link, const tendon_address *peer, uint64_t deadline) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    tendon_status status = tendon_bluez_connect(base, link, peer, deadline);
    if (status < 0) {
        return status;
    }
    tendon_bluez_step(radio); /* disables a scan */
    return tendon_bluez_connect_now(radio, link);
}

static void close_radio(tendon_radio *base);

static const tendon_radio_ops observer_ops = {
    .name = "bluez", .scan_start = scan_start, .scan_stop = scan_stop, .close = close_radio};

/** An observer takes the adapter as it is. */
static tendon_status observe(tendon_bluez_radio *radio, const tendon_bluez_adapter *adapter) {
    radio->radio.ops = &observer_ops;
    radio->radio.address = adapter->address;
    radio->settings = adapter->current_settings;
    return adapter->powered ? TENDON_OK : tendon_bluez_why_off(radio->index);
}

/** @param unprivileged without CAP_NET_RAW, which the commands to the controller need. */
static tendon_status open_sockets(tendon_bluez_radio *radio, const char *name, bool unprivileged) {
    tendon_status fd = tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
    if (fd < 0) {
        return fd;
    }
    radio->management.fd = fd;
    /* The kernel sends it each report while it takes a scan for a discovery. */
    tendon_bluez_set_buffer(fd, tendon_bluez_buffer_size(tendon_bluez_memory(), TENDON_BLUEZ_HCI_SHARE));
    tendon_bluez_adapter adapter;
    tendon_status status = find_adapter(fd, name, &adapter);
    if (status < 0) {
        return status;
    }
    radio->index = adapter.index;
    fd = tendon_bluez_channel_socket(adapter.index, HCI_CHANNEL_RAW);
    if (fd < 0) {
        return fd;
    }
    radio->hci.fd = fd;
    tendon_bluez_set_buffer(fd, tendon_bluez_buffer_size(tendon_bluez_memory(), TENDON_BLUEZ_HCI_SHARE));
    status = tendon_bluez_set_filter(fd);
    if (status == TENDON_RADIO_ERROR_NO_CAP_NET_RAW && unprivileged) {
        status = TENDON_OK; /* the kernel's queue of the old socket can still report reasons of disconnections */
    }
    if (status == TENDON_OK && !adapter.low_energy) {
        status = TENDON_ERROR_UNSUPPORTED;
    }
    if (status == TENDON_OK) {
        status = tendon_bluez_claim(radio);
    }
    if (radio->use == TENDON_BLUEZ_OBSERVER) {
        return status < 0 ? status : observe(radio, &adapter);
    }
    if (status == TENDON_OK) {
        status = tendon_bluez_settle_address(radio, &adapter, &radio->settings);
        radio->radio.address = adapter.address;
    }
    if (status == TENDON_OK) {
        status = switch_on(radio->management.fd, &adapter, &radio->settings);
    }
    if (status == TENDON_OK && !unprivileged) {
        status = choose_commands(radio);
    }
    return status;
}

/** Another adapter was switched on: if it has the address of this one, connections would go over it, unseen. */
static void other_adapter_event(tendon_bluez_radio *radio, const tendon_management_event *event) {
    tendon_management_information other;
    if (event->code == TENDON_MANAGEMENT_NEW_SETTINGS && (event->settings & TENDON_MANAGEMENT_POWERED) != 0) {
        uint8_t pdu[TENDON_MANAGEMENT_HEADER_SIZE];
        (void)tendon_bluez_management_write(
            radio, pdu,
            tendon_management_encode(TENDON_MANAGEMENT_READ_INFORMATION, event->index, NULL, 0, pdu, sizeof pdu));
    } else if (event->opcode == TENDON_MANAGEMENT_READ_INFORMATION &&
               tendon_management_decode_information(event->data, event->length, &other, NULL) == TENDON_OK &&
               (other.current_settings & TENDON_MANAGEMENT_POWERED) != 0 &&
               tendon_address_equal(&other.address, &radio->radio.address)) {
        tendon_bluez_fail(radio, TENDON_RADIO_ERROR_SAME_ADDRESS);
    }
}

static void management_event(tendon_bluez_radio *radio, const tendon_management_event *event, uint64_t now) {
    tendon_bluez_wake_at(radio, 0);
    if (event->index != radio->index) {
        other_adapter_event(radio, event);
        return;
    }
    if (event->opcode == TENDON_MANAGEMENT_GET_CONNECTION_INFORMATION) { /* only an answer has an opcode */
        tendon_bluez_signal_event(radio, event);
    }
    if (event->opcode == TENDON_MANAGEMENT_GET_PHYS) {
        tendon_bluez_phys_event(radio, event);
    }
    if (event->opcode == TENDON_MANAGEMENT_SET_POWERED) {
        tendon_bluez_power_answered(radio, event, now);
    }
    if (event->code == TENDON_MANAGEMENT_NEW_SETTINGS) {
        radio->settings = event->settings;
    }
    if (radio->radio.bonds != NULL) {
        tendon_bluez_pairing_event(radio, event, now);
    }
    tendon_bluez_discovery_event(radio, event);
    tendon_bluez_connect_failed_event(radio, event);
    if (event->code == TENDON_MANAGEMENT_INDEX_REMOVED) {
        tendon_bluez_fail(radio, TENDON_RADIO_ERROR_NO_ADAPTER);
    } else if (event->code == TENDON_MANAGEMENT_NEW_SETTINGS) {
        tendon_bluez_powered(radio, (event->settings & TENDON_MANAGEMENT_POWERED) != 0, now);
    }
}

static void management_ready(void *context, uint32_t events, uint64_t now) {
    tendon_bluez_radio *radio = context;
    (void)events;
    for (int i = 0; i < 8 && radio->opened && !tendon_bluez_failed(radio); i++) {
        uint8_t pdu[TENDON_MANAGEMENT_PDU_MAX];
        tendon_management_event event;
        ssize_t got = recv(radio->management.fd, pdu, sizeof pdu, MSG_TRUNC);
        if (got < 0) {
            if (errno != EAGAIN && errno != EINTR) {
                tendon_bluez_fail(radio, tendon_bluez_socket_status(errno));
            }
            return;
        }
        /* Longer events (lists of keys, for example) are not used here. */
        if ((size_t)got <= sizeof pdu && tendon_management_decode(pdu, (size_t)got, &event, NULL) == TENDON_OK) {
            management_event(radio, &event, now);
        }
    }
}

static const tendon_radio_ops ops = {.name = "bluez",
                                     .scan_start = scan_start,
                                     .scan_stop = scan_stop,
                                     .scan_paused = scan_paused,
                                     .advertise_start = advertise_start,
                                     .advertise_stop = advertise_stop,
                                     .connect = connect_to,
                                     .listen = tendon_bluez_listen,
                                     .unlisten = tendon_bluez_unlisten,
                                     .link_close = tendon_bluez_link_close,
                                     .close = close_radio,
                                     .bond_radio = TENDON_BOND_KERNEL,
                                     .use_bonds = tendon_bluez_use_bonds,
                                     .resolves = tendon_bluez_resolves,
                                     .set_pairable = tendon_bluez_set_pairable,
                                     .set_io = tendon_bluez_set_io,
                                     .pair = tendon_bluez_pair,
                                     .answer = tendon_bluez_answer,
                                     .pair_cancel = tendon_bluez_pair_cancel,
                                     .unpair = tendon_bluez_unpair,
                                     .ask_signal = tendon_bluez_ask_signal,
                                     .set_parameters = tendon_bluez_set_parameters};

static void close_sources(tendon_bluez_radio *radio) {
    tendon_loop_remove(radio->radio.loop, &radio->timer);
    tendon_bluez_close_sockets(radio);
}

void tendon_bluez_init(tendon_bluez_radio *radio) {
    memset(radio, 0, sizeof *radio);
    tendon_bluez_kernel_init(&radio->kernel);
    radio->radio.ops = &ops;
    radio->power.deadline = UINT64_MAX;
    radio->leases[0] = radio->leases[1] = -1;
    tendon_source_init(&radio->hci, -1, radio, tendon_bluez_hci_ready, tendon_bluez_hci_expired);
    tendon_source_init(&radio->management, -1, radio, management_ready, NULL);
    tendon_source_init(&radio->timer, -1, radio, NULL, tendon_bluez_timer_expired);
    radio->hci.order = -2; /* the kernel sends it an event before it acts on it: one read a step, in this order */
    radio->management.order = -1;
    (void)tendon_ad_reassembler_init(&radio->reassembler, radio->chains, TENDON_BLUEZ_CHAINS);
}

tendon_status tendon_bluez_begin(tendon_bluez_radio *radio, tendon_loop *loop) {
    tendon_status status = TENDON_OK;
    radio->radio.loop = loop;
    radio->hci.interest = radio->management.interest = TENDON_READABLE;
    tendon_source *sources[] = {&radio->hci, &radio->management, &radio->timer};
    for (size_t i = 0; i < 3 && status >= 0; i++) {
        status = tendon_loop_add(radio->radio.loop, sources[i]);
    }
    radio->opened = status >= 0;
    return status;
}

tendon_status tendon_bluez_prepare(tendon_bluez_radio *radio, const char *name, tendon_bluez_use use) {
    tendon_bluez_init(radio);
    if ((unsigned)use > TENDON_BLUEZ_CONNECTIONS_ONLY) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    radio->unprivileged = use == TENDON_BLUEZ_CONNECTIONS_ONLY;
    radio->use = (uint8_t)(radio->unprivileged ? TENDON_BLUEZ_SHARED : use);
    tendon_status status = open_sockets(radio, name, radio->unprivileged);
    if (status < 0) {
        close_sources(radio);
    }
    return status < 0 ? status : TENDON_OK;
}

tendon_status tendon_bluez_attach(tendon_bluez_radio *radio, tendon_loop *loop) {
    if (radio->radio.ops == NULL || radio->opened || radio->management.fd < 0) {
        return TENDON_ERROR_WRONG_STATE;
    }
    tendon_status status = tendon_bluez_begin(radio, loop);
    if (status < 0) {
        close_sources(radio);
    } else if (!radio->unprivileged && radio->use != TENDON_BLUEZ_OBSERVER && tendon_bluez_users(radio) == 0) {
        tendon_bluez_discovery_recover(radio);
    }
    return status < 0 ? status : TENDON_OK;
}

tendon_status tendon_bluez_open_as(tendon_bluez_radio *radio, tendon_loop *loop, const char *name,
                                   tendon_bluez_use use) {
    tendon_status status = tendon_bluez_prepare(radio, name, use);
    return status < 0 ? status : tendon_bluez_attach(radio, loop);
}

tendon_status tendon_bluez_open(tendon_bluez_radio *radio, tendon_loop *loop, const char *name) {
    return tendon_bluez_open_as(radio, loop, name, TENDON_BLUEZ_SHARED);
}

/** Whether the controller may do this after the command in flight. */
static bool may_be_on(const tendon_bluez_radio *radio, const tendon_bluez_activity *activity) {
    bool enabling = tendon_bluez_in_flight(radio, activity) && radio->command.request == TENDON_BLUEZ_SEND_ENABLE;
    return activity->state == TENDON_BLUEZ_ON || activity->state == TENDON_BLUEZ_STALE || enabling;
}

/** Activities in the controller would stay enabled after the sockets are closed. */
static void switch_off(tendon_bluez_radio *radio) {
    tendon_bluez_command command = {.length = 0};
    if (radio->scan.has_scanned) { /* the kernel may have reported its discovery */
        management_ready(radio, TENDON_READABLE, tendon_monotonic_ms());
    }
    if (!tendon_bluez_discovery_close(radio) && may_be_on(radio, &radio->scan.activity) && !radio->scan.joined) {
        tendon_bluez_scan_disable(radio, &command);
        tendon_bluez_send_and_forget(radio, &command);
    }
    tendon_bluez_scan_restore(radio);
    if (may_be_on(radio, &radio->advertising.activity)) {
        tendon_bluez_advertise_disable(radio, &command);
        tendon_bluez_send_and_forget(radio, &command);
    }
    if (radio->extended_advertising && radio->advertising.set_made) {
        command.length =
            tendon_hci_command_remove_advertising_set(radio->advertising.set, command.bytes, sizeof command.bytes);
        tendon_bluez_send_and_forget(radio, &command);
    }
}

static void close_radio(tendon_radio *base) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    if (!radio->opened) { /* prepared at most: the loop does not know it */
        tendon_bluez_close_sockets(radio);
        return;
    }
    tendon_bluez_release_held(radio);
    memset(radio->attempts, 0, sizeof radio->attempts); /* their owners should have closed them */
    tendon_bluez_unlisten(base, base->listener);
    tendon_pairing_close(base);
    tendon_bluez_pairing_restore(radio);
    if (radio->power.state == TENDON_BLUEZ_CYCLING) {
        tendon_bluez_end_cycle(radio);
    } else if (!tendon_bluez_failed(radio)) {
        switch_off(radio);
    }
    radio->opened = radio->radio.scanning = false;
    radio->scan.activity.requested = radio->advertising.activity.requested = false;
    close_sources(radio);
}

#endif
