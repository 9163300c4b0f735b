#!/usr/bin/env python3
"""Internal errors in a process of Python: NEREID_FAIL_STAGE ends stages by one.  Each is an
exception of its own class, with a report, and the process goes on: the same kernel and model then
work, in this thread and in others that run at the same time."""
import os, pathlib, pickle, re, sys, tempfile, threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import nereid.language as tl
import numpy as np
import quick_cc
from tally import check, report


def doubling(x, out, SCALE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) * SCALE)


def launch(scale):
    """Compiles anew, since the constexpr is."""
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    nereid.jit(doubling)[(1,)](x, out, scale, 16)
    return np.array_equal(out, x * scale)


def failing(stage, f):
    os.environ["NEREID_FAIL_STAGE"] = stage
    try:
        f()
        return None
    except Exception as error:
        return error
    finally:
        del os.environ["NEREID_FAIL_STAGE"]


def check_error(error, stage):
    check(type(error) is nereid.InternalError, f"stage {stage}: {error!r}")
    if not isinstance(error, nereid.NereidError): return
    text = str(error)
    check(f"internal error in stage {stage}, at " in text and "version" in text, text)
    check(error.code == nereid.errors.INTERNAL, f"stage {stage}: code {error.code}")
    check(str(pickle.loads(pickle.dumps(error))) == text, f"stage {stage}: not pickled")


def check_kernels():
    for number, stage in enumerate(("sema", "schedule", "code", "load")):
        error = failing(stage, lambda: launch(number + 2.5))
        check_error(error, stage)
        check(launch(number + 2.5), f"the launch after an internal error in {stage}")
    error = failing("sema", lambda: launch(77.5))
    check(re.search(r"repeat it by: nereid compile \S*internal_errors\.py:doubling", str(error)),
          f"no command in {error}")


def check_models():
    folder = ROOT / "tests/models/mlp"
    x, expected = np.load(folder / "input_0.npy"), np.load(folder / "output_0.npy")

    def model():
        out = nereid.load(str(folder / "model.pt2"), device="cpu")(x)
        return np.allclose(out[0] if isinstance(out, (tuple, list)) else out, expected, atol=1e-5)

    for stage in ("read", "decompose", "write_kernels", "sema", "run"):
        check_error(failing(stage, model), stage)
        check(model(), f"the model after an internal error in {stage}")


def check_threads():
    """Threads that compile while others fail: each has its own outcome."""
    errors, good = [], []

    def work(number):
        for k in range(4):
            try:
                good.append(launch(100.5 + 10 * number + k))
            except nereid.InternalError as error:
                errors.append(error)

    os.environ["NEREID_FAIL_STAGE"] = "schedule"
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    del os.environ["NEREID_FAIL_STAGE"]
    check(len(errors) == 16 and not good, f"{len(errors)} errors, {len(good)} launches")
    errors.clear()
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    check(len(good) == 16 and all(good) and not errors, f"after it {errors}, {len(good)} launches")


with tempfile.TemporaryDirectory() as folder:
    quick_cc.quick_compiler(folder, "-O0", cached=False)
    check_kernels()
    check_models()
    check_threads()
sys.exit(report())
