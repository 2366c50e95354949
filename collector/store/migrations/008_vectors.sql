-- What an embedding model made of records, where the user has named one. A vector is of one state of its record: what
-- changes or moves a record takes its vector away, and so does what removes it.
CREATE TABLE vectors (
  record INTEGER PRIMARY KEY REFERENCES records(id) ON DELETE CASCADE,
  ns     INTEGER NOT NULL,
  model  TEXT NOT NULL,
  vector BLOB NOT NULL -- a signed byte for each dimension; empty for a record that the model refuses
);
CREATE INDEX vectors_ns ON vectors(ns);
CREATE TRIGGER records_changed AFTER UPDATE OF revision, ns ON records BEGIN
  DELETE FROM vectors WHERE record = old.id;
END;
