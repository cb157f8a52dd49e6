"""The miniature engine with a wrong error."""

from small import install

install(globals(), "error")
