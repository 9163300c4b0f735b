#!/usr/bin/env python3
"""Tables of what cpu.py measured: its --json files, those of several runs joined.

    cpu_table.py FILE...

For each kind and number of threads a row a model: the least ms of each side; eager's or Inductor's,
the lesser, over Nereid's by torch.compile, and ONNX Runtime's over the file's, with their geometric
means, and first calls.  Of --alone's runs, which are tables of their own: the seconds of first
calls, and MB in later ones, in parentheses at most.  A model that several files have has the least
of them.
"""
import json
import math
import pathlib
import sys

NAMES = {"eager": "eager", "inductor": "TorchInductor", "onnx": "ONNX Runtime", "file": "file",
         "nereid": "Nereid"}
PEERS = {"nereid": ("eager", "inductor"), "file": ("onnx",)}  # each of ours is compared with
LEVEL = 0.97


def read(files):
    """By (kind, threads), then by model: the least of each side, first calls and memory."""
    found = {}
    for line in (x for f in files for x in pathlib.Path(f).read_text().splitlines()):
        r = json.loads(line)
        name, kind = r["case"].split()
        row = found.setdefault((kind, r["threads"]), {}).setdefault(
            name, {"least": {}, "first": {}, "alone": {}})
        for side, m in r.get("alone", {}).items():
            before = row["alone"].get(side, {})
            row["alone"].update({side: {f: min(m[f], before.get(f, m[f])) for f in m}} if m else {})
        for side in NAMES.keys() & r.keys():
            for field in ("least", "first"):
                row[field][side] = min(r[side][field], row[field].get(side, math.inf))
    return found


def ratio(row, ours):
    """The best of its peers over ours; None where a side is missing."""
    theirs = [row["least"][s] for s in PEERS[ours] if s in row["least"]]
    return min(theirs) / row["least"][ours] if theirs and ours in row["least"] else None


def told(r):
    return "" if r is None else f"**{r:.2f}**" if r < LEVEL else f"{r:.2f}"


def cells(values, sides, form):
    return [format(values[s], form) if s in values else "" for s in sides]


def print_table(title, rows):
    sides = [s for s in NAMES if any(s in r["least"] for r in rows.values())]
    compiled = [s for s in sides if s != "eager"]
    ours = [s for s in PEERS if any(ratio(r, s) for r in rows.values())]
    heads = ["model", *(NAMES[s] for s in sides), *(f"{NAMES[s]}'s ratio" for s in ours),
             "first call, s: " + ", ".join(NAMES[s] for s in compiled)]
    print(f"\n{title}\n\n| " + " | ".join(heads) + " |")
    print("| --- |" + " ---: |" * (len(heads) - 2) + " --- |")
    for name, row in rows.items():
        line = [name, *cells(row["least"], sides, ".4g"), *(told(ratio(row, s)) for s in ours),
                ", ".join(c or "-" for c in cells(row["first"], compiled, ".1f"))]
        print("| " + " | ".join(line) + " |")
    for s in ours:
        ratios = [r for r in (ratio(row, s) for row in rows.values()) if r]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"\n{NAMES[s]}: geometric mean of {len(ratios)} {mean:.2f}, "
              f"{sum(r < LEVEL for r in ratios)} behind.")


def print_alone(title, rows, form):
    sides = [s for s in NAMES if any(s in r["alone"] for r in rows.values())]
    print(f"\n{title}\n\n| model | " + " | ".join(NAMES[s] for s in sides) + " |")
    print("| --- |" + " ---: |" * len(sides))
    for name, row in rows.items():
        line = [name, *(form.format(**row["alone"][s]) if s in row["alone"] else "" for s in sides)]
        print("| " + " | ".join(line) + " |")


def main():
    for (kind, threads), rows in sorted(read(sys.argv[1:]).items()):
        title = f"{kind}, {threads} threads"
        timed = {name: row for name, row in rows.items() if row["least"]}
        lone = {name: row for name, row in rows.items() if row["alone"]}
        if timed:
            print_table(title, timed)
        if lone:
            print_alone(f"{title}, first calls, s", lone, "{first:.1f}")
            print_alone(f"{title}, MB", lone, "{later} ({most})")


if __name__ == "__main__":
    main()
