nereid list ..
