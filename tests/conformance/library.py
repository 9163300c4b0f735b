#!/usr/bin/env python3
"""Runs the kernels of std/kernels.py (sorting, reductions, scans, random numbers) on devices and
compares with NumPy.

    library.py [--devices interp,nest,cpu] [NAME...]    only cases whose name contains a NAME

Without --devices only the first case of each kernel runs on cpu, where the C compiler takes a
second or two.
"""
import pathlib
import sys

import numeric

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "std"))
import language  # noqa: E402

CASES = language.CASES
if not any(word.startswith("--devices") for word in sys.argv):
    CASES = [c if not c.params else c._replace(devices=("interp", "nest")) for c in CASES]
sys.exit(numeric.main(CASES, __doc__))
