/* SPDX-License-Identifier: MIT */
/*
 * A controller behind a TCP port as an adapter of this machine: its HCI packets go to /dev/vhci, and back.
 *   bridge PORT
 * RootCanal makes a controller for each connection to its HCI port; over TCP packets have the form H4 (Core Spec Vol 4
 * Part A 2), of which /dev/vhci takes one in each write. One command never reaches it: RootCanal 1.10 lists Write
 * Authenticated Payload Timeout (Core Spec Vol 4 Part E 7.3.94), which the kernel sends after each encryption, and ends
 * when it comes; the answer is that of a controller without it. Ends when the controller closes the connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COMMAND = 1, ACL = 2, SCO = 3, EVENT = 4, ISO = 5 };
enum { WRITE_AUTHENTICATED_PAYLOAD_TIMEOUT = 0x0C7C, UNKNOWN_COMMAND = 0x01 };

static uint8_t stream[1 << 17];
static size_t filled;

_Noreturn static void fail(const char *what) {
    perror(what);
    exit(1);
}

/** Length of the packet at the start of @p bytes; 0: its header is not whole yet. */
static size_t packet_length(const uint8_t *bytes, size_t length) {
    switch (bytes[0]) {
    case COMMAND:
    case SCO:
        return length < 4 ? 0 : 4u + bytes[3];
    case EVENT:
        return length < 3 ? 0 : 3u + bytes[2];
    case ACL:
        return length < 5 ? 0 : 5u + (bytes[3] | (size_t)bytes[4] << 8);
    case ISO:
        return length < 5 ? 0 : 5u + (bytes[3] | ((size_t)bytes[4] & 0x3F) << 8);
    default:
        fprintf(stderr, "bridge: packet kind %u\n", bytes[0]);
        exit(1);
    }
}

static void to_kernel(int kernel, const uint8_t *packet, size_t length) {
    /* ENXIO: the adapter has just been switched off, and receives nothing. */
    if (write(kernel, packet, length) < 0 && errno != ENXIO) {
        fail("write to /dev/vhci");
    }
}

static void to_controller(int controller, const uint8_t *packet, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t sent = send(controller, packet + done, length - done, MSG_NOSIGNAL);
        if (sent < 0) {
            fail("send");
        }
        done += (size_t)sent;
    }
}

static void from_kernel(int kernel, int controller) {
    uint8_t packet[4096];
    ssize_t length = read(kernel, packet, sizeof packet);
    if (length < 0) {
        fail("read from /dev/vhci");
    }
    uint16_t opcode = length >= 4 ? (uint16_t)(packet[1] | packet[2] << 8) : 0;
    if (length > 0 && packet[0] == COMMAND && opcode == WRITE_AUTHENTICATED_PAYLOAD_TIMEOUT) {
        const uint8_t refusal[] = {EVENT, 0x0E, 4, 1, packet[1], packet[2], UNKNOWN_COMMAND};
        to_kernel(kernel, refusal, sizeof refusal);
    } else if (length > 0 && packet[0] <= ISO) { /* 0xFF: the kernel's own: the adapter has been made */
        to_controller(controller, packet, (size_t)length);
    }
}

/** @return false: the controller has closed the connection. */
static bool from_controller(int kernel, int controller) {
    ssize_t length = recv(controller, stream + filled, sizeof stream - filled, 0);
    if (length <= 0) {
        return false;
    }
    filled += (size_t)length;
    size_t start = 0;
    while (start < filled) {
        size_t whole = packet_length(stream + start, filled - start);
        if (whole == 0 || whole > filled - start) {
            break;
        }
        to_kernel(kernel, stream + start, whole);
        start += whole;
    }
    filled -= start;
    memmove(stream, stream + start, filled);
    return true;
}

int main(int argc, char **argv) {
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : 0)),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const uint8_t primary[] = {0xFF, 0x00};
    const int one = 1;
    int controller = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), kernel = open("/dev/vhci", O_RDWR | O_CLOEXEC);
    if (controller < 0 || kernel < 0 || connect(controller, (const struct sockaddr *)&address, sizeof address) < 0) {
        fail("bridge");
    }
    (void)setsockopt(controller, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (write(kernel, primary, sizeof primary) < 0) {
        fail("/dev/vhci");
    }
    for (;;) {
        struct pollfd ready[] = {{.fd = controller, .events = POLLIN}, {.fd = kernel, .events = POLLIN}};
        if (poll(ready, 2, -1) < 0) {
            fail("poll");
        }
        if (ready[1].revents != 0) {
            from_kernel(kernel, controller);
        }
        if (ready[0].revents != 0 && !from_controller(kernel, controller)) {
            return 0;
        }
    }
}
