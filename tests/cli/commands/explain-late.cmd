# Loads of a function that is written after the kernel, and a page of an IR whose source is not there.
product() {
  nereid compile explain-late.py:product --target sm_90a --num-warps 8 "$@" \
    --sig a=*bf16:16,b=*bf16:16,c=*fp32:16,n=i32:16,k=i32:16 -D BM=128 -D BN=128 -D BK=64
}
product --explain | sed -n '/tl.load/,$p'
product --emit tile | sed 's/explain-late.py/other.py/' >$TMP/product.tile
nereid compile $TMP/product.tile --target sm_90a --html $TMP/page.html
$PYTHON - $TMP/page.html <<'P'
import re, sys

text = open(sys.argv[1]).read()
print("sections:", *(x.split("<")[0] for x in text.split("<h2>")[1:]), sep=" | ")
links, ids = (set(re.findall(p, text)) for p in (r'href="#(\w+)"', r' id="(\w+)"'))
print("links without a target:", sorted(links - ids), len(links) > 9)
P
