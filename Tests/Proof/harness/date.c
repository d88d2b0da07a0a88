/* SPDX-License-Identifier: MIT */
/* Dates: of the bytes of a field to text, and of any text to bytes. Without decimals: that what is behind a whole
 * number is below 1 is not seen by an analysis of intervals; the fuzz targets have them. */
#include "date.h"
#include "proof.h"

static const tendon_field fields[] = {
    {.type = TENDON_FIELD_DATE, .size = 7},
    {.type = TENDON_FIELD_DATE, .size = 7, .flags = TENDON_FIELD_BIG_ENDIAN | TENDON_FIELD_LOCAL},
    {.type = TENDON_FIELD_EPOCH, .size = 4, .factor = 1, .divisor = 1, .flags = TENDON_FIELD_UNKNOWN, .unknown = 7},
    {.type = TENDON_FIELD_EPOCH, .size = 8, .factor = 1, .divisor = 1000, .offset = 946684800},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    for (unsigned i = 0; i < FIELDS; i++) {
        char text[TENDON_DATE_SIZE];
        uint8_t out[8];
        if (length == fields[i].size) {
            tendon_status written = tendon_date_decode(&fields[i], input, text);
            if (written > TENDON_DATE_SIZE) {
                proof_fail();
            }
        }
        (void)tendon_date_encode(&fields[i], (const char *)input, length, out);
    }
    return 0;
}
