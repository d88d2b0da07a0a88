/* SPDX-License-Identifier: MIT */
/* What the judgement and the work of all states use: failures, events, the journal, the object that is transferred. */
#include "codes.h"
#include "manager_parts.h"

#include <string.h>

uint8_t tendon_obvious_manager_fail(tendon_obvious_manager *m, tendon_status status) {
    m->status = m->status == TENDON_OK ? status : m->status;
    return I_FAIL;
}

uint8_t tendon_obvious_manager_reject(tendon_obvious_manager *m, unsigned code) {
    return tendon_obvious_manager_fail(m, status_of(code));
}

void tendon_obvious_manager_tell(tendon_obvious_manager *m, tendon_obvious_event_kind kind, int code) {
    bool is_done = kind == TENDON_OBVIOUS_EVENT_DONE;
    const tendon_obvious_event event = {.kind = kind,
                                        .operation = (tendon_obvious_operation)m->operation,
                                        .code = code,
                                        .status = m->status,
                                        .features = is_done ? m->features : m->held,
                                        .count = is_done ? m->feature_count : m->held_count};
    if (is_done) { /* the application may start the next one */
        m->operation = 0;
    }
    m->config.on_event(m->config.context, &event, m->now);
}

void tendon_obvious_manager_progress(tendon_obvious_manager *m, int8_t percent) {
    if (percent != m->percent) {
        m->percent = percent;
        tendon_obvious_manager_tell(m, TENDON_OBVIOUS_EVENT_PROGRESS, percent);
    }
}

tendon_status tendon_obvious_manager_store(tendon_obvious_manager *m, uint8_t state) {
    m->record.state = state;
    return m->config.store != NULL ? m->config.store(m->config.context, &m->record) : TENDON_OK;
}

/* The firmware comes from the application, a package from the answer. */
tendon_status tendon_obvious_manager_read(tendon_obvious_manager *m, uint32_t offset, uint8_t *out, size_t length) {
    if (m->obj == TENDON_OBVIOUS_OBJECT_FIRMWARE) {
        return m->config.read(m->config.context, offset, out, length);
    }
    memcpy(out, m->answer.data + offset, length);
    return TENDON_OK;
}
