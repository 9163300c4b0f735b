#!/usr/bin/env python3
"""Sizes that a model of ONNX's leaves open, where a run has 0, 1 or equal ones, against NumPy.

    open_sizes.py [--devices interp,cpu] [NAME...]

A case is a model and runs of it: inputs, and the outputs that are due, or None where the operator
takes no such sizes.  A project of `nereid build` gives the same, or says which sizes it was not
made for: never another value.
"""
import argparse, os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
sys.path += [str(ROOT / "tests/support"), str(BUILD / "python")]
import onnx_text as o  # noqa: E402
from ops import compare, quick_compiler  # noqa: E402
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))


def x(*shape):
    return np.arange(np.prod(shape, dtype=int), dtype="f4").reshape(shape) + 1


def integer_means(x, axis):
    sums = (x.astype("i8") + 20000001).sum(axis, keepdims=True)
    return (sums // x.shape[axis]).astype("i4")


def one(op, inputs="x", takes="x", initializers=(), more=(), **attributes):
    """A model with one output of an operator, after the nodes `more`."""
    nodes = [*more, o.node(op, inputs, "z", **attributes)]
    types = {"x": o.f32("n", 4), "y": o.f32("m", 4)}
    return o.model(nodes, {n: types[n] for n in takes}, "z", initializers)


SHAPE, SHAPE_X = o.node("Shape", "y", "s"), o.node("Shape", "x", "s")
IS_ONE = [o.node("Shape", "x", "s"), o.node("Gather", "s zero", "d"),
          o.node("Equal", "d one", "q")]
NUMBERS = [o.tensor("zero", "i8", [], bytes(8)), o.tensor("one", "i8", [], b"\1" + bytes(7)),
           o.ints("axis", 0)]
LARGE = o.tensor("large", "i4", [], (20000001).to_bytes(4, "little"))
BRANCHES = {"then_branch": o.graph([o.node("Squeeze", "x axis", "a")], outputs="a"),
            "else_branch": o.graph([o.node("Identity", "x", "b")], outputs="b")}

CUMULATIVE = o.graph([o.node("Add", "h t", "h2"), o.node("Identity", "h2", "k")],
                     {"h": o.f32(4), "t": o.f32(4)}, "h2 k")
SCAN = o.model([o.node("Scan", "start x", "last z", body=CUMULATIVE, num_scan_inputs=1)],
               {"x": o.f32("n", 4)}, "z", [o.tensor("start", "f4", [4], bytes(16))])
TURN = o.graph([o.node("Identity", "c", "c2"), o.node("Add", "s step", "s2"),
                o.node("Identity", "s", "k")],
               {"i": o.i64(), "c": o.boolean(), "s": o.f32(1)}, "c2 s2 k")
LOOP = o.model([o.node("Loop", "t - x", "last z", body=TURN)],
               {"t": o.i64(), "x": o.f32(1)}, {"z": o.f32("k", 1)}, [o.floats("step", 1)])
TWICE = {"then_branch": o.graph([o.node("Concat", "x x", "a", axis=0)], outputs="a"),
         "else_branch": o.graph([o.node("ReduceSum", "x", "b", keepdims=0)], outputs="b")}
IF = o.model([o.node("If", "c", "z", **TWICE)],
             {"c": o.boolean(), "x": o.f32("n", 4)}, {"z": o.f32()})


def twice_or_sum(x, limit=3):
    """What IF_OF_DATA gives."""
    return np.concatenate([x, x]) if x.max(initial=-np.inf) > limit else x.sum()


def decided(of, limit, result, branches):
    """Nodes: an If that data of a node decides, whose results differ in shape."""
    return [o.node("Abs", of, of + "a"), o.node("ReduceMax", of + "a", of + "m", keepdims=0),
            o.node("Greater", f"{of}m {limit}", of + "c"),
            o.node("If", of + "c", result, **branches)]


def branches(of):
    return {"then_branch": o.graph([o.node("Concat", f"{of} {of}", "a", axis=0)], outputs="a"),
            "else_branch": o.graph([o.node("ReduceSum", of, "b", keepdims=0)], outputs="b")}


def scalar(name, value):
    return o.tensor(name, "f4", [], np.float32(value).tobytes())


IF_OF_DATA = o.model(decided("x", "three", "z", branches("x")), {"x": o.f32("n", 4)},
                     {"z": o.f32()}, [scalar("three", 3)])
IF_OF_IF = o.model(decided("x", "three", "y", branches("x")) +
                   decided("y", "thirty", "z", {
                       **branches("y"), "then_branch": o.graph([
                           o.node("Concat", "y y", "a", axis=0)], outputs="a")}),
                   {"x": o.f32(2, 4)}, {"z": o.f32()}, [scalar("three", 3), scalar("thirty", 30)])


def chosen(x):
    """What IF_IN_FUNCTION gives: y is x twice or its sum, and again if x has a number over 5."""
    def once(x, limit):
        return np.concatenate([x, x]) if abs(x).max() > limit else x.sum()
    y = once(x, 3)
    return (once(y, 7) if x.max() > 5 else y) + np.float32(1)


# A condition that the caller computes, and in a branch a function with one of its own.
IF_IN_FUNCTION = o.model(
    [o.node("ReduceMax", "x", "m", keepdims=0), o.node("Greater", "m five", "q"),
     o.node("nested", "x q three seven", "y", domain="local"), o.node("Add", "y one", "z")],
    {"x": o.f32(2, 4)}, {"z": o.f32()},
    [scalar("three", 3), scalar("five", 5), scalar("seven", 7), scalar("one", 1)],
    functions=[
        o.function("once", "v limit", "y", decided("v", "limit", "y", branches("v"))),
        o.function("nested", "x q low high", "z", [
            o.node("once", "x low", "y", domain="local"), o.node("If", "q", "z", **{
                "then_branch": o.graph([o.node("once", "y high", "a", domain="local")],
                                       outputs="a"),
                "else_branch": o.graph([o.node("Identity", "y", "b")], outputs="b")})])],
    imports=["local"])
LOOP_OF_DATA = o.model([
    o.node("ReduceMax", "x", "m", keepdims=0), o.node("Cast", "m", "t", to=7),
    o.node("Loop", "t - start", "last z", body=TURN)], {"x": o.f32("n", 4)}, {"z": o.f32("k", 1)},
    [o.floats("step", 1), o.floats("start", 1)])
SCAN_OF_DATA = o.model([o.node("Unique", "x", "few", axis=0), o.node(
    "Scan", "start few", "last z", body=CUMULATIVE, num_scan_inputs=1)], {"x": o.f32("n", 4)},
    {"z": o.f32("k", 4)}, [o.tensor("start", "f4", [4], bytes(16))])
# 0 in either branch, if both computations of the condition draw the same numbers.
IF_OF_DRAW = o.model([
    o.node("RandomUniformLike", "x", "r"), o.node("ReduceMean", "r", "m", keepdims=0),
    o.node("Greater", "m half", "c"), o.node("Sub", "half m", "below"), o.node("If", "c", "y", **{
        "then_branch": o.graph([o.node("Relu", "below", "a")], outputs="a"),
        "else_branch": o.graph([o.node("Neg", "below", "e"), o.node("Relu", "e", "f"),
                                o.node("Expand", "f two", "b")], outputs="b")}),
    o.node("ReduceSum", "y", "z", keepdims=0)], {"x": o.f32("n", 4)}, {"z": o.f32()},
    [scalar("half", .5), o.ints("two", 2)])
SCALED = dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
RESIZE = o.model([o.node("Resize", "x - by", "z", **SCALED)], {"x": o.f32(1, 1, "h", "w")}, "z",
                 [o.floats("by", 1, 1, 2, 2)])
# Axes of one name that are not of one size: by a name that says nothing, and by one that is wrong.
ONE_NAME = o.model([o.node("Concat", "x y", "z", axis=0)],
                   {"x": o.f32("?", "?"), "y": o.f32("n", "n")}, "z")
YES, NO = np.array(True), np.array(False)
BACK = [o.ints("from", -1), o.ints("to", -2**62), o.ints("axis", 0), o.ints("st", -1)]

# Data decides how many elements there are: 1, 2 of rows, none without.
FEW = [o.node("Min", "x two", "low"), o.node("Unique", "low", "few")]
TWO = [o.floats("two", 2)]
PART = [o.ints("from", -2), o.ints("to", 1), o.ints("axis", 0)]
FAR = [o.ints("from", -2), o.ints("to", -2**40), o.ints("axis", 0), o.ints("st", -1)]

CASES = [
    ("squeeze_axes", one("Squeeze", "x axis", initializers=NUMBERS[2:]),
     [((x(1, 4),), x(4)), ((x(3, 4),), None), ((x(0, 4),), None)]),
    ("squeeze", one("Squeeze"),
     [((x(3, 4),), x(3, 4)), ((x(1, 4),), x(4)), ((x(0, 4),), x(0, 4))]),
    ("expand", one("Expand", "x s", "xy", more=[SHAPE]),
     [((x(3, 4), x(3, 4)), x(3, 4)), ((x(1, 4), x(3, 4)), x(1, 4).repeat(3, 0)),
      ((x(3, 4), x(1, 4)), x(3, 4)), ((x(1, 4), x(0, 4)), x(0, 4)),
      ((x(2, 4), x(3, 4)), None)]),
    ("add", one("Add", "x y", "xy"),
     [((x(3, 4), x(3, 4)), 2 * x(3, 4)), ((x(1, 4), x(3, 4)), x(1, 4) + x(3, 4)),
      ((x(2, 4), x(3, 4)), None)]),
    *[(f"mod_{sign}", o.model([o.node("Shape", "x", "s"), o.node("Mod", "s three", "r", fmod=sign),
                               o.node("ConstantOfShape", "r", "z")],
                              {"x": o.f32(2, 4)}, {"z": o.f32(2, 1)}, [o.ints("three", 3, 3)]),
       [((x(2, 4),), np.zeros((2, 1), "f4"))]) for sign in (0, 1)],
    ("concat_of_none", o.model([o.node("Concat", "x v", "z", axis=1)],
                               {"x": o.f32("n", "m"), "v": o.f32("k")}, {"z": o.f32()}),
     [((x(0, 1), x(0)), None), ((x(2, 1), x(2)), None)]),
    ("if_in_function", IF_IN_FUNCTION,
     [((k * x(2, 4) / 4 - shift,), chosen(k * x(2, 4) / 4 - shift))
      for k, shift in ((1, 0), (2, 0), (3, 0), (3, 12), (4, 1))]),
    ("branch", one("If", "q", more=IS_ONE, initializers=NUMBERS, **BRANCHES),
     [((x(1, 4),), x(4)), ((x(3, 4),), x(3, 4)), ((x(0, 4),), x(0, 4))]),
    ("reshape", one("Reshape", "x to", initializers=[o.ints("to", -1, 3)]),
     [((x(3, 4),), x(4, 3)), ((x(1, 4),), None), ((x(0, 4),), x(0, 3))]),
    ("reshape_of_0", one("Reshape", "x s", "xy", more=[SHAPE]),
     [((x(2, 4), x(2, 4)), x(2, 4)), ((x(2, 4), x(0, 4)), x(2, 4))]),
    ("index", one("Gather", "x at", initializers=[o.ints("at", 4)], axis=1),
     [((x(n, 4),), None) for n in (3, 1)]),
    ("nothing_squeezed", one("Squeeze", "none axis", more=[
        SHAPE_X, o.node("ConstantOfShape", "s", "none")], initializers=NUMBERS[2:]),
     [((x(0, 4),), None), ((x(1, 4),), 0 * x(4)), ((x(2, 4),), None)]),
    ("nothing_reshaped", one("Reshape", "none s", more=[
        SHAPE_X, o.node("Gather", "s axis", "d"), o.node("ConstantOfShape", "d", "none")],
        initializers=NUMBERS[2:]), [((x(0, 4),), x(0, 4))]),
    ("backwards", one("Slice", "x from to axis st", initializers=BACK),
     [((x(3, 4),), x(3, 4)[::-1]), ((x(1, 4),), x(1, 4)), ((x(0, 4),), x(0, 4))]),
    # ONNX, unlike NumPy, begins with the first element where the begin is before it.
    ("back_from_afar", one("Slice", "x from to axis st", initializers=FAR),
     [((x(3, 4),), x(3, 4)[1::-1]), ((x(1, 4),), x(1, 4)), ((x(0, 4),), x(0, 4))]),
    ("back_among_few", one("Slice", "few from to axis st", more=FEW, initializers=FAR + TWO),
     [((x(3, 4),), x(1)), ((x(0, 4),), x(0))]),
    ("part_of_few", one("Slice", "few from to axis", more=FEW, initializers=PART + TWO),
     [((x(3, 4),), x(1)), ((x(1, 4),), x(1)), ((x(0, 4),), x(0))]),
    ("few_summed", one("CumSum", "few zero", more=FEW, initializers=NUMBERS[:1] + TWO,
                       exclusive=1),
     [((x(3, 4),), x(2) - 1), ((x(0, 4),), x(0))]),
    # No place is found in a mask that is known.
    ("none_found", one("NonZero", "differs", more=[o.node("Equal", "axis to", "differs")],
                       initializers=PART[1:]), [((x(3, 4),), np.zeros((1, 0), "i8"))]),
    ("short_compressed", one("Compress", "part flags", more=[o.node(
        "Slice", "x from to axis", "part")], axis=0, initializers=[*PART, o.tensor(
            "flags", "?", [3], bytes([1, 0, 1]))]),
     [((x(1, 4),), x(1, 4)), ((x(2, 4),), x(1, 4)), ((x(3, 4),), x(0, 4))]),
    # ONNX leaves the mean of nothing open; ONNX Runtime gives 0.
    ("mean_of_none", one("ReduceMean", axes=[0]),
     [((x(3, 4),), x(3, 4).mean(0, keepdims=True)), ((x(0, 4),), 0 * x(1, 4))]),
    # Means of integers have no fraction, and bits that f32 has not.
    *[(f"mean_of_integers_{axis}", one("ReduceMean", "i", axes=[axis], initializers=[LARGE], more=[
        o.node("Cast", "x", "w", to=6), o.node("Add", "w large", "i")]),
       [((x(n, 4),), integer_means(x(n, 4), axis)) for n in (3, 1, 2)]) for axis in (0, 1)],
    # The first row is one if there are rows; which one it is, no element needs.
    ("row_of_nothing", one("Compress", "none yes", axis=0, more=[
        o.node("Slice", "x st st axis1", "none")], initializers=[
            o.ints("axis1", 1), BACK[3], o.tensor("yes", "?", [1], b"\1")]),
     [((x(3, 4),), x(1, 0)), ((x(1, 4),), x(1, 0))]),
    ("few_of_few", one("Unique", "few", more=FEW, initializers=TWO),
     [((x(3, 4),), x(2)), ((x(0, 4),), x(0))]),
    ("scan", SCAN, [((x(n, 4),), np.cumsum(x(n, 4), 0)) for n in (3, 1, 2)]),
    ("loop", LOOP, [((np.array(n), x(1)), x(n).reshape(n, 1)) for n in (4, 1, 4)]),
    ("if", IF, [((YES, x(2, 4)), np.concatenate([x(2, 4)] * 2)), ((NO, x(2, 4)), x(2, 4).sum()),
                ((YES, x(1, 4)), np.concatenate([x(1, 4)] * 2))]),
    ("if_of_data", IF_OF_DATA, [((k * x(n, 4),), twice_or_sum(k * x(n, 4)))
                                for k, n in ((1, 2), (0, 2), (0, 3), (2, 2), (1, 2), (0, 2))]),
    ("if_of_if", IF_OF_IF, [((k * x(2, 4),), twice_or_sum(twice_or_sum(k * x(2, 4)), 30))
                            for k in (0, 1, 2, 0, 4)]),
    ("loop_of_data", LOOP_OF_DATA, [((np.full((2, 4), k, "f4"),), x(k).reshape(k, 1))
                                    for k in (3, 1, 3, 0, 5)]),
    ("scan_of_data", SCAN_OF_DATA,
     [((np.repeat(x(n, 4), 2, 0),), np.cumsum(x(n, 4), 0)) for n in (3, 1, 2, 3)]),
    ("if_of_draw", IF_OF_DRAW, [((x(n, 4),), np.float32(0)) for n in range(1, 7)]),
    ("resize", RESIZE, [((x(1, 1, h, w),), x(1, 1, h, w).repeat(2, 2).repeat(2, 3))
                        for h, w in ((2, 3), (1, 1), (3, 2))]),
]
CASES.append(("one_name", ONE_NAME, [
    ((x(2, 4), x(4, 4)), np.concatenate([x(2, 4), x(4, 4)])),
    ((x(2, 4), x(3, 4)), np.concatenate([x(2, 4), x(3, 4)])), ((x(2, 4), x(4, 3)), None),
    # ONNX Runtime joins nothing of other sizes.
    ((x(0, 4), x(4, 3)), x(4, 3)), ((x(2, 4), x(0, 3)), x(2, 4))]))
# Indices along axes of one element, in a kernel of a product, whose values have two axes.
PAIRS = o.model([o.node("MatMul", "x x", "y"), o.node("GatherElements", "x at", "w", axis=0),
                 o.node("Sub", "w y", "z")],
                {"x": o.f32(7, 1, 1), "at": o.i64(7, 1, 1)}, "z")
PLACES = np.array([3, -1, 0, 6, 2, 2, 5]).reshape(7, 1, 1)
CASES.append(("gathered_ones", PAIRS, [
    ((x(7, 1, 1), PLACES), np.take_along_axis(x(7, 1, 1), PLACES, 0) - x(7, 1, 1) ** 2)]))
PROJECTS = ("squeeze_axes", "squeeze", "expand")  # the others are refused, or the same


def nereid(folder, inputs, *command):
    files = [f"{folder}/x{i}.npy" for i in range(len(inputs))]
    for file, data in zip(files, inputs):
        np.save(file, data)
    return subprocess.run([*command, *files, "--out-dir", folder], capture_output=True, text=True)


def run(name, inputs, wanted, folder, may_refuse, *command):
    output = pathlib.Path(folder, "output_0.npy")
    output.unlink(missing_ok=True)
    done = nereid(folder, inputs, *command)
    text = f"{name} {[i.shape for i in inputs]}"
    refused = done.returncode in (1, 2) and done.stderr
    if wanted is None or (may_refuse and refused):
        check(refused, f"{text} status {done.returncode} {done.stderr}")
    elif done.returncode:
        check(False, f"{text} {done.stderr.strip()}")
    else:
        got = np.load(output)
        check(got.shape == wanted.shape, f"{text} shape {got.shape}, not {wanted.shape}")
        compare(text, got, wanted)


def build_project(path, folder):
    project = pathlib.Path(folder, "project")
    for command in ([NEREID, "build", path, "-o", project, "--target", "cpu"],
                    ["make", "-s", "-C", project]):
        done = subprocess.run(command, capture_output=True, text=True)
        check(not done.returncode, f"{path} {command} {done.stderr}")
    return project / "model"


def run_in_one_process(name, path, runs, folder):
    """All runs of a case by one executable, from Python, each twice."""
    import nereid
    model = nereid.load(str(path), device="cpu")
    for inputs, wanted in [*runs, *runs]:
        text = f"{name} (Python) {[i.shape for i in inputs]}"
        try:
            got = np.asarray(model.run(list(inputs))[0])
        except nereid.NereidError as error:
            check(wanted is None, f"{text} {error}")
            continue
        check(wanted is not None, f"{text} gives {got}")
        if wanted is not None:
            compare(text, got, wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,cpu")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        quick_compiler(folder)
        for name, model, runs in CASES:
            if args.names and name not in args.names:
                continue
            path = pathlib.Path(folder, "m.onnx")
            path.write_bytes(model)
            for inputs, wanted in runs:
                for device in args.devices.split(","):
                    run(f"{name} ({device})", inputs, wanted, folder, False, NEREID, "graph", path,
                        "--device", device)
            run_in_one_process(name, path, runs, folder)
            if name in PROJECTS:
                project = build_project(path, folder)
                for inputs, wanted in runs:
                    run(f"{name} (project)", inputs, wanted, folder, True, project)
    return report()


if __name__ == "__main__":
    sys.exit(main())
