@jit
def f(x, w):
    s = f"plain"
    s = f"{x}"
    s = f"a{x}b{{c}}d{x!r}{x:>10}{x!s:^{w}.{w}f}"
    s = f"{x=}{x = }{x=!s}{x=:3}"
    s = f"{x['k']}{x["k"]}{f'{w}'}"
    s = f'{(lambda y: y)(x)}{ {1: 2}[1] }{x != w}{x if w else 0}'
    s = f"""{
        x
    }
    end"""
    s = rf"\d{x}\{w}" "tail" f"{x}" "more"
    s = f"\N{DASH}{x, *w}"
    static_assert(x, f"{x:%H:%M}")
