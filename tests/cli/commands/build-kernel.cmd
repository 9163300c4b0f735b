# What nereid build is not given for a kernel, or wrong; and its files.
cp add.py $TMP/k.py
sig="--sig x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32,n=i32,scale=fp32 -D BLOCK=256"
touch $TMP/file
for args in "" "-o $TMP/x --target cpu:8" "-o $TMP/x --target sm_9" "-o $TMP/x --name 8x" \
  "-o $TMP/x --mode eager" "-o $TMP/file" "-o $TMP/no/such" "-o $TMP/x --num-warps 3" \
  "-o $TMP/x -D BLOCK=300"; do
  nereid build $TMP/k.py:add $sig $args 2>$TMP/err
  echo "$args: $?" | sed "s|$TMP|TMP|g"
  sed "s|$TMP|TMP|g" $TMP/err >&2
done
nereid build $TMP/none.py $sig -o $TMP/x 2>&1 | sed "s|$TMP|TMP|g"
nereid build $sig -o $TMP/x
nereid build $TMP/k.py:add $sig -o $TMP/x --target sm_80 --name mine && ls $TMP/x
