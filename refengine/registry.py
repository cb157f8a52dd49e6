"""Registries of classes by name: the base of the initializer, metric and optimizer registries."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

_registries: dict[type, dict[str, type]] = {}


def get_registry(base_class: type) -> dict[str, type]:
    """A copy of the registry of ``base_class``: lower-case name to class."""
    return dict(_registries.setdefault(base_class, {}))


def get_register_func(base_class: type, nickname: str) -> Callable[..., type]:
    """A function that registers subclasses of ``base_class`` under their lower-case name.

    Registering another class under a name that is taken warns and replaces it.

    >>> class Shape: pass
    >>> register = get_register_func(Shape, 'shape')
    >>> @register
    ... class Circle(Shape): pass
    >>> get_registry(Shape)['circle'] is Circle
    True
    """
    registry = _registries.setdefault(base_class, {})

    def register(klass: type, name: str | None = None) -> type:
        fits = isinstance(klass, type) and issubclass(klass, base_class)
        assert fits, f'Can only register subclass of {base_class.__name__}'
        key = (klass.__name__ if name is None else name).lower()
        present = registry.get(key)
        if present is not None:
            warnings.warn(f'New {nickname} {klass.__module__}.{klass.__name__} registered with name {key} is '
                          f'overriding existing {nickname} {present.__module__}.{present.__name__}',
                          UserWarning, stacklevel=2)
        registry[key] = klass
        return klass

    register.__doc__ = f'Register a {nickname} class under its lower-case name, or under ``name``.'
    return register


def get_alias_func(base_class: type, nickname: str) -> Callable[..., Callable[[type], type]]:
    """A decorator factory that registers a class under further names."""
    register = get_register_func(base_class, nickname)

    def alias(*aliases: str) -> Callable[[type], type]:
        def decorate(klass: type) -> type:
            for name in aliases:
                register(klass, name)
            return klass
        return decorate

    alias.__doc__ = f'Register a {nickname} class under further names.'
    return alias


def _alone(args: Any, kwargs: Any, message: str) -> None:
    given = len(args) + len(kwargs)
    assert given == 0, message


def get_create_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """A function that makes an instance from a name, an instance, a dict or JSON text.

    JSON text is either ``["name", {arguments}]`` or ``{"nickname": "name", arguments}``.

    >>> class Shape:
    ...     def __init__(self, size=1): self.size = size
    >>> class Square(Shape): pass
    >>> _ = get_register_func(Shape, 'shape')(Square)
    >>> create = get_create_func(Shape, 'shape')
    >>> create('square', size=2).size, create('["square", {"size": 3}]').size
    (2, 3)
    """
    registry = _registries.setdefault(base_class, {})

    def create(*args: Any, **kwargs: Any) -> Any:
        if args:
            name, args = args[0], args[1:]
        else:
            name = kwargs.pop(nickname)
        if isinstance(name, base_class):
            _alone(args, kwargs, f'{nickname} is already an instance. Additional arguments are invalid')
            return name
        if isinstance(name, dict):
            return create(**name)
        assert isinstance(name, str), f'{nickname} must be of string type'
        if name.startswith('['):
            _alone(args, kwargs, f'JSON text for a {nickname} leaves no room for further arguments')
            name, kwargs = json.loads(name)
            return create(name, **kwargs)
        if name.startswith('{'):
            _alone(args, kwargs, f'JSON text for a {nickname} leaves no room for further arguments')
            return create(**json.loads(name))
        key = name.lower()
        assert key in registry, \
            f'{key} is not registered. Please register with {nickname}.register first'
        return registry[key](*args, **kwargs)

    create.__doc__ = f'Make a {nickname} from its registered name, an instance, a dict or JSON text.'
    return create
