"""What an option does as far as its name says, where no record lists it: ``--exec``, ``--test-builder-wrapper``.

Programs have more options, and plug-ins with options, than a record can list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from countersign.gate.shell.programs.argv import Option, is_listed
from countersign.gate.shell.programs.row import EscapeKind, Program, row
from countersign.gate.shell.programs.tables import FACETS, SHELLS
from countersign.gate.shell.syntax.tree import Word

STRANGE = row(
    "options of these names run, load or write something, whatever the program",
    runs="--exec --execute --eval --command --shell --shell-command --pre-hook --post-hook --hook --init-hook "
    "--wrapper --pager --editor --browser --askpass --use-askpass --rsh --preprocessor --on-error --on-success "
    "--run-command --to-command --cmd --pre-command --post-command --pre-cmd --post-cmd --before-script "
    "--after-script --pre-script --post-script --on-change --on-exit",
    code="--plugin --plugins --load-plugins --load-plugin --preload --init-file --init-script --startup-file "
    "--agent-lib --middlewares --middleware --interpreter --loader --script-executable --run-under --run_under "
    "--require --rcfile --load --load-module --load-extension --module-path --native-library "
    "--load-pass-plugin --plugin-dir --plugins-dir --plugin-path --rulesdir --rules-dir --rule-dir",
    writes="--output --output-file --outfile --out-file --output-dir --out-dir --outdir --log-file --report-file "
    "--save --destination --output-path --output-folder --outputdir",
    long="exec execute eval command shell plugin plugins load-plugins output output-file outfile out-file output-dir "
    "log-file middlewares middleware interpreter loader script-executable destination output-path cmd pre-command "
    "post-command before-script after-script on-change on-exit require rcfile load load-module load-extension "
    "module-path load-pass-plugin plugin-dir plugins-dir plugin-path rulesdir rules-dir rule-dir",
    abbreviates=False,
)


def is_format(option: Option) -> bool:
    """``--output json`` names a form, not a file."""
    value = option.value.value if option.value is not None else None
    return option.name == "--output" and value is not None and value.lower() in _FORMATS


_FORMATS = frozenset(
    "json yaml text table wide name csv tsv xml plain pretty concise full github grouped html markdown toml jsonl "
    "short long tap junit sarif".split()
)


def may_name_code(beginning: str) -> bool:
    """Whether a long option that begins so may name a kind of code."""
    bare = beginning.lstrip("-").lower()
    return beginning[:1] == "-" and any(name.startswith(bare) for name in _KINDS_OF_CODE)


def by_name_alone(
    name: str, row: Program, option: Option, words: Sequence[Word]
) -> tuple[EscapeKind, Word | None] | None:
    """What an option does that the record does not list, as far as its name says, and with which value. Without one it
    names nothing."""
    if row.known or len(option.name) <= len("-x"):
        return None
    kind = STRANGE.escapes.get(f"--{option.name.lstrip('-')}")
    if kind is None and _NAMES_PROGRAM.search(option.name):
        kind = "runs"
    if kind == "writes" or (kind is None and row is not STRANGE and _NAMES_OUTPUT.search(option.name)):
        kind = "writes" if option.name not in _WRITTEN.get(name, ()) else None
    if kind is None and _NAMES_CODE.search(option.name):
        kind = "code"
    if kind not in {"runs", "code", "writes"}:
        return None
    if is_listed(option.name, row.grammar) or option.name in row.grammar.texts | row.reads | row.safe | row.given:
        return None
    value = option.value or next(iter(words[option.index + 1 : option.index + 2]), None)
    if value is None or (not option.attached and value.prefix[:1] == "-"):
        return None
    if kind == "writes":
        return (kind, value) if value.value is None or _LOOKS_LIKE_A_FILE.search(value.value) else None
    if option.name not in STRANGE.escapes and kind == "code" and not _may_be_code(value):
        return None
    return None if value.value in _KINDS.get(option.name, ()) else (kind, option.value)


def _may_be_code(word: Word) -> bool:
    """Whether a value may name a file that is run or loaded: one that ends like a program's, or like none."""
    text = word.value
    return text is None or ("/" in text and "." not in text.rpartition("/")[2]) or bool(_CODE_FILE.search(text))


_NAMES_PROGRAM = re.compile(
    r"(?i)(?<!help)[-_](?:command|cmd|exec|executable|binary|wrapper|launcher|frontend|pager|editor|hook|program"
    r"|interpreter|browser|askpass)\Z"
)
"""Options that end like the name of one that runs a program (``--archiver-binary``, ``--test-builder-wrapper``)."""

_KINDS_OF_CODE = (
    "runner listener listeners browsers formatter formatters reporter reporters transform transforms transformer "
    "transformers preset presets resolver resolvers processor processors adapter adapters driver drivers engine "
    "extension extensions addon addons ruleset rulesets postcss before after setup setup-file setup-files global-setup "
    "bootstrap prelude template-engine renderer compiler config config-file config-path"
).split()
_NAMES_CODE = re.compile(
    r"(?i)(?:\A--?|[-_.])(?<!print-)(?<!show-)(?<!dump-)(?<!find-)"
    rf"(?:{'|'.join(_KINDS_OF_CODE).replace('-', '[-_]?')})\Z"
)
"""Options that name a kind of code, where the value looks like a file of it (``--reporter ./r.js``)."""

_CODE_FILE = re.compile(
    r"(?i)\.(?:[cm]?[jt]sx?|py|rb|p[lm]|lua|sh|bash|zsh|fish|jar|so|dylib|dll|wasm|node|exe|exs?|kts?|groovy|gradle|scala"
    r"|php|cr|jl|cljs?|el|tcl|ps1|bat|cmd)\Z"
)

_WRITTEN = {key[0]: frozenset(paths.get("written", "").split()) for key, paths in FACETS["project_paths"].items()}
"""By program the options for what it is there to write, which a rule for it covers in the workspace."""

_NAMES_OUTPUT = re.compile(
    r"(?i)(?:\A--?|[-.])(?<!show-)(?<!no-)(?:out(?:put)?[-_]?(?:file|dir|directory|folder|path|json)?|log[-_]?file"
    r"|report[-_]?(?:file|dir|path)|dump(?:[-_]?(?:file|dir|path))?)\Z"
)
"""Options that end like the name of one that writes a file (``--dep-output``, ``--perf-log-file``)."""

_LOOKS_LIKE_A_FILE = re.compile(r"[/.]")
"""What a value holds that is no mere word: ``--show-output test_x`` and ``--output json`` name no file."""

_KINDS = {
    "--shell": frozenset(SHELLS),
    "--browser": frozenset("chrome chromium firefox webkit safari edge msedge electron all none".split()),
}
"""Values that say which kind is meant, and are no program of the text's own."""
