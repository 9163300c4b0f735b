# Stores of constants by vectors of each width, also around the caches: the sums are 127 * M a program.
for target in cpu:4 cpu:8 cpu:16; do
  nereid run constant_stores.py:halves o=zeros:i64[8] --grid 1 --device cpu --target $target
  for dtype in i8 i16 i32 i64 f32 f64; do
    for m in 2 4 8; do
      nereid run constant_stores.py:steps "o=zeros:$dtype[16]" -D N=16 -D M=$m --grid 1 \
        --device cpu --target $target
    done
  done
  nereid run constant_stores.py:steps 'o=zeros:f32[16777216]' -D N=16 -D M=4 --grid 1048576 --device cpu --target $target
done | sed 's/.* sum/sum/' | uniq -c
