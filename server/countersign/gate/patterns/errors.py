"""What every pattern raises when its text cannot be read."""


class BadPattern(Exception):
    """The specifier cannot be read; the message says why, in half a sentence that follows the rule's text."""
