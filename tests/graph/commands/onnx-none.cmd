# Open axes of a model of ONNX's that have no elements: extremes are those of nothing.
cat >$TMP/make.py <<'END'
import sys
sys.path.insert(0, "../../support")
from onnx_text import *
import numpy
tmp = sys.argv[1]
nodes = [node("Cast", "t", "b", to=9),
         node("ReduceMax", "x axis", "most", keepdims=0),
         node("ReduceMin", "x axis", "least", keepdims=0),
         node("ReduceMax", "b axis", "any", keepdims=0), node("ReduceMin", "b axis", "all", keepdims=0),
         node("ReduceLogSumExp", "x axis", "log", keepdims=0), node("Hardmax", "x", "hard", axis=1),
         node("Softmax", "x", "soft", axis=1)]
open(tmp + "/m.onnx", "wb").write(model(nodes, inputs={"x": f32(2, "n"), "t": i64(2, "n")},
    outputs="most least any all log hard soft", initializers=[ints("axis", 1)], opset=20))
numpy.save(tmp + "/x0.npy", numpy.zeros((2, 0), "f4"))
numpy.save(tmp + "/b0.npy", numpy.zeros((2, 0), "i8"))
numpy.save(tmp + "/x3.npy", numpy.array([[1, 3, 3], [2, -1, 0]], "f4"))
numpy.save(tmp + "/b3.npy", numpy.array([[0, 1, 0], [1, 1, 1]]))
END
$PYTHON $TMP/make.py $TMP
for n in 0 3; do nereid graph $TMP/m.onnx $TMP/x$n.npy $TMP/b$n.npy --device interp; done
