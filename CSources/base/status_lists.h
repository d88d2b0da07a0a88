/* SPDX-License-Identifier: MIT */
/*
 * Codes that others define: X(code, name, text). status_name.c and
 * status_text.c each take the column they need, so that a program which never
 * prints texts does not carry them.
 */
#ifndef TENDON_BASE_STATUS_LISTS_H
#define TENDON_BASE_STATUS_LISTS_H

/* Core Spec Vol 3 Part F 3.4.1.1 and Supplement Part B 1.2. */
#define TENDON_ATT_CODE_LIST(X)                                                                                        \
    X(0x01, INVALID_HANDLE, "the attribute handle is not valid on this server")                                        \
    X(0x02, READ_NOT_PERMITTED, "the attribute cannot be read")                                                        \
    X(0x03, WRITE_NOT_PERMITTED, "the attribute cannot be written")                                                    \
    X(0x04, INVALID_PDU, "the peer found the PDU invalid")                                                             \
    X(0x05, INSUFFICIENT_AUTHENTICATION, "the attribute needs authentication: pair with the device")                   \
    X(0x06, REQUEST_NOT_SUPPORTED, "the peer does not support the request")                                            \
    X(0x07, INVALID_OFFSET, "the offset is past the end of the attribute")                                             \
    X(0x08, INSUFFICIENT_AUTHORIZATION, "the attribute needs authorization")                                           \
    X(0x09, PREPARE_QUEUE_FULL, "too many prepared writes are queued")                                                 \
    X(0x0A, ATTRIBUTE_NOT_FOUND, "no attribute is in the range")                                                       \
    X(0x0B, ATTRIBUTE_NOT_LONG, "the attribute cannot be read by parts")                                               \
    X(0x0C, ENCRYPTION_KEY_SIZE_TOO_SHORT, "the encryption key of the link is too short")                              \
    X(0x0D, INVALID_ATTRIBUTE_VALUE_LENGTH, "the length of the value is wrong for the attribute")                      \
    X(0x0E, UNLIKELY_ERROR, "the peer met an unlikely error")                                                          \
    X(0x0F, INSUFFICIENT_ENCRYPTION, "the attribute needs encryption: pair with the device")                           \
    X(0x10, UNSUPPORTED_GROUP_TYPE, "the attribute type is not a grouping one")                                        \
    X(0x11, INSUFFICIENT_RESOURCES, "the peer lacks the resources")                                                    \
    X(0x12, DATABASE_OUT_OF_SYNC, "the attribute table has changed: discover it again")                                \
    X(0x13, VALUE_NOT_ALLOWED, "the value is not allowed")                                                             \
    X(0xFC, WRITE_REQUEST_REJECTED, "the write was rejected")                                                          \
    X(0xFD, CCCD_IMPROPERLY_CONFIGURED, "the client characteristic configuration is not set as required")              \
    X(0xFE, PROCEDURE_ALREADY_IN_PROGRESS, "the procedure is under way already")                                       \
    X(0xFF, OUT_OF_RANGE, "the value is out of range")

/* Core Spec Vol 1 Part F 1.3: those that an LE controller or link can give. */
#define TENDON_HCI_CODE_LIST(X)                                                                                        \
    X(0x01, UNKNOWN_COMMAND, "unknown HCI command")                                                                    \
    X(0x02, UNKNOWN_CONNECTION, "unknown connection identifier")                                                       \
    X(0x03, HARDWARE_FAILURE, "hardware failure")                                                                      \
    X(0x05, AUTHENTICATION_FAILURE, "authentication failure")                                                          \
    X(0x06, KEY_MISSING, "PIN or key missing")                                                                         \
    X(0x07, MEMORY_EXCEEDED, "memory capacity exceeded")                                                               \
    X(0x08, CONNECTION_TIMEOUT, "the link was lost: supervision timeout")                                              \
    X(0x09, CONNECTION_LIMIT, "connection limit exceeded")                                                             \
    X(0x0B, CONNECTION_EXISTS, "the connection exists already")                                                        \
    X(0x0C, COMMAND_DISALLOWED, "command disallowed in the controller's present state")                                \
    X(0x0D, REJECTED_RESOURCES, "connection rejected: limited resources")                                              \
    X(0x11, UNSUPPORTED_FEATURE, "unsupported feature or parameter value")                                             \
    X(0x12, INVALID_PARAMETERS, "invalid HCI command parameters")                                                      \
    X(0x13, REMOTE_USER_TERMINATED, "the remote side ended the connection")                                            \
    X(0x14, REMOTE_LOW_RESOURCES, "the remote side ended the connection: low resources")                               \
    X(0x15, REMOTE_POWER_OFF, "the remote side ended the connection: power off")                                       \
    X(0x16, LOCAL_HOST_TERMINATED, "connection ended by the local host")                                               \
    X(0x18, PAIRING_NOT_ALLOWED, "pairing not allowed")                                                                \
    X(0x1A, UNSUPPORTED_REMOTE_FEATURE, "unsupported remote feature")                                                  \
    X(0x1E, INVALID_LL_PARAMETERS, "invalid LMP or LL parameters")                                                     \
    X(0x1F, UNSPECIFIED_ERROR, "unspecified error")                                                                    \
    X(0x20, UNSUPPORTED_LL_PARAMETER, "unsupported LMP or LL parameter value")                                         \
    X(0x22, LL_RESPONSE_TIMEOUT, "LMP or LL response timeout")                                                         \
    X(0x23, LL_COLLISION, "LMP or LL procedure collision")                                                             \
    X(0x25, ENCRYPTION_MODE_NOT_ACCEPTABLE, "encryption mode not acceptable")                                          \
    X(0x28, INSTANT_PASSED, "instant passed")                                                                          \
    X(0x2A, DIFFERENT_TRANSACTION_COLLISION, "different transaction collision")                                        \
    X(0x2F, INSUFFICIENT_SECURITY, "insufficient security")                                                            \
    X(0x30, PARAMETER_OUT_OF_RANGE, "parameter out of mandatory range")                                                \
    X(0x38, HOST_BUSY_PAIRING, "the host is busy pairing")                                                             \
    X(0x39, NO_SUITABLE_CHANNEL, "connection rejected: no suitable channel found")                                     \
    X(0x3A, CONTROLLER_BUSY, "controller busy")                                                                        \
    X(0x3B, UNACCEPTABLE_CONNECTION_PARAMETERS, "unacceptable connection parameters")                                  \
    X(0x3C, ADVERTISING_TIMEOUT, "advertising timeout")                                                                \
    X(0x3D, MIC_FAILURE, "connection ended: message integrity check failed")                                           \
    X(0x3E, CONNECTION_FAILED_TO_ESTABLISH, "the connection failed to be established")                                 \
    X(0x42, UNKNOWN_ADVERTISING_IDENTIFIER, "unknown advertising identifier")                                          \
    X(0x43, LIMIT_REACHED, "limit reached")                                                                            \
    X(0x44, OPERATION_CANCELLED_BY_HOST, "operation cancelled by the host")                                            \
    X(0x45, PACKET_TOO_LONG, "packet too long")

/* Status of a command on the kernel's management socket. */
#define TENDON_MANAGEMENT_CODE_LIST(X)                                                                                 \
    X(0x01, UNKNOWN_COMMAND, "the kernel does not know the command")                                                   \
    X(0x02, NOT_CONNECTED, "not connected")                                                                            \
    X(0x03, FAILED, "the kernel says: failed")                                                                         \
    X(0x04, CONNECT_FAILED, "the connection failed")                                                                   \
    X(0x05, AUTHENTICATION_FAILED, "authentication failed")                                                            \
    X(0x06, NOT_PAIRED, "not paired")                                                                                  \
    X(0x07, NO_RESOURCES, "no resources")                                                                              \
    X(0x08, TIMEOUT, "the kernel says: timeout")                                                                       \
    X(0x09, ALREADY_CONNECTED, "already connected")                                                                    \
    X(0x0A, BUSY, "the adapter is busy with another operation")                                                        \
    X(0x0B, REJECTED, "rejected")                                                                                      \
    X(0x0C, NOT_SUPPORTED, "the adapter or the kernel does not support it")                                            \
    X(0x0D, INVALID_PARAMETERS, "invalid parameters")                                                                  \
    X(0x0E, DISCONNECTED, "the device disconnected")                                                                   \
    X(0x0F, NOT_POWERED, "the adapter is powered off")                                                                 \
    X(0x10, CANCELLED, "cancelled")                                                                                    \
    X(0x11, INVALID_INDEX, "there is no such adapter")                                                                 \
    X(0x12, RFKILLED, "the adapter is switched off by rfkill")                                                         \
    X(0x13, ALREADY_PAIRED, "already paired")                                                                          \
    X(0x14, PERMISSION_DENIED, "permission denied: a capability is missing")

#endif
