#!/usr/bin/env python3
"""Random calls of the language's functions, with random numbers, tiles, dtypes and other values:
each is refused with a message at its line, or compiled and run, and `nest` and `cpu` give what
`interp` gives.  Nothing ends by an internal error or a signal.

    builtin_calls.py                       calls 0 to 799, as `make check` does
    builtin_calls.py 100000 --first 800    that many, from number 800 on
    builtin_calls.py 1 --first 4711        that one, whose text is printed
    builtin_calls.py 100000 --cpu-every 8  on `cpu`, whose C compiler takes most of the time, one
                                           kernel of eight

Call i is a function of i alone; 40 calls share a kernel."""
import argparse, collections, os, pathlib, random, re, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import quick_cc  # noqa: E402
from tables import rows  # noqa: E402
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
BATCH, SLOT, LIMIT_S = 40, 1024, 120
DTYPES = ["int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "bfloat16", "float32", "float64", "float8e5", "float8e4nv"]
INTS = ["0", "1", "-1", "2", "3", "4", "7", "8", "64", "255", "2147483647", "-2147483648",
        "2147483648", "2**40", "2**63 - 1", "2**63", "-2**63", "2**64", "2**70"]
FLOATS = ["0.0", "-0.0", "0.5", "1.5", "-2.0", "3.0", "float('inf')", "float('nan')", "1e300",
          "1e-320"]
OTHERS = ["None", "'x'", "'tf32'", "()", "(1, 2)", "[8]", "[4, 8]", "tl", "p", "add_fn", "tl.sum",
          "C0", "C1", "C2", "C3", "C4", "C5", "True", "False", "slice(0, 2)", "...", "{}",
          "'acq_rel'"]
CONSTANTS = {"C0": "3", "C1": "True", "C2": "2.5", "C3": "None", "C4": "-7", "C5": "1099511627776"}
SHAPES = ["[8]", "[4, 8]", "[16, 16]", "[]", "[1, 8]", "[4, 1]", "[2, 4, 4]"]
# They loop, print, or promise what random values don't keep: compiled, and not run.
ONLY_COMPILED = {"device_assert", "assume", "multiple_of", "max_contiguous", "max_constancy",
                 "cdiv", "swizzle2d", "debug_barrier", "item", "load", "store", "atomic_add",
                 "atomic_max", "atomic_min", "atomic_and", "atomic_or", "atomic_xor", "atomic_xchg",
                 "atomic_cas",
                 "atomic_load", "atomic_store", "advance", "num_threads", "num_warps", "smid",
                 "globaltimer", "program_id", "num_programs", "expect_zero", "device_print"}
LEFT_OUT = {"atomic_poll", "static_print", "static_assert", "gdc_wait", "gdc_launch_dependents"}
# What fits parameters of these names.
CHOICES = [
    (("axis", "dim", "dims", "i"), ["0", "0", "1", "-1", "-2", "2", "None"]),
    (("shape", "block_shape"), [*SHAPES, "[32]", "[8, 4]", "(2, 4)", "[-1]"]),
    (("n",), ["0", "1", "2", "3", "-1", "C0"]),  # Bessel functions go through all orders below it
    (("start",), ["0", "0", "1", "-4", "8"]),
    (("end",), ["8", "16", "12", "1", "0"]),
    (("num_bins", "k"), ["4", "8", "1", "3", "0", "-1"]),
    (("keep_dims", "descending", "reverse", "bitcast", "can_reorder", "ieee_rounding", "approx",
      "return_indices", "tie_break_left"), ["True", "False"]),
    (("combine_fn", "scalar_fn"), ["add_fn", "max_fn"]),
    (("pointer", "base", "ptr", "desc"), ["p + tl.arange(0, 8)"]),
    (("values",), ["1", "[1]", "[1, 1]", "8"]),
    (("n_rounds", "pack"), ["10", "1", "2"]),
]
STD = ["standard", "math", "random", "scaled", "libdevice", "integer", "convert"]


def functions():
    """(how it is called, parameters) of all functions of the language."""
    found = []
    for _, (name, where, params, *_) in rows("sema/value/builtins.h", "BUILTINS"):
        if "L" in where and name not in LEFT_OUT:
            found.append((f"tl.{name}", params))
    for file in STD:
        text = (ROOT / "lang/std" / f"{file}.py").read_text()
        for name, params in re.findall(r"(?m)^def ([a-z]\w*)\(((?:[^()]|\([^()]*\))*)\)", text):
            space = "libdevice" if file in ("libdevice", "integer", "convert") else "tl"
            if name not in LEFT_OUT: found.append((f"{space}.{name}", params))
    return found


def parameters(text):
    """(name, has a default, is a rest) of each."""
    for part in re.split(r",(?![^(]*\))", re.sub(r"\s+", " ", text)):
        name = re.match(r"\s*(\**)(\w+)", part)
        if name: yield name[2], "=" in part, bool(name[1])


# The order of a sum matters in dtypes of few bits, and any of equal elements may be the least.
ANY_PLACE = {"tl.argmin", "tl.argmax", "tl.min", "tl.max"}
COARSE = {"float8": .5, "float16": .1}


class Call:
    def __init__(self, number):
        self.r = random.Random(f"builtin {number}")
        self.number = number
        self.name, params = self.r.choice(FUNCTIONS)
        self.shape = self.r.choice(SHAPES)
        self.dtype = self.r.choice(DTYPES + ["float32"] * 12 + ["float64"] * 4 + ["int32"] * 6)
        self.text = f"{self.name}({self.arguments(params)})"

    def tile(self):
        """Mostly of one shape and dtype in a call, as people write them."""
        r = self.r
        shape = self.shape if r.random() < .85 else r.choice(SHAPES)
        dtype = self.dtype if r.random() < .7 else r.choice(DTYPES)
        if r.random() < .1: return f"tl.full({shape}, {r.choice(['1', '0', '2.0'])}, tl.{dtype})"
        return f"tile(p, {shape}, {r.randrange(4)}, tl.{dtype})"

    def wild(self):
        r = self.r
        typed = f"tl.cast({r.choice(INTS[:9])}, tl.{r.choice(DTYPES)})"
        return r.choice([r.choice(INTS), r.choice(FLOATS), r.choice(OTHERS), self.tile(), typed,
                         f"tl.{r.choice(DTYPES)}", "p + tl.arange(0, 8)", r.choice(SHAPES)])

    def value(self, name):
        r = self.r
        if r.random() < .06: return self.wild()
        for names, choices in CHOICES:
            if name in names: return r.choice(choices)
        if name in ("dtype", "out_dtype", "element_ty"): return f"tl.{r.choice(DTYPES)}"
        if name in ("mask", "condition", "cond"): return f"({self.tile()} != 0)"
        if name == "index": return f"tl.full({self.shape}, 0, tl.int32)"
        if name in ("seed", "offset", "offsets") or re.fullmatch(r"[ck]\d", name):
            return r.choice([self.tile(), r.choice(INTS)])
        return r.choice(INTS + FLOATS + OTHERS[-16:-10]) if r.random() < .35 else self.tile()

    def arguments(self, text):
        r, out = self.r, []
        named = False
        for name, optional, rest in parameters(text):
            if rest:
                out += [self.value(name) for _ in range(r.randrange(3))]
                continue
            if optional and r.random() < .6:
                named = True
                continue
            if r.random() < .02: continue
            value = self.value(name)
            out.append(f"{name}={value}" if named else value)
        if r.random() < .02: out.append(self.wild() if not named else f"odd={self.wild()}")
        return ", ".join(out)


HEAD = """import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def add_fn(a, b):
    return a + b

@triton.jit
def max_fn(a, b):
    return tl.maximum(a, b)

@triton.jit
def tile(p, shape: tl.constexpr, which: tl.constexpr, dtype: tl.constexpr):
    if len(shape) == 0:
        return tl.load(p + which * 256).to(tl.int32).to(dtype)
    else:
        n: tl.constexpr = numel(shape)
        return tl.reshape(tl.load(p + which * 256 + tl.arange(0, n)).to(tl.int32).to(dtype), shape)

@triton.constexpr_function
def numel(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n

@triton.jit
def keep(f, i, v):
    x = tl.to_tensor(v)
    if x.dtype.is_ptr():
        pass
    elif x.dtype.is_floating():
        put(f, x.to(tl.float64))
    else:
        put(i, x.to(tl.int64))

@triton.jit
def put(p, x):
    if len(x.shape) == 0:
        tl.store(p, x)
    else:
        if x.numel <= 1024:
            tl.store(p + tl.arange(0, x.numel), tl.reshape(x, [x.numel]))

@triton.jit
def k(p, f, i, C0: tl.constexpr, C1: tl.constexpr, C2: tl.constexpr, C3: tl.constexpr,
      C4: tl.constexpr, C5: tl.constexpr):
"""
FIRST = HEAD.count("\n") + 1


class Batch:
    def __init__(self, calls, folder, devices):
        self.calls, self.folder, self.devices = calls, folder, devices

    def text(self, form):
        """`form` of each call, or nothing in its line."""
        lines = [form[c.number].format(slot=n * SLOT, call=c.text) or "pass"
                 for n, c in enumerate(self.calls)]
        return HEAD + "".join(f"    {line}\n" for line in lines)

    def start(self, form, *words):
        path = self.folder / "k.py"
        path.write_text(self.text(form))
        constants = [w for c, v in CONSTANTS.items() for w in ("-D", f"{c}={v}")]
        try:
            done = subprocess.run([NEREID, *words[:1], f"{path}:k", *constants, *words[1:]],
                                  text=True, capture_output=True, errors="replace",
                                  timeout=LIMIT_S, cwd=self.folder)
            return done.returncode, done.stderr
        except subprocess.TimeoutExpired:
            return 124, "it takes more than two minutes"

    def fails(self, status, err, form, what, again):
        """True if that is no outcome that a command may have; says for which calls."""
        if status in (0, 1) and "internal error" not in err: return False
        here = [c for c in self.calls if form[c.number]]
        for c in here if len(here) > 1 else ():
            status1, err1 = again({n: (t if n == c.number else "") for n, t in form.items()})
            if status1 not in (0, 1) or "internal error" in err1:
                check(False, f"call {c.number} ({what}), status {status1}: {c.text}\n{err1[:400]}")
        check(False, f"{what}, status {status}: calls from {here[0].number}, as {here[0].text}: "
                     f"{err[:400]}")
        return True

    def compiles(self, form):
        """Removes refused calls from the form until the rest compiles; False on a failure."""
        def compile_form(form):
            return self.start(form, "compile", "--sig", "p=*fp32,f=*fp64,i=*i64", "--emit", "tile")

        for _ in range(len(self.calls) + 1):
            status, err = compile_form(form)
            if self.fails(status, err, form, "compiled", compile_form): return False
            if status == 0: return True
            lines = {int(n) - FIRST for n in re.findall(r"k\.py:(\d+):\d+: (?:error|note)", err)}
            refused = [self.calls[n].number for n in lines
                       if 0 <= n < len(self.calls) and form[self.calls[n].number]]
            if not refused:
                check(False, f"calls from {self.calls[0].number}: no place in {err[:600]}")
                return False
            for number in refused: form[number] = ""
        return False

    def run(self):
        plain = {c.number: "r = {call}" for c in self.calls}
        if not self.compiles(plain): return
        OUTCOMES["refused"] += sum(not t for t in plain.values())
        kept = {c.number: "keep(f + {slot}, i + {slot}, {call})" if plain[c.number] and
                c.name.split(".")[1] not in ONLY_COMPILED else "" for c in self.calls}
        OUTCOMES["taken"] += sum(bool(t) for t in plain.values())
        if self.compiles(kept): self.compare(kept)

    def launch(self, form, device):
        files = [f"--out=f=f_{device}.npy", f"--out=i=i_{device}.npy"]
        return self.start(form, "run", "p=@p.npy", f"f=zeros:f64[{BATCH * SLOT}]",
                          f"i=zeros:i64[{BATCH * SLOT}]", "--grid", "1", "--device", device,
                          "--num-warps", "1", *files)

    def outputs(self, device):
        return [np.load(self.folder / f"{kind}_{device}.npy") if
                (self.folder / f"{kind}_{device}.npy").exists() else np.zeros(BATCH * SLOT)
                for kind in "fi"]

    def compare(self, form):
        for file in self.folder.glob("*_*.npy"): file.unlink()
        for device in self.devices:
            for _ in range(len(self.calls)):
                status, err = self.launch(form, device)
                if self.fails(status, err, form, device, lambda f: self.launch(f, device)): return
                if status == 0 or device == "cpu": break
                found = {int(n) - FIRST for n in re.findall(r"k\.py:(\d+):\d+:", err)}
                drop = [self.calls[n].number for n in found if 0 <= n < len(self.calls)]
                if not drop: break
                for number in drop: form[number] = ""
                OUTCOMES["findings"] += len(drop)
            check(status == 0, f"calls from {self.calls[0].number} on {device}: {err[:600]}")
            if status: return
        want = self.outputs("interp")
        for device in self.devices[1:]:
            self.compare_device(form, device, want, self.outputs(device))
        OUTCOMES["compared"] += sum(bool(t) for t in form.values())

    def compare_device(self, form, device, want, got):
        for n, c in enumerate(self.calls):
            if not form[c.number]: continue
            part = slice(n * SLOT, (n + 1) * SLOT)
            if c.name in ANY_PLACE and "False" in c.text: continue
            if re.search(r"(?<!tile\()\bp\b", c.text): continue  # addresses
            share = max([v for k, v in COARSE.items() if k in c.text], default=.01)
            a, b = want[0][part], got[0][part]
            with np.errstate(all="ignore"):
                near = (a == b) | (np.isnan(a) & np.isnan(b)) | (abs(a - b) <= share * (1 + abs(a)))
                if "tl.cumprod" in c.text and share > .01:
                    near |= ~np.isfinite(a) | ~np.isfinite(b)  # of infinity and 0, in any order
            same = near.all() and (want[1][part] == got[1][part]).all()
            at = np.flatnonzero(~near | (want[1][part] != got[1][part]))
            where = at[0] if len(at) else 0
            check(same, f"call {c.number} on {device}: {c.text}: element {where} is "
                        f"{b[where]}, {got[1][part][where]} and on interp {a[where]}, "
                        f"{want[1][part][where]}")


FUNCTIONS = functions()
OUTCOMES = collections.Counter()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("n", type=int, nargs="?", default=800)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cpu-every", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        quick_cc.quick_compiler(folder, "-O0", cached=False)
        rng = np.random.default_rng(1)
        np.save(folder / "p.npy", rng.integers(0, 9, 1024).astype(np.float32))
        for at in range(options.first, options.first + options.n, BATCH):
            last = min(at + BATCH, options.first + options.n)
            on_cpu = at // BATCH % options.cpu_every == 0
            devices = ("interp", "nest", "cpu") if on_cpu else ("interp", "nest")
            batch = Batch([Call(i) for i in range(at, last)], folder, devices)
            batch.run()
            check(True, "a kernel of calls")
            if options.n == 1: print(batch.calls[0].text)
    print(", ".join(f"{v} {k}" for k, v in sorted(OUTCOMES.items())))
    sys.exit(report())


main()
