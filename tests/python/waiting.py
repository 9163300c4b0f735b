#!/usr/bin/env python3
"""Launches on device cpu whose programs wait for each other: results, and the end by Ctrl-C."""
import os
import pathlib
import signal
import sys
import threading
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
sys.path[:0] = [str(ROOT / "tests/support"), str(BUILD / "python")]
import nereid  # noqa: E402
import nereid.language as tl  # noqa: E402
from tally import check, report  # noqa: E402


@nereid.jit
def barrier(x, o, count, P: tl.constexpr):
    p = tl.program_id(0)
    tl.store(x + p, p)
    tl.atomic_add(count, 1, sem="acq_rel")
    while tl.atomic_add(count, 0, sem="acquire") < P:
        pass
    tl.store(o + p, tl.load(x + (p + 1) % P, volatile=True))


@nereid.jit
def dead(o, f, P: tl.constexpr):
    p = tl.program_id(0)
    while tl.load(f + p, volatile=True) == 0:
        pass
    tl.store(o + p, 1)


def zeros(n):
    return np.zeros(n, np.int32)


def check_barrier(n, **options):
    o = zeros(n)
    barrier[(n,)](zeros(n), o, zeros(1), P=n, **options)
    check((o == (np.arange(n) + 1) % n).all(), f"a barrier of {n} programs {options}: {o}")


def check_interrupt(**options):
    o, begin = zeros(4), time.monotonic()
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        dead[(4,)](o, zeros(4), P=4, **options)
        check(False, "a launch ends that waits for ever")
    except KeyboardInterrupt:
        check(time.monotonic() - begin < 10 and not o.any(), "Ctrl-C ends programs that wait")


signal.signal(signal.SIGINT, signal.default_int_handler)  # shells in the background ignore it
for options in ({}, {"launch_cooperative_grid": True}):
    check_barrier(7, **options)
    check_barrier(100, **options)
    check_interrupt(**options)
    check_barrier(7, **options)
try:
    check_barrier(2000, launch_cooperative_grid=True)
except nereid.errors.OutOfResources as error:
    check("2000 x 1 x 1 programs can't all run at once" in str(error), str(error))
sys.exit(report())
