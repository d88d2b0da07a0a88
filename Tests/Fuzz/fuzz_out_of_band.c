/* SPDX-License-Identifier: MIT */
/* Data of Out of Band pairing, as bytes and as text. What was decoded is encoded to what decodes to the same. */
#include "fuzz.h"
#include "tendon/linux/out_of_band.h"

static void check_device(const tendon_out_of_band *device) {
    uint8_t bytes[TENDON_OUT_OF_BAND_SIZE];
    char text[TENDON_OUT_OF_BAND_STRING_SIZE];
    tendon_out_of_band again;
    FUZZ_CHECK(device->address.type <= TENDON_ADDRESS_TYPE_RANDOM);
    tendon_status length = tendon_out_of_band_encode(device, bytes, sizeof bytes);
    FUZZ_CHECK(length == 45 || length == 48);
    FUZZ_CHECK(tendon_out_of_band_decode(bytes, (size_t)length, &again, NULL) == TENDON_OK);
    FUZZ_CHECK(memcmp(device, &again, sizeof again) == 0);
    FUZZ_CHECK(tendon_out_of_band_parse(tendon_out_of_band_format(device, text), 2 * (size_t)length, &again, NULL) ==
               TENDON_OK);
    FUZZ_CHECK(memcmp(device, &again, sizeof again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    bool is_text = fuzz_u8(&input) % 2 != 0;
    fuzz_block block = fuzz_take(&input, input.left);
    tendon_out_of_band device;
    size_t offset = 0;
    tendon_status status = is_text ? tendon_out_of_band_parse((const char *)block.data, block.length, &device, &offset)
                                   : tendon_out_of_band_decode(block.data, block.length, &device, &offset);
    if (status == TENDON_OK) {
        check_device(&device);
    } else {
        FUZZ_CHECK(offset <= block.length);
    }
    free(block.data);
    return 0;
}
