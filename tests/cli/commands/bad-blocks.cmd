# Block sizes that can't be: each is refused where it is used.
for b in 0 -1 1.5 abc None 99999999999 99999999999999999999 10000000; do
  nereid compile add.py:unmasked --sig 'x_ptr=*fp32,out_ptr=*fp32' -D BLOCK=$b 2>err.$$; s=$?
  head -1 err.$$; echo "$b: $s"
done
rm err.$$
nereid compile add.py:unmasked --sig 'x_ptr=*fp32,out_ptr=*fp32' -D BLOCK=1048576 -o /dev/null; echo $?
