inputs=
for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do
  inputs="$inputs p${i}_ptr=ones:i64[15]"
done
for width in 4 8 16; do
  nereid run last_call.py $inputs out_ptr=empty:i64[15] n=15 -D BLOCK=$width --grid "cdiv(n, BLOCK)" \
    --device cpu --target cpu:$width
done
