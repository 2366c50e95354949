-- What each event costs to write. The store counts new events by the hour itself, those of a job together: the trigger cost
-- each of them several statements and a journal. What goes or moves is counted by the triggers that stay. And a session that
-- is asked for without its namespace is looked for in each namespace: there are few.
DROP TRIGGER hours_event_added;
DROP INDEX events_by_session;
