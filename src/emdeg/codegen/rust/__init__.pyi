from .printer import emit_rust as emit_rust
from .printer import rust_crate as rust_crate
