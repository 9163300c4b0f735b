#!/usr/bin/env python3
"""Names of a graph's inputs, nodes and sizes mean nothing: with names that Python, the language,
the kernels' templates or C have as well, the results are the same, by `nereid graph` and as C
projects."""
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import rename  # noqa: E402
from quick_cc import quick_compiler  # noqa: E402
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
GRAPHS = {
    "rows": ('''def forward(self, first: "f32[s0, s1]", second: "f32[s1]", third: "i64[s0]"):
    added: "f32[s0, s1]" = torch.ops.aten.add.Tensor(first, second)
    heated: "f32[s0, s1]" = torch.ops.aten.gelu.default(added)
    shares: "f32[s0, s1]" = torch.ops.aten._softmax.default(heated, 1, False)
    column: "i64[s0, 1]" = torch.ops.aten.unsqueeze.default(third, 1)
    taken: "f32[s0, 1]" = torch.ops.aten.gather.default(shares, 1, column)
    total: "f32[s1]" = torch.ops.aten.sum.dim_IntList(shares, [0])
    return (taken, total)
''', lambda rng: [rng.standard_normal((5, 37)), rng.standard_normal(37), rng.integers(0, 37, 5)]),
    "product": ('''def forward(self, first: "f32[s0, 24]", second: "f32[24, 40]", third: "f32[40]"):
    wide: "f32[s0, 40]" = torch.ops.aten.addmm.default(third, first, second)
    positive: "f32[s0, 40]" = torch.ops.aten.relu.default(wide)
    ordered = torch.ops.aten.sort.default(positive, 1, True)
    values: "f32[s0, 40]" = ordered[0]
    places: "i64[s0, 40]" = ordered[1]
    running: "f32[s0, 40]" = torch.ops.aten.cumsum.default(values, 1)
    return (running, places)
''', lambda rng: [rng.standard_normal(shape) for shape in ((7, 24), (24, 40), 40)]),
}


def words(text):
    """Names that the graph binds: its inputs, nodes and sizes."""
    sizes = set(re.findall(r"\bs\d\b", text))
    return sorted({*re.findall(r"(?m)^    (\w+)[: ]", text), *re.findall(r"[(,] ?(\w+): \"", text),
                   *sizes} - {"return"})


def pools(text, folder):
    path = pathlib.Path(folder, "graph.py")
    path.write_text(text)
    made = subprocess.run([NEREID, "graph", path, "--emit", "kernels"], capture_output=True,
                          text=True)
    own = re.findall(r"[A-Za-z_]\w*", made.stdout)
    language = ("tl triton libdevice XBLOCK RBLOCK xindex rindex xmask rmask acc pid m n k b x r "
                "BM BN out_ptr in_ptr0 range float int min max abs self torch inf nan device model")
    return {"own": own, "language": language.split(), "c": rename.WORDS, "ptx": rename.PTX_WORDS}


def renamed(text, pool, rng):
    bound = words(text)
    keep = set(re.findall(r"[A-Za-z_]\w*", text)) | {"return", "def"}
    good = [w for w in sorted(set(pool)) if w.isidentifier() and not rename.keyword.iskeyword(w)
            and w not in keep]
    new = dict(zip(bound, rng.sample(good, len(bound))))
    # operators' names stay, which a dot comes before
    return re.sub(r"(?<![.\w])[A-Za-z_]\w*", lambda found: new.get(found[0], found[0]), text)


def run(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    return done.returncode, done.stdout + done.stderr


def outputs(folder):
    return [np.load(path) for path in sorted(pathlib.Path(folder).glob("output_*.npy"))]


def run_graph(text, inputs, folder, device):
    folder = pathlib.Path(folder)
    (folder / "graph.py").write_text(text)
    code, said = run([NEREID, "graph", folder / "graph.py", *inputs, "--device", device,
                      "--out-dir", folder / "out"])
    return said if code else outputs(folder / "out")


def run_project(text, inputs, folder):
    folder = pathlib.Path(folder)
    (folder / "graph.py").write_text(text)
    code, said = run([NEREID, "build", folder / "graph.py", "-o", folder / "p", "--target", "cpu"])
    if not code:
        flags = "KERNEL_FLAGS=-O0 -w -fwrapv -march=native -ffp-contract=off"
        code, said = run(["make", "-s", "-C", folder / "p", flags])
    if not code:
        code, said = run([folder / "p/model", *inputs, "--out-dir", folder / "out"])
    return said if code else outputs(folder / "out")


def check_graph(name, pool, how):
    text, make = GRAPHS[name]
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        inputs = []
        for i, array in enumerate(make(rng)):
            inputs.append(pathlib.Path(folder, f"{i}.npy"))
            np.save(inputs[-1], array.astype(np.float32) if array.dtype == float else array)
        other = renamed(text, pools(text, folder)[pool], random.Random(f"{name} {pool} {how}"))
        where = [pathlib.Path(folder, part) for part in ("own", "other")]
        for part in where:
            part.mkdir()
        if how == "project":
            own = run_graph(text, inputs, where[0], "cpu")
            got = run_project(other, inputs, where[1])
        else:
            own = run_graph(text, inputs, where[0], how)
            got = run_graph(other, inputs, where[1], how)
    same = isinstance(own, list) and isinstance(got, list) and len(own) == len(got) == 2
    same = same and all(np.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(own, got))
    return same, f"{name}, names of {pool}, {how}: {own if isinstance(own, str) else got}\n{other}"


with tempfile.TemporaryDirectory() as compiled:
    quick_compiler(compiled, "-O0")
    jobs = [(name, pool, how) for name in GRAPHS for pool in ("own", "language", "c", "ptx")
            for how in ("cpu", "interp", "project") if how != "project" or pool in ("own", "c")]
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        for same, what in threads.map(lambda job: check_graph(*job), jobs):
            check(same, what)
sys.exit(report())
