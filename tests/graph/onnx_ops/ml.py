"""Operators of ai.onnx.ml on numbers, as scikit-learn's models have them; the values are ONNX
Runtime's."""
import numpy as np
import onnx_text as text

F = np.float32
ML, VALUES = "ai.onnx.ml:3 ", "ml.txt"


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(F)


X = normal(1, 6, 4)
HOLES = np.where(normal(2, 6, 4) > 0.8, np.nan, X).astype(F)
NUMBERS = np.array([[3, 7], [5, 3], [-1, 9]])
PAIRS = dict(keys_floats=[2.5, float("nan"), 7.0], values_int64s=[1, 2, 3])
ODD = np.array([2.5, np.nan, -1.0, 7.0, 4.0], F)

# Three trees: a stump, one of three levels, one that is a single leaf.
SPLITS = [(0, 0, 1, 0.1, "BRANCH_LEQ", 1, 2), (0, 1, 0, 0.0, "LEAF", 0, 0),
          (0, 2, 0, 0.0, "LEAF", 0, 0),
          (1, 0, 0, -0.3, "BRANCH_LEQ", 4, 1), (1, 1, 3, 0.2, "BRANCH_LEQ", 2, 3),
          (1, 2, 0, 0.0, "LEAF", 0, 0), (1, 3, 0, 0.0, "LEAF", 0, 0),
          (1, 4, 2, 0.0, "BRANCH_LEQ", 5, 6), (1, 5, 0, 0.0, "LEAF", 0, 0),
          (1, 6, 0, 0.0, "LEAF", 0, 0), (2, 0, 0, 0.0, "LEAF", 0, 0)]
KINDS = "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_LEQ"
MIXED = [(*s[:4], s[4] if s[4] == "LEAF" else KINDS[i % 4], *s[5:]) for i, s in enumerate(SPLITS)]
FIELDS = ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_values", "nodes_modes",
          "nodes_truenodeids", "nodes_falsenodeids")


def trees(prefix, columns, splits=None, weights=None, **more):
    """Attributes of an ensemble whose leaves all vote for these columns."""
    splits = splits or SPLITS
    leaves = [(s[0], s[1], c) for s in splits if s[4] == "LEAF" for c in columns]
    if weights is None:
        weights = normal(3, len(leaves))
    out = {name: list(column) for name, column in zip(FIELDS, zip(*splits))}
    out |= {f"{prefix}_{name}": list(column)
            for name, column in zip(("treeids", "nodeids", "ids"), zip(*leaves))}
    return out | {f"{prefix}_weights": [float(w) for w in weights[:len(leaves)]]} | more


POSITIVE = np.abs(normal(4, 40)) / 4
REGRESSOR, CLASSIFIER = ML + "TreeEnsembleRegressor", ML + "TreeEnsembleClassifier"
TWO, THREE = dict(classlabels_int64s=[7, 9]), dict(classlabels_int64s=[4, -2, 11])


def binary(column, weights=None, **more):
    return trees("class", [column], None, weights, **TWO, **more)


def few_votes(prefix, every, **more):
    """Only some of the leaves vote, for one column each."""
    out = trees(prefix, [0, 1, 2])
    kept = [i for i in range(len(out[f"{prefix}_ids"])) if i % every == 1]
    return out | {f"{prefix}_{n}": [out[f"{prefix}_{n}"][i] for i in kept]
                  for n in ("treeids", "nodeids", "ids", "weights")} | more


KERNELS = dict(LINEAR=[0.0, 0.0, 0.0], POLY=[0.5, 1.0, 3.0], RBF=[0.3, 0.0, 0.0],
               SIGMOID=[0.2, 0.1, 0.0])


def vectors(kernel, of, probabilities=False, seed=7, **more):
    """Attributes of a machine of two or three classes, with so many vectors of each."""
    n, pairs = sum(of), len(of) * (len(of) - 1) // 2
    out = dict(kernel_type=kernel, kernel_params=KERNELS[kernel], vectors_per_class=of,
               support_vectors=normal(seed, 4 * n).tolist(), rho=normal(seed + 1, pairs).tolist(),
               coefficients=normal(seed + 2, (len(of) - 1) * n).tolist())
    if probabilities:
        out |= dict(prob_a=(-1 - np.abs(normal(seed + 3, pairs))).tolist(),
                    prob_b=normal(seed + 4, pairs).tolist())
    return out | dict(classlabels_ints=[4, -2, 11][:len(of)]) | more


SVC, SVR = ML + "SVMClassifier", ML + "SVMRegressor"
SUPPORT = dict(n_supports=5, support_vectors=normal(20, 20).tolist(),
               coefficients=normal(21, 5).tolist(), rho=[0.2])
def elements(dtype, *values):
    return text.tensor("", dtype, [len(values)], np.array(values, dtype).tobytes())


# Two trees: all six comparisons and a set, which lead to nodes or leaves.
ENSEMBLE = dict(
    tree_roots=[0, 5], nodes_featureids=[0, 1, 2, 3, 0, 1, 2],
    nodes_splits=elements("f4", 0.1, -0.3, 0.2, 0, 1, 0, 0.5),
    nodes_modes=elements("u1", 0, 1, 2, 3, 4, 6, 5), nodes_truenodeids=[1, 0, 3, 2, 4, 6, 8],
    nodes_falsenodeids=[2, 1, 4, 3, 5, 6, 9], nodes_trueleafs=[0, 1, 0, 1, 1, 1, 1],
    nodes_falseleafs=[0, 1, 0, 1, 1, 0, 1], membership_values=elements("f4", 1, -1, np.nan),
    leaf_targetids=[0, 1, 0, 1, 0, 1, 0, 1, 0, 1],
    leaf_weights=elements("f4", *normal(45, 10).tolist()))
WHOLE = np.round(1.5 * normal(46, 9, 4))
# Doubles, by splits that f32 does not tell apart; ONNX Runtime's sets are of integers.
CLOSE = 1 + 1e-12 * np.arange(7)
DOUBLE = {k: v for k, v in ENSEMBLE.items() if k != "membership_values"} | dict(
    nodes_splits=elements("f8", *CLOSE), nodes_modes=elements("u1", 0, 1, 2, 3, 4, 0, 5),
    leaf_weights=elements("f8", *(np.arange(10) * 0.25 - 1)))
NEAR = CLOSE[np.random.default_rng(48).integers(0, 7, (9, 4))]
BASES = [{}, dict(base_values=[0.5, -1.0, 0.25])]



def doubled(attributes):
    """Lists of numbers as tensors of f64."""
    return {k + "_as_tensor" * (k in ("nodes_values", "target_weights")):
            elements("f8", *v) if k in ("nodes_values", "target_weights") else v
            for k, v in attributes.items()}


COMPARISONS = "LEQ", "LT", "GTE", "GT", "EQ", "NEQ"


def forest(trees, levels, seed, features):
    """Nodes of trees whose branches end at any level, by all comparisons."""
    r, out = np.random.default_rng(seed), []
    for tree in range(trees):
        level = [0]
        n = 1
        for depth in range(levels):
            following = []
            for node in level:
                if depth + 1 == levels or (depth and r.random() < 0.3):
                    out.append((tree, node, 0, 0.0, "LEAF", 0, 0))
                    continue
                out.append((tree, node, int(r.integers(features)), float(np.round(r.normal(), 2)),
                            f"BRANCH_{r.choice(COMPARISONS)}", n + 1, n))
                following += [n, n + 1]
                n += 2
            level = following
    return out


WIDE = np.random.default_rng(50).normal(size=(37, 300)).astype(F)
CALLS = [
    (REGRESSOR, 17, [WIDE], trees("target", [0], forest(70, 7, 51, 300), n_targets=1), 1),
    (CLASSIFIER, 17, [WIDE[:3]], trees("class", [0, 1, 2], forest(40, 4, 52, 300), **THREE), 2),
    *[(REGRESSOR, 17, [X], few_votes("target", 5, n_targets=3, aggregate_function=how, **base), 1)
      for how in ("SUM", "AVERAGE", "MIN", "MAX") for base in BASES],
    *[(REGRESSOR, 17, [X], few_votes("target", 5, n_targets=3, post_transform=how, **BASES[1]), 1)
      for how in ("LOGISTIC", "SOFTMAX")],
    *[(REGRESSOR, 17, [X], trees("target", [0], n_targets=1, post_transform="LOGISTIC",
                                 aggregate_function=how, base_values=[0.5]), 1)
      for how in ("SUM", "MAX")],
    *[(CLASSIFIER, 17, [X], few_votes("class", 3, **THREE, **base), 2) for base in BASES],
    (REGRESSOR, 17, [X], trees("target", [0], n_targets=1), 1),
    (REGRESSOR, 17, [X], trees("target", [0, 1], n_targets=2, base_values=[0.5, -1.0]), 1),
    (REGRESSOR, 17, [X], trees("target", [0], n_targets=1, aggregate_function="AVERAGE",
                               base_values=[0.25]), 1),
    (REGRESSOR, 17, [X], trees("target", [0], n_targets=1, aggregate_function="MIN"), 1),
    (REGRESSOR, 17, [X], trees("target", [0], MIXED, n_targets=1), 1),
    (REGRESSOR, 17, [HOLES], trees("target", [0], n_targets=1,
                                   nodes_missing_value_tracks_true=[1, 0, 0, 0, 1] + [0] * 6), 1),
    (REGRESSOR, 17, [X], trees("target", [0], SPLITS[:3], n_targets=1), 1),
    (CLASSIFIER, 17, [X], trees("class", [0, 1, 2], **THREE), 2),
    (CLASSIFIER, 17, [X], trees("class", [0, 1, 2], **THREE, post_transform="SOFTMAX",
                                base_values=[0.1, 0.7, -0.2]), 2),
    (CLASSIFIER, 17, [X], trees("class", [0, 1, 2], **THREE, post_transform="LOGISTIC"), 2),
    *[(CLASSIFIER, 17, [X], binary(column, weights, post_transform=how), 2)
      for column in (0, 1) for weights in (None, POSITIVE) for how in ("NONE", "LOGISTIC")],
    *[(CLASSIFIER, 17, [X], trees("class", [0, 1], classlabels_int64s=[0, 1],
                                  post_transform=how), 2)
      for how in ("NONE", "LOGISTIC", "SOFTMAX")],
    (CLASSIFIER, 17, [X], binary(0, post_transform="LOGISTIC", base_values=[0.3]), 2),
    (CLASSIFIER, 17, [X], binary(0, POSITIVE, base_values=[-0.2]), 2),
    *[("ai.onnx.ml:5 TreeEnsemble", 20, [WHOLE],
       ENSEMBLE | dict(n_targets=2, aggregate_function=how), 1) for how in range(4)],
    *[("ai.onnx.ml:5 TreeEnsemble", 20, [NEAR],
       DOUBLE | dict(n_targets=2, aggregate_function=how), 1) for how in (0, 1)],
    ("ai.onnx.ml:3 TreeEnsembleRegressor", 17, [NEAR],
     doubled(few_votes("target", 5, n_targets=3)), 1),
    ("ai.onnx.ml:5 TreeEnsemble", 20, [np.where(WHOLE == 1, np.nan, WHOLE).astype(F)],
     ENSEMBLE | dict(n_targets=2, nodes_missing_value_tracks_true=[1, 0, 0, 1, 0, 1, 0]), 1),
    *[(SVC, 17, [X], vectors(kernel, of, probabilities), 2) for kernel in KERNELS
      for of in ([3, 2], [2, 4, 1]) for probabilities in (False, True)],
    *[(SVC, 17, [X], vectors("RBF", of, seed=40, post_transform=how), 2)
      for of in ([3, 2], [2, 4, 1]) for how in ("LOGISTIC", "SOFTMAX")],
    (SVC, 17, [X], dict(classlabels_ints=[4, -2, 11], coefficients=normal(30, 12).tolist(),
                        kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], rho=[0.3]), 2),
    *[(SVR, 17, [X], SUPPORT | dict(kernel_type=kernel, kernel_params=params), 1)
      for kernel, params in KERNELS.items()],
    (SVR, 17, [X], SUPPORT | dict(kernel_type="RBF", kernel_params=KERNELS["RBF"], one_class=1), 1),
    (SVR, 17, [X], dict(coefficients=normal(31, 4).tolist(), rho=[-0.5], kernel_type="LINEAR",
                        kernel_params=[0.0, 0.0, 0.0]), 1),
    (ML + "LinearRegressor", 17, [X], dict(coefficients=[0.5, -1.0, 2.0, 0.25], intercepts=[0.1]),
     1),
    *[(ML + "LinearRegressor", 17, [X],
       dict(coefficients=normal(5, 4 * n).tolist(), targets=n, post_transform=how), 1)
      for n in (1, 2) for how in ("NONE", "LOGISTIC", "SOFTMAX")],
    *[(ML + "LinearClassifier", 17, [X],
       dict(coefficients=normal(6, 12).tolist(), intercepts=[0.1, -0.2, 0.3],
            classlabels_ints=[4, -2, 11], post_transform=how), 2)
      for how in ("NONE", "SOFTMAX", "LOGISTIC")],
    (ML + "LinearClassifier", 17, [X],
     dict(coefficients=normal(7, 8).tolist(), intercepts=[0.1, -0.1], classlabels_ints=[0, 1],
          post_transform="LOGISTIC"), 2),
    (ML + "Scaler", 17, [X], dict(offset=[0.1, 0.2, 0.3, 0.4], scale=[2.0, 1.0, 0.5, 4.0]), 1),
    (ML + "Scaler", 17, [NUMBERS], dict(offset=[0.5], scale=[2.0]), 1),
    *[(ML + "Normalizer", 17, [X], dict(norm=how), 1) for how in ("L1", "L2")],
    (ML + "Normalizer", 17, [np.abs(X)], dict(norm="MAX"), 1),
    (ML + "Binarizer", 17, [X], dict(threshold=0.3), 1),
    (ML + "Imputer", 17, [HOLES], dict(imputed_value_floats=[1.0, 2.0, 3.0, 4.0],
                                       replaced_value_float=float("nan")), 1),
    (ML + "Imputer", 17, [NUMBERS], dict(imputed_value_int64s=[50], replaced_value_int64=3), 1),
    (ML + "ArrayFeatureExtractor", 17, [X, np.array([[3, 1]])], {}, 1),
    (ML + "FeatureVectorizer", 17, [X, X[:, :2]], dict(inputdimensions=[4, 2]), 1),
    (ML + "OneHotEncoder", 17, [NUMBERS], dict(cats_int64s=[3, 9, 5], zeros=1), 1),
    (ML + "LabelEncoder", 17, [NUMBERS],
     dict(keys_int64s=[3, 9, 7], values_int64s=[10, 20, 30], default_int64=-5), 1),
    (ML + "LabelEncoder", 17, [NUMBERS], dict(keys_int64s=[3, 9], values_floats=[0.5, 1.5]), 1),
    (ML + "LabelEncoder", 17, [ODD], PAIRS, 1),
    ("ai.onnx.ml:4 LabelEncoder", 17, [ODD], PAIRS, 1),
    ("ai.onnx.ml:4 LabelEncoder", 17, [NUMBERS],
     dict(keys_tensor=text.ints("k", 3, 9, 7), values_tensor=text.floats("v", 0.5, 1.5, 2.5),
          default_tensor=text.floats("d", -3)), 1),
]
CASES = []  # the calls with their values, when they are run
