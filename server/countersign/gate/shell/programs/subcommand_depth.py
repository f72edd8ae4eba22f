"""How many words behind a program's name say what it does: the width of a rule for "always" (facet ``prefix``).

A rule that ends before these words would let the program do something else than was seen, so whatever may stand in
front of them or between them (options, with the value that some take) belongs to the rule as well.
"""

from __future__ import annotations

from collections.abc import Mapping

from countersign.gate.shell.programs.tables import Key, field_of


def _programs(field: str) -> frozenset[str]:
    return frozenset(key[0] for key in field_of("prefix", field))


def _options(field: str) -> Mapping[str, frozenset[str]]:
    return {key[0]: frozenset(options.split()) for key, options in field_of("prefix", field).items()}


DEPTH: Mapping[str, int] = {key[0]: words for key, words in field_of("prefix", "words").items()}
"""How many words, by the program's base name. 1 is the commonest: the first word is the subcommand. A program that is
in no table at all says it with its first word, if that looks so."""

TILL_VERB = _programs("till_verb")
"""Programs whose groups nest: the words up to the first verb say what they do."""

EITHER = _programs("maybe_subcommand")
"""Programs of the tables that may be called with a subcommand or without one."""

PLAIN = _programs("no_subcommand")
"""Programs beside those of the tables that have no subcommands."""

TARGETS = _programs("default_target")
"""Programs that are called without a target as a matter of course, so that all of them may be meant."""

MANY = _programs("several_targets")
"""Programs that take several targets: all of them say what is done."""

PLUGIN_GOALS = _programs("plugin_goals")
"""Programs of these whose targets with a colon are goals of plug-ins."""

GROUPS: frozenset[Key] = frozenset(
    (*key, *group.split()) for key, groups in field_of("prefix", "groups").items() for group in groups.split(",")
)
"""Words behind which another one is needed to say what is done."""

VERBS = frozenset(
    """
abort add apply approve archive attach build bump cancel change check clean clear clone close commit config configure
copy cp create deactivate delete deploy deprecate describe destroy detach diff dir disable down downgrade download drain
drop dump edit enable end exec export fetch fix flush generate get import info init inspect install invoke join kill
label leave link list load lock login logout logs ls merge migrate mv new open pause ping plan pop prune publish pull
purge push read rebuild refresh register release reload remove rename reopen repair replace reset resolve restart
restore resume retry revert revoke rm roll rollback rotate run save scale search seed send serve set setup show sign
squash start stat status stop submit subscribe suspend switch sync tail terminate test trigger truncate trust
uninstall unlink unlock unpublish unregister unset up update upgrade upload use validate verify view wait watch wipe
write
""".split()
)
"""Words that say what is done, alone or before a dash (``get-credentials``)."""

ONLY_EXACT: frozenset[Key] = frozenset(field_of("prefix", "exact"))
"""Commands whose other words say what is hit, sent, or run: a person would not allow them all for having seen one."""

SAYING: Mapping[str, tuple[str, ...]] = {
    key[0]: tuple(options.split()) for key, options in field_of("prefix", "subcommand_options").items()
}
"""Options that say with their value what is done, as a subcommand does."""

VALUED = _options("valued")
"""Options that take the next word and may stand in front of what says what is done, beside those in the tables."""

FLAGS = _options("flags")
"""Options of these places that take no word, beside those in the tables."""

ALL_FLAGS = frozenset("-q -v -vv -vvv --quiet --verbose --silent --debug --yes -y --dry-run --offline".split())
"""Options that take no word wherever they are known at all."""

HOLD_THEIR_VALUE = _programs("attached_definitions")
"""Programs of which ``-D…``, ``-P…`` and ``-X…`` hold in one word all that they say."""
