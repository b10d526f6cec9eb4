package facts

import "testing"

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		got, want string
		is        bool
	}{
		{"Ready: pool tank is imported", "Ready: pool tank is imported", true},
		{"Ready: pool tank is imported", "Ready: pool tank", false},
		{"Ready: pool tank is imported", "Ready: … tank …", true},
		{"Ready: pool tank is imported", "Ready: …", true},
		{"Ready: pool tank is imported", "Ready: … other …", false},
		{"Ready: pool tank has GUID 42", "Ready: … 42 … tank …", false},
		{"Ready: pool tank has GUID 42", "Ready: … tank … 42", true},
		{"Ready: pool tank has GUID 421", "Ready: … tank … 42", false},
		{"Lost: pool tank", "Ready: … tank", false},
	} {
		if got := Match(c.got, c.want); got != c.is {
			t.Errorf("Match(%q, %q): got %v, want %v", c.got, c.want, got, c.is)
		}
	}
}
