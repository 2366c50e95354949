package collector

import (
	"net"
	"net/http"
	"strings"
)

// fromElsewhere tells whether a request was made by a web page, or under a name that is none of ours, as after a name of
// somebody's was bound to this machine. The socket's mode keeps other users out; this keeps out what a program of this
// user forwards without knowing what.
func fromElsewhere(r *http.Request) bool {
	if r.Header.Get("Origin") != "" {
		return true
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	switch strings.ToLower(strings.Trim(host, "[]")) {
	case "", "kiro-learn", "localhost", "127.0.0.1", "::1":
		return false
	}
	return true
}
