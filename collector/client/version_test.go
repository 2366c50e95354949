package client

import "testing"

func TestVersionsCompare(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1.2.3", "1.2.4", true},
		{"1.9.0", "1.10.0", true},
		{"v1.0.0", "2.0.0", true},
		{"1.2.3", "1.2.3", false},
		{"1.3.0", "1.2.9", false},
		{"devel", "1.0.0", false},
		{"1.0.0", "devel", false},
		{"1.0.0-rc1", "1.0.0", false},
		{"1.0", "1.0.1", false},
		{"0.0.0+x", "0.0.1", true},
	} {
		if got := Older(c.a, c.b); got != c.want {
			t.Errorf("Older(%q, %q) = %v", c.a, c.b, got)
		}
	}
}
