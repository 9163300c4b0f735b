# Attention by its definition.  `kt` is the key with its last two axes swapped; swapping them back
# costs nothing.  Scores may be computed, or softmax be taken, in f32; shares are rounded to the
# dtype of the values, which the kernel does, too.


class attention:
    def pattern(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]",
                scale: float):
        s = cast(aten.matmul(q, kt) * scale)
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        return aten.matmul(narrow(p), v)

    def pattern_bmm(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]",
                    scale: float):
        s = cast(aten.bmm(q, kt) * scale)
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        return aten.bmm(narrow(p), v)

    def replacement(q, kt, v, scale):
        k = aten.transpose(kt, -2, -1)
        return aten.scaled_dot_product_attention(q, k, v, scale=scale)


class attention_divided:
    def pattern(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]",
                divisor: float):
        s = cast(aten.matmul(q, kt) / divisor)
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        return aten.matmul(narrow(p), v)

    def replacement(q, kt, v, divisor):
        k = aten.transpose(kt, -2, -1)
        return aten.scaled_dot_product_attention(q, k, v, scale=1 / divisor)


class attention_unscaled:
    def pattern(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]"):
        s = cast(aten.matmul(q, kt))
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        return aten.matmul(narrow(p), v)

    def pattern_bmm(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]"):
        s = cast(aten.bmm(q, kt))
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        return aten.bmm(narrow(p), v)

    def replacement(q, kt, v):
        k = aten.transpose(kt, -2, -1)
        return aten.scaled_dot_product_attention(q, k, v, scale=1.0)


# ---- with a mask or a bias that is added ----


class attention_added:
    def pattern(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]",
                mask: "float", scale: float):
        s = cast(aten.matmul(q, kt) * scale + mask)
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        return aten.matmul(narrow(p), v)

    def replacement(q, kt, v, mask, scale):
        k = aten.transpose(kt, -2, -1)
        return aten.scaled_dot_product_attention(q, k, v, mask, scale=scale)


class attention_divided_added:
    def pattern(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]",
                mask: "float", divisor: float):
        s = cast(aten.matmul(q, kt) / divisor + mask)
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        return aten.matmul(narrow(p), v)

    def replacement(q, kt, v, mask, divisor):
        k = aten.transpose(kt, -2, -1)
        return aten.scaled_dot_product_attention(q, k, v, mask, scale=1 / divisor)


class attention_unscaled_added:
    def pattern(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]",
                mask: "float"):
        s = cast(aten.matmul(q, kt) + mask)
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        return aten.matmul(narrow(p), v)

    def replacement(q, kt, v, mask):
        k = aten.transpose(kt, -2, -1)
        return aten.scaled_dot_product_attention(q, k, v, mask, scale=1.0)


# ---- with a condition under which scores are replaced by a number that hides them ----


class attention_seen:
    def pattern(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]",
                seen: "b8", scale: float, hidden: float):
        s = cast(aten.where(seen, aten.matmul(q, kt) * scale, hidden))
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        assert hidden <= -1e9
        return aten.matmul(narrow(p), v)

    def replacement(q, kt, v, seen, scale, hidden):
        k = aten.transpose(kt, -2, -1)
        mask = aten.where.Scalar(seen, 0.0, hidden)
        return aten.scaled_dot_product_attention(q, k, v, mask, scale=scale)


class attention_divided_seen:
    def pattern(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]",
                seen: "b8", divisor: float, hidden: float):
        s = cast(aten.where(seen, aten.matmul(q, kt) / divisor, hidden))
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        assert hidden <= -1e9
        return aten.matmul(narrow(p), v)

    def replacement(q, kt, v, seen, divisor, hidden):
        k = aten.transpose(kt, -2, -1)
        mask = aten.where.Scalar(seen, 0.0, hidden)
        return aten.scaled_dot_product_attention(q, k, v, mask, scale=1 / divisor)


class attention_filled:
    def pattern(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]",
                unseen: "b8", scale: float, hidden: float):
        s = cast(aten.masked_fill(aten.matmul(q, kt) * scale, unseen, hidden))
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        assert hidden <= -1e9
        return aten.matmul(narrow(p), v)

    def replacement(q, kt, v, unseen, scale, hidden):
        k = aten.transpose(kt, -2, -1)
        mask = aten.where.Scalar(unseen, hidden, 0.0)
        return aten.scaled_dot_product_attention(q, k, v, mask, scale=scale)


class attention_divided_filled:
    def pattern(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]",
                unseen: "b8", divisor: float, hidden: float):
        s = cast(aten.masked_fill(aten.matmul(q, kt) / divisor, unseen, hidden))
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        assert hidden <= -1e9
        return aten.matmul(narrow(p), v)

    def replacement(q, kt, v, unseen, divisor, hidden):
        k = aten.transpose(kt, -2, -1)
        mask = aten.where.Scalar(unseen, hidden, 0.0)
        return aten.scaled_dot_product_attention(q, k, v, mask, scale=1 / divisor)


class attention_unscaled_seen:
    def pattern(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]",
                seen: "b8", hidden: float):
        s = cast(aten.where(seen, aten.matmul(q, kt), hidden))
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        assert hidden <= -1e9
        return aten.matmul(narrow(p), v)

    def replacement(q, kt, v, seen, hidden):
        k = aten.transpose(kt, -2, -1)
        mask = aten.where.Scalar(seen, 0.0, hidden)
        return aten.scaled_dot_product_attention(q, k, v, mask, scale=1.0)


class attention_unscaled_filled:
    def pattern(q: "float[..., T, D]", kt: "float[..., D, S]", v: "float[..., S, E]",
                unseen: "b8", hidden: float):
        s = cast(aten.masked_fill(aten.matmul(q, kt), unseen, hidden))
        p = either(aten.softmax(s, -1, ...), aten._softmax(s, -1, ...))
        assert hidden <= -1e9
        return aten.matmul(narrow(p), v)

    def replacement(q, kt, v, unseen, hidden):
        k = aten.transpose(kt, -2, -1)
        mask = aten.where.Scalar(unseen, hidden, 0.0)
        return aten.scaled_dot_product_attention(q, k, v, mask, scale=1.0)


# ---- a factor of the query belongs to the scale ----


class attention_query_scaled:
    def pattern(q: "float", k: "float", v: "float", mask: any, factor: float, scale: float):
        return aten.scaled_dot_product_attention(q * factor, k, v, mask, scale=scale)

    def replacement(q, k, v, mask, factor, scale):
        return aten.scaled_dot_product_attention(q, k, v, mask, scale=scale * factor)


class attention_query_divided:
    def pattern(q: "float", k: "float", v: "float", mask: any, divisor: float, scale: float):
        return aten.scaled_dot_product_attention(q / divisor, k, v, mask, scale=scale)

    def replacement(q, k, v, mask, divisor, scale):
        return aten.scaled_dot_product_attention(q, k, v, mask, scale=scale / divisor)
