package privacy

import (
	"fmt"
	"strings"
	"testing"
)

// toolOutput is text like that of a tool: a listing, code, a log and JSON, with or without a secret every few lines.
func toolOutput(size int, secrets bool) string {
	const block = `-rw-r--r-- 1 mia mia  4096 Nov 20 09:00 internal/upload/upload.go
diff --git a/upload.go b/upload.go
index 83db48f..bf2695a 100644
@@ -12,7 +12,9 @@ func (u *Uploader) Send(ctx context.Context, name string) error {
+	for attempt := 0; attempt < maxAttempts; attempt++ { // see <https://example.com/retry?a=1&b=2>
+		if err := u.put(ctx, name); err == nil || !errors.Is(err, errTemporary) { return err }
 	}
2026-11-20T09:00:01Z INFO request id=123e4567-e89b-12d3-a456-426614174000 status=200 path=/api/v1/items took=12ms
{"name":"shop","version":"1.2.3","scripts":{"test":"jest --ci","build":"tsc -p ."},"integrity":"sha512-9f8e7d6c5b4a3928"}
<div class="row"><span>total</span> &amp; more \"quoted\" text\n with escapes \u00e9</div>
`
	const secret = "export API_TOKEN=tk9f8e7d6c5b4a39281 && curl https://app:s3cr3tpw9@host/x -H 'Authorization: Bearer q1w2e3r4t5y6u7i8o9p0'\n"
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(block)
		if secrets {
			b.WriteString(secret)
		}
	}
	return b.String()[:size]
}

func BenchmarkText(b *testing.B) {
	for _, size := range []int{2 << 10, 10 << 10, 100 << 10, 500 << 10} {
		for _, c := range []struct {
			name    string
			secrets bool
		}{{"clean", false}, {"secrets", true}} {
			b.Run(fmt.Sprintf("%dKB/%s", size>>10, c.name), func(b *testing.B) {
				t := toolOutput(size, c.secrets)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					(Scrubber{Secrets: true}).Text(t)
				}
			})
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	raw := []byte(`{"tool_name":"shell","tool_response":{"stdout":` + fmt.Sprintf("%q", toolOutput(100<<10, false)) + `}}`)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		(Scrubber{Secrets: true}).JSON(raw)
	}
}

// BenchmarkFirst is what the first text of a process costs: the tables are made for it.
func BenchmarkFirst(b *testing.B) {
	for b.Loop() {
		makeTables()
	}
}

// BenchmarkHostile is text that is made to cost much: what a rule begins to look for and never finds, again and again.
func BenchmarkHostile(b *testing.B) {
	for _, unit := range []string{
		`"data":{`, `"kind":"Secret","data":{`, "kind: Secret\ndata:\n", "|", "| sudo -S", "<<<", "$1", "$1$a", "htpasswd -b ", "ENV A_TOKEN ", "set -x A_TOKEN ", "machine a login b password ",
		"Private-Lines: 1\n", `"value":"sensitive",`, `"value":{"sensitive":`, `"result":random_password,`, `"kty","d":"`, "password: |\n", `"token","`, `\"`, `\n`, `\\`, `[{"a":`, "{\"a\":1}\n",
		`password="`, "a:5432:b:c:", "@tcp(", ":@unix(", "https://a1B2", "curl -u ", " -p", "-----BEGIN PRIVATE KEY-----", "---\nkind: Secret\n", "IDENTIFIED BY '", "password is ", "echo a |",
	} {
		b.Run(strings.ReplaceAll(unit, "\n", "⏎"), func(b *testing.B) {
			t := strings.Repeat(unit, 500<<10/len(unit))
			b.SetBytes(int64(len(t)))
			for b.Loop() {
				(Scrubber{Secrets: true}).Text(t)
			}
		})
	}
}
