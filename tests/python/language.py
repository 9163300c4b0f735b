#!/usr/bin/env python3
"""nereid.language on the host: dtypes, constants, errors outside of kernels, the texts of names,
and, where Triton is installed, its names and signatures."""
import doctest, inspect, os, pathlib, pickle, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import nereid.language as tl
from nereid.language import constant, core, standard, text, types
from nereid.language.extra import cuda, libdevice
import tally


def check(what, ok, found=None):
    tally.check(ok, what if found is None else f"{what}: {found}")


def raises(what, kinds, run, words=""):
    """Checks that `run` raises one of the exceptions, with these words."""
    try:
        check(what, False, f"gave {run()}")
    except kinds as error:
        check(what, words in str(error), error)


# Names of Triton 3.6 that are missing, and why.
ABSENT = {
    "of its compiler": """CompilationError ir knobs JITCallable _insertion_guard
        _type_for_tuple_values
        _add_atomic_docstr _add_reduction_docstr _add_scan_docstr _tensor_member_fn
        _shape_check_impl
        binary_op_type_legalization dispatch extern is_negative_zero check_bit_width _unsplat
        _promote_bfloat16_to_float32 _reduce_with_indices _wrap_axis _unwrap_iterable _NOTHING
        builtin_max builtin_min _aggregate_type _add_math_1arg_docstr _add_math_2arg_docstr
        _add_math_3arg_docstr _check_dtype driver jit constexpr_function core math tl
        N_ROUNDS_DEFAULT gdc utils""",
    "of Python": """annotations Callable Enum List Optional Sequence T Tuple TypeVar Union
        contextmanager dataclass inspect partial typing warn wraps builtins""",
    "parts of its reductions and sorts": """_argmax_combine _argmax_combine_tie_break_fast
        _argmax_combine_tie_break_left _argmin_combine _argmin_combine_tie_break_fast
        _argmin_combine_tie_break_left _bitonic_merge _bitonic_merge_hypercube _compare_and_swap
        _elementwise_max _elementwise_min _get_flip_dim _indicator _or_combine _pick_sum_dtype
        _prod_combine _sum_combine _xor_combine sort_impl""",
}
# Parameters that differ, and why.
DIFFERENT = {
    "dot": "out_dtype=None is float32",
    "maximum": "propagate_nan=None is PropagateNan.NONE",
    "minimum": "propagate_nan=None is PropagateNan.NONE",
    "clamp": "propagate_nan=None is PropagateNan.NONE",
    "make_block_ptr": "order may be left out",
    "extern_elementwise": "is_pure may be left out",
    "static_print": "end is the end of a note here",
    "reduce_or": "axis may be left out",
    "sort": "False is constexpr(0)",
    "bitonic_merge": "False is constexpr(0)",
    "cat": "dim is of Triton 3.8",
    "fdiv": "approx is of an older version",
    "topk": "descending is of Triton 3.9",
    "cumprod": "dtype is of Triton 3.8",
    "str_to_ty": "c may be left out",
    "tuple": "args may be left out",
    "tensor": "the type of expressions in kernels",
}


def check_dtypes():
    check("a dtype equals another of its name", tl.dtype("fp16") == tl.float16)
    check("a dtype and a constant of it", tl.float16 == tl.constexpr(tl.float16))
    check("a dtype as a key", {tl.float16: 1}[tl.dtype("fp16")] == 1)
    check("pickled", pickle.loads(pickle.dumps(tl.bfloat16)) == tl.bfloat16)
    kinds = [t.kind().value for t in (tl.int1, tl.uint8, tl.float64)]
    check("kinds are ordered", kinds == [0, 1, 2])
    limits = tl.int8.get_int_min_value(), tl.uint16.get_int_max_value()
    check("limits of integers", limits == (-128, 65535))
    pointer = tl.pointer_type(tl.float32, const=True)
    check("a type from text", tl.str_to_ty("*kfp32") == pointer)
    check("a descriptor's type from text",
                tl.str_to_ty("tensordesc<fp16[64,32]>").block_type.shape == (64, 32))
    block = tl.block_type(tl.float32, [tl.constexpr(8), 4])
    check("a block", (block.numel, block.scalar, block.nbytes) == (32, tl.float32, 128))
    raises("an unknown dtype", ValueError, lambda: tl.dtype("float16"))


def check_constants():
    c = tl.constexpr
    pairs = {"add": 7 + 3, "sub": 4, "mul": 21, "truediv": 7 / 3, "floordiv": 2, "mod": 1,
             "pow": 343, "and": 3, "or": 7, "xor": 4, "lshift": 56, "rshift": 0, "lt": False,
             "le": False, "gt": True, "ge": True, "eq": False, "ne": True}
    for name, result in pairs.items():
        for a, b in ((c(7), 3), (c(7), c(3)), (c(c(7)), c(3))):
            found = getattr(a, f"__{name}__")(b)
            check(f"constexpr.__{name}__", found.value == result, found)
    check("reflected", (10 - c(3)).value == 7 and (2 ** c(3)).value == 8)
    check("unary", ((-c(3)).value, (~c(3)).value, (+c(3)).value) == (-3, -4, 3))
    check("an index", [10, 20, 30][c(1)] == 20 and list(range(c(2))) == [0, 1])
    check("a truth value", bool(c(3)) and not c(0))
    check("hashed", {c(3): 1}[c(3)] == 1)
    check("a tuple's items", list(c((1, 2))) == [1, 2] and c((4, 5))[c(1)] == 5)
    pair = tl.tuple([1, 2, 3])
    check("a tuple", len(pair) == 3 and list(pair[1:]) == [2, 3] and pair == (1, 2, 3))


def check_outside():
    for fn in (tl.load, tl.math.exp, tl.rand, libdevice.tanh, cuda.gdc_wait, tl.sum, tl.sort):
        raises(f"{fn.__name__} is called", (ValueError, TypeError), fn)
        count = len(inspect.signature(fn).parameters) - ("_semantic" in str(inspect.signature(fn)))
        raises(f"{fn.__name__} is called", ValueError, lambda: fn(*range(count)), "@triton.jit")
    raises("a loop of kernels", RuntimeError, lambda: list(tl.range(3)))
    check("cdiv of numbers", tl.cdiv(10, 4) == 3)


def check_aggregates():
    @core._aggregate
    class Pair:
        a: tl.constexpr
        b: tl.constexpr

    pair = Pair(1, b=2)
    check("an aggregate's fields", (pair.a, pair.b) == (1, 2))
    check("a copy", tl.aggregate_replace(pair, b=3).b == 3 and pair.b == 2)
    raises("a field that lacks", TypeError, lambda: Pair(1), "takes the fields a, b")


def check_texts():
    language, device = "triton.language", "triton.language.extra.libdevice"
    for value, want in (
            (tl, language), (tl.load, f"{language}.core.load"), (libdevice.exp, f"{device}.exp"),
            (tl.constexpr, f"{language}.core.constexpr"), (tl.math.tanh, f"{device}.tanh"),
            (tl.float8e4nv, f"{language}.float8e4nv"), ((1, None), "(1, None)"), ((1,), "(1,)"),
            (tl.constexpr("a"), f"{language}.constexpr('a')"), (float("inf"), "float('inf')"),
            (tl.PropagateNan.ALL, f"{language}.PropagateNan.ALL"), (object(), None),
            (tl.pi32_t, f"{language}.pointer_type({language}.int32)"), ((1, object()), None),
            (check, None)):
        check(f"the text of {value}", text.expression(value) == want, text.expression(value))


def check_import():
    command = "import sys; import nereid.language; print(*sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
    names = subprocess.run([sys.executable, "-S", "-c", command], env=env, text=True,
                           capture_output=True).stdout.split()
    heavy = {*"typing inspect dataclasses enum re numpy torch ctypes".split()} & {*names}
    check("nereid.language imports nothing heavy", names and not heavy, heavy)


def check_stub():
    """Type checkers get the package's names from a file of their own."""
    stub = (ROOT / "python" / "nereid" / "__init__.pyi").read_text()
    found = {name: module for module, name in re.findall(r"from (\S+) import (\w+) as", stub)}
    found = {name: module for name, module in found.items() if module != "typing"}
    found.update({name: nereid._LAZY[name] for name in re.findall(r"def (\w+)", stub)})
    want = {**nereid._LAZY, **{name: "nereid" for name in nereid._MODULES}}
    check("the names of __init__.pyi", found == want, set(found.items()) ^ set(want.items()))


def parameters(fn):
    fn = getattr(fn, "fn", fn)
    found = inspect.signature(fn).parameters.values()
    # _semantic and _generator are the compiler's; a number is as good as a constant.
    value = lambda d: d if d is inspect.Parameter.empty else str(getattr(d, "value", d))
    return [(p.name, value(p.default)) for p in found if p.name[0] != "_"]


def check_triton():
    try:
        import triton.language
        import triton.language.extra.cuda, triton.language.extra.libdevice
    except ImportError:
        print("1 skipped: no triton")
        return
    if not triton.__version__.startswith("3.6."):
        print(f"1 skipped: triton {triton.__version__}, not 3.6")
        return
    dtype = triton.language.dtype
    absent = {name for names in ABSENT.values() for name in names.split()}
    modules = ["", "core", "standard", "math", "random", "target_info", "extra.cuda"]
    for path in [*modules, "extra.libdevice"]:
        theirs, ours = triton.language, tl
        for part in filter(None, path.split(".")):
            theirs, ours = getattr(theirs, part), getattr(ours, part)
        for name in dir(theirs):
            if name.startswith("__"):
                continue
            if not hasattr(ours, name):
                check(f"triton.language.{path}: {name}", name in absent, "missing")
            elif callable(getattr(theirs, name)) and not isinstance(getattr(theirs, name), dtype):
                compare(path, name, getattr(theirs, name), getattr(ours, name))
    unknown = ["_flatten_ir", "__not__", *(f"__r{op}__" for op in "eq ge gt le lt ne".split())]
    for name in dir(triton.language.tensor):
        check(f"tensor.{name}", hasattr(tl.tensor, name) or name in unknown, "missing")
    for t in ("int1", "int8", "uint64", "float8e5", "float8e4nv", "float16", "bfloat16", "float64"):
        theirs, ours = getattr(triton.language, t), getattr(tl, t)
        for name in dir(theirs):
            value = getattr(theirs, name)
            if name[0] == "_" or name in ("to_ir", "is_void"):
                continue
            found = getattr(ours, name, None)
            if callable(value) and name.startswith("is_") and name != "is_dtype":
                value, found = value(), found()
            same = callable(value) or str(value).split(".")[-1] == str(found).split(".")[-1]
            check(f"{t}.{name}", same and found is not None, found)


def compare(path, name, theirs, ours):
    try:
        want = parameters(theirs)
    except (TypeError, ValueError):
        return
    found = parameters(ours)
    if path == "extra.libdevice":
        check(f"libdevice.{name} takes as many", len(want) == len(found), found)
    elif name not in DIFFERENT:
        check(f"triton.language.{path}: {name}", want == found, f"{found}, not {want}")


check_dtypes()
check_constants()
check_outside()
check_aggregates()
check_texts()
check_import()
check_stub()
for module in (types, text, standard, constant):
    result = doctest.testmod(module)
    check(f"examples of {module.__name__}", result.attempted > 0 and not result.failed)
check_triton()
sys.exit(tally.report())
