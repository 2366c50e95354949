package payload

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func BenchmarkScan(b *testing.B) {
	logLine := "2026-11-30T09:00:00Z shop/upload retry 1 of 3 after 200 ms: connection reset by peer\\n"
	for _, size := range []int{4 << 10, 200 << 10, 2 << 20, 30 << 20} {
		for _, kind := range []struct{ name, unit string }{{"log", logLine}, {"han", "漢字のログ"}, {"escapes", `\"a\"\t`}} {
			in := []byte(`{"hook_event_name":"postToolUse","tool_response":{"success":true,"result":[{"stdout":"` +
				strings.Repeat(kind.unit, size/len(kind.unit)) + `"}]},"session_id":"s","tool_name":"execute_bash"}`)
			b.Run(fmt.Sprintf("%s/%dKB", kind.name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(in)))
				b.ReportAllocs()
				for b.Loop() {
					p := Read(Request{Name: "postToolUse", Stdin: bytes.NewReader(in)})
					if p.ToolName != "execute_bash" || p.SessionID != "s" {
						b.Fatalf("fields behind the big one are lost: %+v", p.Notes)
					}
				}
			})
		}
	}
	numbers := []byte(`{"tool_response":[` + strings.Repeat(`{"n":12345,"ok":true},`, 100_000) + `null],"tool_name":"t"}`)
	b.Run("structure/2MB", func(b *testing.B) {
		b.SetBytes(int64(len(numbers)))
		b.ReportAllocs()
		for b.Loop() {
			Read(Request{Name: "postToolUse", Stdin: bytes.NewReader(numbers)})
		}
	})
}
