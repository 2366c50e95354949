package main

import (
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/client"
)

// An hour that a clock shows twice is told apart, and the order is that of what happened.
func TestSessionsAroundAChangeOfClocks(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip(err) // a machine without the list of zones
	}
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tt := range []struct{ utc, want string }{
		{"2026-11-01T04:59:00Z", "2026-11-01 00:59"},
		{"2026-11-01T05:00:00Z", "2026-11-01 01:00 EDT"},
		{"2026-11-01T05:59:59Z", "2026-11-01 01:59 EDT"},
		{"2026-11-01T06:00:00Z", "2026-11-01 01:00 EST"},
		{"2026-11-01T06:59:59Z", "2026-11-01 01:59 EST"},
		{"2026-11-01T07:00:00Z", "2026-11-01 02:00"},
		{"2026-03-08T06:59:00Z", "2026-03-08 01:59"},
		{"2026-03-08T07:00:00Z", "2026-03-08 03:00"},
		{"2026-07-01T12:00:00Z", "2026-07-01 08:00"},
	} {
		if got := stamp(at(tt.utc), zone); got != tt.want {
			t.Errorf("%s is shown as %s, want %s", tt.utc, got, tt.want)
		}
	}
	if got := stamp(at("2026-10-25T01:30:00Z"), time.UTC); got != "2026-10-25 01:30" {
		t.Errorf("UTC: %s", got)
	}
	var b strings.Builder
	err = printSessions(&b, []client.Session{
		{SessionID: "0123456789012345678901234567890", LastEvent: at("2026-11-01T06:10:00Z"), Prompts: 1, Records: 2, State: "needs-you", Title: "Cap\x1b the\nretries"},
		{SessionID: "b", LastEvent: at("2026-11-01T05:50:00Z"), Prompts: 2, Records: 1, Title: "Rename"},
	}, false, zone)
	want := "2026-11-01 01:10 EST  needs you  1 prompt, 2 records  01234567890123456789012…  Cap the retries\n" +
		"2026-11-01 01:50 EDT             2 prompts, 1 record  b                         Rename\n"
	if err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestSpansAreSaidAsAPersonSaysThem(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "just now", 119 * time.Second: "just now", 2 * time.Minute: "2 minutes ago", 119 * time.Minute: "119 minutes ago",
		2 * time.Hour: "2 hours ago", 47 * time.Hour: "47 hours ago", 48 * time.Hour: "2 days ago", -time.Hour: "just now",
	} {
		if got := ago(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
