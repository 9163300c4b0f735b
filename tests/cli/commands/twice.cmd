# The same argument twice.
S="--sig x_ptr=*fp32,out_ptr=*fp32"
nereid compile add.py:unmasked $S --sig 'x_ptr=*fp32' -D BLOCK=64; echo $?
nereid compile add.py:unmasked $S -D BLOCK=64 -D BLOCK=64; echo $?
nereid compile add.py:unmasked $S -D BLOCK=64 -D x_ptr=1; echo $?
nereid compile add.py add.py; echo $?
nereid run add.py:unmasked x_ptr=ones:f32[64] x_ptr=ones:f32[64] out_ptr=empty:f32[64] -D BLOCK=64 --grid 1; echo $?
nereid run add.py:unmasked x_ptr=ones:f32[64] out_ptr=empty:f32[64] -D BLOCK=64 --grid 1 --device interp; echo $?
