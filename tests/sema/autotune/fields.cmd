nereid list --configs fields.py 'x=zeros:f32[4]'
