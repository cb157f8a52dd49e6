"""The miniature engine with a wrong value."""

from small import install

install(globals(), "value")
