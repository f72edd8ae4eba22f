"""The normal form of a parse tree, the bash text printed from it, and the second parser that checks ours."""
