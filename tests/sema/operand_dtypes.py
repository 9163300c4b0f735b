#!/usr/bin/env python3
"""Every function of libdevice with operands of every dtype, as tiles and as numbers known at
compile time: it takes those that lang/std/operand_dtypes.h lists, and refuses others with a message
at the call.  Where Triton is installed, the list is compared with what its libdevice takes."""
import ast, importlib.util, os, pathlib, re, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tables import operand_dtypes  # noqa: E402
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
TAKES = {"F": {"fp32", "fp64"}, "S": {"fp32"}, "D": {"fp64"}, "i": {"int32"}, "u": {"uint32"},
         "I": {"int32", "int64", "uint32", "uint64"}, "l": {"int64"}, "m": {"uint64"}}
DTYPES = {"int1": "int1", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
          "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64",
          "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
NUMBERS = {"3": "int32", "D": "int32", "True": "int1", "2**40": "int64", "3000000000": "uint32",
           "2**63": "uint64", "1.5": "fp32", "tl.full([], D, tl.int32)": "int32",
           "tl.cast(1, tl.float64)": "fp64", "tl.cast(1, tl.float16)": "fp16"}


def refused_lines(calls):
    """The numbers of the calls that the compiler refuses for their dtype; others must compile."""
    lines = ["import triton", "import triton.language as tl",
             "from triton.language.extra import libdevice", "@triton.jit",
             "def k(p, D: tl.constexpr):"]
    lines += [f"    a{i} = {call}" for i, call in enumerate(calls)]
    with tempfile.TemporaryDirectory() as tmp:
        path = pathlib.Path(tmp, "k.py")
        path.write_text("\n".join(lines) + "\n")
        done = subprocess.run([NEREID, "compile", str(path), "--sig", "p=*fp32", "-D", "D=64",
                               "--emit", "tile"], capture_output=True, text=True)
    errors = re.findall(r"k\.py:(\d+):\d+: error: (.*)", done.stderr)
    for line, text in errors:
        known = "Expected dtype [" in text
        check(known, f"{calls[int(line) - 6]}: {text}")
    check(done.returncode == (1 if errors else 0), f"status {done.returncode}: {done.stderr[:300]}")
    return {int(line) - 6 for line, _ in errors}


def expect(functions, operand, dtype):
    names = sorted(functions)
    for start in range(0, len(names), 40):
        part = names[start:start + 40]
        calls = [f"libdevice.{n}({', '.join([operand] * len(functions[n]))})" for n in part]
        refused = refused_lines(calls)
        for i, name in enumerate(part):
            takes = all(dtype in TAKES[letter] for letter in functions[name])
            check((i not in refused) == takes, f"{calls[i]} of {dtype}: "
                  f"{'refused' if i in refused else 'taken'}, and the list says otherwise")


def mixed():
    """Operands of one letter have a common dtype; others are each their own."""
    f, i = "tl.full([8], 1, tl.float32)", "tl.full([8], 1, tl.int32)"
    good = [f"libdevice.pow({f}, 2)", f"libdevice.pow({f}, {i})", f"libdevice.atan2({f}, 1)",
            f"libdevice.fma({f}, 1, 2.0)", "libdevice.fma(1.0, 2, 3)",
            "libdevice.norm3d(1, 2.0, 3)", f"libdevice.ldexp({f}, 3)",
            "libdevice.ldexp(1.5, 3)", "libdevice.jn(2, 1.5)",
            "libdevice.sad(1, 2, 3)", f"tl.sqrt({f})", "tl.sqrt(64.0)",
            "tl.sqrt(D * 1.0)", "tl.div_rn(3.0, 2)"]
    bad = ["libdevice.pow(3, 2)", f"libdevice.ldexp({i}, 3)", f"libdevice.ldexp({f}, 3.0)",
           "libdevice.jn(2, 3)", "libdevice.jn(2.0, 3.0)", "libdevice.sad(1, 2, 3.0)", "tl.sqrt(D)",
           "tl.math.floor(True)", "tl.div_rn(3, 2)", "libdevice.norm4d(1, 2, 3, 4)"]
    refused = refused_lines(good + bad)
    for k, call in enumerate(good + bad):
        is_refused = k in refused
        check(is_refused == (k >= len(good)), f"{call}: {'refused' if is_refused else 'taken'}")


# Beyond Triton: unsigned integers, and 64 bits.
WIDER = {"clz", "popc", "brev", "ffs", "mul24", "hadd", "rhadd", "sad"}


def against_triton(functions):
    spec = importlib.util.find_spec("triton")
    if not spec or not spec.submodule_search_locations: return
    folder = pathlib.Path(list(spec.submodule_search_locations)[0])
    path = folder / "language/extra/cuda/libdevice.py"
    if not path.exists(): return
    for f in ast.parse(path.read_text()).body:
        if not isinstance(f, ast.FunctionDef) or f.name == "abs": continue
        keys = re.findall(r"\(((?:core\.dtype\('\w+'\),? ?)+)\):", ast.unparse(f))
        taken = {tuple(re.findall(r"'(\w+)'", k)) for k in keys}
        letters = functions.get(f.name)
        check(letters is not None, f"{f.name} of Triton's libdevice is not listed")
        if letters is None or not taken: continue
        for i, letter in enumerate(letters):
            theirs = {t[i] for t in taken}
            if f.name == "pow": theirs.discard("int32")  # int32 beside floats becomes a float
            same = theirs <= TAKES[letter] if f.name in WIDER else theirs == TAKES[letter]
            check(same, f"{f.name}, operand {i}: Triton takes {sorted(theirs)}, not {letter}")


functions = dict(operand_dtypes())
check(len(functions) == len(list(operand_dtypes())), "each function is listed once")
for dtype, name in DTYPES.items():
    expect(functions, f"tl.full([8], 1, tl.int32).to(tl.{name})", dtype)
for number, dtype in NUMBERS.items():
    expect(functions, number, dtype)
mixed()
against_triton(functions)
sys.exit(report())
