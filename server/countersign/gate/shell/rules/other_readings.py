"""All the ways in which one command may be read beside the one that it is written in."""

from __future__ import annotations

from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.filled_words import with_filled_words
from countersign.gate.shell.rules.given_input import with_empty_input, with_given_words
from countersign.gate.shell.rules.options_from_variables import with_options_from_variables
from countersign.gate.shell.rules.options_in_front import with_subcommand_first, without_leading_dashes
from countersign.gate.shell.rules.scripts_on_input import with_scripts_on_input
from countersign.gate.shell.rules.spelled_out import spelled_out
from countersign.gate.shell.rules.start_folders import with_start_folders
from countersign.gate.shell.rules.valued_options import with_valued_options
from countersign.gate.shell.rules.whole_subcommands import with_whole_subcommands


def other_readings(analyzed: AnalyzedCommand, home: str, start: str | None) -> list[Step] | None:
    """Return the command as it may run as well: with the values of its variables, with another reading of its options
    and subcommand, and as what runs others runs them. None if there are too many to judge each.

    ``start`` is the folder that it runs in, None if that is not certain.
    """
    respelled = spelled_out(analyzed, home, start)
    filled, optional = with_filled_words(analyzed), with_options_from_variables(analyzed)
    spelled = [analyzed.step, *(respelled or ()), *(filled or ()), *(optional or ())]
    scripts = [each for step in spelled for each in with_scripts_on_input(step, analyzed.facts)]
    undashed = [each for step in spelled for each in without_leading_dashes(step)]
    spelled += undashed
    whole = [each for step in spelled for each in with_whole_subcommands(step)]
    spelled += whole
    turned = [each for step in spelled for each in with_subcommand_first(step)]
    valued = [with_valued_options(step) for step in spelled]
    given = (with_empty_input(analyzed), with_given_words(analyzed))
    made = (respelled, filled, optional, scripts, undashed, whole, turned)
    readings = (*made, *valued, with_start_folders(analyzed), *given)
    return None if None in readings else [step for found in readings for step in found or ()]
