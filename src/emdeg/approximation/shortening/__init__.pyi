from .search import ProgramSearch as ProgramSearch
from .search import SearchTuning as SearchTuning
