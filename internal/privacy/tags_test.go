package privacy

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPrivate(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "plain text", "plain text"},
		{"empty", "", ""},
		{"empty tag", "a <private></private> b", "a [REDACTED] b"},
		{"two", "a <private>x</private> b <private>y</private> c", "a [REDACTED] b [REDACTED] c"},
		{"glued to a word", "List<private>x</private>y", "List[REDACTED]y"},
		{"nested, unclosed", "a <private>x <private>y</private> z", "a [REDACTED]"},
		{"three deep", "<private>1<private>2<private>3</private>4</private>5</private>6", "[REDACTED]6"},
		{"spaces inside", "a < private >x</ private > b", "a [REDACTED] b"},
		{"space before the slash", "a <private>x< / private> b", "a [REDACTED] b"},
		{"newline behind the name", "a <private\n>x</private\n> b", "a [REDACTED] b"},
		{"newline in the name", "a <priv\nate>x</priv\r\nate> b", "a [REDACTED] b"},
		{"attribute with a bracket", `a <private why="a>b">x</private> b`, "a [REDACTED] b"},
		{"attribute with a closing tag", `a <private why="</private>">x</private> b`, "a [REDACTED] b"},
		{"attribute in single quotes", `a <private why='>'>x</private> b`, "a [REDACTED] b"},
		{"attribute without end", `a <private why="x>y</private> b`, "a [REDACTED] b"},
		{"bracket forgotten", "a <private my word is x</private> b", "a [REDACTED] b"},
		{"self-closing opens", "a <private/>x", "a [REDACTED]"},
		{"closing tag with an attribute", "a <private>x</private why=1> b", "a [REDACTED] b"},
		{"json escapes", `a \u003cprivate\u003ex\u003c/private\u003e b`, "a [REDACTED] b"},
		{"json escapes, capitals", `a \u003Cprivate\u003Ex\u003C/private\u003E b`, "a [REDACTED] b"},
		{"json escapes, twice", `a \\u003cprivate\\u003ex\\u003c/private\\u003e b`, "a [REDACTED] b"},
		{"json escapes, three times", `a \\\\u003cprivate\\\\u003ex\\\\u003c\\/private\\\\u003e b`, "a [REDACTED] b"},
		{"escaped slash", `a <private>x<\/private> b`, "a [REDACTED] b"},
		{"hex escapes", `a \x3cprivate\x3ex\x3c/private\x3e b`, "a [REDACTED] b"},
		{"braced escapes", `a \u{3c}private\u{3E}x\u{03c}/private\u{3e} b`, "a [REDACTED] b"},
		{"octal escapes", `a \74private\076x\074/private\76 b`, "a [REDACTED] b"},
		{"entities", "a &lt;private&gt;x&lt;/private&gt; b", "a [REDACTED] b"},
		{"entities in capitals", "a &LT;private&GT;x&LT;/private&GT; b", "a [REDACTED] b"},
		{"entities without semicolons", "a &ltprivate&gtx&lt/private&gt b", "a [REDACTED] b"},
		{"entities twice", "a &amp;lt;private&amp;gt;x&amp;lt;/private&amp;gt; b", "a [REDACTED] b"},
		{"decimal entities", "a &#60;private&#62;x&#060;/private&#62; b", "a [REDACTED] b"},
		{"hex entities", "a &#x3c;private&#x3E;x&#X003C;&#x2f;private&#x3e; b", "a [REDACTED] b"},
		{"entity in a json escape", `a \u0026lt;private\u0026gt;x\u0026lt;/private\u0026gt; b`, "a [REDACTED] b"},
		{"percent", "a %3Cprivate%3Ex%3c%2fprivate%3e b", "a [REDACTED] b"},
		{"percent twice", "a %253Cprivate%253Ex%253C%252Fprivate%253E b", "a [REDACTED] b"},
		{"percent with u", "a %u003cprivate%u003ex%u003c/private%u003e b", "a [REDACTED] b"},
		{"entity in percent", "a %26lt%3Bprivate%26gt%3Bx%26lt%3B/private%26gt%3B b", "a [REDACTED] b"},
		{"quoted-printable", "a =3Cprivate=3Ex=3C/private=3E b", "a [REDACTED] b"},
		{"full width", "a ＜private＞x＜/private＞ b", "a [REDACTED] b"},
		{"full width letters", "a ＜ｐｒｉｖａｔｅ＞x＜／ＰＲＩＶＡＴＥ＞ b", "a [REDACTED] b"},
		{"full width in percent", "a %EF%BC%9Cprivate%EF%BC%9Ex%EF%BC%9C/private%EF%BC%9E b", "a [REDACTED] b"},
		{"full width in json", `a \uff1cprivate\uff1ex\uff1c/private\uff1e b`, "a [REDACTED] b"},
		{"small forms", "a ﹤private﹥x﹤/private﹥ b", "a [REDACTED] b"},
		{"zero width in the name", "a <pri\u200bvate>x</p\u2060rivate\ufeff> b", "a [REDACTED] b"},
		{"soft hyphen entity", "a <pri&shy;vate>x</private> b", "a [REDACTED] b"},
		{"nul and broken bytes in the name", "a <pri\x00va\xffte>x</private> b", "a [REDACTED] b"},
		{"coloured by grep", "a <\x1b[01;31m\x1b[Kprivate\x1b[m\x1b[K>x</\x1b[31mprivate\x1b[m> b", "a [REDACTED] b"},
		{"coloured, in json", `a <\u001b[31mprivate\u001b[0m>x</\u001b[31mprivate\u001b[0m> b`, "a [REDACTED] b"},
		{"letters encoded", `a <\u0070&#114;%69vate>x</private> b`, "a [REDACTED] b"},
		{"closed in another spelling", "a <private>x&lt;/private&gt; b", "a [REDACTED] b"},
		{"closing tag too many", `a <private>x \u003c/private\u003e y</private> b`, "a [REDACTED] b"},
		{"excerpt that begins inside", "x\ny</private>\nb", "[REDACTED]\nb"},
		{"closing tag mentioned", "end it with `</private>` please", "end it with `</private>` please"},
		{"opening tag mentioned", "what does `<private>` do?", "what does `<private>` do?"},
		{"both mentioned", "`<private>`x`</private>` y", "`[REDACTED]` y"},
		{"type argument", "Local<Private> key = f();", "Local<Private> key = f();"},
		{"type argument before a tag", "Local<Private> a <private>x</private> b", "Local[REDACTED]"},
		{"glued to a word, unclosed", "word<private>x", "word[REDACTED]"},
		{"capital, unclosed", "a <Private>x", "a [REDACTED]"},
		{"perl documentation", "see C<private> and\nI<private>", "see C<private> and\nI<private>"},
		{"cut in the name", "a <priv", "a <priv"},
		{"cut behind the name", "a <private", "a [REDACTED]"},
		{"cut in an attribute", `a <private why="x`, "a [REDACTED]"},
		{"cut in the closing tag", "a <private>x</priv", "a [REDACTED]"},
		{"cut in an escape", `a \u003`, `a \u003`},
		{"longer names", "<privateer> <private-network> <privateKey> <private_x> <private.y> <private:z> <private2> <privaté> <Private*>(x)", "<privateer> <private-network> <privateKey> <private_x> <private.y> <private:z> <private2> <privaté> <Private*>(x)"},
		{"comparison", "if a < private && b {", "if a < private && b {"},
		{"the word", "private: a private word, %private, &private; \\private", "private: a private word, %private, &private; \\private"},
		{"many backslashes", strings.Repeat(`\`, 4001) + "u003cprivate>x", "[REDACTED]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Scrubber{}.Text(c.in)
			if got != c.want {
				t.Errorf("%q\nbecame     %q\ninstead of %q", c.in, got, c.want)
			}
			if again := (Scrubber{}).Text(got); again != got {
				t.Errorf("again: %q", again)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", `{"a": [1, "b", null]}`, `{"a": [1, "b", null]}`},
		{"value", `{"a":"x <private>y</private> z","b":2}`, `{"a":"x [REDACTED] z","b":2}`},
		{"escaped", `{"a":"\u003cprivate\u003ey\u003c\/private\u003e","b":"\u00e9"}`, `{"a":"[REDACTED]","b":"\u00e9"}`},
		{"key", `{"<private>k</private>":1}`, `{"[REDACTED]":1}`},
		{"does not reach into the next string", `["<private>x","y</private>z","w"]`, `["[REDACTED]","[REDACTED]z","w"]`},
		{"json inside", `{"r":"{\"a\":\"\\u003cprivate\\u003ey\\u003c/private\\u003e\"}"}`, `{"r":"{\"a\":\"[REDACTED]\"}"}`},
		{"secret by its key", `{"user":"mia","password":"hunter22","n":{"apiKey":"q1w2e3r4t5y6"}}`, `{"user":"mia","password":"[REDACTED]","n":{"apiKey":"[REDACTED]"}}`},
		{"key does not reach further", `{"password":["a1b2c3d4"],"x":"a1b2c3d4"}`, `{"password":["a1b2c3d4"],"x":"a1b2c3d4"}`},
		{"secret behind its flag", `["login","--password","hunter22","-v","hunter22"]`, `["login","--password","[REDACTED]","-v","hunter22"]`},
		{"name and value", `[{"name":"DB_PASSWORD","value":"hunter22"},{"name":"LEVEL","value":"debug22"}]`, `[{"name":"DB_PASSWORD","value":"[REDACTED]"},{"name":"LEVEL","value":"debug22"}]`},
		{"header", `{"headers":{"Authorization":"Bearer abc123def"}}`, `{"headers":{"Authorization":"Bearer [REDACTED]"}}`},
		{"code in a key's value", `{"password":"string","token":"<token>"}`, `{"password":"string","token":"<token>"}`},
		{"token in a string", `{"out":"key ` + "AKIA" + `Q3EXAMPLEZ7WQ2AB\n"}`, `{"out":"key [REDACTED]\n"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Scrubber{Secrets: true}.JSON([]byte(c.in))
			if string(got) != c.want {
				t.Errorf("%s\nbecame     %s\ninstead of %s", c.in, got, c.want)
			}
			if !json.Valid(got) {
				t.Errorf("not valid JSON: %s", got)
			}
		})
	}
}

func TestNothingFoundIsTheSame(t *testing.T) {
	text := toolOutput(10<<10, false)
	raw, err := json.Marshal(map[string]string{"out": text})
	if err != nil {
		t.Fatal(err)
	}
	s := Scrubber{Secrets: true}
	if got := s.JSON(raw); &got[0] != &raw[0] {
		t.Error("JSON in which nothing is found was copied")
	}
	text = strings.NewReplacer(`\`, "/", "\n{", "\n").Replace(text) // without escapes and JSON, which are taken apart
	s.Text(text)                                                    // makes the tables
	if n := testing.AllocsPerRun(20, func() { s.Text(text) }); n != 0 {
		t.Errorf("%v allocations for a text in which nothing is found", n)
	}
}

func TestSecretsOnlyWhenAsked(t *testing.T) {
	const in = "password=hunter22 <private>x</private>"
	if got := (Scrubber{}).Text(in); got != "password=hunter22 [REDACTED]" {
		t.Errorf("got %q", got)
	}
}

// spellings are the ways in which programs write a text, each reversible by some reader.
func spellings() []func(string) string {
	hexAll := func(format string) func(string) string {
		return func(s string) string {
			var b strings.Builder
			for _, r := range s {
				if strings.ContainsRune("<>/&", r) {
					fmt.Fprintf(&b, format, r)
				} else {
					b.WriteRune(r)
				}
			}
			return b.String()
		}
	}
	return []func(string) string{
		func(s string) string { return s },
		hexAll(`\u%04x`), hexAll(`\u%04X`), hexAll(`\\u%04x`), hexAll(`\x%02x`), hexAll("&#%d;"), hexAll("&#x%x;"), hexAll("%%%02X"), hexAll("%%%02x"), hexAll("%%25%02x"), hexAll("%%u%04x"), hexAll("=%02X"),
		html.EscapeString, func(s string) string { return html.EscapeString(html.EscapeString(s)) },
		func(s string) string { return strings.ReplaceAll(html.EscapeString(s), "&", `\u0026`) },
		url.PathEscape,
		func(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) },
		func(s string) string { b, _ := json.Marshal(s); b, _ = json.Marshal(string(b)); return string(b) },
		func(s string) string {
			return strings.Map(func(r rune) rune {
				if r > ' ' && r <= '~' {
					return r - '!' + '！'
				}
				return r
			}, s)
		},
	}
}

func drawTag(t *rapid.T, closing bool) string {
	var b strings.Builder
	blank := rapid.SampledFrom([]string{"", "", "", " ", "\n", "\t ", "\r\n"})
	b.WriteString("<" + blank.Draw(t, "blank"))
	if closing {
		b.WriteString("/" + blank.Draw(t, "blank"))
	}
	for i, r := range tagName {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{"", "", "", "", "", "", "\u200b", "\u00ad", "\x00", "\x1b[1m"}).Draw(t, "hidden"))
		}
		if rapid.Bool().Draw(t, "capital") {
			r -= 'a' - 'A'
		}
		b.WriteRune(r)
	}
	b.WriteString(blank.Draw(t, "blank"))
	if !closing {
		b.WriteString(rapid.SampledFrom([]string{"", "", ` why="x"`, ` why='a>b'`, ` a=b c`, ` why="</private>"`}).Draw(t, "attribute"))
	}
	b.WriteString(">")
	return rapid.SampledFrom(spellings()).Draw(t, "spelling")(b.String())
}

const needle = "n33dle"

// drawPrivate is a private part: a tag, text with the needle in it and nested parts, and a closing tag.
func drawPrivate(t *rapid.T, depth int) string {
	s := drawTag(t, false) + "x " + needle
	for range rapid.IntRange(0, 2).Draw(t, "nested") {
		if depth < 3 {
			s += drawPrivate(t, depth+1) + needle
		}
	}
	return s + " y" + drawTag(t, true)
}

func TestNoNeedleSurvives(t *testing.T) {
	words := []string{"plain ", "a < b ", "\\", "& ", "100% ", "<div>", "</p>", "漢字 ", "\n", "\xff", "<privateer>", "\"", "<priv ", "=", "password: x "}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			b.WriteString(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 5).Draw(t, "words"), ""))
			b.WriteString(drawPrivate(t, 0))
		}
		b.WriteString(" tail")
		if rapid.IntRange(0, 3).Draw(t, "unclosed") == 0 {
			b.WriteString(" " + drawTag(t, false) + needle)
		}
		in := b.String()
		secrets := rapid.Bool().Draw(t, "secrets")
		s := Scrubber{Secrets: secrets}
		got := s.Text(in)
		if strings.Contains(got, needle) || !strings.Contains(got, "tail") {
			t.Fatalf("%q\nbecame %q", in, got)
		}
		if again := s.Text(got); again != got {
			t.Fatalf("%q\nbecame %q\nagain  %q", in, got, again)
		}
		raw, err := json.Marshal(map[string]string{in: in})
		if err != nil {
			t.Fatal(err)
		}
		if out := s.JSON(raw); !json.Valid(out) || strings.Contains(string(out), needle) {
			t.Fatalf("%s\nbecame %s", raw, out)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, name := range []string{"secrets.txt", "nearmiss.txt"} {
		for _, l := range corpus(f, name) {
			in, _, _ := marked(l)
			f.Add(in)
			f.Add(`{"stdout":` + quoteJSON(in) + `,"n":[1]}`)
		}
	}
	for _, s := range []string{"<private>x</private>", `\u003cprivate\u003ex`, "&amp;lt;private&gt;", "%253Cprivate%3E", "\xff<pri\x00vate", "password=password=password="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, s := range []Scrubber{{}, {Secrets: true}} {
			got := s.Text(in)
			if again := s.Text(got); again != got {
				t.Errorf("%q\nbecame %q\nagain  %q", in, got, again)
			}
			if utf8.ValidString(in) && !utf8.ValidString(got) {
				t.Errorf("%q became invalid: %q", in, got)
			}
			object := []byte(`{"password":` + quoteJSON(in) + `,"n":[1,` + quoteJSON(in+"<private>"+needle+"</private>") + `],"value":12345,"sensitive":true}`)
			clean := s.JSON(object)
			if again := s.JSON(clean); !json.Valid(clean) || string(again) != string(clean) {
				t.Errorf("%s\nbecame %s\nagain  %s", object, clean, again)
			}
			if strings.Contains(string(clean), needle) && !strings.Contains(in, needle) {
				t.Errorf("the needle stayed in %s: %s", object, clean)
			}
			if raw := []byte(in); json.Valid(raw) {
				clean := s.JSON(raw)
				if again := s.JSON(clean); !json.Valid(clean) || string(again) != string(clean) {
					t.Errorf("%s\nbecame %s\nagain  %s", raw, clean, again)
				}
			}
			hidden := s.Text(in + "<private>" + needle + "</private>")
			if strings.Contains(hidden, needle) && !strings.Contains(in, needle) {
				t.Errorf("the needle behind %q stayed: %q", in, hidden)
			}
		}
	})
}
