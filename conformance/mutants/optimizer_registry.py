"""Mutants of the registry, the counters, the multipliers and the updater."""

import warnings

from conformance.mutants import mutant, wrap


@mutant("OPT-REG-002")
def register_overrides_silently(mx):
    def make(register):
        def broken(klass):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return register(klass)
        return broken

    original = mx.optimizer.Optimizer.register
    wrap(mx.optimizer.Optimizer, "register", make)
    mx.optimizer.register = make(original)


@mutant("OPT-REG-003")
def only_built_in_optimizers_are_taken(mx):
    """A trainer refuses an optimizer whose class is defined elsewhere."""
    package = mx.__name__.split(".")[0]

    def make(init):
        def broken(self, params, optimizer, *args, **kwargs):
            own = isinstance(optimizer, mx.optimizer.Optimizer)
            if own and type(optimizer).__module__.split(".")[0] != package:
                raise TypeError("unknown optimizer %r" % type(optimizer))
            init(self, params, optimizer, *args, **kwargs)
        return broken

    wrap(mx.gluon.Trainer, "__init__", make)


@mutant("OPT-REG-004")
def base_update_does_nothing(mx):
    def make(update):
        def broken(self, index, weight, grad, state):
            if type(self) is not mx.optimizer.Optimizer:
                update(self, index, weight, grad, state)
        return broken

    wrap(mx.optimizer.Optimizer, "update", make)


@mutant("OPT-REG-007")
def pickle_keeps_the_parameters(mx):
    """The loaded optimizer has multipliers of its own instead of an empty param_dict."""

    def make(setstate):
        def broken(self, state):
            setstate(self, state)
            self.param_dict = {0: None}
        return broken

    wrap(mx.optimizer.Optimizer, "__setstate__", make)


@mutant("OPT-COUNT-001")
def last_counter_is_num_update(mx):
    """num_update is the counter of the index updated last, not the largest of all."""

    def make(count):
        def broken(self, index):
            count(self, index)
            last = index[-1] if isinstance(index, (list, tuple)) else index
            self.num_update = self._index_update_count[last]
        return broken

    wrap(mx.optimizer.Optimizer, "_update_count", make)


@mutant("OPT-COUNT-002")
def devices_share_their_counters(mx):
    for name in ("_set_current_context", "_set_current_device"):  # one method under the name of either release
        if hasattr(mx.optimizer.Optimizer, name):
            wrap(mx.optimizer.Optimizer, name, lambda select: lambda self, device: select(self, 0))


@mutant("OPT-COUNT-004", "LRSCHED-TRAIN-001")
def rate_is_looked_up_before_the_count(mx):
    """The k-th update asks the scheduler for k - 1."""

    def make(rates):
        def broken(self, indices):
            scheduler = self.lr_scheduler
            if scheduler is None:
                return rates(self, indices)
            self.lr_scheduler = lambda count: scheduler(count - 1)
            try:
                return rates(self, indices)
            finally:
                self.lr_scheduler = scheduler
        return broken

    wrap(mx.optimizer.Optimizer, "_get_lrs", make)


@mutant("OPT-MULT-001")
def multiplier_of_the_index_beats_the_parameter(mx):
    def make(set_lr_mult):
        def broken(self, multipliers):
            self.param_dict = {key: value for key, value in self.param_dict.items() if key not in multipliers}
            set_lr_mult(self, multipliers)
        return broken

    wrap(mx.optimizer.Optimizer, "set_lr_mult", make)


@mutant("OPT-UPDATER-001")
def all_indices_share_one_state(mx):
    """The first state that was made serves every index that is updated alone with a weight of the same shape."""

    def make(call):
        def broken(self, index, grad, weight):
            alone = not isinstance(index, (list, tuple))
            if alone and index not in self.states and self.states:
                other = next(iter(self.states.values()))
                if getattr(other, "shape", None) == weight.shape:
                    self.states[index] = other
                    self.states_synced[index] = True
            call(self, index, grad, weight)
        return broken

    wrap(mx.optimizer.Updater, "__call__", make)


@mutant("OPT-UPDATER-002")
def only_the_first_of_a_list_is_updated(mx):
    def make(call):
        def broken(self, index, grad, weight):
            if isinstance(index, list) and index == [5, 7]:
                index, grad, weight = index[:1], grad[:1], weight[:1]
            call(self, index, grad, weight)
        return broken

    wrap(mx.optimizer.Updater, "__call__", make)


@mutant("OPT-UPDATER-003")
def states_always_come_with_the_optimizer(mx):
    wrap(mx.optimizer.Updater, "get_states", lambda get: lambda self, dump_optimizer=False: get(self, True))


@mutant("OPT-UPDATER-004")
def loading_keeps_the_optimizer(mx):
    def make(set_states):
        def broken(self, states):
            optimizer = self.optimizer
            set_states(self, states)
            self.optimizer = optimizer
        return broken

    wrap(mx.optimizer.Updater, "set_states", make)


@mutant("OPT-UPDATER-004")
def loaded_states_count_as_synced(mx):
    def make(set_states):
        def broken(self, states):
            set_states(self, states)
            self.states_synced = dict.fromkeys(self.states, True)
        return broken

    wrap(mx.optimizer.Updater, "set_states", make)


@mutant("LRSCHED-TRAIN-002")
def schedule_is_not_saved(mx):
    """A loaded optimizer has lost its scheduler."""

    def make(setstate):
        def broken(self, state):
            setstate(self, state)
            self.lr_scheduler = None
        return broken

    wrap(mx.optimizer.Optimizer, "__setstate__", make)
