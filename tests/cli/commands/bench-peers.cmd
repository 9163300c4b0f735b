# What was measured elsewhere: as a table and as a picture.  Labels come from anywhere.
cat > $TMP/a.json <<'END'
{"label": "ours", "x_name": "n", "unit": "GB/s", "points": [
 [1024, 40, 38.5, 41], [2048, 75.5, 70, 76], [4096, 120.25, 118, 125], [1048576, 3000, 2900, 3050]]}
END
cat > $TMP/b.json <<'END'
{"unit": "GB/s", "label": "<b>\"&\u0007 a label that is longer than any legend has room for", "x_name": "n",
 "device": "of no interest", "points": [[2048, 70, 60, 90], [8192, 1e2, 100, 100.0]]}
END
nereid bench --peer $TMP/a.json --peer $TMP/b.json
nereid bench --peer $TMP/b.json --peer $TMP/a.json -o -
# Times over sizes that are no powers of two: both axes are logarithmic.
cat > $TMP/c.json <<'END'
{"label": "c", "x_name": "rows", "unit": "us", "points": [[1, 1.5, 1.4, 2], [50, 3, 3, 3], [2000, 900, 850, 990]]}
END
nereid bench --peer $TMP/c.json -o $TMP/c.svg
sed -n '/<text/s/<[^>]*>/ /gp' $TMP/c.svg
# One point.
echo '{"label": "d", "x_name": "rows", "unit": "us", "points": [[100, 5, 5, 5]]}' > $TMP/d.json
nereid bench --peer $TMP/d.json -o $TMP/d.svg
sed -n '/<text/s/<[^>]*>/ /gp' $TMP/d.svg
# A zero has no sign.
echo '{"label": "e", "x_name": "rows", "unit": "us", "points": [[-0.0, 5, 5, 5]]}' > $TMP/e.json
nereid bench --peer $TMP/e.json
