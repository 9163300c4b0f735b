nereid estimate ../../../examples/kernels/vector_add.py x_ptr=empty:f32[8] y_ptr=empty:f32[8] out_ptr=empty:f32[8] n=8 -D BLOCK=8
nereid estimate ../../../examples/kernels/vector_add.py x_ptr=empty:f32[8] y_ptr=empty:f32[8] out_ptr=empty:f32[8] -D BLOCK=8 --grid 1
nereid estimate ../../../examples/kernels/vector_add.py x_ptr=empty:f32[8] y_ptr=empty:f32[8] out_ptr=empty:f32[8] n=8 -D BLOCK=8 --grid 1 --target sm_10
nereid estimate ../../../examples/kernels/vector_add.py x_ptr=empty:f32[8] y_ptr=empty:f32[8] out_ptr=empty:f32[8] n=8 -D BLOCK=7.5 --grid 1
