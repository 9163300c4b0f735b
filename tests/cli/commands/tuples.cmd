for device in interp nest cpu; do
  nereid run tuples.py 'xs=(ones:f32[20], rand:f32[20]:1)' 'shape=(4,5)' 'out=((zeros:f32[20],),)' --grid 'cdiv(shape.0 * shape.1, BLOCK)' -D BLOCK=16 --device $device
done
nereid run tuples.py xs.0=ones:f32[20] 'xs.1=&xs.0' 'shape=(1,20)' 'weights=(1.0,-2.0)' 'out.0=(zeros:f32[20],)' --out out.0.0="$TMP/weighed.npy" --grid 2 --device cpu
nereid run tuples.py "xs=(@$TMP/weighed.npy,@$TMP/weighed.npy)" 'shape=(1,20)' 'out=((zeros:f32[20],),)' --grid 2 --device cpu
nereid compile tuples.py --sig 'xs=(*fp32:16,*fp32),shape=(i32,i32:1),out=((*fp32,),)' --emit tile | head -1
# Tile IR has the items as parameters of their own.
nereid compile tuples.py --sig 'xs=(*fp32,),shape=(i32,i32),out=((*fp32,),)' --emit tile -o "$TMP/tuples.tile"
nereid run "$TMP/tuples.tile" 'xs=(ones:f32[20],)' 'shape=(4,5)' 'out=((zeros:f32[20],),)' --grid 2 --device interp
nereid compile tuples.py --sig 'xs.0=*fp32,xs.2=*fp32,shape=(i32,i32),out=((*fp32,),)'
nereid compile tuples.py --sig 'xs=*fp32,xs.0=*fp32,shape=(i32,i32),out=((*fp32,),)'
nereid compile tuples.py --sig 'xs=(*fp32,fp99),shape=(i32,i32),out=((*fp32,),)'
nereid compile tuples.py --sig 'xs=(*fp32,),shape=(),out=((*fp32,),)'
nereid compile tuples.py --sig 'xs=((((((((((*fp32)))))))))),shape=(i32,i32),out=((*fp32,),)'
nereid compile tuples.py --sig 'ys=(*fp32,),shape=(i32,i32),out=((*fp32,),)'
nereid compile tuples.py --sig 'xs.00=*fp32,shape=(i32,i32),out=((*fp32,),)'
nereid run tuples.py 'xs=(ones:f32[20],ones:f32[20])' 'shape=(4,5)' --grid 2 --device cpu
nereid run tuples.py 'xs=(ones:f32[20],@none.npy)' 'shape=(4,5)' 'out=((zeros:f32[20],),)' --grid 2 --device cpu
nereid tune tuples.py 'xs=(ones:f32[20],ones:f32[20])' 'shape=(4,5)' 'out=((zeros:f32[20],),)' --grid 'cdiv(shape.0 * shape.1, BLOCK)' --space BLOCK=16,32 --device cpu | sed -n 's/.*\(2 configurations, 2 ran\).*/\1/p'
