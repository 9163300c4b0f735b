# The C of a product of tiles and of high words goes together.
for device in interp nest cpu:4 cpu:8 cpu:16; do
  case $device in cpu:*) on="--device cpu --target $device" ;; *) on="--device $device" ;; esac
  nereid run high_words.py:both a=randint:f32[32,48]:-4:5:1 b=randint:f32[48,32]:-4:5:2 \
    o=zeros:f32[32,32] words=randint:i32[32]:1:999999:3 -D N=32 -D K=48 --grid 1 $on \
    --out "o=$TMP/o.npy" --out "words=$TMP/words.npy" &&
    cksum <"$TMP/o.npy" && cksum <"$TMP/words.npy"
done | sort | uniq -c | tr -s ' '
