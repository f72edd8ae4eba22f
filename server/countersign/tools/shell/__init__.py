"""The shell tools, and the processes under them: environment, supervisor, output.

``supervised.py`` starts each program under a ``supervisor.py``, which ``fork_server.py`` forks on Linux."""
