from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# The arrays are NumPy's, or of the library of the queries where those lie on a GPU.

class Neighbors(NamedTuple):
    ids: Any
    distances2: Any

class Rows(NamedTuple):
    offsets: Any
    ids: Any
    distances2: Any

    def row(self, i: int) -> Any: ...
    def lists(self) -> list[Any]: ...
    def pairs(self) -> NDArray[np.int64]: ...
