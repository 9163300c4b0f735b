for device in interp nest cpu; do
  nereid run wrapped.py:wrap x_ptr=randint:i32[10,16]:0:99 out_ptr=zeros:i32[7,12] rows=7 columns=12 stride=16 \
    -D BLOCK_M=4 -D BLOCK_N=8 --grid 2,2 --device $device
  nereid run wrapped.py:below_zero x_ptr=randint:i32[16]:0:99 out_ptr=zeros:i32[32] n=4 -D BLOCK=32 \
    --grid 1 --device $device
done
types=x_ptr=*fp16:16,out_ptr=*fp16:16,rows=i32
nereid compile wrapped.py:wrap --sig $types,columns=i32:16,stride=i32:16 -D BLOCK_M=16 -D BLOCK_N=64 --num-warps 4 --emit ptx | grep -o 'ld.global[.a-z0-9]*'
nereid compile wrapped.py:wrap --sig $types,columns=i32:4,stride=i32:4 -D BLOCK_M=16 -D BLOCK_N=64 --num-warps 4 --emit ptx | grep -o 'ld.global[.a-z0-9]*' | sort | uniq -c
