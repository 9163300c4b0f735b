"""Boxes of which those are chosen that overlap none of a higher score."""
import numpy as np

rng = np.random.default_rng(12)


def boxes(batches, n, width):
    low = rng.uniform(0, 1, (batches, n, 2))
    return np.concatenate([low, low + rng.uniform(0, width, low.shape)], 2).astype(np.float32)


def states(scores, least):
    return np.where(scores > least, -1, -2).astype(np.int32)


SCORES = rng.random((4, 70)).astype(np.float32)
MANY = rng.integers(0, 400, (1, 2500)).astype(np.float32)  # of equal scores, the first
ARRAYS = {
    "scores": SCORES,
    "state": states(SCORES, 0.2),
    "row": np.array([0, 0, 1, 1]),
    "boxes": boxes(2, 70, 0.5),
    "part": np.array(0.4, np.float32),
    "many": MANY,
    "waits": states(MANY, -1),
    "first": np.array([0]),
    "crowd": boxes(1, 2500, 0.1),
    "nothing": np.full((4, 70), -2, np.int32),
}


def overlap(box, other, part):
    height, width = (min(box[i + 2], other[i + 2]) - max(box[i], other[i]) for i in (0, 1))
    both = max(height, 0) * max(width, 0)
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (box, other)]
    return both > 0 and both / (sum(areas) - both) > part


def suppress(most):
    def numpy(state, row, scores, boxes, part):
        state = state.copy()
        for r, which in enumerate(row):
            chosen = []
            for i in np.argsort(-scores[r], kind="stable"):
                if state[r, i] == -1 and len(chosen) < most and not any(
                        overlap(boxes[which, i], boxes[which, j], part) for j in chosen):
                    chosen.append(i)
            state[r] = np.where(state[r] == -1, -1, -2)
            state[r, chosen] = range(len(chosen))
        return np.maximum(state, -1)
    return numpy


def case(names, most):
    return (f"nereid.suppress.default({names}, {most}); clamp_min.default($0, -1)", suppress(most))


CASES = [
    case("state, row, scores, boxes, part", 70),
    case("state, row, scores, boxes, part", 3),
    case("nothing, row, scores, boxes, part", 70),
    case("waits, first, many, crowd, part", 40),
]
