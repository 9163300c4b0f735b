# only: ptxas
# Accumulators that are all registers of the processor: the assembler puts some of them into memory.
for shape in "16 -D M=256 -D N=256" "32 -D M=256 -D N=256" "32 -D M=512 -D N=128" \
    "8 -D M=128 -D N=256 --maxnreg 96"; do
  nereid compile many_warps.py --sig 'a=*fp16:16,b=*fp16:16,c=*fp16:16,n=i32' --target sm_90a \
    --num-stages 2 --num-warps $shape --emit cubin -o $TMP/x.cubin 2>$TMP/err && echo $shape ||
    cat $TMP/err
done
