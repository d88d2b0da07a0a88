/* SPDX-License-Identifier: MIT */
/*
 * tendon-gateway: every wearable in range as JSON lines, for routers and other small machines. One thread, no heap:
 * options, standard output and input, signals, exit status. The rest is tendon/fleet.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "input.h"
#include "osc.h"
#include "output.h"
#include "tendon/definition.h"
#include "tendon/fleet/fleet.h"
#include "tendon/linux/time.h"
#include "tendon/version.h"

/** As `tendon` has them. */
enum { DONE = 0, FAILED = 1, USAGE = 2, NO_RADIO = 3, NO_DEVICE = 4 };
enum { FINISH_MS = 5000, MESSAGE_SIZE = 512 };

static tendon_loop loop;
static tendon_fleet fleet;
static tendon_fleet_options options;
static output out;
static input in;
static osc sound;
static tendon_definition definitions[TENDON_FLEET_DEFINITIONS];
static struct {
    uint64_t run_ms; /**< 0: without end */
    bool is_version, is_help;
} chosen;
static volatile sig_atomic_t signals;

/** On standard error; a reader that does not read it delays nothing that matters: there are few of these. */
__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...) {
    char text[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text - 1, format, arguments);
    va_end(arguments);
    size_t size = length < 0 ? 0 : (size_t)length < sizeof text - 1 ? (size_t)length : sizeof text - 2;
    for (size_t i = 0; i < size; i++) {
        text[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7F ? '?' : text[i];
    }
    text[size] = '\n';
    (void)!write(STDERR_FILENO, text, size + 1);
}

/* ---- options ---- */

static void print_option(const char *name, const char *value, const char *help) {
    char left[40];
    snprintf(left, sizeof left, "--%s%s%s", name, value != NULL ? " " : "", value != NULL ? value : "");
    printf("  %-30s %s\n", left, help);
}

static void print_presets(void) {
    const tendon_osc_preset *preset;
    printf("\nPresets of --osc; without one it is raw, and HOST:PORT/PRESET/DEVICE is of one device:\n");
    for (size_t i = 0; (preset = tendon_osc_preset_at(i)) != NULL; i++) {
        printf("  %-30s %s\n", preset->name, preset->summary);
    }
    printf("  %-30s %s\n", "custom", "an address and a map of your own");
}

static void print_help(void) {
    tendon_fleet_option option;
    printf("tendon-gateway " TENDON_VERSION "\n"
           "Usage: tendon-gateway [OPTION]...\n\n"
           "Connects to the wearables in range and prints their events as JSON lines, which docs/events.md describes.\n"
           "Connects again when a connection is lost, and waits for a Bluetooth adapter.\n"
           "Reads actions from standard input, one JSON object per line: address, action, arguments.\n\nOptions:\n");
    for (size_t i = 0; tendon_fleet_option_at(i, &option); i++) {
        print_option(option.name, option.value, option.help);
    }
    for (size_t i = 0; osc_option_at(i, &option); i++) {
        print_option(option.name, option.value, option.help);
    }
    print_option("define", "FILE", "serve the devices that this device file describes; can be repeated");
    print_option("for", "SECONDS", "end after this time: 90, 500ms, 2min");
    print_option("help", NULL, "print this text");
    print_option("version", NULL, "print the version");
    print_presets();
    printf("\nExamples:\n"
           "  tendon-gateway | mosquitto_pub -l -t wearables       publish all events to an MQTT broker\n"
           "  tendon-gateway --families bose --sensors all --period 40\n"
           "  tendon-gateway --sensors game_rotation --osc 192.168.1.20:7000/iem >/dev/null\n"
           "  (sleep 9; echo '{\"address\":\"C4:00:00:00:00:01\",\"action\":\"led\",\"arguments\":[\"on\"]}') |\n"
           "      tendon-gateway                                  an action, when the grip is connected\n\n"
           "Exit status: 0 a device was connected, 1 no device could be connected or an output failed, 2 the command "
           "line\nis wrong, 3 there is no radio, 4 no device was found.\n");
}

/** Device files. */
static bool define(const char *path) {
    static tendon_definition_scratch scratch;
    static char text[TENDON_DEFINITION_FILE_MAX + 1];
    tendon_definition_mistake mistake;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        complain("tendon-gateway: %s: %s", path, strerror(errno));
        return false;
    }
    size_t length = 0;
    ssize_t count = 1;
    errno = EFBIG;
    while (count > 0 && length < sizeof text) {
        count = read(file, text + length, sizeof text - length);
        length += count > 0 ? (size_t)count : 0;
    }
    bool is_read = count == 0 && length < sizeof text;
    int number = errno;
    close(file);
    if (!is_read || options.definition_count == TENDON_FLEET_DEFINITIONS) {
        complain("tendon-gateway: %s: %s", path, is_read ? "too many device files" : strerror(number));
        return false;
    }
    tendon_definition *definition = &definitions[options.definition_count];
    if (tendon_definition_parse(text, length, definition, &scratch, &mistake) < 0) {
        complain("tendon-gateway: %s:%u:%u: %s", path, (unsigned)mistake.line, (unsigned)mistake.column, mistake.text);
        return false;
    }
    tendon_status status = tendon_fleet_options_define(&options, definition);
    if (status < 0) {
        complain("tendon-gateway: %s: %s", path,
                 status == TENDON_ERROR_MALFORMED ? "its 'find' means devices that a file before it means as well"
                                                  : "there is a family of this name");
    }
    return status >= 0;
}

/** A number with three decimals at most, in thousandths. Returns what follows it; NULL: there is none. */
static const char *read_number(const char *text, uint64_t *thousandths) {
    uint64_t place = 1000;
    bool has_point = false;
    *thousandths = 0;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !has_point); text++) {
        if (*text == '.') {
            has_point = true;
        } else if (place == 0 || *thousandths > UINT32_MAX * UINT64_C(100)) {
            return NULL;
        } else if (has_point) {
            place /= 10;
            *thousandths += place * (uint64_t)(*text - '0');
        } else {
            *thousandths = *thousandths * 10 + 1000 * (uint64_t)(*text - '0');
        }
    }
    return text;
}

/** Seconds, or a number with a unit: those of `tendon run`. */
static bool set_duration(const char *value) {
    static const struct {
        const char *name;
        uint32_t ms;
    } units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"min", 60000}, {"m", 60000}, {"h", 3600000}};
    uint64_t thousandths = 0;
    const char *unit = value != NULL ? read_number(value, &thousandths) : NULL;
    for (size_t i = 0; unit != NULL && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i].name) == 0) {
            chosen.run_ms = thousandths * units[i].ms / 1000;
            return chosen.run_ms > 0;
        }
    }
    return false;
}

/** Returns whether the option takes a value, or may. */
static bool has_value(const char *name) {
    tendon_fleet_option option;
    for (size_t i = 0; tendon_fleet_option_at(i, &option); i++) {
        if (strcmp(option.name, name) == 0) {
            return option.value != NULL;
        }
    }
    return strcmp(name, "define") == 0 || strcmp(name, "for") == 0 || strncmp(name, "osc", 3) == 0;
}

/** What is wrong with the value of an option, in words that follow its name. */
static const char *mistake_of(const char *name, const char *value) {
    static char text[TENDON_FLEET_MISTAKE_SIZE];
    if (strcmp(name, "for") == 0) {
        return "takes a time such as 90, 500ms, 2min or 1h";
    }
    if (strcmp(name, "define") == 0) {
        return "takes the path of a device file";
    }
    tendon_fleet_option_mistake(name, value, text);
    return text;
}

static bool set_option(const char *name, const char *value) {
    if (strcmp(name, "define") == 0 && value != NULL) {
        return define(value);
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "version") == 0) {
        chosen.is_help = chosen.is_help || name[0] == 'h';
        chosen.is_version = chosen.is_version || name[0] == 'v';
        return true;
    }
    const char *mistake = NULL;
    tendon_status status = osc_set(&sound, name, value, &mistake);
    if (status == TENDON_ERROR_NOT_FOUND) {
        bool is_own = strcmp(name, "for") == 0 || strcmp(name, "define") == 0;
        status = !is_own               ? tendon_fleet_options_set(&options, name, value)
                 : set_duration(value) ? TENDON_OK
                                       : TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (mistake != NULL && status < 0) {
        complain("tendon-gateway: %s", mistake);
    } else if (status == TENDON_ERROR_NOT_FOUND) {
        complain("tendon-gateway: there is no option --%s; try: tendon-gateway --help", name);
    } else if (status < 0) {
        complain("tendon-gateway: --%s %s", name, mistake_of(name, value));
    }
    return status >= 0;
}

/** @param is_define the device files alone, whose names other options have; false: all options but these. */
static bool parse(int count, char **words, bool is_define) {
    char name[32] = "";
    for (int i = 1; i < count; i++) {
        const char *word = strcmp(words[i], "-h") == 0 ? "--help" : words[i];
        if (strncmp(word, "--", 2) != 0) {
            if (name[0] != '\0' && !set_option(name, NULL)) {
                return false; /* it is the value of an option that there is not */
            }
            complain("tendon-gateway: '%s' is no option; try: tendon-gateway --help", word);
            return false;
        }
        size_t length = strcspn(word + 2, "=");
        snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name - 1, word + 2);
        const char *value = word[2 + length] == '=' ? word + 3 + length : NULL;
        /* That of --pair alone is optional: the next word is one only if it is a number. */
        bool is_optional = strcmp(name, "pair") == 0;
        if (value == NULL && has_value(name) && i + 1 < count &&
            (!is_optional || (words[i + 1][0] >= '0' && words[i + 1][0] <= '9'))) {
            value = words[++i];
        }
        bool is_alone = value == NULL;
        bool is_information = strcmp(name, "help") == 0 || strcmp(name, "version") == 0;
        if ((is_information || (strcmp(name, "define") == 0) == is_define) && !set_option(name, value)) {
            return false;
        }
        if (chosen.is_help || chosen.is_version) {
            return true;
        }
        name[0] = is_alone ? name[0] : '\0';
    }
    return true;
}

/* ---- lines ---- */

static bool on_line(void *context, const tendon_fleet_line *line) {
    (void)context;
    osc_take(&sound, line);
    return output_line(&out, line->text, line->length, line->is_sample);
}

/** The reader is gone: nobody needs the lines. */
static void on_output_end(void *context) {
    (void)context;
    tendon_fleet_end(&fleet);
}

/** Of the receivers of orientations, not of the device. */
static bool is_recenter(const tendon_request *request) {
    static const char name[] = "recenter";
    return osc_sends_orientations(&sound) && request->length == sizeof name - 1 &&
           memcmp(request->action, name, sizeof name - 1) == 0;
}

/** @return why it failed; NULL: it did not. */
static const char *recenter(const tendon_request *request) {
    return osc_recenter(&sound, &request->address) ? NULL : "no orientation of this device was received";
}

static void on_request(void *context, const char *line, size_t length) {
    tendon_request request = {.has_address = false};
    tendon_act_mistake mistake = {.text = "the line is longer than 1024 bytes"};
    (void)context;
    bool is_request = line != NULL && tendon_request_parse(line, length, &request, &mistake) >= 0;
    if (is_request && !is_recenter(&request)) {
        (void)tendon_fleet_act(&fleet, &request.address, request.action, request.length);
    } else {
        tendon_fleet_acted(&fleet, request.has_address ? &request.address : NULL, request.action, request.length,
                           is_request ? recenter(&request) : mistake.text);
    }
}

/* ---- the run ---- */

static void on_signal(int number) {
    (void)number;
    signals++;
    tendon_loop_wake(&loop);
}

static void on_wake(void *context, uint64_t now) {
    (void)context;
    (void)now;
    if (signals > 0) {
        tendon_fleet_end(&fleet);
    }
}

static void watch_signals(void) {
    struct sigaction action = {.sa_handler = on_signal}, before = {0};
    tendon_loop_on_wake(&loop, on_wake, NULL);
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, NULL, &before);
    if (before.sa_handler != SIG_IGN) { /* nohup(1) ignores it */
        sigaction(SIGHUP, &action, NULL);
    }
}

/** Until the end was asked for, and has come. */
static void run(void) {
    uint64_t until = chosen.run_ms == 0 ? UINT64_MAX : tendon_monotonic_ms() + chosen.run_ms;
    while (!tendon_fleet_has_ended(&fleet)) {
        if (tendon_loop_step(&loop, until) < 0) {
            break;
        }
        if (tendon_monotonic_ms() >= until) {
            until = UINT64_MAX;
            tendon_fleet_end(&fleet);
        }
        if (signals > 1) {
            break; /* asked twice: without the sessions */
        }
    }
}

static void report_sound(const char *text) {
    complain("tendon-gateway: %s", text);
}

/** As `tendon run` has it. */
static int exit_status(bool was_open, bool is_unread) {
    if (is_unread) {
        return DONE; /* its reader has seen enough */
    }
    if (!was_open) {
        return NO_RADIO;
    }
    if (fleet.counters.found == 0 && fleet.counters.connected == 0) {
        if (signals == 0) {
            complain("tendon-gateway: no device was found");
        }
        return NO_DEVICE;
    }
    return fleet.counters.connected > 0 ? DONE : FAILED;
}

static int serve(void) {
    char text[TENDON_FLEET_MISTAKE_SIZE];
    const char *mistake =
        tendon_fleet_options_mistake(&options, text) ? text : osc_open(&sound, &options, report_sound);
    if (mistake != NULL) {
        complain("tendon-gateway: %s", mistake);
        return USAGE;
    }
    signal(SIGPIPE, SIG_IGN); /* the opening writes lines, too */
    signal(SIGXFSZ, SIG_IGN); /* a limit of the size of files is a full disk */
    signal(SIGTTIN, SIG_IGN); /* in the background of a shell, where the input is the shell's, read() fails */
    output_open(&out, &loop, STDOUT_FILENO, on_output_end, NULL);
    tendon_status status = tendon_fleet_open(&fleet, &loop, &options, on_line, NULL);
    if (status < 0) {
        bool is_of_file = options.is_virtual && TENDON_STATUS_LAYER(status) == TENDON_LAYER_SYSTEM;
        complain("tendon-gateway: no radio: %s (%s)%s", tendon_status_text(status), tendon_status_name(status),
                 is_of_file ? "; the virtual radio needs the directory $XDG_RUNTIME_DIR" : "");
        return status == TENDON_ERROR_INVALID_ARGUMENT ? USAGE : NO_RADIO;
    }
    watch_signals();
    input_open(&in, &loop, STDIN_FILENO, on_request, NULL);
    run();
    bool was_open = tendon_fleet_was_open(&fleet);
    bool is_unread = out.error == EPIPE;
    input_close(&in);
    tendon_fleet_summarize(&fleet);
    tendon_fleet_close(&fleet);
    osc_close(&sound);
    size_t lost = output_finish(&out, FINISH_MS);
    if (out.error != 0 && out.error != EPIPE) {
        complain("tendon-gateway: standard output: %s", strerror(out.error));
        return FAILED;
    }
    if (lost > 0) {
        complain("tendon-gateway: standard output was not read: %zu bytes are lost", lost);
        return FAILED;
    }
    return exit_status(was_open, is_unread);
}

/** Of the standard descriptors: one that is closed would be the next file that is opened. */
static bool take_descriptors(void) {
    bool has_output = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)!open("/dev/null", O_RDWR); /* the lowest one that is free */
        }
    }
    return has_output;
}

int main(int count, char **words) {
    if (!take_descriptors()) {
        complain("tendon-gateway: standard output is closed: >/dev/null for none");
        return FAILED;
    }
    tendon_fleet_options_init(&options);
    if (!parse(count, words, true) || !parse(count, words, false)) {
        return USAGE;
    }
    if (chosen.is_help || chosen.is_version) {
        chosen.is_help ? print_help() : (void)printf("tendon-gateway " TENDON_VERSION "\n");
        if (fflush(stdout) != 0) {
            complain("tendon-gateway: standard output: %s", strerror(errno));
            return FAILED;
        }
        return DONE;
    }
    tendon_status status = tendon_loop_init(&loop);
    if (status < 0) {
        complain("tendon-gateway: %s", tendon_status_text(status));
        return FAILED;
    }
    int result = serve();
    tendon_loop_close(&loop);
    return result;
}
