"""The miniature engine with a wrong crash."""

from small import install

install(globals(), "crash")
