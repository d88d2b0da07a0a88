/* SPDX-License-Identifier: MIT */
#include "tendon/host/hci.h"

/* The parameters of an event, in order. */
typedef enum field {
    END = 0,
    STATUS,
    REASON,
    HANDLE,
    ROLE,
    PEER,
    LOCAL_RESOLVABLE,
    PEER_RESOLVABLE,
    INTERVAL,
    INTERVAL_MAX,
    LATENCY,
    TIMEOUT,
    CLOCK,
    COMMANDS,
    OPCODE,
    ENABLED,
    KEY_SIZE,
    CODE,
    MANUFACTURER,
    SUBVERSION,
    TX_PHY,
    RX_PHY,
    SET,
    COUNT,
    SYNC,    /* a sync handle, only skipped */
    ENTRIES, /* COUNT entries of 4 bytes */
    BYTES_8, /* exactly this number of bytes into data */
    BYTES_10,
    REST /* the remaining bytes into data */
} field;

#define FIELDS_MAX 13

typedef struct row {
    uint8_t code, subevent;
    uint8_t fields[FIELDS_MAX];
} row;

/* Core Spec Vol 4 Part E 7.7. */
static const row rows[] = {
    {TENDON_HCI_DISCONNECTION_COMPLETE, 0, {STATUS, HANDLE, REASON}},
    {TENDON_HCI_ENCRYPTION_CHANGE, 0, {STATUS, HANDLE, ENABLED}},
    {TENDON_HCI_ENCRYPTION_CHANGE_V2, 0, {STATUS, HANDLE, ENABLED, KEY_SIZE}},
    {TENDON_HCI_READ_REMOTE_VERSION_COMPLETE, 0, {STATUS, HANDLE, CODE, MANUFACTURER, SUBVERSION}},
    {TENDON_HCI_COMMAND_COMPLETE, 0, {COMMANDS, OPCODE, REST}},
    {TENDON_HCI_COMMAND_STATUS, 0, {STATUS, COMMANDS, OPCODE}},
    {TENDON_HCI_HARDWARE_ERROR, 0, {CODE}},
    {TENDON_HCI_NUMBER_OF_COMPLETED_PACKETS, 0, {COUNT, ENTRIES}},
    {TENDON_HCI_DATA_BUFFER_OVERFLOW, 0, {CODE}},
    {TENDON_HCI_ENCRYPTION_KEY_REFRESH, 0, {STATUS, HANDLE}},
    {TENDON_HCI_LE_META,
     TENDON_HCI_LE_CONNECTION_COMPLETE,
     {STATUS, HANDLE, ROLE, PEER, INTERVAL, LATENCY, TIMEOUT, CLOCK}},
    {TENDON_HCI_LE_META, TENDON_HCI_LE_CONNECTION_UPDATE_COMPLETE, {STATUS, HANDLE, INTERVAL, LATENCY, TIMEOUT}},
    {TENDON_HCI_LE_META, TENDON_HCI_LE_READ_REMOTE_FEATURES_COMPLETE, {STATUS, HANDLE, BYTES_8}},
    {TENDON_HCI_LE_META, TENDON_HCI_LE_LONG_TERM_KEY_REQUEST, {HANDLE, BYTES_10}},
    {TENDON_HCI_LE_META, TENDON_HCI_LE_REMOTE_PARAMETER_REQUEST, {HANDLE, INTERVAL, INTERVAL_MAX, LATENCY, TIMEOUT}},
    {TENDON_HCI_LE_META, TENDON_HCI_LE_DATA_LENGTH_CHANGE, {HANDLE, BYTES_8}},
    {TENDON_HCI_LE_META,
     TENDON_HCI_LE_ENHANCED_CONNECTION_COMPLETE,
     {STATUS, HANDLE, ROLE, PEER, LOCAL_RESOLVABLE, PEER_RESOLVABLE, INTERVAL, LATENCY, TIMEOUT, CLOCK}},
    {TENDON_HCI_LE_META, TENDON_HCI_LE_PHY_UPDATE_COMPLETE, {STATUS, HANDLE, TX_PHY, RX_PHY}},
    {TENDON_HCI_LE_META, TENDON_HCI_LE_SCAN_TIMEOUT, {END}},
    {TENDON_HCI_LE_META, TENDON_HCI_LE_ADVERTISING_SET_TERMINATED, {STATUS, SET, HANDLE, COUNT}},
    {TENDON_HCI_LE_META, TENDON_HCI_LE_SCAN_REQUEST_RECEIVED, {SET, PEER}},
    {TENDON_HCI_LE_META, TENDON_HCI_LE_CHANNEL_SELECTION, {HANDLE, CODE}},
    {TENDON_HCI_LE_META,
     TENDON_HCI_LE_ENHANCED_CONNECTION_COMPLETE_V2,
     {STATUS, HANDLE, ROLE, PEER, LOCAL_RESOLVABLE, PEER_RESOLVABLE, INTERVAL, LATENCY, TIMEOUT, CLOCK, SET, SYNC}},
};

tendon_status tendon_hci_event_decode(const uint8_t *packet, size_t length, tendon_hci_event *out, size_t *offset) {
    tendon_reader reader = tendon_reader_make(packet, length);
    *out = (tendon_hci_event){0};
    uint8_t code = tendon_read_u8(&reader);
    uint8_t stated = tendon_read_u8(&reader);
    const uint8_t *data = tendon_read_bytes(&reader, stated);
    size_t subevent_size = code == TENDON_HCI_LE_META ? 1 : 0;
    if (tendon_reader_ok(&reader) && tendon_reader_remaining(&reader) > 0) {
        reader.status = TENDON_ERROR_MALFORMED;
        reader.error_offset = reader.position;
    }
    if (tendon_reader_ok(&reader) && stated < subevent_size) {
        reader.status = TENDON_ERROR_TRUNCATED;
        reader.error_offset = reader.position;
    }
    if (!tendon_reader_ok(&reader)) {
        if (offset != NULL) {
            *offset = reader.error_offset;
        }
        return reader.status;
    }
    out->code = code;
    out->subevent = subevent_size != 0 ? data[0] : 0;
    out->data = data + subevent_size;
    out->length = stated - subevent_size;
    return TENDON_OK;
}

static void reject(tendon_reader *reader, size_t where) {
    if (tendon_reader_ok(reader)) {
        reader->status = TENDON_ERROR_MALFORMED;
        reader->error_offset = where;
    }
}

static tendon_address take_address(tendon_reader *reader, uint8_t kind) {
    static const uint8_t none[6] = {0};
    const uint8_t *wire = tendon_read_bytes(reader, sizeof(none));
    return tendon_address_from_wire(wire != NULL ? wire : none, kind);
}

static void take_peer(tendon_reader *reader, tendon_hci_parameters *out) {
    uint8_t kind = tendon_read_u8(reader);
    out->peer = take_address(reader, kind);
}

/* Of a failed command handle and role mean nothing, so only a successful one can be impossible. */
static void take_handle(tendon_reader *reader, tendon_hci_parameters *out) {
    size_t start = reader->position;
    out->handle = tendon_read_u16le(reader);
    if (out->status == 0 && out->handle > TENDON_HCI_HANDLE_MAX) {
        reject(reader, start);
    }
}

static void take_role(tendon_reader *reader, tendon_hci_parameters *out) {
    size_t start = reader->position;
    out->role = tendon_read_u8(reader);
    if (out->status == 0 && out->role > 1) {
        reject(reader, start);
    }
}

static void take_bytes(tendon_reader *reader, size_t count, tendon_hci_parameters *out) {
    out->data = tendon_read_bytes(reader, count);
    out->length = out->data != NULL ? count : 0;
}

/* The one-byte fields that need no check. */
static uint8_t *byte_of(uint8_t which, tendon_hci_parameters *out) {
    switch (which) {
    case STATUS:
        return &out->status;
    case REASON:
        return &out->reason;
    case CLOCK:
        return &out->clock;
    case COMMANDS:
        return &out->commands;
    case ENABLED:
        return &out->enabled;
    case KEY_SIZE:
        return &out->key_size;
    case CODE:
        return &out->code;
    case TX_PHY:
        return &out->tx_phy;
    case RX_PHY:
        return &out->rx_phy;
    case SET:
        return &out->set;
    case COUNT:
        return &out->count;
    default:
        return NULL;
    }
}

/* The two-byte fields that need no check. */
static uint16_t *word_of(uint8_t which, tendon_hci_parameters *out) {
    switch (which) {
    case INTERVAL:
        return &out->interval;
    case INTERVAL_MAX:
        return &out->interval_max;
    case LATENCY:
        return &out->latency;
    case TIMEOUT:
        return &out->timeout;
    case OPCODE:
        return &out->opcode;
    case MANUFACTURER:
        return &out->manufacturer;
    case SUBVERSION:
        return &out->subversion;
    default:
        return NULL;
    }
}

static void take_field(tendon_reader *reader, uint8_t which, tendon_hci_parameters *out) {
    uint8_t *byte = byte_of(which, out);
    uint16_t *word = word_of(which, out);
    if (byte != NULL) {
        *byte = tendon_read_u8(reader);
    } else if (word != NULL) {
        *word = tendon_read_u16le(reader);
    } else if (which == HANDLE) {
        take_handle(reader, out);
    } else if (which == ROLE) {
        take_role(reader, out);
    } else if (which == PEER) {
        take_peer(reader, out);
    } else if (which == LOCAL_RESOLVABLE) {
        out->local_resolvable = take_address(reader, TENDON_ADDRESS_TYPE_RANDOM);
    } else if (which == PEER_RESOLVABLE) {
        out->peer_resolvable = take_address(reader, TENDON_ADDRESS_TYPE_RANDOM);
    } else if (which == ENTRIES) {
        take_bytes(reader, (size_t)out->count * 4, out);
    } else if (which == BYTES_8 || which == BYTES_10) {
        take_bytes(reader, which == BYTES_8 ? 8 : 10, out);
    } else if (which == REST) {
        take_bytes(reader, tendon_reader_remaining(reader), out);
    } else {
        (void)tendon_read_u16le(reader); /* SYNC */
    }
}

static const row *find_row(const tendon_hci_event *event) {
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].code == event->code && rows[i].subevent == event->subevent) {
            return &rows[i];
        }
    }
    return NULL;
}

tendon_status tendon_hci_decode(const tendon_hci_event *event, tendon_hci_parameters *out, size_t *offset) {
    *out = (tendon_hci_parameters){0};
    const row *found = find_row(event);
    if (found == NULL) {
        if (offset != NULL) {
            *offset = 0;
        }
        return TENDON_ERROR_UNSUPPORTED;
    }
    tendon_reader reader = tendon_reader_make(event->data, event->length);
    for (size_t i = 0; i < FIELDS_MAX && found->fields[i] != END; i++) {
        take_field(&reader, found->fields[i], out);
    }
    /*
     * Bytes after the known parameters are ignored, as in management.c: later versions append parameters, and the
     * kernel acts on such an event. If it were rejected here, the kernel and this host would differ about the
     * controller's state.
     */
    if (!tendon_reader_ok(&reader) && offset != NULL) {
        *offset = reader.error_offset;
    }
    return reader.status;
}
