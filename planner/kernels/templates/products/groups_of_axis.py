    # The group of this tile: tiles of a group begin where it begins, and are numbered so that the
    # number of its first one follows from that; those after its last one have nothing to do.
    tile = {{tile}}
    group = tile * 0
    begin = tile * 0
    end = tile * 0 + {{size}}
    for part in range(0, {{count}}, {{width}}):
        index = part + tl.arange(0, {{width}})
        ends = tl.load({{ends}}, mask=index < {{count}}, other={{size}})
        ends = tl.minimum(tl.maximum(ends, 0), {{size}}){{cast}}
        before = (index < {{count}}) & (ends // {{block}} + index < tile)
        group += tl.sum(before.to(tl.int32), 0)
        begin = tl.maximum(begin, tl.max(tl.where(before, ends, 0), 0))
        end = tl.minimum(end, tl.min(tl.where(before, {{size}}, ends), 0))
    first = tl.maximum(begin + (tile - begin // {{block}} - group) * {{block}}, begin)
    depth = tl.where((group < {{count}}) & (first < end), {{k}}, 0)
