#!/usr/bin/env python3
"""Products whose operands indices choose, rows or matrices, as plans for GPUs compute them: the
kernel reads them where they are.  The plans run on other devices, against NumPy in f64.

    gathers.py [--devices interp,nest] [NAME...]
"""
import argparse, os, pathlib, re, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
TOLERANCE = 1e-3
NAMES = {"float16": "f16", "int32": "i32", "int64": "i64", "uint8": "u8"}
K, N, EXPERTS = 64, 48, 4
SIZES = [5, 0, 12, 3]  # of groups


class Case:
    """The body of a graph by its inputs, and what it should give; steps: kernels but checks."""

    def __init__(self, body, want, steps=1, result="y", **inputs):
        self.body, self.want, self.steps, self.inputs = body, want, steps, inputs
        self.result = result

    def text(self):
        given = ", ".join(f'{n}: "{NAMES[str(a.dtype)]}[{", ".join(map(str, a.shape))}]"'
                          for n, a in self.inputs.items())
        lines = "".join(f"    {line.strip()}\n" for line in self.body.strip().splitlines())
        for name in ("index.Tensor", "_grouped_mm.default", "bmm.default", "view.default",
                     "permute.default", "unsqueeze.default", "index_select.default",
                     "transpose.int", "squeeze.dim", "embedding.default", "sum.default"):
            lines = lines.replace(f" {name}(", f" torch.ops.aten.{name}(")
        return f"def forward(self, {given}):\n{lines}    return ({self.result},)\n"


def halves(rng, *shape):
    return (rng.normal(size=shape) * shape[-1] ** -0.5).astype(np.float16)


def by_groups(rows, w, ends):
    parts = zip([0, *ends], ends)
    return np.concatenate([rows[a:b].astype(np.float64) @ m for (a, b), m in zip(parts, w)])


def of_rows(body, steps=1, tokens=9, dtype=np.int64, least=-9, shape=None, result="y", back=False):
    rng = np.random.default_rng(len(body))
    ends = np.cumsum(SIZES).astype(np.int32)
    x, w = halves(rng, tokens, K), halves(rng, EXPERTS, K, N)
    at = rng.integers(least, tokens, ends[-1]).astype(dtype)
    given = x.reshape(shape) if shape else x
    more = {"back": rng.permutation(len(at))} if back else {}
    rows = x[at][more["back"]] if back else x[at]
    want = by_groups(rows, w.astype(np.float64), ends)
    return Case(body, want, steps, result, x=given, at=at, w=w, offs=ends, **more)


def of_matrices(body, rows=6, choose=None, turned=True):
    rng = np.random.default_rng(len(body))
    w = halves(rng, EXPERTS, N, K)
    at = rng.integers(-EXPERTS, EXPERTS, (rows,) + (() if choose is None else (choose,)))
    x = halves(rng, rows, K)
    chosen = w[at].astype(np.float64).reshape(rows, -1, K)
    want = np.einsum("bk,bnk->bn", x.astype(np.float64), chosen)
    return Case(body, want, x=x, at=at, w=w if turned else w.transpose(0, 2, 1).copy())


CASES = {
    "rows": of_rows("""g = index.Tensor(x, [at])
                       y = _grouped_mm.default(g, w, offs)"""),
    "rows of a view": of_rows("""v = view.default(x, [9, 64])
                                 g = index_select.default(v, 0, at)
                                 y = _grouped_mm.default(g, w, offs)""",
                              least=0, dtype=np.int32, shape=(3, 3, K)),
    "rows of an embedding": of_rows("""g = embedding.default(x, at)
                                       y = _grouped_mm.default(g, w, offs)""", least=0),
    "rows of rows": of_rows("""g = index.Tensor(x, [at])
                                h = index.Tensor(g, [back])
                                y = _grouped_mm.default(h, w, offs)""", back=True),
    "rows that another reads": of_rows("""g = index.Tensor(x, [at])
                                          t = sum.default(g)
                                          y = _grouped_mm.default(g, w, offs)""",
                                       steps=2, result="y, t"),
    "matrices": of_matrices("""g = index.Tensor(w, [at])
                               u = unsqueeze.default(x, 2)
                               p = bmm.default(g, u)
                               y = squeeze.dim(p, 2)"""),
    "matrices, turned": of_matrices("""g = index.Tensor(w, [at])
                                       u = unsqueeze.default(x, 1)
                                       p = bmm.default(u, g)
                                       y = squeeze.dim(p, 1)""", turned=False),
    "two matrices each": of_matrices("""g = index.Tensor(w, [at])
                                        q = permute.default(g, [0, 3, 1, 2])
                                        r = view.default(q, [6, 64, 96])
                                        u = unsqueeze.default(x, 1)
                                        p = bmm.default(u, r)
                                        y = squeeze.dim(p, 1)""", choose=2),
}


def several_rows():
    """Some rows for each of the matrices."""
    rng = np.random.default_rng(3)
    x, w, at = halves(rng, 6, 5, K), halves(rng, EXPERTS, K, N), rng.integers(0, EXPERTS, 6)
    want = x.astype(np.float64) @ w[at].astype(np.float64)
    return Case("""g = index.Tensor(w, [at])
                   y = bmm.default(x, g)""", want, x=x, at=at, w=w)


def a_row_in_each():
    """Rows by an index for each batch, on the left."""
    rng = np.random.default_rng(4)
    x, w, at = halves(rng, 20, K), halves(rng, 3, K, N), rng.integers(-20, 20, (3, 17))
    want = x[at].astype(np.float64) @ w.astype(np.float64)
    return Case("""g = index.Tensor(x, [at])
                   y = bmm.default(g, w)""", want, x=x, at=at, w=w)


def long_sums():
    """A sum so long that it is cut into parts, which a kernel adds."""
    rng = np.random.default_rng(5)
    x, w, at = halves(rng, 3, 4096), halves(rng, EXPERTS, 4096, 16), rng.integers(-4, EXPERTS, 3)
    want = np.einsum("bk,bkn->bn", x.astype(np.float64), w[at].astype(np.float64)) / 4
    w = (w / 4).astype(np.float16)
    return Case("""g = index.Tensor(w, [at])
                   u = unsqueeze.default(x, 1)
                   p = bmm.default(u, g)
                   y = squeeze.dim(p, 1)""", want, steps=2, x=x, at=at, w=w)


CASES["rows for each matrix"] = several_rows()
CASES["long sums"] = long_sums()
CASES["rows in batches"] = a_row_in_each()


def nereid(*arguments):
    return subprocess.run([NEREID, *map(str, arguments)], capture_output=True, text=True)


def plan_of(case, folder):
    (folder / "graph.py").write_text(case.text())
    files = []
    for name, array in case.inputs.items():
        np.save(folder / f"{name}.npy", array)
        files.append(folder / f"{name}.npy")
    done = nereid("graph", folder / "graph.py", "--device", "cuda", "--emit", "plan", "-o",
                  folder / "plan.txt")
    lines = (folder / "plan.txt").read_text() if done.returncode == 0 else done.stderr
    covered = [(s, re.findall(r'"([a-z]+\.\w+)\.', s)) for s in lines.splitlines()
               if s.startswith("step ")]
    steps = [s for s, operators in covered if set(operators) != {"nereid.check_index"}]
    return files, steps, done.stderr


def compare(name, case, devices, folder):
    files, steps, errors = plan_of(case, folder)
    check(len(steps) == case.steps, f"{name}: {steps} {errors[-500:]}")
    for device in devices:
        done = nereid("graph", folder / "plan.txt", *files, "--device", device, "--out-dir",
                      folder / "out")
        off = np.inf
        if done.returncode == 0:
            got = np.load(folder / "out/output_0.npy").astype(np.float64)
            off = np.linalg.norm(got - case.want) / np.linalg.norm(case.want)
        check(off < TOLERANCE, f"{name} on {device}: {off} away {done.stderr[-500:]}")


def refuse(devices, folder):
    """A row that the tensor does not have is reported, and read nowhere."""
    case = CASES["rows"]
    files, _, _ = plan_of(case, folder)
    at = case.inputs["at"].copy()
    at[7] = 9
    np.save(folder / "at.npy", at)
    for device in devices:
        done = nereid("graph", folder / "plan.txt", *files, "--device", device, "--out-dir",
                      folder / "out")
        check(done.returncode == 1 and "index 9 at [7]" in done.stderr,
              f"outside on {device}: status {done.returncode}, {done.stderr[-500:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default="interp,nest")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    devices = args.devices.split(",")
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        for name, case in CASES.items():
            if not args.names or name in args.names:
                compare(name, case, devices, folder)
        refuse(devices, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
