-- How many records each namespace has, kept by the database itself: counting 100 000 rows for every prompt is the dearest
-- part of a search. The first statement of the trigger is no INSERT OR IGNORE because a trigger takes over the conflict
-- rule of the statement that fires it.
CREATE TABLE record_counts (
  ns INTEGER PRIMARY KEY,
  n  INTEGER NOT NULL
);
INSERT INTO record_counts(ns, n) SELECT ns, count(*) FROM records GROUP BY ns;
CREATE TRIGGER records_added AFTER INSERT ON records BEGIN
  INSERT INTO record_counts(ns, n) SELECT new.ns, 0 WHERE NOT EXISTS (SELECT 1 FROM record_counts WHERE ns = new.ns);
  UPDATE record_counts SET n = n + 1 WHERE ns = new.ns;
END;
CREATE TRIGGER records_gone AFTER DELETE ON records BEGIN
  UPDATE record_counts SET n = n - 1 WHERE ns = old.ns;
END;
CREATE TRIGGER records_moved AFTER UPDATE OF ns ON records WHEN old.ns <> new.ns BEGIN
  UPDATE record_counts SET n = n - 1 WHERE ns = old.ns;
  INSERT INTO record_counts(ns, n) SELECT new.ns, 0 WHERE NOT EXISTS (SELECT 1 FROM record_counts WHERE ns = new.ns);
  UPDATE record_counts SET n = n + 1 WHERE ns = new.ns;
END;
