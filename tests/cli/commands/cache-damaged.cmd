# only: cc
# A damaged cache is set aside, and one that can't be used is done without.
# slow: a C compiler
R="add.py:unmasked --device cpu x_ptr=ones:f32[64] out_ptr=empty:f32[64] -D BLOCK=64 --grid 1"
export NEREID_CACHE_DIR="$TMP/cache"
nereid run $R
for damage in /dev/zero /dev/null add.py; do
  head -c 3000 $damage > "$TMP/cache/code-2.db"
  nereid run $R 2>&1; nereid run $R
done | sed "s|$TMP|TMP|g; s/damaged-[0-9-]*/damaged-N/"
NEREID_CACHE_DIR=/dev/null/x nereid run $R
rm "$TMP/cache/code-2.db"; mkdir "$TMP/cache/code-2.db"
nereid run $R 2>&1 | sed "s|$TMP|TMP|g"
