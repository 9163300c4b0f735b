# A transposed left operand of words: by vectors its columns are read across, but a unit for tiles takes rows.
for target in cpu:16 cpu:amx; do
  echo $target
  nereid compile dot_across_words.py --sig x=*i32:16,w=*i32:16,y=*i32:16 --target $target --emit c |
    sed -n '/^static void by_words_program/,/^}/p' | grep -oE '(tiles|nereid)_dot\w+' | uniq
done
for device in interp "nest --target cpu:amx" "cpu --target cpu:8" "cpu --target cpu:16" "cpu --target cpu:amx"; do
  nereid run dot_across_words.py x=randint:i32[32,64]:0:2:1 w=randint:i32[32,32]:0:2:2 y=zeros:i32[64,32] --grid 1 \
    --device $device
done | uniq -c | tr -s ' '
