#!/usr/bin/env python3
"""Runs kernels of many families on devices and compares with NumPy.

    kernels.py [--devices interp,nest,cpu] [NAME...]    only cases whose name contains a NAME
"""
import pathlib, sys, tempfile
import numeric
import references

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from quick_cc import quick_compiler  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    quick_compiler(folder, "-O0")  # several shapes often share their code
    sys.exit(numeric.main(references.load_all(), __doc__))
