/* SPDX-License-Identifier: MIT */
/* Lines of Obvious devices. */
#include "tendon/gateway/lines.h"

#include "tendon/base/packed.h"

/* ---- features ---- */

void tendon_obvious_received_members(tendon_line *line, const tendon_obvious_feature *feature) {
    tendon_line_integer(line, "feature", feature->id);
    tendon_line_word(line, "state", tendon_packed_name("disabled\0enabled", 2, feature->enable));
    tendon_line_word(line, "toggle", tendon_packed_name("unsupported\0activated\0deactivated", 3, feature->toggle));
}

void tendon_obvious_feature_members(tendon_line *line, const tendon_obvious_feature *feature) {
    tendon_obvious_feature shown = *feature;
    if (feature->enable != 1) { /* the switch of a feature that is not enabled has no effect */
        shown.toggle = feature->enable == 0 ? 0 : UINT8_MAX;
    }
    tendon_obvious_received_members(line, &shown);
}

/* By their numbers; of one that changed twice the last state counts. NULL: there are not so many. */
static const tendon_obvious_feature *feature_at(const tendon_obvious_event *event, size_t index) {
    const tendon_obvious_feature *found = NULL;
    int32_t before = -1;
    for (size_t place = 0; place <= index; place++) {
        found = NULL;
        for (size_t i = 0; i < event->count; i++) {
            const tendon_obvious_feature *one = &event->features[i];
            found = one->id > before && (found == NULL || one->id <= found->id) ? one : found;
        }
        if (found == NULL) {
            break;
        }
        before = found->id;
    }
    return found;
}

static bool has_features(const tendon_obvious_event *event) {
    enum { READS = TENDON_OBVIOUS_CHECK_STATUS | TENDON_OBVIOUS_TOGGLE | TENDON_OBVIOUS_SET_TOGGLES };
    return event->kind == TENDON_OBVIOUS_EVENT_CHANGED ||
           (event->kind == TENDON_OBVIOUS_EVENT_DONE && ((unsigned)event->operation & READS) != 0 &&
            event->code == TENDON_OBVIOUS_UPDATE_SUCCESS);
}

tendon_status tendon_obvious_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                  const tendon_obvious_event *event, size_t index) {
    /* needs, updates and progress are of a cloud, which is not here */
    const tendon_obvious_feature *feature = has_features(event) ? feature_at(event, index) : NULL;
    if (feature == NULL) {
        return 0;
    }
    tendon_line_begin(line, "feature", wall_us, device);
    tendon_obvious_feature_members(line, feature);
    return tendon_line_end(line);
}

/* ---- identity ---- */

/* As the cloud and the labels have it: 16 digits. */
void tendon_obvious_serial_member(tendon_line *line, uint64_t serial) {
    static const char digits[] = "0123456789ABCDEF";
    char text[17];
    for (unsigned i = 0; i < 16; i++) {
        text[i] = digits[serial >> (60 - 4 * i) & 15];
    }
    text[16] = '\0';
    tendon_line_word(line, "serial", text);
}

void tendon_obvious_firmware_member(tendon_line *line, uint32_t code) {
    char version[TENDON_OBVIOUS_VERSION_SIZE] = ""; /* stays so if the device has a code that is no version */
    (void)tendon_obvious_format_version(code, version);
    tendon_line_word(line, "firmware", version);
}

void tendon_obvious_identity(tendon_line *line, const tendon_obvious_manager *manager) {
    tendon_line_numeral(line, "product", manager->config.product); /* a word in the cloud */
    tendon_obvious_firmware_member(line, manager->fw);
    tendon_obvious_serial_member(line, manager->serial);
    if (manager->battery <= 100) {
        tendon_line_integer(line, "battery_percent", manager->battery);
    } else {
        tendon_line_null(line, "battery_percent");
    }
}
