"""The sandbox: the operating system's boundary around a command, compiled from the same ``Policy`` that decides.

``boundary.py`` is the description, ``compile_boundary.py`` makes it of a policy and a look at the disk (``survey.py``,
``git_folders.py``). ``bubblewrap.py`` turns a description into what Linux understands, ``seatbelt.py`` into a profile
for macOS, where it is untested. ``namespaces.py`` runs in the supervisor's child and makes the mounts. ``confiner.py``
joins them and says what holds; ``forecast.py`` says on a card what will be refused, ``refusals.py`` what was.
"""
