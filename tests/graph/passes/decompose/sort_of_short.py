# Elements of 16 and 8 bits are sorted by keys of 32: the rest of them is the element's index.  Rows
# that these bits can't number have keys of 64.
class M(torch.nn.Module):
    def forward(self, x: "f16[2, 65536]", y: "bf16[2, 70000]", u: "u8[3, 40]"):
        a = torch.ops.aten.argsort.default(x)
        b = torch.ops.aten.topk.default(y, 2000)
        c = torch.ops.aten.argsort.default(u, 1, True)
        return (a, b, c)
