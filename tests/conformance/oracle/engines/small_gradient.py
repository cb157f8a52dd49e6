"""The miniature engine with a wrong gradient."""

from small import install

install(globals(), "gradient")
