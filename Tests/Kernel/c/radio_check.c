/* SPDX-License-Identifier: MIT */
/*
 * Tries the kernel's radio piece by piece. Runs in the virtual machine only.
 *   radio_check open|filter|list|probe ADAPTER
 *   radio_check scan|advertise|serve|connect|wearable|pair|hostile ADAPTER MILLISECONDS ...
 */
#include "radio_check.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/socket.h>

static void on_failure(void *context, tendon_status status, uint64_t now) {
    check *c = context;
    (void)now;
    c->failure = status;
    printf("failure %s\n", tendon_status_name(status));
    fflush(stdout);
    tendon_loop_stop(&c->loop);
}

void check_on_tick(void *context, uint64_t now) {
    (void)context;
    (void)now;
}

uint64_t check_no_deadline(const void *context) {
    (void)context;
    return UINT64_MAX;
}

static bool matches(const check *c, const tendon_ad_report *report) {
    tendon_ad_iterator iterator = tendon_ad_begin(report->data, report->length);
    tendon_ad_structure structure;
    bool name = false, service = false;
    while (tendon_ad_next(&iterator, &structure)) {
        if ((structure.type == 8 || structure.type == 9) && c->wanted_name != NULL) {
            name |= structure.length == strlen(c->wanted_name) &&
                    memcmp(structure.data, c->wanted_name, structure.length) == 0;
        }
        for (size_t i = 0; (structure.type == 2 || structure.type == 3) && i + 1 < structure.length; i += 2) {
            service |= (structure.data[i] | structure.data[i + 1] << 8) == c->wanted_service;
        }
    }
    return name || service;
}

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    check *c = context;
    (void)now;
    c->reports++;
    c->responses += (report->properties & TENDON_AD_SCAN_RESPONSE) != 0;
    if (!matches(c, report)) {
        return;
    }
    c->hits++;
    if (c->hits == 1 && c->print) {
        char text[TENDON_ADDRESS_STRING_SIZE];
        printf("found %s/%s properties 0x%02x rssi %d %s\n", tendon_address_format(&report->address, text),
               report->address.type == TENDON_ADDRESS_TYPE_PUBLIC ? "public" : "random", report->properties,
               report->rssi,
               (report->properties & TENDON_AD_SCAN_RESPONSE) != 0 ? "in the scan response" : "in the advertisement");
        if (tendon_address_is_resolvable(&report->private_address)) {
            printf("private address %s\n", tendon_address_format(&report->private_address, text));
        }
        fflush(stdout);
    }
    if (c->stop_when_found) {
        tendon_loop_stop(&c->loop);
    }
}

void check_open(check *c, const char *adapter, unsigned milliseconds) {
    memset(c, 0, sizeof *c);
    if (tendon_loop_init(&c->loop) < 0) {
        exit(1);
    }
    uint64_t before = tendon_monotonic_ms();
    /* "links:hci0": without the rights for more */
    bool unprivileged = strncmp(adapter, "links:", 6) == 0;
    const char *name = unprivileged ? adapter + 6 : strcmp(adapter, "any") == 0 ? NULL : adapter;
    tendon_status status = tendon_bluez_open_as(&c->radio, &c->loop, name,
                                                unprivileged ? TENDON_BLUEZ_CONNECTIONS_ONLY : TENDON_BLUEZ_SHARED);
    if (status < 0) {
        printf("open %s: %s\n", adapter, tendon_status_name(status));
        exit(3);
    }
    char text[TENDON_ADDRESS_STRING_SIZE];
    printf("open hci%u %s/%s %s scan, %s advertising, %lu ms\n", c->radio.index,
           tendon_address_format(&c->radio.radio.address, text),
           c->radio.radio.address.type == TENDON_ADDRESS_TYPE_PUBLIC ? "public" : "random",
           c->radio.extended_scan ? "extended" : "legacy", c->radio.extended_advertising ? "extended" : "legacy",
           (unsigned long)(tendon_monotonic_ms() - before));
    const tendon_bluez_limits *limits = &c->radio.limits;
    printf("limits %u packets of %u bytes, %u peers, states 0x%016" PRIx64 "\n", limits->packets, limits->packet_length,
           limits->accept_list, limits->states);
    tendon_bluez_limits again; /* as `tendon doctor` reads them, beside a program that uses the adapter */
    status = unprivileged ? TENDON_OK : tendon_bluez_read_limits(c->radio.index, &again);
    if (status < 0 ||
        (!unprivileged && (again.packets != limits->packets || again.packet_length != limits->packet_length ||
                           again.accept_list != limits->accept_list || again.states != limits->states))) {
        printf("limits differ: %s\n", tendon_status_name(status));
    }
    fflush(stdout);
    c->radio.radio.report_context = c;
    c->radio.radio.on_report = on_report;
    c->radio.radio.on_failure = on_failure;
    c->until = tendon_monotonic_ms() + milliseconds;
}

_Noreturn void check_end(check *c, bool good) {
    tendon_radio_close(&c->radio.radio);
    tendon_loop_close(&c->loop);
    exit(good ? 0 : 1);
}

check_holdings check_count_holdings(void) {
    check_holdings h = {0};
    unsigned long size = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%lu %lu", &size, &h.pages) != 2) {
        h.pages = 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    DIR *directory = opendir("/proc/self/fd");
    while (directory != NULL && readdir(directory) != NULL) {
        h.descriptors++;
    }
    if (directory != NULL) {
        closedir(directory);
    }
    return h;
}

tendon_status check_scan_start(check *c) {
    const tendon_scan_parameters parameters = {.active = true, .interval_ms = 60, .window_ms = 60};
    return tendon_radio_scan_start(&c->radio.radio, &parameters);
}

/** Flags and service 0xFDD2 in the advertisement, the name in the scan response only. */
tendon_status check_advertise_start(check *c, const char *name) {
    static const uint8_t data[] = {0x02, 0x01, 0x06, 0x03, 0x03, 0xD2, 0xFD};
    uint8_t response[31];
    size_t length = strlen(name);
    response[0] = (uint8_t)(length + 1);
    response[1] = 0x09;
    memcpy(response + 2, name, length);
    tendon_advertise_parameters parameters = {.data = data,
                                              .length = sizeof data,
                                              .scan_response = response,
                                              .scan_response_length = length + 2,
                                              .interval_ms = 30};
    return tendon_radio_advertise_start(&c->radio.radio, &parameters);
}

/** struct hci_filter as the kernel has it: types, events 0 to 31, events 32 to 63, opcode. */
static int run_filter(check *c) {
    static const uint8_t wanted[14] = {
        0x12, 0x00, 0x00,
        0x00, /* commands (1) and events (4) */
        0x20, 0xC1, 0x01,
        0x00, /* Disconnection Complete 5, Encryption Change 8, Command Complete 14 and Status 15,
                 Hardware Error 16 */
        0x00, 0x00, 0x00,
        0x40,      /* LE Meta 62 */
        0x00, 0x00 /* any opcode */
    };
    uint8_t kept[16] = {0};
    socklen_t size = sizeof kept;
    if (getsockopt(c->radio.hci.fd, 0 /* SOL_HCI */, 2 /* HCI_FILTER */, kept, &size) != 0) {
        perror("getsockopt");
        return 1;
    }
    for (size_t i = 0; i < sizeof wanted; i++) {
        printf("%02x%s", kept[i], i + 1 < sizeof wanted ? " " : "\n");
    }
    return memcmp(kept, wanted, sizeof wanted) != 0;
}

static int run_list(void) {
    tendon_bluez_adapter adapters[8];
    tendon_bluez_capabilities rights;
    char text[TENDON_ADDRESS_STRING_SIZE];
    tendon_status count = tendon_bluez_list(adapters, 8);
    for (int i = 0; i < count && i < 8; i++) {
        printf("%s %s%s%s%s version %u\n", adapters[i].name, tendon_address_format(&adapters[i].address, text),
               adapters[i].low_energy ? " le" : "", adapters[i].powered ? " powered" : "",
               adapters[i].blocked ? " blocked" : "", adapters[i].version);
    }
    tendon_bluez_get_capabilities(&rights);
    printf("%s%s%s other sockets %u\n", rights.kernel_support ? "kernel" : "no kernel",
           rights.net_raw ? " net_raw" : "", rights.net_admin ? " net_admin" : "", rights.other_sockets);
    return count < 0;
}

static bool is_mode(const char *mode, const char *name) {
    return mode != NULL && strcmp(mode, name) == 0;
}

static tendon_status scan_in_mode(check *c, const char *mode) {
    const bool coded = is_mode(mode, "coded"); /* an active one */
    const tendon_scan_parameters parameters = {.active = coded || is_mode(mode, "active"),
                                               .filter_duplicates = is_mode(mode, "filtered"),
                                               .interval_ms = 60,
                                               .window_ms = 60,
                                               .coded = coded};
    return tendon_radio_scan_start(&c->radio.radio, &parameters);
}

static void print_watchdog(const tendon_bluez_counters *counters) {
    printf("watchdog: %" PRIu64 " refreshes, %" PRIu64 " restarts, %" PRIu64 " power cycles\n",
           counters->scan_refreshes, counters->scan_restarts, counters->power_cycles);
}

/** scan ADAPTER MS active|passive|filtered|coded NAME|- SERVICE|- [BONDS]: 0 when it is found; "filtered" goes on then.
 */
static int run_scan(check *c, int argc, char **argv) {
    static tendon_bonds bonds;
    if (argc > 3 && !use_bonds(c, &bonds, argv[3])) {
        return 1;
    }
    c->wanted_name = argc > 1 && strcmp(argv[1], "-") != 0 ? argv[1] : NULL;
    c->wanted_service = (uint16_t)(argc > 2 && strcmp(argv[2], "-") != 0 ? strtoul(argv[2], NULL, 16) : 0);
    c->print = true;
    c->stop_when_found = argc == 0 || !is_mode(argv[0], "filtered");
    tendon_status status = scan_in_mode(c, argc > 0 ? argv[0] : NULL);
    if (status == TENDON_OK) {
        tendon_loop_run(&c->loop, c->until);
    }
    printf("scan %s: %u reports, %u scan responses, %lu malformed, %u found\n", tendon_status_name(status), c->reports,
           c->responses, (unsigned long)c->radio.radio.malformed, c->hits);
    print_watchdog(&c->radio.counters);
    return c->hits == 0 || c->failure != TENDON_OK;
}

static int run_advertise(check *c, int argc, char **argv) {
    tendon_status status = check_advertise_start(c, argc > 0 ? argv[0] : "Tendon");
    if (argc > 1) { /* a process that stands still: so long, longer than a command may take */
        uint64_t until = tendon_monotonic_ms() + strtoul(argv[1], NULL, 10);
        while (tendon_monotonic_ms() < until) {
        }
    }
    if (status == TENDON_OK) {
        tendon_loop_run(&c->loop, c->until);
    }
    return status != TENDON_OK || c->failure != TENDON_OK;
}

/** idle: keeps the radio open and prints failures. */
static int run_idle(check *c) {
    tendon_loop_run(&c->loop, c->until);
    return c->failure != TENDON_OK;
}

static tendon_loop capture_loop;

static void on_signal(int number) {
    (void)number;
    tendon_loop_wake(&capture_loop);
}

static void on_wake(void *context, uint64_t now) {
    (void)now;
    tendon_loop_stop(context);
}

/** capture FILE MS [h4]: all adapters, through the monitor channel, until SIGTERM at most MS. */
static int run_capture(int argc, char **argv) {
    static tendon_capture capture;
    static tendon_bluez_monitor monitor;
    uint32_t datalink = argc > 2 && strcmp(argv[2], "h4") == 0 ? TENDON_CAPTURE_H4 : TENDON_CAPTURE_MONITOR;
    tendon_status status = tendon_loop_init(&capture_loop);
    tendon_loop_on_wake(&capture_loop, on_wake, &capture_loop);
    signal(SIGTERM, on_signal);
    if (status == TENDON_OK) {
        status = tendon_capture_create(&capture, argv[0], datalink);
    }
    if (status == TENDON_OK) {
        status = tendon_bluez_monitor_open(&monitor, &capture_loop, &capture, NULL);
    }
    printf("capture: %s\n", tendon_status_name(status));
    fflush(stdout);
    if (status == TENDON_OK) {
        tendon_loop_run(&capture_loop, tendon_monotonic_ms() + strtoul(argv[1], NULL, 10));
        printf("lost %u\n", tendon_bluez_monitor_lost(&monitor));
        tendon_bluez_monitor_close(&monitor);
        status = tendon_capture_close(&capture);
        printf("records %lu\n", (unsigned long)monitor.records);
    }
    return status < 0;
}

int main(int argc, char **argv) {
    static check c;
    if (argc < 3) {
        fprintf(stderr, "usage: radio_check open|filter|list|scan|advertise|serve|connect|idle ADAPTER [MS ...]\n");
        return 2;
    }
    const char *what = argv[1];
    if (strcmp(what, "list") == 0) {
        return run_list();
    }
    if (strcmp(what, "capture") == 0 && argc > 3) {
        return run_capture(argc - 2, argv + 2);
    }
    check_open(&c, argv[2], argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0);
    int rest = argc > 4 ? argc - 4 : 0, result = 2;
    char **arguments = argv + 4;
    if (strcmp(what, "open") == 0) {
        result = 0;
    } else if (strcmp(what, "filter") == 0) {
        result = run_filter(&c);
    } else if (strcmp(what, "scan") == 0) {
        result = run_scan(&c, rest, arguments);
    } else if (strcmp(what, "advertise") == 0) {
        result = run_advertise(&c, rest, arguments);
    } else if (strcmp(what, "idle") == 0) {
        result = run_idle(&c);
    } else if (strcmp(what, "wishes") == 0) {
        result = run_wishes(&c, rest, arguments);
    } else if (strcmp(what, "serve") == 0) {
        result = run_serve(&c, rest, arguments);
    } else if (strcmp(what, "connect") == 0) {
        result = run_connect(&c, rest, arguments);
    } else if (strcmp(what, "flow") == 0) {
        result = run_flow(&c, rest, arguments);
    } else if (strcmp(what, "cost") == 0) {
        result = run_cost(&c, rest, arguments);
    } else if (strcmp(what, "crowd") == 0) {
        result = run_crowd(&c);
    } else if (strcmp(what, "stall") == 0) {
        result = run_stall(&c, rest, arguments);
    } else if (strcmp(what, "second") == 0) {
        result = run_second(&c, rest, arguments);
    } else if (strcmp(what, "many") == 0) {
        result = run_many(&c, rest, arguments);
    } else if (strcmp(what, "background") == 0) {
        result = run_background(&c, rest, arguments);
    } else if (strcmp(what, "cycles") == 0) {
        result = run_cycles(&c, rest, arguments);
    } else if (strcmp(what, "wearable") == 0) {
        result = run_wearable(&c, rest, arguments);
    } else if (strcmp(what, "pair") == 0) {
        result = run_pair(&c, rest, arguments);
    } else if (strcmp(what, "keeper") == 0) {
        result = run_keeper(&c, rest, arguments);
    } else if (strcmp(what, "hostile") == 0) {
        result = run_hostile(&c, rest, arguments);
    }
    check_end(&c, result == 0);
}
