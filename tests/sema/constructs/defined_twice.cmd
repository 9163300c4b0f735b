run() { echo "$*: $(nereid run defined_twice.py:$1 out=zeros:i32[1] --grid 1 --device interp $2 $3)"; }
run plain n=7
run plain@15
run plain@25 n=7
run by_constant
run by_constant@37
run tried
run unknown
run method
run First.method
run launched
run tuned --tune
nereid compile defined_twice.py:by_target --sig 'out=*i32' --target sm_90a --emit tile | grep const
nereid compile defined_twice.py:by_target --sig 'out=*i32' --target sm_80 --emit tile | grep const
nereid list defined_twice.py
