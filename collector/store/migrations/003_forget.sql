-- What is forgotten leaves its table at once, so that no query can find it, and waits here as it was until the time in
-- which it can be brought back has passed.
CREATE TABLE forgettings (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms    INTEGER NOT NULL,
  what     TEXT NOT NULL,               -- "ids", "session", "project" or "search"; never a word of what it was
  events   INTEGER NOT NULL DEFAULT 0,
  records  INTEGER NOT NULL DEFAULT 0,
  sessions INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE trash (
  id         INTEGER PRIMARY KEY,
  forgetting INTEGER NOT NULL REFERENCES forgettings(id) ON DELETE CASCADE,
  tbl        TEXT NOT NULL,
  ns         INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  key        TEXT NOT NULL,             -- the event's or record's id
  row        TEXT NOT NULL              -- a JSON object of its columns
);
CREATE INDEX trash_forgetting ON trash(forgetting, tbl);

-- What was forgotten must not come back when an event of it is delivered late, or again. A session's id is kept as its
-- hash only.
CREATE TABLE tombstones (
  ns         INTEGER NOT NULL,
  key        TEXT NOT NULL,             -- "" for the project, "s:" and the hash of a session's id, "e:" and an event's id
  until_id   TEXT NOT NULL,             -- events with a later id are news and welcome
  forgetting INTEGER NOT NULL,
  PRIMARY KEY (ns, key)
) WITHOUT ROWID;
