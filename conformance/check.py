"""The checker handed to every case: each method observes one thing and fails with what was expected and what came.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from typing import List

import numpy as np

from conformance.tolerance import tolerance_for

#: Every failure made since the worker last cleared this list: an engine that swallows exceptions in its callbacks
#: would otherwise turn a failed check into a pass.
RAISED: List["CheckFailed"] = []


class CheckFailed(AssertionError):
    """An observation that contradicts the rule.

    doing: what was looked at;  expected, got: both sides as text;  tolerance: how close was asked, and why.
    """

    def __init__(self, doing, expected, got, tolerance=""):
        self.doing, self.expected, self.got, self.tolerance = doing, expected, got, tolerance
        text = "%s: expected %s, got %s" % (doing, expected, got)
        super(CheckFailed, self).__init__(text + (" (%s)" % tolerance if tolerance else ""))
        RAISED.append(self)


def text_of(value, limit=600):
    """Show a value on one line or a few, shortened in the middle if it is very long; never raises."""
    try:
        shown = repr(value.asnumpy()) if hasattr(value, "asnumpy") else repr(value)
    except Exception as error:  # noqa: BLE001 - an engine's repr may raise anything; the failure must still be shown
        shown = "<%s whose repr raises %s>" % (type(value).__name__, type(error).__name__)
    if len(shown) > limit:
        shown = "%s ... %s" % (shown[: limit // 2], shown[-limit // 2:])
    return shown


def to_numpy(value):
    """Turn an engine array, a sequence of them, or a plain value into a numpy array."""
    if hasattr(value, "asnumpy"):
        result = value.asnumpy()
        if not isinstance(result, np.ndarray):
            raise CheckFailed("asnumpy()", "a numpy.ndarray", type(result).__name__)
        return result
    if isinstance(value, (list, tuple)) and any(hasattr(item, "asnumpy") for item in value):
        return np.array([to_numpy(item) for item in value])
    return np.asarray(value)


class Check(object):
    """Observations for one case; ``count`` tells how many were made, since a case without one proves nothing."""

    def __init__(self, case_id="", engine=None):
        self.case_id = case_id
        self.count = 0
        self._engine = engine
        self._scratch = None

    # -- values ---------------------------------------------------------------------------------------------

    def equal(self, got, want, doing="value"):
        """Exactly equal: shape and every element (NaN equals NaN); plain Python values by ``==``, booleans by identity.

        Arrays are compared by value, whatever their dtype; use :meth:`dtype` for that. Where *want* is a number, a text
        or a container of such, *got* must be one too: an engine's object that equals everything is not enough.
        """
        self.count += 1
        if _is_arrayish(got) or _is_arrayish(want):
            self._compare_arrays(got, want, doing, 0.0, 0.0, "exact")
        elif type(got) is bool or type(want) is bool:
            if got is not want:
                raise CheckFailed(doing, text_of(want), text_of(got))
        elif not _plainly_equal(got, want):
            raise CheckFailed(doing, text_of(want), text_of(got))

    def close(self, got, want, doing="value", rtol=None, atol=None):
        """Equal in shape, and every element within the tolerance of the dtype of *got* (or ``rtol``/``atol``)."""
        self.count += 1
        default_rtol, default_atol, why = tolerance_for(to_numpy(got).dtype)
        if rtol is not None or atol is not None:
            why = "set by the case"
        rtol = default_rtol if rtol is None else rtol
        atol = default_atol if atol is None else atol
        self._compare_arrays(got, want, doing, rtol, atol, why)

    def _compare_arrays(self, got, want, doing, rtol, atol, why):
        left, right = to_numpy(got), to_numpy(want)
        tolerance = why if why == "exact" else "rtol %g, atol %g: %s" % (rtol, atol, why)
        if left.shape != right.shape:
            raise CheckFailed(doing, "shape %s = %s" % (right.shape, text_of(right)),
                              "shape %s = %s" % (left.shape, text_of(left)), tolerance)
        if left.dtype.kind in "fiub" and right.dtype.kind in "fiub":
            if rtol or atol:
                same = np.isclose(left.astype("float64"), right.astype("float64"), rtol, atol, equal_nan=True)
            else:
                same = (left == right) | ((left != left) & (right != right))
        else:
            same = np.asarray(left == right)
        if not np.all(same):
            where = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(~same)))
            at = " (first difference at %s)" % (where,) if left.ndim else ""
            raise CheckFailed(doing, text_of(right), text_of(left) + at, tolerance)

    def that(self, condition, doing, expected="true", got="false"):
        """A condition holds; *doing* says which. Prefer the other methods: they show both sides."""
        self.count += 1
        if not isinstance(condition, (bool, np.bool_)):
            raise CheckFailed(doing, "a bool", text_of(condition))
        if not condition:
            raise CheckFailed(doing, expected, got if isinstance(got, str) else text_of(got))

    def same(self, got, want, doing="object"):
        """The very same object."""
        self.count += 1
        if got is not want:
            raise CheckFailed(doing, "the very object %s" % text_of(want), text_of(got))

    def not_same(self, got, other, doing="object"):
        """Not the very same object."""
        self.count += 1
        if got is other:
            raise CheckFailed(doing, "another object than %s" % text_of(other), "the same object")

    def isinstance(self, got, kind, doing="type"):
        """An instance of a class or of one of a tuple of classes."""
        self.count += 1
        if not isinstance(got, kind):
            raise CheckFailed(doing, text_of(kind), "%s: %s" % (type(got), text_of(got)))

    def dtype(self, got, want, doing="dtype"):
        """The dtype of an array (or a dtype) has this name."""
        self.count += 1
        found = np.dtype(getattr(got, "dtype", got)).name
        if found != np.dtype(want).name:
            raise CheckFailed(doing, np.dtype(want).name, found)

    def shape(self, got, want, doing="shape"):
        """The shape of an array is this tuple."""
        self.count += 1
        if tuple(got.shape) != tuple(want):
            raise CheckFailed(doing, text_of(tuple(want)), text_of(tuple(got.shape)))

    def contains(self, text, *fragments, **options):
        """Every fragment occurs in a text (``doing=`` names the text)."""
        self.count += 1
        for fragment in fragments:
            if fragment not in text:
                raise CheckFailed(options.get("doing", "text"), "text containing %r" % fragment, text_of(text))

    # -- errors, warnings, output ---------------------------------------------------------------------------

    def raises(self, kind, *args, **kwargs):
        """An exception of *kind* (class or tuple of classes), its message containing the fragments.

        ``check.raises(ValueError, "fragment", function, arg)`` returns the exception; leading strings are
        fragments. Without a callable it is a context manager: ``with check.raises(ValueError, "fragment") as caught``,
        and ``caught.error`` is the exception afterwards.
        """
        fragments, rest = [], list(args)
        while rest and isinstance(rest[0], str):
            fragments.append(rest.pop(0))
        context = _Raises(self, kind, fragments)
        if not rest:
            return context
        function = rest.pop(0)
        with context:
            function(*rest, **kwargs)
        return context.error

    @contextlib.contextmanager
    def warns(self, kind, *fragments):
        """At least one warning of *kind* whose message contains the fragments is issued in the block."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield caught
        self.count += 1
        messages = ["%s: %s" % (item.category.__name__, item.message) for item in caught]
        for item in caught:
            if issubclass(item.category, kind) and all(part in str(item.message) for part in fragments):
                return
        raise CheckFailed("warnings", "%s containing %s" % (kind.__name__, list(fragments)), messages or "no warning")

    @contextlib.contextmanager
    def no_warning(self, kind=Warning):
        """No warning of *kind* is issued in the block."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        self.count += 1
        found = ["%s: %s" % (item.category.__name__, item.message) for item in caught
                 if issubclass(item.category, kind)]
        if found:
            raise CheckFailed("warnings", "none", text_of(found))

    @contextlib.contextmanager
    def printed(self):
        """Collect what the block prints to ``sys.stdout``: ``with check.printed() as out``, then ``out.getvalue()``."""
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            yield stream

    # -- surroundings ---------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def environment(self, **variables):
        """Set (or, with None, unset) environment variables for the block."""
        before = {name: os.environ.get(name) for name in variables}
        try:
            for name, value in variables.items():
                _set_variable(name, value)
            yield
        finally:
            for name, value in before.items():
                _set_variable(name, value)

    def path(self, name):
        """A path for a file of this name in a folder of the case's own, which is removed afterwards."""
        if self._scratch is None:
            self._scratch = tempfile.mkdtemp(prefix="conform-")
        return os.path.join(self._scratch, name)

    def random(self):
        """A ``numpy.random.RandomState`` seeded from the case's id."""
        return np.random.RandomState(sum(self.case_id.encode()) * 7919 % (2 ** 31))

    def python(self, code, environment=None, timeout=60):
        """Run *code* in a fresh interpreter where ``mx`` is this engine; return ``(exit status, stdout, stderr)``.

        A negative status is the number of the signal that ended it.
        """
        if self._engine is None:
            raise RuntimeError("check.python needs an engine; this checker was made without one")
        variables = dict(os.environ)
        for name, value in (environment or {}).items():
            if value is None:
                variables.pop(name, None)
            else:
                variables[name] = value
        done = subprocess.run([sys.executable, "-c", self._engine.prelude() + "\n" + code], env=variables,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, universal_newlines=True)
        return done.returncode, done.stdout, done.stderr

    def close_down(self):
        """Remove the scratch folder; called by the worker after the case."""
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = None


class _Raises(object):
    """The context manager behind :meth:`Check.raises`."""

    def __init__(self, check, kind, fragments):
        self.check, self.kind, self.fragments, self.error = check, kind, fragments, None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.check.count += 1
        names = self.kind.__name__ if isinstance(self.kind, type) else " or ".join(k.__name__ for k in self.kind)
        expected = names + (" with a message containing %s" % self.fragments if self.fragments else "")
        if error is None:
            raise CheckFailed("exception", expected, "no exception")
        if isinstance(error, CheckFailed):
            return False
        if not isinstance(error, self.kind):
            if not isinstance(error, Exception):
                return False
            raise CheckFailed("exception", expected, "%s: %s" % (type(error).__name__, text_of(str(error)))) from error
        for fragment in self.fragments:
            if fragment not in str(error):
                raise CheckFailed("message of the %s" % type(error).__name__, "text containing %r" % fragment,
                                  text_of(str(error))) from error
        self.error = error
        return True


def _plainly_equal(got, want):
    """``got == want``; for a plain *want* decided by plain types, not by a method of the engine's."""
    kind = type(got)
    if got is want:
        return True
    if want is None:
        return False
    if isinstance(want, str):
        return str.__eq__(want, got) is True
    if isinstance(want, bytes):
        return bytes.__eq__(want, got) is True
    if isinstance(want, (int, float, complex, np.generic)):
        return issubclass(kind, (int, float, complex, np.generic)) and bool(got == want)
    if isinstance(want, (tuple, list)):
        return (issubclass(kind, tuple if isinstance(want, tuple) else list) and len(got) == len(want)
                and all(_plainly_equal(left, right) for left, right in zip(got, want)))
    if isinstance(want, dict) and issubclass(kind, dict):
        return (len(got) == len(want)
                and all(key in got and _plainly_equal(got[key], value) for key, value in want.items()))
    return bool(got == want)


def _is_arrayish(value):
    if hasattr(value, "asnumpy") or isinstance(value, np.ndarray):
        return True
    return isinstance(value, (list, tuple)) and any(_is_arrayish(item) for item in value)


def _set_variable(name, value):
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
