"""Pages for people: what emdeg found of a robot, as one HTML page and as LaTeX; Kane's equations to read."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.reports import robot_tables
    from emdeg.reports.kane import PARTS, Description, Part, describe
    from emdeg.reports.kane_pages import kane_data, kane_document
    from emdeg.reports.page import Report, report
    from emdeg.reports.published import Published, published_counts
    from emdeg.reports.robot_tables import PARAMETERS, number

on_demand(globals())
