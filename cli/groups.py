"""Typer groups that import a command's module only when that command is asked for, and one look of help.

Imports Typer and the registry; never a command, never anything of ``index`` or ``persist``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, cast

import typer
import typer.main
from typer.core import TyperArgument, TyperCommand, TyperGroup

from cli.registry import COMMANDS, GROUP_COMMANDS, GROUPS, module_name

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter


class PlainCommand(TyperCommand):
    """A command whose help ends in examples and names arguments as they are typed."""

    examples: Sequence[str] = ()
    missing: str | None = None

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the words; where an argument is missing the command's own sentence says so, if it has one."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if self.missing is None or type(error).__name__ != "MissingParameter":
                raise
            ctx.fail(self.missing)

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """Return the usage line's parts: ``[OPTIONS] QUERY...``."""
        pieces = [self.options_metavar or ""]
        pieces.extend(_usage_name(param) for param in self.get_params(ctx) if isinstance(param, TyperArgument))
        return pieces

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write arguments and options, without the types that metavars already tell."""
        arguments = []
        options = []
        for param in self.get_params(ctx):
            if isinstance(param, TyperArgument):
                arguments.append((param.display_name_raw, param.help or ""))
            elif (record := param.get_help_record(ctx)) is not None:
                options.append(record)
        for title, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:  # noqa: ARG002 - Typer's signature
        """Write the examples, one a line, never wrapped."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"  {line}\n")


class LazyGroup(TyperGroup):
    """A group that knows its commands' names and sentences from the registry."""

    group_name: ClassVar[str | None] = None
    entries: ClassVar[Mapping[str, str]] = {}
    default: ClassVar[str | None] = None

    def list_commands(self, ctx: Context) -> list[str]:  # noqa: ARG002 - Typer's signature
        """Return the names in the order of the help."""
        return list(self.entries)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:  # noqa: ARG002 - Typer's signature
        """Import and return one command; ``None`` for a name that the registry does not have."""
        if cmd_name not in self.entries:
            return None
        if self.group_name is None and cmd_name in GROUPS:
            return build_group(cmd_name)
        return build_command(cmd_name, self.group_name)

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the group's own options; ``asx sessions`` and ``asx sessions --all`` mean ``asx sessions list …``."""
        if self.default is not None and (
            not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        ):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Find the command of the first word; an unknown one is a usage error that names near ones."""
        if args[0] not in self.entries:
            near = _meant(args[0], self.group_name)
            ctx.fail(f"no command {args[0]!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:  # noqa: ARG002 - Typer's signature
        """Write the registry's sentences; imports no command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.entries.items()))


class RootGroup(LazyGroup):
    """``asx`` itself."""

    entries: ClassVar[Mapping[str, str]] = {**COMMANDS, **GROUPS}


class SessionsGroup(LazyGroup):
    """``asx sessions``."""

    group_name = "sessions"
    default = "list"
    entries = GROUP_COMMANDS["sessions"]


class MemoryGroup(LazyGroup):
    """``asx memory``."""

    group_name = "memory"
    default = "list"
    entries = GROUP_COMMANDS["memory"]


_MOST_MEANT = 3
_GROUP_CLASSES: Mapping[str, type[LazyGroup]] = {"sessions": SessionsGroup, "memory": MemoryGroup}


def new_app(cls: type[LazyGroup] | None = None, about: str | None = None) -> typer.Typer:
    """Return a Typer application with the settings that all of them share."""
    return typer.Typer(
        cls=cls,
        help=about,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=cls is not None,
    )


def build_command(name: str, group: str | None = None) -> Command:
    """Import a command's module and return it as Typer's command."""
    module = import_module(module_name(name, group))
    app = new_app()
    app.command(name, cls=PlainCommand)(module.command)
    built = typer.main.get_command(app)
    command = cast("PlainCommand", built)
    command.examples = module.EXAMPLES
    command.missing = getattr(module, "MISSING", None)
    return built


def build_group(name: str) -> Command:
    """Return one of the groups of the registry, its commands not yet imported."""
    cls = _GROUP_CLASSES[name]
    app = new_app(cls, f"{GROUPS[name]}\n\nWithout a command it is asx {name} {cls.default}.")
    app.callback()(_no_options)
    return typer.main.get_command(app)


def _no_options() -> None: ...


def _meant(word: str, group: str | None) -> list[str]:
    """Return the commands that an unknown word may mean, as they are typed behind ``asx``, or behind a group's name.

    One that another group, or the first level, has under that very name is meant; else those with a name like it.
    """
    from difflib import get_close_matches

    whole: list[tuple[str | None, str]] = [(None, name) for name in (*COMMANDS, *GROUPS)]
    whole += [(one, name) for one, names in GROUP_COMMANDS.items() for name in names]
    typed: dict[str, list[str]] = {}
    for one, name in whole:
        asx = "asx " if group is not None and one != group else ""
        typed.setdefault(name, []).append(f"{asx}{name if one in (None, group) else f'{one} {name}'}")
    if word in typed:
        return typed[word]
    own = GROUP_COMMANDS[group] if group is not None else {**COMMANDS, **GROUPS}
    near = get_close_matches(word, own) or get_close_matches(word, typed)
    return [text for name in near for text in (typed[name] if name not in own else [name])][:_MOST_MEANT]


def _usage_name(argument: TyperArgument) -> str:
    name = argument.display_name_raw + ("..." if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"
