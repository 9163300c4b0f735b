# A message by its id.
nereid explain E_SEMA_UNDEFINED
nereid explain h_sema_partial
nereid explain E_SEMA; echo $?
nereid explain; echo $?
nereid explain E_SEMA_UNDEFINED E_SEMA_PARTIAL; echo $?
