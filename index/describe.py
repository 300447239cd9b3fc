"""The public schema as a contract: views, full-text tables, and examples that are tested to run.

Pure; reads no database, so that ``asx schema`` works before the first ingest.
"""

from __future__ import annotations

from typing import Final

from index.reports.statements import REPORTS
from index.results import Report, SchemaDescription
from index.view_columns import FULL_TEXT, VIEWS
from migrations import GENERATION

_MORE_EXAMPLES: Final = (
    Report(
        "prompts-holding-a-text",
        "Prompts that hold a text of at least 3 characters, newest first; the key is folded: lower case, no accents.",
        """SELECT p.ts, p.agent, p.project, p.text
FROM prompt_keys
CROSS JOIN prompts p ON p.prompt_id = prompt_keys.rowid
WHERE prompt_keys MATCH 'dep AND epl AND plo AND loy' AND instr(prompt_keys.key, 'deploy') > 0
ORDER BY p.sort_ts DESC""",
    ),
    Report(
        "answers-like",
        "Answers that fit a pattern, found by the trigrams in it; CROSS JOIN makes SQLite begin with the full text.",
        """SELECT a.ts, a.agent, a.session_id, a.text
FROM prose_keys
CROSS JOIN answers a ON a.event_id = prose_keys.rowid
WHERE prose_keys.key GLOB '*foreign key*constraint*'
ORDER BY a.sort_ts DESC""",
    ),
    Report(
        "words-best-first",
        "Texts with words in any form, the best first; whose text it is stands in the view that shares the row number.",
        """SELECT a.ts, a.agent, a.session_id, snippet(prose_words, 0, '[', ']', '…', 12) AS found
FROM prose_words
CROSS JOIN agent_messages a ON a.event_id = prose_words.rowid
WHERE prose_words MATCH 'deploy* AND (tuesday OR rota)'
ORDER BY bm25(prose_words)""",
    ),
    Report(
        "sessions-of-a-week",
        "Sessions that were active in the last 7 days, the latest first.",
        """SELECT agent, session_id, project, title, turns, updated_at
FROM sessions
WHERE updated_at >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-7 days')
ORDER BY updated_at DESC, agent, session_id""",
    ),
    Report(
        "prompts-typed-twice",
        "Prompts that were typed more than once, the most frequent first.",
        """SELECT count(*) AS times, min(ts) AS first_at, max(ts) AS last_at, text
FROM prompts
GROUP BY text
HAVING count(*) > 1
ORDER BY times DESC, last_at DESC, text""",
    ),
    Report(
        "prompts-without-a-transcript",
        "What only a prompt history still knows, newest first.",
        """SELECT ts, agent, project, text
FROM prompt_history
WHERE in_transcript = 0
ORDER BY ts DESC, source_path, line_number DESC""",
    ),
    Report(
        "messages-not-typed",
        "What was sent as a person's words and typed by nobody, by agent.",
        """SELECT agent, count(*) AS messages, max(ts) AS last_at
FROM user_messages
WHERE is_prompt = 0
GROUP BY agent
ORDER BY messages DESC, agent""",
    ),
    Report(
        "largest-results",
        "The tool results that were longest, with how much of each is stored.",
        """SELECT tool_name, text_len, length(text) AS stored, session_id, event_index
FROM tool_results
ORDER BY text_len DESC, sort_ts DESC, source_path, event_index
LIMIT 20""",
    ),
    Report(
        "thinking-by-model",
        "How much visible thinking each model wrote, in characters.",
        """SELECT model_name, count(*) AS thoughts, sum(text_len) AS characters
FROM thinking
GROUP BY model_name
ORDER BY characters DESC, model_name""",
    ),
    Report(
        "facts",
        "The facts of ASTER.md in their order.",
        """SELECT line_number, text, source_path
FROM memory_facts
ORDER BY source_path, line_number""",
    ),
    Report(
        "turns-behind-blocks",
        "Every block and fact with the session and the turn that it comes from, the newest first.",
        """SELECT m.name, m.ts, m.rule, m.agent, m.session_id, m.turn_index, e.text
FROM memory_provenance m
LEFT JOIN events e ON e.event_id = m.event_id
ORDER BY m.ts DESC, m.path, m.name""",
    ),
    Report(
        "transcripts",
        "Every transcript with its session, size and damaged lines, the largest first.",
        """SELECT agent, session_id, file_size, event_count, parse_error_count, source_path
FROM session_files
ORDER BY file_size DESC, source_path""",
    ),
    Report(
        "tokens-by-model",
        "Calls and tokens of each model and month.",
        """SELECT strftime('%Y-%m', ts) AS month, model_name, count(*) AS calls, sum(input_tokens) AS input_tokens,
  sum(output_tokens) AS output_tokens, sum(cache_read_tokens) AS cache_read_tokens
FROM llm_calls
GROUP BY month, model_name
ORDER BY month DESC, calls DESC, model_name""",
    ),
    Report(
        "files-not-whole",
        "Files of which some lines are damaged or the file cannot be read now.",
        """SELECT agent, path, status, lines_seen, lines_damaged, bytes_pending, error
FROM sources
WHERE lines_damaged > 0 OR status <> 'indexed'
ORDER BY lines_damaged DESC, path""",
    ),
)

EXAMPLES: Final = (*REPORTS, *_MORE_EXAMPLES)
"""Each runs as printed on any index of this generation, an empty one too."""


def describe() -> SchemaDescription:
    """Return every public view and full-text table with its columns, and the examples."""
    return SchemaDescription(GENERATION, (*VIEWS, *FULL_TEXT), EXAMPLES)
