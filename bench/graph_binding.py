"""Nereid's C API for graphs (model/nereid_graph.h) by ctypes, as far as benches use it.

    model = Model("model.pt2", device, mode="default")
    outputs = model.run([(address, "f32", (8, 64)), ...], stream)
"""
import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p
from binding import MESSAGE_FN, lib, made


class GraphSource(ctypes.Structure):
    # The rest stays zero: none.
    _fields_ = [("path", c_char_p), ("data", c_void_p), ("size", c_size_t), ("weights", c_char_p),
                ("rest", c_int64 * 16)]


class GraphOptions(ctypes.Structure):
    # Room for options that this file does not name: they stay zero, which is their default.
    _fields_ = [("mode", c_char_p), ("device", c_char_p), ("run_passes", c_char_p),
                ("rest", c_int64 * 32)]


class DlDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DlDtype(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device", DlDevice), ("ndim", ctypes.c_int32),
                ("dtype", DlDtype), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class Info(ctypes.Structure):
    _fields_ = [("pool", c_int64), ("temporaries", c_int64), ("weights", c_int64),
                ("mapped", c_int64), ("inputs", c_int64), ("outputs", c_int64),
                ("kernels", c_int), ("launches", c_int), ("rest", c_int64 * 32)]


# DLPack's codes: 0 signed, 1 unsigned, 2 float, 4 bfloat, 6 bool.
DTYPES = {"f32": (2, 32), "f64": (2, 64), "f16": (2, 16), "bf16": (4, 16), "i64": (0, 64),
          "i32": (0, 32), "i16": (0, 16), "i8": (0, 8), "u8": (1, 8), "b8": (6, 8)}
DEVICES = {"cpu": 1, "cuda": 2}  # DLPack's numbers

for name, types in {
        "nereid_graph_open": [POINTER(c_void_p), POINTER(GraphSource), MESSAGE_FN, c_void_p],
        "nereid_executable_new": [POINTER(c_void_p), c_void_p, c_void_p, POINTER(GraphOptions)],
        "nereid_executable_prepare": [c_void_p, POINTER(Tensor), c_int, POINTER(Tensor), c_int],
        "nereid_executable_run": [c_void_p, POINTER(Tensor), c_int, POINTER(Tensor), c_int,
                                  c_void_p],
        "nereid_executable_get_info": [POINTER(Info), c_void_p]}.items():
    function = getattr(lib, name)
    function.argtypes, function.restype = types, c_int
    function.errcheck = lib.nereid_device_open.errcheck
for name in ("nereid_graph_free", "nereid_executable_free"):
    getattr(lib, name).argtypes, getattr(lib, name).restype = [c_void_p], None
lib.nereid_executable_noutputs.argtypes = [c_void_p]


def tensor(device, address, dtype, shape):
    code, bits = DTYPES[dtype]
    return Tensor(address, DlDevice(DEVICES[device], 0), len(shape), DlDtype(code, bits, 1),
                  (c_int64 * len(shape))(*shape), None, 0)


class Model:
    def __init__(self, path, device, mode="default"):
        self.device = device.name
        source = GraphSource(path=str(path).encode())
        self.graph = made(lib.nereid_graph_open, byref(source), MESSAGE_FN(0), None)
        options = GraphOptions(mode=mode.encode())
        self.handle = made(lib.nereid_executable_new, self.graph, device.handle, byref(options))
        self.n = lib.nereid_executable_noutputs(self.handle)

    def bind(self, inputs, stream=None):
        """A function that runs the model on these (address, dtype, shape); it returns outputs as
        tensors of DLPack, which lie in the executable's memory."""
        given = (Tensor * len(inputs))(*(tensor(self.device, *t) for t in inputs))
        outputs = (Tensor * self.n)()

        def run():
            for o in outputs:
                o.data = None
            lib.nereid_executable_run(self.handle, given, len(given), outputs, self.n, stream)
            return outputs
        return run

    def info(self):
        info = Info()
        lib.nereid_executable_get_info(byref(info), self.handle)
        return {name: getattr(info, name) for name, _ in Info._fields_ if name != "rest"}

    def close(self):
        lib.nereid_executable_free(self.handle)
        lib.nereid_graph_free(self.graph)
