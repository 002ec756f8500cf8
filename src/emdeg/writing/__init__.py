"""How things are written down: documents, formulas, notebook display, files that are whole."""
