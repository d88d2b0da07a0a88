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
#define NUMBER(number, name) number,
#define NAME(number, name) name "\0"

static const uint16_t opcodes[] = {OPCODES(NUMBER)};

const char *tendon_att_opcode_name(uint8_t opcode) {
    const char *name = tendon_packed_string(OPCODES(NAME), opcodes, sizeof opcodes / sizeof opcodes[0], opcode);
    return name != NULL ? name : "unknown";
}
