# Each of a batch has a place of the memory that AttnLSTM reads, and no more than there are.
cat >$TMP/make.py <<'END'
import sys
sys.path.insert(0, "../../support")
from onnx_text import *
import numpy
tmp = sys.argv[1]
i32 = type_of(CODES["i4"], (2,))
kinds = {"x": f32(1, 2, 1), "w": f32(1, 4, 3), "r": f32(1, 4, 1), "query": f32(1, 1, 1), "keys": f32(1, 2, 1),
         "score": f32(1, 1), "memory": f32(2, 3, 2), "lengths": i32}
call = node("AttnLSTM", "x w r - - - - - query keys score memory lengths", "y", domain="com.microsoft", hidden_size=1)
open(tmp + "/m.onnx", "wb").write(model([call], inputs=kinds, outputs="y", imports=["com.microsoft"]))
for n in 0, 3, 4:
    numpy.save(f"{tmp}/{n}.npy", numpy.array([1, n], "i4"))
END
$PYTHON $TMP/make.py $TMP
for n in 0 3 4; do nereid graph $TMP/m.onnx --random-inputs --input lengths=$TMP/$n.npy --device interp; done
