nereid run descriptor.py:shift 'd=tensordesc<f32[4,8]>:ones:f32[3,8]' 'e=tensordesc<f32[4,8]>:zeros:f32[6,12]' at=2 --grid 1 --device interp
nereid run descriptor.py:shift 'd=tensordesc<f32[4,8],padding=nan>:ones:f32[4,8]' 'e=tensordesc<f32[4,8]>:shape=[2,4]:strides=[8,1]:zeros:f32[64]' at=6 --grid 'cdiv(e.shape.0, 4)' --device cpu
nereid run descriptor.py:shift 'd=tensordesc<f32[2,4]>:ones:f32[4,8]' 'e=tensordesc<f32[2,4]>:shape=[1,4]:strides=[8,1]:&d[4:]' at=1 --grid 1 --device nest
nereid run descriptor.py:twice 'pair=(tensordesc<f16[8]>:ones:f16[8],tensordesc<f16[8]>:zeros:f16[16])' --grid 1 --device interp
nereid compile descriptor.py:shift --sig 'd=tensordesc<bf16[8, 16]>,e=tensordesc<bf16[8, 16]>,e.shape.1=i32:16,at=i32' --emit tile
