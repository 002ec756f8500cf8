"""A report on disk: the page, the LaTeX source and its figures, all of them or none."""

from __future__ import annotations

from pathlib import Path

from emdeg.codegen.store import may_replace, write_files
from emdeg.errors import RobotError
from emdeg.reports import html, latex
from emdeg.reports.page import Made
from emdeg.writing.latex import FOLDER, figures
from emdeg.writing.pdf import pdf

PAGE, SOURCE = "report.html", "report.tex"


def need_free(folder: Path, force: bool) -> None:
    """An error where the report could not be written: said before it is made."""
    if folder.exists() and not folder.is_dir():
        raise RobotError("it is no folder", file=str(folder))
    for name in (PAGE, SOURCE):
        may_replace(folder / name, force)


def write(made: Made, folder: Path, force: bool = False) -> list[Path]:
    """Write report.html, report.tex and figures/*.pdf into `folder`; their paths in this order."""
    files = {PAGE: html.write(made.report).encode(), SOURCE: latex.write(made.report).encode()}
    for figure in figures(made.report):
        files[f"{FOLDER}/{figure.name}.pdf"] = pdf(figure.drawing)
    return write_files(files, folder, force)
