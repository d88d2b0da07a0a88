/* SPDX-License-Identifier: MIT */
/* Requests to a gateway. What is accepted has no control characters, is within its limits, and is read again from its
 * own words. */
#include "fuzz.h"
#include "tendon/gateway/request.h"

static size_t put(char *out, size_t length, const char *text, size_t count) {
    memcpy(out + length, text, count);
    return length + count;
}

/* The same request in one form: the action `a`, and each word of the request as an argument. */
static size_t print(const tendon_request *request, char *out) {
    static const char head[] = "{\"address\":\"", middle[] = "\",\"action\":\"a\",\"arguments\":[";
    size_t length = put(out, 0, head, sizeof head - 1);
    (void)tendon_address_format(&request->address, out + length);
    length = put(out, length + TENDON_ADDRESS_STRING_SIZE - 1, middle, sizeof middle - 1);
    size_t begin = length, at = 0;
    for (;;) {
        tendon_act_word word;
        char text[TENDON_REQUEST_ACTION_SIZE];
        at = tendon_act_next_word(request->action, request->length, at, &word);
        if (word.length == 0) {
            return put(out, length, "]}", 2);
        }
        length = put(out, length, ",", length > begin);
        length = put(out, length, "\"", 1);
        if (word.text[0] == '"') { /* with the escapes that JSON has, too */
            size_t inside = 0;
            FUZZ_CHECK(tendon_act_unquote(word.text, word.length, text, &inside) == word.length);
            length = put(out, length, word.text + 1, word.length - 2);
        } else {
            for (size_t i = 0; i < word.length; i++) {
                length = put(out, length, "\\", word.text[i] == '"' || word.text[i] == '\\');
                length = put(out, length, word.text + i, 1);
            }
        }
        length = put(out, length, "\"", 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    fuzz_block line = fuzz_take(&input, size);
    tendon_request request;
    tendon_request again;
    tendon_act_mistake mistake;
    tendon_status status = tendon_request_parse((const char *)line.data, line.length, &request, &mistake);
    free(line.data);
    if (status < 0) {
        FUZZ_CHECK(status == TENDON_ERROR_MALFORMED && mistake.text[0] != 0);
        return 0;
    }
    FUZZ_CHECK(size <= TENDON_REQUEST_LINE_MAX && mistake.text[0] == 0 && request.has_address);
    FUZZ_CHECK(request.length > 0 && request.length <= sizeof request.action);
    for (size_t i = 0; i < request.length; i++) {
        FUZZ_CHECK((uint8_t)request.action[i] >= ' ');
    }
    char text[2048];
    size_t length = print(&request, text);
    if (request.length + 2 <= sizeof request.action && length <= TENDON_REQUEST_LINE_MAX) {
        FUZZ_CHECK(tendon_request_parse(text, length, &again, &mistake) == TENDON_OK);
        FUZZ_CHECK(again.length == request.length + 2 && memcmp(again.action, "a ", 2) == 0);
        FUZZ_CHECK(memcmp(again.action + 2, request.action, request.length) == 0);
        FUZZ_CHECK(memcmp(again.address.bytes, request.address.bytes, sizeof again.address.bytes) == 0);
    }
    return 0;
}
