"""Match rules against analyzed commands, and word the rules that a card offers."""
