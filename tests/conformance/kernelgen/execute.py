"""Runs a kernel on devices and compares what it wrote with what `interp` wrote."""
import os, pathlib, subprocess, sys
import numpy as np

from .model import FP8, decode, encode, storage

ROOT = pathlib.Path(__file__).resolve().parents[3]
os.environ.setdefault("NEREID_LIBRARY", os.path.join(
    os.environ.get("NEREID_BUILD", str(ROOT / "build")), "libnereid.so"))
sys.path += [str(ROOT / "bench"), str(ROOT / "tests/support")]
import binding  # noqa: E402
from widths import place  # noqa: E402


class Lost(Exception):
    """The device can't be used any more."""


def differences(got, want, dtype, error):
    """Places where two arrays are further apart than `error`; NaN equals NaN."""
    if dtype == "i1" or dtype[0] in "iu":
        return np.flatnonzero(got != want)
    got, want = decode(got, dtype), decode(want, dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want)) | (np.abs(got - want) <= error)
    return np.flatnonzero(~same)


class Executor:
    """A device (cpu: at each width in turn), and the folder where the kernels that it compiles are
    written."""
    def __init__(self, name, folder):
        self.name, self.file = name, os.path.join(folder, "kernel.py")
        self.device = binding.Device(place(name, "")[0])

    def run(self, kernel, data):
        """The outputs by name.  `data`: the arrays by name.  Raises binding.Error."""
        with open(self.file, "w") as file:
            file.write(kernel.text())
        addresses = {name: self.device.alloc(max(x.nbytes, 1)) for name, x in data.items()}
        try:
            for name, x in data.items():
                self.device.copy_in(addresses[name], x)
            self.launch(kernel, {**self.pointers(kernel, addresses), **kernel.scalars})
            outputs = {name: np.empty_like(data[name]) for name in kernel.errors if name in data}
            for name, x in outputs.items():
                self.device.copy_out(x, addresses[name])
            return outputs
        except binding.Error as error:
            if error.code == binding.LOST:
                raise Lost(str(error)) from error
            raise
        finally:
            for p in addresses.values():
                self.device.free(p)

    @staticmethod
    def pointers(kernel, addresses):
        pointers = {}
        for name, a in kernel.arrays.items():
            base, at = a.within or (name, 0)
            if base in addresses:
                address = addresses[base] + at * storage(a.dtype).itemsize
                pointers[name] = binding.Pointer(a.dtype, address)
        return pointers

    def launch(self, kernel, args):
        args = {name: v for name, v in args.items() if name in kernel.parameters()}
        compiled = self.device.compile(self.file, None, args, {}, kernel.warps, kernel.stages,
                                       place(self.name, kernel.seed)[1])
        launch = None
        try:
            launch = compiled.launch((kernel.grid,), args)
            launch.run()
            self.device.sync()
        finally:
            if launch:
                launch.close()
            compiled.close()


class Program:
    """Device "program": device cpu of the program $NEREID, which may be one for another machine
    that an emulator runs, at each width in turn."""
    def __init__(self, folder):
        self.name, self.folder = "program", folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def argument(self, kernel, name, data):
        """NAME=VALUE, as `nereid run` takes it."""
        if name not in kernel.arrays:
            return f"{name}={kernel.scalars[name]}"
        base, at = kernel.arrays[name].within or (None, 0)
        if base:
            return f"{name}=&{base}[{at}:]"
        dtype, numbers = kernel.arrays[name].dtype, data[name]
        narrow = dtype == "bf16" or dtype in FP8
        np.save(self.path(f"{name}.npy"),
                decode(numbers, dtype).astype(np.float32) if narrow else numbers)
        return f"{name}=@{self.path(name)}.npy" + (f":{dtype}" if narrow else "")

    def run(self, kernel, data):
        parameters, names = kernel.parameters(), [name for name in kernel.errors if name in data]
        more = [name for name in data if name not in parameters]  # others are within them
        pathlib.Path(self.path("kernel.py")).write_text(
            kernel.text().replace("def kernel(", f"def kernel({''.join(f'{n}, ' for n in more)}"))
        words = [os.environ["NEREID"], "run", self.path("kernel.py"), "--grid", str(kernel.grid),
                 "--device", "cpu", "--target", place("cpu", kernel.seed)[1],
                 "--num-warps", str(kernel.warps), "--num-stages", str(kernel.stages)]
        words += [self.argument(kernel, name, data) for name in more + parameters]
        words += [w for name in names for w in ("--out", f"{name}={self.path(name)}-out.npy")]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise binding.Error(done.returncode, done.stderr)
        return {name: self.output(name, kernel.arrays[name].dtype) for name in names}

    def output(self, name, dtype):
        x = np.load(self.path(f"{name}-out.npy"))
        if x.dtype == storage(dtype):
            return x
        bits = encode(x.astype(np.float64), dtype)
        if dtype in FP8:
            bits[np.isnan(x)] = 0x7F
        return bits


def executor(name, folder):
    return Program(folder) if name == "program" else Executor(name, folder)


def without_infinities(bits, dtype):
    """f8e5 as the program's command line can write it."""
    infinite = (bits & 0x7F) == 0x7C if dtype == "f8e5" else np.zeros(bits.shape, bool)
    return np.where(infinite, bits - 1, bits).astype(bits.dtype)


class Comparison:
    def __init__(self, devices, folder):
        self.reference = Executor("interp", folder)
        self.others = [executor(name, folder) for name in devices if name != "interp"]

    def problem(self, kernel):
        """What the first device that is wrong did, "DEVICE: ..."; None if all agree."""
        data = {name: kernel.arrays[name].data() for name in kernel.memory()}
        if any(isinstance(other, Program) for other in self.others):
            data = {name: without_infinities(bits, kernel.arrays[name].dtype)
                    for name, bits in data.items()}
        try:
            want = self.reference.run(kernel, data)
        except binding.Error as error:
            return f"interp: {error}"
        for executor in self.others:
            try:
                got = executor.run(kernel, data)
            except binding.Error as error:
                return f"{executor.name}: {error}"
            except Lost as error:
                raise Lost(f"{executor.name}: {error}") from error
            for name, x in want.items():
                text = self.difference(kernel, name, got[name], x)
                if text:
                    return f"{executor.name}: differs: {text}"
        return None

    @staticmethod
    def difference(kernel, name, got, want):
        dtype = kernel.arrays[name].dtype
        assert got.dtype == storage(dtype)
        bad = differences(got, want, dtype, kernel.errors[name])
        if not len(bad):
            return None
        i = bad[0]
        return (f"{name}: {len(bad)} of {len(want)}, first [{i}]: {decode(got, dtype)[i]} for "
                f"{decode(want, dtype)[i]}, allowed {kernel.errors[name]:.3g}")
