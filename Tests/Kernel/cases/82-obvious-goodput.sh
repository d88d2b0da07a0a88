# SPDX-License-Identifier: MIT
# title: firmware upgrades of a simulated Obvious device against bare write commands over the same link, with their rates
# needs: build
# limit: 60
# lane: 2

check "upgrades at each ATT MTU and frame_max" eval '"$BUILD/Tests/Kernel/c/ota_goodput" hci0 hci1 >"$CASE_DIR/goodput.jsonl"'
/usr/bin/python3 - "$CASE_DIR/goodput.jsonl" <<'END'
import json, sys

rows = [json.loads(line) for line in open(sys.argv[1])]
for row in rows:
    print("# %-20s %8.1f ms %8.1f kB/s  %5.2f x %s" % (
        row["name"], row["ns"] / 1e6, row["bytes"] / row["ns"] * 1e6, row["ratio"], row["limit"]))
good = len(rows) == 10 and all(row["bytes"] > 0 and row["ns"] > 0 for row in rows)
print("ok" if good else "not ok", "a result for each:", len(rows))
END
