#!/usr/bin/env python3
"""Runs the kernels of std/kernels.py (sorting, reductions, scans, random numbers) on devices and
compares with NumPy.

    library.py [--devices interp,nest,cpu] [NAME...]    only cases whose name contains a NAME
"""
import pathlib
import sys

import numeric

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "std"))
import language  # noqa: E402

sys.exit(numeric.main(language.CASES, __doc__))
