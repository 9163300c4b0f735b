# What each line of a kernel becomes, and what that costs; and the page of it.
matmul() {
  nereid compile ../../../examples/kernels/matmul.py:matmul --target sm_90a --num-warps 8 "$@" \
    --sig a_ptr=*bf16:16,b_ptr=*bf16:16,c_ptr=*bf16:16,M=i32:16,N=i32:16,K=i32:16 \
    --sig stride_am=i32:16,stride_ak=i32:1,stride_bk=i32:16,stride_bn=i32:1 \
    --sig stride_cm=i32:16,stride_cn=i32:1 \
    -D BLOCK_M=128 -D BLOCK_N=256 -D BLOCK_K=64 -D GROUP_M=8 --num-stages 3
}
launch="--value M=4096 --value N=4096 --value K=4096 --value stride_am=4096 --value stride_bk=4096
  --value stride_cm=4096"
matmul --explain --grid 'cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)' $launch
nereid compile ../../../examples/kernels/softmax.py --sig 'x_ptr=*fp32,out_ptr=*fp32,n_cols=i32' \
  -D BLOCK=1024 --explain --target sm_80
nereid compile ../../../examples/kernels/softmax.py --sig 'x_ptr=*fp32,out_ptr=*fp32,n_cols=i32' \
  -D BLOCK=1024 --explain --value n_cols
# An argument without a value; then accesses of columns, which lanes make one by one.
nereid compile ../../../examples/kernels/softmax.py --sig 'x_ptr=*fp32:16,out_ptr=*fp32:16' \
  --sig n_cols=i32 -D BLOCK=1024 --explain --target sm_90a --grid 8
cat > $TMP/columns.py <<'P'
import triton
import triton.language as tl


@triton.jit
def columns(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i * cols + tl.program_id(0)
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=i < rows), mask=i < rows)
P
nereid compile $TMP/columns.py --sig 'x_ptr=*fp32:16,out_ptr=*fp32:16,rows=i32:16,cols=i32:16' \
  -D BLOCK=1024 --explain --target sm_90a --grid cols --value rows=1024 --value cols=4096
matmul --grid 2
matmul --value M=64
matmul --html $TMP/page.html --grid 'cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)' $launch
$PYTHON - $TMP/page.html <<'P'
import html.parser, sys

text = open(sys.argv[1]).read()
void = {"meta", "br", "link", "img"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.tags, self.others = [], set(), [], {}, []

    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag not in void:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id":
                assert value not in self.ids, value
                self.ids.add(value)
            if name == "href" and value.startswith("#"):
                self.links.append(value[1:])
            elif name in ("href", "src", "srcset", "action", "data", "poster", "xlink:href"):
                self.others.append(value)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in void:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


page = Page()
page.feed(text)
page.close()
panes = [x.split("<")[0] for x in text.split("<h2>")[1:]]
print("open elements:", page.open)
print("links without a target:", sorted(set(page.links) - page.ids))
print("of elsewhere:", page.others, "script" in page.tags, "url(" in text, "@import" in text)
print("sections:", *panes, sep=" | ")
for line in 53, 55, 62:
    count = {p: sum(f'id="{p}{line}"' in text for p in (p,)) for p in "stnrpf"}
    print(line, count, text.count(f'class="l{line}"') > 8)
P
