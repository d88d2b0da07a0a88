/* SPDX-License-Identifier: MIT */
/* Words to actions. */
#include "tendon/gateway/actions.h"

#include "mistake.h"
#include "number_text.h"
#include "tendon/base/packed.h"

/* ---- the table ---- */

static const tendon_act_help actions[] = {
    {"activ5", "tare", "", TENDON_ACT_ACTIV5_TARE},
    {"activ5", "start", "", TENDON_ACT_ACTIV5_START},
    {"activ5", "stop", "", TENDON_ACT_ACTIV5_STOP},
    {"feelspace", "signal", "warning|goal_reached|battery", TENDON_ACT_FEELSPACE_SIGNAL},
    {"feelspace", "vibrate", "ANGLE", TENDON_ACT_FEELSPACE_VIBRATE},
    {"feelspace", "mode", "MODE", TENDON_ACT_FEELSPACE_MODE},
    {"feelspace", "stop", "", TENDON_ACT_FEELSPACE_STOP},
    {"fjorden", "led", "off|on|blinkSlow|blinkFast [MS]", TENDON_ACT_FJORDEN_LED},
    {"obvious", "toggle", "FEATURE on|off|flip", TENDON_ACT_OBVIOUS_TOGGLE},
    {"obvious", "firmware", "check|upgrade", TENDON_ACT_OBVIOUS_FIRMWARE},
};
enum { ACTION_COUNT = sizeof actions / sizeof actions[0] };

const tendon_act_help *tendon_act_at(size_t index) {
    return index < ACTION_COUNT ? &actions[index] : NULL;
}

/* ---- words ---- */

static bool is_text(const tendon_act_word *word, const char *text) {
    size_t length = tendon_string_length(text);
    return word->length == length && memcmp(word->text, text, length) == 0;
}

/** What the parser of one action works with. */
typedef struct parsing {
    const tendon_act_word *words; /* without the name */
    size_t count;
    tendon_act *out;
    tendon_act_mistake *mistake;
} parsing;

static tendon_status wrong(const parsing *p, size_t word, const char *text) {
    sentence s = tendon_mistake(p->mistake, word + 1);
    tendon_mistake_add(&s, text);
    return TENDON_ERROR_INVALID_ARGUMENT;
}

static tendon_status take_nothing(const parsing *p) {
    if (p->count == 0) {
        return TENDON_OK;
    }
    sentence s = tendon_mistake(p->mistake, 1);
    tendon_mistake_add(&s, "it takes no arguments, not ");
    tendon_mistake_add_word(&s, &p->words[0]);
    return TENDON_ERROR_INVALID_ARGUMENT;
}

/** Words that are one after the other in a literal, and the numbers that they stand for. */
typedef struct choice {
    const char *what, *words;
    uint8_t numbers[8];
    size_t count;
} choice;

static const char *choice_at(const void *context, size_t index) {
    const choice *one = context;
    return tendon_packed_string(one->words, NULL, one->count, (unsigned)index);
}

static tendon_status take_choice(const parsing *p, const choice *among) {
    if (p->count != 1) {
        sentence s = tendon_mistake(p->mistake, p->count > 1 ? 2 : 1);
        tendon_mistake_add(&s, among->what);
        tendon_mistake_add(&s, " takes one of: ");
        tendon_mistake_add_words(&s, choice_at, among, ", ");
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    int found = tendon_packed_index(among->words, among->count, p->words[0].text, p->words[0].length);
    if (found < 0) {
        sentence s = tendon_mistake(p->mistake, 1);
        tendon_mistake_unknown(&s, among->what, &p->words[0], choice_at, among);
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    p->out->number = among->numbers[found];
    return TENDON_OK;
}

/* ---- the families ---- */

static tendon_status take_signal(const parsing *p) {
    static const choice signals = {
        "signal",
        "warning\0goal_reached\0battery",
        {TENDON_FEELSPACE_SIGNAL_WARNING, TENDON_FEELSPACE_SIGNAL_GOAL_REACHED, TENDON_FEELSPACE_SIGNAL_BATTERY},
        3};
    return take_choice(p, &signals);
}

/* Calibration begins on the belt alone. */
static tendon_status take_mode(const parsing *p) {
    static const choice modes = {"mode",
                                 "standby\0wait\0compass\0app\0pause\0crossing",
                                 {TENDON_FEELSPACE_MODE_STANDBY, TENDON_FEELSPACE_MODE_WAIT,
                                  TENDON_FEELSPACE_MODE_COMPASS, TENDON_FEELSPACE_MODE_APP, TENDON_FEELSPACE_MODE_PAUSE,
                                  TENDON_FEELSPACE_MODE_CROSSING},
                                 6};
    return take_choice(p, &modes);
}

static tendon_status take_angle(const parsing *p) {
    double angle = 0;
    if (p->count != 1 || !tendon_word_number(&p->words[0], &angle) || !(angle >= INT32_MIN && angle <= INT32_MAX)) {
        return wrong(p, p->count > 1 ? 1 : 0, "vibrate takes an angle in degrees");
    }
    p->out->number = (int32_t)(angle < 0 ? angle - 0.5 : angle + 0.5); /* the belt takes whole degrees */
    return TENDON_OK;
}

static tendon_status take_led(const parsing *p) {
    int64_t milliseconds = 0;
    int mode = p->count > 0 ? tendon_fjorden_led_mode_named(p->words[0].text, p->words[0].length) : -1;
    if (mode < 0 || p->count > 2) {
        return wrong(p, mode < 0 ? 0 : 2, "led takes off, on, blinkSlow or blinkFast, and milliseconds if you like");
    }
    if (p->count == 2 &&
        (!tendon_word_integer(&p->words[1], &milliseconds) || milliseconds < 0 || milliseconds > UINT16_MAX)) {
        return wrong(p, 1, "led's milliseconds are a number up to 65535");
    }
    p->out->number = mode;
    p->out->detail = (uint32_t)milliseconds;
    return TENDON_OK;
}

enum { FEATURE_MAX = 1024 }; /* as the cloud counts them */

static tendon_status take_toggle(const parsing *p) {
    static const char states[] = "flip\0on\0off";
    int state = p->count == 2 ? tendon_packed_index(states, 3, p->words[1].text, p->words[1].length) : -1;
    int64_t feature = 0;
    if (state < 0) {
        return wrong(p, p->count == 2 ? 1 : p->count > 2 ? 2 : p->count, "toggle takes a feature, and on, off or flip");
    }
    if (!tendon_word_any_integer(&p->words[0], &feature) || feature < 1 || feature > FEATURE_MAX) {
        sentence s = tendon_mistake(p->mistake, 1);
        tendon_mistake_add_word(&s, &p->words[0]);
        tendon_mistake_add(&s, " is not the number of a feature, 1 to 1024");
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    p->out->number = (int32_t)feature;
    p->out->detail = (uint32_t)state;
    return TENDON_OK;
}

static tendon_status take_firmware(const parsing *p) {
    int which = p->count == 1 ? tendon_packed_index("check\0upgrade", 2, p->words[0].text, p->words[0].length) : -1;
    if (which < 0) {
        return wrong(p, p->count > 1 ? 1 : 0, "firmware takes check or upgrade");
    }
    p->out->number = which;
    return TENDON_OK;
}

static tendon_status take(const parsing *p) {
    switch (p->out->kind) {
    case TENDON_ACT_FEELSPACE_SIGNAL:
        return take_signal(p);
    case TENDON_ACT_FEELSPACE_VIBRATE:
        return take_angle(p);
    case TENDON_ACT_FEELSPACE_MODE:
        return take_mode(p);
    case TENDON_ACT_FJORDEN_LED:
        return take_led(p);
    case TENDON_ACT_OBVIOUS_TOGGLE:
        return take_toggle(p);
    case TENDON_ACT_OBVIOUS_FIRMWARE:
        return take_firmware(p);
    default:
        return take_nothing(p);
    }
}

/* ---- names ---- */

static bool is_of(const tendon_act_help *action, const char *family) {
    size_t length = tendon_string_length(family);
    return tendon_string_length(action->family) == length && memcmp(action->family, family, length) == 0;
}

/* The actions of a family. */
static const char *name_at(const void *context, size_t index) {
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        if (is_of(&actions[i], context) && index-- == 0) {
            return actions[i].name;
        }
    }
    return NULL;
}

static const char *defined_name_at(const void *context, size_t index) {
    const tendon_definition *definition = context;
    return index < definition->action_count ? tendon_definition_text(definition, definition->actions[index].name)
                                            : NULL;
}

static tendon_status unknown_action(const char *family, const tendon_act_word *word, words_at names,
                                    const void *context, tendon_act_mistake *mistake) {
    sentence s = tendon_mistake(mistake, 0);
    if (names(context, 0) == NULL) {
        tendon_mistake_add(&s, family);
        tendon_mistake_add(&s, " has no actions");
    } else if (word == NULL) {
        tendon_mistake_add(&s, "the name of an action is missing; known: ");
        tendon_mistake_add_words(&s, names, context, ", ");
    } else {
        enum { FAMILY_MAX = 48 }; /* of a device file, too */
        char what[FAMILY_MAX + 16] = "action of ";
        size_t start = tendon_string_length(what), length = tendon_string_length(family);
        memcpy(what + start, family, length <= FAMILY_MAX ? length : FAMILY_MAX);
        tendon_mistake_unknown(&s, what, word, names, context);
    }
    return TENDON_ERROR_NOT_FOUND;
}

/* ---- devices of files ---- */

/** A field and the definition that it is of. */
typedef struct defined_field {
    const tendon_definition *definition;
    const tendon_field *field;
} defined_field;

static const char *value_at(const void *context, size_t index) {
    const defined_field *of = context;
    if (index >= of->field->count) {
        return NULL;
    }
    return tendon_definition_text(of->definition, of->definition->words[of->field->first + index].text);
}

static bool is_bytes(const tendon_field *field) {
    return field->type == TENDON_FIELD_UTF8 || field->type == TENDON_FIELD_BYTES;
}

static bool is_date(const tendon_field *field) {
    return field->type == TENDON_FIELD_DATE || field->type == TENDON_FIELD_EPOCH;
}

static bool is_of_place(const tendon_field *field) {
    return field->type == TENDON_FIELD_DATE || (field->flags & TENDON_FIELD_LOCAL) != 0;
}

/* "OFF|ON RATE_HZ" */
static void add_usage(sentence *s, const tendon_definition *definition, const uint16_t *fields, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const defined_field of = {definition, &definition->fields[fields[i]]};
        tendon_mistake_add(s, i > 0 ? " " : "");
        if (of.field->count > 0) {
            tendon_mistake_add_words(s, value_at, &of, "|");
            continue;
        }
        for (const char *name = tendon_definition_text(definition, of.field->name); *name != '\0'; name++) {
            const char upper[2] = {*name >= 'a' && *name <= 'z' ? (char)(*name - ('a' - 'A')) : *name, '\0'};
            tendon_mistake_add(s, upper);
        }
    }
}

size_t tendon_act_most(const tendon_definition *definition, size_t action, const tendon_field *field) {
    const tendon_layout *layout = &definition->layouts[definition->actions[action].layout];
    size_t most = TENDON_DEFINITION_VALUE;
    for (uint16_t i = 0; i < layout->count; i++) {
        most -= definition->fields[layout->first + i].size; /* the definition was checked: they have room */
    }
    return field->size > 0 ? field->size : field->at_most < most ? field->at_most : most;
}

static void add_length(sentence *s, const tendon_field *field, size_t most) {
    bool is_text = field->type == TENDON_FIELD_UTF8;
    tendon_mistake_add(s, is_text ? "text of " : "");
    if (field->size == 0 && field->at_least > 0) {
        tendon_mistake_add_number(s, field->at_least);
        tendon_mistake_add(s, " to ");
    } else if (is_text || field->size == 0) {
        tendon_mistake_add(s, "at most ");
    }
    tendon_mistake_add_number(s, (double)most);
    tendon_mistake_add(s, is_text ? " bytes" : " bytes as hexadecimal digits");
}

/* Without a scale the ends are exact. */
static void add_range(sentence *s, const tendon_field *field) {
    if (field->factor == 1 && field->divisor == 1 && field->offset == 0) {
        tendon_mistake_add(s, "a whole number from ");
        tendon_mistake_add_integer(s, field->low);
        tendon_mistake_add(s, " to ");
        tendon_mistake_add_integer(s, field->high);
        return;
    }
    double low = (double)field->low * field->factor / field->divisor + field->offset;
    double high = (double)field->high * field->factor / field->divisor + field->offset;
    tendon_mistake_add(s, "a number from ");
    tendon_mistake_add_number(s, low < high ? low : high);
    tendon_mistake_add(s, " to ");
    tendon_mistake_add_number(s, low < high ? high : low);
}

static void say_argument(const parsing *p, const tendon_definition *definition, size_t action,
                         const tendon_field *field, size_t index) {
    const defined_field of = {definition, field};
    const char *name = tendon_definition_text(definition, field->name);
    sentence s = tendon_mistake(p->mistake, index + 1);
    if (field->count > 0) {
        tendon_mistake_unknown(&s, name, &p->words[index], value_at, &of);
        return;
    }
    tendon_mistake_add(&s, name);
    tendon_mistake_add(&s, " takes ");
    if (is_bytes(field)) {
        add_length(&s, field, tendon_act_most(definition, action, field));
    } else if (is_date(field)) {
        tendon_mistake_add(&s, "now or a time ");
        tendon_mistake_add(&s, is_of_place(field) ? "of the place, without a zone, " : "");
        tendon_mistake_add(&s, "such as 2026-11-29T13:07:30");
    } else if (field->type == TENDON_FIELD_FLOAT32) {
        tendon_mistake_add(&s, "a number that 32 bits can have");
    } else {
        add_range(&s, field);
    }
    tendon_mistake_add(&s, ", not ");
    tendon_mistake_add_word(&s, &p->words[index]);
}

static tendon_argument argument_of(const tendon_act_word *word, const tendon_field *field) {
    tendon_argument argument = {.word = word->text, .word_length = word->length};
    if (is_bytes(field) || is_date(field)) {
        return argument;
    }
    argument.is_integer = tendon_word_any_integer(word, &argument.integer); /* hexadecimal, too */
    argument.is_number = tendon_word_number(word, &argument.number);
    if (argument.is_integer && !argument.is_number) {
        argument.is_number = true;
        argument.number = (double)argument.integer;
    }
    return argument;
}

static tendon_status take_defined(const parsing *p, const tendon_definition *definition, size_t action) {
    uint16_t fields[TENDON_DEFINITION_VALUE];
    tendon_argument arguments[TENDON_DEFINITION_VALUE];
    size_t count = tendon_action_arguments(definition, action, fields, TENDON_DEFINITION_VALUE), at = 0;
    if (p->count != count) {
        sentence s = tendon_mistake(p->mistake, p->count < count ? p->count + 1 : count + 1);
        if (count == 0) {
            tendon_mistake_add(&s, "it takes no arguments");
        } else {
            tendon_mistake_add(&s, "it takes ");
            tendon_mistake_add_number(&s, (double)count);
            tendon_mistake_add(&s, ": ");
            add_usage(&s, definition, fields, count);
        }
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    for (size_t i = 0; i < count; i++) {
        arguments[i] = argument_of(&p->words[i], &definition->fields[fields[i]]);
    }
    tendon_status length = tendon_action_encode(definition, action, arguments, count, p->out->bytes, &at);
    if (length < 0) {
        say_argument(p, definition, action, &definition->fields[fields[at]], at);
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    p->out->length = (uint8_t)length;
    p->out->number = (int32_t)action;
    p->out->defined = definition;
    return TENDON_OK;
}

static tendon_status parse_defined(const tendon_definition *definition, const tendon_act_word *words, size_t count,
                                   const parsing *p) {
    for (size_t i = 0; count > 0 && i < definition->action_count; i++) {
        if (is_text(&words[0], defined_name_at(definition, i))) {
            p->out->kind = TENDON_ACT_DEFINED;
            return take_defined(p, definition, i);
        }
    }
    const char *family = tendon_definition_text(definition, definition->name);
    return unknown_action(family, count > 0 ? &words[0] : NULL, defined_name_at, definition, p->mistake);
}

/* ---- all ---- */

tendon_status tendon_act_parse(const char *family, const tendon_definition *definition, const tendon_act_word *words,
                               size_t count, tendon_act *out, tendon_act_mistake *mistake) {
    *out = (tendon_act){.kind = TENDON_ACT_NONE};
    const parsing p = {count > 0 ? words + 1 : words, count > 0 ? count - 1 : 0, out, mistake};
    if (definition != NULL) {
        return parse_defined(definition, words, count, &p);
    }
    for (size_t i = 0; count > 0 && i < ACTION_COUNT; i++) {
        if (is_of(&actions[i], family) && is_text(&words[0], actions[i].name)) {
            out->kind = actions[i].kind;
            return take(&p);
        }
    }
    return unknown_action(family, count > 0 ? &words[0] : NULL, name_at, family, mistake);
}

/* ---- text ---- */

static bool is_space(char c) {
    return c == ' ' || c == '\t';
}

size_t tendon_act_next_word(const char *text, size_t length, size_t at, tendon_act_word *out) {
    while (at < length && is_space(text[at])) {
        at++;
    }
    size_t start = at;
    bool is_quoted = at < length && text[at] == '"';
    for (at += is_quoted ? 1 : 0; at < length && (is_quoted || !is_space(text[at])); at++) {
        if (is_quoted && text[at] == '"') {
            is_quoted = false;
        } else if (is_quoted && text[at] == '\\' && at + 1 < length) {
            at++;
        }
    }
    *out = (tendon_act_word){text + start, at - start};
    return at;
}

size_t tendon_act_unquote(const char *text, size_t length, char *out, size_t *out_length) {
    size_t at = 1, written = 0;
    if (length == 0 || text[0] != '"') {
        return 0;
    }
    for (; at < length && text[at] != '"'; at++) {
        char c = text[at];
        if (c == '\\' && at + 1 < length) {
            c = text[++at];
            if (c != 'n' && c != 'r' && c != 't' && c != '"' && c != '\\') {
                return 0;
            }
            c = c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
        }
        out[written++] = c;
    }
    *out_length = written;
    return at < length ? at + 1 : 0;
}

size_t tendon_act_quote(const char *word, size_t length, char *out) {
    static const char escapes[] = "\"\"\\\\\nn\rr\tt";
    size_t written = 0;
    bool is_plain = length > 0 && word[0] != '"';
    for (size_t i = 0; i < length; i++) {
        is_plain = is_plain && !is_space(word[i]) && word[i] != '\n' && word[i] != '\r';
    }
    if (is_plain) {
        memcpy(out, word, length);
        return length;
    }
    out[written++] = '"';
    for (size_t i = 0; i < length; i++) {
        char c = word[i];
        for (size_t e = 0; escapes[e] != '\0'; e += 2) {
            if (escapes[e] == word[i]) {
                out[written++] = '\\';
                c = escapes[e + 1];
            }
        }
        out[written++] = c;
    }
    out[written++] = '"';
    return written;
}

tendon_status tendon_act_parse_text(const char *family, const tendon_definition *definition, const char *text,
                                    size_t length, tendon_act *out, tendon_act_mistake *mistake) {
    enum { ROOM = 256 };
    tendon_act_word words[TENDON_ACT_WORDS + 1]; /* one more is too many, in any action */
    char room[ROOM];
    size_t count = 0, used = 0;
    for (size_t at = 0; count < TENDON_ACT_WORDS + 1; count++) {
        at = tendon_act_next_word(text, length, at, &words[count]);
        if (words[count].length == 0) {
            break;
        }
        if (words[count].text[0] != '"') {
            continue;
        }
        size_t length_of_all = words[count].length, own = 0;
        if (length_of_all > ROOM - used ||
            tendon_act_unquote(words[count].text, length_of_all, room + used, &own) != length_of_all) {
            sentence s = tendon_mistake(mistake, count);
            tendon_mistake_add(&s, "a word in quotation marks is too long, not closed at its end, or has another "
                                   "escape than \\n \\r \\t \\\" \\\\");
            *out = (tendon_act){.kind = TENDON_ACT_NONE};
            return TENDON_ERROR_INVALID_ARGUMENT;
        }
        words[count] = (tendon_act_word){room + used, own};
        used += own;
    }
    return tendon_act_parse(family, definition, words, count, out, mistake);
}
