"""Outside agents, hosted over ACP: their processes, their requests as calls at the gate, their reports as events."""
