package collector

import "kiro-learn/internal/event"

// savedRecords are the records that an agent saved itself and that notes among the events carry. A record that claims
// to be anything but that is passed over: its note is stored, and that is all.
func (c *Collector) savedRecords(events ...event.Event) []event.Record {
	var out []event.Record
	for i := range events {
		e := &events[i]
		s := e.Saved()
		if s == nil {
			continue
		}
		r := *s.Record
		own := r.Strategy == event.StrategyMCPObservation || r.Strategy == event.StrategyMCPSessionSummary
		if !own || r.Namespace != e.Namespace || len(r.SourceEventIDs) != 1 || r.SourceEventIDs[0] != e.EventID {
			c.o.Log.Warn("a note carries a record that is not its own", nil)
			continue
		}
		c.scrubRecord(&r)
		if len(r.Problems()) > 0 {
			c.o.Log.Warn("a note carries a record that breaks the wire contract", nil)
			continue
		}
		out = append(out, r)
	}
	return out
}
