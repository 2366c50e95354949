package privacy

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The cases that every build of kiro-learn is held to: not a byte of the needle may stay, the words around it must.
func TestTextCases(t *testing.T) {
	const needle = "hunter2zz"
	for _, c := range []struct{ name, in, want string }{
		{"closed", "a <private>" + needle + "</private> b", "a [REDACTED] b"},
		{"unclosed", "key <private>" + needle, "key [REDACTED]"},
		{"nested", "<private>o <private>i</private> " + needle + "</private> tail", "[REDACTED] tail"},
		{"spaced", "<private >" + needle + "</private >", "[REDACTED]"},
		{"case", "<PRIVATE>" + needle + "</Private>", "[REDACTED]"},
		{"attribute", `<private reason="x">` + needle + "</private>", "[REDACTED]"},
		{"aws", "deploy with AKIA" + "Q3EXAMPLEZ7WQ2AB please", "deploy with [REDACTED] please"},
		{"github", "deploy with ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 please", "deploy with [REDACTED] please"},
		{"slack", "deploy with xoxb-" + "123456789012-abcdefABCDEF123456 please", "deploy with [REDACTED] please"},
		{"pem", "deploy with -----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAsecretsecret\n-----END RSA PRIVATE KEY----- please", "deploy with [REDACTED] please"},
		{"url", "deploy with postgres://app:s3cr3tpw9@db/x please", "deploy with postgres://app:[REDACTED]@db/x please"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (Scrubber{Secrets: true}).Text(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	const plain = "see commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432 and id 123e4567-e89b-12d3-a456-426614174000 in sk-learn"
	if got := (Scrubber{Secrets: true}).Text(plain); got != plain {
		t.Errorf("not secrets: %q", got)
	}
}

// A value of any length goes whole, and no character is cut in two.
func TestLongValues(t *testing.T) {
	s := Scrubber{Secrets: true}
	for _, c := range []struct{ name, in, want string }{
		{"quoted", `password = "a1` + strings.Repeat("漢", 3000) + `" b`, `password = "[REDACTED]" b`},
		{"bare", "password=a1" + strings.Repeat("漢", 3000) + " b", "password=[REDACTED] b"},
		{"unclosed", `password = "a1` + strings.Repeat("漢", 3000), `password = "[REDACTED]`},
		{"key without an end", "-----BEGIN PRIVATE " + "KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA\n", 9000), "[REDACTED]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := s.Text(c.in); got != c.want {
				t.Errorf("got %.80q… of %d bytes, want %q", got, len(got), c.want)
			}
		})
	}
	for n := range 4 {
		got := s.Text("Authorization: Bearer a1" + strings.Repeat("x", 4070+n) + strings.Repeat("漢", 3000))
		if !utf8.ValidString(got) {
			t.Errorf("shifted by %d, a character is cut in two", n)
		}
	}
}

func TestAPrivatePartMayReachOverSeveralStrings(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{
			"lines of a file", `{"result":[{"line":1,"text":"a <private>"},{"line":2,"text":"zqx"},{"line":3,"text":"</private> b"}]}`,
			`{"result":[{"line":1,"text":"a [REDACTED]"},{"line":2,"text":"[REDACTED]"},{"line":3,"text":"[REDACTED] b"}]}`,
		},
		{"a list", `["<private>","zqx","</private>","c"]`, `["[REDACTED]","[REDACTED]","[REDACTED]","c"]`},
		{"members", `{"a":"<private>","b":"zqx","c":"</private>","d":"e"}`, `{"a":"[REDACTED]","[REDACTED]":"[REDACTED]","[REDACTED]":"[REDACTED]","d":"e"}`},
		{"keys", `{"<private>":"zqx","</private>":"x"}`, `{"[REDACTED]":"[REDACTED]","[REDACTED]":"x"}`},
		{"never closed", `["<private> zqx","b","c"]`, `["[REDACTED]","b","c"]`},
		{"closed in its own string", `["<private>zqx</private>","b","</div>"]`, `["[REDACTED]","b","</div>"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string((Scrubber{}).JSON([]byte(c.in))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	got := (Scrubber{}).Strings([]string{"i <private>", "zqx", "</private> c", "d"})
	if want := []string{"i [REDACTED]", "[REDACTED]", "[REDACTED] c", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTextsInARowAreNoFlagsAndValues: a list of terms that ends in "password" makes no secret of the name of a file
// behind it, while what is a secret by itself goes, wherever it stands.
func TestTextsInARowAreNoFlagsAndValues(t *testing.T) {
	in := []string{"password", "internal/login/reset.go", "--token", "internal/login/handler_v2.go", "api_key", "ghp_016C7f1a2bQ9xZ3kLmN0pRsTuVwXyZ4d5e6f"}
	want := append(in[:5:5], Redacted)
	if got := (Scrubber{Secrets: true}).Strings(in); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
