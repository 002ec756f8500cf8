"""`emdeg studio`: the live page of a robot, on this machine."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from emdeg.cli.common import Json, UsageError, print_json, say
from emdeg.robot import library_names


def studio(
    robot: Annotated[
        str | None, typer.Argument(metavar="[ROBOT]", help="A library robot's name, or a file of this folder.")
    ] = None,
    port: Annotated[int, typer.Option(metavar="P", help="The port; 0 takes any that is free.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, open nothing.")] = False,
    json: Json = False,
) -> None:
    """Start a local page where the robot, its equations, its code and its motion are one thing.

    Drag a joint and see which terms matter; change a length and see every formula follow. The page is served to this
    machine alone; its address has a token, without which it answers nothing. Files are read from and saved in the
    working directory only. Ctrl-C ends it.

    Examples:

      emdeg studio puma560

      emdeg studio my_arm.urdf --port 8123 --no-browser
    """
    if not 0 <= port <= 65535:
        raise UsageError(f"--port must lie between 0 and 65535; got {port}")
    # The server takes as long to import as other commands take to run.
    from emdeg.studio import Address, StudioFolder, serve

    if robot is not None and robot not in library_names():
        StudioFolder.here().read(robot)  # what is wrong is said before a page is

    def ready(address: Address) -> None:
        if json:
            print_json({"url": address.url, "port": address.port})
        say(f"the studio is at {address.url} (Ctrl-C ends it)")
        if not no_browser:
            webbrowser.open(address.url)

    serve(robot, port, ready=ready)
