-- Lists of records and how long they are, by time and type, without a look at the records themselves.
DROP INDEX records_time;
CREATE INDEX records_time ON records(created_ms, type) WHERE record_type = '';
DROP INDEX records_created;
CREATE INDEX records_created ON records(ns, created_ms, type);
