"""Judge paths: resolve a path to what it names on disk, then apply built-in protections and path rules to it.

``path_judge.py`` joins it all. ``control_files.py`` finds settings files, stores and policies anew for each decision,
``socket_places.py`` knows where sockets of services lie, ``linked_rules.py`` repeats a deny or ask rule where a link in
its pattern leads, and ``hard_links.py`` finds files with further names."""
