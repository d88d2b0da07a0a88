// SPDX-License-Identifier: MIT

/// Names of the opcodes of OGP/1, for people; the library itself prints none. A decoded payload has one of them.
package let ogpOpcodes: [UInt8: String] = [
    0x01: "HELLO", 0x02: "GET_DEVICE_INFO", 0x03: "PING", 0x04: "GET_NONCE", 0x05: "GET_TIME", 0x06: "SET_TIME",
    0x10: "FEATURE_STATUS", 0x11: "FEATURE_TOGGLE", 0x12: "FEATURE_COUNTER", 0x20: "XFER_BEGIN",
    0x21: "XFER_DATA", 0x22: "XFER_STATUS", 0x23: "XFER_END", 0x24: "XFER_ABORT", 0x30: "FW_ACTIVATE",
    0x31: "FW_CONFIRM", 0x32: "FW_STATE", 0x33: "REBOOT", 0x80: "EVT_FEATURE_CHANGED", 0x81: "EVT_REBOOTING",
    0x82: "EVT_XFER_PROGRESS", 0x83: "EVT_FW_TRIAL",
]
