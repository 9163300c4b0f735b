# Long chains of views, and what is used twice again and again, take no more than linear time.
# slow: long graphs
cat > $TMP/make.py <<'END'
import sys
views, doubles = int(sys.argv[1]), int(sys.argv[2])
print('def forward(self, x: "f32[2, 4]"):\n    v0 = torch.ops.aten.exp.default(x)')
for i in range(views):
    print(f"    v{i + 1} = torch.ops.aten.{['flip', 'roll'][i % 2]}.default(v{i}, [1], [1])"
          if i % 2 else f"    v{i + 1} = torch.ops.aten.flip.default(v{i}, [1])")
print("    a0 = torch.ops.aten.arange.default(4)")
for i in range(doubles):
    print(f"    a{i + 1} = torch.ops.aten.add.Tensor(a{i}, a{i})")
print(f"    y = torch.ops.aten.add.Tensor(v{views}, a{doubles})\n    return (y,)")
END
$PYTHON -c "
import numpy as np
np.save('$TMP/x.npy', np.log(np.arange(1, 9, dtype=np.float32)).reshape(2, 4))"
$PYTHON $TMP/make.py 150 20 > $TMP/a.py && nereid graph $TMP/a.py $TMP/x.npy --device interp
$PYTHON $TMP/make.py 20000 60 > $TMP/b.py && nereid graph $TMP/b.py --emit fused | wc -l
# One operator again and again: kernels end after some hundred of them.
cat > $TMP/same.py <<'END'
print('def forward(self, x: "f32[2, 4]"):\n    a0 = torch.ops.aten.sin.default(x)')
for i in range(20000):
    print(f"    a{i + 1} = torch.ops.aten.sin.default(a{i})")
print("    return (a20000,)")
END
$PYTHON $TMP/same.py > $TMP/c.py && nereid graph $TMP/c.py --emit fused | wc -l
# Reshapes by open sizes, whose places double with each of them: some go through memory.
cat > $TMP/turns.py <<'END'
print('def forward(self, x: "f32[s0, 4]"):\n    v0 = torch.ops.aten.exp.default(x)')
for i in range(20):
    print(f"    p{i} = torch.ops.aten.permute.default(v{i}, [1, 0])")
    print(f"    v{i + 1} = torch.ops.aten.reshape.default(p{i}, [s0, 4])")
print("    r = torch.ops.aten.relu.default(v20)")
print("    return (r,)")
END
$PYTHON $TMP/turns.py > $TMP/d.py && nereid graph $TMP/d.py $TMP/x.npy --device interp
nereid graph $TMP/d.py $TMP/x.npy --device interp --mode eager
