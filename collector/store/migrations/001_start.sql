-- Every event and memory record lives in one file. Text that repeats in every row (the namespace) is stored once.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE namespaces (
  id           INTEGER PRIMARY KEY,
  namespace    TEXT NOT NULL UNIQUE,
  project_path TEXT NOT NULL DEFAULT ''
);

CREATE TABLE sessions (
  ns         INTEGER NOT NULL REFERENCES namespaces(id),
  session_id TEXT NOT NULL,
  surface    TEXT NOT NULL,
  first_ms   INTEGER NOT NULL,
  last_ms    INTEGER NOT NULL,
  events     INTEGER NOT NULL DEFAULT 0,
  prompts    INTEGER NOT NULL DEFAULT 0,
  title      TEXT NOT NULL DEFAULT '',
  last_event TEXT NOT NULL DEFAULT '',  -- the newest event id
  gen        INTEGER NOT NULL DEFAULT 0, -- advances with every change of the session's content
  PRIMARY KEY (ns, session_id)
) WITHOUT ROWID;
CREATE INDEX sessions_last ON sessions(last_ms);

CREATE TABLE events (
  seq             INTEGER PRIMARY KEY,
  event_id        TEXT NOT NULL UNIQUE,
  ns              INTEGER NOT NULL REFERENCES namespaces(id),
  session_id      TEXT NOT NULL,
  kind            TEXT NOT NULL,
  parent_event_id TEXT NOT NULL DEFAULT '',
  actor_id        TEXT NOT NULL,
  valid_time      TEXT NOT NULL,
  source          TEXT NOT NULL,
  content_hash    TEXT NOT NULL DEFAULT '',
  body            TEXT NOT NULL,
  received_ms     INTEGER NOT NULL,
  via             TEXT NOT NULL DEFAULT '',  -- which registration of the hook fired
  fired_us        INTEGER NOT NULL DEFAULT 0, -- when its process began and was done, to tell a double firing
  done_us         INTEGER NOT NULL DEFAULT 0,
  pending         INTEGER NOT NULL DEFAULT 1  -- 1 until distilled
);
CREATE INDEX events_session ON events(ns, session_id, event_id);
CREATE INDEX events_by_session ON events(session_id, event_id);
CREATE INDEX events_pending ON events(ns, session_id, event_id) WHERE pending = 1;

CREATE TABLE records (
  id         INTEGER PRIMARY KEY,
  record_id  TEXT NOT NULL UNIQUE,
  ns         INTEGER NOT NULL REFERENCES namespaces(id),
  session_id TEXT NOT NULL DEFAULT '',
  strategy   TEXT NOT NULL,
  type       TEXT NOT NULL,
  title      TEXT NOT NULL,
  summary    TEXT NOT NULL,
  facts      TEXT NOT NULL,
  concepts   TEXT NOT NULL,
  files      TEXT NOT NULL,
  sources    TEXT NOT NULL,
  created_at TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  revision   INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX records_ns ON records(ns);
CREATE INDEX records_created ON records(ns, created_ms);
CREATE INDEX records_session ON records(session_id) WHERE session_id <> '';

CREATE TABLE shown (
  ns         INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  record     INTEGER NOT NULL REFERENCES records(id) ON DELETE CASCADE,
  revision   INTEGER NOT NULL,
  at_ms      INTEGER NOT NULL,
  PRIMARY KEY (ns, session_id, record)
) WITHOUT ROWID;
CREATE INDEX shown_record ON shown(record);

-- The words of the records. Every word bears its namespace's key, so that a search walks its own namespace's word lists
-- only; recall makes the words. secure-delete takes a forgotten record's words out of the index at once.
CREATE VIRTUAL TABLE search USING fts5(title, summary, facts, concepts, files, tokenize = "ascii tokenchars '_'");
INSERT INTO search(search, rank) VALUES ('secure-delete', 1);
INSERT INTO search(search, rank) VALUES ('rank', 'bm25(4.0, 1.0, 1.5, 1.5, 2.0)');
CREATE VIRTUAL TABLE search_terms USING fts5vocab(search, row);
