"""The miniature engine with a wrong dtype."""

from small import install

install(globals(), "dtype")
