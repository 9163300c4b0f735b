for x in '&x[1:]' '&x[8:]' '&x[9:]' '&x[-1:]' '&x[1]' '&x[1:2]' '&x[' '&y[1:]' '&x[99999999999999999999:]'; do
  nereid run copy.py x=ones:f32[8] "o=$x" n=0 -D B=4 --grid 1 --device interp
done
