for target in cpu:4 cpu:8 cpu:16; do
  nereid run large_tiles.py x_ptr=randint:i32[1024,1024]:0:1000:1 out_ptr=zeros:i32[1024,1024] -D N=1024 --grid 1 \
    --device cpu --target $target
done | uniq -c | tr -s ' '
