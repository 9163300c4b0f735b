"""Columns that are summed up: vectors of a CPU hold neighbours among them, of one image or several;
few columns, columns that no number of lanes divides, rows in loops and on chip."""
import numpy as np

rng = np.random.default_rng(12)
ARRAYS = {
    "one": rng.normal(size=(300, 48)).astype(np.float32),
    "few": rng.normal(size=(130, 5)).astype(np.float32),
    "two": rng.normal(size=(130, 2)).astype(np.float32),
    "images": rng.normal(size=(3, 9, 7, 24)).astype(np.float32),
    "odd": rng.normal(size=(2, 70, 37)).astype(np.float32),
    "halves": rng.normal(size=(2, 40, 20)).astype(np.float16),
    "doubles": rng.normal(size=(2, 40, 20)),
    "numbers": rng.integers(-50, 50, (2, 41, 33), np.int32),
    "flags": rng.integers(0, 2, (2, 41, 33)).astype(bool),
    "image": rng.normal(size=(2, 24, 9, 7)).astype(np.float32),
    "w": rng.normal(size=(24, 1, 3, 3)).astype(np.float32),
}


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def depthwise(x, w):
    p = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    v = np.lib.stride_tricks.sliding_window_view(p, (3, 3), (2, 3))
    return np.einsum("nchwij,cij->nchw", v, w[:, 0])


CASES = [
    ("sum.dim_IntList(one, [0])", lambda one: one.sum(0)),
    ("sum.dim_IntList(few, [0], True)", lambda few: few.sum(0, keepdims=True)),
    ("sum.dim_IntList(two, [0])", lambda two: two.sum(0)),
    ("mean.dim(images, [1, 2])", lambda images: images.mean((1, 2))),
    ("sum.dim_IntList(images, [0, 2])", lambda images: images.sum((0, 2))),
    ("sum.dim_IntList(images, [2])", lambda images: images.sum(2)),
    ("amax.default(odd, [1])", lambda odd: odd.max(1)),
    ("prod.dim_int(odd, 1)", lambda odd: odd.prod(1)),
    ("argmax.default(odd, 1)", lambda odd: odd.argmax(1)),
    ("var.correction(odd, [1], correction=1)", lambda odd: odd.var(1, ddof=1)),
    ("softmax.int(odd, 1)", lambda odd: softmax(odd, 1)),
    ("sum.dim_IntList(halves, [1])", lambda halves: halves.astype(np.float32).sum(1)),
    ("sum.dim_IntList(doubles, [1])", lambda doubles: doubles.sum(1)),
    ("sum.dim_IntList(numbers, [1])", lambda numbers: numbers.sum(1)),
    ("amin.default(numbers, [1])", lambda numbers: numbers.min(1)),
    ("any.dim(flags, 1)", lambda flags: flags.any(1)),
    ("exp.default(images); sum.dim_IntList($0, [1, 2], True); div.Tensor(images, $1)",
     lambda images: images / np.exp(images).sum((1, 2), keepdims=True)),
    ("conv2d.default(image, w, None, 1, 1, 1, 24); relu.default($0); mean.dim($1, [2, 3], True); "
     "mul.Tensor($1, $2)",
     lambda image, w: (lambda y: y * y.mean((2, 3), keepdims=True))(
         np.maximum(depthwise(image, w), 0))),
]
