    group = tl.program_id(1){{wide}}
    begin = tl.load({{before}}, mask=group > 0, other=0){{cast}}
    end = tl.load({{end}}){{cast}}
    begin = tl.minimum(tl.maximum(begin, 0), {{size}})
    end = tl.minimum(end, {{size}})
{{parts}}
