S="--sig x_ptr=*fp32,out_ptr=*fp32 -D BLOCK=64"
nereid compile add.py:unmasked $S -o /dev/full; echo $?
nereid compile add.py:unmasked $S > /dev/full; echo $?
nereid list add.py > /dev/full; echo $?
nereid info > /dev/full; echo $?
nereid help > /dev/full; echo $?
R="x_ptr=ones:f32[64] out_ptr=empty:f32[64] -D BLOCK=64 --grid 1 --device interp"
nereid run add.py:unmasked $R --out out_ptr=/dev/full; echo $?
nereid run add.py:unmasked $R > /dev/full; echo $?
