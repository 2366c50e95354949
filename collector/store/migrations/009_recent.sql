-- What is said of a session as a whole is in a namespace of its own, of which there are as many as sessions: nobody counts it
-- by the hour.
DELETE FROM hours WHERE ns IN (SELECT id FROM namespaces WHERE namespace LIKE '/strategy/%');
DROP TRIGGER hours_record_added;
CREATE TRIGGER hours_record_added AFTER INSERT ON records WHEN (SELECT namespace FROM namespaces WHERE id = new.ns) NOT LIKE '/strategy/%' BEGIN
  INSERT INTO hours(ns, hour, what, n) SELECT new.ns, new.created_ms / 3600000, 'r' || new.type, 0
    WHERE NOT EXISTS (SELECT 1 FROM hours WHERE ns = new.ns AND hour = new.created_ms / 3600000 AND what = 'r' || new.type);
  UPDATE hours SET n = n + 1 WHERE ns = new.ns AND hour = new.created_ms / 3600000 AND what = 'r' || new.type;
END;
DROP TRIGGER hours_record_moved;
CREATE TRIGGER hours_record_moved AFTER UPDATE OF ns, type, created_ms ON records WHEN (SELECT namespace FROM namespaces WHERE id = new.ns) NOT LIKE '/strategy/%' BEGIN
  UPDATE hours SET n = n - 1 WHERE ns = old.ns AND hour = old.created_ms / 3600000 AND what = 'r' || old.type;
  DELETE FROM hours WHERE ns = old.ns AND hour = old.created_ms / 3600000 AND what = 'r' || old.type AND n <= 0;
  INSERT INTO hours(ns, hour, what, n) SELECT new.ns, new.created_ms / 3600000, 'r' || new.type, 0
    WHERE NOT EXISTS (SELECT 1 FROM hours WHERE ns = new.ns AND hour = new.created_ms / 3600000 AND what = 'r' || new.type);
  UPDATE hours SET n = n + 1 WHERE ns = new.ns AND hour = new.created_ms / 3600000 AND what = 'r' || new.type;
END;

-- The hours of all projects since a time, and a session's records.
CREATE INDEX hours_recent ON hours(hour);
DROP INDEX records_session;
CREATE INDEX records_session ON records(session_id, ns) WHERE session_id <> '';
