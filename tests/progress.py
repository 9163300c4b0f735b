#!/usr/bin/env python3
"""What a terminal shows of work that lasts: seconds, on one line that goes; nothing where standard
error is no terminal, and nothing of work that is done within one."""
import os, pathlib, pty, subprocess, sys, tempfile

import numpy as np

import tally

ROOT = pathlib.Path(__file__).resolve().parent.parent
NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build" / "nereid"))
GRAPH = 'def forward(self, x: "f32[4]"):\n    y = torch.ops.aten.neg.default(x)\n    return (y,)\n'

def seen(arguments, env):
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
    tally.check(process.wait() == 0, f"status of {arguments}")
    return text.decode()

with tempfile.TemporaryDirectory() as folder:
    model, x = pathlib.Path(folder, "m.py"), pathlib.Path(folder, "slow-cc")
    model.write_text(GRAPH)
    x.write_text('#!/bin/sh\ncase "$*" in *kernel.c*) sleep 2;; esac\nexec cc "$@"\n')
    x.chmod(0o700)

    np.save(pathlib.Path(folder, "x.npy"), np.ones(4, np.float32))
    run = ["graph", str(model), str(pathlib.Path(folder, "x.npy")), "--device"]
    slow = {**os.environ, "CC": str(x), "NEREID_CACHE_DIR": ""}
    text = seen([*run, "cpu"], slow)
    tally.check(f"compiling {model}  1 s" in text, f"seconds: {text!r}")
    tally.check(text.endswith("\r\x1b[K"), f"the line goes: {text!r}")
    text = seen([*run, "interp"], slow)
    tally.check("compiling" not in text, f"what is quick: {text!r}")
    quiet = subprocess.run([NEREID, *run, "cpu"], capture_output=True, text=True, env=slow)
    tally.check(quiet.stderr == "", f"a pipe: {quiet.stderr!r}")
sys.exit(tally.report())
