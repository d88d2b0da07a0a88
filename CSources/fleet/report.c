/* SPDX-License-Identifier: MIT */
/* What a fleet reports, as lines of docs/events.md. */
#include <stdio.h>
#include <string.h>

#include "fleet_parts.h"
#include "tendon/linux/time.h"

static const char *family_name(const tendon_fleet *fleet, uint8_t family) {
    if (family < TENDON_SEARCH_DEFINED) {
        return tendon_family_at(family)->name;
    }
    const tendon_definition *definition = fleet->options.definitions[family - TENDON_SEARCH_DEFINED];
    return tendon_definition_text(definition, definition->name);
}

/** @param slot NULL: of no device. */
static tendon_line_device label_of(const tendon_fleet_slot *slot) {
    if (slot == NULL) {
        return (tendon_line_device){0};
    }
    return (tendon_line_device){.family = family_name(slot->fleet, slot->family),
                                .address = &slot->address,
                                .name = slot->name_length > 0 ? slot->name : NULL,
                                .name_length = slot->name_length};
}

/** Passes a finished line on, and counts it. @param status as in the line. */
static void pass_on(tendon_fleet *fleet, tendon_status length, const tendon_line_device *label, const tendon_view *view,
                    tendon_status status) {
    char *end = fleet->text + (length > 0 ? length : 0);
    *end = '\0';
    tendon_fleet_line line = {.text = fleet->text,
                              .length = length > 0 ? (size_t)length : 0,
                              .is_sample = fleet->line.is_sample,
                              .view = view,
                              .event = fleet->line.event,
                              .wall_us = fleet->line.wall_us,
                              .status = status < 0 ? status : TENDON_OK,
                              .address = label->address,
                              .family = label->family,
                              .name = label->name,
                              .name_length = label->name_length};
    bool is_delivered = length > 0 && fleet->on_line(fleet->context, &line); /* may write another line */
    if (line.is_sample) {
        fleet->counters.samples++;
        fleet->counters.delivered += is_delivered;
        fleet->counters.dropped += !is_delivered;
    } else {
        fleet->counters.dropped_lines += !is_delivered;
    }
}

static void begin_line(tendon_fleet *fleet, const char *event, const tendon_line_device *label) {
    tendon_line_init(&fleet->line, fleet->text, TENDON_FLEET_LINE_SIZE, fleet->options.is_exact);
    tendon_line_begin(&fleet->line, event, tendon_realtime_us(), label);
}

static void end_line(tendon_fleet *fleet, const tendon_line_device *label, tendon_status status) {
    fleet->line.is_sample = false;
    pass_on(fleet, tendon_line_end(&fleet->line), label, NULL, status);
}

void tendon_fleet_begin_line(tendon_fleet *fleet, const char *event, const tendon_fleet_slot *slot) {
    const tendon_line_device label = label_of(slot);
    begin_line(fleet, event, &label);
}

void tendon_fleet_end_line(tendon_fleet *fleet, const tendon_fleet_slot *slot, tendon_status status) {
    const tendon_line_device label = label_of(slot);
    end_line(fleet, &label, status);
}

void tendon_fleet_report_action(tendon_fleet *fleet, const tendon_fleet_slot *slot, const tendon_address *address,
                                const char *action, size_t length, const char *failure, tendon_status status) {
    const tendon_line_device label = slot != NULL ? label_of(slot) : (tendon_line_device){.address = address};
    begin_line(fleet, failure == NULL ? "action" : "action_failed", &label);
    /* A longer one is none, and would be longer than a line. */
    tendon_line_text(&fleet->line, "action", action,
                     length < TENDON_DEVICE_ACTION_SIZE ? length : TENDON_DEVICE_ACTION_SIZE);
    if (failure != NULL) {
        tendon_line_text(&fleet->line, "text", failure, strlen(failure));
    }
    end_line(fleet, &label, status);
}

void tendon_fleet_report_event(tendon_fleet_slot *slot, const tendon_device_event *event) {
    tendon_fleet *fleet = slot->fleet;
    const tendon_line_device label = label_of(slot);
    const uint64_t now = tendon_realtime_us();
    tendon_view view;
    for (size_t index = 0;; index++) {
        tendon_line_init(&fleet->line, fleet->text, TENDON_FLEET_LINE_SIZE, fleet->options.is_exact);
        tendon_status length = tendon_device_line(&slot->body->device, event, index, &fleet->line, &label, now);
        if (length == 0) {
            return;
        }
        bool has_view = tendon_device_view(&slot->body->device, event, index, &view);
        pass_on(fleet, length, &label, has_view ? &view : NULL, event->status);
    }
}

void tendon_fleet_report_found(tendon_fleet *fleet, const tendon_address *address, const tendon_turns_taken *taken,
                               int8_t rssi) {
    const tendon_line_device label = {.family = family_name(fleet, taken->family),
                                      .address = address,
                                      .name = taken->name,
                                      .name_length = taken->name_length};
    tendon_line_init(&fleet->line, fleet->text, TENDON_FLEET_LINE_SIZE, fleet->options.is_exact);
    tendon_line_begin(&fleet->line, "found", tendon_realtime_us(), &label);
    if (rssi != TENDON_RSSI_UNKNOWN) {
        tendon_line_integer(&fleet->line, "rssi_dbm", rssi);
    }
    fleet->line.is_sample = false;
    pass_on(fleet, tendon_line_end(&fleet->line), &label, NULL, TENDON_OK);
}

/* ---- the end of a turn ---- */

enum { WORDS_SIZE = TENDON_BONDS_PATH_SIZE + 40 };

/** Words, then the cause behind them. */
static void write_text(tendon_fleet *fleet, const char *what, tendon_status cause) {
    char text[WORDS_SIZE + TENDON_STATUS_FORMAT_SIZE];
    int length = snprintf(text, sizeof text, "%s", what);
    size_t used = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    if (cause < 0 && used + 3 < sizeof text) {
        if (used > 0) {
            memcpy(text + used, ": ", 2);
            used += 2;
        }
        tendon_status added = tendon_status_format(cause, tendon_family_status_name(cause),
                                                   tendon_family_status_text(cause), text + used, sizeof text - used);
        used = added >= 0 ? used + (size_t)added : sizeof text - 1;
    }
    tendon_line_text(&fleet->line, "text", text, used);
}

/** What stands before the cause of an attempt: the words of the session, or the file behind it. */
static const char *words_of(const tendon_fleet_slot *slot, tendon_status cause, char room[WORDS_SIZE]) {
    const tendon_fleet_radio *radio = &slot->fleet->radios[slot->radio];
    const tendon_device_event *ended = &slot->ended;
    if (radio->radio != NULL && cause < 0 && cause == radio->radio->store_failure) {
        snprintf(room, WORDS_SIZE, "the bond cannot be stored in %s", radio->bonds.path);
        return room;
    }
    if (radio->radio != NULL && cause < 0 && cause == radio->radio->bonds_failure) {
        snprintf(room, WORDS_SIZE, "the bonds in %s cannot be used", radio->bonds.path);
        return room;
    }
    if (cause == TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED) {
        return ""; /* the device has declined nothing, as its family would say */
    }
    if (cause == TENDON_ERROR_TIMEOUT) {
        return slot->is_answered ? "the connection was made, but the device did not respond in time"
                                 : "the device did not respond to the connection request";
    }
    return ended->status < 0 && ended->status != cause ? tendon_family_status_text(ended->status) : "";
}

/** Why it ended: what the radio reported of the device, else the reason of the connection, else the session's. */
static tendon_status cause_of(const tendon_fleet_slot *slot) {
    const tendon_device_event *ended = &slot->ended;
    if (slot->cause < 0) {
        return slot->cause;
    }
    return ended->reason < 0 && ended->reason != TENDON_ERROR_CANCELLED ? ended->reason : ended->status;
}

void tendon_fleet_report_end(tendon_fleet_slot *slot, uint64_t pause_ms) {
    tendon_fleet *fleet = slot->fleet;
    const tendon_device_event *ended = &slot->ended;
    tendon_status cause = ended->was_requested ? TENDON_OK : cause_of(slot);
    if (ended->was_open) {
        tendon_ending ending = ended->was_requested ? TENDON_ENDING_REQUESTED
                               : cause < 0          ? tendon_ending_of(cause)
                                                    : TENDON_ENDING_CONNECTION_LOST;
        tendon_fleet_begin_line(fleet, "disconnected", slot);
        tendon_line_word(&fleet->line, "reason", tendon_ending_name(ending));
        write_text(fleet, tendon_ending_text(ending), cause);
    } else {
        char room[WORDS_SIZE];
        tendon_fleet_begin_line(fleet, "connect_failed", slot);
        write_text(fleet, words_of(slot, cause, room), cause);
    }
    if (cause < 0) {
        tendon_line_error(&fleet->line, cause);
    }
    if (!ended->was_open && pause_ms == UINT64_MAX) {
        tendon_line_null(&fleet->line, "retry_in_s");
    } else if (!ended->was_open) {
        tendon_line_number(&fleet->line, "retry_in_s", (double)pause_ms / 1000.0, 3);
    }
    tendon_fleet_end_line(fleet, slot, cause);
}

/* ---- parameters of connections ---- */

static const char *phy_word(uint8_t phy) {
    return phy == 1 ? "1m" : phy == 2 ? "2m" : "coded";
}

void tendon_fleet_report_timing(tendon_fleet_slot *slot) {
    const tendon_connection_timing *timing = &slot->timing;
    tendon_line *line = &slot->fleet->line;
    tendon_fleet_begin_line(slot->fleet, "connection_parameters", slot);
    tendon_line_number(line, "interval_ms", timing->interval * 1.25, 2);
    tendon_line_integer(line, "latency", timing->latency);
    tendon_line_integer(line, "supervision_timeout_ms", timing->timeout * 10);
    if (timing->tx_phy != 0) {
        tendon_line_word(line, "tx_phy", phy_word(timing->tx_phy));
    }
    if (timing->rx_phy != 0) {
        tendon_line_word(line, "rx_phy", phy_word(timing->rx_phy));
    }
    if (timing->tx_octets != 0) {
        tendon_line_integer(line, "tx_packet_bytes", timing->tx_octets);
    }
    if (timing->rx_octets != 0) {
        tendon_line_integer(line, "rx_packet_bytes", timing->rx_octets);
    }
    tendon_fleet_end_line(slot->fleet, slot, TENDON_OK);
}

/* ---- radios ---- */

static void write_adapter(tendon_fleet_radio *radio) {
    const char *name = radio->fleet->options.adapters[radio->number];
    if (radio->fleet->radio_count > 1) {
        tendon_line_text(&radio->fleet->line, "adapter", name, strlen(name));
    }
}

void tendon_fleet_report_radio(tendon_fleet_radio *radio, const char *event) {
    tendon_fleet_begin_line(radio->fleet, event, NULL);
    write_adapter(radio);
    write_text(radio->fleet, "", radio->failure);
    tendon_line_error(&radio->fleet->line, radio->failure);
    tendon_fleet_end_line(radio->fleet, NULL, radio->failure);
}

void tendon_fleet_report_restored(tendon_fleet_radio *radio) {
    char address[TENDON_ADDRESS_STRING_SIZE];
    tendon_fleet_begin_line(radio->fleet, "radio_restored", NULL);
    write_adapter(radio);
    tendon_line_word(&radio->fleet->line, "radio", radio->radio->ops->name);
    tendon_line_word(&radio->fleet->line, "adapter_address", tendon_address_format(&radio->radio->address, address));
    tendon_fleet_end_line(radio->fleet, NULL, TENDON_OK);
}

void tendon_fleet_summarize(tendon_fleet *fleet) {
    const tendon_fleet_counters *counters = &fleet->counters;
    uint64_t lost = counters->lost_packets;
    for (size_t i = 0; i < fleet->radio_count; i++) {
        lost += fleet->radios[i].radio != NULL ? fleet->radios[i].radio->lost : 0;
    }
    tendon_fleet_begin_line(fleet, "summary", NULL);
    tendon_line_count(&fleet->line, "devices", counters->devices);
    tendon_line_count(&fleet->line, "samples", counters->samples);
    tendon_line_count(&fleet->line, "delivered", counters->delivered);
    tendon_line_count(&fleet->line, "dropped", counters->dropped);
    tendon_line_count(&fleet->line, "malformed", counters->malformed);
    tendon_line_count(&fleet->line, "dropped_lines", counters->dropped_lines);
    tendon_line_count(&fleet->line, "lost_packets", lost);
    tendon_fleet_end_line(fleet, NULL, TENDON_OK);
}
