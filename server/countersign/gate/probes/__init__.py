"""What the gate can observe: every probe of the disk (``disk.py``), and the one table of invisible characters."""
