# A model of ONNX's: an input that decides a shape is given when the model is read; its plan is for
# this value alone.
cat >$TMP/make.py <<'END'
import sys
sys.path.insert(0, "../../support")
from onnx_text import *
import numpy
tmp = sys.argv[1]
open(tmp + "/m.onnx", "wb").write(model([node("Reshape", "x s", "y"), node("Add", "y w", "z")],
    inputs={"x": f32("n", 2), "s": i64(2)}, outputs="z", initializers=[floats("w", 1.0, 2.0, 3.0)]))
numpy.save(tmp + "/x.npy", numpy.arange(6, dtype="f4").reshape(3, 2))
numpy.save(tmp + "/s.npy", numpy.array([2, 3]))
numpy.save(tmp + "/t.npy", numpy.array([-1, 3]))
END
$PYTHON $TMP/make.py $TMP
nereid graph $TMP/m.onnx $TMP/x.npy $TMP/s.npy --device interp
nereid graph $TMP/m.onnx $TMP/x.npy $TMP/s.npy --device cpu --emit plan -o $TMP/m.plan
grep is $TMP/m.plan | head -n 1
nereid graph $TMP/m.plan $TMP/x.npy $TMP/s.npy --weights $TMP/m.onnx --device interp
nereid graph $TMP/m.plan $TMP/x.npy $TMP/t.npy --weights $TMP/m.onnx --device interp
nereid graph $TMP/m.onnx $TMP/x.npy --device interp 2>&1 | sed "s|$TMP/||"
