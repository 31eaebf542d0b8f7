"""YAML as nodes with lines, and nothing of YAML's surprises: no types guessed, no aliases, no tags.

What a scalar means is decided later by the field it fills (see `build`), so `no`, `12:30` and `010`
stay what was written. What YAML would drop or change in silence is an error here: a text cut at
` #`, a control character out of an escape such as "\\frac", a repeated key.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

LARGEST_FILE = 256 * 1024
DEEPEST_FLOW = 60
DEEPEST_NESTING = DEEPEST_FLOW + 200  # what lines alone can reach comes on top
_PLAIN_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map")}
_DEEP_BLOCK = re.compile(r"^ {200}|(?:[-?:][ \t]+){40}", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b\ufeff\ufffd]")
_ESCAPE = re.compile(r"\\[abefnrtv]")
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
# PyYAML has no types.
_parse: Callable[[str, type], Iterator[yaml.Event]] = getattr(yaml, "parse")  # noqa: B009
_compose: Callable[[str, type], yaml.Node | None] = getattr(yaml, "compose")  # noqa: B009

Report = Callable[[int, str], None]


def compose(path: Path, report: Report) -> yaml.MappingNode | None:
    """Return the file as a checked tree, or None after reporting (line, message) of why not."""
    try:
        if path.exists() and not path.is_file():
            report(1, "is no file")  # a pipe or a device would be waited for, or never end
            return None
        if path.stat().st_size > LARGEST_FILE:
            report(1, f"larger than {LARGEST_FILE // 1024} KiB; one file holds one question")
            return None
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        report(1, f"not UTF-8: {error.reason} at byte {error.start}; save the file as UTF-8")
        return None
    except OSError as error:
        report(1, f"cannot be read: {error.strerror}")
        return None
    if _too_deep(text):
        # libyaml composes by recursion and would end the whole process.
        report(1, "nested too deeply to be a question")
        return None
    try:
        root = _compose(text, _LOADER)
    except yaml.reader.ReaderError as error:
        report(1, f"not YAML: {error.reason} at character {error.position}")
        return None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        report(mark.line + 1 if mark else 1, f"not YAML: {error.problem}")
        return None
    if not isinstance(root, yaml.MappingNode):
        report(1, "empty" if root is None else "must be `key: value` lines")
        return None
    return root if _Check(text, report).tree(root) else None


def _too_deep(text: str) -> bool:
    if _DEEP_BLOCK.search(text):
        return True
    if text.count("[") + text.count("{") <= DEEPEST_FLOW:
        return False
    # A bracket in a comment or in quotes closes nothing: only YAML's own events tell the depth.
    depth = 0
    try:
        for event in _parse(text, _LOADER):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > DEEPEST_NESTING:
                return True
    except yaml.YAMLError:
        return False  # it is told when composed, which ends at the same place
    return False


class _Check:
    """One walk over a file's nodes, reporting all that YAML would have passed over."""

    def __init__(self, text: str, report: Report) -> None:
        self.lines = text.split("\n")
        self.report = report
        self.seen: set[int] = set()
        self.clean = True

    def tree(self, root: yaml.Node) -> bool:
        self._node(root)
        return self.clean

    def _wrong(self, node: yaml.Node, message: str) -> None:
        self.clean = False
        self.report(node.start_mark.line + 1, message)

    def _node(self, node: yaml.Node) -> None:
        if id(node) in self.seen:
            self._wrong(node, "YAML aliases (*name) are not read; write it out")
            return
        self.seen.add(id(node))
        if node.tag not in _PLAIN_TAGS:
            self._wrong(node, f"YAML tags ({node.tag}) are not read; leave it out")
        elif isinstance(node, yaml.ScalarNode):
            self._scalar(node)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                self._node(item)
        elif isinstance(node, yaml.MappingNode):
            self._mapping(node)

    def _mapping(self, node: yaml.MappingNode) -> None:
        first: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._wrong(key, "a key must be a word")
                continue
            name: str = key.value
            if name in first:
                self._wrong(key, f"key `{name}` is already on line {first[name]}")
            first.setdefault(name, key.start_mark.line + 1)
            if "：" in name:
                self._wrong(key, f"full-width colon in key `{name}`; write `: `")
            self._node(key)
            self._node(value)

    def _scalar(self, node: yaml.ScalarNode) -> None:
        text: str = node.value
        bad = _CONTROL.search(text)
        if bad:
            self._wrong(node, f"control character {bad[0]!r}; write prose in a `|` block")
        end = node.end_mark
        if node.style == '"':
            source = "\n".join(self.lines[node.start_mark.line : end.line + 1])
            escape = _ESCAPE.search(source)
            if escape and not bad:
                self._wrong(node, f'`{escape[0]}` inside "..." is an escape; use a `|` block')
        elif not node.style:
            rest = self.lines[end.line][end.column :] if end.line < len(self.lines) else ""
            if re.match(r"\s+#\S", rest):
                cut = rest.strip()[:20]
                self._wrong(node, f"the text is cut at ` #` ({cut!r}); quote it or use a `|` block")
