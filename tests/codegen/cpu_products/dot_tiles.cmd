# A unit for tiles multiplies words: one call for a block of rows.  The nest and device cpu compute
# what the language's interpreter does, with and without the unit; sums of pairs are exact here.
"$PYTHON" - $TMP <<'PY'
import os, sys
import numpy as np
os.chdir(sys.argv[1])
r = np.random.default_rng(1)
np.save("pairs.npy", (r.integers(-4, 4, (24, 144, 2)).astype("f4").view("u4") >> 16).astype("u2").view("i4")[..., 0])
np.save("words.npy", (r.integers(-4, 4, (144, 96, 2)).astype("f4").view("u4") >> 16).astype("u2").view("i4")[..., 0])
np.save("bytes.npy", r.integers(-2**31, 2**31, (24, 144)).astype("i4"))
np.save("right.npy", r.integers(-2**31, 2**31, (144, 96)).astype("i4"))
PY
for target in cpu:16 cpu:amx; do
  echo $target
  nereid compile dot_tiles.py --sig x=*i32:16,w=*i32:16,y=*i32:16,rows=i32 -D M=24 -D N=96 -D K=144 -D BK=48 \
    -D PRECISION=pairs --target $target --emit c | sed -n '/^static void dot_tiles_program/,/^}/p' | grep -E 'tiles_|dot2_|\.(rows|right|sums) '
done
for rows in 24 17; do
  for kind in "bytes bytes right" "pairs pairs words"; do
    set -- $kind
    for device in interp "nest --target cpu:amx" "cpu --target cpu:8" "cpu --target cpu:16" "cpu --target cpu:amx"; do
      nereid run dot_tiles.py x=@$TMP/$2.npy w=@$TMP/$3.npy y=zeros:i32[24,96] rows=$rows -D M=24 -D N=96 -D K=144 -D BK=48 \
        -D PRECISION=$1 --grid 1 --device $device --out y=$TMP/y.npy && cksum <$TMP/y.npy
    done | uniq -c | tr -s ' '
  done
done
