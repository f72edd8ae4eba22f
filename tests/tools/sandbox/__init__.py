"""Tests of the sandbox, with real processes where the machine can make one."""
