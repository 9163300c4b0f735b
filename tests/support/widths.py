"""The widths of a CPU's vectors that kernels are compiled for.  Machines differ, so that a driver
spreads its cases over all widths."""
import zlib

WIDTHS = ("cpu:4", "cpu:8", "cpu:16")


def place(device, name):
    """Device and target (None: the device's) of the case of that name: device cpu stands for one of
    the widths, by the name; device cpu:8 is that width."""
    if device == "cpu":
        device = WIDTHS[zlib.crc32(str(name).encode()) % len(WIDTHS)]
    return ("cpu", device) if device in WIDTHS else (device, None)
