/* SPDX-License-Identifier: MIT */
/* Requests to a gateway. What is accepted is printable, within its limits, and read again from its own words. */
#include "fuzz.h"
#include "tendon/gateway/request.h"

/* The same request in the one form that has no choices. */
static size_t print(const tendon_request *request, char *out, size_t size) {
    static const char head[] = "{\"address\":\"";
    static const char middle[] = "\",\"action\":\"a\",\"arguments\":[\"";
    size_t length = 0;
    FUZZ_CHECK(size > sizeof head + sizeof middle + 2 * TENDON_ADDRESS_STRING_SIZE + 4 * request->length + 16);
    memcpy(out, head, sizeof head - 1);
    length = sizeof head - 1;
    (void)tendon_address_format(&request->address, out + length);
    length += TENDON_ADDRESS_STRING_SIZE - 1;
    memcpy(out + length, middle, sizeof middle - 1);
    length += sizeof middle - 1;
    for (size_t i = 0; i < request->length; i++) {
        char c = request->action[i];
        if (c == ' ') {
            memcpy(out + length, "\",\"", 3);
            length += 3;
        } else {
            if (c == '"' || c == '\\') {
                out[length++] = '\\';
            }
            out[length++] = c;
        }
    }
    memcpy(out + length, "\"]}", 3);
    return length + 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    fuzz_block line = fuzz_take(&input, size);
    tendon_request request;
    tendon_request again;
    const char *mistake = NULL;
    tendon_status status = tendon_request_parse((const char *)line.data, line.length, &request, &mistake);
    free(line.data);
    if (status < 0) {
        FUZZ_CHECK(status == TENDON_ERROR_MALFORMED && mistake != NULL && mistake[0] != 0);
        return 0;
    }
    FUZZ_CHECK(size <= TENDON_REQUEST_LINE_MAX && mistake == NULL);
    FUZZ_CHECK(request.length > 0 && request.length <= sizeof request.action);
    for (size_t i = 0; i < request.length; i++) {
        FUZZ_CHECK(request.action[i] >= ' ' && request.action[i] <= '~');
    }
    char text[2048];
    size_t length = print(&request, text, sizeof text);
    if (request.length + 2 <= sizeof request.action && length <= TENDON_REQUEST_LINE_MAX) {
        FUZZ_CHECK(tendon_request_parse(text, length, &again, &mistake) == TENDON_OK);
        FUZZ_CHECK(again.length == request.length + 2 && memcmp(again.action, "a ", 2) == 0);
        FUZZ_CHECK(memcmp(again.action + 2, request.action, request.length) == 0);
        FUZZ_CHECK(memcmp(again.address.bytes, request.address.bytes, sizeof again.address.bytes) == 0);
    }
    return 0;
}
