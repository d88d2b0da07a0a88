/* SPDX-License-Identifier: MIT */
/*
 * One end of an OGP/1 connection as a filter, for peers in other languages: sender, receiver and requests of the
 * library behind lines of text. Time is an argument. Each command is answered with lines of output and one last line,
 * ". DEADLINE" (in milliseconds, "-" for none).
 *
 *   C MTU                       a new connection          w HEX        a segment to send
 *   L FRAME_MAX WINDOW WINDOW   limits; own, the peer's   f HEX        a valid frame arrived (if no request was made)
 *   M TIME HEX                  sends a frame             d STATUS     a frame of M was acknowledged, or failed
 *   R TIME OPCODE HEX           makes a request           r STATUS HEX the end of a request, its response's payload
 *   S TIME HEX                  a segment arrived         v OPCODE HEX an event
 *   T TIME                      nothing but time          e STATUS     an error of a segment
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tendon/devices/obvious.h"

#define QUEUE 64

typedef struct queued {
    uint8_t bytes[TENDON_OBVIOUS_FRAME_MAX];
    size_t length;
} queued;

typedef struct asked {
    tendon_obvious_request request;
    uint8_t frame[TENDON_OBVIOUS_FRAME_MAX];
} asked;

typedef struct wire {
    tendon_obvious_receiver receiver;
    tendon_obvious_sender sender;
    tendon_obvious_requests requests;
    uint8_t memory[TENDON_OBVIOUS_RECEIVER_MEMORY];
    size_t mtu, frame_max;
    queued queue[QUEUE];
    size_t first, count;
    bool sending, asks; /* asks: frames belong to the requests */
    const uint8_t *message;
    size_t message_length;
} wire;

static wire end;

static void print_hex(const char *what, const uint8_t *bytes, size_t length) {
    printf("%s ", what);
    for (size_t i = 0; i < length; i++) {
        printf("%02x", bytes[i]);
    }
    putchar('\n');
}

static size_t read_hex(const char *text, uint8_t *out, size_t capacity) {
    size_t length = 0;
    unsigned byte;
    while (length < capacity && sscanf(text + 2 * length, "%2x", &byte) == 1) {
        out[length++] = (uint8_t)byte;
    }
    return length;
}

static void start_next(uint64_t now) {
    if (!end.sending && end.count > 0) {
        queued *item = &end.queue[end.first];
        end.sending = true;
        if (tendon_obvious_sender_start(&end.sender, item->bytes, item->length, end.mtu, now) < 0) {
            abort();
        }
    }
}

static tendon_status write_segment(void *context, const uint8_t *segment, size_t length) {
    (void)context;
    print_hex("w", segment, length);
    return TENDON_OK;
}

static void on_sent(void *context, tendon_status status, uint64_t now) {
    (void)context;
    if (status < 0) {
        tendon_obvious_receiver_reset(&end.receiver);
    }
    if (end.asks) {
        tendon_obvious_requests_sent(&end.requests, status, now);
        return;
    }
    printf("d %s\n", tendon_obvious_status_name(status));
    end.sending = false;
    end.first = (end.first + 1) % QUEUE;
    end.count = status < 0 ? 0 : end.count - 1;
    start_next(now);
}

static const tendon_obvious_sender_handler sender_handler = {write_segment, on_sent};

static bool on_message(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    (void)context;
    end.message = frame;
    end.message_length = length;
    if (end.asks) {
        return tendon_obvious_requests_message(&end.requests, frame, length, end.frame_max, now);
    }
    tendon_obvious_frame decoded;
    tendon_status status = tendon_obvious_decode_frame(frame, length, end.frame_max, &decoded);
    if (status < 0) {
        printf("e %s\n", tendon_obvious_status_name(status));
        return false;
    }
    print_hex("f", frame, length);
    return true;
}

static void on_error(void *context, tendon_status status) {
    (void)context;
    printf("e %s\n", tendon_obvious_status_name(status));
}

static void on_control(void *context, const tendon_obvious_control *control, uint64_t now) {
    (void)context;
    tendon_obvious_sender_control(&end.sender, control, now);
}

static void send_control(void *context, const uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE]) {
    (void)context;
    print_hex("w", control, TENDON_OBVIOUS_CONTROL_SIZE);
}

static const tendon_obvious_receiver_handler receiver_handler = {on_message, on_error, on_control, send_control};

static tendon_status start_frame(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    (void)context;
    return tendon_obvious_sender_start(&end.sender, frame, length, end.mtu, now);
}

static void cancel_frame(void *context) {
    (void)context;
    tendon_obvious_sender_cancel(&end.sender);
}

static void print_payload(const char *what) {
    size_t length = end.message_length - TENDON_OBVIOUS_FRAME_OVERHEAD;
    print_hex(what, end.message + TENDON_OBVIOUS_FRAME_HEADER, length);
}

static void on_event(void *context, uint8_t opcode, const tendon_obvious_payload *payload, uint64_t now) {
    (void)context, (void)payload, (void)now;
    char what[16];
    snprintf(what, sizeof what, "v %u", opcode);
    print_payload(what);
}

static const tendon_obvious_requests_handler requests_handler = {start_frame, cancel_frame, on_event};

static void on_response(void *context, tendon_obvious_request *request, const tendon_obvious_response *response,
                        uint64_t now) {
    (void)request, (void)now;
    char what[64];
    snprintf(what, sizeof what, "r %s", tendon_obvious_status_name(response->status));
    if (response->payload != NULL) {
        print_payload(what);
    } else {
        puts(what);
    }
    free(context);
}

static void connect_end(size_t mtu) {
    memset(&end, 0, sizeof end);
    end.mtu = mtu;
    end.frame_max = TENDON_OBVIOUS_FRAME_MAX;
    tendon_obvious_receiver_init(&end.receiver, end.memory, sizeof end.memory, &receiver_handler, NULL);
    tendon_obvious_receiver_set_mtu(&end.receiver, mtu);
    tendon_obvious_sender_init(&end.sender, &sender_handler, NULL);
    tendon_obvious_requests_init(&end.requests, &requests_handler, NULL);
}

static void send_frame(uint64_t now, const char *hex) {
    if (end.count == QUEUE) {
        abort();
    }
    queued *item = &end.queue[(end.first + end.count++) % QUEUE];
    item->length = read_hex(hex, item->bytes, sizeof item->bytes);
    start_next(now);
}

static void make_request(uint64_t now, uint8_t opcode, const char *hex) {
    asked *item = calloc(1, sizeof *item);
    if (item == NULL) {
        abort();
    }
    end.asks = true;
    item->request.opcode = opcode;
    item->request.frame = item->frame;
    item->request.payload_length =
        read_hex(hex, item->frame + TENDON_OBVIOUS_FRAME_HEADER, sizeof item->frame - TENDON_OBVIOUS_FRAME_OVERHEAD);
    item->request.on_done = on_response;
    item->request.context = item;
    if (tendon_obvious_requests_add(&end.requests, &item->request, now) < 0) {
        abort();
    }
}

static void segment_arrives(uint64_t now, const char *hex) {
    uint8_t bytes[1024];
    size_t length = read_hex(hex, bytes, sizeof bytes);
    tendon_obvious_receiver_segment(&end.receiver, bytes, length, now);
}

static void tick(uint64_t now) {
    tendon_obvious_receiver_tick(&end.receiver, now);
    tendon_obvious_sender_tick(&end.sender, now);
    tendon_obvious_requests_tick(&end.requests, now);
}

static void print_deadline(void) {
    uint64_t all[] = {tendon_obvious_receiver_deadline(&end.receiver), tendon_obvious_sender_deadline(&end.sender),
                      tendon_obvious_requests_deadline(&end.requests)};
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < 3; i++) {
        least = all[i] < least ? all[i] : least;
    }
    if (least == UINT64_MAX) {
        puts(". -");
    } else {
        printf(". %" PRIu64 "\n", least);
    }
}

int main(void) {
    static char line[20000];
    connect_end(23);
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = 0;
        char *rest = NULL;
        uint64_t first = strtoull(line + 1, &rest, 10);
        rest += *rest == ' ';
        switch (line[0]) {
        case 'C':
            connect_end((size_t)first);
            break;
        case 'L': {
            unsigned own = 0, peer = 0;
            if (sscanf(rest, "%u %u", &own, &peer) != 2) {
                return 2;
            }
            end.frame_max = (size_t)first;
            tendon_obvious_receiver_set_limits(&end.receiver, own, end.frame_max);
            tendon_obvious_sender_set_window(&end.sender, peer);
            break;
        }
        case 'M':
            send_frame(first, rest);
            break;
        case 'R': {
            unsigned long opcode = strtoul(rest, &rest, 10);
            make_request(first, (uint8_t)opcode, rest + (*rest == ' '));
            break;
        }
        case 'S':
            segment_arrives(first, rest);
            break;
        case 'T':
            tick(first);
            break;
        default:
            return 2;
        }
        print_deadline();
        fflush(stdout);
    }
    return 0;
}
