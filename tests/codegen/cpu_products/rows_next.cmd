# Blocks of rows without gaps ask for those of the loop's next turn on a Sapphire Rapids; with gaps, or elsewhere, for nothing; the values are the same.
kernel="rows_next.py --sig x_ptr=*fp32:16,w_ptr=*fp32:16,out_ptr=*fp32:16"
for options in "-D GAP=0 --target cpu:16" "-D GAP=0 --target cpu:amx" "-D GAP=16 --target cpu:amx"; do
  nereid compile $kernel -D M=64 $options --emit c | grep -E '^BLOCK_OF_SUMS| nereid_fma.*;'
done
for device in interp "cpu --target cpu:8" "cpu --target cpu:16" "cpu --target cpu:amx"; do
  nereid run rows_next.py x_ptr=randint:f32[64,128]:-9:9:1 w_ptr=randint:f32[16,128]:-9:9:2 out_ptr=zeros:f32[64,16] \
    -D M=64 -D GAP=0 --grid 1 --device $device --input-precision ieee --out out_ptr=$TMP/y.npy && cksum <$TMP/y.npy
done | uniq -c | tr -s ' '
