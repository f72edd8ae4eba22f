"""What a simple command does beyond its name: the command that a wrapper runs, and options that run or write.

``unwrap.py`` finds what a command runs, ``escapes.py`` and ``operand_code.py`` what its options and operands do."""
