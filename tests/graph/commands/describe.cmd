# A model without inputs: what it takes and gives, its open sizes, and a command that runs it.
python=$(command -v /usr/bin/python3 || command -v python3)
PYTHONPATH=../../support $python -B - $TMP <<'END'
import pathlib, sys
import numpy as np
from onnx_text import *

folder = pathlib.Path(sys.argv[1])
relu = [node("Relu", ["img/in:0"], ["a b.c"])]
(folder / "m.onnx").write_bytes(model(relu, outputs=["a b.c"], inputs={"img/in:0": f32("n", -1, 3)}))
# Open sizes that one plan can't hold: the axes of the result.
squeezed = [node("Squeeze", "x", "y")]
(folder / "s.onnx").write_bytes(model(squeezed, outputs="y", inputs={"x": f32("?", "?", 3)}))
long = [node("Relu", ["n" * 600], ["y"])]
(folder / "long.onnx").write_bytes(model(long, outputs="y", inputs={"n" * 600: f32(2)}))
np.save(folder / "img_in_0", np.array([[[-1, 2, 3]]], "f4"))
END
cat >$TMP/number.py <<'END'
def forward(self, x: "f32[s0, 4]", n: "Sym(s1)", unused: "f32[2]"):
    mul: "f32[s0, 4]" = torch.ops.aten.mul.Tensor(x, n)
    return (mul, None)
END
cd $TMP
for m in m.onnx s.onnx number.py; do
  nereid graph $m --device interp
  echo "status $?"
done
eval "$(nereid graph m.onnx --device interp | grep -e --input) --device interp"
nereid graph long.onnx --device interp | grep -e --input | wc -c
nereid graph m.onnx --time --device interp
