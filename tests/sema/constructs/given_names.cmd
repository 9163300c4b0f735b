# -D gives names of files values that only Python can compute.
nereid run given_names.py:kernel out=zeros:i32[5] --grid 1 --device interp -D HAS_TOOL=True \
  -D 'LIMITS=(3,4)' -D DTYPE=tl.int32 -D SCALE=7 -D FUNCTION=fn:double -D SHIFT=3 -D PLAIN=6
nereid run given_names.py:inner out=zeros:i32[1] --grid 1 --device interp -D block=20 -D size=3 \
  -D activation=fn:double
# None is given, one is misspelt, one is of no file, one is a type.
nereid compile given_names.py:kernel --sig 'out=*i32' --emit tile
nereid compile given_names.py:inner --sig 'out=*i32' --emit tile
nereid compile given_names.py:kernel --sig 'out=*i32' -D outt=3 --emit tile
nereid compile given_names.py:inner --sig 'out=*i32' -D block=20 -D size=3 -D activation=fn:double \
  -D OTHER=3 --emit tile
nereid compile given_names.py:inner --sig 'out=*i32,block=i32' -D size=3 --emit tile
