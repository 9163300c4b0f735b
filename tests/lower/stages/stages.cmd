# Fewer stages where a tile that changes its layout takes more than half of shared memory.
for n in 128 256; do
    nereid compile stages.py --sig a_ptr=*bf16:16,b_ptr=*bf16:16,parts_ptr=*fp32:16,tiles=i32,steps=i32 \
        -D M=128 -D N=$n -D K=64 --num-warps 8 --num-stages 4 --emit thread | grep -o 'shared [0-9]*' | head -1
done
