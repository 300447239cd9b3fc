"""Aster's store: read a session whole, rebuild its chat, list and find sessions, write new events.

The door: other packages import these names from here. Nothing here knows the index.
"""

from persist.agents.aster.shapes import Call
from persist.aster.chat import ChatMessage, resume_turns, to_chat_messages
from persist.aster.listing import Listing, SessionEntry, describe, find_session, latest, list_sessions
from persist.aster.places import find_in_folder, new_session_path, project_folder
from persist.aster.prompts import history_path, rebuild_history
from persist.aster.store import Resumed, Store
from persist.aster.transcript import (
    Citation,
    DamagedLine,
    Eviction,
    Header,
    Message,
    Reasoning,
    StoredEvent,
    Summary,
    Title,
    TokenCounts,
    Transcript,
    read_header,
)
from persist.aster.writer import SessionWriter

__all__ = [
    "Call",
    "ChatMessage",
    "Citation",
    "DamagedLine",
    "Eviction",
    "Header",
    "Listing",
    "Message",
    "Reasoning",
    "Resumed",
    "SessionEntry",
    "SessionWriter",
    "Store",
    "StoredEvent",
    "Summary",
    "Title",
    "TokenCounts",
    "Transcript",
    "describe",
    "find_in_folder",
    "find_session",
    "history_path",
    "latest",
    "list_sessions",
    "new_session_path",
    "project_folder",
    "read_header",
    "rebuild_history",
    "resume_turns",
    "to_chat_messages",
]
