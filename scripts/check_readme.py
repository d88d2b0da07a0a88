#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs and checks the code blocks of the README and of docs/, and the links of the index. docs/testing.md says what is checked of
each language, and lists the blocks that are not checked. Needs a release build of the command in $BUILD/swift/release, or in
$TENDON_BIN.

The pages of RUN have a scratch directory as home and as runtime directory each, so that they run at the same time.

- Their ```sh blocks are run by bash in the order of the page, with the command on PATH. A block that only consists of
  `tendon simulate ...` starts the devices of the page, which must run until its end; a page without one gets devices of
  all families. A block of `make` lines is checked against the Makefile instead: its targets are stages of their own.
- The ```sh blocks of other pages, and the ```console blocks, need a broker, an adapter or root: they are parsed by bash, and
  the command knows the words and options of each of its lines. A page has at most MOST_CONSOLE of the latter.
- The ```sh blocks of TUTORIALS run in one shell on a terminal, and a ```text block is to the letter what the block before it
  prints; `…` stands for what differs. A block that starts one of SERVERS has a terminal of its own: it goes on when it has
  printed its text, and the same server started again takes its place.
- The events of a page of a device must be in docs/events.md.
- ```swift blocks are checked by check_docs.py.
"""

import concurrent.futures
import contextlib
import fcntl
import functools
import json
import os
import pathlib
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import jsonschema

import page_blocks

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / ".build")).resolve()
COMMAND = pathlib.Path(os.environ.get("TENDON_BIN", BUILD / "swift/release")).resolve()
RUN = ["README.md", "docs/getting-started.md", "docs/c-tutorial.md", "docs/simulator.md", "docs/recipes.md",
       "docs/home-assistant.md"]
TUTORIALS = ["docs/device-files.md", "docs/obvious-tutorial.md"]
SERVERS = ("tendon simulate ", "~/tendon/examples/cloud/tendon-obvious-cloud ")
EVERY_FAMILY = "tendon simulate bose feelspace activ5 fjorden obvious --radio virtual"
# The warnings of meson.build. A program for users is one file: it declares nothing for others.
C_CHECK = ["gcc", "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wvla", "-Wstrict-prototypes",
           "-Wmissing-prototypes", "-Werror", "-Iinclude", "-DTENDON_HAVE_BLUEZ=1"]
MOST_CONSOLE = 3
BEFORE_COMMANDS = ("!", "do", "else", "env", "exec", "if", "sudo", "then", "time", "until", "while")


def events():
    """Members of each event, those of every line included."""
    text = (ROOT / "docs/events.md").read_text()
    common = {name for row in re.findall(r"^\| (`\w+`) \| ", text.split("## Conventions")[0], re.M)
              for name in re.findall(r"\w+", row)}
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| .* \|$", text.split("## All events")[1], re.M)
    return {name: common | set(re.findall(r"`(\w+)`", members + more)) for name, members, more in rows}


EVENTS = events()
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/events.schema.json").read_text()))
EXEMPT = page_blocks.exemptions()


@functools.cache
def c_problems(path):
    return subprocess.run([*C_CHECK, path], capture_output=True, text=True, cwd=ROOT).stderr


def shell_lines(block):
    """What is typed in a ```console block: the lines after a prompt, with those that continue them."""
    lines, continues = [], False
    for line in block.splitlines():
        if continues or line.startswith(("$ ", "# ")):
            lines.append(line if continues else line[2:])
            continues = line.endswith("\\")
    return "".join(line + "\n" for line in lines)


def commands_of_tendon(text):
    """The words behind `tendon` of each simple command in lines for a shell."""
    text = re.sub(r"<<-?'?(\w+)'?(.*\n)(?:.*\n)*?\1\n", r"\2", text.replace("\\\n", " "))
    text = re.sub(r"(^|\s)#.*", r"\1", text)
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    command, is_target = [], None
    for token in [*lexer, "\n"]:
        if re.fullmatch(r"[();<>|&\n]+", token):
            is_target = re.fullmatch("[<>&]*[<>][<>&]*", token)
            if is_target:
                continue
            while command and (command[0] in BEFORE_COMMANDS or re.match(r"\w+=", command[0])):
                del command[0]
            if command[:1] == ["tendon"]:
                yield command[1:]
            command = []
        elif is_target:
            is_target = None
        else:
            command.append(token)


def as_printed(text):
    """A pattern of an output: … is the rest of a line, or any number of lines."""
    lines = (re.escape(line).replace("…", ".*") + "\n" if line != "…" else "(?:.*\n)*" for line in text.splitlines())
    return re.compile("".join(lines))


class Terminal:
    """A shell on a terminal of its own, as a reader of a page has it."""

    END = "-- end of a block --\n"

    def __init__(self, environment):
        self.screen, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("4H", 24, 132, 0, 0))
        self.folder = environment["HOME"]
        self.shell = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=side, stderr=side, env=environment,
                                      cwd=self.folder, start_new_session=True)
        os.close(side)

    def run(self, block, expected):
        """What a block prints: to its end, or until it has printed what is expected."""
        path = pathlib.Path(self.folder, "block")
        path.write_text(block)
        self.shell.stdin.write(f". ./block </dev/null; echo '{self.END[:-1]}'\n".encode())
        self.shell.stdin.flush()
        data, output, until = b"", "", time.monotonic() + 60
        while time.monotonic() < until and not output.endswith(self.END):
            if expected and as_printed(expected).fullmatch(output):
                return output
            if select.select([self.screen], [], [], 1)[0]:
                try:
                    data += os.read(self.screen, 65536)
                except OSError:
                    break
                output = data.decode(errors="ignore").replace("\r\n", "\n")
        return output.removesuffix(self.END)

    def end(self):
        if self.shell.poll() is None:
            os.killpg(self.shell.pid, signal.SIGTERM)
            os.killpg(self.shell.pid, signal.SIGHUP)
            self.shell.wait(10)
            self.drain(time.monotonic() + 10)

    def drain(self, until):
        """A terminal ends with the last program that has it: the port of a server is free then."""
        while time.monotonic() < until:
            if select.select([self.screen], [], [], 1)[0]:
                try:
                    os.read(self.screen, 65536)
                except OSError:
                    return


class Page:
    """One page, its results, and its devices while it is checked."""

    def __init__(self, name):
        self.name = name
        self.text = (ROOT / name).read_text()
        self.blocks, self.problems = page_blocks.blocks_of(name, self.text)
        self.is_run = name in RUN or "devices/" in name
        self.results = []

    def report(self, good, text, detail=""):
        self.results.append((good, f"{self.name}: {text}", detail))

    def check(self):
        if self.name in TUTORIALS:
            self.check_tutorial()
        else:
            self.check_blocks()
        console = sum(block.language == "console" for block in self.blocks)
        self.report(console <= MOST_CONSOLE, f"{console} blocks of a terminal, at most {MOST_CONSOLE}")
        self.report(not self.problems, "each block is of a language that is checked", "\n".join(self.problems))

    def check_tutorial(self):
        with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as at_end:
            pathlib.Path(home, "tendon").symlink_to(ROOT)
            runtime = pathlib.Path(home, "run")
            runtime.mkdir(0o700)
            own = {name: value for name, value in os.environ.items() if not name.startswith(("TENDON_", "XDG_"))}
            environment = dict(own, XDG_RUNTIME_DIR=str(runtime), HOME=home, NO_COLOR="1", TERM="dumb",
                               PATH=f"{COMMAND}:{own['PATH']}")
            shell, servers = Terminal(environment), {}
            at_end.callback(shell.end)
            for before, block, after in zip([None, *self.blocks], self.blocks, [*self.blocks[1:], None]):
                if block.language == "text" and before and before.language == "sh":
                    continue
                if block.language != "sh":
                    self.report(False, f"line {block.line}: lines for a shell, or what they print", block.text)
                    break
                expected = after.text if after and after.language == "text" else ""
                server = next(filter(block.text.startswith, SERVERS), None)
                if server:
                    if server in servers:
                        servers[server].end()
                    servers[server] = Terminal(environment)
                    at_end.callback(servers[server].end)
                output = servers.get(server, shell).run(block.text, expected if server else None)
                good = as_printed(expected).fullmatch(output)
                self.report(good, f"line {block.line}: {block.text.splitlines()[0]}", output)
                if not good:
                    break

    def check_blocks(self):
        is_device = [self.is_run and block.language == "sh" and is_simulation(block.text) for block in self.blocks]
        command = self.blocks[is_device.index(True)].text if any(is_device) else EVERY_FAMILY
        needs_device = self.is_run and any(block.language == "sh" for block in self.blocks)
        with tempfile.TemporaryDirectory() as directory:
            environment = dict(os.environ, XDG_RUNTIME_DIR=directory, HOME=directory, NO_COLOR="1",
                               XDG_STATE_HOME=f"{directory}/state", PATH=f"{COMMAND}:{os.environ['PATH']}")
            device = start_devices(command, environment) if needs_device else None
            try:
                for block, skipped in zip(self.blocks, is_device):
                    if not skipped and not page_blocks.is_exempt(block, EXEMPT):
                        self.check_block(block, environment)
                self.check_bonds(environment)
                if device is not None:
                    self.report(device.poll() is None, f"its devices run until its end: {command.strip()}")
            finally:
                if device is not None:
                    device.terminate()
                    device.wait(10)
        if "devices/" in self.name:
            self.check_events()

    def check_bonds(self, environment):
        """A simulated device has no bond after its end: with that of the first run, a second one could not connect to it."""
        fixed = set(re.findall(r"^tendon simulate .*--address ([0-9A-F:]{17})", self.text.replace("\\\n", " "), re.M))
        if self.is_run and fixed:
            bonds = subprocess.run(["tendon", "bonds", "list", "--json"], capture_output=True, text=True, env=environment)
            kept = sorted(address for address in fixed if address in bonds.stdout)
            self.report(bonds.returncode == 0 and not kept, "its blocks can be run again: no bond of a fixed address is left",
                        f"{bonds.stderr}{kept}")

    def check_block(self, block, environment):
        language, text = block.language, block.text
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
        if language == "c":
            self.check_c(text)
        elif language == "ini":
            self.check_configuration(text, f"configuration: {lines[0]}", environment)
        elif language == "json":
            self.check_json(lines, environment)
        elif language == "scenario":
            self.check_scenarios(text, environment)
        elif language == "python":
            self.check_python(block)
        elif language == "sh" and self.is_run and all(line.startswith("make ") for line in lines):
            self.check_make(lines)
        elif language == "sh" and self.is_run:
            self.run(["bash", "-euo", "pipefail", "-c", text], lines[0], environment)
        elif language == "sh":
            self.check_shell(block, text, environment)
        elif language == "console":
            self.check_shell(block, shell_lines(text), environment)
        elif language == "text" and text.startswith("DEVICE "):
            self.check_table(block, environment)
        elif language == "text":
            self.report(False, f"line {block.line}: text is in the list of docs/testing.md", text)

    def run(self, command, title, environment):
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment,
                                    cwd=environment["HOME"], stdin=subprocess.DEVNULL)
            self.report(result.returncode == 0, title, result.stdout + result.stderr)
        except subprocess.TimeoutExpired:
            self.report(False, title, "no end within 60 s")

    def check_make(self, lines):
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
        for line in lines:
            target = line.split("#")[0].split()[1]
            self.report(target in targets, f"make {target} is a target of the Makefile")

    def check_c(self, text):
        for path in sorted((ROOT / "examples/c").glob("*.c")):
            if text.strip("\n") in path.read_text():
                name = path.relative_to(ROOT)
                self.report(not c_problems(name), f"a block stands in {name}, which compiles", c_problems(name))
                return
        self.report(False, "a c block stands in a program of examples/c", text)

    def check_python(self, block):
        try:
            compile("\n" * block.line + block.text, self.name, "exec")
            self.report(True, f"line {block.line}: Python")
        except SyntaxError as error:
            self.report(False, f"line {block.line}: Python", str(error))

    def check_shell(self, block, text, environment):
        """Parsed and not run. With --help the command parses its line, and prints the options of what the line begins with."""
        parsed = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
        good = parsed.returncode == 0 and not parsed.stderr and text
        title = f"line {block.line}: bash parses what is typed"
        self.report(good, title, parsed.stderr)
        for words in commands_of_tendon(text) if good else []:
            answer = subprocess.run(["tendon", *words, "--help"], capture_output=True, text=True, env=environment)
            known = set(re.findall(r"^  (--[a-z-]+)", answer.stdout, re.M))
            unknown = {word.split("=")[0] for word in words if word.startswith("--")} - known
            self.report(answer.returncode == 0 and not unknown, f"tendon {' '.join(words)}",
                        f"{answer.stderr}not in its help: {sorted(unknown)}")

    def check_table(self, block, environment):
        """The table of `tendon run` on a terminal: each row is of a device that the page simulates."""
        ready = pathlib.Path(environment["HOME"], "devices").read_text().splitlines()
        names = sorted(event["name"] for event in map(json.loads, ready) if event["event"] == "ready")
        rows = sorted(re.split(r" +connected ", line)[0] for line in block.text.splitlines()[1:])
        self.report(rows == names, f"line {block.line}: a table of the simulated devices", f"{rows}, not {names}")

    def check_scenarios(self, text, environment):
        """Each part begins with a comment that names the family."""
        pattern = r"# (\w+):.*\n((?:[^#\n].*\n)+)"
        self.report(re.fullmatch(f"(?:{pattern})+", text), "scenarios, each after its family", text)
        for family, part in re.findall(pattern, text):
            path = pathlib.Path(environment["HOME"]) / "block.scenario"
            path.write_text(part)
            self.run(["tendon", "simulate", family, "--radio", "virtual", "--scenario", str(path), "--for", "0.1"],
                     f"a scenario of {family}", environment)

    def check_json(self, lines, environment):
        for line in lines:
            try:
                value = json.loads(line)
            except ValueError as error:
                self.report(False, "a json block", f"{error}: {line}")
                continue
            if "event" in value:
                unknown = set(value) - EVENTS.get(value["event"], set())
                # Pages leave out the time.
                wrong = [error.message for error in SCHEMA.iter_errors({"time": "2026-01-01T00:00:00.000000Z", **value})]
                self.report(not unknown and not wrong, f"an event {value['event']}",
                            f"not in docs/events.md: {sorted(unknown)}; docs/events.schema.json: {wrong}")
            else:
                self.check_actions(value, environment)

    def check_actions(self, actions, environment):
        """The actions of `set` are those of rules: a configuration with a rule that has them is without mistakes."""
        family = pathlib.Path(self.name).stem if "devices/" in self.name else "activ5"
        for name, value in actions.items():
            arguments = [] if value in (True, None) else value if isinstance(value, list) else [value]
            action = " ".join([f"{family}.{name}", *map(str, arguments)])
            self.check_configuration(f"[rules]\nrule = {family}.connected => {action}\n", f"set: {action}", environment)

    def check_configuration(self, text, title, environment):
        path = pathlib.Path(environment["HOME"]) / "block.conf"
        path.write_text(text)
        self.run(["tendon", "config", "check", str(path)], title, environment)

    def check_events(self):
        """The first column of the table of events, on a page of a device."""
        section = re.search(r"^## Events\n(.*?)^## ", self.text, re.M | re.S)
        names = [name for row in re.findall(r"^\| (`[^|]*) \|", section[1], re.M) for name in re.findall(r"`(\w+)`", row)]
        unknown = sorted(set(names) - set(EVENTS))
        self.report(names and not unknown, f"{len(names)} events are in docs/events.md", f"not there: {unknown}")


def is_simulation(block):
    return bool(re.fullmatch(r"tendon simulate [^|&;\n]*\n", block)) and "--for" not in block


def start_devices(command, environment):
    """Starts simulated devices; returns when all of them advertise."""
    lines = pathlib.Path(environment["HOME"]) / "devices"
    with lines.open("w") as output:
        device = subprocess.Popen(command.split() + ["--json"], env=environment, cwd=environment["HOME"], stdout=output,
                                  stderr=subprocess.DEVNULL)
    devices = command.split(" --")[0].split()[2:]
    until = time.monotonic() + 10
    while lines.read_text().count('"event":"ready"') < len(devices) and device.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    return device


def check_index():
    page = Page("docs/index.md")
    links = set(re.findall(r"\]\(([^)#]+)\)", page.text))
    expected = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")} - {"index.md"}
    expected |= {f"../examples/c/{path.name}" for path in (ROOT / "examples/c").glob("*.c")}
    page.report(not expected - links, "links all pages and examples", f"without: {sorted(expected - links)}")
    missing = sorted(link for link in links if not (ROOT / "docs" / link).exists())
    page.report(not missing, "its links exist", f"do not exist: {missing}")
    page.report("(docs/index.md)" in (ROOT / "README.md").read_text(), "is linked by the README")
    return page


def check_exemptions(pages):
    """Each row of the list is of a block of its page."""
    page = Page("docs/testing.md")
    first = {(block.page, block.text.splitlines()[0].strip()) for other in pages for block in other.blocks}
    for row, reason in EXEMPT.items():
        page.report(row in first, f"not checked: {row[0]}, {row[1]}: {reason}", "there is no such block")
    return page


def main():
    pages = [Page(name) for name in page_blocks.pages()]
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(pages)) as pool:
        list(pool.map(Page.check, pages))
    failed = False
    for page in pages + [check_index(), check_exemptions(pages)]:
        for good, text, detail in page.results:
            failed |= not good
            print(("ok" if good else "not ok") + f" - {text}")
            if not good:
                print("\n".join("#   " + line for line in detail.splitlines()[-15:]))
    return 1 if failed or not all(page.blocks for page in pages if page.is_run) else 0


def alone():
    """What runs a command with a loopback interface of its own, because pages name ports; nothing, where that is not permitted."""
    words = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--net",
             "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    return words if subprocess.run([*words, "true"], capture_output=True).returncode == 0 else []


if __name__ == "__main__":
    if sys.argv[1:] != ["--here"] and (words := alone()):
        os.execvp(words[0], [*words, sys.executable, __file__, "--here"])
    sys.exit(main())
