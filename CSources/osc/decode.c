/* SPDX-License-Identifier: MIT */
#include "tendon/osc/message.h"

#include "text.h"

#define BUNDLE "#bundle"
/* "immediately": what a message outside of a bundle has. */
#define TIME_NOW 1

static const uint8_t *fail(tendon_reader *reader, tendon_status status, size_t offset) {
    if (reader->status == TENDON_OK) {
        reader->status = status;
        reader->error_offset = offset;
    }
    return NULL;
}

/* Bytes 0 up to a multiple of 4, counted from the beginning of the packet, where everything begins at one. */
static void skip_padding(tendon_reader *reader) {
    while (reader->status == TENDON_OK && reader->position % 4 != 0) {
        size_t at = reader->position;
        if (tendon_read_u8(reader) != 0) {
            fail(reader, TENDON_ERROR_MALFORMED, at);
        }
    }
}

/* A text with its terminator and padding. *length: without both. */
static const uint8_t *take_string(tendon_reader *reader, size_t *length) {
    size_t start = reader->position, end = start;
    *length = 0;
    if (reader->status != TENDON_OK) {
        return NULL;
    }
    while (end < reader->length && reader->data[end] != 0) {
        end++;
    }
    if (end == reader->length) {
        return fail(reader, start == reader->length ? TENDON_ERROR_TRUNCATED : TENDON_ERROR_MALFORMED, start);
    }
    const uint8_t *text = tendon_read_bytes(reader, end - start + 1);
    skip_padding(reader);
    *length = end - start;
    return text;
}

static const uint8_t *take_blob(tendon_reader *reader, size_t *length) {
    *length = tendon_read_u32be(reader);
    const uint8_t *bytes = tendon_read_bytes(reader, *length);
    skip_padding(reader);
    return bytes;
}

static double number_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double wide_number_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Two's complement without an implementation-defined conversion. */
static int64_t signed_of(uint64_t bits) {
    return bits <= INT64_MAX ? (int64_t)bits : -(int64_t)(UINT64_MAX - bits) - 1;
}

static int64_t signed_of_u32(uint32_t bits) {
    return bits <= INT32_MAX ? (int64_t)bits : (int64_t)bits - INT64_C(0x100000000);
}

/* The value of a tag. False: the tag is none of the types. */
static bool take_value(tendon_reader *reader, char tag, tendon_osc_argument *out) {
    *out = (tendon_osc_argument){tag, 0, 0, NULL, 0};
    switch (tag) {
    case 'i':
    case 'c':
    case 'r':
    case 'm':
        out->integer = signed_of_u32(tendon_read_u32be(reader));
        out->number = (double)out->integer;
        return true;
    case 'f':
        out->number = number_of(tendon_read_u32be(reader));
        return true;
    case 'd':
        out->number = wide_number_of(tendon_read_u64be(reader));
        return true;
    case 'h':
    case 't':
        out->integer = signed_of(tendon_read_u64be(reader));
        out->number = (double)out->integer;
        return true;
    case 's':
    case 'S':
        out->bytes = take_string(reader, &out->length);
        return true;
    case 'b':
        out->bytes = take_blob(reader, &out->length);
        return true;
    case 'T':
        out->integer = 1;
        out->number = 1;
        return true;
    case 'F':
    case 'N':
    case 'I':
    case '[':
    case ']':
        return true;
    default:
        return false;
    }
}

/* Walks all arguments once, so that those who take them one by one meet no error.
 * @param at where the tags begin, behind the comma. @param end where they end, within the packet. */
static void check_arguments(tendon_reader *reader, size_t at, size_t end) {
    tendon_reader tags = {reader->data, reader->length, at, 0, TENDON_OK};
    size_t depth = 0;
    while (tags.position < end && reader->status == TENDON_OK) {
        size_t tag_at = tags.position;
        char tag = (char)tendon_read_u8(&tags);
        tendon_osc_argument value;
        bool is_closing = tag == ']';
        if (!take_value(reader, tag, &value) || (is_closing && depth == 0)) {
            fail(reader, TENDON_ERROR_MALFORMED, tag_at);
        }
        depth += tag == '[';
        depth -= is_closing && depth > 0;
    }
    if (depth != 0) {
        fail(reader, TENDON_ERROR_MALFORMED, at);
    }
}

/* A text that begins with a character. *length: with it. */
static const uint8_t *take_marked(tendon_reader *reader, char mark, size_t *length) {
    size_t start = reader->position;
    if (start < reader->length && reader->data[start] != (uint8_t)mark) {
        return fail(reader, TENDON_ERROR_MALFORMED, start);
    }
    return take_string(reader, length);
}

/* One message, up to the end of the reader. */
static void take_message(tendon_reader *reader, tendon_osc_message *out) {
    const uint8_t *address = take_marked(reader, '/', &out->address_length);
    out->address = (const char *)address;
    out->tags = "";
    out->tag_count = 0;
    out->arguments = address;
    out->arguments_length = 0;
    if (reader->status != TENDON_OK || reader->position == reader->length) {
        return;
    }
    size_t tags_at = reader->position, length = 0;
    const uint8_t *tags = take_marked(reader, ',', &length);
    if (tags == NULL) {
        return;
    }
    size_t arguments_at = reader->position;
    check_arguments(reader, tags_at + 1, tags_at + length);
    if (reader->status == TENDON_OK && reader->position != reader->length) {
        fail(reader, TENDON_ERROR_MALFORMED, reader->position);
    }
    out->tags = (const char *)tags + 1;
    out->tag_count = length - 1;
    out->arguments = reader->data + arguments_at;
    out->arguments_length = reader->position - arguments_at;
}

/* The ends of the elements that are open: elements[0] is the packet. */
typedef struct walk {
    tendon_reader reader; /* its length: the end of the innermost element */
    uint64_t times[TENDON_OSC_DEPTH + 1];
    size_t ends[TENDON_OSC_DEPTH + 1]; /* of the bundle around it */
    size_t depth;                      /* bundles around it */
    size_t messages;
} walk;

static bool is_bundle(const tendon_reader *reader) {
    return reader->position + sizeof BUNDLE <= reader->length &&
           memcmp(reader->data + reader->position, BUNDLE, sizeof BUNDLE) == 0;
}

/* Enters a bundle: its elements are those up to the end of the reader. */
static void enter(walk *w) {
    if (w->depth >= TENDON_OSC_DEPTH) {
        fail(&w->reader, TENDON_ERROR_OVERFLOW, w->reader.position);
        return;
    }
    (void)tendon_read_bytes(&w->reader, sizeof BUNDLE);
    w->depth++;
    w->times[w->depth] = tendon_read_u64be(&w->reader);
    w->ends[w->depth] = w->reader.length;
}

/* The next element of the innermost bundle that has one: the reader ends with it. False: there is none. */
static bool next_element(walk *w) {
    while (w->depth > 0 && w->reader.position == w->ends[w->depth]) {
        w->depth--;
    }
    if (w->depth == 0 || w->reader.status != TENDON_OK) {
        return false;
    }
    w->reader.length = w->ends[w->depth];
    size_t at = w->reader.position;
    size_t size = tendon_read_u32be(&w->reader);
    size_t end = w->reader.position + size;
    if (w->reader.status != TENDON_OK) {
        return false;
    }
    if (size == 0 || size % 4 != 0) {
        fail(&w->reader, TENDON_ERROR_MALFORMED, at);
    } else if (end < size || end > w->reader.length) {
        fail(&w->reader, TENDON_ERROR_TRUNCATED, at);
    } else {
        w->reader.length = end;
    }
    return w->reader.status == TENDON_OK;
}

static void walk_packet(walk *w, tendon_osc_on_message on_message, void *context) {
    do {
        if (is_bundle(&w->reader)) {
            enter(w);
            continue;
        }
        tendon_osc_message message;
        take_message(&w->reader, &message);
        if (w->reader.status != TENDON_OK) {
            return;
        }
        w->messages++;
        message.time = w->depth > 0 ? w->times[w->depth] : TIME_NOW;
        if (on_message != NULL) {
            on_message(context, &message);
        }
    } while (next_element(w));
}

tendon_status tendon_osc_decode(const uint8_t *packet, size_t length, tendon_osc_on_message on_message, void *context,
                                size_t *offset) {
    walk check = {.reader = tendon_reader_make(packet, length)};
    if (length % 4 != 0 || length > INT32_MAX) {
        fail(&check.reader, TENDON_ERROR_MALFORMED, length);
    }
    walk_packet(&check, NULL, NULL);
    if (check.reader.status < 0) {
        if (offset != NULL) {
            *offset = check.reader.error_offset;
        }
        return check.reader.status;
    }
    if (on_message != NULL) {
        walk w = {.reader = tendon_reader_make(packet, length)};
        walk_packet(&w, on_message, context);
    }
    return (tendon_status)check.messages;
}

tendon_osc_arguments tendon_osc_arguments_of(const tendon_osc_message *message) {
    tendon_osc_arguments arguments = {tendon_reader_make((const uint8_t *)message->tags, message->tag_count),
                                      tendon_reader_make(message->arguments, message->arguments_length)};
    return arguments;
}

bool tendon_osc_next(tendon_osc_arguments *arguments, tendon_osc_argument *out) {
    if (tendon_reader_remaining(&arguments->tags) == 0) {
        return false;
    }
    return take_value(&arguments->values, (char)tendon_read_u8(&arguments->tags), out) &&
           arguments->values.status == TENDON_OK;
}

bool tendon_osc_is_number(const tendon_osc_argument *argument) {
    return tendon_osc_is_one_of(argument->tag, "ihfdcTF");
}
