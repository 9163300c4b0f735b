for device in interp nest cpu; do
  nereid run gathered_operand.py a_ptr=randint:fp16[64,32]:0:4:1 row_ptr=randint:i32[64]:0:4:2 b_ptr=randint:fp16[64,32]:0:4:3 out_ptr=zeros:f32[16,16] n=64 -D M=16 -D K=32 --grid 1 --device $device
done
