for type in 'tensordesc<fp33[8]>' 'tensordesc<fp32>' 'tensordesc<fp32[6]>' 'tensordesc<fp32[2048,1024]>' 'tensordesc<fp32[1,1,1,1,1,8]>' 'tensordesc<fp32[]>' 'tensordesc<fp32[8],swizzled>' 'tensordesc<i32[8],padding=nan>' 'tensordesc<fp32[8]' 'tensordesc<fp32[8]>:16'; do
  nereid compile descriptor.py:shift --sig "d=$type"
done
for value in f32 'f32[4,8]>' 'f32[4,8]>:4' 'f32[4,8]>:shape=[4:ones:f32[4,8]' 'f32[4,8]>:tensordesc<f32[8]>:ones:f32[8]' 'f16[4,8]>:ones:f32[4,8]' 'f32[8]>:ones:f32[4,8]' 'f32[4,8]>:ones:f32[4,6]' 'f32[4,8]>:strides=[1,4]:ones:f32[4,8]' 'f32[4,8]>:shape=[0,8]:ones:f32[4,8]' 'f32[4,8]>:shape=[5,8]:ones:f32[4,8]' 'f32[4,8]>:&e[8:]' 'f32[4,8]>:shape=[1,8]:&e[2:]'; do
  nereid run descriptor.py:shift "d=tensordesc<$value" e=ones:f32[8,8] at=0 --grid 1 --device interp
done
nereid compile descriptor.py:shift --sig 'd=*f32,e=tensordesc<f32[4,8]>,at=i32'
nereid compile descriptor.py:shift --sig 'd=tensordesc<f32[4,8]>,e=tensordesc<f32[4,8]>,e.shape.0=f32,at=i32'
nereid compile descriptor.py:shift --sig 'd=tensordesc<f32[4,8]>,e=tensordesc<f32[4,8]>,e.shape.2=i32,at=i32'
