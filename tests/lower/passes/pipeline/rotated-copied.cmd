# The nest is right after the pass.
nereid run rotated-copied.nest q_ptr=randn:f16[128,128] k_ptr=randn:f16[192,128]:2 v_ptr=randn:f16[192,128]:3 o_ptr=empty:f16[128,128] N=192 --grid 1 --device nest
