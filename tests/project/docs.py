#!/usr/bin/env python3
"""Checks that the pages made from tables are up to date; `docs.py --update` (`make docs`) writes
them."""
import ast, pathlib, re, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tables import ROOT, operand_dtypes, rows, unquoted

NOTE = "Made from `{}` by `make docs`; `make check` fails if it is stale.\n"
WHERE = {"L": "`tl`", "M": "member", "T": "`triton`", "P": "Python", "I": "`target_info`",
         "C": "`cuda`", "G": "`gluon`"}


def cell(text):
    return text.replace("|", "\\|").replace('\\"', '"')


def table(header, name, titles, columns):
    return markdown(rows(header, name), titles, columns)


def markdown(rows, titles, columns):
    """A Markdown table a section; `columns` makes the cells of a row."""
    lines, last = [], None
    for section, row in rows:
        if section != last:
            lines += ["", f"## {section[:1].upper()}{section[1:]}", ""]
            lines += ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles)]
            last = section
        lines.append("| " + " | ".join(cell(c) for c in columns(row)) + " |")
    return "\n".join(lines) + "\n"


def code(text):
    return f"`{text}`" if text else ""


# The files of lang/std/ that the language's names come from (sema/module/language.c).
STD = ["standard", "math", "random", "scaled", "libdevice", "integer", "convert", "gluon",
       "ragged_tma"]


# The letters of lang/std/operand_dtypes.h.
LETTERS = {"F": "fp32, fp64", "S": "fp32", "D": "fp64", "I": "integers of 32 and 64 bits",
           "i": "int32", "u": "uint32", "l": "int64", "m": "uint64"}


def std_functions():
    lines = ["", "## Standard library", "", "Written in the kernel language, in `lang/std/`."]
    lines += ["", "| function | dtypes | file |", "| --- | --- | --- |"]
    letters = dict(operand_dtypes())
    for path in (ROOT / "lang/std" / f"{name}.py" for name in STD):
        text = path.read_text()
        for name, params in re.findall(r"(?m)^def ([a-z]\w*)\(((?:[^()]|\([^()]*\))*)\)", text):
            params = params.strip().replace(": tl.constexpr", "").replace(" = ", "=")
            params = re.sub(r"\s+", " ", params)
            takes = "; ".join(LETTERS[c] for c in dict.fromkeys(letters.get(name, "")))
            lines.append(f"| {code(cell(f'{name}({params})'))} | {takes} | {path.name} |")
    return "\n".join(lines) + "\n"


def tile_cells(row):
    op, operands, results, rule, flags, attributes, meaning = row
    flags = flags.lower().replace("|", " ")
    return [code(op.lower()), code(operands), results, rule, flags, attributes, meaning]


def nest_cells(row):
    op, levels, results, operands, addresses, _, flags, attributes, meaning = row
    flags = "" if flags == "0" else flags.lower().replace("|", " ")
    counts = [n.replace("-1", "any") for n in (results, operands, addresses)]
    return [code(op.lower().replace("_", ".")), levels, *counts, flags, attributes, meaning]


def builtin_cells(row):
    name, where, params = row[:3]
    return [code(f"{name}({params})"), ", ".join(WHERE[w] for w in where)]


def graph_rows(path):
    section = ""
    for line in (ROOT / path).read_text().splitlines():
        if heading := re.match(r"/\* -- (.*?) -- \*/", line):
            section = heading[1]
        elif row := re.match(r'(?:OP|FUNCTION)\((.*?), (\w+), "([^"]*)"(.*)\)$', line):
            yield section, row.groups()


PRIMITIVE = re.compile(r"\b(POINTWISE|VIEW|GATHER|REDUCE|SCAN|PRIM)\((\w*)")


def computed(attributes, rule, library, by_id):
    """Who computes an operator, in the words of graph-ops.md."""
    if library == "_operator" or rule == "item" or rule.startswith("sym_"):
        return "on the host"
    if "ASSERTS" in attributes:
        return "on the host"
    same = re.search(r"\b(?:SAME_AS|FUNCTIONAL)\((\w+)\)", attributes)
    if same and "EXPAND" not in attributes:
        return computed(*by_id[same[1]], by_id)
    return "whole" if PRIMITIVE.search(attributes) else "in parts"


def graph_columns(path):
    """The function that makes the cells of a row."""
    by_id = {re.sub(r", ", "_", target): (attributes, rule, target.partition(",")[0])
             for _, (target, rule, _, attributes) in graph_rows(path)}

    def cells(row):
        target, rule, schema, attributes = row
        kind = PRIMITIVE.search(attributes)
        primitive = kind and (kind[2] if kind[1] == "PRIM" else kind[1])
        return [code(target.replace(", ", ".")), code(schema), rule.replace("_", " "),
                computed(attributes, rule, target.partition(",")[0], by_id),
                (primitive or "").lower()]
    return cells


GRAPH_OPS = """# Operators of graphs

{}
An operator is computed *whole*, by one expression or one loop of a kernel, *in parts*, by other
operators that it is made of, or *on the host*, between kernels. A kernel computes many of them at
once.
"""


def condition(text):
    words = re.sub(r"\b(HAS|PASS)_", "", text).lower()
    return words.replace("_", " ").replace(" | ", ", ")


def conditions(needs, without):
    return ", ".join(([condition(needs)] if needs != "0" else [])
                     + ([f"without {condition(without)}"] if without != "0" else []))


def pass_cells(row):
    name, takes, gives, _, needs, without, meaning = row
    return [code(name), takes.lower(), gives.lower(), conditions(needs, without), meaning]


PASSES = """# Passes

{}
A list of passes is one table, from top to bottom. A pass runs where the IR is at the level that it
takes and all its conditions hold: capabilities of the machine (the last table), or options of a
graph's compilation. `--dump-after PASS` of `nereid compile` and `nereid graph` prints the IR after
one; `nereid compile --run-passes P1,P2` applies these alone, and `nereid graph --run-passes P1,P2
--emit graph` does so with a graph.
[add-a-pass.md](add-a-pass.md) says how to add one.

Levels, in this order:

{}
## Kernels
{}
## Graphs
{}
## Capabilities of machines
{}"""


def passes():
    levels, kernels = "lang/base/pass.h", "lower/passes.h"
    graphs, machines = "planner/passes.h", "lower/target/machine.h"
    note = NOTE.format("`, `".join((kernels, graphs, machines)))
    titles = ["pass", "takes", "gives", "conditions", "meaning"]
    plain = lambda *a: "\n" + table(*a).split("\n\n", 2)[-1].lstrip()
    named = lambda row: [condition(row[0]), row[1]]
    names = "".join(f"- *{row[0].lower()}*: {row[1]}\n" for _, row in rows(levels, "LEVELS"))
    return PASSES.format(note, names, plain(kernels, "KERNEL_PASSES", titles, pass_cells),
                         plain(graphs, "GRAPH_PASSES", titles, pass_cells)
                         + plain(graphs, "PLAN_PASSES", titles, pass_cells).split("\n", 3)[3],
                         plain(machines, "CAPABILITIES", ["capability", "meaning"], named))


ENVIRONMENT = """# Variables of the environment

{}
All that the program and the library read. An option of the command line goes before its variable.

| variable | what it does |
| --- | --- |
{}
Kernel files see no variable: `os.getenv` and `os.environ.get` in host code give their defaults, so
that what is compiled depends on the file and the options alone.
"""


def environment(header):
    """Rows of several lines, unlike those of the other tables."""
    strings = r'(?:"(?:\\.|[^"\\])*"[\s\\]*)+'
    found = re.findall(rf"\bX\((\w+),[\s\\]*({strings})\)", (ROOT / header).read_text())
    lines = [f"| {code(name)} | {cell(unquoted(text))} |\n" for name, text in found]
    return ENVIRONMENT.format(NOTE.format(header), "".join(lines))


LOGGING = """# The log

{}
With `-v` (`--verbose`), or the variable `NEREID_LOG`, the program and the library say on standard
error what they are doing: a line each, `nereid: TOPIC: text`, or with `--diagnostics json` an
object of severity `log`. Progress is not shown then. `NEREID_LOG` has levels and topics with commas
between; a minus takes a topic away:

```text
NEREID_LOG=info            what -v adds: all topics of that level
NEREID_LOG=debug,-pass     all topics but one
NEREID_LOG=cache,tune      these two
```

`off`, `none` and `0` are no topic, `1` is `info`, `all` and `2` are `debug`. A word that is neither
a level nor a topic is a warning, told once, and the others hold.

| topic | level | lines |
| --- | --- | --- |
{}
```console
$ nereid run examples/kernels/vector_add.py x_ptr=ones:f32[1000] y_ptr=ones:f32[1000] \\
    out_ptr=empty:f32[1000] n=1000 -D BLOCK=256 --grid "cdiv(n, BLOCK)" --device cpu -v
nereid: compile: vector_add for cpu:16: parse 0.1 ms, sema 0.1 ms, passes 0.2 ms, code 0.3 ms; \
8003 steps
nereid: cache: miss: library vector_add
nereid: cache: put: library vector_add, 15384 bytes
nereid: compile: library vector_add for cpu: by the C compiler, 261 ms
nereid: launch: vector_add on cpu: grid 4 x 1 x 1, variant 1 of 1
out_ptr f32[1000] [2, 2, 2, 2, ..., 2, 2, 2, 2] sum 2000
```

To tell whether a pass changed something, the topic `pass` prints the IR before and after it, which
takes time.

`torch.compile(backend="nereid")` logs its graphs under the topic `graph`; PyTorch's variable
`TORCH_LOGS="+nereid.torch_backend"` does so without the library's lines.
"""


def logging(header):
    lines = [f"| {code(name)} | {code(level)} | {cell(doc)} |\n"
             for _, (_, name, level, doc) in rows(header, "LOG_TOPICS")]
    return LOGGING.format(NOTE.format(header), "".join(lines))


OPTIONS = """# Options

{}
## Of kernels

`nereid_request` has each as a field (`nereid_options.h`), and 0 is the default. Each is part of
the keys of all caches. A configuration of a tuner may set those with a `t`. In Python some have
Triton's names: `enable_fp_fusion=False` is `no_fp_fusion`, `sanitize_overflow=False` is
`allow_overflow`, `enable_reflect_ftz=False` is `denormals`.

| option | command line | values | default | | meaning |
| --- | --- | --- | --- | --- | --- |
{}
## Of graphs

{}
`nereid_graph_options` has each as a field (`nereid_graph_options.h`), and 0 is the default. The
cache of executables has the rows with a `k` in its keys. An executable with an option of a row
with a `u`, or of mode max-autotune, is neither taken from it nor left there.

| option | `nereid graph` and `build` | values | | meaning |
| --- | --- | --- | --- | --- |
{}"""


def kernel_options(header):
    named = dict(re.findall(r'#define (\w+) "(.*)"', (ROOT / header).read_text()))
    lines = []
    for _, row in rows(header, "NEREID_KERNEL_OPTIONS"):
        kind, name, default, least, most, uses, flag, value, choices, meaning = row
        flag = code("" if flag == "NULL" else f"{flag} {value}" if value != "NULL" else flag)
        words = named.get(choices, choices).replace(" ", ", ")
        bounds = least if least == most else f"{least} to {most}"
        values = "" if kind == "FLAG" else words if choices != "NULL" else bounds
        default = default if kind == "INT" and default != "0" else ""
        cells = [code(name), flag, values, default, "t" if "TUNED" in uses else "", cell(meaning)]
        lines.append(f"| {' | '.join(cells)} |\n")
    return "".join(lines)


def graph_options(header):
    named = dict(re.findall(r'#define (\w+) "(.*)"', (ROOT / header).read_text()))
    lines = []
    for _, row in rows(header, "NEREID_GRAPH_OPTIONS"):
        kind, name, uses, flag, value, choices, meaning = row
        flag = code("" if flag == "0" else flag if value == "0" else f"{flag} {value}")
        values = named[choices].replace(" ", ", ") if kind == "WORD" else ""
        letter = "u" if "UNSTORED" in uses else "k" if "PLAN" in uses else ""
        lines.append(f"| {code(name)} | {flag} | {values} | {letter} | {cell(meaning)} |\n")
    return "".join(lines)


def options():
    kernels, graphs = "lang/base/nereid_options.h", "model/nereid_graph_options.h"
    return OPTIONS.format(NOTE.format(kernels), kernel_options(kernels), NOTE.format(graphs),
                          graph_options(graphs))


def torch_options():
    """docs/python.md with the table of torch.compile's options, the rows of Settings."""
    source = ROOT / "python/nereid/torch_backend/base/settings.py"
    (settings,) = [node for node in ast.parse(source.read_text()).body
                   if isinstance(node, ast.ClassDef) and node.name == "Settings"]
    lines = ["| `options={...}` | |", "| --- | --- |"]
    for node in settings.body:
        if isinstance(node, ast.AnnAssign):
            meaning = ast.literal_eval(node.value.args[2])
            lines.append(f'| `"{node.target.id}"` | {cell(meaning)} |')
    page = (ROOT / "docs/python.md").read_text()
    begin = page.index(lines[0])
    return page[:begin] + "\n".join(lines) + page[page.index("\n\n", begin):]


MESSAGES = """# Messages

{}
Each message has an id: `E_` for errors, `W_` for warnings, `N_` for notes, `H_` for hints, and
`M_` for what `E_GRAPH_DATA` says of a run's data. With
`--diagnostics ids` (or `NEREID_DIAGNOSTICS=ids`) the program prints it after the text, in JSON it
is the key `id`, in Python the property `id` of an exception and of its `diagnostics`, in C the
field `id` of `nereid_diagnostic`. `nereid explain ID` prints the row. Names and numbers of the
program are in the place of `%s`, `%d` and their like. Texts that a callback of the C API gets have
no id.

Ids may be added; one that there is keeps its meaning, while its text may become clearer.
"""


def message_text(body):
    """A printf format, of C strings and PRI macros."""
    parts = re.findall(r'"((?:\\.|[^"\\])*)"|\bPRI([a-z])\w*', body)
    return "".join(text if not kind else kind for text, kind in parts).replace('\\"', '"')


def messages():
    rooms = re.search(r"(?m)^ROOMS := ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text())[1]
    rooms = rooms.replace("\\\n", " ").split()
    headers = [f"{room}/messages.h" for room in rooms if (ROOT / room / "messages.h").exists()]
    text = MESSAGES.format(NOTE.format("`, `".join(headers)))
    for header in headers:
        found = dict(re.findall(r"#define ([EWNHMR]_\w+)\s+((?:[^\n]*\\\n)*[^\n]*)",
                                (ROOT / header).read_text()))
        text += f"\n## {header.split('/')[0]}\n\n| id | text | remedy |\n| --- | --- | --- |\n"
        for name, body in found.items():
            if name[0] != "R":
                remedy = message_text(found.get("R" + name[1:], ""))
                shown = message_text(body).replace("\\n", " ").replace("\\\\", "\\").strip()
                text += f"| `{name}` | `` {cell(shown)} `` | {cell(remedy)} |\n"
    return text


def pages():
    yield "messages.md", messages()
    yield "options.md", options()
    yield "python.md", torch_options()
    yield "passes.md", passes()
    yield "logging.md", logging("runtime/support/log.h")
    yield "environment.md", environment("runtime/support/environment.h")
    tile, nest, builtins = "lang/tile/tile_ops.h", "lower/nest/nest_ops.h", "sema/value/builtins.h"
    graph = "graph/ops/op_table.def"
    titles = ["op", "operands", "results", "type rule", "flags", "attributes", "meaning"]
    text = "# Ops of the tile IR\n\n" + NOTE.format(tile)
    yield "tile-ops.md", text + table(tile, "TILE_OPS", titles, tile_cells)
    titles = ["statement", "levels", "results", "operands", "addresses", "flags", "attributes",
              "meaning"]
    text = "# Statements of the loop-nest IR\n\n" + NOTE.format(nest)
    yield "nest-ops.md", text + table(nest, "NEST_OPS", titles, nest_cells)
    text = "# Builtins\n\n" + NOTE.format(builtins + "` and `lang/std/*.py")
    public = [row for row in rows(builtins, "BUILTINS") if row[1][1] != "N"]
    text += markdown(public, ["function", "of"], builtin_cells)
    yield "builtins.md", text + std_functions()
    titles = ["operator", "schema", "type rule", "computed", "primitive"]
    text = GRAPH_OPS.format(NOTE.format(graph))
    yield "graph-ops.md", text + markdown(graph_rows(graph), titles, graph_columns(graph))


def main():
    failed = passed = 0
    for name, text in pages():
        path = ROOT / "docs" / name
        if "--update" in sys.argv:
            path.write_text(text)
        same = path.exists() and path.read_text() == text
        passed, failed = passed + same, failed + (not same)
        if not same:
            print(f"FAIL docs/{name} is stale: run `make docs`")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
