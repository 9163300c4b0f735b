#!/usr/bin/env python3
"""Runs kernels of many families on devices and compares with NumPy.

    kernels.py [--devices interp,nest,cpu] [NAME...]    only cases whose name contains a NAME
"""
import os, sys, tempfile
import numeric
import references
from random_kernels import quick_compiler

with tempfile.TemporaryDirectory() as folder:
    quick_compiler(folder, "-O0")
    os.environ["NEREID_CACHE_DIR"] = folder  # several shapes often share their code
    sys.exit(numeric.main(references.load_all(), __doc__))
