"""Probing an agent: the measured scenarios, played against a scripted model on this machine, and the label they give.

``model_server.py`` stands for the model (``turn.py`` is what it is asked, ``wire_formats.py`` how that is written,
``tool_choice.py`` how a scenario becomes a call of one of the agent's own tools), ``plants.py`` for hostile
repositories and permissive settings, ``bench.py`` for the throw-away workspace with its gate, ``verdict.py`` for the
label. ``commands/probe.py`` is how a person starts it.
"""
