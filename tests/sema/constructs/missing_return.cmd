# A helper that returns a value on one path and nothing on another has an undefined result there.
for device in interp nest cpu; do
  nereid run missing_return.py:branches out=zeros:i32[2] n=4 --grid 1 --device $device
done
nereid run missing_return.py:branches out=zeros:i32[2] n=2 --grid 1 --device interp >$TMP/out; echo $?
nereid run missing_return.py:known out=zeros:i32[1] --grid 1 --device interp >$TMP/out; echo $?
nereid compile missing_return.py:known --sig 'out=*i32' --emit tile
nereid compile missing_return.py:unused --sig 'out=*i32,n=i32' --emit tile
nereid compile missing_return.py:refused --sig 'out=*i32,n=i32' --emit tile
