# Time and memory are linear in the length of a kernel: many lines, ifs and loops that change many
# variables, and loops in loops.
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
print("@triton.jit\ndef loops(x, o, n):")
for j in range(100):
    print(f"    v{j} = tl.load(x + {j} + tl.arange(0, 16))")
for k in range(100):
    print(f"    for q{k} in range(n):")
    for j in range(100):
        print(f"        v{j} = v{j} + {k}")
for j in range(100):
    print(f"    tl.store(o + {j} + tl.arange(0, 16), v{j})")
print("@triton.jit\ndef deep(x, o, n):\n    c = 0")
for k in range(60):
    print("    " + " " * k + f"for q{k} in range(n):\n     " + " " * k + f"c += q{k}")
print("    " + " " * 60 + "tl.store(o + c, tl.sum(tl.load(x + c + tl.arange(0, 128))))")
PY
for target in cpu:4 cpu:16 sm_90a; do
  emit=c; case $target in sm_*) emit=ptx ;; esac
  nereid compile $TMP/long.py:long --sig 'x=*fp32,o=*fp32' -D B=64 --target $target --emit $emit -o $TMP/out 2>/dev/null && grep -c . $TMP/out >/dev/null && echo long $emit
  for kernel in ifs loops deep; do
    nereid compile $TMP/long.py:$kernel --sig 'x=*fp32,o=*fp32,n=i32' --target $target --emit $emit -o $TMP/out 2>/dev/null && grep -c . $TMP/out >/dev/null && echo $kernel $emit
  done
done
