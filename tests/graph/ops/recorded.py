"""Cases with PyTorch's results, which a file has: `MODULE.py` with PyTorch computes it anew."""
import functools, pathlib, re

import numpy as np


def results_file(module):
    return pathlib.Path(module).with_suffix(".npz")


@functools.cache
def stored(file):
    """All arrays of a file, which is read once."""
    with np.load(file) as found:
        return dict(found)


def _paths(call):
    items = call.partition(" -> ")[2]
    return items.split(",") if items else [""]


def cases(module, calls):
    """(call, a function that gives PyTorch's results)"""
    def of(call):
        def results(*_):
            file = stored(results_file(module))
            found = [file[f"{call}#{i}"] for i in range(len(_paths(call)))]
            return tuple(found) if len(found) > 1 else found[0]
        return results
    return [(call, of(call)) for call in calls]


def _values(call, names):
    """The results of statements, of which $0 is the first one's value."""
    *before, last = call.partition(" -> ")[0].split("; ")
    found = dict(names)
    for i, line in enumerate([*before, last]):
        line = re.sub(r"\$(\d+)", r"v\1", line)
        library = "" if line.startswith("quantized_decomposed.") else "aten."
        value = found[f"v{i}"] = eval(line if re.match(r"v\d", line) else
                                      f"torch.ops.{library}{line}", found)
    for path in _paths(call):
        item = value
        for i in filter(None, path.split(".")):
            item = item[int(i)]
        yield item


def record(module, calls, arrays):
    import torch

    found = {}
    for call in calls:
        names = {name: torch.from_numpy(np.array(x)) for name, x in arrays.items()}
        for i, result in enumerate(_values(call, {"torch": torch, "inf": float("inf"), **names})):
            found[f"{call}#{i}"] = result.resolve_conj().numpy()
    np.savez_compressed(results_file(module), **found)
