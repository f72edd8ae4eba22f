"""Advice about rules: explain a supposed call, lint a rule set, suggest rules from past answers. It decides nothing."""
