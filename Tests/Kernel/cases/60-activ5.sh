# SPDX-License-Identifier: MIT
# title: trainers of both generations: 10,000 forces at 500 Hz, their values, squeezes
# sample: nothing
# kinds: legacy extended
# limit: 250
source "$KERNEL_TESTS/command.sh"
FAMILY=activ5

for generation in new legacy; do
    legacy=
    [ $generation = legacy ] && legacy=--legacy
    # shellcheck disable=SC2086
    device_start --notifications 10000 --period 2 --ground-truth "$CASE_DIR/truth.jsonl" $legacy
    run_stream 100 --notifications 10000 --no-reconnect --exact
    device_wait
    check "$generation: 10,000 forces, each the script's" /usr/bin/python3 - "$CASE_DIR" "$generation" <<'PYTHON'
import json, sys
directory, generation = sys.argv[1:]
def read(name):
    with open(f"{directory}/{name}", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
lines, truth = read("run.jsonl"), [line["force_n"] for line in read("truth.jsonl")]
summary, sent = lines[-1], read("device.jsonl")[-1]
opened = [line for line in lines if line["event"] == "connected"]
print(opened, summary, sent)
assert [line["generation"] for line in opened] == [generation]
forces = [line["force_n"] for line in lines if line["event"] == "sample"]
assert sent["force"] == sent["notifications"] == 10000, "the device's counter"
assert summary["notifications"] == summary["delivered"] == len(forces) == 10000, "all of them arrived"
assert summary["dropped"] == 0 and summary["malformed"] == 0, "none lost"
first = sent["device_time_ms"] - 2 * 9999 # the device's clock says where in its script it was
worst = max(abs(force - truth[(first + 2 * n) % 20000]) for n, force in enumerate(forces))
assert worst < 1e-6, f"worst {worst} N"
changes, squeezed = [], False
for force in forces:
    if force < 5 if squeezed else force > 20:
        squeezed = not squeezed
        changes.append("squeezed" if squeezed else "released")
told = [line["state"] for line in lines if line["event"] == "squeeze"]
print(changes, told)
assert told == changes and len(changes) >= 4, "squeezes"
PYTHON
done
