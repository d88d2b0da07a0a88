/* SPDX-License-Identifier: MIT */
#include "tendon/tools/doctor.h"

#include "../linux/store/directory.h"
#include "../linux/virtual/radio.h"
#if defined(TENDON_HAVE_BLUEZ)
#include "tendon/bluez.h"
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* From the kernel's headers, so that this file needs none of libbluetooth's. */
enum { AF_BLUETOOTH_ = 31, PROTOCOL_HCI = 1, CAP_NET_ADMIN_BIT = 12, CAP_NET_RAW_BIT = 13 };

/** Entries of /proc and /sys looked at. */
#define ENTRIES_MAX 65536u

typedef struct examination {
    const char *root, *program;
    tendon_finding *finding;
    int directory_fd;
} examination;

const char *tendon_finding_name(tendon_finding_kind kind) {
    static const char *const names[TENDON_FINDING_COUNT] = {"kernel", "capabilities", "adapters",
                                                            "rfkill", "bluetoothd",   "virtual radio"};
    return (unsigned)kind < TENDON_FINDING_COUNT ? names[kind] : "unknown";
}

__attribute__((format(printf, 2, 3))) static void say(char out[TENDON_FINDING_TEXT_SIZE], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out, TENDON_FINDING_TEXT_SIZE, format, arguments);
    va_end(arguments);
}

static void lack(tendon_finding *finding, tendon_status status) {
    finding->state = TENDON_FINDING_LACKING;
    finding->status = status;
}

static int open_directory(const examination *state, const char *path) {
    char full[256];
    int length = snprintf(full, sizeof full, "%s%s", state->root, path);
    return length < (int)sizeof full ? open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static void each(examination *state, const char *path, bool (*visit)(void *context, const char *name)) {
    state->directory_fd = open_directory(state, path);
    if (state->directory_fd >= 0) {
        tendon_directory_each(state->directory_fd, ENTRIES_MAX, visit, state);
        close(state->directory_fd);
    }
}

/** True when the kernel makes Bluetooth sockets. Asking loads its module where that is possible. */
static bool kernel_has_bluetooth(const examination *state) {
    char path[256], text[8192];
    if (state->root[0] == '\0') {
        int fd = socket(AF_BLUETOOTH_, SOCK_RAW | SOCK_CLOEXEC, PROTOCOL_HCI);
        if (fd >= 0) {
            close(fd);
            return true;
        }
        return errno != EAFNOSUPPORT && errno != EPROTONOSUPPORT;
    }
    snprintf(path, sizeof path, "%s/proc/self/net/protocols", state->root);
    return tendon_directory_read(AT_FDCWD, path, text, sizeof text) > 0 && strstr(text, "\nHCI ") != NULL;
}

static void examine_kernel(examination *state, tendon_finding *finding) {
    if (kernel_has_bluetooth(state)) {
        say(finding->text, "the kernel makes Bluetooth sockets");
        return;
    }
    lack(finding, TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT);
    say(finding->text, "the kernel makes no Bluetooth sockets (module missing, or hidden from this container)");
    say(finding->remedy, "sudo modprobe bluetooth");
}

/** What the process has, by procfs. */
typedef struct capabilities {
    bool raw, admin;
} capabilities;

static capabilities effective_capabilities(const examination *state) {
    char path[256], text[8192];
    snprintf(path, sizeof path, "%s/proc/self/status", state->root);
    const char *line = tendon_directory_read(AT_FDCWD, path, text, sizeof text) > 0 ? strstr(text, "\nCapEff:") : NULL;
    unsigned long long effective = line != NULL ? strtoull(line + 8, NULL, 16) : 0;
    return (capabilities){(effective >> CAP_NET_RAW_BIT & 1) != 0, (effective >> CAP_NET_ADMIN_BIT & 1) != 0};
}

/** What the kernel's Bluetooth grants: capabilities of a user namespace count for nothing there. */
static capabilities granted_capabilities(const examination *state, capabilities effective) {
#if defined(TENDON_HAVE_BLUEZ)
    tendon_bluez_capabilities kernel;
    if (state->root[0] == '\0') {
        tendon_bluez_get_capabilities(&kernel);
        return kernel.kernel_support ? (capabilities){kernel.net_raw, kernel.net_admin} : effective;
    }
#else
    (void)state;
#endif
    return effective;
}

static void examine_capabilities(examination *state, tendon_finding *finding) {
    const capabilities has = effective_capabilities(state), may = granted_capabilities(state, has);
    if (may.raw && may.admin) {
        say(finding->text, "this process has cap_net_raw and cap_net_admin");
        return;
    }
    if ((has.raw && !may.raw) || (has.admin && !may.admin)) {
        lack(finding, TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
        say(finding->text, "this process has its capabilities in a user namespace only, and the kernel does not accept "
                           "them for Bluetooth (a container without root)");
        say(finding->remedy, "start the container as root, with --network host --cap-add NET_RAW,NET_ADMIN");
        return;
    }
    say(finding->text, "this process lacks %s%s%s%s", may.raw ? "" : "cap_net_raw (scan, advertise, capture)",
        may.raw || may.admin ? "" : " and ", may.admin ? "" : "cap_net_admin (switch an adapter on, pair)",
        may.raw ? "" : "; links to known addresses need neither");
    say(finding->remedy, "sudo setcap cap_net_raw,cap_net_admin+eip %s", state->program);
    if (may.raw) {
        finding->state = TENDON_FINDING_NOTE; /* sufficient if another program powers on the adapter */
    } else {
        lack(finding, TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    }
}

static bool visit_adapter(void *context, const char *name) {
    examination *state = context;
    tendon_finding *finding = state->finding;
    /* "hci0", but not "hci0:64", which is a connection */
    if (strncmp(name, "hci", 3) != 0 || name[3] == '\0' || name[3 + strspn(name + 3, "0123456789")] != '\0') {
        return true;
    }
    size_t used = strlen(finding->text);
    snprintf(finding->text + used, sizeof finding->text - used, "%s%.16s", finding->count == 0 ? "found " : ", ", name);
    finding->count++;
    return true;
}

#if defined(TENDON_HAVE_BLUEZ)
/** Adapters of this machine that exist and do not open. */
static void examine_usable(tendon_finding *finding) {
    tendon_bluez_adapter adapters[16];
    tendon_status count = tendon_bluez_list(adapters, 16);
    tendon_status worst = TENDON_OK;
    bool usable = false;
    for (int i = 0; i < count && i < 16; i++) {
        usable = usable || adapters[i].status >= 0;
        if (adapters[i].status < 0 && worst >= 0) {
            const size_t used = strlen(finding->text);
            worst = adapters[i].status;
            snprintf(finding->text + used, sizeof finding->text - used, "; %s: %s", adapters[i].name,
                     tendon_status_text(worst));
            say(finding->remedy, "sudo btmgmt --index %s %s", adapters[i].name,
                worst == TENDON_RADIO_ERROR_UNCONFIGURED ? "public-addr ADDRESS" : "power off");
        }
    }
    if (worst < 0 && usable) {
        finding->state = TENDON_FINDING_NOTE;
    } else if (worst < 0) {
        lack(finding, worst);
    }
}
#endif

static void examine_adapters(examination *state, tendon_finding *finding) {
    each(state, "/sys/class/bluetooth", visit_adapter);
    if (finding->count == 0) {
        lack(finding, TENDON_RADIO_ERROR_NO_ADAPTER);
        say(finding->text, "no Bluetooth adapter");
        say(finding->remedy, "plug one in, or use --radio virtual");
    }
#if defined(TENDON_HAVE_BLUEZ)
    if (finding->count > 0 && state->root[0] == '\0') {
        examine_usable(finding);
    }
#endif
}

static bool visit_switch(void *context, const char *name) {
    examination *state = context;
    tendon_finding *finding = state->finding;
    char path[96], type[16], soft[8], hard[8];
    if (strncmp(name, "rfkill", 6) != 0 || strlen(name) > 32) {
        return true;
    }
    snprintf(path, sizeof path, "%.32s/type", name);
    if (tendon_directory_read(state->directory_fd, path, type, sizeof type) < 0 || strcmp(type, "bluetooth") != 0) {
        return true;
    }
    snprintf(path, sizeof path, "%.32s/soft", name);
    bool is_soft = tendon_directory_read(state->directory_fd, path, soft, sizeof soft) > 0 && soft[0] == '1';
    snprintf(path, sizeof path, "%.32s/hard", name);
    bool is_hard = tendon_directory_read(state->directory_fd, path, hard, sizeof hard) > 0 && hard[0] == '1';
    if (!is_soft && !is_hard) {
        return true;
    }
    finding->count++;
    lack(finding, TENDON_RADIO_ERROR_RFKILL);
    if (is_hard) { /* reported first, because no command can unblock it */
        say(finding->text, "%.32s: switched off by a hardware switch", name);
        say(finding->remedy, "use the machine's wireless switch, or its firmware settings");
    } else if (finding->remedy[0] == '\0') {
        say(finding->text, "%.32s: switched off by software", name);
        say(finding->remedy, "rfkill unblock bluetooth");
    }
    return true;
}

static void examine_rfkill(examination *state, tendon_finding *finding) {
    each(state, "/sys/class/rfkill", visit_switch);
    if (finding->count == 0) {
        say(finding->text, "nothing switches Bluetooth off");
    }
}

static bool visit_process(void *context, const char *name) {
    examination *state = context;
    char path[48], comm[32];
    if (name[0] < '1' || name[0] > '9' || strlen(name) > 16) {
        return true;
    }
    snprintf(path, sizeof path, "%.16s/comm", name);
    if (tendon_directory_read(state->directory_fd, path, comm, sizeof comm) > 0 && strcmp(comm, "bluetoothd") == 0) {
        state->finding->count++;
        say(state->finding->text, "bluetoothd runs (process %.16s): it may scan and connect on the same adapter", name);
    }
    return true;
}

static void examine_daemon(examination *state, tendon_finding *finding) {
    each(state, "/proc", visit_process);
    if (finding->count == 0) {
        say(finding->text, "no bluetoothd runs; none is needed");
        return;
    }
    finding->state = TENDON_FINDING_NOTE;
    say(finding->remedy, "sudo systemctl stop bluetooth");
}

static void examine_directory(const char *directory, tendon_finding *finding) {
    char path[TENDON_VIRTUAL_PATH_SIZE];
    int length = tendon_virtual_directory(directory, path);
    if (length <= 0 || length >= TENDON_VIRTUAL_PATH_SIZE) {
        lack(finding, TENDON_ERROR_OVERFLOW);
        say(finding->text, "%s...: the path of the virtual radio's directory has %d bytes; 1 to %d are possible", path,
            length, TENDON_VIRTUAL_PATH_SIZE - 1);
        say(finding->remedy, "export XDG_RUNTIME_DIR=/run/user/$(id -u)");
        return;
    }
    struct stat state;
    if (lstat(path, &state) != 0) {
        char parent[TENDON_VIRTUAL_PATH_SIZE];
        snprintf(parent, sizeof parent, "%s", path);
        char *slash = strrchr(parent, '/');
        if (slash != NULL) {
            slash[slash == parent ? 1 : 0] = '\0';
        }
        if (errno == ENOENT && access(slash != NULL ? parent : ".", W_OK) == 0) {
            say(finding->text, "%s will be created", path);
        } else {
            lack(finding, TENDON_ERROR_FILE_PERMISSION);
            say(finding->text, "%s cannot be created", path);
            say(finding->remedy, "install -d -m 700 %s", path);
        }
    } else if (!S_ISDIR(state.st_mode) || state.st_uid != geteuid()) {
        lack(finding, TENDON_ERROR_FILE_PERMISSION);
        say(finding->text, "%s is not a directory of this user", path);
        say(finding->remedy, "export XDG_RUNTIME_DIR=/run/user/$(id -u)");
    } else if ((state.st_mode & 0077) != 0) {
        lack(finding, TENDON_ERROR_FILE_PERMISSION);
        say(finding->text, "%s is open to other users", path);
        say(finding->remedy, "chmod 700 %s", path);
    } else {
        say(finding->text, "%s is private to this user", path);
    }
}

void tendon_doctor_examine(const tendon_doctor_options *options, tendon_finding findings[TENDON_FINDING_COUNT]) {
    static void (*const examine[])(examination *, tendon_finding *) = {
        [TENDON_FINDING_KERNEL] = examine_kernel,     [TENDON_FINDING_CAPABILITIES] = examine_capabilities,
        [TENDON_FINDING_ADAPTERS] = examine_adapters, [TENDON_FINDING_RFKILL] = examine_rfkill,
        [TENDON_FINDING_DAEMON] = examine_daemon,
    };
    examination state = {.root = "", .program = "\"$(command -v tendon)\"", .directory_fd = -1};
    if (options != NULL) {
        state.root = options->root != NULL ? options->root : state.root;
        state.program = options->program != NULL ? options->program : state.program;
    }
    memset(findings, 0, TENDON_FINDING_COUNT * sizeof findings[0]);
    for (size_t i = 0; i < sizeof examine / sizeof examine[0]; i++) {
        findings[i].kind = (tendon_finding_kind)i;
        state.finding = &findings[i];
        examine[i](&state, &findings[i]);
    }
    findings[TENDON_FINDING_DIRECTORY].kind = TENDON_FINDING_DIRECTORY;
    examine_directory(options != NULL ? options->directory : NULL, &findings[TENDON_FINDING_DIRECTORY]);
}
