#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads OpenMetrics text.

check_metrics.py FILE format                    0: the text is valid
check_metrics.py FILE value NAME [LABEL=TEXT]   prints the sum of the samples of this name with these labels
"""

import re
import sys

try:
    from prometheus_client.openmetrics import parser as openmetrics
    from prometheus_client import parser as older
except ImportError:
    openmetrics = older = None

SAMPLE = re.compile(r'([a-z][a-z0-9_]*)(\{([a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+\})? (-?[0-9][0-9.e+-]*|NaN|[+-]Inf)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)"')


def samples(text):
    for line in text.splitlines():
        match = SAMPLE.match(line)
        if match:
            yield match[1], dict(LABEL.findall(match[2] or "")), float(match[4])


def check(text):
    """The rules of the specification that a small writer could break."""
    assert text.endswith("\n# EOF\n") and text.count("# EOF") == 1, "the end"
    seen, name, kind = set(), "", ""
    for line in text.splitlines()[:-1]:
        words = line.split(" ", 3)
        if line.startswith("# TYPE "):
            name, kind = words[2], words[3]
            assert name not in seen, f"{name} twice"
            assert kind in ("counter", "gauge"), f"{name}: {kind} is not known to the older format"
            seen.add(name)
        elif line.startswith("# UNIT "):
            assert words[2] == name and name.endswith("_" + words[3]), f"{name}: unit {words[3]}"
        elif line.startswith("# HELP "):
            assert words[2] == name and words[3].endswith("."), line
        else:
            match = SAMPLE.match(line)
            assert match, f"no sample: {line}"
            assert match[1] == name + ("_total" if kind == "counter" else ""), f"{match[1]} in {name}"
            key = (match[1], match[2])
            assert key not in seen, f"{key} twice"
            seen.add(key)
    if openmetrics:
        families = list(openmetrics.text_string_to_metric_families(text))
        assert len(families) == text.count("# TYPE"), "families"
        assert len(list(older.text_string_to_metric_families(text))) >= len(families), "the older format"
    print("read by prometheus_client as well" if openmetrics else "prometheus_client is not installed")


text = open(sys.argv[1]).read()
if sys.argv[2] == "format":
    check(text)
else:
    wanted = dict(word.split("=", 1) for word in sys.argv[4:])
    found = [
        value
        for name, labels, value in samples(text)
        if name == sys.argv[3] and all(labels.get(key) == text for key, text in wanted.items())
    ]
    print(f"{sum(found):.12g}" if found else "none")
