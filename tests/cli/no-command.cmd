nereid
