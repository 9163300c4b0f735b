list() { nereid list --configs derived.py:"$@"; }
list line x=zeros:f32[4] y='&x' n=5000
list line x=zeros:f32[4] y='&x' n=40 --num-warps 1
list line x=zeros:f32[4] y='&x' n=500 --target cpu:8
list line x=zeros:f32[4] y='&x' n=500 -D BLOCK=256
list row x=zeros:f32[4] y='&x' n=1000
list rows x=zeros:f32[4] y='&x' m=100 n=1000 | head -12
list product a=zeros:f16[4] b=zeros:f16[4] c=zeros:f16[4] M=4096 N=4096 K=4096 | head -6
list product a=zeros:f16[4] b=zeros:f16[4] c=zeros:f16[4] M=32 N=16 K=64 | head -3
list product a=zeros:f16[4] b=zeros:f16[4] c=zeros:f16[4] M=512 N=512 K=512 --target cpu:8 | head -4
list blocks x=zeros:f32[4] y='&x' n=1000 --num-warps 4
list halves x=zeros:f32[4] n=1000 --num-warps 4
list staged x=zeros:f32[4] y='&x' rows=9 n=300 | head -4
for kernel in unused flag dtype width stride unrolled never; do list $kernel x=zeros:f32[4] n=64; done
list too_large x=zeros:f32[4]
list many x=zeros:f32[4]
list row x=zeros:f32[4] y='&x' n=9000000
