#!/usr/bin/env python3
"""Calls that eager PyTorch refuses are refused, or refused.txt has them with the reason.

    refused.py [--all] [--seed S]      4,000 of the calls that --all makes, or all; needs PyTorch

Each number, dtype and size of the calls in ../graph/calls/calls.txt is changed in turn.  What
eager mode refuses on tensors of ones (floats and truth values) and zeros (integers) goes through
the rules of inference, and what they take is compiled and run by the interpreter.
"""
import argparse, os, pathlib, random, re, subprocess, sys, tempfile, warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests/support")]
import tally

try:
    import torch
    import quick_torch
except ImportError:
    torch = None
else:
    import nereid

    DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
              "f64": torch.float64, "i64": torch.int64, "i32": torch.int32, "i16": torch.int16,
              "i8": torch.int8, "u8": torch.uint8, "b8": torch.bool, "c64": torch.complex64}
CALLS, EXCEPTIONS = ROOT / "tests/graph/calls/calls.txt", ROOT / "tests/python/refused/refused.txt"
NUMBER = re.compile(r"(?<![\w.\-])-?\d+(?:\.\d+)?(?![\w.])")
CHANGES = [(re.compile(r'(?<=")\w+(?=\[)'), ("i64", "f32", "b8", "f64", "bf16")),
           (re.compile(r"\d+(?=[,\]])"), ("0", "1", "5"))]
SOME, CRASHED = 4000, "it ends the process"


# ---- calls ----


def replaced(text, found, value):
    return text[:found.start()] + value + text[found.end():]


def changed(parameters, call):
    """(parameters, call) with one change."""
    for found in NUMBER.finditer(call, call.index("(")):
        for value in ("-1", "0", "-2", "3", "7", "100", "1.5"):
            yield parameters, replaced(call, found, value)
    for pattern, values in CHANGES:
        for found in pattern.finditer(parameters):
            for value in values:
                yield replaced(parameters, found, value), call


def calls():
    lines = [line for line in CALLS.read_text().splitlines() if "\t" in line]
    known = {tuple(line.split("\t")[:2]) for line in lines}
    found = dict.fromkeys(one for call in sorted(known) for one in changed(*call))
    return [one for one in found if one not in known]


def tensors(parameters):
    return {name: (torch.ones if dtype[0] in "fbc" else torch.zeros)(
                [int(n) for n in re.findall(r"\d+", sizes)], dtype=DTYPES[dtype])
            for name, dtype, sizes in re.findall(r'(\w+): "(\w+)(\[[^\]]*\])"', parameters)}


def qualified(call):
    return call if call.startswith("torch.") else f"torch.ops.{call}"


# ---- what each says ----


def eager(parameters, call):
    """Why PyTorch refuses the call; "" where it takes it, or lacks a kernel for it."""
    names = {"torch": torch, "device": lambda type: torch.device(type), **tensors(parameters)}
    try:
        eval(qualified(call), names)
    except NotImplementedError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")
    return ""


def ours(parameters, call):
    """Why we refuse it."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(f"def forward(self, {parameters}):\n    r = {qualified(call)}\n"
                   "    return (r,)\n")
        file.flush()
        try:
            nereid.load(file.name, device="interp").run(*tensors(parameters).values())
        except Exception as error:
            return str(error).replace("\n", " ")
    return ""


def answers(function, some):
    """function() of each in a child; of one that ends it CRASHED, and another takes the rest."""
    found = []
    while len(found) < len(some):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            with os.fdopen(writer, "w") as out:
                for one in some[len(found):]:
                    print(function(*one), file=out, flush=True)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as lines:
            found += [line.rstrip("\n") for line in lines]
        os.waitpid(child, 0)
        if len(found) < len(some):
            found.append(CRASHED)
    return found


def inferred(some):
    """Those that the rules of inference take."""
    text = "".join(f"{parameters}\t{call}\n" for parameters, call in some)
    done = subprocess.run([BUILD / "tests/graph/unit/ops", "-"], input=text, capture_output=True,
                          text=True, check=True)
    return [one for one, line in zip(some, done.stdout.splitlines(), strict=True)
            if not line.startswith("error")]


# ---- exceptions ----


def exceptions():
    """[(operator, what PyTorch says of it, reason)]."""
    lines = EXCEPTIONS.read_text().splitlines()
    return [line.split(" | ") for line in lines if line and not line.startswith("#")]


def excepted(known, call, why):
    return any(call.startswith(f"{name}(") and re.search(pattern, why)
               for name, pattern, _ in known)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    some = calls()
    if not options.all:
        some = random.Random(options.seed).sample(some, SOME)
    why = {one: said for one, said in zip(some, answers(eager, some)) if said}
    tally.check(len(why) > len(some) // 10, f"eager mode refuses {len(why)} of {len(some)} calls")
    left, known = inferred([*why]), exceptions()
    taken = [one for one, said in zip(left, answers(ours, left)) if not said or said == CRASHED]
    for one, said in why.items():
        tally.check(one not in taken or excepted(known, one[1], said),
                    f"{one[1]} of {one[0]} is taken: {said}")
    print(f"{len(why)} calls are refused by eager mode, {len(taken)} of these are taken")
    return tally.report()


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        sys.exit(tally.report())
    sys.exit(main())
