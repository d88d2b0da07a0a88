/* SPDX-License-Identifier: MIT */
/*
 * Codes that the Bluetooth Core Specification and the Linux kernel define: X(code, name, text). status_name.c and
 * status_text.c each use one column, so a program that never prints texts does not contain the texts.
 */
#ifndef TENDON_BASE_STATUS_LISTS_H
#define TENDON_BASE_STATUS_LISTS_H

/* Core Spec Vol 3 Part F 3.4.1.1 and Supplement Part B 1.2. */
#define TENDON_ATT_CODE_LIST(X)                                                                                        \
    X(0x01, INVALID_HANDLE, "the attribute handle is not valid on this server")                                        \
    X(0x02, READ_NOT_PERMITTED, "the attribute cannot be read")                                                        \
    X(0x03, WRITE_NOT_PERMITTED, "the attribute cannot be written")                                                    \
    X(0x04, INVALID_PDU, "the peer reported that the PDU is invalid")                                                  \
    X(0x05, INSUFFICIENT_AUTHENTICATION, "the attribute requires authentication; pair with the device")                \
    X(0x06, REQUEST_NOT_SUPPORTED, "the peer does not support the request")                                            \
    X(0x07, INVALID_OFFSET, "the offset is past the end of the attribute")                                             \
    X(0x08, INSUFFICIENT_AUTHORIZATION, "the attribute requires authorization")                                        \
    X(0x09, PREPARE_QUEUE_FULL, "too many prepared writes are queued")                                                 \
    X(0x0A, ATTRIBUTE_NOT_FOUND, "the peer has no such attribute in the range of handles")                             \
    X(0x0B, ATTRIBUTE_NOT_LONG, "the attribute cannot be read in parts")                                               \
    X(0x0C, ENCRYPTION_KEY_SIZE_TOO_SHORT, "the encryption key of the connection is too short")                        \
    X(0x0D, INVALID_ATTRIBUTE_VALUE_LENGTH, "the length of the value is wrong for the attribute")                      \
    X(0x0E, UNLIKELY_ERROR, "the peer reported Unlikely Error (0x0E)")                                                 \
    X(0x0F, INSUFFICIENT_ENCRYPTION, "the attribute requires encryption; pair with the device")                        \
    X(0x10, UNSUPPORTED_GROUP_TYPE, "the attribute type is not a grouping type")                                       \
    X(0x11, INSUFFICIENT_RESOURCES, "the peer has insufficient resources")                                             \
    X(0x12, DATABASE_OUT_OF_SYNC, "the attribute table of the peer changed; discover it again")                        \
    X(0x13, VALUE_NOT_ALLOWED, "the value is not allowed")                                                             \
    X(0xFC, WRITE_REQUEST_REJECTED, "the peer rejected the write")                                                     \
    X(0xFD, CCCD_IMPROPERLY_CONFIGURED,                                                                                \
      "the client characteristic configuration descriptor is not configured as required")                              \
    X(0xFE, PROCEDURE_ALREADY_IN_PROGRESS, "the procedure is already in progress")                                     \
    X(0xFF, OUT_OF_RANGE, "the value is out of range")

/* Core Spec Vol 1 Part F 1.3: the codes that an LE controller can report. */
#define TENDON_HCI_CODE_LIST(X)                                                                                        \
    X(0x01, UNKNOWN_COMMAND, "the controller does not know the HCI command")                                           \
    X(0x02, UNKNOWN_CONNECTION, "the connection does not exist")                                                       \
    X(0x03, HARDWARE_FAILURE, "the controller reported a hardware failure")                                            \
    X(0x05, AUTHENTICATION_FAILURE, "authentication failed")                                                           \
    X(0x06, KEY_MISSING, "the PIN or key is missing; pair again")                                                      \
    X(0x07, MEMORY_EXCEEDED, "the memory of the controller is exhausted")                                              \
    X(0x08, CONNECTION_TIMEOUT, "the connection was lost (supervision timeout)")                                       \
    X(0x09, CONNECTION_LIMIT, "the maximum number of connections is reached")                                          \
    X(0x0B, CONNECTION_EXISTS, "the connection already exists")                                                        \
    X(0x0C, COMMAND_DISALLOWED, "the controller does not allow the command in its present state")                      \
    X(0x0D, REJECTED_RESOURCES, "the connection was rejected due to limited resources")                                \
    X(0x11, UNSUPPORTED_FEATURE, "the controller does not support the feature or parameter value")                     \
    X(0x12, INVALID_PARAMETERS, "the parameters of the HCI command are invalid")                                       \
    X(0x13, REMOTE_USER_TERMINATED, "the peer disconnected")                                                           \
    X(0x14, REMOTE_LOW_RESOURCES, "the peer disconnected due to low resources")                                        \
    X(0x15, REMOTE_POWER_OFF, "the peer disconnected because it powers off")                                           \
    X(0x16, LOCAL_HOST_TERMINATED, "the local host disconnected")                                                      \
    X(0x18, PAIRING_NOT_ALLOWED, "the peer does not allow pairing")                                                    \
    X(0x1A, UNSUPPORTED_REMOTE_FEATURE, "the peer does not support the feature")                                       \
    X(0x1E, INVALID_LL_PARAMETERS, "the LMP or LL parameters are invalid")                                             \
    X(0x1F, UNSPECIFIED_ERROR, "the controller reported an unspecified error")                                         \
    X(0x20, UNSUPPORTED_LL_PARAMETER, "the LMP or LL parameter value is not supported")                                \
    X(0x22, LL_RESPONSE_TIMEOUT, "the peer did not send an LMP or LL response in time")                                \
    X(0x23, LL_COLLISION, "LMP or LL procedures collided")                                                             \
    X(0x25, ENCRYPTION_MODE_NOT_ACCEPTABLE, "the encryption mode is not acceptable")                                   \
    X(0x28, INSTANT_PASSED, "the instant of the LL procedure passed")                                                  \
    X(0x2A, DIFFERENT_TRANSACTION_COLLISION, "different LL transactions collided")                                     \
    X(0x2F, INSUFFICIENT_SECURITY, "the security of the connection is insufficient")                                   \
    X(0x30, PARAMETER_OUT_OF_RANGE, "a parameter is out of its mandatory range")                                       \
    X(0x38, HOST_BUSY_PAIRING, "the host is busy with another pairing")                                                \
    X(0x39, NO_SUITABLE_CHANNEL, "the connection was rejected because no suitable channel was found")                  \
    X(0x3A, CONTROLLER_BUSY, "the controller is busy")                                                                 \
    X(0x3B, UNACCEPTABLE_CONNECTION_PARAMETERS, "the connection parameters are not acceptable")                        \
    X(0x3C, ADVERTISING_TIMEOUT, "advertising reached its timeout")                                                    \
    X(0x3D, MIC_FAILURE, "the connection was lost because a message integrity check failed")                           \
    X(0x3E, CONNECTION_FAILED_TO_ESTABLISH, "the connection was not established")                                      \
    X(0x42, UNKNOWN_ADVERTISING_IDENTIFIER, "the advertising identifier is unknown")                                   \
    X(0x43, LIMIT_REACHED, "the limit of the operation is reached")                                                    \
    X(0x44, OPERATION_CANCELLED_BY_HOST, "the host cancelled the operation")                                           \
    X(0x45, PACKET_TOO_LONG, "the packet is too long")

/* Status of a command on the kernel's management socket. */
#define TENDON_MANAGEMENT_CODE_LIST(X)                                                                                 \
    X(0x01, UNKNOWN_COMMAND, "the kernel does not know the management command")                                        \
    X(0x02, NOT_CONNECTED, "the device is not connected")                                                              \
    X(0x03, FAILED, "the kernel reported a failure")                                                                   \
    X(0x04, CONNECT_FAILED, "the connection failed")                                                                   \
    X(0x05, AUTHENTICATION_FAILED, "authentication failed")                                                            \
    X(0x06, NOT_PAIRED, "the device is not paired")                                                                    \
    X(0x07, NO_RESOURCES, "the kernel has insufficient resources")                                                     \
    X(0x08, TIMEOUT, "the kernel reported a timeout")                                                                  \
    X(0x09, ALREADY_CONNECTED, "the device is already connected")                                                      \
    X(0x0A, BUSY, "the adapter is busy with another operation")                                                        \
    X(0x0B, REJECTED, "the kernel or the device rejected the operation")                                               \
    X(0x0C, NOT_SUPPORTED, "the adapter or the kernel does not support the operation")                                 \
    X(0x0D, INVALID_PARAMETERS, "the parameters of the management command are invalid")                                \
    X(0x0E, DISCONNECTED, "the device disconnected")                                                                   \
    X(0x0F, NOT_POWERED, "the adapter is powered off")                                                                 \
    X(0x10, CANCELLED, "the operation was cancelled")                                                                  \
    X(0x11, INVALID_INDEX, "the adapter does not exist")                                                               \
    X(0x12, RFKILLED, "rfkill blocks the adapter")                                                                     \
    X(0x13, ALREADY_PAIRED, "the device is already paired")                                                            \
    X(0x14, PERMISSION_DENIED, "permission was denied because a capability is missing")

#endif
