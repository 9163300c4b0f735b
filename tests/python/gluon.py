#!/usr/bin/env python3
"""Gluon's kernels from Python: layouts as constants of the host, as arguments, and in constexpr
functions; under Triton's name as well."""
import os, pathlib, pickle, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid

if "--as-triton" in sys.argv:
    nereid.install_as_triton()
    from triton.experimental import gluon
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.language import arange as sequence
    from triton.experimental.gluon.language.nvidia.ampere import async_copy
else:
    from nereid.experimental import gluon
    from nereid.experimental.gluon import language as gl
    from nereid.experimental.gluon.language import arange as sequence
    from nereid.experimental.gluon.language.nvidia.ampere import async_copy
import numpy as np
import tally

FOUR = gl.BlockedLayout([4], [32], [4], [0])
ROW = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
SHARED = gl.SwizzledSharedLayout(1, 1, 1, [0])


@gluon.constexpr_function
def line(width, warps):
    return gl.BlockedLayout([width], [32], [warps], [0])


@gluon.constexpr_function
def wider(layout):
    return gl.BlockedLayout([2 * layout.size_per_thread[0]], layout.threads_per_warp,
                            layout.warps_per_cta, layout.order)


@gluon.jit
def twice(x, out, n, B: gl.constexpr, layout: gl.constexpr, to: gl.constexpr = FOUR):
    gl.static_assert(line(4, gl.num_warps()) == FOUR and wider(line(2, 4)) == FOUR)
    i = gl.program_id(0) * B + sequence(0, B, layout=layout)
    memory = gl.allocate_shared_memory(gl.float32, [B], SHARED)
    async_copy.async_copy_global_to_shared(memory, x + i, i < n)
    async_copy.commit_group()
    async_copy.wait_group(0)
    y = gl.convert_layout(gl.load(x + i, mask=i < n), to) + memory.load(to)
    gl.store(out + gl.convert_layout(i, to), y, mask=gl.convert_layout(i < n, to))


def check_launches():
    x = np.arange(1000, dtype=np.float32)
    for layout in (line(1, 4), gl.AutoLayout(), gl.CoalescedLayout(), gl.SliceLayout(0, ROW), FOUR):
        out = np.zeros_like(x)
        twice[(4,)](x, out, 1000, 256, layout)
        tally.check((out == 2 * x).all(), f"twice, {layout}")
    try:
        twice[(4,)](x, x, 1000, 256, line(1, 8))
        tally.check(False, "a layout for 8 warps")
    except nereid.CompilationError as error:
        tally.check("is for 8 warps, but the kernel has 4" in str(error), f"8 warps: {error}")


def check_layouts():
    same = gl.BlockedLayout((4,), [32], gl.constexpr([4]), [0])
    tally.check(same == FOUR and hash(same) == hash(FOUR), "equal layouts")
    tally.check(pickle.loads(pickle.dumps(FOUR)) == FOUR and FOUR.rank == 1, "a pickled layout")
    tally.check(gl.SliceLayout(1, ROW) != gl.SliceLayout(0, ROW), "different layouts")
    tally.check(gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
                == gl.NVMMASharedLayout(128, 16), "a default layout")
    padded = gl.PaddedSharedLayout.with_identity_for([[4, 2]], [2, 4], [1, 0])
    tally.check(padded.offset_bases == [[0, 1], [0, 2], [1, 0]], f"{padded}")
    try:
        gl.arange(0, 4)
        tally.check(False, "arange outside of a kernel")
    except ValueError as error:
        tally.check("inside a kernel only" in str(error), f"arange: {error}")


if __name__ == "__main__":
    check_launches()
    check_layouts()
    if "--as-triton" not in sys.argv:
        run = subprocess.run([sys.executable, __file__, "--as-triton"], capture_output=True,
                             text=True)
        tally.check(run.returncode == 0, f"as Triton: {run.stdout}{run.stderr}")
    sys.exit(tally.report())
