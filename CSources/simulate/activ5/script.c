/* SPDX-License-Identifier: MIT */
/* Simulated Activ5 trainer: load and orientation as a function of the device clock. */
#include "activ5_parts.h"
#include <math.h>

#define RAMP_MS 100
#define ROLL_PERIOD_MS 10000u
#define PI 3.14159265358979323846

double tendon_simulated_activ5_newtons(int32_t raw) {
    return raw * 0.27156315909; /* the unit of F0FE */
}

/** A squeeze at @p ms: rises for 100 ms, holds, falls for 100 ms; whole quarters of a legacy unit. */
static int32_t press_at(const tendon_simulated_activ5_press *press, uint64_t ms) {
    if (ms <= press->start || ms >= press->end) {
        return 0;
    }
    uint64_t edge = ms - press->start < press->end - ms ? ms - press->start : press->end - ms;
    int32_t height = edge >= RAMP_MS ? press->peak : (int32_t)((int64_t)press->peak * (int64_t)edge / RAMP_MS);
    return height / 4 * 4;
}

int32_t tendon_simulated_activ5_script(uint64_t device_ms) {
    static const tendon_simulated_activ5_press presses[] = {
        {1000, 1600, 160}, {8000, 8500, 140}, {9000, 9500, 152}, {14000, 15000, 44}};
    static const int8_t rest[8] = {0, 4, 8, 4, 0, -4, -8, -4};
    uint64_t ms = device_ms % TENDON_SIMULATED_ACTIV5_SCRIPT_MS;
    int32_t raw = rest[ms / 100 % 8];
    for (size_t i = 0; i < sizeof presses / sizeof presses[0]; i++) {
        raw += press_at(&presses[i], ms);
    }
    return raw;
}

int32_t tendon_simulated_activ5_raw(const tendon_simulated_activ5 *device, uint64_t device_ms) {
    int64_t raw = device->options.no_script ? 0 : tendon_simulated_activ5_script(device_ms);
    for (size_t i = 0; i < TENDON_SIMULATED_ACTIV5_PRESSES; i++) {
        raw += press_at(&device->presses[i], device_ms);
    }
    raw += (int64_t)device->load - device->zero;
    return raw > INT16_MAX ? INT16_MAX : raw < INT16_MIN ? INT16_MIN : (int32_t)raw;
}

uint32_t tendon_simulated_activ5_ticks(const tendon_simulated_activ5 *device, uint64_t device_ms) {
    return (uint32_t)((device_ms * 4000 / 61 + device->options.ticks) & UINT32_MAX);
}

double tendon_simulated_activ5_roll(uint64_t device_ms) {
    return PI / 6 * sin(2 * PI * (double)(device_ms % ROLL_PERIOD_MS) / ROLL_PERIOD_MS);
}

static void write_rounded(tendon_writer *out, double value) {
    tendon_write_u16le(out, (uint16_t)(int16_t)(value < 0 ? value - 0.5 : value + 0.5));
}

void tendon_simulated_activ5_write_imu(const tendon_simulated_activ5 *device, uint64_t device_ms, uint8_t out[16]) {
    double roll = tendon_simulated_activ5_roll(device_ms);
    double turn = 2 * PI / ROLL_PERIOD_MS;
    double rate_deg =
        1000 * turn * 30 * cos(turn * (double)(device_ms % ROLL_PERIOD_MS)); /* of 30 degrees, per second */
    tendon_writer writer = tendon_writer_make(out, 16);
    tendon_write_u16le(&writer, 0);
    write_rounded(&writer, 4095 * sin(roll));
    write_rounded(&writer, 4095 * cos(roll));
    write_rounded(&writer,
                  rate_deg / 1.15 * 4095 /
                      250); /* the device reports values that are too small; the vendor's library scales them */
    tendon_write_u16le(&writer, 0);
    tendon_write_u16le(&writer, 0);
    tendon_write_u32le(&writer, tendon_simulated_activ5_ticks(device, device_ms));
}
