#!/usr/bin/env python3
"""Calls of operators with types and literals that they do not expect.

    calls.py [COUNT] [--seed S] [--program PATH]
    calls.py --each scalar|empty|axis|open [--program PATH]

Call i is one of calls/calls.txt in which one to three things are changed: a parameter's
dtype, an axis, its sizes, a literal, or an optional argument that it has now.  --each takes every
call instead, and of it every parameter in turn, and then all: as scalars, with an axis of no
elements, with one more axis, or with sizes that are open.  Each is read, inferred, decomposed and
planned by the fuzzer of graphs as text, which holds all its checks: a signal, an assertion or a
text that reads back as another is a failure; a message is none.
--program names a fuzzer built with sanitizers (build-fuzz/tests/fuzz/graph_text of
`make fuzz-programs`).
"""
import argparse, itertools, os, pathlib, random, re, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
BATCH, TIMEOUT_S = 200, 300

DTYPES = ["f32", "f64", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "b8", "f8e4m3fn"]
SIZES = ["0", "1", "2", "7", "64", "s0", "s1", "s0 + 1", "2*s0", "1000000007", "4294967296"]
LITERALS = ["0", "1", "-1", "2", "3", "-2", "100", "0.5", "-0.0", "1e30", "inf", "nan", "None",
            "True", "'x'", "s0", "x0", "[]", "[0]", "[-1]", "[0, 0]", "[1, 1]", "[2, 2]",
            "torch.float16", "torch.int64", "torch.bool", "-9223372036854775808",
            "9223372036854775807"]
LITERAL = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?|True|False|None|\[[^\[\]]*\])(?![\w.(])")


def calls():
    lines = (ROOT / "tests/graph/calls/calls.txt").read_text().splitlines()
    return [line.split("\t")[:2] for line in lines if "\t" in line]


def change_sizes(r, sizes):
    how = r.randrange(5)
    if how == 0:
        sizes.insert(r.randrange(len(sizes) + 1), r.choice(["0", "1", "2", "s0"]))
    elif how == 1 or not sizes:
        sizes.clear()
    elif how == 2:
        sizes.pop(r.randrange(len(sizes)))
    elif how == 3:
        sizes[r.randrange(len(sizes))] = r.choice(SIZES)
    else:
        r.shuffle(sizes)


def optional_arguments():
    """By operator: (name, type) of those that have a default."""
    text = (ROOT / "graph/ops/op_table.def").read_text()
    rows = re.findall(r'(?m)^OP\(aten, (\w+), (\w+), \w+, "\((.*?)\) ->', text)
    return {f"aten.{name}.{overload}": re.findall(r"([\w?\[\]]+) (\w+)=", schema)
            for name, overload, schema in rows}


OPTIONAL = optional_arguments()


def add_argument(r, call):
    found = OPTIONAL.get(call[:call.index("(")])
    if not found:
        return call
    kind, name = r.choice(found)
    value = r.choice(["True", "True", "False"] if kind == "bool" else
                     ["x0", "x1"] if kind == "Tensor?" else LITERALS)
    return f"{call[:-1]}, {name} = {value})"


def with_type(parameter, change):
    """x: "f32[2, s0]" with the dtype and the list of sizes that change() makes of its own."""
    parts = re.match(r'(.*?)(\w+)\[(.*?)\](.*)$', parameter)
    if not parts:
        return parameter
    before, dtype, sizes, behind = parts.groups()
    dtype, sizes = change(dtype, sizes.split(", ") if sizes else [])
    return f"{before}{dtype}[{', '.join(sizes)}]{behind}"


def change_parameter(r, parameter):
    def change(dtype, sizes):
        if r.random() < 0.3:
            return r.choice(DTYPES), sizes
        change_sizes(r, sizes)
        return dtype, sizes
    return with_type(parameter, change)


def change_literal(r, call):
    found = list(LITERAL.finditer(call, call.index("(")))
    if not found:
        return call
    at = r.choice(found)
    return call[:at.start()] + r.choice(LITERALS) + call[at.end():]


def parameters_of(text):
    return re.findall(r'\w+: "[^"]*"', text)


def graph(parameters, call):
    return f"def forward(self, {', '.join(parameters)}):\n    r = {call}\n    return (r,)\n"


def changed(r, parameters, call):
    parameters = parameters_of(parameters)
    for _ in range(r.choice([1, 1, 1, 2, 2, 3])):
        if parameters and r.random() < 0.7:
            i = r.randrange(len(parameters))
            parameters[i] = change_parameter(r, parameters[i])
        else:
            call = r.choice([change_literal, change_literal, add_argument])(r, call)
    return graph(parameters, call)


EACH = {
    "scalar": lambda dtype, sizes: (dtype, []),
    "empty": lambda dtype, sizes: (dtype, ["0", *sizes[1:]]),
    "axis": lambda dtype, sizes: (dtype, ["3", *sizes]),
    "open": lambda dtype, sizes: (dtype, [f"s{i}" for i in range(len(sizes))]),
}


def form(parameters, call):
    """What calls of one operator differ in, but for sizes and numbers."""
    ranks = tuple(parameter.count(",") for parameter in parameters)
    return call[:call.index("(")], ranks, re.sub(r"\d", "", call)


def each_call(how):
    """Graphs of one call of each form, with every parameter in turn, and then all, as `how`."""
    change, forms = EACH[how], {}
    for text, call in calls():
        parameters = parameters_of(text)
        forms.setdefault(form(parameters, call), (parameters, call))
    for parameters, call in forms.values():
        new = [with_type(parameter, change) for parameter in parameters]
        for i, parameter in enumerate(new):
            yield graph([*parameters[:i], parameter, *parameters[i + 1:]], call)
        yield graph(new, call)


def last_words(done):
    """What it died of: a sanitizer's report begins with that, and ends in a legend."""
    lines = done.stderr.strip().splitlines()
    begin = next((i for i, line in enumerate(lines) if "Sanitizer" in line), max(len(lines) - 8, 0))
    return lines[begin:begin + 8] or [f"status {done.returncode}"]


def run(program, texts, folder):
    """Checks a batch: the first graph that fails ends the process, and another takes the rest."""
    files = {folder / f"{i}.py": text for i, text in enumerate(texts)}
    for file, text in files.items():
        file.write_text(text)
    while files:
        done = subprocess.run([program, *files], cwd=ROOT, capture_output=True, text=True,
                              errors="replace", timeout=TIMEOUT_S)
        finished = set(done.stdout.splitlines())
        for file in list(files):
            # A leak is reported at the end of the process.
            ok = f"{file}: done" in finished and (len(files) > 1 or done.returncode == 0)
            check(ok, "\n".join(["", files.pop(file), *last_words(done)]))
            if not ok:
                break


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", choices=EACH)
    parser.add_argument("--program", type=os.path.abspath,
                        default=BUILD.resolve() / "tests/fuzz/graph_text")
    args = parser.parse_args()
    r, known = random.Random(args.seed), calls()
    texts = each_call(args.each) if args.each else (
        changed(r, *r.choice(known)) for _ in range(args.count))
    with tempfile.TemporaryDirectory() as folder:
        while batch := list(itertools.islice(texts, BATCH)):
            run(args.program, batch, pathlib.Path(folder))
    return report()


if __name__ == "__main__":
    sys.exit(main())
