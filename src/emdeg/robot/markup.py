"""XML from strangers, read into plain elements that remember their lines.

No document type, no entities, nothing external; depth and number of elements are bounded while reading.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO
from xml.sax import ContentHandler, SAXParseException
from xml.sax.xmlreader import InputSource

import defusedxml
import defusedxml.sax

from emdeg.errors import RobotError, TooLarge
from emdeg.robot.checks import BUDGET, Budget
from emdeg.robot.numbers import clipped

LONGEST_NAME = 200


@dataclass(slots=True)
class Element:
    """One element: tag, attributes, children, the text directly inside it, and where it starts."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]

    def only(self, tag: str) -> Element | None:
        """The child called `tag`, or None; RobotError if there are several."""
        found = self.all(tag)
        if len(found) > 1:
            raise RobotError(f"<{self.tag}> has {len(found)} <{tag}> elements; one is allowed", line=found[1].line)
        return found[0] if found else None

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in the document's order."""
        stack: list[Element] = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def need(self, attribute: str) -> str:
        """The attribute's value; RobotError if it is missing."""
        if attribute not in self.attributes:
            raise RobotError(f"<{self.tag}> has no {attribute!r} attribute", line=self.line)
        return self.attributes[attribute]

    def need_name(self) -> str:
        """The attribute `name`, neither empty nor endless."""
        name = self.need("name")
        if not name.strip():
            raise RobotError(f"<{self.tag}> has an empty name", line=self.line)
        if len(name) > LONGEST_NAME:
            raise RobotError(
                f"<{self.tag}> has a name of {len(name)} characters; {LONGEST_NAME} are allowed",
                line=self.line,
            )
        return name


def parse_xml(text: str, budget: Budget = BUDGET) -> Element:
    """The document's root element; RobotError with the line where the text is not well-formed XML."""
    if len(text) > budget.bytes:
        raise TooLarge(f"the file has {len(text)} characters; the budget is {budget.bytes}")
    source = InputSource()
    source.setCharacterStream(StringIO(text))
    builder = _Builder(budget)
    parser = defusedxml.sax.make_parser()
    parser.forbid_dtd = True
    parser.setContentHandler(builder)
    try:
        parser.parse(source)
    except defusedxml.DTDForbidden:
        raise RobotError("it declares a document type (DTD), which is refused", line=builder.line) from None
    except defusedxml.DefusedXmlException:
        raise RobotError("it declares entities, which are refused", line=builder.line) from None
    except SAXParseException as problem:
        raise RobotError(f"not well-formed XML: {problem.getMessage()}", line=problem.getLineNumber()) from None
    except UnicodeError:
        raise RobotError("the text holds characters that are not Unicode") from None
    if builder.root is None:
        raise RobotError("the file is empty: no XML element in it")
    return builder.root


class _Builder(ContentHandler):
    def __init__(self, budget: Budget) -> None:
        super().__init__()
        self.root: Element | None = None
        self._open: list[Element] = []
        self._budget = budget
        self._count = 0

    @property
    def line(self) -> int | None:
        return self._locator.getLineNumber() if self._locator is not None else None  # type: ignore[attr-defined]

    def startElement(self, name, attrs) -> None:
        self._count += 1
        if self._count > self._budget.elements:
            raise TooLarge(f"it has more than {self._budget.elements} elements, the budget", line=self.line)
        if len(self._open) >= self._budget.depth:
            raise TooLarge(f"its elements nest deeper than {self._budget.depth}, the budget", line=self.line)
        element = Element(clipped(name), dict(attrs.items()), self.line or 0)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def endElement(self, name) -> None:
        self._open.pop()

    def characters(self, content) -> None:
        if self._open and len(self._open[-1].text) < 10_000:
            self._open[-1].text += content
