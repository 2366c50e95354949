-- A record that another one says again, or better, leaves its table for this one: nothing recalls it any more, and it can
-- be brought back as it was.
CREATE TABLE history (
  record_id  TEXT PRIMARY KEY,
  ns         INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  by_id      TEXT NOT NULL,     -- the record that stands in its place
  why        TEXT NOT NULL,     -- "duplicate", "model"
  at_ms      INTEGER NOT NULL,
  row        TEXT NOT NULL      -- a JSON object of its columns
) WITHOUT ROWID;
CREATE INDEX history_by ON history(by_id);

-- pending is 1 until an event is distilled. From 2 on it has been distilled by the rules because the model failed, and the
-- model is to try again: the number says how often it has.
CREATE INDEX events_later ON events(ns, session_id, event_id) WHERE pending > 1;
