# What print(graph) writes: read, run with the types that inputs have, and wrong.
$PYTHON -c "
import numpy as np
x = np.arange(16, dtype=np.float32).reshape(4, 4)
np.save('$TMP/x.npy', x); np.save('$TMP/w.npy', np.arange(3)); np.save('$TMP/h.npy', x[:2])"
nereid graph listing.txt --emit graph | tee $TMP/printed.py
nereid graph $TMP/printed.py --emit graph | cmp - $TMP/printed.py
nereid graph listing.txt $TMP/x.npy $TMP/x.npy $TMP/w.npy --device interp
nereid graph listing.txt $TMP/x.npy $TMP/x.npy $TMP/w.npy --emit fused
nereid graph listing.txt $TMP/x.npy --emit fused
nereid graph listing.txt $TMP/h.npy $TMP/x.npy $TMP/w.npy --emit fused
sed 's/%sum_1, -2.5/%sum_2, -2.5/; s/aten.gelu/aten.gelo/' listing.txt > $TMP/a.txt
sed 's/return (mul,/return (mull,/' listing.txt > $TMP/b.txt
sed 's/call_function.target=operator.getitem/call_method[target=view/' listing.txt > $TMP/c.txt
sed 's/(%getitem, .1.), kwargs/(%getitem, [1), kwargs/' listing.txt > $TMP/d.txt
cd $TMP
for f in a b c d; do nereid graph $f.txt --emit graph; nereid graph $f.txt --emit fused; done
cat > weights.txt <<'END'
graph():
    %w : [num_users=1] = get_attr[target=0.weight]
    %b : [num_users=1] = get_attr[target=0.bias]
    %x : [num_users=1] = placeholder[target=x]
    %linear : [num_users=1] = call_function[target=torch.ops.aten.linear.default](args = (%x, %w, %b), kwargs = {})
    return (linear,)
END
cd - > where
$PYTHON -c "
import numpy as np
np.save('$TMP/v.npy', np.ones((2, 256), np.float32))"
nereid graph $TMP/weights.txt $TMP/v.npy --weights ../../models/mlp/model.pt2 --device interp | cut -c1-22
sed 's/0.bias/0.bios/' $TMP/weights.txt > $TMP/lacks.txt
cd $TMP; nereid graph lacks.txt v.npy --weights $OLDPWD/../../models/mlp/model.pt2 2>&1 | sed 's/error: .*model.pt2/error: model.pt2/'
cat > of_program.txt <<'END'
graph():
    %unused : [num_users=0] = placeholder[target=unused]
    %p_0_bias : [num_users=1] = placeholder[target=p_0_bias]
    %tanh : [num_users=2] = placeholder[target=tanh]
    %einsum : [num_users=1] = call_function[target=torch.ops.aten.einsum.default](args = (ij,kj->ik, [%tanh, %tanh]), kwargs = {})
    %gelu : [num_users=1] = call_function[target=torch.ops.aten.gelu.default](args = (%p_0_bias,), kwargs = {approximate: tanh})
    return (einsum, gelu)
END
nereid graph of_program.txt v.npy v.npy --weights $OLDPWD/../../models/mlp/model.pt2 --emit graph
