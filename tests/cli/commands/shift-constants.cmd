# PTX has no shift by the width or more: ptxas takes a constant 64 for 0.
nereid compile shift-constants.py --sig 'x=*i64:16,u=*u64:16,w=*i32:16,o=*i64:16' --num-warps 1 --emit ptx |
  grep -E '(shl|shr)\.[a-z0-9]* .*, [0-9]+;|mov\.b(32|64) %[0-9]*, 0;' | sed 's/%[a-z0-9_]*/%/g; s/^\t//' | sort | uniq -c | tr -s ' '
for device in interp cpu; do
  nereid run shift-constants.py x=randint:i64[32]:-99:99:1 u=randint:u64[32]:0:99:2 w=randint:i32[32]:-99:99:3 o=empty:i64[96] --grid 1 --device $device
done
