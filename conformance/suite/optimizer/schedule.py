"""OPT-COMMON-024 to -028, LRSCHED-TRAIN, LRSCHED-DOC: schedulers together with optimizers and trainers."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.optimizer import names

NOTICE = "learning rate from ``lr_scheduler`` has been overwritten by ``learning_rate`` in optimizer."


def factor(mx, base, step=100):
    return mx.lr_scheduler.FactorScheduler(step, 0.5, base_lr=base)


@case("OPT-COMMON-024")
def no_scheduler_by_default(mx, check):
    for name in names.registered(mx, check):
        check.equal(mx.optimizer.create(name).lr_scheduler, None, "default lr_scheduler of %s" % name)


@case("OPT-COMMON-024")
def given_rate_overwrites_the_base(mx, check):
    scheduler = factor(mx, 0.5)
    with check.printed() as out:
        made = mx.optimizer.create("sgd", learning_rate=0.25, lr_scheduler=scheduler)
    check.equal(scheduler.base_lr, 0.25, "base_lr of the scheduler")
    check.equal(made.learning_rate, 0.25, "learning_rate of the optimizer")
    check.contains(out.getvalue(), NOTICE, doing="standard output")


@case("OPT-COMMON-024")
def equal_rates_say_nothing(mx, check):
    scheduler = factor(mx, 0.5)
    with check.printed() as out:
        made = mx.optimizer.create("sgd", learning_rate=0.5, lr_scheduler=scheduler)
    check.equal(scheduler.base_lr, 0.5, "base_lr of the scheduler")
    check.equal(made.learning_rate, 0.5, "learning_rate of the optimizer")
    check.equal(out.getvalue(), "", "standard output")


@case("OPT-COMMON-025", samples=names.each(names=names.ALL))
def scheduler_alone_keeps_its_rate(mx, check, name):
    scheduler = factor(mx, 0.5)
    made = mx.optimizer.create(name, lr_scheduler=scheduler)
    check.equal(made.learning_rate, 0.5, "learning_rate of %s" % name)
    check.equal(scheduler.base_lr, 0.5, "base_lr of the scheduler")


@case("OPT-COMMON-025", samples=names.each(names=("sgd", "adam")))
def scheduler_without_a_rate_keeps_its_rate(mx, check, name):
    made = mx.optimizer.create(name, lr_scheduler=factor(mx, 0.5), learning_rate=None)
    check.equal(made.learning_rate, 0.5, "learning_rate of %s made with learning_rate=None" % name)


@case("OPT-COMMON-026", samples={
    "poly": {"make": lambda mx: mx.lr_scheduler.PolyScheduler(10, base_lr=0.5), "wanted": [0.405]},
    "cosine": {"make": lambda mx: mx.lr_scheduler.CosineScheduler(10, base_lr=0.5), "wanted": [0.487764]},
    "warmup": {"make": lambda mx: mx.lr_scheduler.FactorScheduler(100, 0.5, base_lr=0.5, warmup_steps=5),
               "wanted": [0.1, 0.2, 0.3, 0.4, 0.25, 0.25]}})
def schedule_ignores_the_new_base(mx, check, make, wanted):
    scheduler = make(mx)
    mx.optimizer.create("sgd", learning_rate=0.25, lr_scheduler=scheduler)
    check.equal(scheduler.base_lr, 0.25, "base_lr of the scheduler")
    check.close([scheduler(n + 1) for n in range(len(wanted))], wanted, "rates from the first update on", rtol=1e-5)


@case("OPT-COMMON-027")
def rate_is_that_of_the_schedule(mx, check):
    made = mx.optimizer.create("sgd", learning_rate=1.0, lr_scheduler=factor(mx, 1.0, step=2))
    update, weight = mx.optimizer.get_updater(made), kit.array(mx, [0.0])
    seen = [made.learning_rate]
    for _ in range(6):
        update(0, kit.array(mx, [1.0]), weight)
        seen.append(made.learning_rate)
    check.equal(seen, [1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25], "learning_rate after 0 to 6 updates")


@case("OPT-COMMON-027")
def rate_asks_for_num_update(mx, check):
    made = mx.optimizer.create("sgd", learning_rate=None, begin_num_update=7, lr_scheduler=lambda count: 100.0 + count)
    check.equal(made.learning_rate, 107.0, "learning_rate at num_update 7")
    made.num_update = 30
    check.equal(made.learning_rate, 130.0, "learning_rate at num_update 30")


@case("OPT-COMMON-028")
def setting_the_rate_of_a_schedule(mx, check):
    made = mx.optimizer.create("sgd", learning_rate=0.5, lr_scheduler=factor(mx, 0.5))
    check.raises(UserWarning, "LRScheduler of the optimizer has already been defined", made.set_learning_rate, 0.1)
    check.equal(made.learning_rate, 0.5, "learning_rate after the error")


@case("OPT-COMMON-028")
def setting_the_rate_without_a_schedule(mx, check):
    made = mx.optimizer.create("sgd", learning_rate=0.5)
    made.set_learning_rate(0.125)
    check.equal(made.learning_rate, 0.125, "learning_rate that was set")


@case("LRSCHED-TRAIN-001", samples={"one_device": {"devices": 1, "options": {}},
                                    "on_store": {"devices": 2, "options": {"update_on_kvstore": True}},
                                    "locally": {"devices": 2, "options": {"update_on_kvstore": False}}})
def first_update_is_number_one(mx, check, devices, options):
    asked = []

    class Noting(mx.lr_scheduler.LRScheduler):
        def __call__(self, num_update):
            asked.append(num_update)
            return 10.0 ** -num_update

    x = kit.parameter(mx, ctx=kit.devices(mx, devices))
    trainer = kit.trainer(mx, [x], "sgd", {"learning_rate": 0.01, "lr_scheduler": Noting(base_lr=0.01)}, **options)
    seen = []
    for _ in range(2):
        kit.backward(mx, (x, 1.0))
        trainer.step(devices)
        seen.append(kit.value(x))
    check.equal(sorted(set(asked)), [1, 2], "numbers that the scheduler was asked for in two steps")
    check.close(seen, [-0.1, -0.11], "weight after each step", rtol=1e-6)


@case("LRSCHED-TRAIN-002", samples={"one_device": {"devices": 1}, "two_devices": {"devices": 2}})
def schedule_goes_on_after_loading(mx, check, devices):
    x = kit.parameter(mx, ctx=kit.devices(mx, devices))
    options = {"learning_rate": 1.0, "lr_scheduler": factor(mx, 1.0, step=2)}
    trainer = kit.trainer(mx, [x], "sgd", options)
    for _ in range(5):
        kit.backward(mx, (x, 1.0))
        trainer.step(devices)
    path = check.path("states")
    trainer.save_states(path)
    fresh = kit.trainer(mx, [kit.parameter(mx, ctx=kit.devices(mx, devices))], "sgd", {"learning_rate": 7.0})
    check.equal(fresh.learning_rate, 7.0, "rate before loading")
    fresh.load_states(path)
    check.equal(fresh.learning_rate, 0.25, "rate after loading the states of five steps")
    check.equal(fresh.optimizer.num_update, 5, "num_update after loading")


@case("LRSCHED-TRAIN-002")
def loaded_schedule_is_followed(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], "sgd", {"learning_rate": 1.0, "lr_scheduler": factor(mx, 1.0, step=2)})
    for _ in range(5):
        kit.backward(mx, (x, 1.0))
        trainer.step(1)
    path = check.path("states")
    trainer.save_states(path)
    y = kit.parameter(mx)
    fresh = kit.trainer(mx, [y])
    fresh.load_states(path)
    seen = []
    for _ in range(3):
        kit.backward(mx, (y, 1.0))
        fresh.step(1)
        seen.append(kit.value(y))
    check.equal(seen, [-0.25, -0.375, -0.5], "weight after the updates 6, 7 and 8, with rates .25, .125, .125")


@case("LRSCHED-DOC-001")
def rates_set_by_hand(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x])
    seen = []
    for rate in (1.0, 0.5, 0.25):
        trainer.set_learning_rate(rate)
        kit.backward(mx, (x, 1.0))
        trainer.step(1)
        seen.append(kit.value(x))
    check.equal(seen, [-1.0, -1.5, -1.75], "weight after each step")
