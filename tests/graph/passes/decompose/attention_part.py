def forward(self, x: "f32[2, 3, 4, 8]"):
    a = nereid.attention_sums.default(x)
    return (a,)
