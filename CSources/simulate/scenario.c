/* SPDX-License-Identifier: MIT */
/* Scenarios: text in, events out by time. */
#include "tendon/simulate/scenario.h"
#include <string.h>

typedef struct tendon_scenario_line {
    const char *text;
    size_t length, position;
    uint32_t number;
} tendon_scenario_line;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static tendon_status fail(tendon_scenario_error *error, uint32_t line, size_t column, const char *text) {
    if (error != NULL) {
        *error = (tendon_scenario_error){.line = line, .column = (uint32_t)column, .text = text};
    }
    return TENDON_ERROR_MALFORMED;
}

/** The same, with what is accepted as word @p wrong. */
static tendon_status fail_at(tendon_scenario_error *error, const tendon_scenario_event *event, size_t wrong,
                             size_t column, const char *text) {
    (void)fail(error, event->line, column, text);
    if (error != NULL && event->choice->index == wrong) {
        error->expected = *event->choice;
    }
    return TENDON_ERROR_MALFORMED;
}

/** The next line of the text from @p *position on; false at the end. A comment is removed. */
static bool next_line(const char *text, size_t length, size_t *position, tendon_scenario_line *line) {
    if (*position >= length) {
        return false;
    }
    size_t start = *position, end = start;
    while (end < length && text[end] != '\n') {
        end++;
    }
    *position = end + 1;
    size_t kept = start;
    while (kept < end && text[kept] != '#') {
        kept++;
    }
    line->text = text + start;
    line->length = kept - start;
    line->position = 0;
    line->number++;
    return true;
}

/** The next word of a line; false at its end. */
static bool next_word(tendon_scenario_line *line, tendon_scenario_word *word) {
    while (line->position < line->length && is_blank(line->text[line->position])) {
        line->position++;
    }
    size_t start = line->position;
    while (line->position < line->length && !is_blank(line->text[line->position])) {
        line->position++;
    }
    word->text = line->text + start;
    word->length = (uint16_t)(line->position - start);
    word->column = (uint16_t)(start + 1);
    return word->length > 0;
}

static bool is_text(const tendon_scenario_word *word, const char *text) {
    size_t i = 0;
    while (i < word->length && text[i] != 0 && word->text[i] == text[i]) {
        i++;
    }
    return i == word->length && text[i] == 0;
}

/** A unit as milliseconds; 0: none of ours. */
static uint32_t unit_ms(const char *text, size_t length) {
    if (length == 2 && text[0] == 'm' && text[1] == 's') {
        return 1;
    }
    if (length == 3 && text[0] == 'm' && text[1] == 'i' && text[2] == 'n') {
        return 60000;
    }
    if (length == 1) {
        return text[0] == 's' ? 1000 : text[0] == 'm' ? 60000 : 0;
    }
    return 0;
}

/** "250ms", "1.5s", "2m". Fractions of a millisecond are truncated. Returns false with the first wrong character in
 * *wrong. */
static bool parse_time(const tendon_scenario_word *word, uint64_t *out, size_t *wrong) {
    uint64_t whole = 0, fraction = 0, scale = 1;
    size_t i = 0;
    *wrong = 0;
    for (; i < word->length && is_digit(word->text[i]); i++) {
        whole = whole * 10 + (uint64_t)(word->text[i] - '0');
        if (whole > TENDON_SCENARIO_TIME_MAX_MS) {
            return false;
        }
    }
    *wrong = i;
    if (i == 0) {
        return false;
    }
    if (i < word->length && word->text[i] == '.') {
        size_t point = i;
        for (i++; i < word->length && is_digit(word->text[i]); i++) {
            if (scale < 1000000) { /* more digits mean nothing any more */
                fraction = fraction * 10 + (uint64_t)(word->text[i] - '0');
                scale *= 10;
            }
        }
        *wrong = i;
        if (i == point + 1) {
            return false;
        }
    }
    uint64_t unit = unit_ms(word->text + i, word->length - i);
    if (unit == 0) {
        return false;
    }
    *out = whole * unit + fraction * unit / scale;
    *wrong = 0;
    return *out <= TENDON_SCENARIO_TIME_MAX_MS;
}

/** Sets the action of a command of the host; TENDON_ERROR_UNSUPPORTED for other commands. */
static tendon_status take_host_command(tendon_scenario_event *event, size_t *wrong) {
    *wrong = 1;
    if (is_text(&event->words[0], "disconnect") || is_text(&event->words[0], "stop")) {
        event->action = is_text(&event->words[0], "stop") ? TENDON_SCENARIO_STOP : TENDON_SCENARIO_DISCONNECT;
        return event->count == 1 ? TENDON_OK : TENDON_ERROR_MALFORMED;
    }
    if (!is_text(&event->words[0], "advertise")) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    static const char *const switches[] = {"off", "on"};
    uint32_t on;
    if (!tendon_scenario_word_among(event, 1, switches, 2, &on)) {
        return TENDON_ERROR_MALFORMED;
    }
    event->action = on != 0 ? TENDON_SCENARIO_ADVERTISE_ON : TENDON_SCENARIO_ADVERTISE_OFF;
    *wrong = 2;
    return event->count == 2 ? TENDON_OK : TENDON_ERROR_MALFORMED;
}

static tendon_status check_command(tendon_scenario_event *event, const tendon_scenario_actor *actor,
                                   tendon_scenario_error *error) {
    size_t wrong = 0;
    tendon_status status = take_host_command(event, &wrong);
    if (status == TENDON_ERROR_UNSUPPORTED) {
        event->action = TENDON_SCENARIO_DEVICE;
        status = actor == NULL ? TENDON_OK : actor->perform(actor->context, event, true, &wrong, 0);
    }
    if (status == TENDON_OK) {
        return TENDON_OK;
    }
    if (status == TENDON_ERROR_UNSUPPORTED) {
        (void)fail_at(error, event, 0, event->words[0].column, "the device has no such command");
        if (error != NULL) {
            error->of_command = true;
        }
        return TENDON_ERROR_MALFORMED;
    }
    if (wrong >= event->count) {
        const tendon_scenario_word *last = &event->words[event->count - 1];
        return fail_at(error, event, wrong, (size_t)last->column + last->length, "an argument is missing");
    }
    return fail_at(error, event, wrong, event->words[wrong].column, "this argument is not understood here");
}

/** One line with something on it: @p first is its first word. */
static tendon_status parse_line(tendon_scenario_line *line, const tendon_scenario_word *first,
                                const tendon_scenario_actor *actor, tendon_scenario_event *event,
                                tendon_scenario_error *error) {
    tendon_scenario_word word;
    size_t wrong;
    if (!is_text(first, "at")) {
        return fail(error, line->number, first->column, "a line starts with \"at\"");
    }
    if (!next_word(line, &word)) {
        return fail(error, line->number, line->length + 1, "the time is missing");
    }
    if (!parse_time(&word, &event->at_ms, &wrong)) {
        return fail(error, line->number, word.column + wrong, "a time is a number with ms, s or min, a day at most");
    }
    while (next_word(line, &word)) {
        if (event->count == TENDON_SCENARIO_WORDS) {
            return fail(error, line->number, word.column, "too many words");
        }
        event->words[event->count] = word;
        event->count++;
    }
    if (event->count == 0) {
        return fail(error, line->number, line->length + 1, "the command is missing");
    }
    return check_command(event, actor, error);
}

/** Inserts @p event after all events that are not later. */
static void insert(tendon_scenario_event *events, size_t count, const tendon_scenario_event *event) {
    size_t place = count;
    while (place > 0 && events[place - 1].at_ms > event->at_ms) {
        events[place] = events[place - 1];
        place--;
    }
    events[place] = *event;
}

tendon_status tendon_scenario_parse(const char *text, size_t length, const tendon_scenario_actor *actor,
                                    tendon_scenario_event *events, size_t capacity, tendon_scenario_error *error) {
    tendon_scenario_line line = {0};
    size_t position = 0, count = 0;
    while (next_line(text, length, &position, &line)) {
        tendon_scenario_word first;
        if (line.length > UINT16_MAX - 1u) {
            return fail(error, line.number, 1, "the line is too long");
        }
        if (!next_word(&line, &first)) {
            continue;
        }
        tendon_scenario_choice choice = {.index = SIZE_MAX};
        tendon_scenario_event event = {.line = line.number, .choice = &choice};
        tendon_status status = parse_line(&line, &first, actor, &event, error);
        if (status == TENDON_OK && count == capacity) {
            (void)fail(error, line.number, first.column, "too many events");
            status = TENDON_ERROR_TABLE_FULL;
        }
        if (status != TENDON_OK) {
            return status;
        }
        event.choice = NULL;
        insert(events, count, &event);
        count++;
    }
    return (tendon_status)count;
}

void tendon_scenario_start(tendon_scenario *scenario, const tendon_scenario_event *events, size_t count, uint64_t now) {
    *scenario = (tendon_scenario){.events = events, .count = count, .start = now};
}

uint64_t tendon_scenario_deadline(const tendon_scenario *scenario) {
    return scenario->next < scenario->count ? scenario->start + scenario->events[scenario->next].at_ms : UINT64_MAX;
}

const tendon_scenario_event *tendon_scenario_next(tendon_scenario *scenario, uint64_t now) {
    if (scenario->next >= scenario->count || tendon_scenario_deadline(scenario) > now) {
        return NULL;
    }
    return &scenario->events[scenario->next++];
}

bool tendon_scenario_word_is(const tendon_scenario_event *event, size_t index, const char *text) {
    return index < event->count && is_text(&event->words[index], text);
}

const char *tendon_scenario_choice_name(const tendon_scenario_choice *choice, size_t index) {
    if (index >= choice->count) {
        return NULL;
    }
    return *(const char *const *)(const void *)((const uint8_t *)choice->names + index * choice->stride);
}

/** The choice of word @p index, which is read now; NULL if the event is not being parsed. */
static tendon_scenario_choice *choice_of(const tendon_scenario_event *event, size_t index) {
    tendon_scenario_choice *choice = event->choice;
    if (choice != NULL && choice->index != index) {
        *choice = (tendon_scenario_choice){.index = index};
    }
    return choice;
}

bool tendon_scenario_word_in_rows(const tendon_scenario_event *event, size_t index, const char *const *first,
                                  size_t stride, size_t count, uint32_t *out) {
    const tendon_scenario_choice rows = {.index = index, .names = first, .stride = stride, .count = count};
    tendon_scenario_choice *choice = choice_of(event, index);
    if (choice != NULL) {
        *choice = rows;
    }
    for (size_t i = 0; i < count; i++) {
        if (tendon_scenario_word_is(event, index, tendon_scenario_choice_name(&rows, i))) {
            *out = (uint32_t)i;
            return true;
        }
    }
    return false;
}

bool tendon_scenario_word_among(const tendon_scenario_event *event, size_t index, const char *const *names,
                                size_t count, uint32_t *out) {
    return tendon_scenario_word_in_rows(event, index, names, sizeof *names, count, out);
}

/** The value of a digit in @p base, or @p base. */
static uint32_t digit_of(char c, uint32_t base) {
    uint32_t value = base;
    if (is_digit(c)) {
        value = (uint32_t)(c - '0');
    } else if (c >= 'a' && c <= 'f') {
        value = (uint32_t)(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'F') {
        value = (uint32_t)(c - 'A') + 10;
    }
    return value < base ? value : base;
}

bool tendon_scenario_word_number(const tendon_scenario_event *event, size_t index, uint32_t maximum, uint32_t *out) {
    tendon_scenario_choice *choice = choice_of(event, index);
    if (choice != NULL) {
        choice->number = true;
        choice->maximum = maximum;
    }
    if (index >= event->count) {
        return false;
    }
    const tendon_scenario_word *word = &event->words[index];
    bool hexadecimal = word->length > 2 && word->text[0] == '0' && (word->text[1] == 'x' || word->text[1] == 'X');
    uint32_t base = hexadecimal ? 16 : 10;
    uint64_t value = 0;
    for (size_t i = hexadecimal ? 2 : 0; i < word->length; i++) {
        uint32_t digit = digit_of(word->text[i], base);
        value = value * base + digit;
        if (digit == base || value > maximum) {
            return false;
        }
    }
    *out = (uint32_t)value;
    return true;
}
