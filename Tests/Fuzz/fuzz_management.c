/* SPDX-License-Identifier: MIT */
/* PDUs of the kernel's management socket. */
#include "fuzz.h"
#include "tendon/host/management.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tendon_management_event event;
    size_t offset = 0;
    if (tendon_management_decode(data, size, &event, &offset) != TENDON_OK) {
        FUZZ_CHECK(offset <= size);
        return 0;
    }
    (void)fuzz_touch(event.data, event.length);
    tendon_management_information information;
    if (tendon_management_decode_information(event.data, event.length, &information, &offset) == TENDON_OK) {
        (void)fuzz_touch(information.name, 249);
        (void)fuzz_touch(information.short_name, 11);
    }
    uint16_t indexes[3];
    tendon_status count = tendon_management_decode_index_list(event.data, event.length, indexes, 3, &offset);
    FUZZ_CHECK(count <= (tendon_status)event.length);
    return 0;
}
