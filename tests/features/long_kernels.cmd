# Time and memory are linear in the length of a kernel: many lines, and ifs that change many
# variables.
ulimit -v 2097152; ulimit -t 20
"$PYTHON" - <<'PY' >$TMP/long.py
print("import triton\nimport triton.language as tl\n@triton.jit\ndef long(x, o, B: tl.constexpr):")
print("    i = tl.program_id(0) * B + tl.arange(0, B)\n    a = tl.load(x + i)")
for j in range(8000):
    print(f"    a = a * {1 + j % 7}.5 + {j % 13}.25")
print("    tl.store(o + i, a)\n@triton.jit\ndef ifs(x, o, n):")
for j in range(60):
    print(f"    v{j} = tl.load(x + {j} + tl.arange(0, 16))")
for k in range(60):
    print(f"    if n > {k}:")
    for j in range(60):
        print(f"        v{j} = v{j} + {k}")
for j in range(60):
    print(f"    tl.store(o + {j} + tl.arange(0, 16), v{j})")
PY
for target in cpu:4 cpu:16 sm_90a; do
  emit=c; case $target in sm_*) emit=ptx ;; esac
  nereid compile $TMP/long.py:long --sig 'x=*fp32,o=*fp32' -D B=64 --target $target --emit $emit -o $TMP/out 2>/dev/null && grep -c . $TMP/out >/dev/null && echo long $emit
  nereid compile $TMP/long.py:ifs --sig 'x=*fp32,o=*fp32,n=i32' --target $target --emit $emit -o $TMP/out 2>/dev/null && grep -c . $TMP/out >/dev/null && echo ifs $emit
done
