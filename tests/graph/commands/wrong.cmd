# Operators that are misspelt, arguments that do not fit, tensors that do not fit into memory.
cat > $TMP/ops.py <<'END'
def forward(self, x: "f32[2, 3]"):
    # File: model.py:7 in forward, code: y = rely(x)
    a = torch.ops.aten.rely.default(x)
    b = torch.ops.aten.mul(a, x)
    # File: model.py:9 in forward, code: y = frobnicate(x)
    c = torch.ops.mylib.frobnicate.default(b)
    d = torch.ops.mylib.frobnicate.default(c)
    return (d,)
END
cat > $TMP/args.py <<'END'
def forward(self, x: "f32[2, 3]", y: "f32[3, 2]", i: "i64[2]"):
    a = torch.ops.aten.relu.default(x, x)
    b = torch.ops.aten.sum.dim_IntList(x, [5])
    c = torch.ops.aten.add.Tensor(x, y)
    d = torch.ops.aten.mm.default(x, x)
    e = torch.ops.aten.add.Tensor(x, other = y, another = 3)
    f = torch.ops.aten.reshape.default(x, [4, 2])
    g = torch.ops.aten.softmax.int(x, "last")
    h = torch.ops.aten.cat.default(x, 0)
    k: "f32[3, 3]" = torch.ops.aten.mm.default(x, y)
    return (a, b, c, d, e, f, g, h, k)
END
cat > $TMP/memory.py <<'END'
def forward(self, x: "f32[400000, 1]"):
    t = torch.ops.aten.permute.default(x, [1, 0])
    a = torch.ops.aten.mm.default(x, t)
    b = torch.ops.aten.mm.default(a, x)
    return (b,)
END
cat > $TMP/memory_out.py <<'END'
def forward(self, x: "f32[400000, 1]"):
    t = torch.ops.aten.permute.default(x, [1, 0])
    a = torch.ops.aten.mm.default(x, t)
    return (a,)
END
cd $TMP
nereid graph ops.py --device interp; echo $?
nereid graph args.py --device interp; echo $?
for f in memory memory_out; do
  { nereid graph $f.py --random-inputs --device interp 2>&1 1>&3 | sed 's/[0-9]* MiB free/N MiB free/' >&2; } 3>&1
done
# Archives and models that were cut off, at any place.
model=$OLDPWD/../../models/chain/model.pt2
for n in 0 2 4 100 4000; do head -c $n $model > cut.pt2; nereid graph cut.pt2; echo $?; done
for n in 0 1 2; do head -c $n $model > cut.onnx; nereid graph cut.onnx; echo $?; done
mkdir folder.pt2 && nereid graph folder.pt2; echo $?
