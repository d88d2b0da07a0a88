/* SPDX-License-Identifier: MIT */
/* The model of a device's clock: any times of the device, arrivals that go on, any intervals. */
#include "fuzz.h"
#include "tendon/devices/clock.h"

static uint64_t wide(fuzz_input *input) {
    uint64_t value = fuzz_u16(input);
    value = value << 16 | fuzz_u16(input);
    value = value << 16 | fuzz_u16(input);
    return value << 16 | fuzz_u16(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    tendon_clock clock = {0};
    uint64_t device = wide(&input), host = wide(&input) >> 2;
    uint32_t interval = 0;
    while (input.left > 0) {
        uint8_t what = fuzz_u8(&input);
        uint64_t step = (uint64_t)fuzz_u8(&input) << (what & 31); /* 1 ns to 9 minutes */
        switch (what >> 5) {
        case 0:
            device = wide(&input);
            break;
        case 1:
            device -= step;
            break;
        case 2:
            interval = fuzz_u16(&input);
            break;
        case 3:
            tendon_clock_reconnected(&clock);
            break;
        case 4:
            host += step;
            break;
        default: /* more of a steady stream */
            device += step;
            host += step;
            break;
        }
        for (int i = what % 4 == 0 ? 70 : 1; i > 0; i--, device += 10000000, host += 10000000) {
            tendon_clock_take(&clock, device, host, interval);
            tendon_clock_time time = tendon_clock_at(&clock, device, host);
            FUZZ_CHECK(time.sampled_at <= host && time.error_us >= 2000);
            time = tendon_clock_at(&clock, device - step, host);
            FUZZ_CHECK(time.sampled_at <= host);
            FUZZ_CHECK(clock.count < TENDON_CLOCK_POINTS && clock.low_us <= clock.high_us);
        }
    }
    return 0;
}
