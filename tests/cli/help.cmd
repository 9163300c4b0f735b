nereid help compile
nereid help run
nereid --help
nereid list --help
