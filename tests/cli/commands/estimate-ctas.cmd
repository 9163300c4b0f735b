# A configuration of several thread blocks is estimated, and named as an option.
nereid estimate ctas.py x=rand:f32[100000] y=rand:f32[100000] out=empty:f32[100000] n=100000 --grid 'cdiv(n, B)' \
    --target sm_90a | grep -E 'num_ctas|num-ctas'
nereid list ctas.py --configs
