#!/usr/bin/env python3
"""Random kernels of rows that registers can't hold: what loops over strips of them store (device
nest) is what the source stores (device interp).

    random_rows.py [COUNT [SEED]]

All values are small integers, so that sums are exact in any order."""
import os, pathlib, random, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
INPUTS, OUTPUTS, ROWS = ["a", "b", "w"], ["x", "y"], 5


class Kernel:
    """The lines of a kernel, and what is known of its values."""

    def __init__(self, r):
        self.r, self.n_lines = r, 0
        self.large = r.random() < 0.4  # shared memory does not hold several such rows
        self.block = r.choice([65536, 131072]) if self.large else r.choice([4096, 8192])
        self.warps = r.choice([4, 8, 16, 32]) if self.large else 1
        self.target = r.choice(["sm_86", "sm_90a", "sm_90a"])
        self.n = r.choice([self.block, self.block - 8, self.block - 77, self.block // 2 + 16])
        self.masked = self.n < self.block or r.random() < 0.3
        self.stride = self.n + r.choice([0, 0, 8, 3])
        self.types = {p: r.choice(["f32", "f32", "bf16", "i32"]) for p in INPUTS + OUTPUTS}
        self.lines, self.rows, self.scalars = [], [], []

    def name(self, prefix):
        self.n_lines += 1
        return f"{prefix}{self.n_lines}"

    def add(self, text):
        self.lines.append("    " + text)

    def mask(self):
        return "mask" if self.masked else None

    def address(self, p):
        return f"{p}_ptr + cols" if p == "w" else f"{p}_ptr + row * stride + cols"

    def load(self, p):
        v, mask = self.name("r"), self.mask()
        other = f", other={self.r.choice(['0', '3', '-2'])}" if mask else ""
        by = f", mask={mask}{other}" if mask else ""
        self.add(f"{v} = tl.load({self.address(p)}{by}).to(tl.float32)")
        self.rows.append(v)

    def compute(self):
        v, x = self.name("r"), self.r.choice(self.rows)
        y = self.r.choice(self.rows + self.scalars + ["2.0"])
        form = self.r.choice(["{x} + {y}", "{x} - {y}", "tl.maximum({x}, {y})",
                              "tl.where({x} > {y}, {x}, {y} - 1)", "{x} * {y}",
                              "tl.where(mask, {x}, 1.0)"])
        self.add(f"{v} = tl.minimum(tl.maximum({form.format(x=x, y=y)}, -9.0), 9.0)")
        self.rows.append(v)

    def reduce(self):
        v, x = self.name("s"), self.r.choice(self.rows)
        form = self.r.choice(["tl.sum({x}, 0)", "tl.max({x}, 0)", "tl.min({x}, 0)",
                              "tl.reduce({x}, 0, larger)", "tl.sum(tl.where(mask, {x}, 0.0), 0)"])
        self.add(f"{v} = {form.format(x=x)}")
        if "sum" in form:
            self.add(f"{v} = tl.minimum(tl.maximum({v}, -70000.0), 70000.0)")
            self.add(f"{v} = {v} - tl.floor({v} / 8) * 8")
        self.scalars.append(v)

    def store(self):
        p, mask = self.r.choice(OUTPUTS), self.mask()
        by = f", mask={mask}" if mask else ""
        self.add(f"tl.store({self.address(p)}, {self.r.choice(self.rows)}{by})")

    def store_scalar(self):
        if self.scalars:
            self.add(f"tl.store(m_ptr + row, {self.r.choice(self.scalars)})")

    def text(self):
        pointers = ", ".join(f"{p}_ptr" for p in INPUTS + OUTPUTS + ["m"])
        return "\n".join(["import triton", "import triton.language as tl", "", "@triton.jit",
                          "def larger(a, b):", "    return tl.where(a > b, a, b)", "",
                          "@triton.jit", f"def rows({pointers}, n, stride, BLOCK: tl.constexpr):",
                          "    row = tl.program_id(0)", "    cols = tl.arange(0, BLOCK)",
                          "    mask = cols < n", *self.lines]) + "\n"


def make(r):
    k = Kernel(r)
    k.load(r.choice(INPUTS + OUTPUTS[:1]))
    k.reduce()
    steps = [k.compute, k.compute, k.reduce, k.reduce, k.store, k.store_scalar,
             lambda: k.load(r.choice(INPUTS + OUTPUTS))]
    for _ in range(r.randint(4, 12)):
        r.choice(steps)()
    k.compute()
    k.store()
    return k


def run(*words):
    done = subprocess.run([NEREID, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def check(k, folder):
    """What differs, whether there are strips, and whether blocks share them."""
    path = folder / "rows.py"
    path.write_text(k.text())
    alias = k.r.random() < 0.25 and k.types["a"] == k.types["x"]
    div = "" if k.stride % 8 else ":8"
    sig = ",".join([f"{p}_ptr=*{t}:16" for p, t in k.types.items()] +
                   ["m_ptr=*f32:16", f"n=i32{':8' if k.n % 8 == 0 else ''}", f"stride=i32{div}"])
    sizes = {p: f"[{k.n}]" if p == "w" else f"[{ROWS},{k.stride}]" for p in k.types}
    values = [f"{p}_ptr=randint:{t}{sizes[p]}:-4:5:{i + 1}" for i, (p, t) in
              enumerate(k.types.items())]
    if alias:
        values[len(INPUTS)] = "x_ptr=&a_ptr"
    values += [f"m_ptr=zeros:f32[{ROWS}]", f"n={k.n}", f"stride={k.stride}"]
    outs = ["a_ptr" if alias else "x_ptr", "y_ptr", "m_ptr"]

    def result(what, device, grid, *more):
        paths = [folder / f"{name}.npy" for name in outs]
        for p in paths:
            p.unlink(missing_ok=True)
        keep = [w for name, p in zip(outs, paths) for w in ("--out", f"{name}={p}")]
        run("run", what, *values, *more, "--grid", grid, "--device", device, *keep)
        return [p.read_bytes() for p in paths]

    words = ["-DBLOCK=%d" % k.block, "--num-warps", k.warps]
    source = f"{path}:rows"
    expected = result(source, "interp", ROWS, *words)
    strips = result(source, "nest", ROWS, *words, "--target", k.target)
    wrong = [] if strips == expected else ["nest"]
    text = run("compile", source, "--sig", sig, *words, "--target", k.target, "--emit", "tile")
    return wrong, "unpark" in text, "cluster_rank" in text


def main(count, seed):
    passed = failed = strips = clusters = 0
    for i in range(count):
        k = make(random.Random(seed + i))
        with tempfile.TemporaryDirectory() as name:
            try:
                wrong, strip, cluster = check(k, pathlib.Path(name))
            except RuntimeError as e:
                wrong, strip, cluster = [str(e)], 0, 0
        strips, clusters = strips + strip, clusters + cluster
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"FAIL seed {seed + i}: {', '.join(wrong)}\n{k.text()}")
    good = (strips * 2 >= count and clusters * 10 >= count) or count < 10
    passed, failed = passed + good, failed + (not good)
    if not good:
        print(f"FAIL {strips} of {count} kernels have strips, {clusters} clusters")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    words = [int(x) for x in sys.argv[1:]]
    sys.exit(main(words[0] if words else 24, words[1] if len(words) > 1 else 1))
