# A GPU's program sorts a row whose keys fill 64 KB at most: 16,384 of 32 bits, 8,192 of 64; merges follow for longer rows.
# A CPU's program sorts runs of 2,048.
for x in bf16[2,16384] bf16[2,16385] f32[2,8192] f32[2,8193]; do
  cat >$TMP/m.py <<MODEL
def forward(self, x: "$x"):
    s = torch.ops.aten.sort.default(x)
    v = s[0]
    i = s[1]
    return (v, i)
MODEL
  echo "$x"
  nereid graph $TMP/m.py --device cuda --emit plan | sed -n 's/^step \([a-z0-9_]*\)(.*\(RBLOCK: [0-9]*\).* grid.* warps \([0-9]*\) .*/\1 \2 warps \3/p; s/^step \([a-z0-9_]*merge[a-z0-9_]*\)(.*/\1/p'
done
nereid graph $TMP/m.py --device cpu --emit plan | sed -n 's/^step \([a-z0-9_]*\)(.*/\1/p'
