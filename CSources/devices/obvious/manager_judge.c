/* SPDX-License-Identifier: MIT */
/* What the results of each state mean: responses, the answers of the cloud, an open session. */
#include "codes.h"
#include "manager_parts.h"
#include "tendon/base/crc.h"

#include <string.h>

enum { CORRECTIONS_MAX = 5, COMPLETE = 2, TRIAL = 2, APPLIED = 3, PROVISIONED = 1 };
enum { REASON_CRC = 1, REASON_HASH = 2, REASON_SUPERSEDED = 3, DATA_OVERHEAD = TENDON_OBVIOUS_FRAME_OVERHEAD + 8 };

static uint8_t supported(tendon_obvious_manager *m, uint32_t caps, uint8_t input) {
    return (caps & ~m->session->caps) == 0 ? input : tendon_obvious_manager_reject(m, CODE_NOT_SUPPORTED);
}

static bool is_upgrade(const tendon_obvious_manager *m) {
    return m->operation == TENDON_OBVIOUS_UPGRADE_FIRMWARE;
}

/* The record is of an upgrade whose firmware was staged: record.version is what the device should run. */
static bool has_target(const tendon_obvious_manager *m) {
    return m->record.state >= TENDON_OBVIOUS_JOURNAL_ACTIVATE;
}

static uint8_t judge_hello(tendon_obvious_manager *m) {
    bool update = m->operation == TENDON_OBVIOUS_UPDATE_FEATURES;
    return supported(m, update ? TENDON_OBVIOUS_CAP_FEATURE_UPDATE : TENDON_OBVIOUS_CAP_OTA | TENDON_OBVIOUS_CAP_TRIAL,
                     I_OK);
}

static uint8_t judge_info(tendon_obvious_manager *m, const tendon_obvious_payload *payload) {
    m->fw = payload->device_info.fw;
    m->bootloader = payload->device_info.bootloader;
    m->stack = payload->device_info.stack;
    m->serial = payload->device_info.serial;
    m->counter = payload->device_info.counter;
    m->flags = payload->device_info.flags;
    m->battery = payload->device_info.battery;
    if (payload->device_info.product != m->config.product) {
        return tendon_obvious_manager_reject(m, CODE_WRONG_PRODUCT);
    }
    if (!m->recorded || m->record.serial != m->serial) { /* none yet, or of another device */
        m->recorded = true;
        m->record = (tendon_obvious_record){.serial = m->serial};
        if (m->config.load != NULL) {
            m->config.load(m->config.context, &m->record);
        }
    }
    if (m->provisioned && (m->flags & PROVISIONED) == 0) {
        return tendon_obvious_manager_reject(m, CODE_NOT_PROVISIONED);
    }
    if (m->operation == TENDON_OBVIOUS_CHECK_FIRMWARE && m->fw == TENDON_OBVIOUS_VERSION_ABSENT) {
        return tendon_obvious_manager_reject(m, CODE_INTERNAL);
    }
    if (!is_upgrade(m)) {
        return I_OK;
    }
    tendon_obvious_manager_tell(m, TENDON_OBVIOUS_EVENT_PROGRESS, TENDON_OBVIOUS_PROGRESS_PREPARING);
    if (has_target(m)) { /* to be confirmed, whatever the battery is */
        return I_OK;
    }
    m->record.before = m->counter;
    m->record.caps = m->session->caps;
    bool low = m->battery < m->config.min_battery; /* 255, unknown, is not */
    return low ? tendon_obvious_manager_reject(m, CODE_LOW_POWER) : (uint8_t)I_OK;
}

static uint8_t judge_firmware(tendon_obvious_manager *m, const tendon_obvious_payload *payload) {
    m->status = TENDON_OK; /* of a connection before */
    m->fw = m->active = payload->firmware.active;
    m->epoch = payload->firmware.epoch;
    bool trial = payload->firmware.active_state == TRIAL, named = has_target(m) && m->active == m->record.version;
    m->other_trial = trial && !named;
    if (!is_upgrade(m)) {
        return trial && named ? I_ALT : I_OK;
    }
    if (!has_target(m)) { /* during a trial the device takes no other firmware */
        return trial ? tendon_obvious_manager_reject(m, CODE_BUSY) : (uint8_t)I_OK;
    }
    m->obj = TENDON_OBVIOUS_OBJECT_FIRMWARE;
    if (named) {
        return trial ? I_ALT : I_SECOND;
    }
    if (payload->firmware.staged == m->record.version && payload->firmware.staged_state == COMPLETE) {
        return I_THIRD;
    }
    return tendon_obvious_manager_reject(m, CODE_INTERNAL); /* rolled back */
}

/* A higher counter is that of a package which was applied meanwhile. */
static uint8_t judge_self_test(tendon_obvious_manager *m, const tendon_obvious_payload *payload) {
    bool whole = payload->device_info.counter >= m->record.before && payload->device_info.serial == m->record.serial &&
                 (m->record.caps & ~m->session->caps) == 0;
    return whole ? (uint8_t)I_OK : tendon_obvious_manager_reject(m, CODE_INTERNAL);
}

static uint8_t judge_nonce(tendon_obvious_manager *m, const tendon_obvious_payload *payload) {
    if (payload != NULL) {
        tendon_obvious_nonce_set(&m->nonce, payload->nonce.bytes, m->now);
    }
    bool begun = m->package_kind == TENDON_OBVIOUS_PACKAGE_PROVISION; /* its start was reported */
    return (m->flags & PROVISIONED) != 0 ? (uint8_t)I_OK
                                         : supported(m, TENDON_OBVIOUS_CAP_PROVISIONING, begun ? I_SECOND : I_ALT);
}

/* ---- features ---- */

/* The opposite of the present toggle, as the next request sets it. */
static uint8_t flip(tendon_obvious_manager *m) {
    tendon_obvious_feature *feature = m->features;
    if (feature->enable != TENDON_OBVIOUS_ENABLED) {
        return tendon_obvious_manager_reject(m, feature->enable == TENDON_OBVIOUS_DISABLED ? CODE_FEATURE_DISABLED
                                                                                           : CODE_UNKNOWN_FEATURE);
    }
    if (feature->toggle != TENDON_OBVIOUS_TOGGLE_ACTIVATED && feature->toggle != TENDON_OBVIOUS_TOGGLE_DEACTIVATED) {
        return tendon_obvious_manager_reject(m, CODE_TOGGLE_UNSUPPORTED);
    }
    feature->toggle = (TENDON_OBVIOUS_TOGGLE_ACTIVATED + TENDON_OBVIOUS_TOGGLE_DEACTIVATED) - feature->toggle;
    return I_ALT;
}

static uint8_t judge_features(tendon_obvious_manager *m, const tendon_obvious_payload *payload) {
    tendon_obvious_feature *features = m->features + m->feature_at;
    for (size_t i = 0; i < m->length; i++) { /* beyond the end of the list: 0 */
        tendon_obvious_feature feature = tendon_obvious_feature_at(payload, i);
        if (payload->features.count != m->length || feature.id != features[i].id) {
            return tendon_obvious_manager_reject(m, CODE_BAD_PARAM);
        }
        features[i] = feature;
    }
    m->feature_at += m->length;
    if (m->feature_at < m->feature_count) {
        return I_OK;
    }
    m->feature_at = 0;
    return m->state == S_STATUS && m->operation == TENDON_OBVIOUS_TOGGLE ? flip(m) : (uint8_t)I_ALT;
}

/* ---- transfer ---- */

/* Again from the beginning, only one time. */
static uint8_t again(tendon_obvious_manager *m, uint8_t reason) {
    if (m->restarted) {
        return tendon_obvious_manager_reject(m, CODE_HASH_MISMATCH);
    }
    m->restarted = true;
    m->resumes = false;
    m->reason = reason;
    return I_SECOND;
}

/* A nonce ends with its connection: another package takes the place of one that is bound to it. */
static uint8_t supersede(tendon_obvious_manager *m) {
    m->reason = REASON_SUPERSEDED;
    return I_SECOND;
}

/* The device has forgotten the transfer, or had none. */
static uint8_t aborted(tendon_obvious_manager *m) {
    if (m->reason != REASON_SUPERSEDED) {
        return I_OK;
    }
    m->obj = 0;
    return I_ALT;
}

static uint8_t judge_begin(tendon_obvious_manager *m, const tendon_obvious_payload *payload) {
    size_t most = (size_t)m->session->frame_max - DATA_OVERHEAD;
    m->chunk = payload->begin_response.chunk_max < m->config.chunk_max ? payload->begin_response.chunk_max
                                                                       : m->config.chunk_max;
    m->chunk = m->chunk < most ? m->chunk : (uint16_t)most;
    m->transfer = payload->begin_response.session;
    m->offset = payload->begin_response.offset;
    m->prefix = payload->begin_response.crc32;
    m->sent = m->sum = 0;
    return m->offset > m->size ? tendon_obvious_manager_reject(m, CODE_BAD_PARAM) : (uint8_t)I_OK;
}

uint8_t tendon_obvious_manager_judge_prefix(tendon_obvious_manager *m) {
    if (m->sum != m->prefix) {
        return again(m, REASON_CRC);
    }
    m->resumes = true; /* from now on, over another connection */
    return m->offset == m->size ? I_ALT : I_OK;
}

static uint8_t judge_data(tendon_obvious_manager *m, const tendon_obvious_payload *payload) {
    if (payload->next.offset != m->offset + m->length) {
        return tendon_obvious_manager_reject(m, CODE_BAD_PARAM);
    }
    m->offset = payload->next.offset;
    m->tries = 0;
    if (is_upgrade(m)) {
        unsigned percent = m->offset * 100u / m->size; /* below 2^32: 16 MiB at most */
        tendon_obvious_manager_progress(m, (int8_t)(percent > 99 ? 99 : percent));
    }
    return m->offset == m->size ? I_ALT : I_OK;
}

/* What the device applied was verified before: its counter is the highest from here on, however the update ends. The
 * upgrade's part of the record stays. The device has a counter of its own, so a journal that fails loses no update. */
static void raise_counter(tendon_obvious_manager *m) {
    m->record.serial = m->serial;
    m->record.counter = m->counter;
    (void)tendon_obvious_manager_store(m, m->record.state);
}

/* The object was applied, or staged. */
static uint8_t applied(tendon_obvious_manager *m, bool reboots) {
    m->state = S_END;
    if (m->obj != TENDON_OBVIOUS_OBJECT_FIRMWARE) {
        raise_counter(m);
    }
    if (m->obj == TENDON_OBVIOUS_OBJECT_PROVISION) {
        m->obj = 0;
        m->provisioned = true;
        m->restarted = m->resumes = false;
        m->corrections = m->tries = 0;
        return I_ALT;
    }
    if (is_upgrade(m) || !reboots) {
        return I_OK;
    }
    return m->announced ? I_THIRD : I_SECOND;
}

static uint8_t judge_query(tendon_obvious_manager *m, const tendon_obvious_payload *payload) {
    bool same = payload->transfer.state == APPLIED &&
                memcmp(payload->transfer.sha256, m->sha256, TENDON_OBVIOUS_SHA256_SIZE) == 0;
    bool another = m->tries > 0; /* connection than that of the nonce */
    return same ? applied(m, m->reboots) : m->bound && another ? supersede(m) : (uint8_t)I_OK;
}

uint8_t tendon_obvious_manager_judge(tendon_obvious_manager *m, const tendon_obvious_payload *payload) {
    if (m->state >= S_BEGIN) {
        m->status = TENDON_OK; /* of a failure before, which is overcome */
    }
    switch (m->state) {
    case S_HELLO:
        return judge_hello(m);
    case S_INFO:
        return judge_info(m, payload);
    case S_FW_STATE:
        return judge_firmware(m, payload);
    case S_SELF_TEST:
        return judge_self_test(m, payload);
    case S_CONFIRM:
        return is_upgrade(m) ? I_OK : I_ALT;
    case S_NONCE:
        return judge_nonce(m, payload);
    case S_STATUS:
    case S_TOGGLE:
        return judge_features(m, payload);
    case S_COUNTER:
        return payload->counter.counter == m->counter ? (uint8_t)I_OK : tendon_obvious_manager_reject(m, CODE_INTERNAL);
    case S_BEGIN:
        return judge_begin(m, payload);
    case S_DATA:
        return judge_data(m, payload);
    case S_END:
        return applied(m, (payload->end.flags & 1) != 0);
    case S_QUERY:
        return judge_query(m, payload);
    case S_RESTART:
        return aborted(m);
    default:
        return I_OK;
    }
}

uint8_t tendon_obvious_manager_judge_error(tendon_obvious_manager *m, const tendon_obvious_response *response) {
    if (response->status == TENDON_ERROR_TIMEOUT) {
        return I_TIMEOUT;
    }
    bool moves = m->state == S_DATA && response->payload != NULL && m->corrections < CORRECTIONS_MAX &&
                 response->payload->next.offset <= m->sent;
    if (moves) {
        m->corrections++;
        m->status = TENDON_OK;
        m->offset = response->payload->next.offset;
        return m->offset == m->size ? I_ALT : I_OK;
    }
    if (m->state == S_END && is_upgrade(m) && response->status == TENDON_OBVIOUS_ERROR_HASH_MISMATCH) {
        return again(m, REASON_HASH);
    }
    return m->state == S_RESTART ? aborted(m) : (uint8_t)I_FAIL;
}

uint8_t tendon_obvious_manager_judge_open(tendon_obvious_manager *m) {
    const tendon_obvious_session *session = m->session;
    if (m->state == S_CONNECT &&
        (m->operation & (TENDON_OBVIOUS_CHECK_STATUS | TENDON_OBVIOUS_TOGGLE | TENDON_OBVIOUS_SET_TOGGLES)) != 0) {
        uint32_t caps = m->operation != TENDON_OBVIOUS_SET_TOGGLES ? TENDON_OBVIOUS_CAP_FEATURES : 0;
        caps |= m->operation != TENDON_OBVIOUS_CHECK_STATUS ? TENDON_OBVIOUS_CAP_TOGGLE : 0;
        return supported(m, caps, I_OPEN);
    }
    if (m->state == S_RECONNECT && m->end_sent) {
        return I_ALT;
    }
    if (m->state == S_RECONNECT && m->bound) {
        return supersede(m);
    }
    if (m->state == S_JOINING && !is_upgrade(m) && session->boot_id == m->boot_id) {
        return tendon_obvious_manager_reject(m, CODE_INTERNAL); /* it did not reset */
    }
    return I_OPEN;
}

/* ---- the cloud ---- */

static tendon_status take_package(tendon_obvious_manager *m) {
    bool provision = m->state == S_PROVISION;
    tendon_obvious_package package;
    const tendon_obvious_package_state device = {.product = m->config.product,
                                                 .fw = m->fw,
                                                 .serial = m->serial,
                                                 .counter =
                                                     m->counter > m->record.counter ? m->counter : m->record.counter,
                                                 .nonce = tendon_obvious_nonce_get(&m->nonce, m->now)};
    tendon_status status =
        tendon_obvious_verify_package(m->answer.data, m->answer.length, m->config.ring, &device, &package);
    if (status == TENDON_OK && (package.kind == TENDON_OBVIOUS_PACKAGE_PROVISION) != provision) {
        status = TENDON_OBVIOUS_ERROR_BAD_FORMAT;
    }
    if (status == TENDON_OK) {
        m->obj = provision ? TENDON_OBVIOUS_OBJECT_PROVISION : TENDON_OBVIOUS_OBJECT_PACKAGE;
        m->package_kind = package.kind;
        m->reboots = (package.flags & TENDON_OBVIOUS_PACKAGE_REBOOTS) != 0;
        m->bound = (package.flags & TENDON_OBVIOUS_PACKAGE_NONCE) != 0;
        m->counter = package.counter;
        m->size = (uint32_t)m->answer.length;
        m->crc32 = tendon_crc32(0, m->answer.data, m->answer.length);
        memcpy(m->sha256, package.sha256, sizeof package.sha256);
    }
    return status;
}

static tendon_status take_manifest(tendon_obvious_manager *m) {
    const tendon_obvious_manifest_state device = {
        .product = m->config.product, .current = m->active, .epoch = m->epoch};
    tendon_status status =
        tendon_obvious_verify_manifest(m->answer.data, m->answer.length, m->config.ring, &device, &m->offer);
    if (status != TENDON_OK || m->state == S_OFFER) {
        return status;
    }
    if (m->answer.image_sha256 == NULL) {
        return TENDON_OBVIOUS_ERROR_HASH_MISMATCH;
    }
    status =
        tendon_obvious_check_image(&m->offer, m->answer.image_length, m->answer.image_crc32, m->answer.image_sha256);
    if (status == TENDON_OK) {
        m->obj = TENDON_OBVIOUS_OBJECT_FIRMWARE;
        m->size = m->offer.size;
        m->crc32 = m->offer.crc32;
        m->resumes = m->record.state != TENDON_OBVIOUS_JOURNAL_NONE &&
                     memcmp(m->record.sha256, m->offer.sha256, sizeof m->offer.sha256) == 0;
        m->record.version = m->offer.version;
        memcpy(m->record.sha256, m->offer.sha256, sizeof m->offer.sha256);
        memcpy(m->sha256, m->offer.sha256, sizeof m->offer.sha256);
    }
    return status;
}

uint8_t tendon_obvious_manager_judge_answer(tendon_obvious_manager *m) {
    unsigned kind = m->answer.kind;
    bool package = m->state == S_FETCH || m->state == S_PROVISION;
    bool provisionable =
        m->state == S_FETCH && !m->provisioned && (m->session->caps & TENDON_OBVIOUS_CAP_PROVISIONING) != 0;
    tendon_status status = TENDON_OK;
    if (kind == TENDON_OBVIOUS_ANSWER_GIVEN) {
        status = package ? take_package(m) : take_manifest(m);
    } else if (kind == TENDON_OBVIOUS_ANSWER_FAILED) {
        status = m->answer.status < 0 ? m->answer.status : TENDON_ERROR_NOT_FOUND;
    } else if (kind == TENDON_OBVIOUS_ANSWER_NOTHING && m->state == S_PROVISION) {
        status = TENDON_ERROR_NOT_FOUND;
    } else if (kind == TENDON_OBVIOUS_ANSWER_PROVISION && !provisionable) {
        kind = TENDON_OBVIOUS_ANSWER_REFUSED; /* also a cloud that never has enough */
    }
    if (kind == TENDON_OBVIOUS_ANSWER_REFUSED && package) {
        m->status = TENDON_OBVIOUS_ERROR_NOT_PROVISIONED;
    }
    if (status < 0) {
        (void)tendon_obvious_manager_fail(m, status);
        kind = TENDON_OBVIOUS_ANSWER_FAILED;
    }
    return (uint8_t)(I_ANSWER + kind);
}
