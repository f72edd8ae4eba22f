"""The shell tools, and the processes under them: environment, supervisor, output."""
