package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMembersGivesEveryValueRaw(t *testing.T) {
	in := ` {"a" : 1.0,"b\n":{"x":[1,"}"]} , "c":"q\"]" ,"d":[ ],"e":null}  tail`
	var got []string
	if !Members([]byte(in), func(k string, v []byte) bool { got = append(got, k+"="+string(v)); return true }) {
		t.Fatal("a whole object was refused")
	}
	want := "a=1.0|b\n={\"x\":[1,\"}\"]}|c=\"q\\\"]\"|d=[ ]|e=null"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got %q, want %q", s, want)
	}
	for _, bad := range []string{"", "[1]", `{"a":`, `{"a":1`, `{a:1}`, `{"a" 1}`, `"x"`} {
		if Members([]byte(bad), func(string, []byte) bool { return true }) {
			t.Errorf("%q passed as a whole object", bad)
		}
	}
}

func TestElements(t *testing.T) {
	var got []string
	ok := Elements([]byte(`[1, "a]" ,{"b":[2]},[] ]`), func(v []byte) bool { got = append(got, string(v)); return true })
	if want := `1|"a]"|{"b":[2]}|[]`; !ok || strings.Join(got, "|") != want {
		t.Errorf("got %v %q, want %q", ok, got, want)
	}
}

func TestMapStringsChangesOnlyWhatChanges(t *testing.T) {
	in := `{"key":["a\/b",{"n":12345678901234567890,"secret":"xx"}]}`
	got := string(MapStrings([]byte(in), func(s string) string { return strings.ReplaceAll(s, "xx", "\"") }))
	if want := `{"key":["a\/b",{"n":12345678901234567890,"secret":"\""}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestValueEndIsNotRecursive(t *testing.T) {
	deep := strings.Repeat("[", 5_000_000)
	if _, ok := ValueEnd([]byte(deep), 0); ok {
		t.Error("an open value passed as whole")
	}
	whole := deep + strings.Repeat("]", 5_000_000)
	if e, ok := ValueEnd([]byte(whole), 0); !ok || e != len(whole) {
		t.Errorf("got %d %v, want %d true", e, ok, len(whole))
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a", "\x00\x1f\x7f\u2028<>&", "\xff\xfe", "漢😀", `\"`, "a\u200db"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := AppendString(nil, s)
		var std string
		if err := json.Unmarshal(q, &std); err != nil {
			t.Fatalf("%q is not JSON: %v", q, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && std != want {
			t.Errorf("encoding/json reads %q, want %q", std, want)
		}
		if back := Unquote(q); back != std {
			t.Errorf("Unquote gives %q, encoding/json %q", back, std)
		}
	})
}

func FuzzWalk(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"c"}]}`, `[`, `{"a":"\ud83d"}`, `{"C:\Users":"\u12"}`, "\"\\", `{"a"}`, `}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := Members(b, func(string, []byte) bool { return true })
		Elements(b, func([]byte) bool { return true })
		Strings(b, func(start, end int) { Unquote(b[start:end]) })
		if out := MapStrings(b, strings.ToUpper); whole && json.Valid(b) && !json.Valid(out) {
			t.Errorf("valid %q became invalid %q", b, out)
		}
		if json.Valid(b) {
			i := Space(b, 0)
			if e, ok := ValueEnd(b, i); !ok || Space(b, e) != len(b) {
				t.Errorf("%q: value ends at %d, %v", b, e, ok)
			}
		}
	})
}
