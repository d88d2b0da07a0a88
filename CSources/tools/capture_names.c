/* SPDX-License-Identifier: MIT */
#include "tendon/base/packed.h"
#include "tendon/tools/capture.h"

/* Core Spec Vol 3 Part F 3.4.8. */
#define OPCODES(X)                                                                                                     \
    X(0x01, "Error Response")                                                                                          \
    X(0x02, "Exchange MTU Request")                                                                                    \
    X(0x03, "Exchange MTU Response")                                                                                   \
    X(0x04, "Find Information Request")                                                                                \
    X(0x05, "Find Information Response")                                                                               \
    X(0x06, "Find By Type Value Request")                                                                              \
    X(0x07, "Find By Type Value Response")                                                                             \
    X(0x08, "Read By Type Request")                                                                                    \
    X(0x09, "Read By Type Response")                                                                                   \
    X(0x0A, "Read Request")                                                                                            \
    X(0x0B, "Read Response")                                                                                           \
    X(0x0C, "Read Blob Request")                                                                                       \
    X(0x0D, "Read Blob Response")                                                                                      \
    X(0x0E, "Read Multiple Request")                                                                                   \
    X(0x0F, "Read Multiple Response")                                                                                  \
    X(0x10, "Read By Group Type Request")                                                                              \
    X(0x11, "Read By Group Type Response")                                                                             \
    X(0x12, "Write Request")                                                                                           \
    X(0x13, "Write Response")                                                                                          \
    X(0x16, "Prepare Write Request")                                                                                   \
    X(0x17, "Prepare Write Response")                                                                                  \
    X(0x18, "Execute Write Request")                                                                                   \
    X(0x19, "Execute Write Response")                                                                                  \
    X(0x1B, "Handle Value Notification")                                                                               \
    X(0x1D, "Handle Value Indication")                                                                                 \
    X(0x1E, "Handle Value Confirmation")                                                                               \
    X(0x20, "Read Multiple Variable Request")                                                                          \
    X(0x21, "Read Multiple Variable Response")                                                                         \
    X(0x23, "Multiple Handle Value Notification")                                                                      \
    X(0x52, "Write Command")                                                                                           \
    X(0xD2, "Signed Write Command")

/* Assigned Numbers 2.3, Common Data Types. */
#define AD_TYPES(X)                                                                                                    \
    X(0x01, "Flags")                                                                                                   \
    X(0x02, "Incomplete List of 16-bit Service UUIDs")                                                                 \
    X(0x03, "Complete List of 16-bit Service UUIDs")                                                                   \
    X(0x04, "Incomplete List of 32-bit Service UUIDs")                                                                 \
    X(0x05, "Complete List of 32-bit Service UUIDs")                                                                   \
    X(0x06, "Incomplete List of 128-bit Service UUIDs")                                                                \
    X(0x07, "Complete List of 128-bit Service UUIDs")                                                                  \
    X(0x08, "Shortened Local Name")                                                                                    \
    X(0x09, "Complete Local Name")                                                                                     \
    X(0x0A, "TX Power Level")                                                                                          \
    X(0x0D, "Class of Device")                                                                                         \
    X(0x0E, "Simple Pairing Hash C-192")                                                                               \
    X(0x0F, "Simple Pairing Randomizer R-192")                                                                         \
    X(0x10, "Device ID")                                                                                               \
    X(0x11, "Security Manager Out of Band Flags")                                                                      \
    X(0x12, "Peripheral Connection Interval Range")                                                                    \
    X(0x14, "List of 16-bit Solicitation UUIDs")                                                                       \
    X(0x15, "List of 128-bit Solicitation UUIDs")                                                                      \
    X(0x16, "Service Data - 16-bit UUID")                                                                              \
    X(0x17, "Public Target Address")                                                                                   \
    X(0x18, "Random Target Address")                                                                                   \
    X(0x19, "Appearance")                                                                                              \
    X(0x1A, "Advertising Interval")                                                                                    \
    X(0x1B, "LE Bluetooth Device Address")                                                                             \
    X(0x1C, "LE Role")                                                                                                 \
    X(0x1D, "Simple Pairing Hash C-256")                                                                               \
    X(0x1E, "Simple Pairing Randomizer R-256")                                                                         \
    X(0x1F, "List of 32-bit Solicitation UUIDs")                                                                       \
    X(0x20, "Service Data - 32-bit UUID")                                                                              \
    X(0x21, "Service Data - 128-bit UUID")                                                                             \
    X(0x22, "LE Secure Connections Confirmation Value")                                                                \
    X(0x23, "LE Secure Connections Random Value")                                                                      \
    X(0x24, "URI")                                                                                                     \
    X(0x25, "Indoor Positioning")                                                                                      \
    X(0x26, "Transport Discovery Data")                                                                                \
    X(0x27, "LE Supported Features")                                                                                   \
    X(0x28, "Channel Map Update Indication")                                                                           \
    X(0x29, "PB-ADV")                                                                                                  \
    X(0x2A, "Mesh Message")                                                                                            \
    X(0x2B, "Mesh Beacon")                                                                                             \
    X(0x2C, "BIGInfo")                                                                                                 \
    X(0x2D, "Broadcast_Code")                                                                                          \
    X(0x2E, "Resolvable Set Identifier")                                                                               \
    X(0x2F, "Advertising Interval - long")                                                                             \
    X(0x30, "Broadcast_Name")                                                                                          \
    X(0x31, "Encrypted Advertising Data")                                                                              \
    X(0x32, "Periodic Advertising Response Timing Information")                                                        \
    X(0x34, "Electronic Shelf Label")                                                                                  \
    X(0x3D, "3D Information Data")                                                                                     \
    X(0xFF, "Manufacturer Specific Data")

#define NUMBER(number, name) number,
#define NAME(number, name) name "\0"

static const uint16_t opcodes[] = {OPCODES(NUMBER)};
static const uint16_t ad_types[] = {AD_TYPES(NUMBER)};

static const char *known(const char *name) {
    return name != NULL ? name : "unknown";
}

const char *tendon_att_opcode_name(uint8_t opcode) {
    return known(tendon_packed_string(OPCODES(NAME), opcodes, sizeof opcodes / sizeof opcodes[0], opcode));
}

const char *tendon_ad_type_name(uint8_t type) {
    return known(tendon_packed_string(AD_TYPES(NAME), ad_types, sizeof ad_types / sizeof ad_types[0], type));
}
