/* SPDX-License-Identifier: MIT */
/* Sentences about words that are no action. */
#include "mistake.h"

#include "tendon/base/packed.h"
#include "tendon/definition/spelling.h"
#include "tendon/gateway/line.h"
#include "tendon/host/advertisement.h"

/* ---- text ---- */

sentence tendon_mistake(tendon_act_mistake *mistake, size_t word) {
    mistake->word = word;
    mistake->text[0] = '\0';
    return (sentence){.mistake = mistake};
}

static void add(sentence *s, const char *text, size_t length) {
    size_t room = sizeof s->mistake->text - 1 - s->length;
    size_t taken = length <= room ? length : room;
    while (taken < length && taken > 0 && ((uint8_t)text[taken] & 0xC0u) == 0x80u) {
        taken--; /* no part of a character */
    }
    memcpy(s->mistake->text + s->length, text, taken);
    s->length += taken;
    s->mistake->text[s->length] = '\0';
}

void tendon_mistake_add(sentence *s, const char *text) {
    add(s, text, tendon_string_length(text));
}

void tendon_mistake_add_number(sentence *s, double number) {
    char text[TENDON_LINE_NUMBER_SIZE];
    size_t length = tendon_line_shortest(number, text);
    if (length > 2 && text[length - 2] == '.' && text[length - 1] == '0') {
        length -= 2;
    }
    add(s, text, length);
}

void tendon_mistake_add_integer(sentence *s, int64_t number) {
    char digits[20]; /* of 2^63, and a sign */
    size_t start = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--start] = (char)('0' + (char)(rest % 10));
        rest /= 10;
    } while (rest > 0);
    tendon_mistake_add(s, number < 0 ? "-" : "");
    add(s, digits + start, sizeof digits - start);
}

void tendon_mistake_add_word(sentence *s, const tendon_act_word *word) {
    char text[100];
    size_t length = tendon_ad_text((const uint8_t *)word->text, word->length, text, sizeof text);
    add(s, "'", 1);
    add(s, text, length);
    add(s, "'", 1);
}

void tendon_mistake_add_words(sentence *s, words_at words, const void *context, const char *between) {
    for (size_t i = 0; words(context, i) != NULL; i++) {
        if (i > 0) {
            tendon_mistake_add(s, between);
        }
        tendon_mistake_add(s, words(context, i));
    }
}

/* ---- the nearest word ---- */

/* Longer words have no neighbor. */
enum { NEAR_MAX = 48 };

static const char *nearest(const tendon_act_word *word, words_at words, const void *context) {
    char small[NEAR_MAX]; /* as the known ones are */
    const char *found = NULL;
    size_t length = word->length <= NEAR_MAX ? word->length : 0, permitted = length / 3 > 1 ? length / 3 : 1;
    size_t best = permitted + 1;
    for (size_t i = 0; i < length; i++) {
        char c = word->text[i];
        small[i] = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
    }
    for (size_t i = 0; length > 0 && words(context, i) != NULL; i++) {
        const char *known = words(context, i);
        unsigned apart = tendon_spelling_distance(known, tendon_string_length(known), small, length);
        if (apart < best) {
            best = apart;
            found = known;
        }
    }
    return found;
}

void tendon_mistake_unknown(sentence *s, const char *what, const tendon_act_word *word, words_at words,
                            const void *context) {
    const char *near = nearest(word, words, context);
    tendon_mistake_add(s, "unknown ");
    tendon_mistake_add(s, what);
    tendon_mistake_add(s, " ");
    tendon_mistake_add_word(s, word);
    if (near != NULL) {
        tendon_mistake_add(s, "; did you mean '");
        tendon_mistake_add(s, near);
        tendon_mistake_add(s, "'?");
    } else {
        tendon_mistake_add(s, "; known: ");
        tendon_mistake_add_words(s, words, context, ", ");
    }
}
