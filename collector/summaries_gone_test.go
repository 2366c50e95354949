package collector

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Switching summaries off stops their being served too, whatever is stored; switched on again, they are there.
func TestASummaryIsNotServedOnceSwitchedOff(t *testing.T) {
	s := newStudio(t, nil)
	s.turn("s", "cap the retries at three", "done")
	s.turn("s", "and a test for it", "done")
	s.settle()
	for _, on := range []bool{true, false, true} {
		s.stop()
		s.config.SessionSummary.Enabled = on
		s.start()
		_, body := s.do("GET", "/v1/sessions/s/summary", "", "")
		_, list := s.do("GET", "/v1/sessions", "", "")
		if strings.Contains(body, "Cap the retries") != on || strings.Contains(list, `"state":"in-progress"`) != on || !on && strings.TrimSpace(body) != `{"enabled":false}` {
			t.Errorf("on is %v: %s\n%s", on, body, list)
		}
	}
	if n := s.calls(); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
}

func TestASummaryIsForgottenWithItsSession(t *testing.T) {
	s := newStudio(t, nil)
	const title = "Tame the zebraqux"
	s.reply(`{"intents":[{"title":"` + title + `","ranges":[[1,1]],"status":"active"}]}`)
	s.turn("s", "cap the retries at three", "done")
	s.turn("s", "and a test for it", "done")
	s.settle()
	if _, body := s.do("GET", "/v1/sessions/s/summary", "", ""); !strings.Contains(body, title) {
		t.Fatalf("there is none: %s", body)
	}
	if status, body := s.do("DELETE", "/v1/sessions/s?now=true", "", ""); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if status, v := s.summary("GET", "s"); status != 404 || v.Code != "session_not_found" {
		t.Errorf("afterwards: %d %+v", status, v)
	}
	s.stop()
	found, err := filepath.Glob(s.dirs.Database() + "*")
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	for _, f := range found {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(title)) {
			t.Errorf("%s still holds it", filepath.Base(f))
		}
	}
}
