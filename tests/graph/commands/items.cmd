# Sequences and optional inputs of ONNX: their items by name, stated, random, and in projects.
# slow: a C compiler
unset MAKEFLAGS MFLAGS # of the make that runs the tests
python=$(command -v /usr/bin/python3 || command -v python3)
PYTHONPATH=../../support $python -B - $TMP <<'END'
import pathlib, sys
import numpy as np
from onnx_text import *

folder = pathlib.Path(sys.argv[1])
nodes = [node("ConcatFromSequence", "x", "a", axis=0), node("OptionalHasElement", "o", "there"),
         node("If", "there", "y", then_branch=graph([node("Mul", "a o", "t")], outputs="t"),
              else_branch=graph([node("Neg", "a", "u")], outputs="u"))]
(folder / "m.onnx").write_bytes(model(nodes, outputs="y x", inputs={
    "x": sequence(f32("n", 2)), "o": optional(f32(2))}))
for n in (1, 2):
    np.save(folder / f"x{n}", np.arange(2 * n, dtype="f4").reshape(n, 2) + n)
np.save(folder / "o", np.array([10, 100], "f4"))
END
nereid graph ../../models/mlp/model.pt2 --items x=2
cd $TMP
for device in interp nest cpu; do
  nereid graph m.onnx --input x_0=x1.npy --input x_1=x2.npy --input o=o.npy --device $device
  nereid graph m.onnx x1.npy x2.npy --items x=2 --items o=none --device $device
done
nereid graph m.onnx x1.npy o.npy --items x=1 --items o=1 --device interp
nereid graph m.onnx --items x=1 --random-inputs --device interp
for args in "" "--items x=2" "--items x=-1" "--items x" "--items =2" "--items x=2x" "--items x=2 --items x=3" \
  "--items z=2"; do
  nereid graph m.onnx x1.npy --device interp $args
done
nereid graph m.onnx --input x_0=x1.npy --input x_2=x2.npy --input o=o.npy --device interp
nereid build m.onnx -o project --target cpu
nereid build m.onnx -o project --target cpu --items x=2 --items o=none
make -s -C project CC="cc -O0" && project/model x1.npy x2.npy --out-dir . && $python -c "import numpy; print(numpy.load('output_0.npy').tolist())"
