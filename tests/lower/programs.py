#!/usr/bin/env python3
"""Pass loop_over_programs: fewer programs, each of which does the work of several, give what all of
them give, bit by bit, on both interpreters."""
import os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
KERNEL = f"{ROOT / 'examples/kernels/matmul.py'}:matmul"
# dtype, dtype of the result, is memory's array the transpose of A and of B, sizes, blocks, stages
CASES = [("bf16", "bf16", False, False, (144, 208, 160), (64, 64, 32), 3),
         ("bf16", "f32", True, True, (64, 80, 32), (64, 32, 32), 4),
         ("f32", "f32", True, False, (128, 72, 96), (64, 32, 32), 3),
         ("f8e4nv", "f32", False, True, (136, 64, 320), (64, 32, 64), 3)]


def run(*words):
    done = subprocess.run([NEREID, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stderr}\n0 passed, 1 failed")
    return done.stdout


def check(case, folder):
    dtype, to, turned_a, turned_b, (m, n, k), (bm, bn, bk), stages = case
    a, b = ((k, m) if turned_a else (m, k)), ((n, k) if turned_b else (k, n))
    strides = dict(stride_am=1 if turned_a else k, stride_ak=m if turned_a else 1,
                   stride_bk=1 if turned_b else n, stride_bn=k if turned_b else 1,
                   stride_cm=n, stride_cn=1)
    sizes = dict(M=m, N=n, K=k, **strides)
    whole = {name: v for name, v in sizes.items() if v != 1}
    sig = ",".join([f"a_ptr=*{dtype}:16,b_ptr=*{dtype}:16,c_ptr=*{to}:16"]
                   + [f"{name}=i32:{1 if v == 1 else 8}" for name, v in sizes.items()])
    blocks = [f"-DBLOCK_M={bm}", f"-DBLOCK_N={bn}", f"-DBLOCK_K={bk}", "-DGROUP_M=8"]
    text = run("compile", KERNEL, "--sig", sig, *blocks, "--num-stages", stages, "--target",
               "sm_90a", "--emit", "tile")
    plain, asked, looped = (folder / f"{name}.tile" for name in ("plain", "asked", "looped"))
    plain.write_text(text[:text.index("schedule @")])
    asked.write_text(plain.read_text().replace("{num_warps", "{loops, num_warps", 1))
    looped.write_text(run("compile", asked, "--run-passes", "loop_over_programs"))
    values = [f"a_ptr=randn:{dtype}[{a[0]},{a[1]}]:1", f"b_ptr=randn:{dtype}[{b[0]},{b[1]}]:2",
              f"c_ptr=empty:{to}[{m},{n}]", *(f"{name}={v}" for name, v in whole.items())]
    programs = -(-m // bm) * -(-n // bn)

    def result(path, device, grid, *more):
        out = folder / "c.npy"
        run("run", path, *values, *more, "--grid", grid, "--device", device, "--out",
            f"c_ptr={out}")
        return out.read_bytes()
    expected = result(plain, "interp", programs)
    return [result(looped, device, grid, f"grid.x={programs}") == expected
            for device in ("interp", "nest") for grid in (1, programs - 1, programs, programs + 2)]


passed = failed = 0
with tempfile.TemporaryDirectory() as name:
    for case in CASES:
        good = check(case, pathlib.Path(name))
        passed += sum(good)
        failed += len(good) - sum(good)
        if not all(good):
            print(f"FAIL {case}: {good}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
