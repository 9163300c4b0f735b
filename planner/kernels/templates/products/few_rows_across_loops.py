{{begin}}
    for group in range(0, {{groups}}):
{{zeros}}
        for step in range(0, {{steps}}):
{{products}}
{{sums}}
{{columns}}
