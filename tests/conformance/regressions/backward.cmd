# only: ptxas
for device in interp nest cpu; do
  nereid run backward.py x_ptr=randint:i32[300]:0:9:1 out_ptr=zeros:i32[64] n=300 -D BLOCK=64 --grid 1 --device $device
done
nereid compile backward.py --sig x_ptr=*i32,out_ptr=*i32,n=i32 -D BLOCK=64 --target sm_80 --emit cubin -o $TMP/cubin
