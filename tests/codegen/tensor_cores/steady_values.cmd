# Copies of steady memory that come before the wait leave the values as they are, and race with nothing.
sed 's/pdl, steady 2, //' steady_operand.tile >$TMP/plain.tile
for f in steady_operand.tile $TMP/plain.tile; do
  nereid compile $f --emit thread -o $TMP/k.thread
  grep -c grid.dependency $TMP/k.thread
  nereid run $TMP/k.thread x_ptr=randn:bf16[16,256]:1 w_ptr=randn:bf16[512,256]:2 y_ptr=zeros:f32[16,512] \
    --grid 32 --device nest --out y_ptr=$TMP/$(basename $f).npy
done
cmp $TMP/steady_operand.tile.npy $TMP/plain.tile.npy && echo same
