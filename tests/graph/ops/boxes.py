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


ARRAYS |= {
    "dets": boxes(1, 40, 0.6)[0],
    "marks": np.append(rng.random(38), [np.inf, -np.inf]).astype(np.float32),
    "image": rng.normal(size=(2, 6, 9, 11)).astype(np.float32),
    "rois": np.concatenate([rng.integers(0, 2, (5, 1)), rng.uniform(0, 8, (5, 2)),
                            rng.uniform(8, 26, (5, 2))], 1).astype(np.float32),
    "filter": rng.normal(size=(8, 3, 3, 2)).astype(np.float32),
    "offset": (rng.normal(size=(2, 36, 5, 7)) * 2).astype(np.float32),
    "mask": rng.random((2, 18, 5, 7)).astype(np.float32),
    "bias": rng.normal(size=8).astype(np.float32),
    "pulls": rng.normal(size=(5, 6, 3, 4)).astype(np.float32),
    "pull": rng.normal(size=(2, 8, 5, 7)).astype(np.float32),
}


def keep(dets, marks):
    chosen = []
    for i in np.argsort(-marks, kind="stable"):
        if not any(overlap(dets[i], dets[j], 0.3) for j in chosen):
            chosen.append(i)
    return np.array(chosen)


def between(image, y, x, border):
    """The image [channels, rows, columns] at a place between its elements."""
    rows, columns = image.shape[1:]
    if not (-1 <= y <= rows and -1 <= x <= columns):
        return 0
    if border:
        y, x = min(max(y, 0), rows - 1), min(max(x, 0), columns - 1)
    i, j, total = int(np.floor(y)), int(np.floor(x)), 0
    for a in (i, i + 1):
        for b in (j, j + 1):
            if 0 <= a < rows and 0 <= b < columns:
                total = total + image[:, a, b] * (1 - abs(y - a)) * (1 - abs(x - b))
    return total


def pooled(image, corners, aligned, i, j):
    """What element (i, j) of a box of 3 by 4 elements has of an image [channels, rows, columns]."""
    left, top, right, bottom = np.array(corners) * 0.5 - (0.5 if aligned else 0)
    height, width = bottom - top, right - left
    if not aligned:
        height, width = max(height, 1), max(width, 1)
    return sum(between(image, top + (i + a) * height / 3, left + (j + b) * width / 4, True)
               for a in (0.25, 0.75) for b in (0.25, 0.75)) / 4


PLACES = [(i, j) for i in range(3) for j in range(4)]
ALONE = np.eye(99).reshape(99, 9, 11)  # an image for each element, which has it alone


def align(aligned):
    def numpy(image, rois):
        out = np.zeros((len(rois), 6, 3, 4))
        for k, (n, *corners) in enumerate(rois.astype(float)):
            for i, j in PLACES:
                out[k, :, i, j] = pooled(image[int(n)], corners, aligned, i, j)
        return out.astype(np.float32)
    return numpy


def align_gradient(aligned):
    def numpy(pulls, rois):
        out = np.zeros((2, 6, 9, 11))
        for k, (n, *corners) in enumerate(rois.astype(float)):
            for i, j in PLACES:
                weights = pooled(ALONE, corners, aligned, i, j) * np.ones(99)
                out[int(n)] += np.multiply.outer(pulls[k, :, i, j], weights).reshape(6, 9, 11)
        return out.astype(np.float32)
    return numpy


def deformed(image, filter, offset, mask, bias):
    """Stride 2, 1, padding 1, 0, dilation 1, 2; 2 groups, and 3 of offsets."""
    out = np.zeros((2, 8, 5, 7))
    moves, mask = offset.reshape(2, 3, 3, 2, 2, 5, 7), mask.reshape(2, 3, 3, 2, 5, 7)
    for n in range(2):
        for i in range(5):
            for j in range(7):
                columns = np.zeros((6, 3, 2))
                for g in range(3):
                    for a in range(3):
                        for b in range(2):
                            y, x = moves[n, g, a, b, :, i, j]
                            columns[2 * g:2 * g + 2, a, b] = mask[n, g, a, b, i, j] * between(
                                image[n, 2 * g:2 * g + 2], 2 * i - 1 + a + y, j + 2 * b + x, False)
                for o in range(8):
                    out[n, o, i, j] = (filter[o] * columns[o // 4 * 3:][:3]).sum() + bias[o]
    return out.astype(np.float32)


def slope(image, y, x, axis):
    """How the image between its elements changes along an axis."""
    rows, columns = image.shape[1:]
    i, j, total = int(np.floor(y)), int(np.floor(x)), 0
    for a in (i, i + 1):
        for b in (j, j + 1):
            if 0 <= a < rows and 0 <= b < columns:
                weight = 1 - abs(x - b) if axis == 0 else 1 - abs(y - a)
                total = total + image[:, a, b] * weight * (1 if (a, b)[axis] > (i, j)[axis] else -1)
    return total


def deformed_gradients(which):
    """Gradients of image, filter, offset, mask and bias."""
    def numpy(pull, image, filter, offset, mask, bias):
        of = [np.zeros(t.shape) for t in (image, filter, offset, mask, bias)]
        moves, masks = offset.reshape(2, 3, 3, 2, 2, 5, 7), mask.reshape(2, 3, 3, 2, 5, 7)
        of_moves, of_masks = of[2].reshape(moves.shape), of[3].reshape(masks.shape)
        for n, i, j in np.ndindex(2, 5, 7):
            p = pull[n, :, i, j]
            of[4] += p
            for g, a, b in np.ndindex(3, 3, 2):
                y, x = np.array([2 * i - 1 + a, j + 2 * b]) + moves[n, g, a, b, :, i, j]
                m, part = masks[n, g, a, b, i, j], image[n, 2 * g:2 * g + 2]
                values = between(part, y, x, False) * np.ones(2)
                weights = (between(ALONE, y, x, False) * np.ones(99)).reshape(9, 11)
                for k, c in enumerate((2 * g, 2 * g + 1)):
                    rows = slice(c // 3 * 4, c // 3 * 4 + 4)
                    of_column = filter[rows, c % 3, a, b] @ p[rows]
                    of[1][rows, c % 3, a, b] += p[rows] * m * values[k]
                    of[0][n, c] += of_column * m * weights
                    of_masks[n, g, a, b, i, j] += of_column * values[k]
                    for axis in (0, 1):
                        change = slope(part, y, x, axis) * np.ones(2)
                        of_moves[n, g, a, b, axis, i, j] += of_column * m * change[k]
        return of[which].astype(np.float32)
    return numpy


def deform_case(which):
    return ("torchvision._deform_conv2d_backward.default(pull, image, filter, offset, mask, bias,"
            f" 2, 1, 1, 0, 1, 2, 2, 3, True); $0[{which}]", deformed_gradients(which))


CASES = [
    case("state, row, scores, boxes, part", 70),
    case("state, row, scores, boxes, part", 3),
    case("nothing, row, scores, boxes, part", 70),
    case("waits, first, many, crowd, part", 40),
    ("torchvision.nms.default(dets, marks, 0.3)", keep),
    ("torchvision.roi_align.default(image, rois, 0.5, 3, 4, 2, False)", align(False)),
    ("torchvision.roi_align.default(image, rois, 0.5, 3, 4, 2, True)", align(True)),
    ("torchvision.deform_conv2d.default(image, filter, offset, mask, bias,"
     " 2, 1, 1, 0, 1, 2, 2, 3, True)", deformed),
    ("torchvision._roi_align_backward.default(pulls, rois, 0.5, 3, 4, 2, 6, 9, 11, 2, False)",
     align_gradient(False)),
    ("torchvision._roi_align_backward.default(pulls, rois, 0.5, 3, 4, 2, 6, 9, 11, 2, True)",
     align_gradient(True)),
    *[deform_case(which) for which in range(5)],
]
