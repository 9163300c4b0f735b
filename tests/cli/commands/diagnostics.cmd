# Messages as JSON, with their ids, and in colour.
cat > $TMP/f.py <<'P'
import triton
import triton.language as tl
@triton.jit
def f(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), "a\b" + y)
    tl.stor(x)
P
cd $TMP
S='--sig x=*fp32 -D BLOCK=8'
nereid compile f.py $S --diagnostics json
nereid compile --diagnostics=json --nonsense
NEREID_DIAGNOSTICS=json nereid run f.py:g x=zeros:f32[8] --grid 1
nereid compile none.py --diagnostics json
nereid compile f.py $S --diagnostics ids
nereid compile none.py --diagnostics ids
nereid graph none.onnx --diagnostics ids
nereid run f.py:f x=zeros:f32[4] -D BLOCK=4 --grid x --diagnostics ids
nereid compile --diagnostics ids --nonsense
nereid compile f.py $S --diagnostics ids --color always 2>&1 | grep -c 'defined .E_SEMA_UNDEFINED.$'
nereid compile f.py $S --diagnostics yaml; echo $?
nereid compile f.py $S --color sometimes; echo $?
# Every line is an object, whatever the file's bytes are.
printf 'import triton\n@triton.jit\ndef f(x):\n    \377"\\\t = 1\n' > "bad 
name.py"
nereid compile "bad 
name.py" $S --diagnostics json 2> out
sed 's/, "a.*/, 1.0)/; s/tl.stor(x)/tl.device_assert(False, "no: error: here")/' f.py > g.py
nereid run g.py x=empty:f32[4] -D BLOCK=8 --grid 1 --device interp --diagnostics json > printed 2>> out
$PYTHON -c '
import json
for line in open("out", encoding="utf-8"):
    d = json.loads(line)
    assert {"severity", "message", "notes"} <= set(d), d
    print(d["severity"], d.get("line"), d.get("column"), len(d["notes"]), d["message"])'
escape=$(printf '\033')
colored() { "$@" 2>&1 > /dev/null | sed "s/$escape/ESC/g"; }
colored nereid compile f.py $S --color always
colored nereid compile f.py $S
NEREID_COLOR=always colored nereid nonsense
NO_COLOR=1 colored nereid compile f.py $S --color always | head -n 1
