/* SPDX-License-Identifier: MIT */
/* Out of Band pairing: the file of data, and the data that the radio's implementation has. */
#include "tendon/linux/out_of_band.h"

#include "file.h"
#include "pairing.h"
#include "words.h"

enum { FILE_MAX = 8192 };

/* ---- the file ---- */

tendon_status tendon_out_of_band_load(const char *path, tendon_out_of_band *devices, size_t capacity) {
    char text[FILE_MAX + 1];
    struct stat state;
    tendon_status length = tendon_file_read(path, (uint8_t *)text, sizeof text, &state);
    if (length < 0) {
        return length;
    }
    if (length > FILE_MAX) {
        return TENDON_ERROR_OVERFLOW;
    }
    const char *at = text;
    text_span line;
    size_t count = 0;
    while (text_next_line(&at, text + length, &line)) {
        const char *end = line.at + line.length;
        text_span data = text_next_word(&line.at, end), more = text_next_word(&line.at, end);
        if (data.length == 0) {
            continue;
        }
        if (count == capacity) {
            return TENDON_ERROR_TABLE_FULL;
        }
        tendon_status status = more.length != 0 ? TENDON_ERROR_MALFORMED
                                                : tendon_out_of_band_parse(data.at, data.length, &devices[count], NULL);
        if (status < 0) {
            return status;
        }
        count++;
    }
    return (tendon_status)count;
}

/* ---- the data of the radio's agent ---- */

static bool is_zero(const uint8_t value[16]) {
    static const uint8_t none[16];
    return memcmp(value, none, sizeof none) == 0;
}

bool tendon_pairing_has_valid_data(const tendon_pairing_agent *agent) {
    bool valid = agent->out_of_band_count <= TENDON_OUT_OF_BAND_MAX &&
                 (agent->out_of_band != NULL || agent->out_of_band_count == 0);
    for (size_t i = 0; valid && i < agent->out_of_band_count; i++) {
        const tendon_out_of_band *device = &agent->out_of_band[i];
        valid = (device->address.type == TENDON_ADDRESS_TYPE_PUBLIC ||
                 device->address.type == TENDON_ADDRESS_TYPE_RANDOM) &&
                !is_zero(device->confirm) && !is_zero(device->random);
    }
    return valid;
}

const tendon_out_of_band *tendon_pairing_data_of(const tendon_link *link) {
    const tendon_pairing_agent *agent = &link->radio->agent;
    for (size_t i = 0; i < agent->out_of_band_count; i++) {
        if (tendon_address_equal(&agent->out_of_band[i].address, &link->peer)) {
            return &agent->out_of_band[i];
        }
    }
    return NULL;
}

tendon_status tendon_pairing_give_data(tendon_link *link) {
    const tendon_out_of_band *device = tendon_pairing_data_of(link);
    if (device == NULL) {
        return TENDON_OK;
    }
    tendon_status status = link->radio->ops->give_out_of_band(link->radio, &link->peer, device);
    link->out_of_band = link->out_of_band || status >= 0;
    return status;
}

/* A central may pair at any time: what it needs stays while it may. */
void tendon_pairing_take_data(tendon_link *link, bool paired) {
    tendon_radio *radio = link->radio;
    bool given = link->out_of_band || (link->accepted && paired && tendon_pairing_data_of(link) != NULL);
    link->out_of_band = false;
    if (given && (paired || !radio->pairable)) {
        (void)radio->ops->give_out_of_band(radio, &link->peer, NULL);
    }
}

void tendon_pairing_offer_data(tendon_radio *radio, bool given) {
    const tendon_pairing_agent *agent = &radio->agent;
    for (size_t i = 0; i < agent->out_of_band_count; i++) {
        const tendon_out_of_band *device = &agent->out_of_band[i];
        (void)radio->ops->give_out_of_band(radio, &device->address, given ? device : NULL);
    }
}

tendon_status tendon_radio_read_out_of_band(tendon_radio *radio, tendon_out_of_band *out) {
    if (radio->ops->read_out_of_band == NULL) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    return radio->bonds == NULL ? TENDON_RADIO_ERROR_NO_PAIRING_SERVICE : radio->ops->read_out_of_band(radio, out);
}
