# An array of bits of another one is no array: readers take the other one's.  One call multiplies
# all rows by what the nearest cache holds.
"$PYTHON" - $TMP <<'PY'
import os, sys
import numpy as np
os.chdir(sys.argv[1])
r = np.random.default_rng(1)
for name, shape in ("left", (64, 16, 2)), ("right", (16, 32, 2)):
    np.save(f"{name}.npy", (r.integers(-4, 4, shape).astype("f4").view("u4") >> 16).astype("u2").view("i4")[..., 0])
PY
for target in cpu:16 cpu:amx; do
  echo $target
  nereid compile renamed.py --sig x=*i32:16,w=*i32:16,y=*fp32:16,z=*fp32:16 --target $target --emit c |
    sed -n '/^static void renamed_program/,/^}/p' | grep -E '\[[0-9]*\];|\(vf32\)|dot2_i32|\.(rows|sums|streams) '
done
for device in interp nest "cpu --target cpu:4" "cpu --target cpu:8" "cpu --target cpu:16" "cpu --target cpu:amx"; do
  nereid run renamed.py x=@$TMP/left.npy w=@$TMP/right.npy y=empty:f32[32] z=empty:f32[64,32] --grid 1 --device $device \
    --out y=$TMP/y.npy --out z=$TMP/z.npy && cat $TMP/y.npy $TMP/z.npy | cksum
done | uniq -c | tr -s ' '
