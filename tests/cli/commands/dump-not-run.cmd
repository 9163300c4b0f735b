# A pass that is not on the machine's list, or runs after the stage that is wanted.
sig=x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32,n=i32
nereid compile add.py:add --sig $sig,scale=fp32 -D BLOCK=64 --dump-after fuse_loops
echo $?
nereid compile add.py:add --sig $sig,scale=fp32 -D BLOCK=64 --emit nest --dump-after bind
echo $?
nereid compile add.py:add --sig $sig,scale=fp32 -D BLOCK=64 --run-passes dce,schedule --dump-after schedule 2>&1 >/dev/null | sed -n '1s/, .*//p'
