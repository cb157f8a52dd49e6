"""Cannot be imported."""

print("words before the end", flush=True)
raise ImportError("a library is missing: libengine.so.1")
