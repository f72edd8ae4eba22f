"""Advice about rules: explain a supposed call, lint a rule set, suggest rules from past answers. It decides nothing.

``explain.py`` explains, ``lint.py`` lints, ``rule_suggestions.py`` suggests, ``setting_effect.py`` says what a setting
would allow, and ``rule_import`` translates permission files of other agents into proposals."""
