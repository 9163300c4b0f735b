# Parameters of more than 4352 bytes need PTX 8.1, and 32764 is the most.
cd $TMP
many() { # COUNT: the kernel's file and signature, as arguments
  $PYTHON - $1 $1.py <<'P'
import sys
n = int(sys.argv[1])
names = [f"a{i}" for i in range(n)]
open(sys.argv[2], "w").write(
    "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
    f"def kernel(\n        {', '.join(names)}):\n    tl.store(a0, tl.load({names[-1]}))\n")
print("--sig", ",".join(f"{name}=*fp32:16" for name in names))
P
}
for count in 544 545 4095; do
  nereid compile $count.py $(many $count) --target sm_80 -o $count.ptx && head -1 $count.ptx
done
nereid compile 4096.py $(many 4096) --target sm_90a >out
for device in interp nest cpu; do
  many 600 >/dev/null
  nereid run 600.py $($PYTHON -c 'print(*(f"a{i}=ones:f32[{i // 599 + 1}]" for i in range(600)))') \
    --grid 1 --device $device | tail -1
done
