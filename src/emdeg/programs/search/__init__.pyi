from .hastening import hastened as hastened
from .optimise import tidied as tidied
from .resubstitute import Resubstitution as Resubstitution
