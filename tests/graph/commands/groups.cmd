# Ends of groups and offsets of bags are checked as indices are; the end of all is in range.
cd $TMP
cat >groups.py <<'END'
def forward(self, x: "f32[s0, 4]", w: "f32[2, 4, 3]", ends: "i32[2]"):
    mm = torch.ops.aten._grouped_mm.default(x, w, ends)
    return (mm,)
END
cat >bags.py <<'END'
def forward(self, x: "f32[5, 2]", ids: "i64[s1]", offsets: "i64[3]"):
    bag = torch.ops.aten.embedding_bag.default(x, ids, offsets)
    y = bag[0]
    return (y,)
END
python=$(command -v /usr/bin/python3 || command -v python3)
$python -c "
import numpy as np
np.save('x', np.ones((6, 4), 'f4')), np.save('w', np.ones((2, 4, 3), 'f4'))
np.save('t', np.ones((5, 2), 'f4')), np.save('ids', np.array([0, 1, 4, 2]))
for name, ends in ('good', [2, 6]), ('large', [2, 7]), ('negative', [-1, 6]): np.save(name, np.array(ends, 'i4'))
for name, at in ('first', [1, 2, 2]), ('over', [0, 5, 4]), ('all', [0, 0, 4]): np.save(name, np.array(at))"
for device in interp cpu; do
  for ends in good large negative; do nereid graph groups.py x.npy w.npy $ends.npy --device $device; done
  for at in all first over; do nereid graph bags.py t.npy ids.npy $at.npy --device $device; done
done
nereid graph groups.py x.npy w.npy large.npy --device interp --no-checks
