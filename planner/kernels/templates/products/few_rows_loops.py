    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for near in range(0, {{all}}, {{part}}):
        for each in range(0, BN, {{at_once}}):
{{begin}}
            for group in range({{groups}}):
{{zeros}}
                for step in range(0, {{steps}}):
{{products}}
{{sums}}
{{columns}}
