// Package privacy takes private tags and secrets out of text before anything is written. It looks at text the way its
// readers might: a tag counts in every spelling that some program on the way could have given it (JSON escapes, HTML
// entities, percent-encoding, full-width forms, any mixture of them), and where the spelling leaves a doubt, more is
// hidden rather than less. Everything runs in one pass each, without regular expressions: nothing is compiled, the time
// is linear in the text, and text in which nothing is found is returned as it is.
package privacy

import (
	"strings"

	"kiro-learn/internal/rawjson"
)

// Redacted stands where something was taken out.
const Redacted = "[REDACTED]"

// Scrubber takes private text out, and secrets too when Secrets is set. The zero value is ready; it has no state and
// may be used by several goroutines.
type Scrubber struct {
	Secrets bool // also redact keys, tokens and passwords
}

// Holds tells whether a name, such as a session's or a directory's, holds private text or a secret. Who must keep names
// apart replaces such a one by its hash, whatever the user's settings.
func Holds(name string) bool { return name != "" && Scrubber{Secrets: true}.Text(name) != name }

// span is a part of a text, from its first byte to the one behind its last. A number is replaced by a string, around which
// quote stands.
type span struct {
	from, to int
	quote    string
}

// Text is t without private text and secrets, each replaced by Redacted; t itself when there are none. It accepts any
// bytes, and what it returns is valid UTF-8 if t is. Text of its own result changes nothing.
func (s Scrubber) Text(t string) string {
	for {
		u := withoutPrivate(t)
		if s.Secrets {
			if isDocument(u) {
				u = string(s.JSON([]byte(u)))
			} else {
				u = withoutSecrets(s.lines(u))
			}
		}
		if u == t {
			return t
		}
		t = u // what one replacement uncovers is seen in the next round; each round leaves less to replace
	}
}

// JSON is the valid JSON text raw with every string in it scrubbed, keys too; raw itself when there is nothing to take
// out. Strings are decoded first. A private part that opens in one string and ends in a later one, as in a file that a tool
// gives line by line, takes the strings between with it; one that no later string ends hides the rest of its own string
// only. A string whose key is that of a secret, as in {"password":"…"}, is judged with its key, and one that follows a flag, as in
// ["--password","…"], with the flag.
func (s Scrubber) JSON(raw []byte) []byte {
	out := s.strings(raw, nil)
	if len(out) != len(raw) || len(raw) > 0 && &out[0] != &raw[0] {
		if between := betweenTags(raw); len(between) > 0 {
			out = s.strings(raw, between)
		}
	}
	if s.Secrets {
		out = related(out)
	}
	return out
}

// Strings scrubs texts that stand in one order: a private part may begin in one and end in a later one. Otherwise each is
// judged by itself: none is a flag or a name whose value the next one is, as in the elements of a list in JSON.
func (s Scrubber) Strings(texts []string) []string {
	raw := []byte{'['}
	for i, t := range texts {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = append(rawjson.AppendString(append(raw, '['), t), ']')
	}
	out := make([]string, 0, len(texts))
	rawjson.Elements(s.JSON(append(raw, ']')), func(v []byte) bool {
		rawjson.Elements(v, func(t []byte) bool {
			out = append(out, rawjson.Unquote(t))
			return true
		})
		return true
	})
	return out
}

// betweenTags finds the strings of raw that lie between one that opens a private part and a later one that ends it, by
// where they begin.
func betweenTags(raw []byte) map[int]bool {
	const probe = "kiro learn probe"
	found := map[int]bool{}
	var since []int // the strings behind one that has opened a private part; nil while none is open
	keys := map[int]string{}
	outside := map[string]bool{} // keys that also stand outside: the shape of the value, and nobody's words
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		end, ok := rawjson.StringEnd(raw, i)
		if !ok {
			break
		}
		t := rawjson.Unquote(raw[i:end])
		if withoutPrivate(t) != t {
			if since != nil && !strings.Contains(withoutPrivate(probe+t), probe) {
				for _, at := range since {
					found[at] = true
				}
				since = nil
			}
			if !strings.Contains(withoutPrivate(t+probe), probe) {
				since = make([]int, 0, 8)
			}
		} else {
			if colon := rawjson.Space(raw, end); colon < len(raw) && raw[colon] == ':' {
				keys[i] = t
				outside[t] = outside[t] || since == nil
			}
			if since != nil {
				since = append(since, i)
			}
		}
		i = end - 1
	}
	for at := range found {
		if key, ok := keys[at]; ok && outside[key] {
			delete(found, at)
		}
	}
	return found
}

// strings scrubs each string of raw by itself, but for those in hidden, of which nothing stays.
func (s Scrubber) strings(raw []byte, hidden map[int]bool) []byte {
	var out []byte
	done := 0
	key, before := "", "" // the key of the member that is being read; the string read last
	name := ""            // the last member called name or key, which may tell what one called value is
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			if c := raw[i]; c == '{' || c == '[' || c == '}' || c == ']' {
				key, before, name = "", "", ""
			} else if c == ',' {
				key = ""
			}
			i++
			continue
		}
		end, ok := rawjson.StringEnd(raw, i)
		if !ok {
			break
		}
		was := rawjson.Unquote(raw[i:end])
		now := s.Text(was)
		colon := rawjson.Space(raw, end)
		isKey := colon < len(raw) && raw[colon] == ':'
		if s.Secrets && !isKey {
			k := key
			if isWord(key, "value") {
				k = name
			} else if isWord(key, "name", "key") {
				name = was
			}
			now = member(k, before, now)
		}
		if hidden[i] && was != "" {
			now = Redacted
		}
		if now != was {
			out = append(out, raw[done:i]...)
			out = rawjson.AppendString(out, now)
			done = end
		}
		if isKey {
			key, before = was, ""
		} else {
			before = was
		}
		i = end
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}

// replace is t with every span of cut, which are in order and apart, replaced by Redacted.
func replace(t string, cut []span) string {
	if len(cut) == 0 {
		return t
	}
	b := make([]byte, 0, len(t)+len(cut)*len(Redacted))
	done := 0
	for _, c := range cut {
		b = append(b, t[done:c.from]...)
		b = append(b, c.quote...)
		b = append(b, Redacted...)
		b = append(b, c.quote...)
		done = c.to
	}
	b = append(b, t[done:]...)
	return string(b)
}
