# Sapphire Rapids' kernels ask for what a row's product takes from memory, others do not; the values are the same.
for target in cpu:16 cpu:amx; do
  nereid compile row_ahead.py --sig x_ptr=*fp32:16,w_ptr=*fp32:16,out_ptr=*fp32:16 -D K=256 -D BK=64 --target $target --emit c |
    grep -A1 '^BLOCK_OF_SUMS'
done
for device in interp "cpu --target cpu:8" "cpu --target cpu:16" "cpu --target cpu:amx"; do
  nereid run row_ahead.py x_ptr=ones:f32[256] w_ptr=randint:f32[256,64]:-9:9:1 out_ptr=zeros:f32[64] -D K=256 -D BK=64 \
    --grid 1 --device $device --input-precision ieee --out out_ptr=$TMP/y.npy && cksum <$TMP/y.npy
done | uniq -c | tr -s ' '
