# Axes that are turned thousands of times in a row.
{
  printf 'import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef turned(p):\n'
  printf '    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]\n'
  printf '    x = tl.load(p + at)\n'
  yes '    x = tl.trans(x)' | head -8001
  printf '    tl.store(p + at, x)\n'
} >"$TMP/turned.py"
printf 'import numpy\nnumpy.save("x.npy", numpy.arange(256, dtype="f"))\n' >"$TMP/make.py"
(cd "$TMP" && "$PYTHON" make.py)
nereid run "$TMP/turned.py" p=@"$TMP/x.npy" --grid 1 --device nest
