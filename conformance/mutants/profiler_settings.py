"""Mutants of PROF-CONFIG, PROF-STATE and PROF-OP: settings, states, and what is recorded."""

from conformance.mutants import mutant, wrap


def function(mx, name, body):
    """Replace a function of the profiler by ``body(original, *arguments)``."""
    wrap(mx.profiler, name, lambda original: lambda *args, **kwargs: body(original, *args, **kwargs))


@mutant("PROF-CONFIG-001")
def unknown_settings_are_ignored(mx):
    def body(original, **settings):
        settings.pop("foo", None)
        return original(**settings)

    function(mx, "set_config", body)


@mutant("PROF-CONFIG-002")
def memory_is_not_profiled_by_default(mx):
    def body(original, **settings):
        if settings == {"aggregate_stats": True}:
            settings["profile_memory"] = False
        return original(**settings)

    function(mx, "set_config", body)


@mutant("PROF-CONFIG-003")
def kinds_cannot_be_switched_off(mx):
    def body(original, **settings):
        return original(**{name: value for name, value in settings.items()
                           if value is not False or not name.startswith("profile_")})

    function(mx, "set_config", body)


@mutant("PROF-STATE-001")
def unknown_state_is_ignored(mx):
    function(mx, "set_state", lambda original, state="stop", *args, **kwargs:
             None if state == "foo" else original(state, *args, **kwargs))


@mutant("PROF-STATE-002")
def second_run_forgets_the_first(mx):
    """A run from the state stop clears the statistics, if something is in them."""
    running = [False]

    def body(original, state="stop", *args, **kwargs):
        if state == "run" and not running[0] and "dot" in mx.profiler.dumps():
            mx.profiler.dumps(reset=True)
        result = original(state, *args, **kwargs)
        running[0] = state == "run"
        return result

    function(mx, "set_state", body)


@mutant("PROF-STATE-003")
def pause_does_nothing(mx):
    function(mx, "pause", lambda original, *args, **kwargs: None)


@mutant("PROF-STATE-004")
def servers_are_silently_ignored(mx):
    function(mx, "set_state", lambda original, state="stop", profile_process="worker":
             None if profile_process == "server" else original(state, profile_process))


@mutant("PROF-OP-001")
def static_graph_is_one_event(mx):
    """While a graph with a static plan runs, the profiler pauses."""
    static = []

    def hybridize(original):
        def changed(self, active=True, **flags):
            if flags.get("static_alloc"):
                static.append(id(self))
            return original(self, active, **flags)
        return changed

    def call(original):
        def changed(self, *inputs, **options):
            if id(self) not in static:
                return original(self, *inputs, **options)
            mx.nd.waitall()
            mx.profiler.pause()
            result = original(self, *inputs, **options)
            mx.nd.waitall()
            mx.profiler.resume()
            return result
        return changed

    wrap(mx.gluon.HybridBlock, "hybridize", hybridize)
    wrap(mx.gluon.HybridBlock, "__call__", call)
