/* SPDX-License-Identifier: MIT */
/* The cloud's answers, member by member. Only with the package trait ObviousCloud, which brings jansson. */
#include "obvious_cloud.h"

#ifdef TENDON_HAVE_OBVIOUS_CLOUD

#include <jansson.h>
#include <string.h>

/* ---- members ---- */

static tendon_cloud_status fail(tendon_cloud_answer *answer, tendon_cloud_status status, const char *name) {
    answer->member = name;
    return status;
}

static tendon_cloud_text text_of(const json_t *value) {
    return (tendon_cloud_text){json_string_value(value), json_string_length(value)};
}

/* The length of a required text is at least 1. */
static tendon_cloud_status text_member(tendon_cloud_answer *answer, const json_t *object, const char *name,
                                       bool required, tendon_cloud_text *out) {
    const json_t *value = json_object_get(object, name);
    *out = (tendon_cloud_text){"", 0};
    if (value == NULL || json_is_null(value)) {
        return required ? fail(answer, TENDON_CLOUD_MISSING, name) : TENDON_CLOUD_OK;
    }
    if (!json_is_string(value)) {
        return fail(answer, TENDON_CLOUD_WRONG_TYPE, name);
    }
    *out = text_of(value);
    return required && out->length == 0 ? fail(answer, TENDON_CLOUD_OUT_OF_RANGE, name) : TENDON_CLOUD_OK;
}

static tendon_cloud_status integer_member(tendon_cloud_answer *answer, const json_t *object, const char *name,
                                          int64_t lowest, int64_t highest, int64_t *out) {
    const json_t *value = json_object_get(object, name);
    if (value == NULL) {
        return fail(answer, TENDON_CLOUD_MISSING, name);
    }
    if (!json_is_integer(value)) {
        return fail(answer, TENDON_CLOUD_WRONG_TYPE, name);
    }
    *out = json_integer_value(value);
    return *out < lowest || *out > highest ? fail(answer, TENDON_CLOUD_OUT_OF_RANGE, name) : TENDON_CLOUD_OK;
}

/* 64-bit numbers are decimal texts. */
static tendon_cloud_status decimal_member(tendon_cloud_answer *answer, const json_t *object, const char *name,
                                          uint64_t *out) {
    tendon_cloud_text text;
    tendon_cloud_status status = text_member(answer, object, name, true, &text);
    if (status != TENDON_CLOUD_OK) {
        return status;
    }
    *out = 0;
    for (size_t i = 0; i < text.length; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text.data[i] - '0';
        if (digit > 9 || *out > (UINT64_MAX - digit) / 10) {
            return fail(answer, TENDON_CLOUD_OUT_OF_RANGE, name);
        }
        *out = *out * 10 + digit;
    }
    return TENDON_CLOUD_OK;
}

static int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'a' && digit <= 'f') {
        return digit - 'a' + 10;
    }
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

static tendon_cloud_status hex_member(tendon_cloud_answer *answer, const json_t *object, const char *name, uint8_t *out,
                                      size_t size) {
    tendon_cloud_text text;
    tendon_cloud_status status = text_member(answer, object, name, true, &text);
    if (status != TENDON_CLOUD_OK) {
        return status;
    }
    if (text.length != 2 * size) {
        return fail(answer, TENDON_CLOUD_OUT_OF_RANGE, name);
    }
    for (size_t i = 0; i < size; i++) {
        int high = hex_digit(text.data[2 * i]), low = hex_digit(text.data[2 * i + 1]);
        if (high < 0 || low < 0) {
            return fail(answer, TENDON_CLOUD_OUT_OF_RANGE, name);
        }
        out[i] = (uint8_t)(high << 4 | low);
    }
    return TENDON_CLOUD_OK;
}

static tendon_cloud_status base64_member(tendon_cloud_answer *answer, const json_t *object, const char *name,
                                         uint8_t *out, size_t size, size_t *length) {
    tendon_cloud_text text;
    tendon_cloud_status status = text_member(answer, object, name, true, &text);
    if (status != TENDON_CLOUD_OK) {
        return status;
    }
    ptrdiff_t decoded = tendon_cloud_base64(text.data, text.length, out, size);
    *length = decoded < 0 ? 0 : (size_t)decoded;
    return decoded < 0 ? fail(answer, TENDON_CLOUD_OUT_OF_RANGE, name) : TENDON_CLOUD_OK;
}

static tendon_cloud_status array_member(tendon_cloud_answer *answer, const json_t *object, const char *name,
                                        const json_t **out) {
    *out = json_object_get(object, name);
    if (*out == NULL) {
        return fail(answer, TENDON_CLOUD_MISSING, name);
    }
    return json_is_array(*out) ? TENDON_CLOUD_OK : fail(answer, TENDON_CLOUD_WRONG_TYPE, name);
}

/* ---- the answer ---- */

tendon_cloud_status tendon_cloud_answer_parse(const char *text, size_t length, tendon_cloud_answer *answer) {
    *answer = (tendon_cloud_answer){NULL, NULL};
    tendon_cloud_status status = tendon_cloud_check_limits(text, length);
    if (status != TENDON_CLOUD_OK) {
        return status;
    }
    json_error_t error;
    answer->root = json_loadb(length > 0 ? text : "", length, JSON_REJECT_DUPLICATES, &error);
    if (answer->root == NULL) {
        return json_error_code(&error) == json_error_out_of_memory ? TENDON_CLOUD_NO_MEMORY : TENDON_CLOUD_NOT_JSON;
    }
    return json_is_object((json_t *)answer->root) ? TENDON_CLOUD_OK : TENDON_CLOUD_NOT_JSON;
}

void tendon_cloud_answer_release(tendon_cloud_answer *answer) {
    json_decref(answer->root);
    *answer = (tendon_cloud_answer){NULL, NULL};
}

/* ---- features ---- */

static tendon_cloud_status decode_feature(tendon_cloud_answer *answer, const json_t *object,
                                          tendon_cloud_feature *out) {
    int64_t id = 0;
    tendon_cloud_status status = integer_member(answer, object, "id", 1, TENDON_CLOUD_FEATURE_MAX, &id);
    if (status == TENDON_CLOUD_OK) {
        status = text_member(answer, object, "name", true, &out->name);
    }
    const json_t *toggleable = json_object_get(object, "toggleable");
    if (status == TENDON_CLOUD_OK && !json_is_boolean(toggleable)) {
        status = fail(answer, toggleable == NULL ? TENDON_CLOUD_MISSING : TENDON_CLOUD_WRONG_TYPE, "toggleable");
    }
    out->id = (uint16_t)id;
    out->toggleable = json_is_true(toggleable);
    return status;
}

/* Names are compared with those before: at most 1024, as ids are unique. */
static bool has_name(const json_t *list, size_t count, tendon_cloud_text name) {
    for (size_t i = 0; i < count; i++) {
        tendon_cloud_text other = text_of(json_object_get(json_array_get(list, i), "name"));
        if (other.length == name.length && memcmp(other.data, name.data, name.length) == 0) {
            return true;
        }
    }
    return false;
}

tendon_cloud_status tendon_cloud_features(tendon_cloud_answer *answer, size_t *count) {
    bool seen[TENDON_CLOUD_FEATURE_MAX + 1] = {false};
    const json_t *list;
    *count = 0;
    tendon_cloud_status status = array_member(answer, answer->root, "features", &list);
    if (status != TENDON_CLOUD_OK) {
        return status;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        tendon_cloud_feature feature = {0};
        status = decode_feature(answer, json_array_get(list, i), &feature);
        if (status != TENDON_CLOUD_OK) {
            return status;
        }
        if (seen[feature.id] || has_name(list, i, feature.name)) {
            return fail(answer, TENDON_CLOUD_DUPLICATE, seen[feature.id] ? "id" : "name");
        }
        seen[feature.id] = true;
    }
    *count = json_array_size(list);
    return TENDON_CLOUD_OK;
}

tendon_cloud_feature tendon_cloud_feature_at(const tendon_cloud_answer *answer, size_t index) {
    tendon_cloud_answer scratch = *answer;
    tendon_cloud_feature feature = {0};
    (void)decode_feature(&scratch, json_array_get(json_object_get(answer->root, "features"), index), &feature);
    return feature;
}

tendon_cloud_status tendon_cloud_decode_package(tendon_cloud_answer *answer, tendon_cloud_package *out,
                                                uint8_t *bytes) {
    tendon_cloud_status status = decimal_member(answer, answer->root, "counter", &out->counter);
    if (status == TENDON_CLOUD_OK) {
        status = hex_member(answer, answer->root, "sha256", out->sha256, sizeof out->sha256);
    }
    if (status == TENDON_CLOUD_OK) {
        status = base64_member(answer, answer->root, "package", bytes, TENDON_CLOUD_PACKAGE_MAX, &out->length);
    }
    return status;
}

/* ---- firmware ---- */

static tendon_cloud_status decode_numbers(tendon_cloud_answer *answer, tendon_cloud_firmware *out) {
    int64_t version = 0, size = 0;
    uint8_t crc[4] = {0};
    size_t length = 0;
    tendon_cloud_status status =
        integer_member(answer, answer->root, "versionCode", 0, TENDON_CLOUD_VERSION_MAX, &version);
    if (status == TENDON_CLOUD_OK) {
        status = integer_member(answer, answer->root, "size", 1, TENDON_CLOUD_IMAGE_MAX, &size);
    }
    if (status == TENDON_CLOUD_OK) {
        status = hex_member(answer, answer->root, "crc32", crc, sizeof crc);
    }
    if (status == TENDON_CLOUD_OK) {
        status = hex_member(answer, answer->root, "sha256", out->sha256, sizeof out->sha256);
    }
    if (status == TENDON_CLOUD_OK) {
        status = base64_member(answer, answer->root, "manifest", out->manifest, sizeof out->manifest, &length);
    }
    if (status == TENDON_CLOUD_OK && length != TENDON_CLOUD_MANIFEST_SIZE) {
        status = fail(answer, TENDON_CLOUD_OUT_OF_RANGE, "manifest");
    }
    out->version_code = (uint32_t)version;
    out->size = (uint32_t)size;
    out->crc32 = (uint32_t)crc[0] << 24 | (uint32_t)crc[1] << 16 | (uint32_t)crc[2] << 8 | crc[3];
    return status;
}

tendon_cloud_status tendon_cloud_decode_firmware(tendon_cloud_answer *answer, tendon_cloud_firmware *out) {
    tendon_cloud_status status = decode_numbers(answer, out);
    if (status == TENDON_CLOUD_OK) {
        status = text_member(answer, answer->root, "versionName", true, &out->version_name);
    }
    if (status == TENDON_CLOUD_OK) {
        status = text_member(answer, answer->root, "releaseNotes", false, &out->release_notes);
    }
    if (status == TENDON_CLOUD_OK) {
        status = text_member(answer, answer->root, "upgradeMessage", false, &out->upgrade_message);
    }
    return status == TENDON_CLOUD_OK ? text_member(answer, answer->root, "url", true, &out->url) : status;
}

/* ---- shop ---- */

/* "4.99", "5": at most nine digits, a point, at most nine digits. */
static bool is_price(tendon_cloud_text text) {
    size_t digits = 0, at = 0;
    for (; at < text.length && text.data[at] != '.'; at++) {
        digits += text.data[at] >= '0' && text.data[at] <= '9';
    }
    if (digits == 0 || digits != at || digits > 9) {
        return false;
    }
    if (at == text.length) {
        return true;
    }
    size_t fraction = text.length - at - 1;
    for (size_t i = at + 1; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
    }
    return fraction >= 1 && fraction <= 9;
}

static tendon_cloud_status decode_item_texts(tendon_cloud_answer *answer, const json_t *object,
                                             tendon_cloud_item *out) {
    tendon_cloud_status status = text_member(answer, object, "name", true, &out->name);
    if (status == TENDON_CLOUD_OK) {
        status = text_member(answer, object, "description", false, &out->description);
    }
    if (status == TENDON_CLOUD_OK) {
        status = text_member(answer, object, "itemprice", true, &out->price);
    }
    if (status == TENDON_CLOUD_OK && !is_price(out->price)) {
        status = fail(answer, TENDON_CLOUD_OUT_OF_RANGE, "itemprice");
    }
    if (status == TENDON_CLOUD_OK) {
        status = text_member(answer, object, "currency", true, &out->currency);
    }
    if (status == TENDON_CLOUD_OK) {
        status = text_member(answer, object, "imageurl", false, &out->image_url);
    }
    return status == TENDON_CLOUD_OK ? text_member(answer, object, "thumbnailurl", false, &out->thumbnail_url) : status;
}

static tendon_cloud_status decode_item(tendon_cloud_answer *answer, const json_t *object, tendon_cloud_item *out) {
    const json_t *features = NULL;
    tendon_cloud_status status = integer_member(answer, object, "id", 1, INT32_MAX, &out->id);
    if (status == TENDON_CLOUD_OK) {
        status = decode_item_texts(answer, object, out);
    }
    if (status == TENDON_CLOUD_OK) {
        status = array_member(answer, object, "featureIds", &features);
    }
    for (size_t i = 0; status == TENDON_CLOUD_OK && i < json_array_size(features); i++) {
        const json_t *value = json_array_get(features, i);
        if (!json_is_integer(value)) {
            status = fail(answer, TENDON_CLOUD_WRONG_TYPE, "featureIds");
        } else if (json_integer_value(value) < 1 || json_integer_value(value) > TENDON_CLOUD_FEATURE_MAX) {
            status = fail(answer, TENDON_CLOUD_OUT_OF_RANGE, "featureIds");
        }
    }
    out->feature_count = json_array_size(features);
    return status;
}

tendon_cloud_status tendon_cloud_items(tendon_cloud_answer *answer, size_t *count) {
    const json_t *list;
    *count = 0;
    tendon_cloud_status status = array_member(answer, answer->root, "items", &list);
    for (size_t i = 0; status == TENDON_CLOUD_OK && i < json_array_size(list); i++) {
        tendon_cloud_item item = {0};
        status = decode_item(answer, json_array_get(list, i), &item);
        for (size_t before = 0; status == TENDON_CLOUD_OK && before < i; before++) {
            if (json_integer_value(json_object_get(json_array_get(list, before), "id")) == item.id) {
                status = fail(answer, TENDON_CLOUD_DUPLICATE, "id");
            }
        }
    }
    *count = status == TENDON_CLOUD_OK ? json_array_size(list) : 0;
    return status;
}

static const json_t *item_object(const tendon_cloud_answer *answer, size_t index) {
    return json_array_get(json_object_get(answer->root, "items"), index);
}

tendon_cloud_item tendon_cloud_item_at(const tendon_cloud_answer *answer, size_t index) {
    tendon_cloud_answer scratch = *answer;
    tendon_cloud_item item = {0};
    (void)decode_item(&scratch, item_object(answer, index), &item);
    return item;
}

uint16_t tendon_cloud_item_feature(const tendon_cloud_answer *answer, size_t index, size_t feature) {
    const json_t *list = json_object_get(item_object(answer, index), "featureIds");
    return (uint16_t)json_integer_value(json_array_get(list, feature));
}

tendon_cloud_status tendon_cloud_decode_cart(tendon_cloud_answer *answer, tendon_cloud_cart *out) {
    tendon_cloud_status status = integer_member(answer, answer->root, "cartId", 1, INT32_MAX, &out->id);
    if (status == TENDON_CLOUD_OK) {
        status = integer_member(answer, answer->root, "totalPrice", 0, INT32_MAX, &out->total_price);
    }
    return status == TENDON_CLOUD_OK ? text_member(answer, answer->root, "currency", true, &out->currency) : status;
}

static bool is_word(tendon_cloud_text text, const char *word) {
    return text.length == strlen(word) && memcmp(text.data, word, text.length) == 0;
}

static tendon_cloud_status decode_payment_status(tendon_cloud_answer *answer, tendon_cloud_payment_status *out) {
    static const struct {
        const char *word;
        tendon_cloud_payment_status status;
    } words[] = {{"succeeded", TENDON_CLOUD_PAYMENT_SUCCEEDED},
                 {"pending", TENDON_CLOUD_PAYMENT_PENDING},
                 {"action_required", TENDON_CLOUD_PAYMENT_ACTION_REQUIRED},
                 {"failed", TENDON_CLOUD_PAYMENT_FAILED}};
    tendon_cloud_text text;
    tendon_cloud_status status = text_member(answer, answer->root, "status", true, &text);
    for (size_t i = 0; status == TENDON_CLOUD_OK && i < sizeof words / sizeof words[0]; i++) {
        if (is_word(text, words[i].word)) {
            *out = words[i].status;
            return TENDON_CLOUD_OK;
        }
    }
    return status == TENDON_CLOUD_OK ? fail(answer, TENDON_CLOUD_OUT_OF_RANGE, "status") : status;
}

tendon_cloud_status tendon_cloud_decode_payment(tendon_cloud_answer *answer, tendon_cloud_payment *out) {
    memset(out, 0, sizeof *out);
    tendon_cloud_status status = decode_payment_status(answer, &out->status);
    bool action = status == TENDON_CLOUD_OK && out->status == TENDON_CLOUD_PAYMENT_ACTION_REQUIRED;
    if (status == TENDON_CLOUD_OK) {
        status = text_member(answer, answer->root, "paymentId", false, &out->payment_id);
    }
    if (status == TENDON_CLOUD_OK) {
        status = text_member(answer, answer->root, "paymentSecret", action, &out->secret);
    }
    if (status == TENDON_CLOUD_OK) {
        status = text_member(answer, answer->root, "actionUrl", action, &out->action_url);
    }
    if (status == TENDON_CLOUD_OK) {
        status = text_member(answer, answer->root, "code", false, &out->code);
    }
    return status == TENDON_CLOUD_OK ? text_member(answer, answer->root, "message", false, &out->message) : status;
}

/* ---- errors ---- */

tendon_cloud_status tendon_cloud_decode_error(tendon_cloud_answer *answer, tendon_cloud_error *out) {
    const json_t *in_field = json_object_get(answer->root, "inField");
    memset(out, 0, sizeof *out);
    if (in_field != NULL && !json_is_boolean(in_field)) {
        return fail(answer, TENDON_CLOUD_WRONG_TYPE, "inField");
    }
    out->in_field = json_is_true(in_field);
    tendon_cloud_status status = text_member(answer, answer->root, "code", true, &out->code);
    return status == TENDON_CLOUD_OK ? text_member(answer, answer->root, "message", false, &out->message) : status;
}

#endif
