# Neighbors of a negative number do not share a quotient with it.
for on in interp nest 'nest --num-warps 1' 'cpu --target cpu:4' 'cpu --target cpu:8' 'cpu --target cpu:16'; do
  nereid run negative_divisor.py x=randint:i32[128]:0:1000 y=zeros:i32[256] n=16 d=-1 -D BLOCK=64 \
    --grid 4 --device $on
done | sort | uniq -c | tr -s ' '
