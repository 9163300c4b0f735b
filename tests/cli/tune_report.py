#!/usr/bin/env python3
"""Tunings as HTML and JSON: made-up ones, by build/tests/cli/unit/tune_report.

    tune_report.py             compare with tune_report/CASE.html and CASE.json
    tune_report.py --update    write them

Whatever the names are, a page is well-formed, loads nothing and runs nothing, and shows them.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
PROGRAM = BUILD / "tests/cli/unit/tune_report"
CASES = ("matmul", "hostile", "model", "nothing")
STATUSES = ("ok", "compile", "resources", "timeout", "fault", "wrong", "pruned")
KEYS = ["config", "status", "reason", "predicted_us", "median_us", "spread_us", "runs",
        "uncertain"]


def made(form, case):
    return subprocess.run([PROGRAM, form, case], check=True, capture_output=True).stdout


def check_golden(form, case, data):
    path = ROOT / "tests/cli/tune_report" / f"{case}.{form}"
    if "--update" in sys.argv:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    same = path.exists() and path.read_bytes() == data
    check(same, f"{path} differs: --update writes it")


def check_json(case, data):
    t = json.loads(data)
    keys = ["kernel", "device", "source", "best", "candidates"]
    check(list(t) == keys, f"{case}: keys {list(t)}")
    for c in t["candidates"]:
        check(list(c) == KEYS and c["status"] in STATUSES, f"{case}: {c}")
        check((c["median_us"] is None) == (c["runs"] == 0), f"{case}: times and runs of {c}")
        check((c["spread_us"] is None) == (c["runs"] < 2), f"{case}: spread and runs of {c}")
    first = t["candidates"][0]
    wins = first["status"] == "ok" or t["source"] == "model"
    check(t["best"] == (first["config"] if wins else None), f"{case}: best {t['best']}")
    return t


# Elements and attributes that a page is made of: none that loads or runs.
ALLOWED = set("html head meta title style body h1 h2 p small code dl dt dd section div table thead "
              "tbody caption tr th td span details summary svg path circle text".split())
ATTRIBUTES = set("lang charset http-equiv name content class title viewBox role aria-label d x y "
                 "cx cy r text-anchor stroke-opacity stroke-dasharray".split())


def check_page(case, data, tuning):
    page = xml.fromstring(data)
    local = lambda e: e.tag.split("}")[-1]
    check({local(e) for e in page.iter()} <= ALLOWED, f"{case}: an element that may load or run")
    check({a for e in page.iter() for a in e.attrib} <= ATTRIBUTES, f"{case}: an attribute")
    check(not re.search(rb"url\(|@import|javascript:|href", data), f"{case}: a reference")
    shown = "".join(page.find("body").itertext())
    for text in (tuning["kernel"], tuning["device"]):
        check(text in shown, f"{case}: {text} is not shown")
    rows = sum(1 for t in page.iter("table") if t.get("class") == "rank" for _ in t.find("tbody"))
    check(rows == len(tuning["candidates"]), f"{case}: {rows} rows")
    marks = [e for e in page.iter("path") if e.get("class") == "s0" and e.find("title") is not None]
    points = sum(1 for c in tuning["candidates"] if c["status"] == "ok" and c["predicted_us"])
    check(len(marks) in (points, 2 * points), f"{case}: {len(marks)} points for {points}")


def main():
    for case in CASES:
        text, page = made("json", case), made("html", case)
        check_golden("json", case, text)
        check_golden("html", case, page)
        check_page(case, page, check_json(case, text))
    return report()


sys.exit(main())
