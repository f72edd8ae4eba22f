"""Agents converse: our own loop, and agents hosted over ACP.

``loop.py`` is the loop without IO, ``drive.py`` drives it. ``context.py`` decides what a model reads of a long chat and
``compaction.py`` asks for summaries; ``repeats.py`` finds calls that repeat, ``usage_store.py`` keeps tokens and cost,
``model_option.py`` the model of a chat.

What agents and model servers send is read by ``wire/strict_json.py`` alone and bounded for each peer: by
``acp/ndjson.py``, ``acp/connection.py`` and ``acp/log_limit.py``, ``models/bounded_network.py`` and
``models/answer_reader.py``, ``limits.py`` and ``pace.py`` here, ``gate/workers.py``, and sizes by ``wire/sizes.py``.
Whatever ends the reading ends the peer."""
