# Columns of a warpgroup's instruction: as many as a thread has registers for (64 with 32 warps), and
# none where those of no instruction fit.
shapes() { # WARPS M N [MORE]: the instructions
  warps=$1 m=$2 n=$3
  shift 3
  nereid compile many_warps.py --sig 'a=*fp16:16,b=*fp16:16,c=*fp16:16,n=i32' -D M=$m -D N=$n \
    --target sm_90a --num-warps $warps --num-stages 2 $* -o $TMP/$warps.ptx
  echo "$warps warps, $m x $n $*:" $(grep -o 'wgmma[^ ]*m64n[0-9]*k16' $TMP/$warps.ptx | sort | uniq -c)
}
shapes 8 128 256
shapes 16 256 256
shapes 32 256 256
shapes 32 512 128
shapes 8 128 256 --maxnreg 128
shapes 4 64 64 --maxnreg 48
shapes 32 64 256
# The results of the instructions with fewer columns.
for device in interp nest; do
  nereid run many_warps.py a=randn:f16[256,64]:1 b=randn:f16[64,256]:2 c=zeros:f16[256,256] n=64 \
    -D M=256 -D N=256 --target sm_90a --num-warps 32 --num-stages 2 --grid 1 --device $device
done
