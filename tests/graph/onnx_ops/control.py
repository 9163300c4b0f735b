"""Loops whose data decides how often they run, and conditions in them."""
import numpy as np
import onnx_text as text

rng = np.random.default_rng(29)
F = np.float32
X = rng.normal(size=(2, 3)).astype(F)


def scalar(name, value):
    return text.tensor(name, "f4", [], np.array(value, F).tobytes())


def body(nodes, outputs, *more):
    inputs = {"i": text.i64(), "go": text.boolean(), "a": text.f32(2, 3)}
    return text.graph(nodes, inputs | (more[0] if more else {}), outputs,
                      [scalar("half", 0.5), scalar("bound", 0.1), scalar("zero", 0.0)])


HALVE = [text.node("Mul", "a half", "b"), text.node("Abs", "b", "m"),
         text.node("ReduceMax", "m", "most", keepdims=0), text.node("Greater", "most bound", "on")]


def halved(x, most=99):
    turns = 0
    while turns < most:
        x, turns = x * F(0.5), turns + 1
        if np.abs(x).max() <= F(0.1):
            break
    return x


# Takes one of two branches by the sign of a sum; the indices of the other are out of range.
TURNING = [
    text.node("ReduceSum", "a", "sum", keepdims=0), text.node("Greater", "sum zero", "up"),
    text.node("If", "up", "c",
              then_branch=text.graph([text.node("Gather", "a k", "t", axis=1)], {}, "t"),
              else_branch=text.graph([text.node("Neg", "a", "n"),
                                      text.node("Gather", "n l", "e", axis=1)], {}, "e")),
    text.node("Mul", "c half", "b"), text.node("Abs", "b", "m"),
    text.node("ReduceMax", "m", "most", keepdims=0), text.node("Greater", "most bound", "on")]


def turned(x, k, at):
    while True:
        up = x.sum() > 0
        x = (x[:, k] if up else -x[:, at]) * F(0.5)
        if np.abs(x).max() <= F(0.1):
            return x


LAST, FIRST, WILD = np.array([2, 0, 1]), np.array([0, 1, 2]), np.array([7, 8, 9])
INDICES = {"k": text.i64(3), "l": text.i64(3)}
KEPT = [text.node("Identity", "k", "k2"), text.node("Identity", "l", "l2")]

CASES = [
    ("Loop", 17, [None, None, X], dict(body=body(HALVE, "on b")), halved),
    ("Loop", 17, [np.array(2), None, X], dict(body=body(HALVE, "on b")),
     lambda n, x: halved(x, int(n))),
    ("Loop", 17, [None, np.array(True), X * 0], dict(body=body(HALVE, "on b")),
     lambda go, x: halved(x)),
    ("Loop", 17, [None, None, np.abs(X), LAST, WILD],
     dict(body=body([*TURNING, *KEPT], "on b k2 l2", INDICES)),
     lambda x, k, at: (turned(x, k, k), k, at)),
    ("Loop", 17, [None, None, X - 3, LAST, FIRST],
     dict(body=body([*TURNING, *KEPT], "on b k2 l2", INDICES)),
     lambda x, k, at: (turned(x, k, at), k, at)),
]
