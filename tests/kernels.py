#!/usr/bin/env python3
"""Runs kernels of many families on devices and compares with NumPy.

    kernels.py [--devices interp,nest,cpu] [NAME...]    only cases whose name contains a NAME
"""
import sys
import numeric
import references

sys.exit(numeric.main(references.load_all(), __doc__))
