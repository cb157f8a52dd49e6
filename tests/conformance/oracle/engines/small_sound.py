"""The miniature engine as it should be."""

from small import install

install(globals(), None)
