#!/usr/bin/env python3
"""What a terminal shows of work that lasts: kernels and seconds, on one line that goes; nothing
where standard error is no terminal, nothing with a log, and nothing of work that is done within a
second."""
# tests/run: sleeps
import os, pathlib, pty, re, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import tally  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
KERNEL = str(ROOT / "examples/kernels/vector_add.py")
GRAPH = 'def forward(self, x: "f32[4]"):\n    y = torch.ops.aten.neg.default(x)\n    return (y,)\n'
# Twenty kernels of shapes that do not fuse, more than a library holds.
SHAPES = [f'x{i}: "f32[{8 + i}, {16 + i}]"' for i in range(20)]
MANY = "def forward(self, " + ", ".join(SHAPES) + "):\n"
MANY += "".join(f"    y{i} = torch.ops.aten.cumsum.default(x{i}, 1)\n" for i in range(20))
MANY += "    return (" + ", ".join(f"y{i}" for i in range(20)) + ",)\n"
LOOP = """import triton
import triton.language as tl

@triton.jit
def loop(out, n):
    total = 0
    for i in range(n):
        total += i % 7
    tl.store(out, total)
"""
ARRAYS = ["x_ptr=ones:f32[64]", "y_ptr=ones:f32[64]", "out_ptr=empty:f32[64]", "n=64"]


def seen(arguments, env, status=0):
    """What is written to a terminal as standard error."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([NEREID, *arguments], stderr=theirs, stdout=subprocess.DEVNULL,
                               env=env)
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux says so of a terminal whose other end is closed
            part = b""
        if not part:
            break
        text += part
    os.close(ours)
    tally.check(process.wait() == status, f"status of {arguments}: {text.decode()}")
    return text.decode()


def check_typed():
    """A model that is typed ends with one end of input."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([NEREID, "graph", "-", "--emit", "graph"], stdin=theirs,
                               stdout=subprocess.PIPE, text=True)
    os.write(ours, GRAPH.encode() + b"\x04")
    try:
        printed = process.communicate(timeout=60)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        printed = "it waits for more"
    tally.check("aten.neg.default(x)" in printed, f"a model that is typed: {printed}")
    os.close(ours)
    os.close(theirs)


def tool(folder, name, text):
    path = pathlib.Path(folder, name)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o700)
    return str(path)


def shows(pattern, arguments, env, status=0):
    text = seen(arguments, env, status)
    tally.check(re.search(pattern, text), f"{arguments}: no {pattern}: {text!r}")
    if not status:
        tally.check(text.endswith("\r\x1b[K"), f"the line goes: {text!r}")


with tempfile.TemporaryDirectory() as folder:
    model, many = pathlib.Path(folder, "m.py"), pathlib.Path(folder, "many.py")
    loop, x = pathlib.Path(folder, "loop.py"), pathlib.Path(folder, "x.npy")
    model.write_text(GRAPH)
    many.write_text(MANY)
    loop.write_text(LOOP)
    np.save(x, np.ones(4, np.float32))
    cc = tool(folder, "cc", 'case "$*" in *kernel.c*) sleep 1.4;; esac\nexec cc "$@"\n')
    ptxas = tool(folder, "ptxas",
                 'sleep 1.4\nwhile [ "$1" != -o ]; do shift; done\necho x > "$2"\n')
    part = tool(folder, "part", 'case "$*" in *kernel.c*) mkdir "$0.first" 2>/dev/null || '
                                'sleep 2.5;; esac\nexec cc "$@"\n')
    slow = {**os.environ, "CC": cc, "NEREID_PTXAS": ptxas, "NEREID_CACHE_DIR": ""}

    run = ["graph", str(model), str(x), "--device"]
    shows(r"compiling 0 of 1 kernels \(1 s\)", [*run, "cpu"], slow)
    shows(r"compiling [1-9]\d? of 20 kernels",
          ["graph", str(many), "--random-inputs", "--device", "cpu"],
          {**slow, "CC": part})
    shows(r"building 0 of 1 kernels \(1 s\)",
          ["build", str(model), "-o", folder + "/built", "--target", "sm_90a"], slow)
    compiled = ["compile", KERNEL, "--sig", "x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32,n=i32", "-D",
                "BLOCK=64", "--emit", "cubin", "-o", os.devnull]
    shows(r"compiling \S+ \(1 s\)", compiled, slow)
    shows(r"compiling vector_add \(1 s\)",
          ["run", KERNEL, *ARRAYS, "-D", "BLOCK=64", "--grid", "1", "--device", "cpu"], slow)
    shows(r"\x1b\[K[01] of 2", ["tune", KERNEL, *ARRAYS, "--space", "BLOCK=32,64", "--grid",
                                "cdiv(n, BLOCK)", "--device", "cpu"],
          {**slow, "NEREID_CACHE_DIR": folder + "/cache"})
    shows(r"1 of 1  n=64", ["bench", KERNEL, *ARRAYS[:3], "--x", "n=64", "-D", "BLOCK=64",
                            "--grid", "1", "--device", "cpu"], slow)
    shows(r"running loop \(1 s\)", ["run", str(loop), "out=empty:i32[1]", "n=20000000", "--grid",
                                    "1", "--device", "interp"], slow)

    text = seen([*run, "interp"], slow)
    tally.check("compiling" not in text, f"what is quick: {text!r}")
    text = seen([*run, "cpu", "-v"], slow)
    tally.check("\x1b[K" not in text and "compile:" in text, f"with a log: {text!r}")
    quiet = subprocess.run([NEREID, *run, "cpu"], capture_output=True, text=True, env=slow)
    tally.check(quiet.stderr == "", f"a pipe: {quiet.stderr!r}")
check_typed()
sys.exit(tally.report())
