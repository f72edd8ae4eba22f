"""The sandbox: the operating system's boundary around a command or an agent, compiled from the same ``Policy`` that
decides.

``boundary.py`` is the description, ``compile_boundary.py`` makes it of a policy and a look at the disk (``survey.py``,
``git_folders.py``). ``bubblewrap.py`` and ``seatbelt.py`` turn a description into what each system understands;
``namespaces.py`` runs in the supervisor's child and makes the mounts. ``confiner.py`` joins them and says what holds.
"""
