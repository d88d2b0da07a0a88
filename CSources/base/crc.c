/* SPDX-License-Identifier: MIT */
/*
 * Slicing-by-8: eight table look-ups advance the CRC by eight bytes. A CRC is
 * linear over GF(2), so each table follows from its entries for the eight
 * single bits, and the preprocessor writes out the other 248. Builds for size
 * take the 16-entry table instead of 8 KiB.
 */
#include "tendon/base/crc.h"

#if defined(__OPTIMIZE_SIZE__)

static const uint32_t nibbles[16] = {0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u,
                                     0x4DB26158u, 0x5005713Cu, 0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu,
                                     0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu};

uint32_t tendon_crc32(uint32_t crc, const uint8_t *data, size_t length) {
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= data[i];
        crc = crc >> 4 ^ nibbles[crc & 0xFu];
        crc = crc >> 4 ^ nibbles[crc & 0xFu];
    }
    return ~crc;
}

#else

/* The entry of byte b from the entries of its bits. */
#define E(b, k0, k1, k2, k3, k4, k5, k6, k7)                                                                           \
    (((b)&1 ? k0 : 0u) ^ ((b)&2 ? k1 : 0u) ^ ((b)&4 ? k2 : 0u) ^ ((b)&8 ? k3 : 0u) ^ ((b)&16 ? k4 : 0u) ^              \
     ((b)&32 ? k5 : 0u) ^ ((b)&64 ? k6 : 0u) ^ ((b)&128 ? k7 : 0u))
#define E4(b, ...) E(b, __VA_ARGS__), E(b + 1, __VA_ARGS__), E(b + 2, __VA_ARGS__), E(b + 3, __VA_ARGS__)
#define E16(b, ...) E4(b, __VA_ARGS__), E4(b + 4, __VA_ARGS__), E4(b + 8, __VA_ARGS__), E4(b + 12, __VA_ARGS__)
#define E64(b, ...) E16(b, __VA_ARGS__), E16(b + 16, __VA_ARGS__), E16(b + 32, __VA_ARGS__), E16(b + 48, __VA_ARGS__)
#define E256(...) E64(0, __VA_ARGS__), E64(64, __VA_ARGS__), E64(128, __VA_ARGS__), E64(192, __VA_ARGS__)

/* Rn: entries of the bits 0x01 to 0x80 when n zero bytes follow. */
#define R0(X) X(0x77073096u, 0xEE0E612Cu, 0x076DC419u, 0x0EDB8832u, 0x1DB71064u, 0x3B6E20C8u, 0x76DC4190u, 0xEDB88320u)
#define R1(X) X(0x191B3141u, 0x32366282u, 0x646CC504u, 0xC8D98A08u, 0x4AC21251u, 0x958424A2u, 0xF0794F05u, 0x3B83984Bu)
#define R2(X) X(0x01C26A37u, 0x0384D46Eu, 0x0709A8DCu, 0x0E1351B8u, 0x1C26A370u, 0x384D46E0u, 0x709A8DC0u, 0xE1351B80u)
#define R3(X) X(0xB8BC6765u, 0xAA09C88Bu, 0x8F629757u, 0xC5B428EFu, 0x5019579Fu, 0xA032AF3Eu, 0x9B14583Du, 0xED59B63Bu)
#define R4(X) X(0x3D6029B0u, 0x7AC05360u, 0xF580A6C0u, 0x30704BC1u, 0x60E09782u, 0xC1C12F04u, 0x58F35849u, 0xB1E6B092u)
#define R5(X) X(0xCB5CD3A5u, 0x4DC8A10Bu, 0x9B914216u, 0xEC53826Du, 0x03D6029Bu, 0x07AC0536u, 0x0F580A6Cu, 0x1EB014D8u)
#define R6(X) X(0xA6770BB4u, 0x979F1129u, 0xF44F2413u, 0x33EF4E67u, 0x67DE9CCEu, 0xCFBD399Cu, 0x440B7579u, 0x8816EAF2u)
#define R7(X) X(0xCCAA009Eu, 0x4225077Du, 0x844A0EFAu, 0xD3E51BB5u, 0x7CBB312Bu, 0xF9766256u, 0x299DC2EDu, 0x533B85DAu)

static const uint32_t tables[8][256] = {{R0(E256)}, {R1(E256)}, {R2(E256)}, {R3(E256)},
                                        {R4(E256)}, {R5(E256)}, {R6(E256)}, {R7(E256)}};

static uint32_t load_le(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

uint32_t tendon_crc32(uint32_t crc, const uint8_t *data, size_t length) {
    crc = ~crc;
    while (length >= 8) {
        uint32_t low = crc ^ load_le(data);
        uint32_t high = load_le(data + 4);
        crc = tables[7][low & 0xFFu] ^ tables[6][low >> 8 & 0xFFu] ^ tables[5][low >> 16 & 0xFFu] ^
              tables[4][low >> 24] ^ tables[3][high & 0xFFu] ^ tables[2][high >> 8 & 0xFFu] ^
              tables[1][high >> 16 & 0xFFu] ^ tables[0][high >> 24];
        data += 8;
        length -= 8;
    }
    for (size_t i = 0; i < length; i++) {
        crc = crc >> 8 ^ tables[0][(crc ^ data[i]) & 0xFFu];
    }
    return ~crc;
}

#endif
