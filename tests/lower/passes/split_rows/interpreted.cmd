# Both interpreters give what the kernel gives before the pass, a block an iteration before or after the other.
for passes in fold_ranges split_rows load_ahead; do
  nereid compile sums.tile --run-passes $passes --emit tile |
    nereid run - x_ptr=randn:f32[7,4000] w_ptr=rand:f32[4000]:2 out_ptr=empty:f32[7,4000] parts_ptr=empty:f32[2,4000] rows=7 n=4000 --grid 2 --device interp
done
nereid run sums.tile x_ptr=randn:f32[7,4000] w_ptr=rand:f32[4000]:2 out_ptr=empty:f32[7,4000] parts_ptr=empty:f32[2,4000] rows=7 n=4000 --grid 2 --device nest
# An array that is read and written in one: a launch takes the kernel that one block executes.
for device in interp nest; do
  nereid run sums.tile x_ptr=randn:f32[7,4000] w_ptr=rand:f32[4000]:2 out_ptr=\&x_ptr parts_ptr=empty:f32[2,4000] rows=7 n=4000 --grid 2 --device $device
done
for device in interp nest; do
  nereid run running.tile x_ptr=rand:f32[2,15000] out_ptr=empty:f32[2,15000] n=15000 --grid 2 --device $device
  nereid run before.tile x_ptr=randn:f32[5,8000] w_ptr=rand:f32[8000]:2 out_ptr=empty:f32[5,8000] rows=5 n=8000 --grid 2 --device $device
done
for device in interp nest; do
  nereid run others.tile x_ptr=randint:f32[7,4000]:-3:4 w_ptr=randint:f32[4000]:0:3:2 out_ptr=empty:f32[7,4000] parts_ptr=empty:f32[2,4000] rows=7 n=4000 --grid 2 --device $device
done
