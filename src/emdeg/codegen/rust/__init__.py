"""Rust: functions on slices that need nothing but `core`, sines and roots included."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.rust.printer import emit_rust, rust_crate

on_demand(globals())
