# triton.tools.ragged_tma: rows of several sequences in one tensor; the row above 5 is another's.
for device in interp nest cpu; do
  nereid run ragged.py:matrix x=rand:f32[12,8]:1 copied=zeros:f32[12,8] added=zeros:f32[12,8] \
    direct=zeros:f32[4,8] offset=3 size=5 --grid 1 --device $device --out copied=$TMP/copied.npy \
    --out added=$TMP/added.npy --out direct=$TMP/direct.npy
  nereid run ragged.py:middle x=rand:f32[2,6,4]:1 copied=zeros:f32[2,6,4] offset=1 size=3 --grid 1 \
    --device $device --out copied=$TMP/middle.npy
  $PYTHON - $TMP <<'P'
import sys, numpy as np
def array(name): return np.load(f"{sys.argv[1]}/{name}.npy")
copied, added, direct, middle = map(array, ("copied", "added", "direct", "middle"))
rows = np.arange(12)
print(*rows[copied[:, 0] > 99], *rows[added[:, 7] != 0], (copied[3:8] == added[3:8] + 100).all(),
      (direct[:3] == added[5:8]).all(), direct[3].any(), *np.arange(6)[(middle != 0).any((0, 2))])
P
done
nereid compile ragged.py:of_the_host --language 3.9 \
  --sig 'x=tensordesc<fp32[1,1,64,64]>,y=*fp32,offset=i32,size=i32' -o $TMP/x.ptx
nereid compile ragged.py:of_the_host --sig 'x=tensordesc<fp32[64,64]>,y=*fp32,offset=i32,size=i32'
nereid compile ragged.py:machine --sig 'out=*i32' --target sm_80 --emit tile | grep const
nereid compile ragged.py:machine --sig 'out=*i32' --target cpu --emit tile | grep const
