package recall

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestTermsOfText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"words are stemmed", "Retries retried retry", "retri retri retri"},
		{"limit", "limits limited limiting limit", "limit limit limit limit"},
		{"uploader meets upload", "uploader uploads uploading upload", "upload upload upload upload"},
		{"short words stay", "API ids", "api id"},
		{"a hash stays whole", "got 9f2a want 77b1 in beef77", "get 9f2a want 77b1 in beef77 beef 77"},
		{"snake case", "purchase_orders", "purchaseorders purchas order"},
		{"camel case", "userAuth", "userauth user authent"},
		{"kebab case meets camel case", "user-auth", "userauth user authent"},
		{"capitals before a word", "XMLHttpRequest", "xmlhttprequest xml http request"},
		{"plural of an acronym", "URLs IDs", "url id"},
		{"digits", "sha256 v2", "sha256 sha 256 v2 v 2"},
		{"file name", "upload.go", "uploadgo upload go"},
		{"path", "upload/upload.go", "upload uploadgo upload go uploaduploadgo"},
		{"long path keeps its last two segments", "/srv/app/hooks/run.go", "srv applic hook rungo run go hooksrungo"},
		{"windows path", `C:\src\main.go`, "c src maingo main go srcmaingo"},
		{"migration", "0007_purchase_orders.sql", "0007purchaseorderssql 0007 purchas order sql"},
		{"position in a file", "upload_test.go:41", "uploadtestgo upload test go 41 uploadtestgo41"},
		{"url", "https://api.example.com/v1/items?id=3", "http apiexamplecom api exampl com v1 v 1 item v1items id 3"},
		{"c plus plus", "C++ and C#, F#", "cpp and csharp fsharp"},
		{"contraction", "don't", "dont"},
		{"typographic apostrophe", "don’t", "dont"},
		{"possessive", "Caroline's", "carolin"},
		{"elision", "l'école", "l école ecole"[0:2] + "ecol"},
		{"accents, composed", "Café Ünïcode", "cafe unicod"},
		{"accents, decomposed", norm.NFD.String("Café Ünïcode"), "cafe unicod"},
		{"full width", "Ｕｐｌｏａｄ １２", "upload 12"},
		{"german compound stays whole", "Donaudampfschifffahrt", "donaudampfschifffahrt"},
		{"sharp s", "Straße", "strass"},
		{"abbreviations meet their words", "db config k8s configuration", "databas configur kubernet configur"},
		{"forms that no rule leads back", "wrote lost kept sent", "write lose keep send"},
		{"an identifier of them stays whole", "dbConfig", "dbconfig databas configur"},
		{"arabic article and endings", "النسخ والنسخ للنسخ", "نسخ نسخ نسخ"},
		{"arabic letters as they are typed", "إدارة ادارة", "ادار ادار"},
		{"cyrillic", "Ёлка Привет", "елка привет"},
		{"chinese", "数据库", "数 数据 据 据库 库"},
		{"japanese keeps its voiced marks", norm.NFD.String("がく"), "が がく く"},
		{"half width katakana", "ﾃﾞｰﾀ", "デ デー ー ータ タ"},
		{"korean", "한국어", "한 한국 국 국어 어"},
		{"korean, decomposed", norm.NFD.String("한국"), "한 한국 국"},
		{"latin glued to chinese", "使用Redis缓存", "使 使用 用 redi 缓 缓存 存"},
		{"emoji is no word", "ship it 🚀", "ship it"},
		{"query syntax", `title:x "open AND (NEAR*`, "titl x titlex open and near"},
		{"zero width space hides nothing", "pass\u200bword soft\u00adhyphen", "password softhyphen"},
		{"arabic points", "كِتَاب", "كتاب"},
		{"only signs", "... --- ?!", ""},
		{"empty", "", ""},
		{"broken utf-8", "a\xffb\xc3", "a b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, want := strings.Fields(joinTerms(tt.in)), strings.Fields(tt.want)
			if !sameTerms(got, want) {
				t.Errorf("joinTerms(%q) = %q, want %q", tt.in, got, want)
			}
		})
	}
}

// sameTerms compares without regard to order: a whole may come before or after its pieces.
func sameTerms(a, b []string) bool {
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"userAuth", "C++ don't", "数据库Redis", "l'école", "a\xffb", "ｶﾞ", "İstanbul ŉ ǰ", "''''", "a'''b'c", "//\\..:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, term := range strings.Fields(joinTerms(s)) {
			if len(term) > maxTerm+utf8.UTFMax {
				t.Errorf("term of %d bytes from %q", len(term), s)
			}
			for _, r := range term {
				if r < utf8.RuneSelf && !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') || r == utf8.RuneError || unicode.IsSpace(r) {
					t.Errorf("%q of %q holds %q", term, s, r)
				}
			}
		}
	})
}

func TestStem(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plural", "caresses", "caress"},
		{"ies", "ponies", "poni"},
		{"past", "agreed", "agre"},
		{"ing", "motoring", "motor"},
		{"doubled", "hopping", "hop"},
		{"restored e", "filing", "file"},
		{"happy", "happy", "happi"},
		{"ational", "relational", "relat"},
		{"ization", "vietnamization", "vietnam"},
		{"ful", "hopefulness", "hope"},
		{"able", "adjustable", "adjust"},
		{"ion", "adoption", "adopt"},
		{"final e", "probate", "probat"},
		{"ll", "controlling", "control"},
		{"s only", "s", "s"},
		{"digits stay", "sha256s", "sha256s"},
		{"non-ascii stays", "größen", "größen"},
		{"sky", "sky", "sky"},
		{"bring", "bring", "bring"},
		{"decision", "decisions", "decis"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(stem([]byte(tt.in))); got != tt.want {
				t.Errorf("stem(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}
