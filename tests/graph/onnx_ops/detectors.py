"""Boxes with centers and sizes, and the largest elements in boxes of an image."""
import numpy as np

rng = np.random.default_rng(23)
F = np.float32


def overlap(a, b):
    """Of boxes with a center and sizes."""
    low = np.maximum(a[:2] - a[2:] / 2, b[:2] - b[2:] / 2)
    high = np.minimum(a[:2] + a[2:] / 2, b[:2] + b[2:] / 2)
    both = np.prod(np.maximum(high - low, 0))
    return both / (np.prod(a[2:]) + np.prod(b[2:]) - both)


def kept(boxes, scores, most, part, least):
    out = []
    for batch, classes in enumerate(scores):
        for number, row in enumerate(classes):
            chosen = []
            for i in np.argsort(-row, kind="stable"):
                near = any(overlap(boxes[batch, i], boxes[batch, j]) > part for j in chosen)
                if row[i] > least and len(chosen) < most and not near:
                    chosen.append(i)
            out += [(batch, number, i) for i in chosen]
    return np.array(out, np.int64)


def sampled(image, y, x):
    """The largest of the four elements around a place, each times what it counts."""
    height, width = image.shape[1:]
    if not (-1 <= y <= height and -1 <= x <= width):
        return np.zeros(len(image))
    y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    top, left = int(y), int(x)
    y, x = y - top, x - left
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    return np.max([image[:, top, left] * (1 - y) * (1 - x), image[:, top, right] * (1 - y) * x,
                   image[:, bottom, left] * y * (1 - x), image[:, bottom, right] * y * x], 0)


def largest(images, rois, batch):
    """Of 2 by 2 samples in each of 3 by 4 parts of boxes, in pixels whose centers are at halves."""
    out = np.empty((len(rois), images.shape[1], 3, 4), F)
    for n, (left, top, right, bottom) in enumerate(rois * 0.7 - 0.5):
        for at in np.ndindex(3, 4):
            samples = [sampled(images[batch[n]], top + (2 * at[0] + i + 0.5) / 6 * (bottom - top),
                               left + (2 * at[1] + j + 0.5) / 8 * (right - left))
                       for i in (0, 1) for j in (0, 1)]
            out[n][:, at[0], at[1]] = np.max(samples, 0)
    return out


def bilinear(image, y, x):
    """Between four elements; 0 outside."""
    top, left, total = int(np.floor(y)), int(np.floor(x)), 0.0
    for i, j in np.ndindex(2, 2):
        part = (1 - abs(y - top - i)) * (1 - abs(x - left - j))
        inside = 0 <= top + i < image.shape[0] and 0 <= left + j < image.shape[1]
        total += part * image[top + i, left + j] if inside else 0
    return total


def deformed(pads, x, weight, offset):
    """A convolution of 2 by 2 windows with steps (1, 2), each of whose elements is moved."""
    out = np.empty((len(x), len(weight), *offset.shape[2:]), F)
    for n, o, i, j in np.ndindex(*out.shape):
        out[n, o, i, j] = sum(
            weight[o, c, p, q] * bilinear(x[n, c], i - pads[0] + p + offset[n, 4 * p + 2 * q, i, j],
                                          2 * j - pads[1] + q + offset[n, 4 * p + 2 * q + 1, i, j])
            for c, p, q in np.ndindex(*weight.shape[1:]))
    return out


def deform_case(begin, rows, columns, **more):
    inputs = [rng.standard_normal((2, 3, 5, 6)).astype(F),
              rng.standard_normal((4, 3, 2, 2)).astype(F),
              rng.uniform(-1.5, 1.5, (2, 8, rows, columns)).astype(F)]
    return ("DeformConv", 19, inputs, dict(strides=[1, 2], **more), deformed(begin, *inputs))


UNORDERED = np.array([[-np.inf, -np.inf, np.nan, 2], [-np.inf, -np.inf, 5, np.nan]], F)[None, None]
LOW = np.finfo(F).min

BOXES = np.concatenate([rng.uniform(0, 1, (2, 60, 2)), rng.uniform(0.1, 0.5, (2, 60, 2))], 2)
ROIS = rng.uniform(0, 9, (5, 4)) + [0, 0, 4, 4]

CASES = [
    ("NonMaxSuppression", 11, [BOXES.astype(F), rng.random((2, 3, 60)).astype(F), np.array([6]),
                               np.array([0.25], F), np.array([0.1], F)],
     dict(center_point_box=1), kept),
    ("RoiAlign", 16, [rng.normal(size=(2, 3, 12, 14)).astype(F), ROIS.astype(F),
                      rng.integers(0, 2, 5)],
     dict(mode="max", output_height=3, output_width=4, sampling_ratio=2, spatial_scale=0.7),
     largest),
    ("MaxRoiPool", 16, [UNORDERED, np.array([[0, 0, 0, 3, 1], [0, 8, 8, 9, 9]], F)],
     dict(pooled_shape=[1, 2]), np.array([[LOW, 5], [0, 0]], F).reshape(2, 1, 1, 2)),
    deform_case((0, 0), 4, 3, kernel_shape=[2, 2]),
    deform_case((1, 1), 6, 4, kernel_shape=[2, 2], pads=[1, 1, 1, 1]),
    deform_case((0, 2), 5, 4, pads=[0, 2, 1, 0]),
]
