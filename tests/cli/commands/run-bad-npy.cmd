echo 'no array' > "$TMP/x.npy"; cd "$TMP"; nereid run $OLDPWD/add.py:add --device interp x_ptr=@x.npy --grid 1
