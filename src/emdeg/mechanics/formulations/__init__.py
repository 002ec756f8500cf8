"""The formulations of mechanics, one a file, over any scalar."""
