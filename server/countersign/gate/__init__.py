"""The gate: decides, asks, remembers. It runs nothing and draws nothing; it asks through an Asker it is handed."""
