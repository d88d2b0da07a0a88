/* SPDX-License-Identifier: MIT */
/* Controllers, and what Linux does with them: Core Spec Vol 4 Part E 7; net/bluetooth/hci_sync.c and mgmt.c of
 * Linux 6.12. */
#include "fake_kernel.h"

#include <errno.h>
#include <string.h>

enum { UNKNOWN_COMMAND = 0x01, DISALLOWED = 0x0C, LOCAL_HOST = 0x16 };
enum {
    DISCONNECT = 0x0406,
    READ_COMMANDS = 0x1002,
    RANDOM_ADDRESS = 0x2005,
    ADVERTISING_ENABLE = 0x200A,
    SCAN_PARAMETERS = 0x200B,
    SCAN_ENABLE = 0x200C,
    CREATE_CONNECTION = 0x200D,
    READ_FEATURES = 0x2003,
    READ_BUFFER = 0x2002,
    READ_RESOLVING_LIST = 0x202A,
    EXTENDED_ADVERTISING_PARAMETERS = 0x2036,
    EXTENDED_ADVERTISING_ENABLE = 0x2039,
    EXTENDED_SCAN_PARAMETERS = 0x2041,
    EXTENDED_SCAN_ENABLE = 0x2042,
    EXTENDED_CREATE_CONNECTION = 0x2043
};
/** A controller takes so long for a command, the kernel to send the next one, to connect, and to end a connection that
 * nothing uses, in ms. */
enum { RESPONSE_MS = 1, NEXT_MS = 1, CONNECT_MS = 30, UNUSED_MS = 2000, POWER_MS = 20, PAIR_MS = 50 };

fake_adapter *fake_of(uint16_t index) {
    for (int i = 0; i < FAKE_ADAPTERS; i++) {
        if (fake.adapters[i].present && fake.adapters[i].index == index) {
            return &fake.adapters[i];
        }
    }
    return NULL;
}

fake_device *fake_device_of(const uint8_t wire[6]) {
    for (int i = 0; i < FAKE_DEVICES; i++) {
        if (fake.devices[i].present && memcmp(fake.devices[i].wire, wire, 6) == 0) {
            return &fake.devices[i];
        }
    }
    return NULL;
}

/* ---- the controller ---- */

void fake_event(uint16_t index, uint8_t code, const void *parameters, size_t length, uint64_t delay) {
    uint8_t packet[3 + 255] = {HCI_EVENT_PKT, code, (uint8_t)length};
    memcpy(packet + 3, parameters, length);
    fake_post(delay, HCI_CHANNEL_RAW, index, FAKE_NOBODY, FAKE_NOBODY, packet, 3 + length);
}

static bool is_listed(const fake_adapter *a, uint16_t opcode) {
    bool later = opcode == READ_RESOLVING_LIST ||
                 (opcode >= EXTENDED_ADVERTISING_PARAMETERS && opcode <= EXTENDED_CREATE_CONNECTION);
    bool mandatory = opcode <= SCAN_ENABLE || opcode == CREATE_CONNECTION || opcode == 0x200F || opcode == 0x201C;
    return later ? a->extended : mandatory; /* 0x200F, 0x201C: size of the accept list, supported states */
}

/** Scan Enable and Scan Parameters of either set. */
static uint8_t scan(fake_adapter *a, uint16_t opcode, const uint8_t *p, int by) {
    bool later = opcode >= EXTENDED_SCAN_PARAMETERS;
    if (later && !a->extended) {
        return UNKNOWN_COMMAND;
    }
    if (opcode == SCAN_PARAMETERS || opcode == EXTENDED_SCAN_PARAMETERS) {
        a->filters = a->scanner == FAKE_NOBODY ? (p[later ? 1 : 6] & 1) != 0 : a->filters;
        return a->scanner == FAKE_NOBODY ? 0 : DISALLOWED;
    }
    bool on = p[0] != 0;
    if (on == (a->scanner != FAKE_NOBODY)) {
        return a->lenient ? 0 : DISALLOWED; /* as it is (RootCanal, Intel); others succeed */
    }
    /* What a program that is gone has left enabled is nobody's. */
    a->wronged += !on && a->scanner != by && (a->scanner >= 0 || fake.programs > 0);
    a->orphaned = a->orphaned || (!on && by != FAKE_KERNEL && a->discovers != 0);
    a->scanner = on ? by : FAKE_NOBODY;
    return 0;
}

/** Advertising Enable of either set. */
static uint8_t advertise(fake_adapter *a, uint16_t opcode, const uint8_t *p, int by) {
    if (opcode == ADVERTISING_ENABLE) {
        a->legacy_on = p[0] != 0;
    } else if (p[1] == 0) { /* all sets */
        a->sets_on = p[0] != 0 ? a->sets_on : 0;
    } else {
        uint64_t set = UINT64_C(1) << (p[2] & 63);
        a->sets_on = p[0] != 0 ? a->sets_on | set : a->sets_on & ~set;
    }
    if (by >= 0) {
        a->sets_enabled = a->legacy_on || a->sets_on != 0;
    }
    return 0;
}

static void disconnected(fake_adapter *a, fake_device *device, uint8_t reason, int number) {
    const uint8_t parameters[] = {0, (uint8_t)device->handle, (uint8_t)(device->handle >> 8), reason};
    fake_event(a->index, TENDON_HCI_DISCONNECTION_COMPLETE, parameters, sizeof parameters, 0);
    device->handle = 0;
    device->unused = 0;
    device->next = fake.now + device->interval;
    fake_sockets_end(a->index, device->wire, number);
}

static uint8_t disconnect(fake_adapter *a, const uint8_t *p) {
    for (int i = 0; i < FAKE_DEVICES; i++) {
        fake_device *device = &fake.devices[i];
        if (device->handle != 0 && device->handle == (p[0] | p[1] << 8) &&
            fake.adapters[device->adapter].index == a->index) {
            disconnected(a, device, LOCAL_HOST, ECONNABORTED);
            return 0;
        }
    }
    return 0x02; /* no such connection */
}

/** @param reply what follows the status; @return its length. */
static size_t read_command(const fake_adapter *a, uint16_t opcode, uint8_t *reply) {
    switch (opcode) {
    case READ_COMMANDS:
        reply[25] = 0xF7;
        reply[26] = 0x3F;                   /* up to LE Create Connection Cancel */
        reply[34] = a->extended ? 0x40 : 0; /* Read Resolving List Size */
        reply[36] = a->extended ? 0xC0 : 0; /* sizes of advertising data, number of sets */
        reply[37] = a->extended_scan;
        return 64;
    case READ_FEATURES:
        reply[1] = a->extended ? 0x19 : 0; /* LE Extended Advertising, LE Coded PHY, LE 2M PHY */
        return 8;
    case READ_BUFFER:
        reply[0] = 251;
        reply[2] = 8;
        return 3;
    default:
        return 8;
    }
}

static uint8_t execute(fake_adapter *a, uint16_t opcode, const uint8_t *p, int by) {
    if (a->rejects != 0) {
        return a->rejects;
    }
    switch (opcode) {
    case SCAN_PARAMETERS:
    case SCAN_ENABLE:
    case EXTENDED_SCAN_PARAMETERS:
    case EXTENDED_SCAN_ENABLE:
        return scan(a, opcode, p, by);
    case ADVERTISING_ENABLE:
    case EXTENDED_ADVERTISING_ENABLE:
        return advertise(a, opcode, p, by);
    case DISCONNECT:
        return disconnect(a, p);
    case RANDOM_ADDRESS:
        return a->scanner != FAKE_NOBODY || a->legacy_on ? DISALLOWED : 0;
    default:
        return is_listed(a, opcode) || !a->answers_listed ? 0 : UNKNOWN_COMMAND;
    }
}

/** Whether this command is answered as the test says. */
static bool has_answer(uint16_t opcode) {
    bool has = opcode == fake.answer.opcode && opcode != 0;
    if (has && fake.answer.times > 0 && --fake.answer.times == 0) {
        fake.answer.opcode = 0;
    }
    return has;
}

/** A command of a program, or of the kernel: the raw sockets of others show it, then the response. */
static uint8_t command(fake_adapter *a, int by, const uint8_t *packet, size_t length) {
    const uint8_t *p = packet + 4;
    uint16_t opcode = (uint16_t)(packet[1] | packet[2] << 8);
    /* The kernel has one command in flight: it sends the next one, and shows it, after the response. */
    uint64_t wait = a->next > fake.now ? a->next - fake.now : 0;
    fake_post(wait, HCI_CHANNEL_RAW, a->index, FAKE_NOBODY, by, packet, length);
    bool other = has_answer(opcode);
    if (!a->powered || a->mute || (a->answers_listed && !is_listed(a, opcode) && opcode != DISCONNECT) ||
        (other && fake.answer.none)) {
        return 0;
    }
    uint8_t complete[4 + 64] = {1, packet[1], packet[2], other ? fake.answer.status : execute(a, opcode, p, by)};
    size_t more = complete[3] == 0 && !other ? read_command(a, opcode, complete + 4) : 0;
    fake_event(a->index, TENDON_HCI_COMMAND_COMPLETE, complete, 4 + more, wait + RESPONSE_MS);
    a->next = fake.now + wait + RESPONSE_MS + (fake.hurries ? 0 : NEXT_MS);
    return complete[3];
}

void fake_command(fake_adapter *a, int fd, const uint8_t *packet, size_t length) {
    uint16_t opcode = (uint16_t)(packet[1] | packet[2] << 8);
    assert_true(packet[0] == HCI_COMMAND_PKT && length >= 4 && packet[3] == length - 4);
    if (a != NULL) {
        fake_note(a->index, 'h', opcode, length > 4 ? packet[4] : -1);
        (void)command(a, fd, packet, length);
    }
}

static uint8_t send_as(int by, fake_adapter *a, uint16_t opcode, const void *parameters, uint8_t length) {
    uint8_t packet[4 + 255] = {HCI_COMMAND_PKT, (uint8_t)opcode, (uint8_t)(opcode >> 8), length};
    memcpy(packet + 4, parameters, length);
    return command(a, by, packet, 4u + length);
}

void fake_other(uint16_t index, uint16_t opcode, const void *parameters, uint8_t length) {
    (void)send_as(FAKE_OTHER, fake_of(index), opcode, parameters, length);
}

/* ---- the kernel ---- */

static void kernel_scans(fake_adapter *a, bool on) {
    static const uint8_t legacy[7] = {0, 0x60, 0, 0x30, 0, 0, 1}, later[8] = {0, 1, 1, 0, 0x60, 0, 0x30, 0};
    const uint8_t enable[6] = {on};
    bool extended = a->extended;
    if (on && send_as(FAKE_KERNEL, a, extended ? EXTENDED_SCAN_PARAMETERS : SCAN_PARAMETERS, extended ? later : legacy,
                      extended ? 8 : 7) != 0) {
        return; /* the kernel does not know of the scan of a program, and gives up */
    }
    (void)send_as(FAKE_KERNEL, a, extended ? EXTENDED_SCAN_ENABLE : SCAN_ENABLE, enable, extended ? 6 : 2);
}

/** hci_update_passive_scan_sync(): a scan with the accept list while a connect() waits. If a program scans, that is
 * rejected, and tried again when something changes. */
static void update_scan(fake_adapter *a) {
    unsigned wanted = a->awaits;
    for (int i = 0; i < FAKE_DEVICES; i++) {
        wanted += fake.devices[i].present && fake_waits(a->index, fake.devices[i].wire, false);
    }
    if (a->powered && wanted > 0 && a->creating < 0 && a->scanner != FAKE_KERNEL && a->tried != wanted) {
        kernel_scans(a, true);
    } else if (wanted == 0 && a->scanner == FAKE_KERNEL && a->discovers == 0) {
        kernel_scans(a, false);
    }
    a->tried = a->creating < 0 ? wanted : 0;
}

int fake_route(const uint8_t own[6]) {
    static const uint8_t none[6];
    for (int i = 0; i < FAKE_ADAPTERS; i++) { /* hci_get_route(): the first that has this address */
        const fake_adapter *a = &fake.adapters[i];
        if (a->present && a->powered && memcmp(memcmp(a->wire, none, 6) == 0 ? a->static_wire : a->wire, own, 6) == 0) {
            return a->index;
        }
    }
    return -1;
}

void fake_closed(int index, const uint8_t peer[6]) {
    fake_device *device = fake_device_of(peer);
    if (device != NULL && device->handle != 0 && !fake_waits(index, peer, true)) {
        device->unused = fake.now + UNUSED_MS;
    }
}

/** hci_le_create_conn_sync(): its own scan off, all advertising off, then the command. */
static void create(fake_adapter *a, int number) {
    static const uint8_t off[6] = {0};
    const fake_device *device = &fake.devices[number];
    bool extended = a->extended;
    if (a->scanner == FAKE_KERNEL) {
        kernel_scans(a, false);
    }
    if (a->sets_enabled) {
        (void)send_as(FAKE_KERNEL, a, extended ? EXTENDED_ADVERTISING_ENABLE : ADVERTISING_ENABLE, off,
                      extended ? 2 : 1);
    }
    uint8_t parameters[26] = {[1] = 0, [2] = device->type};
    memcpy(parameters + 3, device->wire, 6);
    uint8_t legacy[25] = {0x60, 0, 0x60, 0, 0, device->type};
    memcpy(legacy + 6, device->wire, 6);
    a->creating = number;
    a->created = fake.now + CONNECT_MS;
    (void)send_as(FAKE_KERNEL, a, extended ? EXTENDED_CREATE_CONNECTION : CREATE_CONNECTION,
                  extended ? parameters : legacy, extended ? 26 : 25);
}

static void created(fake_adapter *a) {
    fake_device *device = &fake.devices[a->creating];
    a->creating = -1;
    device->handle = (uint16_t)++fake.handles;
    device->adapter = (int)(a - fake.adapters);
    uint8_t complete[19] = {
        TENDON_HCI_LE_CONNECTION_COMPLETE, 0, (uint8_t)device->handle, 0, 0, device->type, [12] = 0x18, [16] = 0x2A};
    memcpy(complete + 6, device->wire, 6);
    fake_event(a->index, TENDON_HCI_LE_META, complete, sizeof complete, 0);
    fake_sockets_end(a->index, device->wire, 0);
    fake_closed(a->index, device->wire); /* if nobody waits any more */
}

static void hear(fake_adapter *a, int number) {
    const fake_device *device = &fake.devices[number];
    bool waits = fake_waits(a->index, device->wire, false);
    if (!a->powered || a->mute || a->scanner == FAKE_NOBODY) {
        return;
    }
    if (!a->filters || waits) {
        bool extended = a->extended;
        uint8_t legacy[12] = {TENDON_HCI_LE_ADVERTISING_REPORT, 1, 0, device->type, [11] = 0xC0};
        uint8_t later[26] = {
            TENDON_HCI_LE_EXTENDED_ADVERTISING_REPORT, 1, 0x13, 0, device->type, [13] = 0xFF, 0x7F, 0xC0};
        later[11] = 1;
        memcpy(extended ? later + 5 : legacy + 4, device->wire, 6);
        fake_event(a->index, TENDON_HCI_LE_META, extended ? later : legacy, extended ? sizeof later : sizeof legacy, 0);
    }
    if (waits && a->creating < 0) {
        create(a, number);
    }
}

void fake_adapters_run(void) {
    for (int i = 0; i < FAKE_DEVICES; i++) {
        fake_device *device = &fake.devices[i];
        if (device->handle != 0 && device->unused != 0 && fake.now >= device->unused) {
            disconnected(&fake.adapters[device->adapter], device, LOCAL_HOST, ECONNABORTED);
        }
        bool heard = device->present && device->handle == 0 && device->interval != 0 && fake.now >= device->next;
        for (int k = 0; k < FAKE_ADAPTERS && heard; k++) {
            device->next = fake.now + device->interval;
            hear(&fake.adapters[k], i);
        }
    }
    for (int i = 0; i < FAKE_ADAPTERS; i++) {
        fake_adapter *a = &fake.adapters[i];
        if (a->present && a->creating >= 0 && fake.now >= a->created) {
            created(a);
        }
        if (a->present) {
            update_scan(a);
        }
    }
}

uint64_t fake_adapters_next(void) {
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < FAKE_DEVICES; i++) {
        const fake_device *device = &fake.devices[i];
        uint64_t at = device->handle != 0 ? device->unused : device->interval != 0 ? device->next : 0;
        next = device->present && at != 0 && at < next ? at : next;
    }
    for (int i = 0; i < FAKE_ADAPTERS; i++) {
        const fake_adapter *a = &fake.adapters[i];
        next = a->present && a->creating >= 0 && a->created < next ? a->created : next;
    }
    return next;
}

/* ---- the management interface ---- */

static void put32(uint8_t *out, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> 8 * i);
    }
}

static void kernel_event(uint16_t code, uint16_t index, int fd, const void *data, size_t length, uint64_t delay) {
    uint8_t pdu[6 + 300] = {(uint8_t)code,         0, (uint8_t)index, (uint8_t)(index >> 8), (uint8_t)length,
                            (uint8_t)(length >> 8)};
    memcpy(pdu + 6, data, length);
    fake_post(delay, HCI_CHANNEL_CONTROL, index, fd, FAKE_NOBODY, pdu, 6 + length);
}

static void reply(int fd, uint16_t opcode, uint16_t index, uint8_t status, const void *data, size_t length,
                  uint64_t delay) {
    uint8_t all[3 + 290] = {(uint8_t)opcode, (uint8_t)(opcode >> 8), status};
    memcpy(all + 3, data, length);
    kernel_event(TENDON_MANAGEMENT_DISCOVERING, 99, fd, "\1", 2, delay); /* of another adapter: it is not the reply */
    kernel_event(status == 0 ? TENDON_MANAGEMENT_COMMAND_COMPLETE : TENDON_MANAGEMENT_COMMAND_STATUS, index, fd, all,
                 3 + (status == 0 ? length : 0), delay);
}

static void set_power(fake_adapter *a, bool on) {
    if (on == a->powered || (on && a->stays_off)) {
        return;
    }
    a->powered = on;
    a->powered_off += !on;
    a->settings = on ? a->settings | TENDON_MANAGEMENT_POWERED : a->settings & ~(uint32_t)TENDON_MANAGEMENT_POWERED;
    a->scanner = FAKE_NOBODY;
    a->legacy_on = a->sets_enabled = false;
    a->sets_on = 0;
    a->creating = -1;
    for (int i = 0; i < FAKE_DEVICES; i++) {
        fake_device *device = &fake.devices[i];
        if (device->present && device->handle != 0 && &fake.adapters[device->adapter] == a) {
            device->handle = 0;
            device->unused = 0;
        }
        if (device->present && !on) {
            fake_sockets_end(a->index, device->wire, ECONNABORTED); /* hci_conn_hash_flush() */
        }
    }
}

void fake_power(uint16_t index, bool on) {
    uint8_t settings[4];
    set_power(fake_of(index), on);
    put32(settings, fake_of(index)->settings);
    kernel_event(TENDON_MANAGEMENT_NEW_SETTINGS, index, FAKE_NOBODY, settings, 4, 0);
}

static void list(int fd, uint16_t opcode, bool unconfigured) {
    uint8_t data[2 + 2 * FAKE_ADAPTERS] = {0};
    for (int i = 0; i < FAKE_ADAPTERS; i++) {
        const fake_adapter *a = &fake.adapters[i];
        if (a->present && a->unconfigured == unconfigured && a->listed <= fake.now) {
            data[2 + 2 * data[0]] = (uint8_t)a->index;
            data[3 + 2 * data[0]++] = (uint8_t)(a->index >> 8);
        }
    }
    reply(fd, opcode, TENDON_MANAGEMENT_NO_INDEX, 0, data, 2 + 2u * data[0], 0);
}

static void information(int fd, const fake_adapter *a) {
    uint8_t data[280] = {[6] = 9};
    memcpy(data, a->wire, 6);
    put32(data + 9, a->supported);
    put32(data + 13, a->settings);
    reply(fd, TENDON_MANAGEMENT_READ_INFORMATION, a->index, 0, data, sizeof data, 0);
}

/** stop_discovery() in net/bluetooth/mgmt.c of Linux. */
static uint8_t stop_discovery(fake_adapter *a, uint8_t kinds) {
    if (a->discovers == 0) {
        return TENDON_MANAGEMENT_REJECTED;
    }
    if (a->discovers != kinds) {
        return TENDON_MANAGEMENT_INVALID_PARAMETERS;
    }
    a->discovers = 0;
    a->orphaned = false;
    if (a->scanner == FAKE_KERNEL) {
        kernel_scans(a, false);
    }
    return 0;
}

/** The status of a command that changes settings, once it has. */
static uint8_t set(fake_adapter *a, uint16_t opcode, const uint8_t *data, size_t length) {
    static const uint32_t bits[][2] = {
        {TENDON_MANAGEMENT_SET_LOW_ENERGY, TENDON_MANAGEMENT_LOW_ENERGY},
        {TENDON_MANAGEMENT_SET_SECURE_SIMPLE_PAIRING, TENDON_MANAGEMENT_SECURE_SIMPLE_PAIRING},
        {TENDON_MANAGEMENT_SET_SECURE_CONNECTIONS, TENDON_MANAGEMENT_SECURE_CONNECTIONS},
        {TENDON_MANAGEMENT_SET_BONDABLE, TENDON_MANAGEMENT_BONDABLE}};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        if (opcode == bits[i][0]) {
            a->settings = data[0] != 0 ? a->settings | bits[i][1] : a->settings & ~bits[i][1];
        }
    }
    if (opcode == TENDON_MANAGEMENT_SET_POWERED) {
        if (a->blocked && data[0] != 0) {
            return TENDON_MANAGEMENT_RFKILLED;
        }
        set_power(a, data[0] != 0);
    } else if (opcode == TENDON_MANAGEMENT_SET_STATIC_ADDRESS) {
        if (a->powered) {
            return TENDON_MANAGEMENT_REJECTED;
        }
        memcpy(a->static_wire, data, length < 6 ? length : 6);
        a->settings |= TENDON_MANAGEMENT_STATIC_ADDRESS;
    } else if (opcode == TENDON_MANAGEMENT_STOP_DISCOVERY) {
        a->tried = 0;
        return stop_discovery(a, data[0]);
    } else if (opcode == TENDON_MANAGEMENT_REMOVE_DEVICE) {
        a->tried = 0;
    } else if (opcode == TENDON_MANAGEMENT_SET_IO_CAPABILITY) {
        a->io = data[0];
    }
    return opcode == TENDON_MANAGEMENT_PAIR_DEVICE ? TENDON_MANAGEMENT_REJECTED : 0; /* by the peer */
}

void fake_manage(int fd, const uint8_t *pdu, size_t length) {
    uint16_t opcode = (uint16_t)(pdu[0] | pdu[1] << 8), index = (uint16_t)(pdu[2] | pdu[3] << 8);
    fake_adapter *a = fake_of(index);
    uint8_t settings[4];
    fake_note(index == TENDON_MANAGEMENT_NO_INDEX ? -1 : index, 'm', opcode, length > 6 ? pdu[6] : -1);
    bool unconfigured = opcode == TENDON_MANAGEMENT_READ_UNCONFIGURED_INDEX_LIST;
    if (has_answer(opcode)) {
        if (!fake.answer.none) {
            reply(fd, opcode, index, fake.answer.status, "", 0, 0);
        }
    } else if (opcode == TENDON_MANAGEMENT_READ_INDEX_LIST || unconfigured) {
        list(fd, opcode, unconfigured);
    } else if (a == NULL || a->unconfigured) {
        reply(fd, opcode, index, TENDON_MANAGEMENT_INVALID_INDEX, "", 0, 0);
    } else if (opcode == TENDON_MANAGEMENT_READ_INFORMATION) {
        information(fd, a);
    } else {
        uint8_t status = set(a, opcode, pdu + 6, length - 6);
        put32(settings, a->settings);
        reply(fd, opcode, index, status, settings, 4,
              opcode == TENDON_MANAGEMENT_SET_POWERED && status == 0 ? POWER_MS
              : opcode == TENDON_MANAGEMENT_PAIR_DEVICE              ? PAIR_MS
                                                                     : 0);
    }
}

/* ---- for tests ---- */

static fake_adapter *add(uint16_t index, bool extended, uint16_t event) {
    kernel_event(event, index, FAKE_NOBODY, "", 0, 0);
    for (int i = 0; i < FAKE_ADAPTERS; i++) {
        fake_adapter *a = &fake.adapters[i];
        if (!a->present) {
            *a = (fake_adapter){.present = true,
                                .extended = extended,
                                .unconfigured = event == TENDON_MANAGEMENT_UNCONFIGURED_INDEX_ADDED,
                                .index = index,
                                .wire = {(uint8_t)index, 0, 0, 1, 0xAA, 0},
                                .extended_scan = extended ? 0x60 : 0,
                                .supported = TENDON_MANAGEMENT_LOW_ENERGY | TENDON_MANAGEMENT_POWERED,
                                .settings = TENDON_MANAGEMENT_LOW_ENERGY,
                                .scanner = FAKE_NOBODY,
                                .creating = -1};
            fake_sysfs(index, "uevent", "");
            return a;
        }
    }
    fail_msg("more than %d adapters", FAKE_ADAPTERS);
    return NULL;
}

fake_adapter *fake_add(uint16_t index, bool extended) {
    return add(index, extended, TENDON_MANAGEMENT_INDEX_ADDED);
}

fake_adapter *fake_add_unconfigured(uint16_t index) {
    return add(index, false, TENDON_MANAGEMENT_UNCONFIGURED_INDEX_ADDED);
}

void fake_remove(uint16_t index) {
    set_power(fake_of(index), false);
    fake_of(index)->present = false;
    fake_sysfs(index, NULL, NULL);
    kernel_event(TENDON_MANAGEMENT_INDEX_REMOVED, index, -1, "", 0, 0);
}

fake_device *fake_advertiser(int number, uint64_t interval) {
    fake_device *device = &fake.devices[number];
    *device = (fake_device){.present = true,
                            .wire = {(uint8_t)number, 0, 0, 0, 0, 0xC0},
                            .type = 1,
                            .interval = interval,
                            .next = fake.now + interval};
    return device;
}

tendon_address fake_address(const fake_device *device) {
    return tendon_address_from_wire(device->wire, device->type);
}

void fake_taken(fake_device *device, uint16_t index) {
    fake_adapter *a = fake_of(index);
    device->of_other = true;
    device->adapter = (int)(a - fake.adapters);
    device->handle = (uint16_t)++fake.handles;
}

void fake_leaves(fake_device *device, uint8_t reason) {
    int number = reason == 0x08                     ? ETIMEDOUT
                 : reason >= 0x13 && reason <= 0x15 ? ECONNRESET
                                                    : ENOSYS; /* bt_to_errno() */
    disconnected(&fake.adapters[device->adapter], device, reason, number);
}
