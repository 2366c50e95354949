package collector

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// flags are the parameters of the API that are true or false.
var flags = []string{"dry_run", "now", "retrieve", "neutral", "check", "explain", "wait"}

// deleting are the parameters that calls which delete know.
var deleting = []string{"namespace", "dry_run", "now"}

// exact refuses what could be taken for something else than was meant. A flag may be written in any usual way and is handed
// on as true or false; a call that deletes knows all of its parameters, so that a misspelt dry_run does not delete.
func exact(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			next.ServeHTTP(w, r)
			return
		}
		q, changed := r.URL.Query(), false
		for _, name := range flags {
			for i, v := range q[name] {
				on, ok := truth(v)
				if !ok {
					fail(w, http.StatusBadRequest, name+" must be true or false", nil)
					return
				}
				q[name][i], changed = strconv.FormatBool(on), true
			}
		}
		if r.Method == http.MethodDelete {
			for name := range q {
				if !slices.Contains(deleting, name) {
					fail(w, http.StatusBadRequest, "a call that deletes has no parameter "+strconv.Quote(name)+"; it has "+strings.Join(deleting, ", "), nil)
					return
				}
			}
		}
		if changed {
			r.URL.RawQuery = q.Encode()
		}
		next.ServeHTTP(w, r)
	})
}

// truth is what a flag says. One that is named without a value is true.
func truth(v string) (on, ok bool) {
	switch strings.ToLower(v) {
	case "", "1", "true", "yes", "on":
		return true, true
	case "0", "false", "no", "off":
		return false, true
	}
	return false, false
}
