"""The miniature engine with a wrong state."""

from small import install

install(globals(), "state")
