#!/usr/bin/env python3
"""The proof of rings (pass prove_rings): takes away one wait, arrival, commit, fence, barrier or
copy of a kernel's last nest, and the pass must say that the rest is not proven.  The kernels as
they are must be proven, and so must loops of any number of iterations that is known, and several
loops after each other.

    rings.py [NAME...]     only these kernels of barriers/cases.py
"""
import pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "barriers"))
from cases import CASES, NEREID, OURS, SKIPPED, SYNC, VARIANTS, compiled, is_needless  # noqa: E402

RING = re.compile(r"^ *(cp\.async|bulk\.copy|%\S+ = wgmma) ", re.M)
FENCE = re.compile(r'^ *fence \{kind "mma"\}')
STORE = re.compile(r"^ *bulk\.store ")  # without it the order is right, and the result wrong
WARNING = re.compile(r"is not proven: (.*)")


def unproven(lines, folder):
    """Why the pass rejects the nest; None if it does not."""
    path = folder / "nest.thread"
    path.write_text("\n".join(lines))
    done = subprocess.run([NEREID, "compile", str(path), "--run-passes", "prove_rings"],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"status {done.returncode}\n{done.stderr}\n0 passed, 1 failed")
    found = WARNING.search(done.stderr)
    return found and found[1]


def check(name, variant, folder):
    lines = compiled(name, variant).split("\n")
    if not RING.search("\n".join(lines)):
        return 0, []
    why = unproven(lines, folder)
    failures = [f"{name} {variant}: not proven as it is: {why}"] if why else []
    at = [i for i, line in enumerate(lines) if SYNC.match(line) or FENCE.match(line)]
    at = [i for i in at if not STORE.match(lines[i]) and "cluster." not in lines[i]] # verified
    for i in at:
        if not is_needless(name, lines, i) and not unproven(lines[:i] + lines[i + 1:], folder):
            failures.append(f"{name} {variant}: proven without line {i + 1}: {lines[i]}")
    return 1 + len(at) - len(failures), failures


def loses_boxes(kernel, first, end, step, stages):
    """Why a loop with constants in its limits keeps no ring of boxes; None if it has one."""
    signature = "a_ptr=*bf16:16,b_ptr=*bf16:16,c_ptr=*fp32:16,n=i32:16"
    command = [NEREID, "compile", f"{OURS}:{kernel}", "--target", "sm_90a", "--num-warps", "8",
               "--num-stages", str(stages), "--sig", signature]
    for name, value in ("FIRST", first), ("END", end), ("STEP", step):
        command += ["-D", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or WARNING.search(done.stderr):
        return done.stderr
    return None if "cp.async.bulk.tensor" in done.stdout else "no boxes"


names = [a for a in sys.argv[1:] if not a.startswith("-")] or list(CASES)
passed, failed = 0, 0
with tempfile.TemporaryDirectory() as folder:
    for name in names:
        for variant in [v for v in VARIANTS if (name, v) not in SKIPPED]:
            good, failures = check(name, variant, pathlib.Path(folder))
            passed, failed = passed + good, failed + len(failures)
            for text in failures:
                print("FAIL", text, flush=True)
ENDS = (1, 64, 128, 640, 2560, 2624, 3072, 4095, 4096, 65536, 1 << 30)
STEPS = ((0, 64, 3), (0, 64, 4), (64, 64, 3), (192, 32, 3), (7, 1, 4))
loops = [(kernel, first, end, step, stages) for end in ENDS for first, step, stages in STEPS
         for kernel in ("known_trips", "far_limit")]
# The mbarriers of a loop tell no states of a later one apart.
loops += [("loops_in_turn", 0, 0, 64, stages) for stages in (3, 4)]
for kernel, first, end, step, stages in [] if sys.argv[1:] else loops:
    why = loses_boxes(kernel, first, end, step, stages)
    passed, failed = passed + (why is None), failed + (why is not None)
    if why:
        print(f"FAIL {kernel}: {first} to {end} by {step}, {stages} stages: {why}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
