# Bytes hold indices, but not the size; places that wrap are met more than once.
def forward(self, index: "i8[3, 1]", by: "f32[3, 1]"):
    zero = torch.ops.aten.full.default([], 0.0, dtype = torch.float32)
    places = torch.ops.aten.arange.start_step(0, 512, 1, dtype = torch.int64)
    equal = torch.ops.aten.eq.Tensor(places, index)
    one = torch.ops.aten.where.self(equal, by, zero)
    known = torch.ops.aten.sum.dim_IntList(one, [1])
    bytes = torch.ops.aten.to.dtype(places, torch.int8)
    again = torch.ops.aten.eq.Tensor(bytes, index)
    two = torch.ops.aten.where.self(again, by, zero)
    added = torch.ops.aten.sum.dim_IntList(two, [1])
    return (known, added)
