"""Match rules against analyzed commands, and word the rules that a card offers.

``analyzed_command.py`` holds all that is known of one command, ``match.py`` finds rules, ``judge_one.py`` judges."""
