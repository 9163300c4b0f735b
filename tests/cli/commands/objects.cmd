# Constants in tuples, tuples without items, and tuples of a class of the file.
S='S=("a,b", (), (-1.5, None), tl.float16, True)'
for device in interp nest cpu; do
  nereid run objects.py:f out=zeros:i32[1] 'pair=Pair(5, (fn:double, 4:constexpr))' 'rest=()' -D "$S" --grid 1 --device $device
done
nereid estimate objects.py:f out=zeros:i32[1] 'pair=Pair(5, (fn:double, 4:constexpr))' 'rest=(None,)' -D "$S" --grid 1 | head -1
nereid compile objects.py:f --sig 'out=*i32,pair=Pair(i32,(fn:double,4:constexpr)),rest=(none,none)' -D "$S" --emit tile | head -1
nereid compile objects.py:f --sig 'out=*i32,pair.0=i32,pair.1.0=fn:double' -D pair=class:Pair -D pair.1.1=4:constexpr -D 'rest=()' -D "$S" --emit tile | head -1
nereid run objects.py:f out=zeros:i32[1] 'pair=Pair(5)' 'rest=()' -D "$S" --grid 1 --device interp
nereid run objects.py:f out=zeros:i32[1] 'pair=Paar(5,6)' 'rest=()' -D "$S" --grid 1 --device interp
nereid compile objects.py:f --sig 'out=*i32,pair=Pair(i32,4),rest=()' -D "$S"
