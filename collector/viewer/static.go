package viewer

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"sync"
)

//go:embed static
var files embed.FS

// stamp is part of the addresses of the style and the script, so that a browser keeps them until they change.
var stamp struct {
	once sync.Once
	text string
}

func version() string {
	stamp.once.Do(func() {
		h := sha256.New()
		for _, name := range []string{"app.css", "app.js", "icon.svg"} {
			b, _ := files.ReadFile("static/" + name) // embedded: it is there
			_, _ = h.Write(b)
		}
		stamp.text = hex.EncodeToString(h.Sum(nil)[:6])
	})
	return stamp.text
}

func asset(name string) string { return "/static/" + name + "?" + version() }

func (v *Viewer) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	kind := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}[path.Ext(name)]
	b, err := files.ReadFile("static/" + name)
	if err != nil || kind == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	if r.URL.RawQuery == version() {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	_, _ = w.Write(b) // a browser that has left needs no answer
}
