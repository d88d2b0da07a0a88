/* SPDX-License-Identifier: MIT */
#include "tendon/gateway/request.h"

#include <string.h>

#include "tendon/base/packed.h"

enum { WORD_SIZE = 64 };

typedef struct parser {
    const char *at, *end;
    const char *mistake; /**< the first one; NULL: none */
} parser;

static void fail(parser *p, const char *mistake) {
    p->mistake = p->mistake == NULL ? mistake : p->mistake;
    p->at = p->end;
}

static void skip_space(parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r')) {
        p->at++;
    }
}

/** The next character that is no space, if it is this one. */
static bool take(parser *p, char c) {
    skip_space(p);
    if (p->at < p->end && *p->at == c) {
        p->at++;
        return true;
    }
    return false;
}

static void expect(parser *p, char c) {
    if (!take(p, c)) {
        fail(p, "the line is no JSON object of a request");
    }
}

/** The value of a hexadecimal digit, or -1. */
static int digit_value(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/** The character of \uXXXX, if words may have it; else 0. */
static char escaped_code(parser *p) {
    int code = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        int digit = p->at < p->end ? digit_value(*p->at) : -1;
        if (digit < 0) {
            return 0;
        }
        code = code * 16 + digit;
    }
    return code > ' ' && code <= '~' ? (char)code : 0;
}

/** One character of a string; 0: it is none that words have. */
static char string_character(parser *p) {
    char c = *p->at++;
    if (c != '\\') {
        return c > ' ' && c <= '~' ? c : 0;
    }
    c = p->at < p->end ? *p->at++ : 0;
    return c == '"' || c == '\\' || c == '/' ? c : c == 'u' ? escaped_code(p) : 0;
}

/** A string of printable ASCII. Returns its length. */
static size_t take_string(parser *p, char out[WORD_SIZE]) {
    size_t length = 0;
    expect(p, '"');
    while (p->at < p->end && *p->at != '"') {
        char c = string_character(p);
        if (c == 0) {
            fail(p, "a word has a space, or a character that is not printable ASCII");
        } else if (length == WORD_SIZE) {
            fail(p, "a word is longer than 64 bytes");
        } else {
            out[length++] = c;
        }
    }
    if (p->mistake == NULL) {
        expect(p, '"');
    }
    return length;
}

/** A number, as it is written. */
static size_t take_number(parser *p, char out[WORD_SIZE]) {
    size_t length = 0;
    while (p->at < p->end && ((*p->at >= '0' && *p->at <= '9') || *p->at == '-' || *p->at == '+' || *p->at == '.' ||
                              *p->at == 'e' || *p->at == 'E')) {
        if (length == WORD_SIZE) {
            fail(p, "a number is longer than 64 bytes");
            return 0;
        }
        out[length++] = *p->at++;
    }
    if (length == 0) {
        fail(p, "an argument is neither a word nor a number");
    }
    return length;
}

/** Adds a word to the action. */
static void add_word(parser *p, tendon_request *request, const char *word, size_t length) {
    size_t space = request->length > 0;
    if (p->mistake == NULL && length == 0) {
        fail(p, "a word is empty");
    } else if (p->mistake == NULL && word[0] == '"') { /* would begin a word with spaces */
        fail(p, "a word begins with a quotation mark");
    } else if (p->mistake == NULL && request->length + space + length > sizeof request->action) {
        fail(p, "the action is longer than 160 bytes");
    }
    if (p->mistake == NULL) {
        if (space) {
            request->action[request->length] = ' ';
        }
        memcpy(request->action + request->length + space, word, length);
        request->length += space + length;
    }
}

static bool is_word(const char *word, size_t length, const char *name) {
    return length == tendon_string_length(name) && memcmp(word, name, length) == 0;
}

/* ---- members ---- */

/** What has been seen; the arguments may come before the action. */
typedef struct members {
    bool address, type, action, arguments;
    const char *arguments_at; /**< after their bracket; NULL: none */
    uint8_t address_type;
} members;

/** Its type may stand behind it, as in options. */
static void take_address(parser *p, tendon_request *request, members *seen) {
    char word[WORD_SIZE];
    size_t length = take_string(p, word);
    if (p->mistake != NULL) {
        return;
    }
    if (length < TENDON_ADDRESS_STRING_SIZE - 1 || tendon_address_parse(word, length, &request->address, NULL) < 0) {
        fail(p, "the address is not of the form AA:BB:CC:DD:EE:FF, or AA:BB:CC:DD:EE:FF/random");
    } else if (length > TENDON_ADDRESS_STRING_SIZE - 1) {
        seen->address_type = request->address.type;
        if (seen->type) {
            fail(p, "the line has the type of the address twice");
        }
        seen->type = true;
    }
}

static void take_type(parser *p, members *seen) {
    char word[WORD_SIZE];
    size_t length = take_string(p, word);
    bool is_random = is_word(word, length, "random");
    if (p->mistake == NULL && !is_random && !is_word(word, length, "public")) {
        fail(p, "the address type is neither public nor random");
    }
    seen->address_type = is_random ? TENDON_ADDRESS_TYPE_RANDOM : TENDON_ADDRESS_TYPE_PUBLIC;
}

/** An array of words and numbers. @param request NULL: it is only checked. */
static void take_arguments(parser *p, tendon_request *request) {
    bool is_first = true;
    while (p->mistake == NULL && !take(p, ']')) {
        char word[WORD_SIZE];
        if (!is_first) {
            expect(p, ',');
        }
        is_first = false;
        skip_space(p);
        bool is_string = p->at < p->end && *p->at == '"';
        size_t length = p->mistake != NULL ? 0 : is_string ? take_string(p, word) : take_number(p, word);
        if (request != NULL) {
            add_word(p, request, word, length);
        }
    }
}

static void take_member(parser *p, tendon_request *request, members *seen) {
    char name[WORD_SIZE];
    size_t length = take_string(p, name);
    bool *which = is_word(name, length, "address")        ? &seen->address
                  : is_word(name, length, "address_type") ? &seen->type
                  : is_word(name, length, "action")       ? &seen->action
                  : is_word(name, length, "arguments")    ? &seen->arguments
                                                          : NULL;
    if (p->mistake == NULL && which == NULL) {
        fail(p, "the line has a member that is none of address, address_type, action, arguments");
    } else if (p->mistake == NULL && *which) {
        fail(p, "the line has a member twice");
    }
    if (p->mistake != NULL || which == NULL) {
        return;
    }
    *which = true;
    expect(p, ':');
    if (which == &seen->address) {
        take_address(p, request, seen);
    } else if (which == &seen->type) {
        take_type(p, seen);
    } else if (which == &seen->action) {
        char word[WORD_SIZE];
        length = take_string(p, word);
        add_word(p, request, word, length);
    } else {
        expect(p, '[');
        seen->arguments_at = p->at;
        take_arguments(p, NULL);
    }
}

tendon_status tendon_request_parse(const char *text, size_t length, tendon_request *out, const char **mistake) {
    parser p = {.at = text, .end = text + length};
    members seen = {.address_type = (uint8_t)TENDON_ADDRESS_TYPE_ANONYMOUS};
    *out = (tendon_request){.length = 0};
    if (length > TENDON_REQUEST_LINE_MAX) {
        fail(&p, "the line is longer than 1024 bytes");
    }
    expect(&p, '{');
    do {
        take_member(&p, out, &seen);
    } while (p.mistake == NULL && take(&p, ','));
    expect(&p, '}');
    skip_space(&p);
    if (p.at != p.end) {
        fail(&p, "the line goes on after its object");
    } else if (!seen.address || !seen.action) {
        fail(&p, "the line has no address, or no action");
    }
    if (p.mistake == NULL && seen.arguments) {
        parser arguments = {.at = seen.arguments_at, .end = text + length};
        take_arguments(&arguments, out);
        p.mistake = arguments.mistake;
    }
    out->address.type = seen.address_type;
    *mistake = p.mistake;
    return p.mistake == NULL ? TENDON_OK : TENDON_ERROR_MALFORMED;
}
