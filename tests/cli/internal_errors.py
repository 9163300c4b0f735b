#!/usr/bin/env python3
"""Internal errors of the program: NEREID_FAIL_STAGE ends each stage of kernels and models by one.
The status is 3, and the message a report: stage, place, version, and a command that repeats it."""
import os, pathlib, re, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tables import rows  # noqa: E402
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
INTERNAL = 3
KERNEL = "examples/kernels/softmax.py"
LAUNCH = ["x_ptr=rand:f32[2,64]", "out_ptr=empty:f32[2,64]", "n_cols=64", "-D", "BLOCK=64",
          "--grid", "2"]
SIGNATURE = ["--sig", "x_ptr=*fp32,out_ptr=*fp32,n_cols=i32", "-D", "BLOCK=64"]
MODEL, INPUT = "tests/models/mlp/model.pt2", "tests/models/mlp/input_0.npy"
KERNEL_PASSES = [row[0] for _, row in rows("lower/passes.h", "KERNEL_PASSES")]
GRAPH_PASSES = [row[0] for table in ("GRAPH_PASSES", "PLAN_PASSES")
                for _, row in rows("planner/passes.h", table)]

# A command, and the stages of which it has some.
COMMANDS = [
    (["compile", KERNEL, *SIGNATURE], ["parse", "sema", "code", *KERNEL_PASSES]),
    (["compile", KERNEL, *SIGNATURE, "--target", "cpu", "--emit", "c"],
     ["parse", "sema", "code", *KERNEL_PASSES]),
    (["run", KERNEL, *LAUNCH, "--device", "interp"], ["parse", "sema", "code", "interp"]),
    (["run", KERNEL, *LAUNCH, "--device", "nest"], ["parse", "sema", "code", "nest", "schedule"]),
    (["graph", MODEL, INPUT, "--device", "interp"],
     ["read", "infer", "load", "run", "interp",
      "sema", *GRAPH_PASSES]),
    (["build", MODEL, "-o", "DIR", "--target", "cpu"],
     ["read", "infer", "write_kernels", "write project", "schedule", "code"]),
]
# Stages that every one of their commands has.
ALWAYS = {"parse", "sema", "code", "read", "infer", "fuse", "write_kernels", "load", "run",
          "schedule"}


def run(command, stage):
    with tempfile.TemporaryDirectory() as folder:
        words = [f"{folder}/project" if word == "DIR" else word for word in command]
        env = {**os.environ, "NEREID_CACHE_DIR": "", "NEREID_FAIL_STAGE": stage}
        done = subprocess.run([NEREID, *words], capture_output=True, text=True, env=env, cwd=ROOT)
        left = list(pathlib.Path(folder).rglob("*"))
    return done, words, left


def try_stage(command, stage):
    """True if the command has the stage."""
    done, words, left = run(command, stage)
    about = f"{command[0]} {command[1]}, stage {stage}"
    if done.returncode == 0:
        check("internal error" not in done.stderr, f"{about}: an error with status 0")
        return False
    check(done.returncode == INTERNAL, f"{about}: status {done.returncode}\n{done.stderr[:500]}")
    check(re.search(rf"internal error in stage {stage}, at lang/base/bug\.c:\d+: ", done.stderr),
          f"{about}: no stage and place in\n{done.stderr[:500]}")
    check(re.search(r"note: version \d+\.\d+\.\d+ \(\w+\)", done.stderr), f"{about}: no version")
    check(f"the command was: nereid {words[0]}" in done.stderr, f"{about}: no command")
    check(not left, f"{about}: left {left}")
    repeat = re.search(r"repeat it by: nereid (.*)", done.stderr)
    if words[0] == "compile" and stage != "parse":
        check(repeat, f"{about}: nothing repeats it")
    if repeat and words[1] == KERNEL:
        again = subprocess.run(["sh", "-c", f'"$NEREID" {repeat[1]}'], capture_output=True,
                               text=True, cwd=ROOT, env={**os.environ, "NEREID": NEREID})
        check(stage == "parse" or again.returncode == 0,
              f"{about}: `{repeat[1]}` is no command: {again.stderr[:300]}")
    return True


for command, stages in COMMANDS:
    good, _, _ = run(command, "none")
    check(good.returncode == 0, f"{command}: {good.stderr[:300]}")
    for stage in dict.fromkeys(stages):
        has = try_stage(command, stage)
        check(has or stage not in ALWAYS, f"{command}: no stage {stage}")
sys.exit(report())
