"""Join the packages to an editor. Nobody imports this one.

``app.py`` lists the methods, ``workspace.py`` assembles one workspace, ``sessions.py`` owns the turns and ``runner.py``
carries them out (the built-in agent's by ``builtin_agent.py``, which is loaded after the start). ``recovery.py``
settles what an earlier server left, once the whole chain was checked. ``chats.py`` names, searches and exports chats;
``known_agents.py`` offers agents and adds one; ``ledger_watch.py`` reports on the chain to the client;
``sandbox_watch.py`` tries the sandbox before it counts. Only ``base_protocol.py``, ``transport.py``, ``connection.py``
and ``pygls_server.py`` know how messages travel and how pygls works inside."""
