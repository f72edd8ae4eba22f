"""Ask a person: open requests, answers and their checks, grants, deadlines, and deciding again when rules change."""
