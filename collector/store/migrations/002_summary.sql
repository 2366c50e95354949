-- What a language model made of a session: where it stood when last_event was its newest event and gen its counter.
-- It goes when the session goes.
CREATE TABLE session_summaries (
  ns           INTEGER NOT NULL,
  session_id   TEXT NOT NULL,
  sig          TEXT NOT NULL,    -- the session's newest event
  gen          INTEGER NOT NULL, -- and its counter, both from before the model was asked
  user_turns   INTEGER NOT NULL,
  state        TEXT NOT NULL,    -- of the session in one word, for lists
  generated_ms INTEGER NOT NULL,
  data         TEXT NOT NULL,    -- JSON, already redacted
  PRIMARY KEY (ns, session_id),
  FOREIGN KEY (ns, session_id) REFERENCES sessions(ns, session_id) ON DELETE CASCADE
) WITHOUT ROWID;

-- A rewrite of an event moves its session's counter, whoever rewrites it and whatever it does to the times.
CREATE TRIGGER events_rewritten AFTER UPDATE OF body, kind, parent_event_id, event_id, valid_time ON events BEGIN
  UPDATE sessions SET gen = gen + 1 WHERE ns = new.ns AND session_id = new.session_id;
END;
CREATE TRIGGER events_removed AFTER DELETE ON events BEGIN
  UPDATE sessions SET gen = gen + 1 WHERE ns = old.ns AND session_id = old.session_id;
END;

-- Records about a session as a whole. Their namespace is the session's own, so recall never meets them in a project; about
-- names the namespace that the session belongs to, so that they are found again by it.
ALTER TABLE records ADD COLUMN record_type TEXT NOT NULL DEFAULT ''; -- CHUNK, FULL_SESSION; empty for a record of a project
ALTER TABLE records ADD COLUMN about INTEGER NOT NULL DEFAULT 0;
CREATE INDEX records_about ON records(about, session_id) WHERE about <> 0;
