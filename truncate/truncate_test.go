package truncate

import (
	"strings"
	"testing"

	"kiro-learn/internal/event"
)

func TestTextIsCutAtTheByte(t *testing.T) {
	frame := len(event.TextBody(""))
	for _, n := range []int{event.MaxHookBody - frame - 1, event.MaxHookBody - frame} {
		in := event.TextBody(strings.Repeat("a", n))
		if got := Body(in, event.MaxHookBody); string(got) != string(in) {
			t.Errorf("a body of %d bytes fits and was cut to %d", len(in), len(got))
		}
	}
	got := Body(event.TextBody(strings.Repeat("a", event.MaxHookBody-frame+1)), event.MaxHookBody)
	want := string(event.TextBody(strings.Repeat("a", event.MaxHookBody-frame-len(Marker)) + Marker))
	if string(got) != want {
		t.Errorf("one byte over: got %d bytes, want %d", len(got), len(want))
	}
}
