"""Reads a demo: its options, its breaks, the modules it needs; and makes a module of it."""

import ast
import linecache
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

# What the bench offers, and what torch's optimizers ask for: 6 ms that no rank need spend itself.
ALWAYS = (
    *(f"_bench.{name}" for name in ("clock", "messages", "rings", "saved", "toy")),
    "torch.profiler._cupti_monitor",
)
KINDS = {"int": int, "float": float, "bool": bool, "str": str}


@dataclass(frozen=True)
class Break:
    """A bug to plant: one exact replacement, and the outcome that must give it away."""

    old: str
    new: str
    expect: str
    ranks: int = 2
    source: str = ""


@dataclass(frozen=True)
class Parameter:
    """One keyword of main: an option of the command line."""

    name: str
    kind: str
    default: Any
    choices: tuple[str, ...] = ()
    text: str = ""

    def value(self, given: object) -> Any:
        """Take what came as JSON, if it is of the right kind."""
        if self.kind == "float" and type(given) is int:
            given = float(given)
        if self.kind == "int" and type(given) is float and given.is_integer():
            given = int(given)
        if type(given) is not KINDS[self.kind]:
            raise DemoError(f"{self.name} must be {self.kind}, not {given!r}")
        if self.choices and given not in self.choices:
            raise DemoError(f"{self.name} must be one of {', '.join(self.choices)}, not {given!r}")
        return given


class DemoError(Exception):
    """The demo's file, or what was asked of it, is not right."""


class Script:
    """One demo file, read but not run."""

    def __init__(self, path: Path):
        self.path = path
        self.name = path.stem.replace("_", "-")
        try:
            self.text = path.read_text(encoding="utf-8")
            self.tree = ast.parse(self.text, str(path))
        except OSError as error:
            raise DemoError(f"cannot read {path}: {error.strerror}") from None
        except SyntaxError as error:
            raise DemoError(f"{path.name}:{error.lineno}: {error.msg}") from None

    def _assigned(self, name: str) -> ast.expr | None:
        for node in self.tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                    return value
                case ast.AnnAssign(target=ast.Name(id=found), value=value) if found == name:
                    return value
        return None

    @cached_property
    def law(self) -> str:
        """The docstring's first line."""
        return (ast.get_docstring(self.tree) or self.name).splitlines()[0]

    @cached_property
    def own_launch(self) -> bool:
        """Whether main starts (or kills) processes itself."""
        match self._assigned("LAUNCH"):
            case None:
                return False
            case ast.Constant(value="own"):
                return True
        raise DemoError(f'{self.path.name}: LAUNCH can only be "own"')

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The keywords of main, in order."""
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == "main":
                break
        else:
            raise DemoError(f"{self.path.name} has no main()")
        spec = node.args
        arguments = [*spec.args, *spec.kwonlyargs]
        defaults = [*spec.defaults, *spec.kw_defaults]
        if len(arguments) != len(defaults) or None in defaults or spec.vararg or spec.kwarg:
            raise DemoError(f"{self.path.name}: every argument of main needs a default")
        return {
            argument.arg: self._parameter(argument, default)
            for argument, default in zip(arguments, defaults, strict=True)
        }

    def _parameter(self, argument: ast.arg, default: ast.expr | None) -> Parameter:
        where = f"{self.path.name}:{argument.lineno}: {argument.arg}"
        try:
            value = ast.literal_eval(default) if default else None
        except ValueError:
            raise DemoError(f"{where}: the default must be written out as a literal") from None
        match argument.annotation:
            case ast.Name(id=kind) if kind in KINDS:
                choices = ()
            case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
                kind = "str"
                items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                choices = tuple(str(ast.literal_eval(item)) for item in items)
            case _:
                raise DemoError(f"{where}: annotate it as int, float, bool, str or Literal[...]")
        text = self._comment(default) if default else ""
        parameter = Parameter(argument.arg, kind, value, choices, text)
        parameter.value(value)
        return parameter

    def _comment(self, node: ast.expr) -> str:
        """What is said beside an argument, at the end of its line."""
        line = self.text.encode().split(b"\n")[(node.end_lineno or 1) - 1]
        _, _, said = line[node.end_col_offset or 0 :].decode().partition("#")
        return said.strip()

    def arguments(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Every argument of main: what was given, and defaults for the rest."""
        for name in given:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise DemoError(f"{self.name} has no argument {name!r} (it has: {known})")
        return {
            name: parameter.value(given.get(name, parameter.default))
            for name, parameter in self.parameters.items()
        }

    @cached_property
    def breaks(self) -> Mapping[str, Break]:
        """The bugs that can be planted."""
        value = self._assigned("BREAKS")
        if value is None:
            return {}
        if not isinstance(value, ast.Dict):
            raise DemoError(f"{self.path.name}: BREAKS must be a dictionary written out")
        result: dict[str, Break] = {}
        for key, entry in zip(value.keys, value.values, strict=True):
            match key, entry:
                case ast.Constant(value=str(name)), ast.Call(func=ast.Name(id="Break"), args=[]):
                    fields = {
                        word.arg: ast.literal_eval(word.value)
                        for word in entry.keywords
                        if word.arg
                    }
                    result[name] = Break(**fields)
                case _:
                    raise DemoError(
                        f"{self.path.name}:{entry.lineno}: a break is written"
                        ' "name": Break(old="...", new="...", ...)'
                    )
        return result

    def planted(self, broken: str | None) -> str:
        """The source, with one bug put in if one is named."""
        if broken is None:
            return self.text
        if broken not in self.breaks:
            known = ", ".join(self.breaks) or "none"
            raise DemoError(f"{self.name} has no break {broken!r} (it has: {known})")
        change = self.breaks[broken]
        story, rest = self._split()
        if (hits := story.count(change.old)) != 1:
            raise DemoError(
                f"{self.path.name}: the old text of break {broken!r} stands {hits} times"
                " in the text before BREAKS, it must stand there once"
            )
        return story.replace(change.old, change.new) + rest

    def _split(self) -> tuple[str, str]:
        """The text before BREAKS, where a bug may be planted, and what follows."""
        value = self._assigned("BREAKS")
        assert value is not None
        start = next(node for node in self.tree.body if getattr(node, "value", None) is value)
        lines = self.text.splitlines(keepends=True)
        return "".join(lines[: start.lineno - 1]), "".join(lines[start.lineno - 1 :])

    @cached_property
    def imports(self) -> Mapping[str, tuple[str, ...]]:
        """Modules the demo imports anywhere, in functions and through a call as well.

        Not the bench, and not neighbours: those are read anew for every run.
        """
        found: dict[str, tuple[str, ...]] = {}
        for node in ast.walk(self.tree):
            match node:
                case ast.Import(names=names):
                    found |= {each.name: () for each in names if each.name not in found}
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    found[module] = found.get(module, ()) + tuple(each.name for each in names)
                case (
                    ast.Call(func=ast.Attribute(attr="backward"), args=[_, *_])
                    | ast.Call(func=ast.Attribute(attr="grad"), args=[_, _, _, *_])
                ):
                    # Given a gradient, torch imports this, and five hundred modules with it.
                    found.setdefault("torch.fx.experimental.symbolic_shapes", ())
        folder = self.path.parent
        return {
            module: names
            for module, names in found.items()
            if (top := module.split(".")[0]) != "_bench"
            and not (folder / top).exists()
            and not (folder / f"{top}.py").exists()
        }


def import_all(wanted: Mapping[str, tuple[str, ...]]) -> None:
    """Import here, once, what every rank would else import after the fork, each for itself."""
    for module, names in wanted.items():
        try:
            loaded = import_module(module)
            for name in names:
                if not hasattr(loaded, name):
                    import_module(f"{module}.{name}")
        except Exception:  # noqa: S112
            continue  # a rank comes by the same import and reports what is wrong with it


def remember(path: Path, text: str) -> None:
    """Have tracebacks and stacks show the text that really ran."""
    linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))


def compiled(path: Path, text: str) -> CodeType:
    """The demo's code."""
    try:
        return compile(text, str(path), "exec")
    except SyntaxError as error:
        raise DemoError(f"{path.name}:{error.lineno}: {error.msg}") from None


def module(path: Path, text: str, code: CodeType) -> ModuleType:
    """Run the demo's top level as a fresh module."""
    fresh = ModuleType(path.stem)
    fresh.__file__ = str(path)
    sys.modules[path.stem] = fresh
    remember(path, text)
    exec(code, fresh.__dict__)  # noqa: S102
    return fresh
