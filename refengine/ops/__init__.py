"""The operators: one module per operator or per table of alike ones. Importing the package registers them all."""

from __future__ import annotations

import importlib
import os

for _file in sorted(os.listdir(os.path.dirname(__file__))):
    if _file.endswith('.py') and _file[0] != '_':
        importlib.import_module(f'{__name__}.{_file[:-3]}')
