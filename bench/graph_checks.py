#!/usr/bin/env python3
"""What checks of indices cost: models with and without them, in turns, as a table.

    graph_checks.py [--device cpu|cuda] [--mode M] [--rounds N] [--json FILE] [NAME...]

Each side is `nereid graph MODEL --time`, whose runs follow each other; of all runs the least time
is told, which other programs disturb least.  Launches are those of a run.  The models are the
graphs below, in the sizes of the models that their names say, and those of tests/models that have
indices in their data.
"""
import argparse, json, os, pathlib, re, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
NEREID = os.environ.get("NEREID", str(ROOT / "build" / "nereid"))
HEAD = "class GraphModule(torch.nn.Module):\n    def forward(self, "
F32, I64 = "f32", "i64"


def graph(inputs, lines, results):
    """A graph as text; `inputs` are by name (dtype, shape, the size of the axis of an index)."""
    parameters = ", ".join(f'{name}: "{dtype}[{", ".join(map(str, shape))}]"'
                           for name, (dtype, shape, *_) in inputs.items())
    body = "".join(f"        {line}\n" for line in lines)
    return f"{HEAD}{parameters}):\n{body}        return ({results},)\n"


def embedding(rows, width, *ids):
    """A table's rows alone: the worst case."""
    inputs = {"table": (F32, (rows, width)), "ids": (I64, ids, rows)}
    return inputs, ["y = torch.ops.aten.embedding.default(table, ids)"], "y"


def embedding_norm(rows, width, *ids):
    """As a transformer begins."""
    inputs = {"table": (F32, (rows, width)), "weight": (F32, (width,)), "ids": (I64, ids, rows)}
    return inputs, ["x = torch.ops.aten.embedding.default(table, ids)",
                    f"y = torch.ops.aten.layer_norm.default(x, [{width}], weight, None)"], "y"


def recommendation(tables, rows, width, batch):
    """Many tables, an index of each."""
    inputs = {f"t{i}": (F32, (rows, width)) for i in range(tables)}
    inputs |= {f"i{i}": (I64, (batch,), rows) for i in range(tables)}
    lines = [f"e{i} = torch.ops.aten.embedding.default(t{i}, i{i})" for i in range(tables)]
    parts = ", ".join(f"e{i}" for i in range(tables))
    lines.append(f"x = torch.ops.aten.cat.default([{parts}], 1)")
    lines.append("y = torch.ops.aten.relu.default(x)")
    return inputs, lines, "y"


def cache(layers, heads, positions, width):
    """A position of each layer's cache is written, and its sum read."""
    shape = (1, heads, positions, width)
    inputs = {f"c{i}": (F32, shape) for i in range(layers)}
    inputs |= {"row": (F32, (1, heads, 1, width)), "position": (I64, (1,), positions)}
    lines = []
    for i in range(layers):
        lines.append(f"n{i} = torch.ops.aten.index_copy_.default(c{i}, 2, position, row)")
        lines.append(f"s{i} = torch.ops.aten.sum.dim_IntList(n{i}, [2])")
    return inputs, lines, ", ".join(f"s{i}" for i in range(layers))


def gather(rows, width, chosen):
    inputs = {"x": (F32, (rows, width)), "i": (I64, (rows, chosen), width)}
    return inputs, ["y = torch.ops.aten.gather.default(x, 1, i)"], "y"


def scatter(rows, width, written):
    inputs = {"x": (F32, (rows, width)), "i": (I64, (written,), rows),
              "v": (F32, (written, width))}
    return inputs, ["y = torch.ops.aten.index_add.default(x, 0, i, v)"], "y"


GRAPHS = {
    "embedding of BERT, 8x128": embedding(30522, 768, 8, 128),
    "embedding of Llama, 1x1": embedding(32000, 2048, 1, 1),
    "embedding and norm of BERT, 8x128": embedding_norm(30522, 768, 8, 128),
    "26 tables of DLRM, batch 2048": recommendation(26, 10000, 16, 2048),
    "caches of 16 layers, one position": cache(16, 8, 1024, 64),
    "gather of 64 of 512 columns": gather(4096, 512, 64),
    "index_add of 4096 rows": scatter(8192, 256, 4096),
}
MODELS = ["dlrm", "hf_bert", "hf_gpt2", "hf_llama", "hf_mixtral", "kv_decode"]


def make_graph(folder, inputs, lines, results):
    rng = np.random.default_rng(0)
    path = folder / "model.py"
    path.write_text(graph(inputs, lines, results))
    files = []
    for name, (dtype, shape, *size) in inputs.items():
        array = rng.integers(0, size[0], shape) if size else rng.normal(size=shape)
        np.save(folder / f"{name}.npy", array.astype(np.int64 if size else np.float32))
        files.append(folder / f"{name}.npy")
    return [path, *files]


def model_files(name):
    folder = ROOT / "tests" / "models" / name
    inputs = sorted(folder.glob("input_*.npy"), key=lambda p: int(p.stem.split("_")[1]))
    return [folder / "model.pt2", *inputs]


def measure(files, options):
    """The least time of a run in us, and its launches."""
    command = [NEREID, "graph", *map(str, files), "--time", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return float(re.search(r"^time .* min ([\d.]+)", done.stdout, re.M)[1]), int(
        re.search(r"launches (\d+)", done.stdout)[1])


def compare(files, options, rounds):
    sides = {"with": [], "without": ["--no-checks"]}
    times, launches = {side: [] for side in sides}, {}
    for _ in range(rounds):
        for side, more in sides.items():
            us, launches[side] = measure(files, [*options, *more])
            times[side].append(us)
    return min(times["with"]), min(times["without"]), launches["with"], launches["without"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--mode", default="default")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    args = parser.parse_args()
    options = ["--device", args.device, "--mode", args.mode]
    wanted = lambda name: not args.names or any(n in name for n in args.names)
    results = {}
    print("| model | without checks us | with | cost | launches without | with |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for name in filter(wanted, [*GRAPHS, *MODELS]):
            files = (make_graph(pathlib.Path(folder), *GRAPHS[name]) if name in GRAPHS
                     else model_files(name))
            checked, unchecked, n, without = results[name] = compare(files, options, args.rounds)
            cost = 100 * (checked / unchecked - 1)
            print(f"| {name} | {unchecked:.1f} | {checked:.1f} | {cost:+.1f}% | {without} | {n} |",
                  flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
