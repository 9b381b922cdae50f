"""The numbers of a model by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from margin._binding import ffi, lib
from margin.errors import text
from margin.views import DTYPES, borrowed


class Tensors(Mapping[str, np.ndarray]):
    """Read-only arrays over the model's own memory; docs/format.md says what each is."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def _tensor(self) -> Any:
        tensor = ffi.new("margin_tensor *")
        tensor.size = ffi.sizeof("margin_tensor")
        return tensor

    def __getitem__(self, name: str) -> np.ndarray:
        tensor = self._tensor()
        if not lib.margin_model_tensor_find(self._handle, name.encode(), tensor):
            raise KeyError(name)
        shape = tuple(tensor.shape[i] for i in range(tensor.rank))
        return borrowed(self._handle, tensor.values, shape, DTYPES[tensor.type])

    def __len__(self) -> int:
        return lib.margin_model_tensor_count(self._handle)

    def __iter__(self) -> Iterator[str]:
        tensor = self._tensor()
        for index in range(len(self)):
            if lib.margin_model_tensor(self._handle, index, tensor):
                yield text(tensor.name)

    def __repr__(self) -> str:
        return f"<{', '.join(f'{name} {array.shape}' for name, array in self.items())}>"
