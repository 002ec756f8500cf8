"""Pages for people: what emdeg found of a robot, as one HTML page and as LaTeX."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.reports import robot_tables
    from emdeg.reports.closed_loops import reach
    from emdeg.reports.code_part import module
    from emdeg.reports.equations_part import EquationsFound, equations, slider_levels
    from emdeg.reports.html import HtmlReportWriter, asset
    from emdeg.reports.identification_page import identified_document, identified_page
    from emdeg.reports.items import ShadedEntries, ShadedEntry, ShadedTerm
    from emdeg.reports.page import Report, report
    from emdeg.reports.published import Published, published_counts
    from emdeg.reports.robot_tables import PARAMETERS, number
    from emdeg.reports.scene import scene as robot_scene
    from emdeg.reports.subject import Subject
    from emdeg.reports.tradeoff import MOST_TERMS
    from emdeg.reports.tradeoff import tradeoff as thresholds

on_demand(globals())
