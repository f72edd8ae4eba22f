"""Whether a redirection leaves input and output for what their names say: ``/dev/stdin`` is read, ``/dev/stdout`` and
``/dev/stderr`` are written."""

from __future__ import annotations

from countersign.gate.shell.syntax.tree import Redirect

_OUTPUTS = frozenset({"1", "2"})


def moves_descriptors(redirect: Redirect) -> bool:
    """Whether a redirection may open an input for writing or an output for reading, or close one, whose number the
    next file gets (``2< a``, ``0>> a``, ``3< a``, ``2>&0``, ``0<&-``, ``{fd}> a``)."""
    operator, own = redirect.operator, redirect.descriptor
    if redirect.variable is not None or operator == "<>":
        return True
    if operator in {"<", "<<", "<<-", "<<<"}:
        return own not in {"", "0"}
    if operator in {">&", "<&"}:
        value = redirect.target.value
        if value is not None and operator == ">&" and own == "" and not value.rstrip("-").isdigit() and value != "-":
            return False  # both outputs into a file
        return value not in _OUTPUTS or (own or ("1" if operator == ">&" else "0")) not in _OUTPUTS
    return own not in {"", *_OUTPUTS}
