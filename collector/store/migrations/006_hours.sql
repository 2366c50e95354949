-- How many events of each kind and records of each type there are by the hour, kept by the database itself: pages and
-- lists count by it, and never by walking the rows. As in record_counts, no INSERT OR IGNORE: a trigger takes over the
-- conflict rule of the statement that fires it.
CREATE TABLE hours (
  ns   INTEGER NOT NULL,
  hour INTEGER NOT NULL,  -- since 1970, of when it happened
  what TEXT NOT NULL,     -- "e" and an event's kind, or "r" and a record's type
  n    INTEGER NOT NULL,
  PRIMARY KEY (ns, hour, what)
) WITHOUT ROWID;

INSERT INTO hours(ns, hour, what, n) SELECT ns, coalesce(strftime('%s', valid_time), received_ms / 1000) / 3600 AS hour, 'e' || kind, count(*)
  FROM events GROUP BY ns, hour, kind;
INSERT INTO hours(ns, hour, what, n) SELECT ns, created_ms / 3600000 AS hour, 'r' || type, count(*) FROM records GROUP BY ns, hour, type;

CREATE TRIGGER hours_event_added AFTER INSERT ON events BEGIN
  INSERT INTO hours(ns, hour, what, n) SELECT new.ns, coalesce(strftime('%s', new.valid_time), new.received_ms / 1000) / 3600, 'e' || new.kind, 0
    WHERE NOT EXISTS (SELECT 1 FROM hours WHERE ns = new.ns AND hour = coalesce(strftime('%s', new.valid_time), new.received_ms / 1000) / 3600 AND what = 'e' || new.kind);
  UPDATE hours SET n = n + 1 WHERE ns = new.ns AND hour = coalesce(strftime('%s', new.valid_time), new.received_ms / 1000) / 3600 AND what = 'e' || new.kind;
END;
CREATE TRIGGER hours_event_gone AFTER DELETE ON events BEGIN
  UPDATE hours SET n = n - 1 WHERE ns = old.ns AND hour = coalesce(strftime('%s', old.valid_time), old.received_ms / 1000) / 3600 AND what = 'e' || old.kind;
  DELETE FROM hours WHERE ns = old.ns AND hour = coalesce(strftime('%s', old.valid_time), old.received_ms / 1000) / 3600 AND what = 'e' || old.kind AND n <= 0;
END;
CREATE TRIGGER hours_event_moved AFTER UPDATE OF ns, kind, valid_time ON events BEGIN
  UPDATE hours SET n = n - 1 WHERE ns = old.ns AND hour = coalesce(strftime('%s', old.valid_time), old.received_ms / 1000) / 3600 AND what = 'e' || old.kind;
  DELETE FROM hours WHERE ns = old.ns AND hour = coalesce(strftime('%s', old.valid_time), old.received_ms / 1000) / 3600 AND what = 'e' || old.kind AND n <= 0;
  INSERT INTO hours(ns, hour, what, n) SELECT new.ns, coalesce(strftime('%s', new.valid_time), new.received_ms / 1000) / 3600, 'e' || new.kind, 0
    WHERE NOT EXISTS (SELECT 1 FROM hours WHERE ns = new.ns AND hour = coalesce(strftime('%s', new.valid_time), new.received_ms / 1000) / 3600 AND what = 'e' || new.kind);
  UPDATE hours SET n = n + 1 WHERE ns = new.ns AND hour = coalesce(strftime('%s', new.valid_time), new.received_ms / 1000) / 3600 AND what = 'e' || new.kind;
END;

CREATE TRIGGER hours_record_added AFTER INSERT ON records BEGIN
  INSERT INTO hours(ns, hour, what, n) SELECT new.ns, new.created_ms / 3600000, 'r' || new.type, 0
    WHERE NOT EXISTS (SELECT 1 FROM hours WHERE ns = new.ns AND hour = new.created_ms / 3600000 AND what = 'r' || new.type);
  UPDATE hours SET n = n + 1 WHERE ns = new.ns AND hour = new.created_ms / 3600000 AND what = 'r' || new.type;
END;
CREATE TRIGGER hours_record_gone AFTER DELETE ON records BEGIN
  UPDATE hours SET n = n - 1 WHERE ns = old.ns AND hour = old.created_ms / 3600000 AND what = 'r' || old.type;
  DELETE FROM hours WHERE ns = old.ns AND hour = old.created_ms / 3600000 AND what = 'r' || old.type AND n <= 0;
END;
CREATE TRIGGER hours_record_moved AFTER UPDATE OF ns, type, created_ms ON records BEGIN
  UPDATE hours SET n = n - 1 WHERE ns = old.ns AND hour = old.created_ms / 3600000 AND what = 'r' || old.type;
  DELETE FROM hours WHERE ns = old.ns AND hour = old.created_ms / 3600000 AND what = 'r' || old.type AND n <= 0;
  INSERT INTO hours(ns, hour, what, n) SELECT new.ns, new.created_ms / 3600000, 'r' || new.type, 0
    WHERE NOT EXISTS (SELECT 1 FROM hours WHERE ns = new.ns AND hour = new.created_ms / 3600000 AND what = 'r' || new.type);
  UPDATE hours SET n = n + 1 WHERE ns = new.ns AND hour = new.created_ms / 3600000 AND what = 'r' || new.type;
END;

-- Lists over all projects, newest first, without sorting every record.
CREATE INDEX records_time ON records(created_ms);

-- At which prompt a session was shown a record, and why: JSON, empty where that is not known.
ALTER TABLE shown ADD COLUMN event_id TEXT NOT NULL DEFAULT '';
ALTER TABLE shown ADD COLUMN why TEXT NOT NULL DEFAULT '';
