#!/usr/bin/env python3
"""Generated kernel files stand for themselves: each is Python, has only names that Triton 3.6 has
(or its first comment names what it has beyond), and `nereid run` on its kernels, one after the
other as the plan has them, gives what the model gives."""
import ast, os, pathlib, re, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
MODELS = sorted(ROOT.glob("tests/models/*/readable.txt"))
GRAPHS = [*sorted(ROOT.glob("tests/graph/passes/decompose/*.py")),
          *sorted(ROOT.glob("tests/graph/commands/*.py"))]
DTYPES = {"f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "b8": np.bool_}

TRITON = set("""abs arange argmax argmin associative_scan assume atomic_add atomic_and
    atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor bfloat16 bitonic_merge
    broadcast broadcast_to cast cat cdiv ceil clamp constexpr cos cumprod cumsum debug_barrier
    device_assert device_print div_rn dot dot_scaled dtype erf exp exp2 expand_dims fdiv flip
    float16 float32 float64 float8e4nv float8e5 floor fma full gather histogram
    inline_asm_elementwise int1 int16 int32 int64 int8 interleave join load log log2
    make_block_ptr make_tensor_descriptor max max_constancy max_contiguous maximum min minimum
    multiple_of num_programs permute pointer_type program_id PropagateNan PropagateNan.ALL
    PropagateNan.NONE philox rand rand4x randint randint4x randn range ravel reduce reduce_or
    reshape rsqrt sigmoid sin softmax sort split sqrt sqrt_rn static_assert static_print
    static_range store sum swizzle2d topk trans uint16 uint32 uint64 uint8 umulhi view void
    where xor_sum zeros zeros_like""".split())
LIBDEVICE = set("""abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi
    cyl_bessel_i0 cyl_bessel_i1 div_rn erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1
    fast_dividef floor fma fmod hypot ilogb isinf isnan j0 j1 jn ldexp lgamma llrint llround log
    log10 log1p log2 logb nearbyint nextafter norm4d normcdf normcdfinv pow rcbrt remainder rhypot
    rint round rsqrt
    signbit sin sinh sinpi sqrt sqrt_rn tan tanh tgamma trunc y0 y1 yn""".split())


def nereid(*args):
    done = subprocess.run([NEREID, *map(str, args)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


# ---- names ----

def foreign_names(source):
    """What Triton lacks of what the file uses: attributes of tl and libdevice."""
    found = re.findall(r"\b(tl|libdevice)((?:\.[A-Za-z_]\w*)+)", source)
    return {f"{of}{name}" for of, name in found
            if name[1:] not in (TRITON if of == "tl" else LIBDEVICE)}


def check_names(path):
    code, source, _ = nereid("graph", path, "--emit", "kernels")
    if code:
        return
    try:
        tree = ast.parse(source)
    except SyntaxError as e:
        return check(False, f"{path}: no Python: {e}")
    kernels = [f for f in tree.body if isinstance(f, ast.FunctionDef)]
    check(kernels and all(f.decorator_list for f in kernels), f"{path}: kernels")
    comment = re.match(r"#[^\n]*", source)
    foreign = {n for n in foreign_names(source) if not comment or n not in comment[0]}
    check(not foreign, f"{path}: Triton has no {', '.join(sorted(foreign))}")


# ---- kernels alone ----

def sizes_of(text, values):
    return [int(eval(s, {"__builtins__": {}}, dict(values))) for s in text.split(",") if s.strip()]


def buffers_of(plan, values):
    found = {}
    for kind, name, dtype, shape in re.findall(
            r'^(input|weight|output|temporary|constant|records) %(\S+) .*?"(\w+)\[(.*?)\]"',
            plan, re.M):
        found[name] = (kind, DTYPES[dtype], dtype, sizes_of(shape, values))
    return found


def draw(rng, dtype, shape):
    if np.issubdtype(dtype, np.floating):
        return (rng.standard_normal(shape) * 0.5).astype(dtype)
    return np.zeros(shape, dtype)


def run_step(line, source, buffers, folder, values):
    name, args, grid = re.match(r"(?:step|once) (\w+)\((.*?)\) grid (.*?) warps", line).groups()
    command, outputs = ["run", f"{source}:{name}", "--device", "interp"], []
    for arg, value in re.findall(r'(\w+) = ("[^"]*"|[^,]+)', args):
        if value.startswith("%"):
            file = folder / f"{value[1:]}.npy"
            kind, _, dtype, shape = buffers[value[1:]]
            make = "zeros" if kind == "records" else "empty"
            new = f"{make}:{dtype}[{','.join(map(str, shape))}]".replace("b8", "i1")
            command.append(f"{arg}=@{file}" if file.exists() else f"{arg}={new}")
            if kind not in ("weight", "records"):  # inputs are updated in place, too
                command += ["--out", f"{arg}={file}"]
        else:
            command.append(f"{arg}={sizes_of(value.strip(chr(34)), values)[0]}")
    for arg, value in re.findall(r'(\w+): ("[^"]*"|[^,]+)', args):
        command += ["-D", f"{arg}={sizes_of(value.strip(chr(34)), values)[0]}"]
    programs = [str(sizes_of(g.strip('"'), values)[0]) for g in re.findall(r'"[^"]*"|\d+', grid)]
    return nereid(*command, "--grid", ",".join(programs))


def check_kernels(path, values):
    """The model's inputs, drawn, through its kernels alone and through the model."""
    with tempfile.TemporaryDirectory() as tmp:
        folder, rng = pathlib.Path(tmp), np.random.default_rng(0)
        _, plan, _ = nereid("graph", path, "--emit", "plan", "--device", "interp")
        _, source, _ = nereid("graph", path, "--emit", "kernels", "--device", "interp")
        (folder / "kernels.py").write_text(source)
        buffers, inputs = buffers_of(plan, values), []
        for name, (kind, dtype, _, shape) in buffers.items():
            if kind == "input":
                np.save(folder / f"{name}.npy", draw(rng, dtype, shape))
                inputs.append(folder / f"{name}.npy")
        code, _, error = nereid("graph", path, *inputs, "--device", "interp", "--out-dir",
                                folder / "out")
        check(code == 0, f"{path}: {error}")
        for line in re.findall(r"^(?:step|once) .*", plan.split("\nsource\n")[0], re.M):
            code, _, error = run_step(line, folder / "kernels.py", buffers, folder, values)
            check(code == 0, f"{path}: {line[:60]}: {error}")
        for i, name in enumerate(re.search(r"^return (.*)", plan, re.M)[1].split(", ")):
            got = np.load(folder / f"{name[1:]}.npy")
            wanted = np.load(folder / "out" / f"output_{i}.npy")
            check(np.array_equal(got, wanted, equal_nan=True), f"{path}: output {i} differs")


for graph in MODELS + GRAPHS:
    check_names(graph)
check(foreign_names("tl.load(x); tl.frobnicate(libdevice.exp)") == {"tl.frobnicate"}, "names")
check_kernels(ROOT / "tests/models/chain/readable.txt", {})
check_kernels(ROOT / "tests/models/dyn_mlp/readable.txt", {"s31": 5})
check_kernels(ROOT / "tests/models/kv_decode/readable.txt", {})
check_kernels(ROOT / "tests/graph/commands/kernel_files.py", {})
sys.exit(report())
