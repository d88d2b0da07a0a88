/* SPDX-License-Identifier: MIT */
/*
 * Answers of the Obvious cloud. The first byte selects the call, the rest is the answer's text. Everything in an
 * accepted answer is read.
 */
#include "fuzz.h"
#include "obvious_cloud.h"

static void touch(tendon_cloud_text text) {
    FUZZ_CHECK(text.data != NULL && text.length <= TENDON_CLOUD_STRING_MAX);
    (void)fuzz_touch(text.data, text.length);
    FUZZ_CHECK(memchr(text.data, 0, text.length) == NULL);
}

static void features(tendon_cloud_answer *answer) {
    size_t count = 0;
    if (tendon_cloud_features(answer, &count) != TENDON_CLOUD_OK) {
        FUZZ_CHECK(count == 0);
        return;
    }
    FUZZ_CHECK(count <= TENDON_CLOUD_FEATURE_MAX);
    for (size_t i = 0; i < count; i++) {
        tendon_cloud_feature feature = tendon_cloud_feature_at(answer, i);
        FUZZ_CHECK(feature.id >= 1 && feature.id <= TENDON_CLOUD_FEATURE_MAX && feature.name.length > 0);
        touch(feature.name);
    }
}

static void items(tendon_cloud_answer *answer) {
    size_t count = 0;
    if (tendon_cloud_items(answer, &count) != TENDON_CLOUD_OK) {
        FUZZ_CHECK(count == 0);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        tendon_cloud_item item = tendon_cloud_item_at(answer, i);
        FUZZ_CHECK(item.id > 0 && item.feature_count <= TENDON_CLOUD_ITEMS_MAX);
        touch(item.name);
        touch(item.description);
        touch(item.price);
        touch(item.currency);
        touch(item.image_url);
        touch(item.thumbnail_url);
        for (size_t feature = 0; feature < item.feature_count; feature++) {
            uint16_t id = tendon_cloud_item_feature(answer, i, feature);
            FUZZ_CHECK(id >= 1 && id <= TENDON_CLOUD_FEATURE_MAX);
        }
    }
}

static void package(tendon_cloud_answer *answer) {
    tendon_cloud_package out;
    uint8_t *bytes = malloc(TENDON_CLOUD_PACKAGE_MAX);
    FUZZ_CHECK(bytes != NULL);
    if (tendon_cloud_decode_package(answer, &out, bytes) == TENDON_CLOUD_OK) {
        FUZZ_CHECK(out.length <= TENDON_CLOUD_PACKAGE_MAX);
        (void)fuzz_touch(bytes, out.length);
    }
    free(bytes);
}

static void firmware(tendon_cloud_answer *answer) {
    tendon_cloud_firmware out;
    if (tendon_cloud_decode_firmware(answer, &out) == TENDON_CLOUD_OK) {
        FUZZ_CHECK(out.size >= 1 && out.size <= TENDON_CLOUD_IMAGE_MAX && out.version_code <= TENDON_CLOUD_VERSION_MAX);
        touch(out.version_name);
        touch(out.release_notes);
        touch(out.upgrade_message);
        touch(out.url);
    }
}

static void shop(tendon_cloud_answer *answer) {
    tendon_cloud_cart cart;
    tendon_cloud_payment payment;
    if (tendon_cloud_decode_cart(answer, &cart) == TENDON_CLOUD_OK) {
        FUZZ_CHECK(cart.id > 0 && cart.total_price >= 0);
        touch(cart.currency);
    }
    if (tendon_cloud_decode_payment(answer, &payment) == TENDON_CLOUD_OK) {
        FUZZ_CHECK(payment.status != TENDON_CLOUD_PAYMENT_ACTION_REQUIRED ||
                   (payment.secret.length > 0 && payment.action_url.length > 0));
        touch(payment.payment_id);
        touch(payment.secret);
        touch(payment.action_url);
        touch(payment.code);
        touch(payment.message);
    }
}

static void error(tendon_cloud_answer *answer) {
    tendon_cloud_error out;
    if (tendon_cloud_decode_error(answer, &out) == TENDON_CLOUD_OK) {
        touch(out.code);
        touch(out.message);
    }
}

static void base64(const uint8_t *data, size_t size) {
    uint8_t out[64];
    ptrdiff_t length = tendon_cloud_base64((const char *)data, size, out, sizeof out);
    FUZZ_CHECK(length <= (ptrdiff_t)sizeof out);
    FUZZ_CHECK(length < 0 || (size_t)length <= size / 4 * 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const calls[])(tendon_cloud_answer *) = {features, items, package, firmware, shop, error};
    size_t count = sizeof calls / sizeof calls[0];
    if (size == 0) {
        return 0;
    }
    if (data[0] % (count + 1) == count) {
        base64(data + 1, size - 1);
        return 0;
    }
    tendon_cloud_answer answer = {0};
    if (tendon_cloud_answer_parse((const char *)data + 1, size - 1, &answer) == TENDON_CLOUD_OK) {
        calls[data[0] % (count + 1)](&answer);
    }
    tendon_cloud_answer_release(&answer);
    return 0;
}
