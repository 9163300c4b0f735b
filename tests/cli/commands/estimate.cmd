K=../../../examples/kernels
echo "== vector_add"
nereid estimate $K/vector_add.py x_ptr=empty:f32[1000000] y_ptr=empty:f32[1000000] out_ptr=empty:f32[1000000] n=1000000 -D BLOCK=1024 --grid "cdiv(n, BLOCK)" --target sm_90a
echo "== softmax"
nereid estimate $K/softmax.py x_ptr=empty:bf16[4096,5003] out_ptr=empty:bf16[4096,5003] n_cols=5003 -D BLOCK=8192 --grid 4096 --num-warps 8 --target sm_90a
echo "== matmul"
nereid estimate $K/matmul.py:matmul a_ptr=empty:f16[1024,1000] b_ptr=empty:f16[1000,512] c_ptr=empty:f16[1024,512] M=1024 N=512 K=1000 stride_am=1000 stride_ak=1 stride_bk=512 stride_bn=1 stride_cm=512 stride_cn=1 -D BLOCK_M=64 -D BLOCK_N=128 -D BLOCK_K=64 -D GROUP_M=8 --grid "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)" --target sm_90a
echo "== matmul by an A100"
nereid estimate $K/matmul.py:matmul a_ptr=empty:f16[1024,1000] b_ptr=empty:f16[1000,512] c_ptr=empty:f16[1024,512] M=1024 N=512 K=1000 stride_am=1000 stride_ak=1 stride_bk=512 stride_bn=1 stride_cm=512 stride_cn=1 -D BLOCK_M=64 -D BLOCK_N=128 -D BLOCK_K=64 -D GROUP_M=8 --grid "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)" --target sm_80
echo "== attention"
nereid estimate $K/attention.py q_ptr=empty:bf16[8,2048,64] k_ptr=empty:bf16[8,2048,64] v_ptr=empty:bf16[8,2048,64] out_ptr=empty:bf16[8,2048,64] seq_len=2048 scale=0.125 -D HEAD_DIM=64 -D BLOCK_M=128 -D BLOCK_N=64 -D CAUSAL=True --num-warps 8 --num-stages 2 --grid "cdiv(seq_len, BLOCK_M), 8" --target sm_90a
echo "== spills"
nereid estimate $K/layer_norm.py:layer_norm_forward x_ptr=empty:f32[64,8192] w_ptr=empty:f32[8192] b_ptr=empty:f32[8192] out_ptr=empty:f32[64,8192] mean_ptr=empty:f32[64] rstd_ptr=empty:f32[64] n_cols=8192 eps=1e-5 -D BLOCK=8192 --num-warps 1 --grid 64 --target sm_90a
echo "== atomics on shared places"
nereid estimate $K/histogram.py x_ptr=empty:i32[500000] counts_ptr=zeros:i32[64] n=500000 -D BINS=64 -D BLOCK=1024 --grid "cdiv(n, BLOCK)" --target sm_90a
