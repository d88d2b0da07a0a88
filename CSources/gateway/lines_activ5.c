/* SPDX-License-Identifier: MIT */
/* Lines of Activ5 trainers. */
#include "tendon/gateway/lines.h"

#include "tendon/base/packed.h"

/* "F0FE": the characteristic as its vendor names it; the older one of the force is the same to a program. */
static const char *uuid_of(tendon_activ5_characteristic characteristic, char out[5]) {
    static const char digits[] = "0123456789ABCDEF";
    bool is_old = characteristic == TENDON_ACTIV5_OLD_FORCE;
    unsigned uuid = tendon_activ5_uuid(is_old ? TENDON_ACTIV5_FORCE : characteristic);
    if (uuid == 0) {
        uuid = 0xFFFF;
    }
    for (unsigned i = 0; i < 4; i++) {
        out[i] = digits[uuid >> (12 - 4 * i) & 15];
    }
    out[4] = '\0';
    return out;
}

static const char *operation_of(tendon_activ5_request_kind kind) {
    switch (kind) {
    case TENDON_ACTIV5_REQUEST_SUBSCRIBE:
        return "subscribe";
    case TENDON_ACTIV5_REQUEST_UNSUBSCRIBE:
        return "unsubscribe";
    case TENDON_ACTIV5_REQUEST_READ:
        return "read";
    case TENDON_ACTIV5_REQUEST_WRITE:
        return "write";
    default: /* of the connection */
        return NULL;
    }
}

/* ---- members ---- */

void tendon_activ5_imu_members(tendon_line *line, const tendon_activ5_imu *imu, uint64_t received_at,
                               uint64_t sampled_at, uint32_t error_us) {
    tendon_line_word(line, "sensor", "imu");
    tendon_line_number(line, "device_time_ms", imu->timestamp * 1000, 3);
    tendon_line_times(line, received_at, sampled_at, error_us);
    tendon_line_vector(line, "acceleration_g", imu->acceleration, 3, 4);
    tendon_line_vector(line, "rotation_rad_per_s", imu->gyro, 3, 4);
}

void tendon_activ5_force_members(tendon_line *line, double newtons, uint64_t received_at) {
    tendon_line_word(line, "sensor", "force");
    tendon_line_number(line, "force_n", newtons, 2);
    tendon_line_times(line, received_at, 0, 0);
}

/* Of calls that cannot be carried out the text says all; values have those below. */
enum { FIRST_OF_CALLS = 32 };

static void put_reason(tendon_line *line, const char *operation, tendon_status status) {
    bool is_own = TENDON_STATUS_LAYER(status) == TENDON_LAYER_ACTIV5;
    if (is_own && TENDON_STATUS_CODE(status) < FIRST_OF_CALLS) {
        tendon_line_sentence(line, operation, tendon_activ5_status_text(status));
    } else {
        tendon_line_reason(line, is_own || status == TENDON_ERROR_CANCELLED ? NULL : operation, status);
    }
}

static void put_refused(tendon_line *line, const tendon_activ5_event *event) {
    char request[] = "unsubscribe FFFF";
    const char *operation = operation_of(event->request->kind);
    size_t length = tendon_string_length(operation);
    memcpy(request, operation, length);
    request[length] = ' ';
    (void)uuid_of(event->request->characteristic, request + length + 1);
    tendon_line_word(line, "request", request);
    put_reason(line, event->request->kind == TENDON_ACTIV5_REQUEST_UNSUBSCRIBE ? "subscribe" : operation,
               event->status);
}

static void put_malformed(tendon_line *line, const tendon_activ5_event *event) {
    char uuid[5];
    tendon_line_word(line, "characteristic", uuid_of(event->characteristic, uuid));
    put_reason(line, "parse", event->status);
}

/* ---- events ---- */

static const char *name_of(const tendon_activ5_event *event) {
    switch (event->kind) {
    case TENDON_ACTIV5_EVENT_ISOMETRIC:
    case TENDON_ACTIV5_EVENT_IMU:
        return "sample";
    case TENDON_ACTIV5_EVENT_BATTERY:
        return "battery";
    case TENDON_ACTIV5_EVENT_SQUEEZE:
        return "squeeze";
    case TENDON_ACTIV5_EVENT_DOUBLE_SQUEEZE:
        return "double_squeeze";
    case TENDON_ACTIV5_EVENT_ERROR:
        return "malformed";
    case TENDON_ACTIV5_EVENT_DONE:
        return event->status < 0 && operation_of(event->request->kind) != NULL ? "refused" : NULL;
    default: /* of searches and connections; texts, which are in the identity */
        return NULL;
    }
}

static void put_members(tendon_line *line, const tendon_activ5_event *event) {
    switch (event->kind) {
    case TENDON_ACTIV5_EVENT_ISOMETRIC:
        tendon_activ5_force_members(line, event->message->newtons, event->received_at);
        break;
    case TENDON_ACTIV5_EVENT_IMU:
        tendon_activ5_imu_members(line, &event->message->imu, event->received_at, event->sampled_at, event->error_us);
        break;
    case TENDON_ACTIV5_EVENT_BATTERY:
        tendon_line_integer(line, "battery_percent", event->message->percent);
        break;
    case TENDON_ACTIV5_EVENT_SQUEEZE:
        tendon_line_word(line, "state", event->on ? "squeezed" : "released");
        break;
    case TENDON_ACTIV5_EVENT_ERROR:
        put_malformed(line, event);
        break;
    case TENDON_ACTIV5_EVENT_DONE:
        put_refused(line, event);
        break;
    default: /* a double squeeze */
        break;
    }
}

tendon_status tendon_activ5_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                 const tendon_activ5_event *event) {
    const char *name = name_of(event);
    if (name == NULL) {
        return 0;
    }
    tendon_line_begin(line, name, wall_us, device);
    line->is_sample = event->kind == TENDON_ACTIV5_EVENT_ISOMETRIC || event->kind == TENDON_ACTIV5_EVENT_IMU;
    if (!tendon_line_is_head(line)) {
        put_members(line, event);
    }
    return tendon_line_end(line);
}

/* ---- identity ---- */

static void put_text(tendon_line *line, const char *key, const uint8_t *text, size_t length, bool is_known) {
    if (is_known) {
        tendon_line_text(line, key, (const char *)text, length);
    } else {
        tendon_line_null(line, key);
    }
}

void tendon_activ5_identity(tendon_line *line, const tendon_activ5_device *trainer) {
    uint8_t both[2 * TENDON_ACTIV5_KEPT_SIZE];
    const tendon_activ5_text *serial = &trainer->serial_number;
    tendon_line_word(line, "generation", trainer->uses_new_protocol ? "new" : "legacy");
    put_text(line, "firmware", trainer->version.bytes, trainer->version.length, trainer->version.known);
    if (serial->known || !trainer->sn1.known) {
        put_text(line, "serial", serial->bytes, serial->length, serial->known);
    } else { /* a legacy trainer sends it in two parts */
        size_t first = trainer->sn1.length, second = trainer->sn2.known ? trainer->sn2.length : 0;
        memcpy(both, trainer->sn1.bytes, first);
        memcpy(both + first, trainer->sn2.bytes, second);
        put_text(line, "serial", both, first + second, true);
    }
    tendon_status id = tendon_activ5_device_get_uuid(trainer, both, sizeof both);
    put_text(line, "id", both, id > 0 ? (size_t)id : 0, id >= 0);
}
