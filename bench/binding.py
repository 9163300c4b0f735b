"""Nereid's C API (runtime/nereid.h) by ctypes, as far as benches and GPU tests use it.

    device = Device("cuda")
    args = dict(x_ptr=Pointer("f32", address), n=n)
    kernel = device.compile("scale.py", None, args, dict(BLOCK=64))
    launch = kernel.launch((grid, 1, 1), args)
    launch.run(stream)

The library is $NEREID_LIBRARY, or build/libnereid.so beside this folder.
"""
import collections, ctypes, os, pathlib
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOST = -5  # NEREID_E_LOST


class Source(ctypes.Structure):
    _fields_ = [("path", c_char_p), ("text", c_char_p), ("size", c_size_t),
                ("import_path", POINTER(c_char_p)), ("n_import_path", c_int), ("line", c_int),
                ("column", c_int), ("lookup", c_void_p), ("lookup_context", c_void_p),
                ("scope", c_void_p)]


class Arg(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("value", c_char_p)]


class Request(ctypes.Structure):
    _fields_ = [("source", Source), ("kernel", c_char_p), ("args", POINTER(Arg)), ("nargs", c_int),
                ("target", c_char_p), ("symbol", c_char_p), ("run_passes", c_char_p),
                ("dump_after", c_char_p), ("on_pass", c_void_p), ("on_message", c_void_p),
                ("context", c_void_p), ("language", c_char_p), ("num_warps", c_int),
                ("num_stages", c_int), ("num_ctas", c_int), ("maxnreg", c_int),
                ("no_fp_fusion", c_int), ("no_tensor_maps", c_int), ("known_rows", c_int),
                ("loops", c_int),
                ("debug", c_int), ("allow_overflow", c_int), ("denormals", c_int), ("pdl", c_int),
                ("steady", c_int), ("dot_precision", c_char_p), ("alias", c_int)]


class Extent(ctypes.Structure):
    _fields_ = [("lo", c_int64), ("hi", c_int64)]


class DeviceInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("description", c_char_p), ("target", c_char_p),
                ("kind", c_int), ("memory", c_int64), ("l2_bytes", c_int64),
                ("shared_bytes", c_int64), ("processors", c_int), ("clock_khz", c_int),
                ("memory_clock_khz", c_int), ("memory_bus_bits", c_int), ("driver_version", c_int)]


class Resources(ctypes.Structure):
    _fields_ = [("registers", c_int), ("spill_bytes", c_int), ("shared_bytes", c_int64),
                ("threads", c_int), ("from_cache", c_int)]


MESSAGE_FN = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
OUT = POINTER(c_void_p)
# Functions that return 0 or an error's code, with their parameters' types.
CHECKED = {
    "nereid_compile_for": [OUT, c_void_p, POINTER(Request)],
    "nereid_emit": [OUT, POINTER(c_size_t), POINTER(Request), c_int],
    "nereid_device_open": [OUT, c_char_p],
    "nereid_device_get_info": [POINTER(DeviceInfo), c_void_p],
    "nereid_device_sync": [c_void_p],
    "nereid_alloc": [OUT, c_void_p, c_size_t],
    "nereid_copy_in": [c_void_p, c_void_p, c_void_p, c_size_t, c_void_p],
    "nereid_copy_out": [c_void_p, c_void_p, c_void_p, c_size_t, c_void_p],
    "nereid_copy": [c_void_p, c_void_p, c_void_p, c_size_t, c_void_p],
    "nereid_fill": [c_void_p, c_void_p, c_int, c_size_t, c_void_p],
    "nereid_stream_new": [OUT, c_void_p],
    "nereid_stream_wrap": [OUT, c_void_p, c_void_p],
    "nereid_stream_sync": [c_void_p],
    "nereid_event_new": [OUT, c_void_p],
    "nereid_event_record": [c_void_p, c_void_p],
    "nereid_event_sync": [c_void_p],
    "nereid_event_elapsed_us": [POINTER(c_double), c_void_p, c_void_p],
    "nereid_kernel_load": [OUT, c_void_p, c_void_p],
    "nereid_kernel_run": [c_void_p, c_void_p, POINTER(ctypes.c_uint32), POINTER(ctypes.c_uint64),
                          POINTER(Extent), c_void_p],
    "nereid_kernel_get_resources": [POINTER(Resources), c_void_p],
    "nereid_launch_new": [OUT, c_void_p, POINTER(ctypes.c_uint32)],
    "nereid_launch_set_int": [c_void_p, c_int, c_int64],
    "nereid_launch_set_float": [c_void_p, c_int, c_double],
    "nereid_launch_set_pointer": [c_void_p, c_int, c_void_p],
    "nereid_launch_run": [c_void_p, c_void_p],
}
FREES = ["nereid_image_free", "nereid_device_close", "nereid_stream_free", "nereid_event_free",
         "nereid_kernel_free", "nereid_launch_free", "nereid_text_free"]


class Error(Exception):
    def __init__(self, code, text):
        super().__init__(text.strip())
        self.code = code


def load_library():
    path = os.environ.get("NEREID_LIBRARY") or str(ROOT / "build" / "libnereid.so")
    lib = ctypes.CDLL(path)
    lib.nereid_error_message.restype = c_char_p
    lib.nereid_version.restype = c_char_p
    lib.nereid_build_id.restype = c_char_p
    lib.nereid_free.argtypes, lib.nereid_free.restype = [c_void_p, c_void_p], None
    lib.nereid_device_on_message.argtypes = [c_void_p, MESSAGE_FN, c_void_p]
    lib.nereid_device_on_message.restype = None
    lib.nereid_device_count.argtypes = [c_char_p]
    lib.nereid_image_find_param.argtypes = [c_void_p, c_char_p]

    def check(code, function, args):
        if code:
            raise Error(code, lib.nereid_error_message().decode(errors="replace"))
        return args

    for name, types in CHECKED.items():
        function = getattr(lib, name)
        function.argtypes, function.restype, function.errcheck = types, c_int, check
    for name in FREES:
        getattr(lib, name).argtypes, getattr(lib, name).restype = [c_void_p], None
    return lib


lib = load_library()


def made(function, *args):
    """The object that a function gives by its out-parameter."""
    out = c_void_p()
    function(byref(out), *args)
    return out


def text_of(value):
    return None if value is None else str(value).encode()


class Pointer(collections.namedtuple("Pointer", "dtype address")):
    """A pointer argument: its elements' type, "bf16", and where it points."""


def type_of(value):
    """The type to compile an argument for, specialized as Triton does."""
    if value is None:
        return "none"
    if isinstance(value, Pointer):
        return f"*{value.dtype}" + (":16" if value.address % 16 == 0 else "")
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, float):
        return "fp32"
    bits = "i32" if -2**31 <= value < 2**31 else "i64"
    return bits + (":1" if value == 1 else ":16" if value % 16 == 0 else "")


def make_request(file, kernel, args, constants, num_warps=0, num_stages=0, target=None):
    """`args`: run-time arguments (numbers, Pointers, or types as text); `constants`: constexprs."""
    types = {name: v if isinstance(v, str) else type_of(v) for name, v in args.items()}
    entries = [Arg(name.encode(), t.encode(), None) for name, t in types.items()]
    entries += [Arg(name.encode(), None, text_of(v)) for name, v in constants.items()]
    array = (Arg * len(entries))(*entries)
    return Request(source=Source(path=str(file).encode()), kernel=text_of(kernel), args=array,
                   nargs=len(entries), num_warps=num_warps, num_stages=num_stages,
                   target=text_of(target))


class Device:
    def __init__(self, name):
        self.handle = made(lib.nereid_device_open, name.encode())
        info = DeviceInfo()
        lib.nereid_device_get_info(byref(info), self.handle)
        self.name, self.l2_bytes = name, info.l2_bytes
        self.description = info.description.decode()
        self.target = (info.target or b"").decode()
        self.notes = []
        self.on_message = MESSAGE_FN(lambda _, text: self.notes.append(text.decode()))
        lib.nereid_device_on_message(self.handle, self.on_message, None)

    def close(self):
        lib.nereid_device_close(self.handle)

    def alloc(self, size):
        return made(lib.nereid_alloc, self.handle, size).value

    def free(self, address):
        lib.nereid_free(self.handle, address)

    def copy_in(self, address, array):
        lib.nereid_copy_in(self.handle, address, array.ctypes.data, array.nbytes, None)

    def copy_out(self, array, address):
        lib.nereid_copy_out(self.handle, array.ctypes.data, address, array.nbytes, None)

    def copy(self, to, source, size, stream=None):
        lib.nereid_copy(self.handle, to, source, size, stream)

    def fill(self, address, byte, size, stream=None):
        lib.nereid_fill(self.handle, address, byte, size, stream)

    def sync(self):
        lib.nereid_device_sync(self.handle)

    def stream(self, native=None):
        """A new stream, or one that wraps a CUstream."""
        if native is None:
            return made(lib.nereid_stream_new, self.handle)
        return made(lib.nereid_stream_wrap, self.handle, native)

    def event(self):
        return made(lib.nereid_event_new, self.handle)

    def compile(self, file, kernel, args, constants, num_warps=0, num_stages=0, target=None):
        return Kernel(self, make_request(file, kernel, args, constants, num_warps, num_stages,
                                         target))


class Kernel:
    def __init__(self, device, request):
        self.device = device
        self.image = made(lib.nereid_compile_for, device.handle, byref(request))
        try:
            self.handle = made(lib.nereid_kernel_load, device.handle, self.image)
        except Error:
            lib.nereid_image_free(self.image)
            raise

    def close(self):
        lib.nereid_kernel_free(self.handle)
        lib.nereid_image_free(self.image)

    def resources(self):
        r = Resources()
        lib.nereid_kernel_get_resources(byref(r), self.handle)
        return {name: getattr(r, name) for name, _ in Resources._fields_}

    def launch(self, grid, args):
        return Launch(self, grid, args)


class Launch:
    def __init__(self, kernel, grid, args):
        grid = (*grid, 1, 1)[:3]
        self.kernel = kernel
        self.handle = made(lib.nereid_launch_new, kernel.handle, (ctypes.c_uint32 * 3)(*grid))
        for name, value in args.items():
            i = lib.nereid_image_find_param(kernel.image, name.encode())
            if i < 0:
                continue  # None: the kernel has no such parameter at run time
            if isinstance(value, Pointer):
                lib.nereid_launch_set_pointer(self.handle, i, value.address)
            elif isinstance(value, float):
                lib.nereid_launch_set_float(self.handle, i, value)
            elif value is not None:
                lib.nereid_launch_set_int(self.handle, i, value)

    def run(self, stream=None):
        lib.nereid_launch_run(self.handle, stream)

    def close(self):
        lib.nereid_launch_free(self.handle)


def elapsed_us(start, end):
    us = c_double()
    lib.nereid_event_elapsed_us(byref(us), start, end)
    return us.value


class Timer:
    """Times functions that start work on a stream, with the L2 cache flushed before each run."""

    FLUSH_BYTES = 512 << 20  # long enough for the host to be ahead of the GPU when a run starts
    MOST = 200

    def __init__(self, device, stream, flush_bytes=None):
        self.device, self.stream = device, stream
        if flush_bytes is None:
            flush_bytes = self.FLUSH_BYTES if device.l2_bytes else 0
        self.flush_bytes = flush_bytes
        self.buffer = device.alloc(flush_bytes) if flush_bytes else None
        self.events = [(device.event(), device.event()) for _ in range(self.MOST)]

    def runs_of(self, functions, runs):
        """The times in us: one list a function.  The functions take turns, so that a change of the
        clock meets all of them."""
        runs = min(runs, self.MOST // len(functions))
        events = iter(self.events)
        used = []
        for i in range(runs):
            for which, function in enumerate(functions):
                start, end = next(events)
                if self.buffer:
                    self.device.fill(self.buffer, i & 0xFF, self.flush_bytes, self.stream)
                lib.nereid_event_record(start, self.stream)
                function()
                lib.nereid_event_record(end, self.stream)
                used.append((which, start, end))
        lib.nereid_stream_sync(self.stream)
        times = [[] for _ in functions]
        for which, start, end in used:
            times[which].append(elapsed_us(start, end))
        return times

    def medians(self, functions, runs, warm_up=3):
        self.runs_of(functions, warm_up)
        return [median(times) for times in self.runs_of(functions, runs)]


def median(values):
    values = sorted(values)
    n = len(values)
    return (values[n // 2] + values[(n - 1) // 2]) / 2
