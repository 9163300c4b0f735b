@jit
def f():
    x = 'a' "b" """c
d""" r'\d' b'\xff' rb"\x" u'u' R'''raw '\''''
    x = "\a\b\f\n\r\t\v\\\'\"\x41\101\0\u00e9\U0001f600\N{DASH}\q"
    x = "joined \
line"
    x = ("one"  # a comment between
         "two")
    x = "é"
    x = ""
