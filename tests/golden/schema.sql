CREATE INDEX block_names_block ON block_names (block_id);

CREATE INDEX block_rows_source ON block_rows (source_id);

CREATE INDEX candidate_rows_aliases ON candidate_rows (id) WHERE aliases <> '';

CREATE INDEX candidate_rows_nameless ON candidate_rows (id) WHERE name_words = 0;

CREATE INDEX candidate_rows_source ON candidate_rows (source_id);

CREATE INDEX candidate_rows_text ON candidate_rows (text_key, name_words, description_words, body_words);

CREATE INDEX error_rows_place ON error_rows (source_id, line_number);

CREATE INDEX event_rows_growing ON event_rows (source_id, message_id) WHERE may_grow = 1;

CREATE INDEX event_rows_identity ON event_rows (identity);

CREATE INDEX event_rows_late_arguments ON event_rows (source_id, tool_call_id)
  WHERE arguments_head IS NOT NULL AND type_code <> 6;

CREATE INDEX event_rows_place ON event_rows (source_id, line_number);

CREATE INDEX event_rows_prompts ON event_rows (source_id, line_number, event_index, identity, record_id)
  WHERE is_prompt = 1;

CREATE INDEX event_rows_type ON event_rows (type_code);

CREATE INDEX history_rows_place ON history_rows (source_id, line_number);

CREATE INDEX journal_rows_place ON journal_rows (source_id, line_number);

CREATE INDEX journal_rows_slug ON journal_rows (slug_key) WHERE slug_key IS NOT NULL;

CREATE INDEX journal_rows_title ON journal_rows (title_key) WHERE title_key IS NOT NULL;

CREATE INDEX memory_fact_rows_source ON memory_fact_rows (source_id);

CREATE INDEX prose_newest ON prose (field, hidden, sort_ts, source_id);

CREATE INDEX prose_same ON prose (text_hash, field);

CREATE INDEX session_rows_imported ON session_rows (imported_from) WHERE imported_from IS NOT NULL;

CREATE INDEX session_rows_parent ON session_rows (agent_id, parent_session_id)
  WHERE parent_session_id IS NOT NULL;

CREATE INDEX session_rows_project ON session_rows (project);

CREATE INDEX session_rows_root ON session_rows (root_row);

CREATE INDEX source_rows_session ON source_rows (session_row);

CREATE INDEX source_rows_unread_memory ON source_rows (path)
  WHERE kind IN ('block', 'project_memory') AND status IN ('held', 'failed', 'broken');

CREATE INDEX trait_rows_place ON trait_rows (source_id, line_number);

CREATE INDEX usage_rows_message ON usage_rows (message_id) WHERE message_id IS NOT NULL;

CREATE INDEX usage_rows_place ON usage_rows (source_id, line_number);

CREATE INDEX usage_rows_session ON usage_rows (call_session) WHERE call_session IS NOT NULL;

CREATE INDEX usage_rows_told ON usage_rows (source_id, message_id) WHERE message_id IS NOT NULL;

CREATE TABLE 'prompt_keys_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE 'prompt_keys_content'(id INTEGER PRIMARY KEY, c0);

CREATE TABLE 'prompt_keys_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'prompt_keys_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE 'prose_keys_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE 'prose_keys_content'(id INTEGER PRIMARY KEY, c0);

CREATE TABLE 'prose_keys_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'prose_keys_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE 'prose_words_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE 'prose_words_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'prose_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB);

CREATE TABLE 'prose_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE agents (
  id INTEGER NOT NULL PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE block_names (
  key INTEGER NOT NULL,
  block_id INTEGER NOT NULL,
  PRIMARY KEY (key, block_id)
) STRICT;

CREATE TABLE block_rows (
  id INTEGER NOT NULL PRIMARY KEY,
  source_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  title TEXT,
  description TEXT NOT NULL,
  kind TEXT,
  project TEXT,
  source_session TEXT,
  created_at TEXT,
  updated_at TEXT,
  aliases TEXT NOT NULL DEFAULT '[]',
  body_start INTEGER NOT NULL,
  archived INTEGER NOT NULL,
  superseded_by TEXT,
  pinned INTEGER NOT NULL
) STRICT;

CREATE TABLE candidate_rows (
  id INTEGER NOT NULL PRIMARY KEY, source_id INTEGER NOT NULL, text_key INTEGER NOT NULL,
  name_words INTEGER NOT NULL, description_words INTEGER NOT NULL, body_words INTEGER NOT NULL,
  name TEXT NOT NULL, description TEXT NOT NULL, body TEXT NOT NULL, aliases TEXT NOT NULL,
  kind TEXT NOT NULL, project TEXT, touched_at TEXT, use REAL NOT NULL, pinned INTEGER NOT NULL,
  is_superseded INTEGER NOT NULL, last_mark TEXT, latest_at TEXT NOT NULL
) STRICT;

CREATE TABLE error_rows (
  id INTEGER NOT NULL PRIMARY KEY,
  source_id INTEGER NOT NULL,
  line_number INTEGER NOT NULL,
  offset_bytes INTEGER NOT NULL,
  error TEXT NOT NULL,
  line_excerpt TEXT NOT NULL
) STRICT;

CREATE TABLE event_rows (
  id INTEGER NOT NULL PRIMARY KEY,
  source_id INTEGER NOT NULL,
  line_number INTEGER NOT NULL,
  offset_bytes INTEGER NOT NULL,
  event_index INTEGER NOT NULL,
  turn_index INTEGER,
  ts TEXT,
  sort_ts TEXT,
  ts_source INTEGER,
  kind INTEGER NOT NULL,
  type_code INTEGER NOT NULL,
  outcome TEXT,
  is_prompt INTEGER NOT NULL,
  hidden INTEGER NOT NULL DEFAULT 0,
  text_len INTEGER NOT NULL,
  head TEXT,
  tool_call_id TEXT,
  tool_name TEXT,
  arguments_head TEXT,
  arguments_len INTEGER,
  model_name TEXT,
  message_id TEXT,
  record_id TEXT,
  part INTEGER NOT NULL,
  may_grow INTEGER NOT NULL,
  identity INTEGER NOT NULL
) STRICT;

CREATE TABLE event_types (
  code INTEGER NOT NULL PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE history_rows (
  id INTEGER NOT NULL PRIMARY KEY,
  source_id INTEGER NOT NULL,
  line_number INTEGER NOT NULL,
  offset_bytes INTEGER NOT NULL,
  session_id TEXT,
  project TEXT,
  ts TEXT,
  display TEXT,
  in_transcript INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE journal_rows (
  id INTEGER NOT NULL PRIMARY KEY,
  source_id INTEGER NOT NULL,
  line_number INTEGER NOT NULL,
  ts TEXT,
  op TEXT NOT NULL,
  name TEXT,
  detail TEXT,
  source_session TEXT,
  actor TEXT,
  more TEXT,
  slug_key INTEGER,
  title_key INTEGER
) STRICT;

CREATE TABLE measures (
  event_id INTEGER NOT NULL PRIMARY KEY,
  usage_ratio REAL,
  context_limit INTEGER,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cache_read_tokens INTEGER,
  cache_creation_tokens INTEGER,
  reasoning_tokens INTEGER,
  total_input_tokens INTEGER,
  total_output_tokens INTEGER,
  total_cache_read_tokens INTEGER,
  total_cache_creation_tokens INTEGER,
  total_reasoning_tokens INTEGER,
  usage_sequence INTEGER,
  agent_id TEXT,
  parent_agent_id TEXT,
  task_id TEXT,
  agent_name TEXT,
  call_purpose TEXT,
  provider TEXT,
  estimated_cost_usd REAL,
  total_estimated_cost_usd REAL,
  unpriced_calls INTEGER
) STRICT;

CREATE TABLE memory_fact_rows (
  id INTEGER NOT NULL PRIMARY KEY,
  source_id INTEGER NOT NULL,
  line_number INTEGER NOT NULL,
  offset_bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE memory_totals (
  candidates INTEGER NOT NULL, texts INTEGER NOT NULL, name_words INTEGER NOT NULL,
  description_words INTEGER NOT NULL, body_words INTEGER NOT NULL, with_aliases INTEGER NOT NULL
) STRICT;

CREATE TABLE memory_words (
  id INTEGER NOT NULL PRIMARY KEY, word TEXT NOT NULL UNIQUE, texts INTEGER NOT NULL,
  in_aliases BLOB NOT NULL, in_name BLOB NOT NULL, in_description BLOB NOT NULL, in_body BLOB NOT NULL
) STRICT;

CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE project_roots (
  cwd TEXT NOT NULL,
  repo_root TEXT NOT NULL,
  project TEXT NOT NULL,
  PRIMARY KEY (cwd, repo_root)
) STRICT;

CREATE TABLE prose (
  id INTEGER NOT NULL PRIMARY KEY,
  field INTEGER NOT NULL,
  source_id INTEGER NOT NULL,
  hidden INTEGER NOT NULL DEFAULT 0,
  sort_ts TEXT,
  text_hash INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE session_rows (
  id INTEGER NOT NULL PRIMARY KEY,
  agent_id INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  project TEXT,
  cwd TEXT,
  git_branch TEXT,
  model TEXT,
  mode TEXT,
  title TEXT,
  first_prompt TEXT,
  created_at TEXT,
  updated_at TEXT,
  parent_session_id TEXT,
  forked_from TEXT,
  imported_from TEXT,
  turns INTEGER NOT NULL DEFAULT 0,
  events INTEGER NOT NULL DEFAULT 0,
  inherited_calls INTEGER NOT NULL DEFAULT 0,
  root_row INTEGER,
  depth INTEGER NOT NULL DEFAULT 0,
  UNIQUE (agent_id, session_id)
) STRICT;

CREATE TABLE source_rows (
  id INTEGER NOT NULL PRIMARY KEY,
  agent_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  path TEXT NOT NULL,
  root TEXT NOT NULL,
  status TEXT NOT NULL,
  error TEXT,
  size_bytes INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  file_time TEXT NOT NULL,
  ctime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  head_hash BLOB,
  tail_hash BLOB,
  checkpoint TEXT,
  offset_bytes INTEGER NOT NULL DEFAULT 0,
  bytes_pending INTEGER NOT NULL DEFAULT 0,
  session_row INTEGER,
  names_parent INTEGER NOT NULL DEFAULT 0,
  head_time TEXT,
  earliest_ts TEXT,
  latest_ts TEXT,
  active_ts TEXT,
  events INTEGER NOT NULL DEFAULT 0,
  lines_seen INTEGER NOT NULL DEFAULT 0,
  lines_indexed INTEGER NOT NULL DEFAULT 0,
  lines_skipped INTEGER NOT NULL DEFAULT 0,
  lines_damaged INTEGER NOT NULL DEFAULT 0,
  bad_times INTEGER NOT NULL DEFAULT 0,
  skipped_types TEXT NOT NULL DEFAULT '{}',
  indexed_at TEXT,
  UNIQUE (path, agent_id)
) STRICT;

CREATE TABLE trait_rows (
  id INTEGER NOT NULL PRIMARY KEY,
  source_id INTEGER NOT NULL,
  line_number INTEGER NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  rank INTEGER NOT NULL,
  target_record_id TEXT
) STRICT;

CREATE TABLE usage_rows (
  id INTEGER NOT NULL PRIMARY KEY,
  source_id INTEGER NOT NULL,
  line_number INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  message_id TEXT,
  request_id TEXT,
  provider TEXT,
  model_name TEXT,
  ts TEXT,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cache_read_tokens INTEGER,
  cache_write_tokens INTEGER,
  reasoning_tokens INTEGER,
  cost_usd REAL,
  call_session INTEGER
) STRICT;

CREATE TRIGGER event_hidden AFTER UPDATE OF hidden ON event_rows
WHEN (new.hidden <> 0) <> (old.hidden <> 0)
BEGIN
  UPDATE prose SET hidden = new.hidden <> 0 WHERE id = new.id;
END;

CREATE TRIGGER history_hidden AFTER UPDATE OF in_transcript ON history_rows
WHEN new.in_transcript <> old.in_transcript
BEGIN
  UPDATE prose SET hidden = new.in_transcript WHERE id = new.id;
END;

CREATE VIEW agent_messages AS
SELECT * FROM events WHERE event_type IN ('message_text', 'message_thought') AND canonical = 1;

CREATE VIEW answers AS
SELECT agent, session_id, project, source_path, line_number, byte_offset, event_index, turn_index, ts, sort_ts,
  ts_source, text, text_len, model_name, message_id, event_id
FROM events WHERE event_type = 'message_text' AND canonical = 1;

CREATE VIEW cancellations AS SELECT * FROM events WHERE outcome = 'cancelled' AND canonical = 1;

CREATE VIEW context_usage AS SELECT * FROM events WHERE event_type = 'context_usage' AND canonical = 1;

CREATE VIEW events AS
SELECT
  n.session_id AS session_id,
  a.name AS agent,
  s.path AS source_path,
  e.event_index AS event_index,
  e.line_number AS line_number,
  e.offset_bytes AS byte_offset,
  e.turn_index AS turn_index,
  e.ts AS ts,
  coalesce(e.ts, e.sort_ts, s.file_time) AS sort_ts,
  CASE WHEN e.ts IS NOT NULL THEN 'record' WHEN e.ts_source = 2 THEN 'previous' WHEN e.ts_source = 3 THEN 'session'
    ELSE 'file' END AS ts_source,
  CASE e.kind WHEN 1 THEN 'user' WHEN 2 THEN 'agent' ELSE 'control' END AS kind,
  t.name AS event_type,
  e.outcome AS outcome,
  e.is_prompt AS is_prompt,
  e.hidden = 0 AS canonical,
  coalesce(p.text, e.head) AS text,
  e.text_len AS text_len,
  coalesce(p.text, e.head) AS content,
  e.text_len AS content_len,
  e.tool_call_id AS tool_call_id,
  e.tool_name AS tool_name,
  e.arguments_head AS tool_arguments,
  e.arguments_len AS tool_arguments_len,
  e.model_name AS model_name,
  e.message_id AS message_id,
  e.record_id AS record_id,
  n.project AS project,
  m.usage_ratio AS usage_ratio,
  m.context_limit AS context_limit,
  m.input_tokens AS input_tokens,
  m.output_tokens AS output_tokens,
  m.cache_read_tokens AS cache_read_tokens,
  m.cache_creation_tokens AS cache_creation_tokens,
  m.reasoning_tokens AS reasoning_tokens,
  m.total_input_tokens AS total_input_tokens,
  m.total_output_tokens AS total_output_tokens,
  m.total_cache_read_tokens AS total_cache_read_tokens,
  m.total_cache_creation_tokens AS total_cache_creation_tokens,
  m.total_reasoning_tokens AS total_reasoning_tokens,
  m.usage_sequence AS usage_sequence,
  m.agent_id AS agent_id,
  m.parent_agent_id AS parent_agent_id,
  m.task_id AS task_id,
  m.agent_name AS agent_name,
  m.call_purpose AS call_purpose,
  m.provider AS provider,
  m.estimated_cost_usd AS estimated_cost_usd,
  m.total_estimated_cost_usd AS total_estimated_cost_usd,
  m.unpriced_calls AS unpriced_calls,
  e.id AS event_id
FROM event_rows e
JOIN source_rows s ON s.id = e.source_id
JOIN agents a ON a.id = s.agent_id
JOIN event_types t ON t.code = e.type_code
LEFT JOIN session_rows n ON n.id = s.session_row
LEFT JOIN prose p ON p.id = e.id
LEFT JOIN measures m ON m.event_id = e.id;

CREATE VIEW llm_calls AS
SELECT n.session_id AS session_id, a.name AS agent, n.project AS project, u.ts AS ts,
  coalesce(e.ts, e.sort_ts, s.file_time) AS sort_ts,
  u.provider AS provider, u.model_name AS model_name, u.message_id AS message_id, u.request_id AS request_id,
  u.input_tokens AS input_tokens, u.output_tokens AS output_tokens, u.cache_read_tokens AS cache_read_tokens,
  u.cache_write_tokens AS cache_write_tokens, u.reasoning_tokens AS reasoning_tokens, u.cost_usd AS cost_usd,
  s.path AS source_path, u.line_number AS line_number
FROM usage_rows u
JOIN event_rows e ON e.id = u.event_id
JOIN source_rows s ON s.id = u.source_id
JOIN agents a ON a.id = s.agent_id
LEFT JOIN session_rows n ON n.id = CASE WHEN u.message_id IS NULL THEN s.session_row ELSE u.call_session END
WHERE CASE WHEN u.message_id IS NULL THEN e.hidden = 0 ELSE u.call_session IS NOT NULL END;

CREATE VIEW memory_blocks AS
SELECT b.name AS name, b.title AS title, a.name AS agent, b.description AS description,
  substr(p.text, b.body_start) AS body,
  b.kind AS kind, b.project AS project, b.source_session AS source_session, b.created_at AS created_at,
  b.updated_at AS updated_at,
  b.aliases AS aliases, b.archived AS archived, b.superseded_by AS superseded_by, b.pinned AS pinned, s.path AS path,
  b.id AS block_id
FROM block_rows b
JOIN source_rows s ON s.id = b.source_id
JOIN agents a ON a.id = s.agent_id
JOIN prose p ON p.id = b.id;

CREATE VIEW memory_facts AS
SELECT a.name AS agent, s.path AS source_path, f.line_number AS line_number, f.offset_bytes AS byte_offset,
  p.text AS text, f.id AS fact_id
FROM memory_fact_rows f
JOIN source_rows s ON s.id = f.source_id
JOIN agents a ON a.id = s.agent_id
JOIN prose p ON p.id = f.id;

CREATE VIEW memory_journal AS
SELECT j.ts AS ts, j.op AS op, j.name AS name, j.detail AS detail, j.source_session AS source_session, j.actor AS by,
  j.line_number AS line_number, s.path AS source_path
FROM journal_rows j JOIN source_rows s ON s.id = j.source_id;

CREATE VIEW memory_provenance AS
WITH written AS (
  SELECT b.name AS name, s.path AS path, lower(coalesce(b.title, b.name)) AS called,
    coalesce(b.source_session, j.source_session) AS session_id,
    coalesce(max(j.ts), b.updated_at, b.created_at) AS ts
  FROM block_rows b
  JOIN source_rows s ON s.id = b.source_id
  JOIN agents a ON a.id = s.agent_id AND a.name = 'aster'
  LEFT JOIN journal_rows j ON j.op = 'remember' AND j.name = b.name AND j.source_session IS NOT NULL
    AND j.source_session = coalesce(b.source_session, j.source_session)
  GROUP BY b.id
  UNION ALL
  SELECT 'ASTER.md:' || f.line_number, s.path, lower(substr(p.text, 1, 120)), j.source_session, max(j.ts)
  FROM memory_fact_rows f
  JOIN prose p ON p.id = f.id
  JOIN source_rows s ON s.id = f.source_id
  JOIN journal_rows j ON j.op = 'append_project' AND j.source_session IS NOT NULL
    AND j.detail = substr(p.text, 1, length(j.detail)) AND length(j.detail) >= min(length(p.text), 100)
  GROUP BY f.id
), plans AS MATERIALIZED (
  SELECT b.source_session AS session_id, b.ts AS began,
    (SELECT min(e.ts) FROM journal_rows e
     WHERE e.op = 'consolidated' AND e.source_session = b.source_session AND e.ts >= b.ts) AS ended
  FROM journal_rows b WHERE b.op = 'apply' AND b.source_session IS NOT NULL
), placed AS MATERIALIZED (
  SELECT w.*, EXISTS (SELECT 1 FROM plans d WHERE d.session_id = w.session_id AND w.ts BETWEEN d.began AND d.ended)
      AS is_planned,
    (SELECT n.id FROM agents g CROSS JOIN session_rows n ON n.agent_id = g.id AND n.session_id = w.session_id
     ORDER BY g.name <> 'aster', g.name LIMIT 1) AS session_row
  FROM written w WHERE w.session_id IS NOT NULL
), found AS MATERIALIZED (
  SELECT p.*, CASE WHEN p.is_planned = 0 THEN (
      SELECT e.id FROM source_rows s CROSS JOIN event_rows e ON e.source_id = s.id
      WHERE s.session_row = p.session_row AND +e.type_code = 6 AND e.hidden = 0 AND e.ts <= p.ts
        AND (lower(e.tool_name) LIKE '%remember' OR e.arguments_head LIKE '%remember %'
          OR e.arguments_head LIKE '%memory add %')
        AND (instr(lower(e.arguments_head), p.called) > 0
          OR instr(replace(lower(e.arguments_head), ' ', '-'), p.called) > 0)
      ORDER BY e.ts DESC, e.id DESC LIMIT 1
    ) END AS named_id, (
      SELECT e.id FROM source_rows s CROSS JOIN event_rows e ON e.source_id = s.id
      WHERE s.session_row = p.session_row AND e.is_prompt = 1 AND e.hidden = 0 AND e.ts <= p.ts
      ORDER BY e.ts DESC, e.id DESC LIMIT 1
    ) AS prompt_id
  FROM placed p
)
SELECT f.name AS name, f.path AS path, f.session_id AS session_id, g.name AS agent, f.ts AS ts,
  CASE WHEN f.named_id IS NOT NULL THEN 'named' WHEN f.prompt_id IS NULL THEN NULL
    WHEN f.is_planned THEN 'consolidated' ELSE 'time' END AS rule,
  s.path AS source_path, e.event_index AS event_index, e.turn_index AS turn_index, e.ts AS event_ts, e.id AS event_id
FROM found f
LEFT JOIN session_rows n ON n.id = f.session_row
LEFT JOIN agents g ON g.id = n.agent_id
LEFT JOIN event_rows e ON e.id = coalesce(f.named_id, f.prompt_id)
LEFT JOIN source_rows s ON s.id = e.source_id;

CREATE VIEW parse_errors AS
SELECT r.id AS id, a.name AS agent, s.path AS source_path, n.session_id AS session_id, r.line_number AS line_number,
  r.offset_bytes AS byte_offset, r.error AS error, r.line_excerpt AS line_excerpt
FROM error_rows r
JOIN source_rows s ON s.id = r.source_id
JOIN agents a ON a.id = s.agent_id
LEFT JOIN session_rows n ON n.id = s.session_row;

CREATE VIEW prompt_history AS
SELECT a.name AS agent, s.path AS source_path, h.line_number AS line_number, h.offset_bytes AS byte_offset,
  h.session_id AS session_id, h.project AS project, h.ts AS ts, p.text AS text, coalesce(h.display, p.text) AS display,
  h.in_transcript AS in_transcript, h.id AS prompt_id
FROM history_rows h
JOIN source_rows s ON s.id = h.source_id
JOIN agents a ON a.id = s.agent_id
JOIN prose p ON p.id = h.id;

CREATE VIEW prompts AS
SELECT agent, session_id, project, source_path, line_number, byte_offset, event_index, turn_index, ts, sort_ts,
  ts_source, text, text_len, 0 AS from_history, event_id AS prompt_id
FROM events WHERE is_prompt = 1 AND canonical = 1
UNION ALL
SELECT a.name, h.session_id, coalesce(n.project, h.project), s.path, h.line_number, h.offset_bytes, NULL, NULL, h.ts,
  coalesce(h.ts, s.file_time),
  CASE WHEN h.ts IS NOT NULL THEN 'record' ELSE 'file' END, p.text, length(p.text), 1, h.id
FROM history_rows h
JOIN source_rows s ON s.id = h.source_id
JOIN agents a ON a.id = s.agent_id
JOIN prose p ON p.id = h.id
LEFT JOIN session_rows n ON n.agent_id = s.agent_id AND n.session_id = h.session_id
WHERE h.in_transcript = 0;

CREATE VIEW retries AS SELECT * FROM events WHERE event_type = 'retry_scheduled' AND canonical = 1;

CREATE VIEW session_files AS
SELECT s.path AS source_path, a.name AS agent, n.session_id AS session_id, s.status AS status, s.error AS error,
  s.size_bytes AS file_size, s.mtime_ns AS file_mtime_ns, s.indexed_at AS indexed_at, s.events AS event_count,
  s.lines_damaged AS parse_error_count, n.cwd AS cwd, n.model AS model, n.mode AS selected_mode,
  s.head_time AS created_at
FROM source_rows s JOIN agents a ON a.id = s.agent_id LEFT JOIN session_rows n ON n.id = s.session_row
WHERE s.kind = 'transcript';

CREATE VIEW session_tree AS
SELECT a.name AS agent, n.session_id AS session_id, r.session_id AS root_session_id,
  n.parent_session_id AS parent_session_id, n.depth AS depth
FROM session_rows n JOIN agents a ON a.id = n.agent_id JOIN session_rows r ON r.id = n.root_row;

CREATE VIEW session_usage AS SELECT * FROM events WHERE event_type = 'session_usage' AND canonical = 1;

CREATE VIEW sessions AS
SELECT n.session_id AS session_id, a.name AS agent, n.project AS project, n.cwd AS cwd, n.git_branch AS git_branch,
  n.model AS model, n.mode AS selected_mode, n.title AS title, n.first_prompt AS first_prompt,
  n.created_at AS created_at, n.updated_at AS updated_at, n.parent_session_id AS parent_session_id,
  n.forked_from AS forked_from, n.imported_from AS imported_from, n.turns AS turns, n.events AS events,
  n.inherited_calls AS inherited_calls
FROM session_rows n JOIN agents a ON a.id = n.agent_id;

CREATE VIEW sources AS
SELECT s.path AS path, a.name AS agent, s.kind AS kind, s.root AS root, s.status AS status, s.error AS error,
  n.session_id AS session_id, s.size_bytes AS size_bytes, s.mtime_ns AS mtime_ns, s.offset_bytes AS offset_bytes,
  s.bytes_pending AS bytes_pending, s.events AS events, s.lines_seen AS lines_seen, s.lines_indexed AS lines_indexed,
  s.lines_skipped AS lines_skipped, s.lines_damaged AS lines_damaged, s.bad_times AS bad_times,
  s.skipped_types AS skipped_types, s.indexed_at AS indexed_at
FROM source_rows s
JOIN agents a ON a.id = s.agent_id
LEFT JOIN session_rows n ON n.id = s.session_row;

CREATE VIEW thinking AS
SELECT agent, session_id, project, source_path, line_number, byte_offset, event_index, turn_index, ts, sort_ts,
  ts_source, text, text_len, model_name, message_id, event_id
FROM events WHERE event_type = 'message_thought' AND canonical = 1;

CREATE VIEW tool_calls AS
SELECT e.session_id, e.agent, e.source_path, e.event_index, e.line_number, e.byte_offset, e.turn_index, e.ts,
  e.sort_ts, e.ts_source, e.kind, e.event_type, e.outcome, e.text, e.text_len, e.content, e.content_len,
  e.tool_call_id, e.tool_name, coalesce(nullif(e.tool_arguments, ''), (
    SELECT r.arguments_head FROM event_rows c JOIN event_rows r
      ON r.source_id = c.source_id AND r.tool_call_id = c.tool_call_id
        AND r.arguments_head IS NOT NULL AND r.type_code <> 6
    WHERE c.id = e.event_id ORDER BY r.line_number LIMIT 1
  ), e.tool_arguments) AS tool_arguments,
  e.model_name, e.message_id, e.project, e.event_id
FROM events e WHERE e.event_type = 'tool_call' AND e.canonical = 1;

CREATE VIEW tool_errors AS SELECT * FROM events WHERE event_type = 'tool_error' AND canonical = 1;

CREATE VIEW tool_results AS SELECT * FROM events WHERE event_type = 'tool_result' AND canonical = 1;

CREATE VIEW user_messages AS SELECT * FROM events WHERE event_type = 'user_message' AND canonical = 1;

CREATE VIRTUAL TABLE prompt_keys USING fts5(
  key, tokenize = 'trigram case_sensitive 1', detail = none, columnsize = 0
);

CREATE VIRTUAL TABLE prose_keys USING fts5(
  key, tokenize = 'trigram case_sensitive 1', detail = none, columnsize = 0
);

CREATE VIRTUAL TABLE prose_words USING fts5(
  text, content = 'prose', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
);

