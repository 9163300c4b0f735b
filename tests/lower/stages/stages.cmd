# Fewer stages where a tile that changes its layout takes more than half of shared memory.
for n in 128 256; do
    nereid compile stages.py:parts --sig a_ptr=*bf16:16,b_ptr=*bf16:16,parts_ptr=*fp32:16,tiles=i32,steps=i32 \
        -D M=128 -D N=$n -D K=64 --num-warps 8 --num-stages 4 --emit thread | grep -o 'shared [0-9]*' | head -1
done
# The estimate leaves room for too little beside the rings of two products: the loop has fewer stages than it says.
for stages in 2 3 4; do
    nereid compile stages.py:chained --sig q_ptr=*fp32:16,k_ptr=*fp32:16,v_ptr=*fp32:16,out_ptr=*fp32:16,steps=i32 \
        -D M=256 -D N=32 -D D=128 --num-warps 4 --num-stages $stages --emit thread | grep -o 'shared [0-9]*' | head -1
done
