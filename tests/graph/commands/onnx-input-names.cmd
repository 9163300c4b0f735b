# Inputs of ONNX's models have the names of the file, whatever they are in a graph's text.
cat >$TMP/make.py <<'END'
import sys
sys.path.insert(0, "../../support")
from onnx_text import *
import numpy
tmp = sys.argv[1]
names = "input bytes id images:0 a/b a.b a_b 1 p_x".split()
kinds = {name: f32("n:1", 2) for name in names} | {"type": i64(1)}
nodes = [node("Sum", " ".join(names), "sum"), node("Expand", "sum type", "y")]
open(tmp + "/m.onnx", "wb").write(model(nodes, inputs=kinds, outputs="y"))
for i, name in enumerate(names):
    numpy.save(f"{tmp}/{i}.npy", numpy.full((1, 2), 10.0 ** i, "f4"))
numpy.save(tmp + "/type.npy", numpy.array([2]))
numpy.save(tmp + "/wide.npy", numpy.zeros((1, 3), "f4"))
END
$PYTHON $TMP/make.py $TMP
cd $TMP
rest="--input a/b=4.npy --input a.b=5.npy --input a_b=6.npy --input 1=7.npy --input p_x=8.npy --input type=type.npy"
nereid graph m.onnx --input input=0.npy --input bytes=1.npy --input id=2.npy --input images:0=3.npy $rest --device interp
nereid graph m.onnx --input input=0.npy --input bytes=1.npy --input id=2.npy --device interp 2>&1 | head -1
nereid graph m.onnx --input input=wide.npy --input bytes=1.npy --input id=2.npy --input images:0=3.npy $rest --device interp 2>&1 | head -1
nereid graph m.onnx --input input_1=0.npy 2>&1 | head -1
nereid graph m.onnx 0.npy 1.npy 2.npy 3.npy 4.npy 5.npy 6.npy 7.npy 8.npy type.npy --emit plan -o m.plan
grep '^input' m.plan
nereid graph m.plan --input input=0.npy --input bytes=1.npy --input id=2.npy --input images:0=3.npy $rest --device interp
