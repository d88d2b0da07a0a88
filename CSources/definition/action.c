/* SPDX-License-Identifier: MIT */
#include "tendon/definition/describe.h"

#include "date.h"
#include "json.h"
#include "number.h"

size_t tendon_action_arguments(const tendon_definition *definition, size_t action, uint16_t *fields, size_t capacity) {
    if (action >= definition->action_count) {
        return 0;
    }
    const tendon_layout *layout = &definition->layouts[definition->actions[action].layout];
    size_t count = 0;
    for (uint16_t i = 0; i < layout->count; i++) {
        uint16_t field = (uint16_t)(layout->first + i);
        if (tendon_number_is_fixed(&definition->fields[field])) {
            continue;
        }
        if (fields != NULL && count < capacity) {
            fields[count] = field;
        }
        count++;
    }
    return count;
}

static bool encode_word(const tendon_definition *definition, const tendon_field *field, const tendon_argument *argument,
                        uint8_t *out) {
    for (uint16_t i = 0; i < field->count; i++) {
        const tendon_word *word = &definition->words[field->first + i];
        if (tendon_json_is(tendon_definition_text(definition, word->text), argument->word, argument->word_length)) {
            return tendon_number_encode_raw(field, word->value, out);
        }
    }
    return false;
}

/* A double is not every integer. */
static bool encode_number(const tendon_field *field, const tendon_argument *argument, uint8_t *out) {
    return argument->is_integer && field->type == TENDON_FIELD_INTEGER && !tendon_number_is_scaled(field)
               ? tendon_number_encode_raw(field, argument->integer, out)
               : tendon_number_encode(field, argument->number, out);
}

/* Text is shorter than a field of a fixed length if it ends with zeros, as names do. */
static bool encode_text(const tendon_field *field, const tendon_argument *argument, size_t room, uint8_t *out,
                        size_t *length) {
    size_t count = argument->word_length;
    if (argument->word == NULL || count > room) {
        return false;
    }
    for (size_t i = 0; i < room; i++) {
        out[i] = i < count ? (uint8_t)argument->word[i] : 0;
    }
    *length = field->size > 0 ? field->size : count;
    return count >= field->at_least && count <= field->at_most;
}

static bool encode_bytes(const tendon_field *field, const tendon_argument *argument, size_t room, uint8_t *out,
                         size_t *length) {
    size_t count = argument->word_length / 2;
    if (argument->word == NULL || argument->word_length % 2 != 0 || count > room) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        int high = tendon_json_hex(argument->word[2 * i]), low = tendon_json_hex(argument->word[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i] = (uint8_t)(high << 4 | low);
    }
    *length = count;
    return field->size > 0 ? count == field->size : count >= field->at_least && count <= field->at_most;
}

/* @param room bytes that are left. */
static bool encode_argument(const tendon_definition *definition, const tendon_field *field,
                            const tendon_argument *argument, size_t room, uint8_t *out, size_t *length) {
    size_t most = field->size > 0 ? field->size : room;
    switch ((tendon_field_type)field->type) {
    case TENDON_FIELD_UTF8:
        return encode_text(field, argument, most, out, length);
    case TENDON_FIELD_BYTES:
        return encode_bytes(field, argument, most, out, length);
    case TENDON_FIELD_DATE:
    case TENDON_FIELD_EPOCH:
        *length = field->size;
        return argument->word != NULL && tendon_date_encode(field, argument->word, argument->word_length, out);
    default:
        *length = field->size;
        /* A word that is a number and a name, as "2", is the name. */
        return (argument->word != NULL && encode_word(definition, field, argument, out)) ||
               ((argument->word == NULL || argument->is_number) && encode_number(field, argument, out));
    }
}

tendon_status tendon_action_encode(const tendon_definition *definition, size_t action, const tendon_argument *arguments,
                                   size_t count, uint8_t out[TENDON_DEFINITION_VALUE], size_t *wrong) {
    if (action >= definition->action_count) {
        return TENDON_ERROR_NOT_FOUND;
    }
    const tendon_layout *layout = &definition->layouts[definition->actions[action].layout];
    size_t used = 0, length = 0;
    *wrong = tendon_action_arguments(definition, action, NULL, 0);
    if (*wrong != count) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    for (uint16_t i = 0; i < layout->count; i++) {
        const tendon_field *field = &definition->fields[layout->first + i];
        uint8_t *at = out + length;
        size_t taken = field->size; /* parse() has made sure of the sum */
        if (tendon_number_is_fixed(field)) {
            (void)tendon_number_encode_raw(field, field->low, at);
            length += taken;
            continue;
        }
        *wrong = used;
        if (!encode_argument(definition, field, &arguments[used++], TENDON_DEFINITION_VALUE - length, at, &taken)) {
            return TENDON_ERROR_INVALID_ARGUMENT;
        }
        length += taken;
    }
    return (tendon_status)length;
}
