# What AOTAutograd and Inductor print: strides and devices in annotations, <lambda>, prims.
nereid graph graph_traced.txt --emit graph | tee $TMP/a.py
nereid graph $TMP/a.py --emit graph | cmp - $TMP/a.py
nereid graph graph_traced.txt --device interp --emit plan | grep -c '^input'
nereid graph graph_traced.txt --random-inputs --device interp | cut -d' ' -f1,2
