"""``asx memory tools``: what a program offers its model."""

from __future__ import annotations

from typing import Final

from cli import exits, options, output, shapes

EXAMPLES: Final = ("asx memory tools", "asx memory tools --json | jq .tools")


def command(json: options.Json = False) -> int:
    """Print the definitions of the memory tools for a model.

    Each has a name, guidance and the JSON Schema of its input; asx remember, recall and forget do what they say.
    """
    from persist.memory.tools import TOOLS

    if json:
        output.emit_json(shapes.memory_tools(TOOLS))
        return exits.DONE
    for tool in TOOLS:
        schema = tool["input_schema"]
        needed = [f"{name}{'' if name in schema['required'] else '?'}" for name in schema["properties"]]
        output.line(f"{tool['name']}({', '.join(needed)})\n  {tool['description']}")
    return exits.DONE
