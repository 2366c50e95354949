package collector

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
)

func (s *studio) states(t *testing.T) map[string]string {
	t.Helper()
	_, body := s.do("GET", "/v1/sessions", "", "")
	var got struct {
		Items []struct {
			SessionID string `json:"session_id"`
			State     string `json:"state"`
		} `json:"items"`
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range got.Items {
		out[s.SessionID] = s.State
	}
	return out
}

func TestSessionsShowTheirState(t *testing.T) {
	s := newStudio(t, nil)
	s.reply(`{"intents":[{"title":"a","ranges":[[1,1]],"status":"completed","verified":false},{"title":"b","ranges":[[1,1]],"status":"active"}]}`)
	s.turn("asked", "a", "b")
	s.turn("asked", "c", "d")
	s.turn("short", "a", "b")
	s.settle()
	if got := s.states(t); got["asked"] != "needs-you" || got["short"] != "" || len(got) != 2 {
		t.Errorf("got %v", got)
	}
	s.stop()
	s.config.SessionSummary.Enabled = false
	s.start()
	if got := s.states(t); got["asked"] != "" || len(got) != 2 {
		t.Errorf("switched off: %v", got)
	}
}

// An agent that starts is told what the session before it left open: by its summary, or by rules.
func TestDigestTellsWhatIsOpen(t *testing.T) {
	const left = "The cap is in upload.go now.\n\nNext steps:\n- rotate the staging token\n- I can also add metrics if you want"
	for _, c := range []struct {
		name          string
		enabled       bool
		after         string // said after the summary was made
		want, wantNot string
	}{
		{"by rules", false, "", "Next: rotate the staging token", "Next: I can"},
		{"by the model", true, "", "Next: call /health (nobody has)", "Next: rotate"},
		{"by rules where the summary is outdated", true, "Which port does it use?", "Next: rotate the staging token", "Next: call"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStudio(t, func(k *config.Config) {
				k.SessionSummary.Enabled, k.SessionSummary.RegenerateAfterTurns = c.enabled, 1000
			})
			s.reply(`{"intents":[{"title":"Health","ranges":[[1,1]],"status":"completed","verified":false,"next_steps":[{"what":"call /health","why":"nobody has"}]}]}`)
			s.turn("old", "Does the server have a health endpoint in server.go?", "It does: /health in server.go.")
			s.turn("old", "Please cap the retries in upload.go at three.", left)
			s.settle()
			if c.after != "" {
				s.turn("old", c.after, "It uses port 8080, from config.go.")
				s.settle()
			}
			_, body := s.do("GET", "/v1/digest?session_id=new&namespace="+url.QueryEscape(event.Namespace("mia", "p")), "", "")
			var d struct {
				Context string `json:"context"`
			}
			if err := json.Unmarshal([]byte(body), &d); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(d.Context, c.want) || strings.Contains(d.Context, c.wantNot) || len(d.Context) > maxDigest {
				t.Errorf("want %q and not %q in\n%s", c.want, c.wantNot, d.Context)
			}
		})
	}
}
