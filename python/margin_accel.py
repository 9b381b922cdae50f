"""MARGIN_ACCEL: what margin_accel.pth loads whenever Python starts. It waits for scikit-learn: most processes never
import it, and where a line of a .pth file is run, not all folders with packages are on the path yet."""

from __future__ import annotations

import os
import sys
from typing import Any


class _Waiting:
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Finds nothing, but starts margin.accel before scikit-learn is found."""
        if name != "sklearn":
            return
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        if os.environ.get("MARGIN_ACCEL", "0") not in ("", "0"):  # uninstall() takes it away
            from margin import accel

            accel.start()


sys.meta_path.insert(0, _Waiting())  # type: ignore[arg-type]
