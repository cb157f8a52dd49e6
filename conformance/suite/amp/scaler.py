"""AMP-LS: the loss scaler itself, as the releases have it and with the explicit interface."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.amp._tools import Holder, amp, explicit, number, parameter, released

INF, NAN = float("inf"), float("nan")


@case("AMP-LS-003")
def scale_starts_where_it_is_told(mx, check):
    check.equal(explicit(mx).loss_scale, 65536.0, "default scale")
    check.isinstance(explicit(mx).loss_scale, float, "type of the default scale")
    scale = explicit(mx, scale_init=2 ** 10).loss_scale
    check.equal(scale, 1024.0, "scale with scale_init=2**10")
    check.isinstance(scale, float, "its type")


@case("AMP-LS-003")
def start_is_checked(mx, check):
    scaler = amp(mx).LossScaler
    check.raises(ValueError, "scale_init", scaler, scale_init=0)
    check.raises(ValueError, "scale_init", scaler, scale_init=INF)
    check.raises(TypeError, "init_scale", "scale_init", scaler, scale_init=8, init_scale=8)


@case("AMP-LS-004")
def scaled_loss_gives_scaled_gradients(mx, check):
    scaler = explicit(mx, scale_init=1024)
    x = kit.array(mx, [1.0, 2.0])
    x.attach_grad()
    with mx.autograd.record():
        scaled = scaler.scale((x * x).sum())
    scaled.backward()
    check.equal(number(scaled), 5 * 1024.0, "scaled loss")
    check.dtype(scaled, "float32")
    check.equal(x.grad, [2048, 4096], "gradient")


@case("AMP-LS-004")
def list_of_losses_gives_a_list(mx, check):
    scaled = explicit(mx, scale_init=1024).scale([kit.array(mx, [1.0]), kit.array(mx, [2.0])])
    check.isinstance(scaled, list, "result")
    check.equal(scaled, [[1024], [2048]], "scaled losses")


@case("AMP-LS-005", samples={
    "clipped": {"gradients": [(3.0, 4.0)], "clip": 1.0, "want": [[0.6, 0.8]]},
    "below_the_limit": {"gradients": [(0.3, 0.4)], "clip": 1.0, "want": [[0.3, 0.4]]},
    "not_clipped": {"gradients": [(3.0, 4.0)], "clip": None, "want": [[3.0, 4.0]]},
    "two_parameters": {"gradients": [(3.0,), (4.0,)], "clip": 1.0, "want": [[0.6], [0.8]]}})
def gradients_are_divided_and_clipped_together(mx, check, gradients, clip, want):
    scaler = explicit(mx, scale_init=1024)
    parameters = [parameter(mx, *[value * 1024 for value in values]) for values in gradients]
    result = scaler.unscale_and_clip(parameters, clip=clip)
    check.equal(result, True, "result")
    for made, wanted in zip(parameters, want):
        check.close(made.grad(), wanted, "gradient", rtol=1e-5)


@case("AMP-LS-005")
def parameters_come_in_a_dict(mx, check):
    made = parameter(mx, 3 * 1024.0, 4 * 1024.0)
    check.equal(explicit(mx, scale_init=1024).unscale_and_clip({"p": made}, clip=1.0), True, "result")
    check.close(made.grad(), [0.6, 0.8], "gradient", rtol=1e-5)


@case("AMP-LS-005")
def nothing_is_clipped_after_an_overflow(mx, check):
    bad, good = parameter(mx, INF, 1024.0), parameter(mx, 2048.0)
    check.equal(explicit(mx, scale_init=1024).unscale_and_clip([bad, good], clip=0.1), False, "result")
    check.equal(bad.grad(), [INF, 1], "gradient with an overflow")
    check.equal(good.grad(), [2], "gradient of the other parameter")


def _stepped(mx, scaler, gradients):
    """The scale after each iteration with one of these gradients."""
    scales = []
    for gradient in gradients:
        scaler.unscale_and_clip([parameter(mx, gradient)])
        scaler.update()
        scales.append(scaler.loss_scale)
    return scales


@case("AMP-LS-006")
def scale_halves_after_an_overflow(mx, check):
    scales = _stepped(mx, explicit(mx, scale_init=2.0 ** 16), [1.0, NAN, 1.0, INF])
    check.equal(scales, [65536.0, 32768.0, 32768.0, 16384.0], "scales")
    check.equal(_stepped(mx, explicit(mx, scale_init=1.0), [NAN]), [1.0], "scale that is 1 already")


@case("AMP-LS-006")
def scale_doubles_after_a_period(mx, check):
    scales = _stepped(mx, explicit(mx, scale_init=8.0, scale_period=2), [1.0, 1.0, 1.0, NAN, 1.0, NAN])
    check.equal(scales, [8.0, 16.0, 16.0, 8.0, 8.0, 4.0], "scales with a period of 2")
    check.equal(_stepped(mx, explicit(mx, scale_init=2.0 ** 24, scale_period=1), [1.0]), [2.0 ** 24],
                "scale that is 2**24 already")


@case("AMP-LS-006")
def update_needs_something_to_go_by(mx, check):
    check.raises(RuntimeError, "No inf checks were recorded prior to update", explicit(mx).update)


@case("AMP-LS-007")
def scale_is_read_only(mx, check):
    scaler = released(mx)
    check.equal(scaler.loss_scale, 65536.0, "scale")
    check.raises(AttributeError, "loss_scale", setattr, scaler, "loss_scale", 5)
    check.equal(scaler.loss_scale, 65536.0, "scale afterwards")


@case("AMP-LS-008")
def loop_skips_the_step_with_an_overflow(mx, check):
    w = kit.parameter(mx, "w", value=1.0, shape=(2,))
    trainer = kit.trainer(mx, {"w": w} if kit.numpy_mode(mx) else [w], options={"learning_rate": 0.1})
    scaler = explicit(mx, scale_init=2 ** 12)
    finite, weights = [], []
    for factor in (3.0, INF, 3.0):
        with mx.autograd.record():
            loss = scaler.scale((w.data() * factor).sum())
        loss.backward()
        finite.append(scaler.unscale_and_clip([w], clip=100.0))
        trainer.step(1)
        scaler.update()
        weights.append(kit.value(w))
    check.equal(finite, [True, False, True], "results of unscale_and_clip")
    check.close(weights, [0.7, 0.7, 0.4], "weights", rtol=1e-6)
    check.equal(scaler.loss_scale, 2048.0, "scale")


@case("AMP-LS-010")
def change_takes_effect_at_the_next_check(mx, check):
    scaler, good, bad = released(mx), Holder(mx, 1.0, 1.0), Holder(mx, 1.0, INF)
    seen = [(scaler.has_overflow(given), scaler.loss_scale) for given in ([good], [good, bad], [good])]
    check.equal(seen, [(False, 65536.0), (True, 65536.0), (False, 32768.0)], "overflow and scale after three checks")
    check.equal(scaler.has_overflow([Holder(mx, NAN)]), True, "overflow of a NaN")


@case("AMP-LS-010")
def scale_of_the_releases_doubles_after_a_period(mx, check):
    scaler, good = released(mx), Holder(mx, 1.0)
    check.equal(scaler._scale_seq_len, 2000, "period")
    scaler._scale_seq_len = 3
    scales = []
    for _ in range(5):
        scaler.has_overflow([good])
        scales.append(scaler.loss_scale)
    check.equal(scales, [65536.0] * 3 + [131072.0] * 2, "scales with a period of 3")


@case("AMP-LS-010")
def scale_of_the_releases_is_bounded_above_only(mx, check):
    scaler, good, bad = released(mx), Holder(mx, 1.0), Holder(mx, INF)
    scaler._scale_seq_len = 1
    for _ in range(12):
        scaler.has_overflow([good])
    check.equal(scaler.loss_scale, 2.0 ** 24, "scale after twelve good checks")
    scaler = released(mx)
    for _ in range(21):
        scaler.has_overflow([bad])
    check.equal(scaler.loss_scale, 2.0 ** -4, "scale after 21 overflows")


@case("AMP-LS-011")
def parameters_without_gradient_are_skipped(mx, check):
    scaler, none = released(mx), Holder(mx)
    check.equal(scaler.has_overflow([none, Holder(mx, 1.0, 1.0)]), False, "overflow of a finite gradient")
    check.equal(scaler.has_overflow([none, Holder(mx, 1.0, INF)]), True, "overflow of an infinite gradient")
    check.raises(IndexError, scaler.has_overflow, [none])
    check.raises(IndexError, scaler.has_overflow, [])
