"""The miniature engine with a wrong hang."""

from small import install

install(globals(), "hang")
