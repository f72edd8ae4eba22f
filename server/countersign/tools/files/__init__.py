"""The file tools, and one way to change a file that never loses bytes a person may have written (``change.py``)."""
