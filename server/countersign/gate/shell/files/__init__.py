"""Which files a command's words may name, and whether the command reads or writes each."""
