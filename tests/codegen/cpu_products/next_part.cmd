# Each of two or three blocks asks for its share of the panel's next 256 or 160 KB; one alone for nothing, nor where a part is small; the values are the same.
kernel="next_part.py --sig x_ptr=*fp32:16,w_ptr=*fp32:16,out_ptr=*fp32:16 --target cpu:16 --emit c"
for sizes in "12 2048 1024" "18 1280 640" "6 2048 1024" "12 128 64"; do
  set -- $sizes
  nereid compile $kernel -D M=$1 -D K=$2 -D BK=$3 | grep -E '^BLOCK_OF_SUMS| nereid_fma.*;'
done
for device in interp "cpu --target cpu:8" "cpu --target cpu:16"; do
  nereid run next_part.py x_ptr=randint:f32[18,1280]:-9:9:1 w_ptr=randint:f32[1280,64]:-9:9:2 out_ptr=zeros:f32[18,64] \
    -D M=18 -D K=1280 -D BK=640 --grid 1 --device $device --input-precision ieee --out out_ptr=$TMP/y.npy && cksum <$TMP/y.npy
done | uniq -c | tr -s ' '
