/* SPDX-License-Identifier: MIT */
/* Lines of JSON to actions; the JSON is read as that of device files. */
#include "tendon/gateway/request.h"

#include "../definition/json.h"
#include "mistake.h"

enum {
    /* Of an object with four members whose arguments are as many as an action has, and one more. */
    TOKENS = 1 + 4 * 2 + TENDON_ACT_WORDS
};

typedef struct parser {
    json j;
    tendon_request *out;
    sentence mistake;
} parser;

static bool wrong(parser *p, const char *text) {
    tendon_mistake_add(&p->mistake, text);
    return false;
}

/** Finds a member. @return its value; 0, the object itself: there is none. */
static json_at member(const parser *p, const char *name) {
    for (json_at at = tendon_json_first(0); at < p->j.count; at = tendon_json_next(&p->j, at + 1)) {
        if (tendon_json_equals(&p->j, at, name)) {
            return at + 1;
        }
    }
    return 0;
}

static bool has_members(parser *p) {
    for (json_at at = tendon_json_first(0); at < p->j.count; at = tendon_json_next(&p->j, at + 1)) {
        tendon_act_word name;
        name.text = tendon_json_raw(&p->j, at, &name.length);
        if (tendon_packed_index("address\0address_type\0action\0arguments", 4, name.text, name.length) < 0) {
            tendon_mistake_add_word(&p->mistake, &name);
            return wrong(p, " is none of address, address_type, action, arguments");
        }
        for (json_at other = tendon_json_first(0); other < at; other = tendon_json_next(&p->j, other + 1)) {
            size_t length;
            const char *text = tendon_json_raw(&p->j, other, &length);
            if (length == name.length && memcmp(text, name.text, length) == 0) {
                tendon_mistake_add_word(&p->mistake, &name);
                return wrong(p, " is there twice");
            }
        }
    }
    return true;
}

/* ---- values ---- */

/** Returns the length of a text or of the digits of a number; negative: there is none, or it is too long. */
static int take_word(parser *p, json_at at, bool takes_numbers, char out[TENDON_REQUEST_WORD_MAX + 1]) {
    json_type type = tendon_json_type_of(&p->j, at);
    size_t length = 0;
    if (type == JSON_STRING) {
        length = tendon_json_string(&p->j, at, out, TENDON_REQUEST_WORD_MAX + 1);
    } else if (type == JSON_NUMBER && takes_numbers) {
        const char *digits = tendon_json_raw(&p->j, at, &length);
        memcpy(out, digits, length <= TENDON_REQUEST_WORD_MAX ? length : 0);
    } else {
        return -1;
    }
    return length <= TENDON_REQUEST_WORD_MAX ? (int)length : -1;
}

static bool take_type(parser *p, json_at at, bool has_type) {
    char word[TENDON_REQUEST_WORD_MAX + 1];
    int length = take_word(p, at, false, word);
    int type = length < 0 ? -1 : tendon_packed_index("public\0random", 2, word, (size_t)length);
    if (type < 0) {
        return wrong(p, "the address type is neither public nor random");
    }
    p->out->address.type = (uint8_t)(type == 0 ? TENDON_ADDRESS_TYPE_PUBLIC : TENDON_ADDRESS_TYPE_RANDOM);
    return has_type ? wrong(p, "the line has the type of the address twice") : true;
}

/** Its type may stand behind it, as in options. */
static bool take_address(parser *p) {
    char word[TENDON_REQUEST_WORD_MAX + 1];
    json_at at = member(p, "address"), type = member(p, "address_type");
    int length = at == 0 ? -1 : take_word(p, at, false, word);
    if (at == 0) {
        return wrong(p, "the line has no address");
    }
    if (length < TENDON_ADDRESS_STRING_SIZE - 1 ||
        tendon_address_parse(word, (size_t)length, &p->out->address, NULL) < 0) {
        return wrong(p, "the address is not of the form AA:BB:CC:DD:EE:FF, or AA:BB:CC:DD:EE:FF/random");
    }
    bool has_type = length > TENDON_ADDRESS_STRING_SIZE - 1;
    p->out->has_address = true;
    p->out->address.type = has_type ? p->out->address.type : (uint8_t)TENDON_ADDRESS_TYPE_ANONYMOUS;
    return type == 0 || take_type(p, type, has_type);
}

/** Adds a word to the action. */
static bool add_word(parser *p, json_at at, bool takes_numbers) {
    char word[TENDON_REQUEST_WORD_MAX + 1], quoted[2 * TENDON_REQUEST_WORD_MAX + 2];
    int length = take_word(p, at, takes_numbers, word);
    if (length < 0) {
        return wrong(p, takes_numbers ? "an argument is a text or a number of at most 64 bytes"
                                      : "the action is a text of at most 64 bytes");
    }
    for (int i = 0; i < length; i++) {
        if ((uint8_t)word[i] < ' ' && word[i] != '\n' && word[i] != '\r' && word[i] != '\t') {
            return wrong(p, "a text has a control character");
        }
    }
    size_t size = tendon_act_quote(word, (size_t)length, quoted), space = p->out->length > 0;
    if (p->out->length + space + size > sizeof p->out->action) {
        return wrong(p, "an action has at most 160 bytes");
    }
    p->out->action[p->out->length] = ' ';
    memcpy(p->out->action + p->out->length + space, quoted, size);
    p->out->length += space + size;
    return true;
}

static bool take_action(parser *p) {
    json_at action = member(p, "action"), arguments = member(p, "arguments");
    if (action == 0) {
        return wrong(p, "the line has no action");
    }
    if (!add_word(p, action, false)) {
        return false;
    }
    if (arguments == 0 || tendon_json_type_of(&p->j, arguments) == JSON_NULL) {
        return true;
    }
    if (tendon_json_type_of(&p->j, arguments) != JSON_ARRAY) {
        return wrong(p, "arguments is a list like [90]");
    }
    size_t length = p->out->length;
    for (json_at at = tendon_json_first(arguments); at < tendon_json_next(&p->j, arguments);
         at = tendon_json_next(&p->j, at)) {
        if (!add_word(p, at, true)) {
            p->out->length = length;
            return false;
        }
    }
    return true;
}

tendon_status tendon_request_parse(const char *text, size_t length, tendon_request *out, tendon_act_mistake *mistake) {
    tendon_definition_token tokens[TOKENS];
    tendon_definition_mistake found = {0};
    parser p = {.j = {.text = text, .length = length, .tokens = tokens, .capacity = TOKENS, .mistake = &found},
                .out = out,
                .mistake = tendon_mistake(mistake, 0)};
    out->has_address = false;
    out->length = 0;
    bool is_right = true;
    if (length > TENDON_REQUEST_LINE_MAX) {
        is_right = wrong(&p, "the line is longer than 1024 bytes");
    } else if (tendon_json_read(&p.j) < 0) {
        tendon_mistake_add(&p.mistake, "no JSON: ");
        tendon_mistake_add(&p.mistake, found.text);
        tendon_mistake_add(&p.mistake, " (column ");
        tendon_mistake_add_integer(&p.mistake, found.column);
        is_right = wrong(&p, ")");
    } else if (tendon_json_type_of(&p.j, 0) != JSON_OBJECT) {
        is_right = wrong(&p, "a request is an object with address and action");
    }
    is_right = is_right && has_members(&p) && take_address(&p) && take_action(&p);
    return is_right ? TENDON_OK : TENDON_ERROR_MALFORMED;
}
