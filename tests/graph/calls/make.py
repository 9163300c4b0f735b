#!/usr/bin/env python3
"""Calls of operators, and the types that PyTorch gives them: rewrites calls.txt beside this file.

  python3 make.py [--seed N] [--tries N] [--most N]      needs PyTorch; the rest of the tests do not

A line is an input of tests/graph/unit/ops: parameters, call and result, separated by tabs.  New
calls are made at random from schemas (graph/ops/op_table.def), and by mutating those of the file;
--most of each kind are kept for an operator.  A call that PyTorch refuses, or whose type we
infer differently, is only printed: numbers of indices, sizes of zero and old versions make many
such that are right on both sides.
"""
import argparse, os, pathlib, random, re, subprocess, warnings

import torch

ROOT = pathlib.Path(__file__).resolve().parents[3]
CALLS = pathlib.Path(__file__).resolve().parent / "calls.txt"
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64,
          "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8,
          "u8": torch.uint8, "b8": torch.bool}
NAMES = {v: k for k, v in DTYPES.items()}


def rows():
    table = (ROOT / "graph/ops/op_table.def").read_text()
    found = re.findall(r'(?m)^OP\(aten, (\w+), (\w+), \w+, "([^"]+)"', table)
    return [(f"aten.{name}.{overload}", schema) for name, overload, schema in found]


# ---- calls at random ----

def split(text):
    """At commas outside of brackets."""
    parts = re.split(r",(?![^(\[]*[)\]])", text)
    return [p.strip() for p in parts if p.strip()]


def shape(rng, base):
    b = list(base)
    if b and rng.random() < .25:
        b[rng.randrange(len(b))] = rng.choice([1, 2, 3])
    elif rng.random() < .2:
        b = b[rng.randint(0, len(b)):]
    return b


def value(rng, kind, suffix, name):
    if "?" in suffix and "[" not in suffix and rng.random() < .5:
        return "None"
    if kind == "Tensor":
        return f"[{name}0, {name}1]" if "[" in suffix else name
    if kind in ("int", "SymInt"):
        if "[" not in suffix:
            return str(rng.choice([0, 0, 1, 1, 2, -1, 3]))
        count = re.search(r"\[(\d*)\]", suffix)[1]
        return str([rng.choice([0, 1, 1, 2, 2, 3, -1])
                    for _ in range(int(count) if count else rng.choice([1, 2, 2, 3]))])
    if kind in ("float", "Scalar"):
        return "[2.0, 2.0]" if "[" in suffix else rng.choice(["1", "2.5", "0.5", "3"])
    return {"bool": rng.choice(["True", "False"]),
            "str": rng.choice(["'floor'", "'none'", "'sum'"]),
            "ScalarType": rng.choice(["torch.float16", "torch.int64", "torch.float32"]),
            "Device": "device(type='cpu')"}.get(kind, "None")


def invent(rng, target, schema):
    """A call by its schema."""
    args, named = [], False
    for i, p in enumerate(split(schema[1:schema.rindex(") -> ")])):
        if p == "*":
            named = True
            continue
        kind, suffix, name, default = re.match(
            r"(\w+)(?:\([^)]*\))?([\[\]\d?]*) (\w+)(=.*)?$", p).groups()
        if default and rng.random() < .7:
            if named:
                continue
            break
        text = value(rng, kind, suffix, f"x{i}")
        args.append(f"{name} = {text}" if named else text)
    call = f"{target}({', '.join(args)})"
    base = [rng.choice([1, 2, 3, 4]) for _ in range(rng.choice([0, 1, 2, 2, 3, 3, 4, 4, 5]))]
    kinds = ["f32", "f32", "f32", "f16", "i64", "b8", "i32", "u8"]
    names = sorted(set(re.findall(r"\bx\d+\b", call))) or ["x"]
    return ", ".join(f'{n}: "{rng.choice(kinds)}{shape(rng, base)}"' for n in names), call


def replaced(rng, text, pattern, choices):
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    m = rng.choice(found)
    return text[:m.start()] + str(rng.choice(choices)) + text[m.end():]


def mutated(rng, params, call):
    at = call.index("(")
    for _ in range(rng.choice([1, 1, 2, 3])):
        what = rng.random()
        if what < .4:
            numbers = r"(?<![\w.\-])-?\d+(?![\w.])"
            call = call[:at] + replaced(rng, call[at:], numbers, [0, 1, 2, 3, -1, -2, 4, 5, 6])
        elif what < .75:
            params = replaced(rng, params, r"\d+(?=[,\]])", [0, 1, 2, 3, 4, 5, 6, 8])
        else:
            params = replaced(rng, params, r'(?<=")\w+(?=\[)', ["f32", "f16", "i64", "b8", "bf16"])
    return params, call


# ---- what PyTorch says ----

def text_of(v):
    if isinstance(v, torch.Tensor):
        return f"{NAMES.get(v.dtype, v.dtype)}[{', '.join(map(str, v.shape))}]"
    if isinstance(v, (list, tuple)):
        return " ".join(map(text_of, v))
    return type(v).__name__ if v is not None else "None"


def run(params, call):
    """The type; None if PyTorch refuses."""
    scope = {"torch": torch, "device": lambda type: torch.device(type)}
    for name, dtype, sizes in re.findall(r'(\w+): "(\w+)(\[[^\]]*\])"', params):
        make = torch.ones if dtype[0] in "fb" else torch.zeros
        scope[name] = make([int(n) for n in re.findall(r"\d+", sizes)], dtype=DTYPES[dtype])
    target, args = call.split("(", 1)
    try:
        return text_of(eval(f"torch.ops.{target}({args}", scope))
    except Exception:
        return None


def run_all(calls):
    """In a child, which some calls crash; the next child goes on behind them."""
    results = []
    while len(results) < len(calls):
        reader, writer = os.pipe()
        if os.fork() == 0:
            with os.fdopen(writer, "w") as out:
                for c in calls[len(results):]:
                    print(run(*c) or "", file=out, flush=True)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as lines:
            results += [line.rstrip("\n") for line in lines]
        os.wait()
        if len(results) < len(calls):
            results.append("")
    return results


# ---- what we say ----

def infer_all(calls):
    build = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
    program = build / "tests/graph/unit/ops"
    text = "".join(f"{params}\t{call}\n" for params, call in calls)
    return subprocess.run([program, "-"], input=text, capture_output=True, text=True,
                          check=True).stdout.split("\n")


def main():
    options = argparse.ArgumentParser()
    for name, number in ("seed", 1), ("tries", 60), ("most", 5):
        options.add_argument("--" + name, type=int, default=number)
    options = options.parse_args()
    warnings.filterwarnings("ignore")
    rng = random.Random(options.seed)
    known = [line.split("\t") for line in CALLS.read_text().splitlines()] if CALLS.exists() else []
    calls = [(params, call) for params, call, _ in known]
    seeds = {}
    for params, call in calls:
        seeds.setdefault(call.split("(")[0], []).append((params, call))
    for target, schema in rows():
        for _ in range(options.tries):
            old = seeds.get(target) if rng.random() < .7 else None
            calls.append(mutated(rng, *rng.choice(old)) if old else invent(rng, target, schema))
    calls = list(dict.fromkeys(calls))
    kept, count = [], {}
    for (params, call), theirs, ours in zip(calls, run_all(calls), infer_all(calls)):
        target = call.split("(")[0]
        if theirs and theirs == ours and count.get(target, 0) < options.most:
            count[target] = count.get(target, 0) + 1
            kept.append(f"{params}\t{call}\t{theirs}\n")
        elif theirs != ours and (theirs or not ours.startswith("error")):
            print(f"{call} | {params}\n  ours {ours[:150]}\n  PyTorch's {theirs or 'none'}")
    CALLS.write_text("".join(sorted(kept, key=lambda line: line.split("\t")[1])))
    print(f"{len(kept)} calls of {len(count)} operators")


main()
