package client

import (
	"strconv"
	"strings"
)

// Older tells whether version a is certainly older than b. Versions that do not read as numbers have no order.
func Older(a, b string) bool {
	x, okA := numbers(a)
	y, okB := numbers(b)
	if !okA || !okB {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

func numbers(v string) (n [3]int, ok bool) {
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "v"), "+")
	v, pre, _ := strings.Cut(v, "-")
	parts := strings.Split(v, ".")
	if len(parts) != 3 || pre != "" {
		return n, false
	}
	for i, p := range parts {
		d, err := strconv.Atoi(p)
		if err != nil {
			return n, false
		}
		n[i] = d
	}
	return n, true
}
