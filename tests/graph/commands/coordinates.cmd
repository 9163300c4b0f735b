# Each coordinate of ScatterND is checked: (0, 7) of [3, 4] is no element, though element 7 is one.
# An index may count from the end.  A mask that holds more often than there are values is an error.
cat >$TMP/make.py <<'END'
import sys
sys.path.insert(0, "../../support")
from onnx_text import *
import numpy
tmp = sys.argv[1]
open(tmp + "/put.onnx", "wb").write(model([node("ScatterND", "x i u", "y")],
    inputs={"x": f32(3, 4), "i": i64(2, 2), "u": f32(2)}, outputs="y"))
open(tmp + "/take.onnx", "wb").write(model([node("GatherElements", "x j", "y", axis=1)],
    inputs={"x": f32(3, 4), "j": i64(3, 1)}, outputs="y"))
save = lambda name, array: numpy.save(tmp + "/" + name, array)
save("x.npy", numpy.arange(12, dtype="f4").reshape(3, 4))
save("u.npy", numpy.ones(2, "f4"))
save("i.npy", numpy.array([[0, -1], [2, 1]]))
save("bad_i.npy", numpy.array([[0, 1], [0, 7]]))
save("j.npy", numpy.array([[0], [-4], [3]]))
save("bad_j.npy", numpy.array([[0], [-5], [3]]))
save("m.npy", numpy.array([0, 1, 0, 1, 1, 0], bool))
save("z.npy", numpy.zeros(6, "f4"))
save("three.npy", numpy.ones(3, "f4"))
END
$PYTHON $TMP/make.py $TMP
cd $TMP
cat >mask.py <<'END'
def forward(self, x: "f32[6]", m: "b8[6]", s: "f32[s0]"):
    y: "f32[6]" = torch.ops.aten.masked_scatter.default(x, m, s)
    return (y,)
END
for i in i bad_i; do nereid graph put.onnx x.npy $i.npy u.npy --device interp; done
for j in j bad_j; do nereid graph take.onnx x.npy $j.npy --device interp; done
for s in three u; do nereid graph mask.py z.npy m.npy $s.npy --device interp; done
echo $?
