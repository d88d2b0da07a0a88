# SPDX-License-Identifier: MIT
"""listing.py: what is not true of the tables is found, and so is a decoder that is in none, whatever its form."""

import pathlib
import shutil
import tempfile

PEER = "CSources/linux/adapter/peer.c"
TABLE, FUNCTIONS, ROWS = "Tests/Proof/by_fuzzing", "Tests/Proof/without_row", "Tests/Proof/decoders"
BUILD, TARGET = "Tests/Fuzz/meson.build", "Tests/Fuzz/fuzz_advertisement.c"

# What changes, as (file, old text, new text); without old text the new one is appended. Then what the list must say.
CASES = (
    ("a static function that takes a reader", "CSources/host/new.c reads bytes",
     [("CSources/host/new.c", None, "static unsigned take(tendon_reader *r) { return tendon_read_u8(r); }\n")]),
    ("an internal function that takes an event", "CSources/linux/adapter/new.c reads bytes",
     [("CSources/linux/adapter/new.c", None, "void f(tendon_bluez_radio *r, const tendon_management_event *event) {\n"
       "    r->settings = event->data[0];\n}\n")]),
    ("a function that receives", "CSources/linux/new.c reads bytes",
     [("CSources/linux/new.c", None, "int f(int fd, uint8_t *to) { return (int)recv(fd, to, 9, 0); }\n")]),
    ("an inline function of a header", "CSources/devices/new.h reads bytes",
     [("CSources/devices/new.h", None, "static inline unsigned word(const uint8_t *at) { return at[0]; }\n")]),
    ("a pointer that is copied from", "CSources/devices/new.c reads bytes",
     [("CSources/devices/new.c", None, "void f(void *to, const void *from) { memcpy(to, from, 4); }\n")]),
    ("a file that is in no table", f"{PEER} reads bytes", [(TABLE, f"{PEER} | bluez\n", "")]),
    ("a file that its row has lost", "CSources/host/att_decode.c reads bytes",
     [(ROWS, "|host/att_decode.c + host/att_table.c", "|host/att_table.c")]),
    ("a reader in a comment or in a string is none", "CSources/host/new.c reads nothing",
     [("CSources/host/new.c", None, '/* tendon_read_u8() */ const char *text = "tendon_reader_make";\n'),
      (TABLE, None, "CSources/host/new.c | att\n")]),
    ("a file that does not exist", "CSources/host/none.c reads nothing, or does not exist",
     [(TABLE, None, "CSources/host/none.c | att\n")]),
    ("a file that is listed twice", f"{PEER} is listed twice", [(TABLE, None, f"{PEER} | bluez\n")]),
    ("a file that has a row as well", "CSources/host/att_decode.c is an own source",
     [(TABLE, None, "CSources/host/att_decode.c | att\n")]),
    ("a target that does not exist", "bluetooth is no fuzz target",
     [(TABLE, f"{PEER} | bluez\n", f"{PEER} | bluetooth\n")]),
    ("a target that does not link the file", "fuzz target att does not link it",
     [(TABLE, f"{PEER} | bluez\n", f"{PEER} | att\n")]),
    ("a target that links the file in a comment", f"{PEER}: fuzz target att does not link it",
     [(TABLE, f"{PEER} | bluez\n", f"{PEER} | att\n"), ("Tests/Fuzz/fuzz_att.c", None, "/* tendon_bluez_link_of() */\n")]),
    ("a target that no build has", "bluez is no fuzz target", [(BUILD, "  'bluez': [", "  #'bluez': [")]),
    ("a decoder that is said to be none", "decodes with a reader, or no word says",
     [(TABLE, f"{PEER} | bluez\n", f"{PEER} | nothing decoded | it says so\n")]),
    ("a line without a word", "decodes with a reader, or no word says",
     [(TABLE, "doctor.c | nothing decoded | prints files of /sys and /proc", "doctor.c | nothing decoded")]),
    ("a function that its target names in a comment", "tendon_family_awaiting_name: fuzz target advertisement does not call it",
     [(TARGET, "tendon_family_awaiting_name(data, size)", "/* tendon_family_awaiting_name() */ size")]),
    ("a function that its row does not have", "tendon_fjorden_records_begin: no row att has its file",
     [(FUNCTIONS, "records_begin | row:fjorden_records", "records_begin | row:att")]),
    ("a function that does not exist", "tendon_none does not exist", [(FUNCTIONS, None, "tendon_none | fuzz:att | no\n")]),
    ("a public function that a harness names in a comment", "att.h: tendon_new_decode",
     [("include/tendon/host/att.h", None, "tendon_status tendon_new_decode(const uint8_t *bytes, size_t length);\n"),
      ("Tests/Proof/harness/att.c", None, "/* tendon_new_decode() */\n")]),
)


def change(tree, clean, changes):
    for name, old, new in changes:
        path = tree / name
        text = path.read_text() if path.exists() else ""
        if old is not None and old not in text:
            raise ValueError(f"{name} has no '{old}'")
        path.write_text(text + new if old is None else text.replace(old, new, 1))
    yield
    for name, _, _ in changes:
        if (clean / name).exists():
            shutil.copy(clean / name, tree / name)
        else:
            (tree / name).unlink(missing_ok=True)


def cases(root, problems):
    """@param problems: what the list says of a tree. Yields for each case whether it holds, its name, and notes."""
    with tempfile.TemporaryDirectory() as work:
        tree = pathlib.Path(work)
        for folder in ("CSources", "include", "Sources/CObviousCloud", "Tests/C", "Tests/Proof"):
            shutil.copytree(root / folder, tree / folder)
        shutil.copytree(root / "Tests/Fuzz", tree / "Tests/Fuzz", ignore=shutil.ignore_patterns("corpus"))
        for name, expected, changes in CASES:
            changed = change(tree, root, changes)
            next(changed)
            said = problems(tree)
            next(changed, None)
            yield any(expected in line for line in said), f"the list of decoders: {name}", said
        left = problems(tree)
        yield not left, "the list of decoders: nothing is left of these changes", left
