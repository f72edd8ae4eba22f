"""What a simple command does beyond its name: the command that a wrapper runs, and options that run or write."""
