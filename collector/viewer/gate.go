package viewer

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"kiro-learn/internal/atomicfile"
)

const (
	linkTime   = 5 * time.Minute    // in which a link must be used
	cookieTime = 7 * 24 * time.Hour // after which a browser has to come by a new link
)

// gate lets in whoever has been given a link, and keeps out everybody else. What it knows of a browser is in the
// browser's cookie, signed with a key that is kept in the state directory: a page that is open survives the collector.
type gate struct {
	now   func() time.Time
	mu    sync.Mutex
	links map[string]time.Time // one-time tokens and when they end
	kept
}

// kept is what outlives the collector.
type kept struct {
	Port  int       `json:"port"`
	Key   string    `json:"key"`   // 32 bytes in hex
	Until time.Time `json:"until"` // when the last cookie ends; zero when there is none
}

func keptFile(state string) string { return filepath.Join(state, "viewer.json") }

// readKept gives what an earlier collector left, or a new key.
func readKept(state string) kept {
	var k kept
	b, err := os.ReadFile(keptFile(state))
	if err == nil && json.Unmarshal(b, &k) == nil && len(k.Key) == 64 && k.Port > 0 && k.Port < 1<<16 {
		return k
	}
	return kept{Key: random()}
}

func (k kept) save(state string) error {
	b, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("keep the pages' address: %w", err)
	}
	if err := atomicfile.Write(keptFile(state), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep the pages' address: %w", err)
	}
	return nil
}

// random is 32 bytes that nobody can guess, in hex.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails: the program ends instead
	return hex.EncodeToString(b[:])
}

// newLink makes a token that lets one browser in, once.
func (g *gate) newLink() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	for t, end := range g.links {
		if g.now().After(end) {
			delete(g.links, t)
		}
	}
	t := random()
	if g.links == nil {
		g.links = map[string]time.Time{}
	}
	g.links[t] = g.now().Add(linkTime)
	return t
}

// spend takes a token; false when it is none, has been used or is too old.
func (g *gate) spend(token string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	end, ok := g.links[token]
	delete(g.links, token)
	return ok && !g.now().After(end)
}

// cookieName differs between two memories of one machine: cookies know no ports.
func (g *gate) cookieName() string { return "kiro_learn_" + g.sign("name")[:8] }

// newCookie makes the cookie of a browser that has come by a link.
func (g *gate) newCookie() *http.Cookie {
	end := g.now().Add(cookieTime)
	session := random()[:32] + "." + strconv.FormatInt(end.Unix(), 10)
	return &http.Cookie{
		Name: g.cookieName(), Value: session + "." + g.sign("session "+session), Path: "/", Expires: end,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

// session is the browser's session by its cookie; ok is false without a cookie of ours.
func (g *gate) session(r *http.Request) (session string, ok bool) {
	for _, c := range r.CookiesNamed(g.cookieName()) {
		i := strings.LastIndexByte(c.Value, '.')
		if i < 0 || !same(c.Value[i+1:], g.sign("session "+c.Value[:i])) {
			continue
		}
		_, end, _ := strings.Cut(c.Value[:i], ".")
		if n, err := strconv.ParseInt(end, 10, 64); err == nil && g.now().Unix() < n {
			return c.Value[:i], true
		}
	}
	return "", false
}

// writeToken must come with every write of a session: a page of another site cannot know it.
func (g *gate) writeToken(session string) string { return g.sign("write " + session) }

func (g *gate) sign(what string) string {
	m := hmac.New(sha256.New, []byte(g.Key))
	_, _ = m.Write([]byte(what)) // a hash never fails
	return hex.EncodeToString(m.Sum(nil))
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// refusal says why a request is not even looked at; "" when it may be. Requests must call us by our loopback address, so
// that no name that somebody has bound to it works, and come from our own pages or from nowhere.
func (g *gate) refusal(r *http.Request) string {
	port := strconv.Itoa(g.Port)
	if host := strings.ToLower(r.Host); host != "127.0.0.1:"+port && host != "localhost:"+port {
		return "requests must call this page by the address it listens on"
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "" && site != "same-origin" && site != "none" && r.URL.Path != "/login" {
		return "requests of other sites are refused"
	}
	origins, given := r.Header["Origin"]
	origin := strings.Join(origins, ",")
	switch {
	case !given, origin == "http://"+r.Host:
	case origin == "null" && site == "same-origin": // what a browser says of our own forms, which tell no referrer
	default:
		return "requests of other sites are refused"
	}
	return ""
}
