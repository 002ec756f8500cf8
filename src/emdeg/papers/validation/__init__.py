"""Published models validated: their file, what its expressions mean, their errors, certified over the workspace."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.papers.validation.comparison import judge, judged_workspace
    from emdeg.papers.validation.file import PrintedModel, read_printed
    from emdeg.papers.validation.verdict import Judgement, Verdict

on_demand(globals())
