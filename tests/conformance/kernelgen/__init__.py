"""Random valid kernels in the kernel language, for random_kernels.py.

    generate(seed).text()    the file; the same for the same seed

Each part of the language has a file here, a class of `op_` methods that emit statements; a step of
the generator calls one of them, by the weights below.  model.py says what is known of values.
"""
import collections

from .base import Base
from .control import Control
from .dots import Dots
from .elementwise import Elementwise
from .memory import Memory
from .mixed import Mixed
from .model import NAME, Stmt, Unsuitable, block_text, decode, storage
from .reductions import Reductions
from .shapes import Shapes

__all__ = ["generate", "decode", "storage"]

WEIGHTS = dict(binary=14, mixed=14, unary=8, cast=7, bitcast=1, compare=5, where=5, shape=12,
               gather=2, sort=1.2, histogram=1, reduce=9, scan=4, dot=5, matmul=1.5, helper=2,
               choice=1)
WEIGHTS.update({"for": 3, "if": 2, "pointers": 0.6, "store": 3, "atomic": 2, "barrier": 0.2})


class Generator(Base, Memory, Elementwise, Mixed, Shapes, Reductions, Dots, Control):
    def steps(self, n):
        done = 0
        for kind in self.r.choices([*WEIGHTS], [*WEIGHTS.values()], k=4 * n):
            if done == n:
                return
            try:
                done += getattr(self, "op_" + kind)() is not None
            except Unsuitable:
                pass

    def run(self):
        k = self.k
        k.grid = self.one_of(1, 1, 2, 3)
        k.warps = self.one_of(1, 2, 4, 4, 8)
        k.stages = self.r.randint(1, 4)
        self.aliases = k.grid == 1 and self.chance(0.25)
        for _ in range(self.r.randint(1, 3)):
            self.load(self.dtype(), self.shape())
        if self.chance(0.1):
            n, _ = self.argument()
            self.emit([f"if tl.program_id(0) * 4 >= {n}:", "    return"])
        self.steps(self.one_of(3, 6, 10, 15))
        good = [v for v in self.scope if v.err == 0 or v.finite]
        last = good[-self.r.randint(1, 4):]
        for v in [v for v in self.unread(good) if v not in last][:8] + last:
            try:
                self.store(v)
            except Unsuitable:
                pass
        return k

    def unread(self, values):
        """Those that no statement uses: compilers leave out what made them."""
        names = collections.Counter(NAME.findall(block_text(self.block, "")))
        return [v for v in values if names[v.name] == 1]


def generate(seed):
    return Generator(seed).run()
