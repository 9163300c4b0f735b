# Lines that a kernel prints are out before a finding is told, and before it faults.
cat > $TMP/k.py <<'P'
import triton
import triton.language as tl
@triton.jit
def far(x, at):
    print("before", at)
    tl.store(x + at, 1.0)
    print("after", at)
P
cd $TMP
nereid run k.py x=zeros:f32[1] at=100 --grid 1 --device interp 2>&1 | grep -v "^  "
nereid run k.py x=zeros:f32[1] at=100000000000000 --grid 1 --device cpu 2>&1
# What is timed prints in each run.
sed 's/x + at/x/' k.py > timed.py
nereid run timed.py x=zeros:f32[1] at=1 --grid 1 --device cpu --time | sort | uniq -c | sed 's/^ *//; s/^[1-9][0-9]* pid/many pid/; s/time .*/time/'
