"""Pages for people: what emdeg found of a robot, as one HTML page and as LaTeX; Kane's equations to read."""

from emdeg.reports.kane import Description, describe
from emdeg.reports.kane_pages import kane_data, kane_document
from emdeg.reports.page import Report, report

__all__ = ["Description", "Report", "describe", "kane_data", "kane_document", "report"]
