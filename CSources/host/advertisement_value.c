/* SPDX-License-Identifier: MIT */
#include "advertisement_part.h"

/* Values by type (Core Specification Supplement Part A 1). size: of a UUID, or of the value's fixed part. */
typedef struct value_form {
    uint8_t type, kind, size;
    bool exact; /* the value has this size, or (lists) is a multiple of it */
} value_form;

static const value_form forms[] = {
    {TENDON_AD_FLAGS, TENDON_AD_KIND_NUMBER, 1, false},
    {TENDON_AD_UUID16_INCOMPLETE, TENDON_AD_KIND_UUIDS, 2, true},
    {TENDON_AD_UUID16_COMPLETE, TENDON_AD_KIND_UUIDS, 2, true},
    {TENDON_AD_UUID32_INCOMPLETE, TENDON_AD_KIND_UUIDS, 4, true},
    {TENDON_AD_UUID32_COMPLETE, TENDON_AD_KIND_UUIDS, 4, true},
    {TENDON_AD_UUID128_INCOMPLETE, TENDON_AD_KIND_UUIDS, 16, true},
    {TENDON_AD_UUID128_COMPLETE, TENDON_AD_KIND_UUIDS, 16, true},
    {TENDON_AD_NAME_SHORTENED, TENDON_AD_KIND_TEXT, 0, false},
    {TENDON_AD_NAME_COMPLETE, TENDON_AD_KIND_TEXT, 0, false},
    {TENDON_AD_TX_POWER, TENDON_AD_KIND_NUMBER, 1, true},
    {TENDON_AD_CLASS_OF_DEVICE, TENDON_AD_KIND_NUMBER, 3, true},
    {TENDON_AD_PAIRING_HASH_192, TENDON_AD_KIND_BYTES, 16, true},
    {TENDON_AD_PAIRING_RANDOMIZER_192, TENDON_AD_KIND_BYTES, 16, true},
    {TENDON_AD_DEVICE_ID, TENDON_AD_KIND_BYTES, 8, false},
    {TENDON_AD_SECURITY_FLAGS, TENDON_AD_KIND_NUMBER, 1, true},
    {TENDON_AD_CONNECTION_INTERVAL, TENDON_AD_KIND_RANGE, 4, true},
    {TENDON_AD_SOLICIT_UUID16, TENDON_AD_KIND_UUIDS, 2, true},
    {TENDON_AD_SOLICIT_UUID128, TENDON_AD_KIND_UUIDS, 16, true},
    {TENDON_AD_SERVICE_DATA_16, TENDON_AD_KIND_SERVICE_DATA, 2, false},
    {TENDON_AD_PUBLIC_TARGET, TENDON_AD_KIND_ADDRESSES, 6, true},
    {TENDON_AD_RANDOM_TARGET, TENDON_AD_KIND_ADDRESSES, 6, true},
    {TENDON_AD_APPEARANCE, TENDON_AD_KIND_NUMBER, 2, true},
    {TENDON_AD_ADVERTISING_INTERVAL, TENDON_AD_KIND_NUMBER, 2, true},
    {TENDON_AD_DEVICE_ADDRESS, TENDON_AD_KIND_ADDRESSES, 7, true},
    {TENDON_AD_ROLE, TENDON_AD_KIND_NUMBER, 1, true},
    {TENDON_AD_PAIRING_HASH_256, TENDON_AD_KIND_BYTES, 16, true},
    {TENDON_AD_PAIRING_RANDOMIZER_256, TENDON_AD_KIND_BYTES, 16, true},
    {TENDON_AD_SOLICIT_UUID32, TENDON_AD_KIND_UUIDS, 4, true},
    {TENDON_AD_SERVICE_DATA_32, TENDON_AD_KIND_SERVICE_DATA, 4, false},
    {TENDON_AD_SERVICE_DATA_128, TENDON_AD_KIND_SERVICE_DATA, 16, false},
    {TENDON_AD_SECURE_CONFIRMATION, TENDON_AD_KIND_BYTES, 16, true},
    {TENDON_AD_SECURE_RANDOM, TENDON_AD_KIND_BYTES, 16, true},
    {TENDON_AD_URI, TENDON_AD_KIND_TEXT, 0, false},
    {TENDON_AD_INDOOR_POSITIONING, TENDON_AD_KIND_BYTES, 1, false},
    {TENDON_AD_TRANSPORT_DISCOVERY, TENDON_AD_KIND_BYTES, 0, false},
    {TENDON_AD_SUPPORTED_FEATURES, TENDON_AD_KIND_BYTES, 0, false},
    {TENDON_AD_CHANNEL_MAP_UPDATE, TENDON_AD_KIND_BYTES, 7, true},
    {TENDON_AD_BROADCAST_CODE, TENDON_AD_KIND_BYTES, 16, true},
    {TENDON_AD_RESOLVABLE_SET, TENDON_AD_KIND_BYTES, 6, true},
    {TENDON_AD_ADVERTISING_INTERVAL_LONG, TENDON_AD_KIND_NUMBER, 3, false},
    {TENDON_AD_BROADCAST_NAME, TENDON_AD_KIND_TEXT, 0, false},
    {TENDON_AD_RESPONSE_TIMING, TENDON_AD_KIND_BYTES, 8, true},
    {TENDON_AD_MANUFACTURER, TENDON_AD_KIND_MANUFACTURER, 2, false},
};

/* Up to four bytes, little endian; TX power is the only signed one. */
static int32_t take_number(uint8_t type, tendon_reader *value) {
    if (type == TENDON_AD_TX_POWER) {
        return tendon_read_i8(value);
    }
    uint32_t number = 0;
    for (unsigned i = 0; i < 4 && tendon_reader_remaining(value) > 0; i++) {
        number |= (uint32_t)tendon_read_u8(value) << (8 * i);
    }
    return (int32_t)(number & 0x7FFFFFFFu);
}

static void take_addresses(tendon_ad_value *out) {
    uint8_t kind = out->type == TENDON_AD_PUBLIC_TARGET ? TENDON_ADDRESS_TYPE_PUBLIC : TENDON_ADDRESS_TYPE_RANDOM;
    if (out->type == TENDON_AD_DEVICE_ADDRESS) {
        kind = out->data[6] & 1u;
        out->length = 6;
    }
    out->address = tendon_address_from_wire(out->data, kind);
}

/* Moves what stands before the data out of it; `size` bytes are known to be there. */
static void take_value(tendon_ad_value *out, tendon_reader *value, size_t size) {
    switch (out->kind) {
    case TENDON_AD_KIND_NUMBER:
        out->number = take_number(out->type, value);
        break;
    case TENDON_AD_KIND_RANGE:
        out->minimum = tendon_read_u16le(value);
        out->maximum = tendon_read_u16le(value);
        break;
    case TENDON_AD_KIND_UUIDS:
        out->uuid_size = (uint8_t)size;
        break;
    case TENDON_AD_KIND_ADDRESSES:
        take_addresses(out);
        break;
    case TENDON_AD_KIND_SERVICE_DATA:
        (void)tendon_uuid_from_wire(out->data, size, &out->uuid);
        out->data += size;
        out->length -= size;
        break;
    case TENDON_AD_KIND_MANUFACTURER:
        out->number = tendon_read_u16le(value);
        out->data += size;
        out->length -= size;
        break;
    default:
        break;
    }
}

static const value_form *form_of(uint8_t type) {
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (forms[i].type == type) {
            return &forms[i];
        }
    }
    return NULL;
}

static tendon_status check_length(const value_form *form, const tendon_reader *value) {
    size_t size = form->size, length = tendon_reader_remaining(value);
    bool is_list = form->kind == TENDON_AD_KIND_UUIDS ||
                   (form->kind == TENDON_AD_KIND_ADDRESSES && form->type != TENDON_AD_DEVICE_ADDRESS);
    bool may_be_empty = form->kind == TENDON_AD_KIND_UUIDS;
    if (value->position + size > value->length && !(may_be_empty && length == 0)) {
        return TENDON_ERROR_TRUNCATED;
    }
    bool fits = !form->exact || (is_list ? length % size == 0 : length == size);
    return fits ? TENDON_OK : TENDON_ERROR_MALFORMED;
}

/* `value` reads in the whole data, or in that of a structure. */
static tendon_status decode(uint8_t type, tendon_reader *value, tendon_ad_value *out) {
    const value_form *form = form_of(type);
    tendon_status status = form != NULL ? check_length(form, value) : TENDON_OK;
    *out = (tendon_ad_value){0};
    out->type = type;
    out->data = value->data + value->position;
    out->length = tendon_reader_remaining(value);
    if (form != NULL && status == TENDON_OK) {
        out->kind = form->kind;
        take_value(out, value, form->size);
    }
    return status;
}

tendon_status tendon_ad_decode(const tendon_ad_structure *structure, tendon_ad_value *out) {
    tendon_reader value = tendon_reader_make(structure->data, structure->length);
    return decode(structure->type, &value, out);
}

bool tendon_ad_uuid_at(const tendon_ad_value *value, size_t index, tendon_uuid *out) {
    size_t size = value->uuid_size;
    if (value->kind != TENDON_AD_KIND_UUIDS || size == 0 || index >= value->length / size) {
        return false;
    }
    return tendon_uuid_from_wire(value->data + index * size, size, out) == TENDON_OK;
}

/* Bytes of a UUID in a list of service UUIDs of this type, 0 for other types. */
static size_t service_uuid_size(uint8_t type) {
    switch (type) {
    case TENDON_AD_UUID16_INCOMPLETE:
    case TENDON_AD_UUID16_COMPLETE:
        return 2;
    case TENDON_AD_UUID32_INCOMPLETE:
    case TENDON_AD_UUID32_COMPLETE:
        return 4;
    case TENDON_AD_UUID128_INCOMPLETE:
    case TENDON_AD_UUID128_COMPLETE:
        return 16;
    default:
        return 0;
    }
}

/* Finds @p uuid; NULL: the entry that has @p index entries before it. */
static bool find_in_list(tendon_reader *list, size_t size, const tendon_uuid *uuid, size_t *index, tendon_uuid *out) {
    const uint8_t *wire;
    do {
        wire = tendon_read_bytes(list, size);
        if (wire != NULL && tendon_uuid_from_wire(wire, size, out) == TENDON_OK) {
            if (uuid != NULL ? tendon_uuid_equal(out, uuid) : *index == 0) {
                return true;
            }
            (*index)--;
        }
    } while (wire != NULL);
    return false;
}

static bool find_service(const uint8_t *data, size_t length, const tendon_uuid *uuid, size_t index, tendon_uuid *out) {
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    uint8_t type;
    tendon_reader value;
    while (tendon_ad_next_part(&iterator, &type, &value)) {
        size_t size = service_uuid_size(type);
        //@ split size;
        if (size != 0 && find_in_list(&value, size, uuid, &index, out)) {
            return true;
        }
    }
    return false;
}

bool tendon_ad_has_uuid(const uint8_t *data, size_t length, const tendon_uuid *uuid) {
    tendon_uuid found;
    return find_service(data, length, uuid, 0, &found);
}

bool tendon_ad_service_uuid_at(const uint8_t *data, size_t length, size_t index, tendon_uuid *out) {
    return find_service(data, length, NULL, index, out);
}

bool tendon_ad_service_data(const uint8_t *data, size_t length, const tendon_uuid *uuid, const uint8_t **value,
                            size_t *value_length) {
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    uint8_t type;
    tendon_reader part;
    tendon_ad_value decoded;
    while (tendon_ad_next_part(&iterator, &type, &part)) {
        if (decode(type, &part, &decoded) == TENDON_OK && decoded.kind == TENDON_AD_KIND_SERVICE_DATA &&
            tendon_uuid_equal(&decoded.uuid, uuid)) {
            *value = decoded.data;
            *value_length = decoded.length;
            return true;
        }
    }
    return false;
}

bool tendon_ad_manufacturer_data(const uint8_t *data, size_t length, uint16_t company, const uint8_t **value,
                                 size_t *value_length) {
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    uint8_t type;
    tendon_reader part;
    tendon_ad_value decoded;
    while (tendon_ad_next_part(&iterator, &type, &part)) {
        if (decode(type, &part, &decoded) == TENDON_OK && decoded.kind == TENDON_AD_KIND_MANUFACTURER &&
            decoded.number == company) {
            *value = decoded.data;
            *value_length = decoded.length;
            return true;
        }
    }
    return false;
}

bool tendon_ad_number(const uint8_t *data, size_t length, uint8_t type, int32_t *out) {
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    uint8_t found;
    tendon_reader part;
    tendon_ad_value decoded;
    while (tendon_ad_next_part(&iterator, &found, &part)) {
        if (found == type && decode(type, &part, &decoded) == TENDON_OK && decoded.kind == TENDON_AD_KIND_NUMBER) {
            *out = decoded.number;
            return true;
        }
    }
    return false;
}
