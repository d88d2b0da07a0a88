/* SPDX-License-Identifier: MIT */
#include "tendon/definition/describe.h"

#include "number.h"

/* A number that is always the same, which a field states with equals. */
static bool is_fixed(const tendon_field *field) {
    return (field->flags & TENDON_FIELD_LIMITED) != 0 && field->low == field->high;
}

size_t tendon_action_arguments(const tendon_definition *definition, size_t action, uint16_t *fields, size_t capacity) {
    const tendon_layout *layout = &definition->layouts[definition->actions[action].layout];
    size_t count = 0;
    for (uint16_t i = 0; i < layout->count; i++) {
        uint16_t field = (uint16_t)(layout->first + i);
        if (is_fixed(&definition->fields[field])) {
            continue;
        }
        if (fields != NULL && count < capacity) {
            fields[count] = field;
        }
        count++;
    }
    return count;
}

static bool is_word(const char *text, const tendon_argument *argument) {
    size_t i = 0;
    while (i < argument->word_length && text[i] != 0 && text[i] == argument->word[i]) {
        i++;
    }
    return i == argument->word_length && text[i] == 0;
}

static bool encode_word(const tendon_definition *definition, const tendon_field *field, const tendon_argument *argument,
                        uint8_t *out) {
    for (uint16_t i = 0; i < field->count; i++) {
        const tendon_word *word = &definition->words[field->first + i];
        if (is_word(tendon_definition_text(definition, word->text), argument)) {
            return tendon_number_encode_raw(field, word->value, out);
        }
    }
    return false;
}

tendon_status tendon_action_encode(const tendon_definition *definition, size_t action, const tendon_argument *arguments,
                                   size_t count, uint8_t out[TENDON_DEFINITION_VALUE], size_t *wrong) {
    const tendon_layout *layout = &definition->layouts[definition->actions[action].layout];
    size_t used = 0, length = 0;
    *wrong = tendon_action_arguments(definition, action, NULL, 0);
    if (*wrong != count) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    for (uint16_t i = 0; i < layout->count; i++) {
        const tendon_field *field = &definition->fields[layout->first + i];
        uint8_t *at = out + length;
        length += field->size; /* parse() has made sure of the sum */
        if (is_fixed(field)) {
            (void)tendon_number_encode_raw(field, field->low, at);
            continue;
        }
        const tendon_argument *argument = &arguments[used];
        *wrong = used++;
        if (argument->word != NULL ? !encode_word(definition, field, argument, at)
                                   : !tendon_number_encode(field, argument->number, at)) {
            return TENDON_ERROR_INVALID_ARGUMENT;
        }
    }
    return (tendon_status)length;
}
