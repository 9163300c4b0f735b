# A reader that goes away ends the program: no signal, no message.
{
  nereid compile add.py:unmasked --sig 'x_ptr=*fp32,out_ptr=*fp32' -D BLOCK=524288 2>"$TMP/err"
  echo $? >&2
} | head -1
grep -v 'warning\|hint\|^ ' "$TMP/err"; true
