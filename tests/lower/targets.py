#!/usr/bin/env python3
"""Each GPU target's passes: a kernel's last nest, run under `--device nest`, gives what the
interpreter of the tile IR gives, and ptxas assembles its PTX for that target.

    targets.py [NAME...]     only these kernels of barriers/cases.py
"""
import concurrent.futures, os, pathlib, shutil, subprocess, sys, tempfile
import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "barriers"))
from cases import CASES, NEREID, compiled  # noqa: E402

TARGETS = ("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a")
PTXAS = (os.environ.get("NEREID_PTXAS") or shutil.which("ptxas")
         or shutil.which("/usr/local/cuda/bin/ptxas"))


def outputs(file, given, name, device, folder):
    """The arrays after a run, or what went wrong."""
    _, grid, _, args = CASES[name]
    names = [k for k, v in args.items() if isinstance(v, str)]
    paths = {k: folder / f"{k}.npy" for k in names}
    if device == "nest":  # an argument of 1 is no parameter of its kernel
        args = {k: v for k, v in args.items() if v != 1}
    command = [NEREID, "run", file, *given, *[f"{k}={v}" for k, v in args.items()],
               "--grid", str(grid), "--device", device]
    for k, path in paths.items():
        command += ["--out", f"{k}={path}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    return {k: np.load(path) for k, path in paths.items() if path.exists()}


def differences(got, want):
    """Sums in another order differ by little; 16-bit results by a unit of their last place."""
    for k, x in want.items():
        if x.dtype == np.uint16:  # bfloat16
            x, y = ((v.astype(np.uint32) << 16).view(np.float32) for v in (x, got[k]))
        else:
            y = got[k]
        x, y = x.astype(np.float64), y.astype(np.float64)
        if not np.allclose(x, y, rtol=1e-2, atol=1e-3, equal_nan=True):
            yield f"{k} differs by {np.nanmax(np.abs(x - y)):.3g}"


def assemble(text, target, folder):
    source = folder / "nest.thread"
    source.write_text(text)
    done = subprocess.run([NEREID, "compile", str(source), "--emit", "ptx", "-o",
                           str(folder / "k.ptx")], capture_output=True, text=True)
    if done.returncode or not PTXAS:
        return done.stderr
    done = subprocess.run([PTXAS, "-arch", target, "-o", str(folder / "k.cubin"),
                           str(folder / "k.ptx")], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def check(name):
    file, _, defines, _ = CASES[name]
    given = [w for d in defines for w in ("-D", d)]
    failures, seen = [], {}
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        want = outputs(f"{file}:{name.split()[0]}", given, name, "interp", folder)
        if isinstance(want, str):
            return 0, [f"{name}: {want}"]
        for target in TARGETS:
            text = compiled(name, (target, 4, 3))
            problem = assemble(text, target, folder)
            if problem:
                failures.append(f"{name} {target}: {problem}")
            body = text.replace(target, "")
            if body not in seen:
                got = outputs(str(folder / "nest.thread"), [], name, "nest", folder)
                seen[body] = [got] if isinstance(got, str) else list(differences(got, want))
            failures += [f"{name} {target}: {why}" for why in seen[body]]
    return 2 * len(TARGETS) - len(failures), failures


names = sys.argv[1:] or list(CASES)
passed, failed = 0, 0
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for good, failures in pool.map(check, names):
        passed, failed = passed + good, failed + len(failures)
        for text in failures:
            print("FAIL", text, flush=True)
if not PTXAS:
    print("without ptxas: nothing was assembled")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
