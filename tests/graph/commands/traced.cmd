# What AOTAutograd and Inductor print: strides and devices in annotations, <lambda>, prims.
nereid graph traced.txt --emit graph | tee $TMP/a.py
nereid graph $TMP/a.py --emit graph | cmp - $TMP/a.py
nereid graph traced.txt --device interp --emit plan | grep -c '^input'
nereid graph traced.txt --random-inputs --device interp | cut -d' ' -f1,2
