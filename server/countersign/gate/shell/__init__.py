"""A command line becomes simple commands with their effects, or "not understood".

The packages form a pipeline, and each imports only from those before it: ``syntax`` (text to parse tree), ``programs``
(one row per program), ``variables`` and ``languages`` (assignments; sed, awk and git), ``effects`` (what a command
runs and writes), ``printing`` (which text runs), ``flow`` (pipes and stdin), ``files`` (which paths its words name),
``rules`` (which rules match), and ``judge.py``, which joins them."""
