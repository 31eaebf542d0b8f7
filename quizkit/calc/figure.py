"""One number of a calculator: a one-line formula, computed and shown from the same text."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Value = int | float | bool | str | list[int | float]


@dataclass(frozen=True, slots=True)
class Figure:
    """A named formula. Its arguments are inputs of the sheet or figures that stand before it."""

    name: str
    unit: str
    source: str
    arguments: tuple[str, ...]
    function: Callable[..., Value | None]

    def __call__(self, values: Mapping[str, Value | None]) -> Value | None:
        """The number, or None: something it needs was not given, or there is no such sum."""
        needed = {name: values.get(name) for name in self.arguments}
        if any(value is None for value in needed.values()):
            return None
        return self.function(**needed)

    @property
    def formula(self) -> str:
        """The expression as it stands in the source."""
        return ast.unparse(self._expression())

    def taken(self, values: Mapping[str, Value | None]) -> str:
        """The expression as far as it holds for these inputs: the branch that was taken."""
        return self._with(_Taken, values)

    def filled(self, values: Mapping[str, Value | None]) -> str:
        """The branch that was taken, with the numbers put in."""
        return self._with(_Filled, values)

    def _with(self, change: type["_Taken"], values: Mapping[str, Value | None]) -> str:
        known = {name: values[name] for name in self.arguments}
        changed = change(known, self.function.__globals__).visit(self._expression())
        return ast.unparse(ast.fix_missing_locations(changed))

    def _expression(self) -> ast.expr:
        tree = ast.parse(textwrap.dedent(inspect.getsource(self.function)))
        last = tree.body[0]
        assert isinstance(last, ast.FunctionDef), self.name
        result = last.body[-1]
        assert isinstance(result, ast.Return), self.name
        assert result.value is not None, self.name
        return result.value


def figure(unit: str, source: str) -> Callable[[Callable[..., Value | None]], Figure]:
    """Make a function whose body is one `return` into a figure; `source` is where it stands."""

    def made(function: Callable[..., Value | None]) -> Figure:
        arguments = tuple(inspect.signature(function).parameters)
        return Figure(function.__name__, unit, source, arguments, function)

    return made


def shown(value: object) -> str:
    """A value as a formula shows it: 7.5e+09 rather than ten digits."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return repr(value)
    return str(value) if isinstance(value, int) and abs(value) < 10**7 else f"{value:.6g}"


class _Taken(ast.NodeTransformer):
    """Leaves of every choice only the branch that these values take."""

    def __init__(self, known: Mapping[str, Value | None], constants: Mapping[str, object]) -> None:
        self._known = known
        self._names = {**constants, **known}

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return self.visit(node.body if self._worth(node.test) else node.orelse)

    def _worth(self, node: ast.expr) -> object:
        # The expression is our own source, not anybody's input.
        code = compile(ast.Expression(node), "<formula>", "eval")
        return eval(code, dict(self._names))  # noqa: S307


class _Filled(_Taken):
    """Puts numbers where names stood, and looks up what stands in a table."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._names.get(node.id)
        if node.id not in self._known and not isinstance(value, (int, float)):
            return node
        return ast.Name(shown(value))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return ast.Name(shown(self._worth(node)))
