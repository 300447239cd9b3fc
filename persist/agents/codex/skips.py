"""What Codex writes that is left out of the index on purpose, and why.

Pure. Names are those that :class:`persist.events.Parsed` counts; a ``*`` at the end stands for a whole family.
Imports only ``persist.agents.values``. Record types: ``spec/agents.md`` 2, and what Codex's own sources say it keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from persist.agents.values import plain_word

_SETTING: Final = "a setting"
_OWN: Final = "the program's own bookkeeping"
_BEGINS: Final = "tells that something begins; what it led to is recorded"
_STREAMED: Final = "streamed while it happened; what it led to is recorded"
_TOLD: Final = "told by the call and its output"
_ASKED: Final = "a question to the person; what came of it is recorded with the call"

_EVENTS: Final[Mapping[str, str]] = {
    "agent_message_content_delta": _STREAMED,
    "agent_message_delta": _STREAMED,
    "agent_reasoning": "repeats the summary of a reasoning item",
    "agent_reasoning_delta": _STREAMED,
    "agent_reasoning_raw_content": "repeats the content of a reasoning item",
    "agent_reasoning_section_break": _STREAMED,
    "apply_patch_approval_request": _ASKED,
    "background_event": _STREAMED,
    "collab_agent_interaction_begin": _BEGINS,
    "collab_agent_interaction_end": _TOLD,
    "collab_agent_spawn_begin": _BEGINS,
    "collab_agent_spawn_end": _TOLD,
    "collab_close_begin": _BEGINS,
    "collab_close_end": _TOLD,
    "collab_resume_begin": _BEGINS,
    "collab_resume_end": _TOLD,
    "collab_waiting_begin": _BEGINS,
    "collab_waiting_end": _TOLD,
    "deprecation_notice": _OWN,
    "dynamic_tool_call_request": _TOLD,
    "dynamic_tool_call_response": _TOLD,
    "elicitation_request": _ASKED,
    "entered_review_mode": _BEGINS,
    "exec_approval_request": _ASKED,
    "exec_command_begin": _BEGINS,
    "exec_command_end": _TOLD,
    "exec_command_output_delta": _STREAMED,
    "guardian_assessment": _OWN,
    "hook_completed": _OWN,
    "hook_started": _OWN,
    "image_generation_begin": _BEGINS,
    "image_generation_end": _TOLD,
    "item_completed": "repeats an item that is recorded by itself",
    "item_started": _BEGINS,
    "mcp_startup_complete": _OWN,
    "mcp_startup_update": _OWN,
    "mcp_tool_call_begin": _BEGINS,
    "model_reroute": _OWN,
    "model_verification": _OWN,
    "patch_apply_begin": _BEGINS,
    "patch_apply_end": _TOLD,
    "patch_apply_updated": _STREAMED,
    "plan_delta": _STREAMED,
    "plan_update": _TOLD,
    "raw_response_item": "repeats a response item",
    "reasoning_content_delta": _STREAMED,
    "reasoning_raw_content_delta": _STREAMED,
    "request_permissions": _ASKED,
    "request_user_input": _ASKED,
    "session_configured": _SETTING,
    "shutdown_complete": _OWN,
    "sub_agent_activity": "tells what a sub-agent does; its own file records it",
    "task_started": _BEGINS,
    "terminal_interaction": _TOLD,
    "thread_goal_updated": _OWN,
    "thread_name_updated": "a title without words, or another session's",
    "thread_rolled_back": "turns that the person took back stay as they were told",
    "thread_settings_applied": _SETTING,
    "turn_diff": "repeats what the tools changed",
    "turn_started": _BEGINS,
    "view_image_tool_call": _TOLD,
    "web_search_begin": _BEGINS,
    "web_search_end": _TOLD,
}
_ITEMS: Final[Mapping[str, str]] = {
    "additional_tools": "descriptions of tools",
    "compaction": "a folded context that only the provider can read",
    "compaction_summary": "a folded context that only the provider can read",
    "compaction_trigger": _BEGINS,
    "context_compaction": "a folded context that only the provider can read",
    "ghost_snapshot": "a commit that Codex keeps for undoing",
    "other": "an item that Codex itself did not know",
}
SKIPS: Final[Mapping[str, str]] = dict(
    sorted(
        {
            "empty prompt": "a history entry without words",
            "encrypted agent_message": "a message between agents that only the provider can read",
            "encrypted reasoning": "thinking that only the provider can read, without a summary",
            **{f"event_msg:{name}": reason for name, reason in _EVENTS.items()},
            "inter_agent_communication_metadata": _OWN,
            **{f"response_item:{name}": reason for name, reason in _ITEMS.items()},
            "repeated agent_message": "an answer that an item told already",
            "repeated assistant message": "an answer that an `agent_message` event told already",
            "repeated mcp_tool_call_end": "told by the call and its output",
            "repeated output": "the output of a call whose failure its own event told",
            "repeated token_count": "the same totals as before: no new call",
            "repeated user message": "a user's item where prompts are events: it repeats one, or is the program's",
            "repeated user_message": "a prompt that an item told already",
            "session_meta": "a header that tells nothing new",
            "session_meta of the origin": "the header of the session whose records a fork repeats",
            "state": _OWN,
            "token_count without usage": "rate limits only",
            "token_usage_record": "repeats what token_count tells",
            "turn_context": "a turn's settings, as they were before",
            "unknown:*": "a record type that is newer than this program",
            "world_state": "what the program put into the context by itself: instructions, the environment",
        }.items()
    )
)
"""Name (or family) to reason; the keys are unique and sorted."""


def skip_name(kind: str, inner: object) -> str:
    """Return the name under which a record that gives no event is counted; ``kind`` is its outer type.

    A name never holds free text: what is no plain word of at most 60 letters is written ``?``.
    """
    name = f"{kind}:{inner}" if isinstance(inner, str) else kind
    return name if name in SKIPS else f"unknown:{plain_word(kind)}/{plain_word(inner)}"
