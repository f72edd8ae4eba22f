"""Outside agents, hosted over ACP: their processes, their requests as calls at the gate, their reports as events.

- Which agent: recipes (``known/*.json``), which programs are installed (``installed.py``), identity and label
  (``identity.py``, ``label.py``), what it said when it was last started (``last_greeting.py``).
- How it asks: by requests of the protocol (``requests.py``), or by its own pre-tool hook (``hook_door.py``, joined with
  its reports in ``session_hook.py``); the filter before the program that an adapter starts (``line_filter.py``).
- What it does: calls without a request (``unasked.py``), changes without a permit (``change_watch.py``), plans that
  wait for a word (``proposed_plan.py``), questions to the person, which never reach the gate (``questions.py``, forms
  in ``question_schema.py``).
- Its modes: ``asking_mode.py``; ``held.py`` judges whether the asking mode is left, ``asking_words.py`` knows names by
  which an agent asks less.
- Its sessions: that of a chat (``opening.py``, ``replay.py``) or of its own list (``session_list.py``,
  ``earlier_words.py``); logging in (``login.py``), also by keys in its environment (``key_login.py``).
- What it has in the sandbox: ``confinement.py``."""
