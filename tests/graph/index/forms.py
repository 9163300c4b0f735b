"""Calls that take indices: name, call, the parameter that is varied, the size of its axis.

Arrays are named as in the calls: what is varied is made by INDICES, and is in range there."""
import numpy as np

rng = np.random.default_rng(17)
ARRAYS = {
    "x": rng.normal(size=(5, 6)).astype(np.float32),
    "rows": rng.normal(size=(3, 6)).astype(np.float32),
    "many": rng.normal(size=(12, 6)).astype(np.float32),
    "columns": rng.normal(size=(5, 3)).astype(np.float32),
    "cells": rng.normal(size=(3, 6)).astype(np.float32),
    "three": rng.normal(size=3).astype(np.float32),
    "one": np.array(1.5, np.float32),
    "offsets": np.array([0, 2, 2]),
    "logs": rng.normal(size=(3, 5)).astype(np.float32),
    "image_logs": rng.normal(size=(2, 5, 2, 3)).astype(np.float32),
    "pooled": rng.normal(size=(1, 2, 2, 2)).astype(np.float32),
    "sorted": np.arange(4, dtype=np.float32),
    "cache": rng.normal(size=(2, 7, 3)).astype(np.float32),
    "row": rng.normal(size=(2, 1, 3)).astype(np.float32),
}


def index(*shape, size=5, dtype=np.int64):
    return rng.integers(0, size, shape).astype(dtype)


# Name, call with `i` for the index, the index, the size of its axis.
FORMS = [
    ("embedding", "embedding.default(x, i)", index(2, 3), 5),
    ("embedding_i32", "embedding.default(x, i)", index(7, dtype=np.int32), 5),
    ("embedding_padding", "embedding.default(x, i, 2)", index(4), 5),
    ("embedding_bag", "embedding_bag.default(x, i, offsets)[0]", index(6), 5),
    ("bag_offsets", "embedding_bag.default(x, ids, i)[0]", np.array([0, 2, 2]), 7),
    ("first_bag", "embedding_bag.default(x, ids, i)[0]", np.array([0]), 1),
    ("first_of_bags", "_embedding_bag.default(x, ids, i)[0]", np.array([0]), 1),
    ("bags", "_embedding_bag.default(x, ids, i)[0]", np.array([0, 2, 2]), 7),
    ("bags_forward", "_embedding_bag_forward_only.default(x, ids, i, mode=1)[0]",
     np.array([0, 2, 2]), 7),
    ("gather_0", "gather.default(x, 0, i)", index(3, 6), 5),
    ("gather_1", "gather.default(x, 1, i)", index(5, 2, size=6), 6),
    ("gather_last", "gather.default(x, -1, i)", index(5, 2, size=6), 6),
    ("index_select", "index_select.default(x, 1, i)", index(4, size=6), 6),
    ("index_select_i32", "index_select.default(x, 0, i)", index(4, dtype=np.int32), 5),
    ("index_0", "index.Tensor(x, [i])", index(4), 5),
    ("index_1", "index.Tensor(x, [None, i])", index(2, 2, size=6), 6),
    ("index_pair", "index.Tensor(x, [i, pair])", index(3), 5),
    ("index_i32", "index.Tensor(x, [i])", index(4, dtype=np.int32), 5),
    ("index_put", "index_put.default(x, [i], rows)", np.array([3, 0, 2]), 5),
    ("index_put_add", "index_put.default(x, [i], rows, True)", index(3), 5),
    ("index_put_column", "index_put.default(x, [None, i], columns)", np.array([5, 0, 2]), 6),
    ("index_put_pair", "index_put.default(x, [i, pair], three)", np.array([3, 0, 2]), 5),
    ("unsafe_index", "_unsafe_index.Tensor(x, [i])", index(4), 5),
    ("unsafe_put", "_unsafe_index_put.default(x, [i], rows)", np.array([3, 0, 2]), 5),
    ("index_add", "index_add.default(x, 0, i, rows)", index(3), 5),
    ("index_copy", "index_copy.default(x, 0, i, rows)", np.array([3, 0, 2]), 5),
    ("index_copy_many", "index_copy.default(big, 0, i, many)", rng.permutation(20)[:12], 20),
    ("index_fill", "index_fill.int_Scalar(x, 1, i, 0.5)", index(2, size=6), 6),
    ("index_fill_tensor", "index_fill.int_Tensor(x, 1, i, one)", index(2, size=6), 6),
    ("scatter", "scatter.src(x, 0, i, cells)",
     np.stack([rng.permutation(5)[:3] for _ in range(6)], 1), 5),
    ("scatter_value", "scatter.value(x, 1, i, 2.5)", index(5, 2, size=6), 6),
    ("scatter_add", "scatter_add.default(x, 0, i, cells)", index(3, 6), 5),
    ("scatter_reduce", "scatter_reduce.two(x, 0, i, cells, 'amax')", index(3, 6), 5),
    ("scatter_mean", "scatter_reduce.two(x, 0, i, cells, 'mean', include_self=False)",
     index(3, 6), 5),
    ("scatter_prod", "scatter_reduce.two(x, 0, i, cells, 'prod')", index(3, 6), 5),
    ("take", "take.default(x, i)", index(4, size=30), 30),
    ("take_along_dim", "take_along_dim.default(x, i, 1)", index(5, 2, size=6), 6),
    ("nll_loss", "nll_loss_nd.default(logs, i, None, 1, 3)", index(3, size=3), 5),
    ("cross_entropy", "cross_entropy_loss.default(logs, i)", index(3), 5),
    ("cross_entropy_image", "cross_entropy_loss.default(image_logs, i)", index(2, 2, 3), 5),
    ("one_hot", "one_hot.default(i, 7)", index(4, size=7), 7),
    ("max_unpool", "max_unpool2d.default(pooled, i, [4, 4])",
     np.arange(8).reshape(1, 2, 2, 2) * 2, 16),
    ("searchsorted", "searchsorted.Tensor(sorted, three, sorter=i)", np.arange(4), 4),
    ("cache_copy", "index_copy.default(cache, 1, i, row)", np.array([4]), 7),
    ("cache_put", "index_put.default(cache, [None, i], row)", np.array([4]), 7),
    ("computed", "m_computed = add.Tensor(i, 1); index_select.default(x, 0, m_computed)",
     index(3, size=4), 5),
]
ARRAYS["ids"] = index(6)
ARRAYS["pair"] = index(3, size=6)
ARRAYS["big"] = rng.normal(size=(20, 6)).astype(np.float32)
# The index that is varied is moved by so much before it is used.
MOVED = {"computed": 1}
IGNORED = {"nll_loss": 3, "cross_entropy": -100, "cross_entropy_image": -100}


def values(name, size):
    """Indices that are tried: around both ends, far away, and what is ignored."""
    tried = [-size - 1, -size, -1, size - 1, size, 2**30]
    if name in IGNORED:
        tried.append(IGNORED[name])
    return tried
