"""The record of every decision and every run: one writer, readers beside it, and a hash chain that shows tampering."""
