# What is measured here has any time, but a place for each size, and is what a peer's file holds.
look() { "$PYTHON" - "$@" <<'END'
import json, sys, xml.etree.ElementTree as xml
s = json.load(open(sys.argv[1]))
print(list(s), s["label"], s["x_name"], s["unit"], [p[0] for p in s["points"]])
assert all(len(p) == 4 and 0 < p[2] <= p[1] <= p[3] for p in s["points"])
if len(sys.argv) > 2:
    svg = xml.parse(sys.argv[2]).getroot()
    titles = [e.text.split(" ")[0] for e in svg.iter("{http://www.w3.org/2000/svg}title")]
    print(svg.tag, titles)
END
}
shown() { sed 's/\(  *[0-9.e+-]\{1,\}\)\{3\}$/ TIMES/'; }
arrays='x_ptr=randn:f32[n] y_ptr=rand:f32[max(n,64)]:7 out_ptr=empty:f32[{n}]'
# An argument, sizes in any order; a grid that depends on it.
nereid bench add.py:add $arrays scale=2.0 -D BLOCK=64 --x n=256,64,100 --grid "cdiv(n, BLOCK)" \
    --device cpu --json $TMP/a.json -o $TMP/a.svg | shown
look $TMP/a.json $TMP/a.svg
# A constexpr; a rate; another name; the other series beside it.
sed 's/"add"/"other <one>"/; s/"n"/"BLOCK"/; s/"us"/"GB\/s"/' $TMP/a.json > $TMP/b.json
nereid bench add.py:unmasked 'x_ptr=randn:f32[BLOCK]' 'out_ptr=empty:f32[2*BLOCK]' --x BLOCK=32,64 --grid 1 \
    --device interp --bytes 8*BLOCK --label mine --json $TMP/c.json --peer $TMP/b.json -o $TMP/c.svg | cut -c -7
look $TMP/c.json $TMP/c.svg
# A name of its own, in arguments, constexprs and the grid.
nereid bench add.py:add 'x_ptr=ones:f32[n]' 'y_ptr=ones:f32[n]' 'out_ptr=empty:f32[n]' 'n={4*k}' scale=1.0 -D 'BLOCK={2*k}' \
    --x k=16,32 --grid 'n//(2*k)' --device interp --flops '2*n' --json - > $TMP/d.json
look $TMP/d.json
# A full disk.
nereid bench add.py:unmasked 'x_ptr=ones:f32[64]' 'out_ptr=empty:f32[64]' -D BLOCK=64 --x 'k=1' --grid k --device interp -o /dev/full
echo $?
